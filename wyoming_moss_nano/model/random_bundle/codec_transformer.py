"""The codec's causal transformer: windowed attention with or without a cache.

Tokens are float32 [batch, tokens, channels]; keys and values float32
[batch, heads, keys, head_dim]; positions int64 [tokens] or [keys], -1 for an empty cache entry.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from .codec_tensors import StageShape
from .nodes import Graph
from .size import BundleSize
from .transformer import MASKED, Heads, Rotation, rotate, rotation

_SQRT_HALF = 0.5**0.5


@dataclass(frozen=True)
class Window:
    """What a layer's queries may look at.

    Attributes:
        keys: Cached keys, "" without a cache.
        values: Cached values.
        mask: Bool [tokens, keys]; true where a token sees a key.
    """

    keys: str
    values: str
    mask: str


@dataclass(frozen=True)
class Seen:
    """All keys and values of a layer, the cached ones first."""

    keys: str
    values: str


def window_mask(graph: Graph, queries: str, keys: str, context: int) -> str:
    """Bool [tokens, keys]: the key is in use and 0 to context - 1 positions back."""
    distance = graph.op("Sub", graph.unsqueeze(queries, 1), graph.unsqueeze(keys, 0))
    near = graph.op(
        "And",
        graph.op("GreaterOrEqual", distance, graph.integer(0)),
        graph.op("Less", distance, graph.integer(context)),
    )
    used = graph.op("GreaterOrEqual", keys, graph.integer(0))
    return graph.op("And", near, graph.unsqueeze(used, 0))


def stage(
    graph: Graph,
    tokens: str,
    shape: StageShape,
    size: BundleSize,
    positions: str,
    windows: Sequence[Window],
) -> tuple[str, list[Seen]]:
    """One transformer between its two projections.

    Args:
        graph: The graph that takes the nodes.
        tokens: Its input.
        shape: Its place in the codec.
        size: The bundle's dimensions.
        positions: Positions of the tokens, int64 [tokens].
        windows: One per layer.

    Returns:
        Its output and, per layer, the keys and values.
    """
    heads = Heads(size.codec_heads, size.codec_head_dim)
    turn = rotation(graph, graph.unsqueeze(positions, 0), heads.width)
    hidden = graph.project(tokens, f"{shape.name}.input_proj")
    seen = []
    for layer, window in enumerate(windows):
        name = f"{shape.name}.layers.{layer}"
        hidden, kept = _layer(graph, hidden, name, heads, turn, window)
        seen.append(kept)
    return graph.project(hidden, f"{shape.name}.output_proj"), seen


def _layer(
    graph: Graph, hidden: str, name: str, heads: Heads, turn: Rotation, window: Window
) -> tuple[str, Seen]:
    normed = graph.norm(hidden, f"{name}.norm1")
    joined, seen = _attention(graph, normed, f"{name}.self_attn", heads, turn, window)
    scale = graph.weight(f"{name}.layer_scale_1.scale")
    hidden = graph.op("Add", hidden, graph.op("Mul", joined, scale))
    inner = graph.project(graph.norm(hidden, f"{name}.norm2"), f"{name}.linear1")
    outer = graph.project(_gelu(graph, inner), f"{name}.linear2")
    scale = graph.weight(f"{name}.layer_scale_2.scale")
    return graph.op("Add", hidden, graph.op("Mul", outer, scale)), seen


def _attention(
    graph: Graph, normed: str, name: str, heads: Heads, turn: Rotation, window: Window
) -> tuple[str, Seen]:
    query, key, value = (
        graph.reshape(part, 0, 0, heads.count, heads.width)
        for part in graph.split(graph.project(normed, f"{name}.in_proj"), 3)
    )
    query = rotate(graph, query, turn, heads)
    key = rotate(graph, key, turn, heads)
    query, key, value = (
        graph.op("Transpose", part, perm=[0, 2, 1, 3]) for part in (query, key, value)
    )
    if window.keys:
        key = graph.op("Concat", window.keys, key, axis=2)
        value = graph.op("Concat", window.values, value, axis=2)
    products = graph.op("MatMul", query, graph.op("Transpose", key, perm=[0, 1, 3, 2]))
    scores = graph.op("Mul", products, graph.number(heads.width**-0.5))
    scores = graph.op("Where", window.mask, scores, graph.number(MASKED))
    mixed = graph.op("MatMul", graph.op("Softmax", scores, axis=-1), value)
    rows = graph.op("Transpose", mixed, perm=[0, 2, 1, 3])
    merged = graph.reshape(rows, 0, 0, heads.count * heads.width)
    return graph.project(merged, f"{name}.out_proj"), Seen(key, value)


def _gelu(graph: Graph, value: str) -> str:
    spread = graph.op("Erf", graph.op("Mul", value, graph.number(_SQRT_HALF)))
    gate = graph.op("Add", spread, graph.number(1.0))
    return graph.op("Mul", graph.op("Mul", value, graph.number(0.5)), gate)


def join_patches(graph: Graph, tokens: str, patch: int, channels: int) -> str:
    """Make one token of `patch` successive ones; channel d of token j becomes d * patch + j."""
    grouped = graph.op("Reshape", tokens, graph.ints(0, -1, patch, channels))
    turned = graph.op("Transpose", grouped, perm=[0, 1, 3, 2])
    return graph.op("Reshape", turned, graph.ints(0, 0, patch * channels))


def split_patches(graph: Graph, tokens: str, patch: int, channels: int) -> str:
    """The inverse of `join_patches`; `channels` is what each new token has."""
    grouped = graph.op("Reshape", tokens, graph.ints(0, 0, channels, patch))
    turned = graph.op("Transpose", grouped, perm=[0, 1, 3, 2])
    return graph.op("Reshape", turned, graph.ints(0, -1, channels))
