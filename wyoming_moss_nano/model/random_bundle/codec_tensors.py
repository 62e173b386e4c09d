"""Which weights the codec has: transformer stages and the residual quantiser."""

from collections.abc import Iterator
from dataclasses import dataclass

from .size import BundleSize
from .tensors import Role, Tensor

# Speech is quiet (RMS about 0.1) and so is what the decoder makes of random codes.
ENCODER_GAIN = 10.0
DECODER_GAIN = 0.06


@dataclass(frozen=True)
class StageShape:
    """A codec transformer with its place in the chain.

    Attributes:
        name: Prefix of its weights.
        layers: Its layers.
        context: Its window in tokens.
        patch: Tokens made of each one before it (decoder) or joined after it (encoder).
        inputs: Channels coming in.
        outputs: Channels going out.
        input_gain: Gain of its input projection.
        output_gain: Gain of its output projection.
    """

    name: str
    layers: int
    context: int
    patch: int
    inputs: int
    outputs: int
    input_gain: float = 1.0
    output_gain: float = 1.0


def decoder_stages(size: BundleSize) -> list[StageShape]:
    """The decoder's transformers in order; the last one's outputs are samples."""
    last = len(size.codec_stages) - 1
    return [
        StageShape(
            name=f"decoder.{decoder_index(index)}",
            layers=stage.layers,
            context=stage.context,
            patch=stage.patch,
            inputs=size.codec_latent // stage.patch,
            outputs=size.sample_patch if index == last else size.codec_latent,
            output_gain=DECODER_GAIN if index == last else 1.0,
        )
        for index, stage in enumerate(size.codec_stages)
    ]


def decoder_index(stage: int) -> int:
    """The module number of a decoder stage: patch operations take the even numbers."""
    return 2 * stage + 1


def encoder_stages(size: BundleSize) -> list[StageShape]:
    """The encoder's transformers in order, fastest first; the first one's inputs are samples."""
    return [
        StageShape(
            name=f"encoder.{2 * index + 1}",
            layers=stage.layers,
            context=stage.context,
            patch=stage.patch,
            inputs=size.sample_patch if index == 0 else size.codec_latent,
            outputs=size.codec_latent // stage.patch,
            input_gain=ENCODER_GAIN if index == 0 else 1.0,
        )
        for index, stage in enumerate(reversed(size.codec_stages))
    ]


def decode_tensors(size: BundleSize) -> list[Tensor]:
    """The weights of decode_full and decode_step."""
    tensors = [*_books(size), *_latent_output(size)]
    for stage in decoder_stages(size):
        tensors += _stage(stage, size)
    return tensors


def encode_tensors(size: BundleSize) -> list[Tensor]:
    """The weights of encode, the codebooks among them."""
    tensors: list[Tensor] = []
    for stage in encoder_stages(size):
        tensors += _stage(stage, size)
    latent, inner = size.codec_latent, size.quantizer_width
    tensors += _linear("quantizer.input_proj", latent, inner)
    for book in range(size.codebooks):
        tensors += _linear(f"quantizer.{book}.in_proj", inner, size.code_width)
    return [*tensors, *_books(size)]


def _books(size: BundleSize) -> Iterator[Tensor]:
    # The sum over all books is to have the spread of one.
    gain = size.codebooks**-0.5
    for book in range(size.codebooks):
        shape = (size.codebook_size, size.code_width)
        yield Tensor(f"quantizer.{book}.codebook.weight", shape, Role.CODEBOOK)
        yield from _linear(
            f"quantizer.{book}.out_proj", size.code_width, size.quantizer_width, gain
        )


def _latent_output(size: BundleSize) -> Iterator[Tensor]:
    yield from _linear("quantizer.output_proj", size.quantizer_width, size.codec_latent)


def _stage(stage: StageShape, size: BundleSize) -> Iterator[Tensor]:
    width, inner = size.codec_width, size.codec_feed_forward
    yield _projection(f"{stage.name}.input_proj", stage.inputs, width, stage.input_gain)
    for layer in range(stage.layers):
        prefix = f"{stage.name}.layers.{layer}"
        yield from _norm(f"{prefix}.norm1", width)
        yield _projection(f"{prefix}.self_attn.in_proj", width, 3 * width)
        yield _projection(f"{prefix}.self_attn.out_proj", width, width)
        yield Tensor(f"{prefix}.layer_scale_1.scale", (width,), Role.LAYER_SCALE)
        yield from _norm(f"{prefix}.norm2", width)
        yield _projection(f"{prefix}.linear1", width, inner)
        yield _projection(f"{prefix}.linear2", inner, width)
        yield Tensor(f"{prefix}.layer_scale_2.scale", (width,), Role.LAYER_SCALE)
    yield _projection(f"{stage.name}.output_proj", width, stage.outputs, stage.output_gain)


def _projection(name: str, inputs: int, outputs: int, gain: float = 1.0) -> Tensor:
    return Tensor(f"{name}.weight", (inputs, outputs), Role.CODEC_LINEAR, gain=gain)


def _linear(name: str, inputs: int, outputs: int, gain: float = 1.0) -> Iterator[Tensor]:
    yield _projection(name, inputs, outputs, gain)
    yield Tensor(f"{name}.bias", (outputs,), Role.BIAS)


def _norm(name: str, width: int) -> Iterator[Tensor]:
    yield Tensor(f"{name}.weight", (width,), Role.CODEC_NORM_WEIGHT)
    yield Tensor(f"{name}.bias", (width,), Role.BIAS)
