"""The layers of both transformers, with ONNX Runtime's operator for attention over a cache.

Hidden states are float32 [batch, rows, hidden]; keys and values float32
[batch, heads, capacity, head_dim]. Each entry of a batch has a past of its own length.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from .arithmetic import Arithmetic
from .weights import Block, Norm

# GPT-2 with rotary positions on interleaved pairs; the published metadata does not name the base,
# the modelling code does, and compiling checks the outcome.
_ROPE_BASE: Final = 10000.0


@dataclass(frozen=True)
class Cache:
    """The keys and values of one layer."""

    keys: str
    values: str


@dataclass(frozen=True)
class Attention:
    """What attention of every layer shares.

    Attributes:
        heads: their number.
        lengths: int32 [batch]: rows read before these and these, less one.
        longest: int32 [1]: the most rows of any entry, these included.
        cos: float32 [positions, head_dim / 2].
        sin: the same.
    """

    heads: int
    lengths: str
    longest: str
    cos: str
    sin: str


def rotation(arithmetic: Arithmetic, positions: int, head_dim: int) -> tuple[str, str]:
    """Return cosines and sines, float32 [positions, head_dim / 2]."""
    exponents = np.arange(0, head_dim, 2, dtype=np.float64) / head_dim
    # the published graphs compute angles in float32
    frequencies = (_ROPE_BASE**-exponents).astype(np.float32)
    angles = np.arange(positions, dtype=np.float32)[:, np.newaxis] * frequencies
    return arithmetic.stored(np.cos(angles)), arithmetic.stored(np.sin(angles))


def norm(arithmetic: Arithmetic, hidden: str, weights: Norm) -> str:
    """LayerNorm over the last axis."""
    scale, bias = arithmetic.stored(weights.scale), arithmetic.stored(weights.bias)
    return arithmetic.graph.op(
        "LayerNormalization", hidden, scale, bias, axis=-1, epsilon=weights.epsilon
    )


def attend(
    arithmetic: Arithmetic, hidden: str, block: Block, attention: Attention, past: Cache
) -> tuple[str, Cache]:
    """Return what each row saw [batch, rows, hidden], before it is projected, and the new cache."""
    graph = arithmetic.graph
    normed = norm(arithmetic, hidden, block.attention_norm)
    joined = arithmetic.linear(normed, block.attention_in)
    seen, keys, values = graph.contrib(
        "GroupQueryAttention",
        joined,
        "",
        "",
        past.keys,
        past.values,
        attention.lengths,
        attention.longest,
        attention.cos,
        attention.sin,
        outputs=3,
        num_heads=attention.heads,
        kv_num_heads=attention.heads,
        do_rotary=1,
        rotary_interleaved=1,
    )
    return seen, Cache(keys, values)


def finish(arithmetic: Arithmetic, hidden: str, seen: str, block: Block) -> str:
    """Return the hidden states after a layer whose rows saw ``seen``."""
    graph = arithmetic.graph
    hidden = graph.op("Add", hidden, arithmetic.linear(seen, block.attention_out))
    normed = norm(arithmetic, hidden, block.mlp_norm)
    inner = arithmetic.product(normed, block.mlp_in.weight)
    (active,) = graph.contrib("FastGelu", inner, arithmetic.stored(block.mlp_in.bias))
    return graph.op("Add", hidden, arithmetic.linear(active, block.mlp_out))
