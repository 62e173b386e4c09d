"""The codec: encode, decode_full and decode_step."""

from collections.abc import Iterator
from dataclasses import dataclass

from ..graph_writer import FLOAT, INT32, TO_THE_END, Shape
from .codec_tensors import StageShape, decoder_stages, encoder_stages
from .codec_transformer import Seen, Window, join_patches, split_patches, stage, window_mask
from .nodes import Graph
from .quantizer import dequantize, quantize
from .size import BundleSize
from .transformer import to_int64


def add_encode(graph: Graph, size: BundleSize) -> None:
    """Codes of a recording.

    Inputs: waveform float32 [batch, channels, waveform_length] in [-1, 1] and input_lengths
    int32 [batch] in samples. Outputs: audio_codes int32 [batch, code_length, codebooks], where a
    last incomplete frame is padded with silence, and audio_code_lengths int32 [batch], which
    does not count it.
    """
    waveform = graph.input("waveform", FLOAT, ["batch", size.channels, "waveform_length"])
    lengths = graph.input("input_lengths", INT32, ["batch"])
    frame = graph.integer(size.samples_per_frame)
    excess = graph.op("Mod", graph.length(waveform, 2), frame)
    missing = graph.op("Mod", graph.op("Sub", frame, excess), frame)
    padding = graph.op("Concat", graph.ints(0, 0, 0, 0, 0), graph.unsqueeze(missing, 0), axis=0)
    padded = graph.op("Pad", waveform, padding, graph.number(0.0))
    interleaved = graph.op("Transpose", padded, perm=[0, 2, 1])
    tokens = graph.reshape(interleaved, 0, -1, size.sample_patch)
    for shape in encoder_stages(size):
        positions = graph.positions(graph.length(tokens, 1))
        tokens, _ = stage(graph, tokens, shape, size, positions, _open(graph, positions, shape))
        tokens = join_patches(graph, tokens, shape.patch, shape.outputs)
    codes = quantize(graph, tokens, size)
    whole = graph.op("Div", to_int64(graph, lengths), frame)
    graph.output(codes, "audio_codes", INT32, ["batch", "code_length", size.codebooks])
    graph.output(graph.cast(whole, INT32), "audio_code_lengths", INT32, ["batch"])


def add_decode_full(graph: Graph, size: BundleSize) -> None:
    """Audio of all codes at once.

    Inputs: audio_codes int32 [batch, code_length, codebooks] and audio_code_lengths int32
    [batch]. Outputs: audio float32 [batch, channels, audio_length] and audio_lengths int32
    [batch] in samples.
    """
    codes, lengths = _code_inputs(graph, size, "batch")
    tokens = dequantize(graph, to_int64(graph, codes), size)
    for shape in decoder_stages(size):
        tokens = split_patches(graph, tokens, shape.patch, shape.inputs)
        positions = graph.positions(graph.length(tokens, 1))
        tokens, _ = stage(graph, tokens, shape, size, positions, _open(graph, positions, shape))
    # The published graph does not know its number of channels either.
    _audio_outputs(graph, tokens, lengths, size, ["batch", "Castaudio_dim_1", "audio_length"])


def add_decode_step(graph: Graph, size: BundleSize) -> None:
    """Audio of the next codes, with the windows of all layers as inputs and outputs.

    Inputs and outputs as decode_full's with a batch of one, and per stage an offset int32 [1],
    and per layer an offset int32 [1], keys and values float32 [1, heads, context, head_dim] and
    positions int32 [1, context]: the last `context` tokens, -1 where there were none.
    """
    codes, lengths = _code_inputs(graph, size, 1)
    states = list(_state_inputs(graph, size))
    tokens = dequantize(graph, to_int64(graph, codes), size)
    moved: list[_StageState] = []
    for state in states:
        tokens = split_patches(graph, tokens, state.shape.patch, state.shape.inputs)
        tokens, after = _stream(graph, tokens, state, size)
        moved.append(after)
    shape: Shape = [1, size.channels, "audio_length"]
    _audio_outputs(graph, tokens, lengths, size, shape)
    _state_outputs(graph, moved, size)


@dataclass(frozen=True)
class _LayerState:
    offset: str
    keys: str
    values: str
    positions: str


@dataclass(frozen=True)
class _StageState:
    shape: StageShape
    offset: str
    layers: list[_LayerState]


def _code_inputs(graph: Graph, size: BundleSize, batch: int | str) -> tuple[str, str]:
    codes = graph.input("audio_codes", INT32, [batch, "code_length", size.codebooks])
    return codes, graph.input("audio_code_lengths", INT32, [batch])


def _audio_outputs(graph: Graph, tokens: str, lengths: str, size: BundleSize, shape: Shape) -> None:
    interleaved = graph.reshape(tokens, 0, -1, size.channels)
    audio = graph.op("Transpose", interleaved, perm=[0, 2, 1])
    samples = graph.op("Mul", to_int64(graph, lengths), graph.integer(size.samples_per_frame))
    graph.output(audio, "audio", FLOAT, shape)
    graph.output(graph.cast(samples, INT32), "audio_lengths", INT32, shape[:1])


def _open(graph: Graph, positions: str, shape: StageShape) -> list[Window]:
    mask = window_mask(graph, positions, positions, shape.context)
    return [Window("", "", mask)] * shape.layers


def _state_inputs(graph: Graph, size: BundleSize) -> Iterator[_StageState]:
    shapes = decoder_stages(size)
    offsets = [
        graph.input(f"transformer_offset_{index}", INT32, [1]) for index in range(len(shapes))
    ]
    first = 0
    for shape, offset in zip(shapes, offsets, strict=True):
        cache = [1, size.codec_heads, shape.context, size.codec_head_dim]
        layers = [
            _LayerState(
                graph.input(f"attn_offset_{index}", INT32, [1]),
                graph.input(f"attn_cached_keys_{index}", FLOAT, cache),
                graph.input(f"attn_cached_values_{index}", FLOAT, cache),
                graph.input(f"attn_cached_positions_{index}", INT32, [1, shape.context]),
            )
            for index in range(first, first + shape.layers)
        ]
        first += shape.layers
        yield _StageState(shape, offset, layers)


def _stream(
    graph: Graph, tokens: str, state: _StageState, size: BundleSize
) -> tuple[str, _StageState]:
    shape = state.shape
    count = graph.length(tokens, 1)
    order = graph.positions(count)
    fresh = graph.op("Add", order, to_int64(graph, state.offset))
    windows, all_positions = [], []
    for layer in state.layers:
        queries = graph.op("Add", order, to_int64(graph, layer.offset))
        cached = graph.op("Squeeze", to_int64(graph, layer.positions), graph.ints(0))
        keys = graph.op("Concat", cached, queries, axis=0)
        mask = window_mask(graph, queries, keys, shape.context)
        windows.append(Window(layer.keys, layer.values, mask))
        all_positions.append(keys)
    tokens, seen = stage(graph, tokens, shape, size, fresh, windows)
    layers = [
        _moved(graph, before, keys, kept, count, shape.context)
        for before, keys, kept in zip(state.layers, all_positions, seen, strict=True)
    ]
    return tokens, _StageState(shape, _advanced(graph, state.offset, count), layers)


def _moved(
    graph: Graph, before: _LayerState, positions: str, seen: Seen, count: str, context: int
) -> _LayerState:
    kept = graph.slice(graph.unsqueeze(positions, 0), -context, TO_THE_END, axis=1)
    return _LayerState(
        _advanced(graph, before.offset, count),
        graph.slice(seen.keys, -context, TO_THE_END, axis=2),
        graph.slice(seen.values, -context, TO_THE_END, axis=2),
        graph.cast(kept, INT32),
    )


def _advanced(graph: Graph, offset: str, count: str) -> str:
    return graph.op("Add", offset, graph.cast(count, INT32))


def _state_outputs(graph: Graph, states: list[_StageState], size: BundleSize) -> None:
    for index, state in enumerate(states):
        graph.output(state.offset, f"transformer_offset_out_{index}", INT32, [1])
    index = 0
    for state in states:
        context = state.shape.context
        cache = [1, size.codec_heads, context, size.codec_head_dim]
        for layer in state.layers:
            graph.output(layer.offset, f"attn_offset_out_{index}", INT32, [1])
            graph.output(layer.keys, f"attn_cached_keys_out_{index}", FLOAT, cache)
            graph.output(layer.values, f"attn_cached_values_out_{index}", FLOAT, cache)
            graph.output(layer.positions, f"attn_cached_positions_out_{index}", INT32, [1, context])
            index += 1
