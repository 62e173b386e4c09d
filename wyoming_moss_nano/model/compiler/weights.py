"""The weights of a language model as plain arrays, whatever graph they were read from."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float32]


@dataclass(frozen=True)
class Linear:
    """``x @ weight + bias``: weight [in, out], bias [out]."""

    weight: Values
    bias: Values


@dataclass(frozen=True)
class Norm:
    """LayerNorm over the last axis: scale and bias [hidden]."""

    scale: Values
    bias: Values
    epsilon: float


@dataclass(frozen=True)
class Block:
    """One pre-LN layer. ``attention_in`` gives queries, keys and values [hidden, 3 * hidden]."""

    attention_norm: Norm
    attention_in: Linear
    attention_out: Linear
    mlp_norm: Norm
    mlp_in: Linear
    mlp_out: Linear


@dataclass(frozen=True)
class Transformer:
    """Layers and the norm after the last."""

    blocks: tuple[Block, ...]
    final_norm: Norm


@dataclass(frozen=True)
class GlobalWeights:
    """The global transformer: embeddings [vocabulary, hidden] and [codes, hidden] per codebook."""

    text_embedding: Values
    audio_embeddings: tuple[Values, ...]
    transformer: Transformer


@dataclass(frozen=True)
class LocalWeights:
    """The local transformer, embeddings and heads.

    ``text_head`` is [hidden, vocabulary], each of ``audio_heads`` [hidden, codes]. The last
    codebook's embedding is never read by the local transformer.
    """

    text_embedding: Values
    audio_embeddings: tuple[Values, ...]
    transformer: Transformer
    text_head: Values
    audio_heads: tuple[Values, ...]
