"""Which weights a bundle has, by name, shape and role."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from .size import BundleSize


class Role(Enum):
    """What a weight does; decides how it is filled."""

    TEXT_EMBEDDING = "text embedding"
    AUDIO_EMBEDDING = "audio embedding"
    TIED_HEAD = "tied head"
    NORM_WEIGHT = "norm weight"
    BIAS = "bias"
    INNER = "inner linear"
    CLOSING = "closing linear"
    CODEC_NORM_WEIGHT = "codec norm weight"
    CODEC_LINEAR = "codec linear"
    LAYER_SCALE = "layer scale"
    CODEBOOK = "codebook"


@dataclass(frozen=True)
class Tensor:
    """A float32 weight to be made.

    Attributes:
        name: Its name; equal names anywhere in a bundle mean equal values.
        shape: Its shape. Linear weights are [in, out].
        role: What it does.
        source: The embedding of which a tied head is the transpose.
        gain: What a linear weight does to the standard deviation of its input.
    """

    name: str
    shape: tuple[int, ...]
    role: Role
    source: "Tensor | None" = None
    gain: float = 1.0

    @property
    def nbytes(self) -> int:
        """Its size in bytes."""
        count = 4
        for length in self.shape:
            count *= length
        return count


def text_embedding(size: BundleSize) -> Tensor:
    """The text embedding, [vocabulary, hidden]."""
    return Tensor("transformer.wte.weight", (size.vocabulary, size.hidden), Role.TEXT_EMBEDDING)


def audio_embeddings(size: BundleSize) -> list[Tensor]:
    """One embedding per codebook, each [codebook_size, hidden]."""
    shape = (size.codebook_size, size.hidden)
    return [
        Tensor(f"audio_embeddings.{book}.weight", shape, Role.AUDIO_EMBEDDING)
        for book in range(size.codebooks)
    ]


def text_head(size: BundleSize) -> Tensor:
    """The transposed text embedding, [hidden, vocabulary]."""
    source = text_embedding(size)
    return Tensor("text_lm_head.weight", source.shape[::-1], Role.TIED_HEAD, source)


def audio_heads(size: BundleSize) -> list[Tensor]:
    """The transposed audio embeddings, each [hidden, codebook_size]."""
    return [
        Tensor(f"audio_lm_heads.{book}.weight", source.shape[::-1], Role.TIED_HEAD, source)
        for book, source in enumerate(audio_embeddings(size))
    ]


def global_tensors(size: BundleSize) -> list[Tensor]:
    """The weights of prefill and decode_step, in the order in which they are used."""
    return [
        text_embedding(size),
        *audio_embeddings(size),
        *_stack("transformer", size.global_layers, size),
    ]


def local_tensors(size: BundleSize) -> list[Tensor]:
    """The weights of the three local graphs."""
    return [
        text_embedding(size),
        *audio_embeddings(size),
        *_stack("local_transformer", size.local_layers, size),
        text_head(size),
        *audio_heads(size),
    ]


def _stack(prefix: str, layers: int, size: BundleSize) -> Iterator[Tensor]:
    for layer in range(layers):
        yield from _block(f"{prefix}.h.{layer}", size)
    yield from _norm(f"{prefix}.ln_f", size.hidden, Role.NORM_WEIGHT)


def _block(prefix: str, size: BundleSize) -> Iterator[Tensor]:
    hidden, inner = size.hidden, size.feed_forward
    yield from _norm(f"{prefix}.ln_1", hidden, Role.NORM_WEIGHT)
    yield from _linear(f"{prefix}.attn.c_attn", hidden, 3 * hidden, Role.INNER)
    yield from _linear(f"{prefix}.attn.c_proj", hidden, hidden, Role.CLOSING)
    yield from _norm(f"{prefix}.ln_2", hidden, Role.NORM_WEIGHT)
    yield from _linear(f"{prefix}.mlp.fc_in", hidden, inner, Role.INNER)
    yield from _linear(f"{prefix}.mlp.fc_out", inner, hidden, Role.CLOSING)


def _linear(name: str, inputs: int, outputs: int, role: Role) -> Iterator[Tensor]:
    yield Tensor(f"{name}.weight", (inputs, outputs), role)
    yield Tensor(f"{name}.bias", (outputs,), Role.BIAS)


def _norm(name: str, width: int, role: Role) -> Iterator[Tensor]:
    yield Tensor(f"{name}.weight", (width,), role)
    yield Tensor(f"{name}.bias", (width,), Role.BIAS)
