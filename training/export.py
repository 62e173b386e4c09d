"""The bundle: graphs, their weights in half precision, metadata, tokenizer and manifest."""

import hashlib
import json
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper
from torch import Tensor, nn

from . import codec_graphs, graphs, tokens
from .codec import CODEBOOKS, CODES, SUBFRAMES
from .graphs import Sampling
from .model import Model, Size

LANGUAGE_FOLDER: Final = "MOSS-TTS-Nano-100M-ONNX"
CODEC_FOLDER: Final = "MOSS-Audio-Tokenizer-Nano-ONNX"
OPSET: Final = 17
SMALLEST_SHARED: Final = 256  # elements; smaller tensors stay in their graph
ALIGNMENT: Final = 64  # bytes
LOCAL_NAMES: Final = (
    "global_hidden",
    "text_token_id",
    "audio_token_id",
    "channel_index",
    "step_type",
    "past_valid_lengths",
)
FRAME_NAMES: Final = (
    "global_hidden",
    "repetition_seen_mask",
    "assistant_random_u",
    "audio_random_u",
)
CODEC_STATE: Final = (
    "transformer_offset_0",
    "attention_offset_0",
    "cached_keys_0",
    "cached_values_0",
    "cached_positions_0",
)

Axes = dict[str, dict[int, str]]


def cache_names(prefix: str, layers: int) -> list[str]:
    return [f"{prefix}_{part}_{n}" for n in range(layers) for part in ("key", "value")]


def axes(names: Iterable[str], **named: str) -> Axes:
    """Return dynamic axes: batch and, if given, the second axis of each name."""
    rows = named.get("rows")
    return {name: {0: "batch"} | ({1: rows} if rows else {}) for name in names}


def write_graph(
    path: Path,
    module: nn.Module,
    inputs: Sequence[Tensor],
    names: tuple[Sequence[str], Sequence[str]],
    dynamic: Axes,
    *,
    fold: bool = True,
) -> None:
    """Export a module; without ``fold`` tables stay computations."""
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            module.eval(),
            tuple(inputs),
            str(path),
            input_names=list(names[0]),
            output_names=list(names[1]),
            dynamic_axes=dynamic,
            opset_version=OPSET,
            do_constant_folding=fold,
            dynamo=False,
        )


def write_global_graphs(folder: Path, model: Model) -> None:
    size = model.size
    layers, head = size.layers + 1, size.width // size.heads
    rows = torch.full((1, 24, 1 + CODEBOOKS), tokens.AUDIO_PAD, dtype=torch.int32)
    rows[:, :, 0] = tokens.FIRST_CHARACTER
    rows[:, 3, 0] = tokens.AUDIO_END
    present, past = cache_names("present", layers), cache_names("past", layers)
    outputs = ["global_hidden", *present]
    write_graph(
        folder / "moss_tts_prefill.onnx",
        graphs.Prefill(model),
        [rows, torch.ones(1, 24, dtype=torch.int32)],
        (["input_ids", "attention_mask"], outputs),
        axes(["input_ids", "attention_mask", *outputs], rows="prefill_seq"),
    )
    caches = [torch.zeros(1, 24, size.heads, head) for _ in past]
    step = axes(["input_ids", "global_hidden"], rows="step_seq") | axes(["past_valid_lengths"])
    step |= axes(past, rows="past_seq") | axes(present, rows="total_seq")
    write_graph(
        folder / "moss_tts_decode_step.onnx",
        graphs.DecodeStep(model),
        [rows[:, :1], torch.full((1,), 24, dtype=torch.int32), *caches],
        (["input_ids", "past_valid_lengths", *past], outputs),
        step,
    )


def write_local_graphs(folder: Path, model: Model, sampling: Sampling) -> None:
    size = model.size
    hidden, one = torch.zeros(1, size.width), torch.zeros(1, dtype=torch.int32)
    logits = ["text_logits", "audio_logits"]
    write_graph(
        folder / "moss_tts_local_decoder.onnx",
        graphs.LocalDecoder(model),
        [hidden, one, torch.full((1, CODEBOOKS - 1), tokens.AUDIO_PAD, dtype=torch.int32)],
        (["global_hidden", "text_token_id", "audio_prefix_token_ids"], logits),
        {},
    )
    past = cache_names("local_past", size.local_layers)
    present = cache_names("local_present", size.local_layers)
    head = size.local_width // size.local_heads
    caches = [torch.zeros(1, 3, size.local_heads, head) for _ in past]
    write_graph(
        folder / "moss_tts_local_cached_step.onnx",
        graphs.LocalCachedStep(model),
        [hidden, one, one, one, one + graphs.CODE, one + 3, *caches],
        ([*LOCAL_NAMES, *past], [*logits, *present]),
        axes([*LOCAL_NAMES, *logits])
        | axes(past, rows="local_past_seq")
        | axes(present, rows="local_total_seq"),
    )
    outputs = ["should_continue", "frame_token_ids"]
    seen = torch.zeros(1, CODEBOOKS, CODES, dtype=torch.int32)
    write_graph(
        folder / "moss_tts_local_fixed_sampled_frame.onnx",
        graphs.LocalFixedSampledFrame(model, sampling),
        [hidden, seen, torch.full((1,), 0.5), torch.full((1, CODEBOOKS), 0.5)],
        (FRAME_NAMES, outputs),
        axes([*FRAME_NAMES, *outputs]),
    )


def write_codec_graphs(folder: Path, codebook: Tensor, noise: Tensor) -> None:
    decoder = codec_graphs.Decoder(codebook, noise)
    codes, lengths = torch.ones(1, 3, CODEBOOKS, dtype=torch.int32), torch.tensor([3]).int()
    given, made = ["audio_codes", "audio_code_lengths"], ["audio", "audio_lengths"]
    dynamic = {"audio_codes": {1: "frames"}, "audio": {2: "samples"}}
    write_graph(
        folder / "moss_audio_tokenizer_decode_full.onnx",
        codec_graphs.DecodeFull(decoder),
        [codes, lengths],
        (given, made),
        dynamic,
        fold=False,
    )
    zero, cache = torch.zeros(1, dtype=torch.int32), torch.zeros(1, 1, 1, 4)
    state = [zero, zero, cache, cache.clone(), torch.full((1, 1), -1, dtype=torch.int32)]
    write_graph(
        folder / "moss_audio_tokenizer_decode_step.onnx",
        codec_graphs.DecodeStep(decoder),
        [codes, lengths, *state],
        ([*given, *CODEC_STATE], [*made, *map(output_of, CODEC_STATE)]),
        dynamic,
        fold=False,
    )
    write_graph(
        folder / "moss_audio_tokenizer_encode.onnx",
        codec_graphs.Encode(codebook),
        [torch.randn(1, 2, 48_000) * 0.1, torch.tensor([48_000]).int()],
        (["waveform", "input_lengths"], given),
        {"waveform": {1: "channels", 2: "samples"}, "audio_codes": {1: "frames"}},
        fold=False,
    )


def output_of(state: str) -> str:
    name, number = state.rsplit("_", 1)
    return f"{name}_out_{number}"


def share_weights(folder: Path, files: Sequence[str], data: str) -> None:
    """Move the large tensors of graphs into one file, in half precision, equal ones once."""
    places: dict[str, int] = {}
    content = bytearray()
    for name in files:
        model = onnx.load(folder / name)
        constants_to_initialisers(model.graph)
        casts = []
        for tensor in list(model.graph.initializer):
            if tensor.data_type != TensorProto.FLOAT or np.prod(tensor.dims) < SMALLEST_SHARED:
                continue
            half = numpy_helper.to_array(tensor).astype(np.float16).tobytes()
            digest = hashlib.sha256(half).hexdigest()
            if digest not in places:
                content += bytes(-len(content) % ALIGNMENT)
                places[digest] = len(content)
                content += half
            outside = external(tensor, data, places[digest], len(half))
            casts.append(helper.make_node("Cast", [outside.name], [tensor.name], to=1))
            model.graph.initializer.remove(tensor)
            model.graph.initializer.append(outside)
        for cast in reversed(casts):
            model.graph.node.insert(0, cast)
        onnx.save(model, folder / name)
    (folder / data).write_bytes(content)


def constants_to_initialisers(graph: onnx.GraphProto) -> None:
    """Make initialisers of large constants, so that they can be shared."""
    for node in list(graph.node):
        if node.op_type == "Constant" and node.attribute[0].name == "value":
            tensor = node.attribute[0].t
            if tensor.data_type == TensorProto.FLOAT and np.prod(tensor.dims) >= SMALLEST_SHARED:
                moved = graph.initializer.add()
                moved.CopyFrom(tensor)
                moved.name = node.output[0]
                graph.node.remove(node)


def external(tensor: TensorProto, data: str, offset: int, length: int) -> TensorProto:
    """Return a half precision tensor whose content is in a file."""
    outside = TensorProto(
        name=f"{tensor.name}__half",
        data_type=TensorProto.FLOAT16,
        dims=tensor.dims,
        data_location=TensorProto.EXTERNAL,
    )
    for key, value in (("location", data), ("offset", offset), ("length", length)):
        outside.external_data.add(key=key, value=str(value))
    return outside


def token_config() -> dict[str, Any]:
    """Return the ids and sizes that both metadata files hold."""
    return {
        "n_vq": CODEBOOKS,
        "audio_codebook_sizes": [CODES] * CODEBOOKS,
        "audio_pad_token_id": tokens.AUDIO_PAD,
        "pad_token_id": tokens.PAD,
        "im_start_token_id": tokens.IM_START,
        "im_end_token_id": tokens.IM_END,
        "audio_start_token_id": tokens.AUDIO_START,
        "audio_end_token_id": tokens.AUDIO_END,
        "audio_user_slot_token_id": tokens.USER_SLOT,
        "audio_assistant_slot_token_id": tokens.ASSISTANT_SLOT,
    }


def write_language_metadata(folder: Path, size: Size, sampling: Sampling) -> None:
    layers = size.layers + 1
    outputs = ["global_hidden", *cache_names("present", layers)]
    logits = ["text_logits", "audio_logits"]
    config = token_config() | {
        "row_width": 1 + CODEBOOKS,
        "hidden_size": size.width,
        "global_layers": layers,
        "global_heads": size.heads,
        "head_dim": size.width // size.heads,
        "local_layers": size.local_layers,
        "local_heads": size.local_heads,
        "local_head_dim": size.local_width // size.local_heads,
        "vocab_size": tokens.VOCABULARY,
    }
    names = {
        "opset": OPSET,
        "prefill_output_names": outputs,
        "decode_input_names": [
            "input_ids",
            "past_valid_lengths",
            *cache_names("past", layers),
        ],
        "decode_output_names": outputs,
        "local_cached_input_names": [
            *LOCAL_NAMES,
            *cache_names("local_past", size.local_layers),
        ],
        "local_cached_output_names": [*logits, *cache_names("local_present", size.local_layers)],
        "local_fixed_sampled_frame_input_names": list(FRAME_NAMES),
        "local_fixed_sampled_frame_output_names": ["should_continue", "frame_token_ids"],
        "fixed_sampled_frame_constants": {
            "text_temperature": 1.0,
            "text_top_p": 1.0,
            "text_top_k": 50,
        }
        | audio_sampling(sampling),
    }
    kinds = (
        "prefill",
        "decode_step",
        "local_decoder",
        "local_cached_step",
        "local_fixed_sampled_frame",
    )
    files = {kind: f"moss_tts_{kind}.onnx" for kind in kinds}
    metadata = {"format_version": 1, "files": files, "model_config": config, "onnx": names}
    write_json(folder / "tts_browser_onnx_meta.json", metadata)


def audio_sampling(sampling: Sampling) -> dict[str, Any]:
    """Return the sampling values under the names metadata has for them."""
    return {
        "audio_temperature": sampling.temperature,
        "audio_top_p": sampling.top_p,
        "audio_top_k": sampling.top_k,
        "audio_repetition_penalty": sampling.repetition_penalty,
    }


def write_codec_metadata(folder: Path) -> None:
    cache: dict[str, Any] = {"offset_shape": [1], "cache_shape": [1, 1, 1, 4]}
    cache["positions_shape"] = [1, 1]
    for part, state in zip(
        ("offset", "cached_keys", "cached_values", "cached_positions"), CODEC_STATE[1:], strict=True
    ):
        cache[f"{part}_input_name"], cache[f"{part}_output_name"] = state, output_of(state)
    offset = CODEC_STATE[0]
    offsets = [{"input_name": offset, "output_name": output_of(offset), "shape": [1]}]
    kinds = ("encode", "decode_full", "decode_step")
    metadata = {
        "files": {kind: f"moss_audio_tokenizer_{kind}.onnx" for kind in kinds},
        "codec_config": {
            "sample_rate": codec_graphs.SAMPLE_RATE,
            "channels": 2,
            "num_quantizers": CODEBOOKS,
            "downsample_rate": SUBFRAMES * codec_graphs.SUBFRAME,
        },
        "streaming_decode": {"transformer_offsets": offsets, "attention_caches": [cache]},
    }
    write_json(folder / "codec_browser_onnx_meta.json", metadata)


def write_json(path: Path, content: dict[str, Any]) -> None:
    path.write_text(json.dumps(content, separators=(",", ":")) + "\n", encoding="utf-8")


def write_graphs(
    bundle: Path, model: Model, codebook: Tensor, noise: Tensor, sampling: Sampling
) -> None:
    """Write all graphs of a bundle with their weights and metadata."""
    language, sound = bundle / LANGUAGE_FOLDER, bundle / CODEC_FOLDER
    for folder in (language, sound):
        folder.mkdir(parents=True, exist_ok=True)
    write_global_graphs(language, model)
    write_local_graphs(language, model, sampling)
    write_codec_graphs(sound, codebook, noise)
    for folder, stem, kinds in (
        (language, "moss_tts_global", ("prefill", "decode_step")),
        (
            language,
            "moss_tts_local",
            ("local_decoder", "local_cached_step", "local_fixed_sampled_frame"),
        ),
        (sound, "moss_audio_tokenizer", ("encode", "decode_full", "decode_step")),
    ):
        prefix = "moss_tts" if folder == language else stem
        share_weights(folder, [f"{prefix}_{kind}.onnx" for kind in kinds], f"{stem}_shared.data")
    write_language_metadata(language, model.size, sampling)
    write_codec_metadata(sound)
