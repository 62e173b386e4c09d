"""The two metadata files that describe graphs, as the publisher writes them."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from types import MappingProxyType

from ..graph_writer import OPSET
from . import special
from .codec_tensors import decoder_index
from .sampler import SAMPLING
from .size import BundleSize

TTS_FILES: Mapping[str, str] = MappingProxyType(
    {
        "prefill": "moss_tts_prefill.onnx",
        "decode_step": "moss_tts_decode_step.onnx",
        "local_decoder": "moss_tts_local_decoder.onnx",
        "local_cached_step": "moss_tts_local_cached_step.onnx",
        "local_fixed_sampled_frame": "moss_tts_local_fixed_sampled_frame.onnx",
    }
)
GLOBAL_DATA = "moss_tts_global_shared.data"
LOCAL_DATA = "moss_tts_local_shared.data"
CODEC_FILES: Mapping[str, str] = MappingProxyType(
    {
        "encode": "moss_audio_tokenizer_encode.onnx",
        "decode_full": "moss_audio_tokenizer_decode_full.onnx",
        "decode_step": "moss_audio_tokenizer_decode_step.onnx",
    }
)
ENCODE_DATA = "moss_audio_tokenizer_encode.data"
DECODE_DATA = "moss_audio_tokenizer_decode_shared.data"


def write_json(path: Path, content: Mapping[str, object]) -> None:
    """Write a file as the publisher does: two spaces, CRLF, no line end after the last line."""
    text = json.dumps(content, indent=2, ensure_ascii=False)
    path.write_bytes(text.replace("\n", "\r\n").encode())


def tts_metadata(size: BundleSize) -> dict[str, object]:
    """The content of tts_browser_onnx_meta.json."""
    present = _layer_names("present", size.global_layers)
    local_past = _layer_names("local_past", size.local_layers)
    local_present = _layer_names("local_present", size.local_layers)
    global_files = {"prefill", "decode_step"}
    return {
        "format_version": 1,
        "checkpoint_path": "MOSS-TTS-Nano",
        "files": dict(TTS_FILES),
        "external_data_files": {
            file: [GLOBAL_DATA if role in global_files else LOCAL_DATA]
            for role, file in TTS_FILES.items()
        },
        "model_config": {
            "n_vq": size.codebooks,
            "row_width": size.row_width,
            "hidden_size": size.hidden,
            "global_layers": size.global_layers,
            "global_heads": size.heads,
            "head_dim": size.head_dim,
            "local_layers": size.local_layers,
            "local_heads": size.heads,
            "local_head_dim": size.head_dim,
            "vocab_size": size.vocabulary,
            "audio_codebook_sizes": [size.codebook_size] * size.codebooks,
            "audio_pad_token_id": size.codebook_size,
            **_special_ids(),
        },
        "onnx": {
            "opset": OPSET,
            "prefill_output_names": ["global_hidden", *present],
            "decode_input_names": [
                "input_ids",
                "past_valid_lengths",
                *_layer_names("past", size.global_layers),
            ],
            "decode_output_names": ["global_hidden", *present],
            "local_cached_input_names": [
                "global_hidden",
                "text_token_id",
                "audio_token_id",
                "channel_index",
                "step_type",
                "past_valid_lengths",
                *local_past,
            ],
            "local_cached_output_names": ["text_logits", "audio_logits", *local_present],
            "local_fixed_sampled_frame_input_names": [
                "global_hidden",
                "repetition_seen_mask",
                "assistant_random_u",
                "audio_random_u",
            ],
            "local_fixed_sampled_frame_output_names": ["should_continue", "frame_token_ids"],
            "fixed_sampled_frame_constants": asdict(SAMPLING),
        },
    }


def codec_metadata(size: BundleSize) -> dict[str, object]:
    """The content of codec_browser_onnx_meta.json."""
    offsets = _transformer_offsets(size)
    caches = _attention_caches(size)
    states = ("offset", "cached_keys", "cached_values", "cached_positions")
    return {
        "format_version": 2,
        "checkpoint_path": "MOSS-Audio-Tokenizer-Nano",
        "files": dict(CODEC_FILES),
        "external_data_files": {
            file: [ENCODE_DATA if role == "encode" else DECODE_DATA]
            for role, file in CODEC_FILES.items()
        },
        "codec_config": {
            "sample_rate": size.sample_rate,
            "channels": size.channels,
            "downsample_rate": size.samples_per_frame,
            "num_quantizers": size.codebooks,
        },
        "onnx": {
            "opset": OPSET,
            "encode_input_names": ["waveform", "input_lengths"],
            "encode_output_names": ["audio_codes", "audio_code_lengths"],
            "decode_input_names": ["audio_codes", "audio_code_lengths"],
            "decode_output_names": ["audio", "audio_lengths"],
            "decode_step_input_names": [
                "audio_codes",
                "audio_code_lengths",
                *(entry["input_name"] for entry in offsets),
                *(entry[f"{state}_input_name"] for entry in caches for state in states),
            ],
            "decode_step_output_names": [
                "audio",
                "audio_lengths",
                *(entry["output_name"] for entry in offsets),
                *(entry[f"{state}_output_name"] for entry in caches for state in states),
            ],
        },
        "streaming_decode": {
            "batch_size": 1,
            "transformer_offsets": offsets,
            "attention_caches": caches,
        },
    }


def tts_config(size: BundleSize) -> dict[str, object]:
    """The ids and sizes that the manifest repeats."""
    return {
        "n_vq": size.codebooks,
        "audio_pad_token_id": size.codebook_size,
        **_special_ids(),
        "audio_codebook_sizes": [size.codebook_size] * size.codebooks,
        "vocab_size": size.vocabulary,
    }


def _special_ids() -> dict[str, int]:
    return {
        "pad_token_id": special.PAD,
        "im_start_token_id": special.IM_START,
        "im_end_token_id": special.IM_END,
        "audio_start_token_id": special.AUDIO_START,
        "audio_end_token_id": special.AUDIO_END,
        "audio_user_slot_token_id": special.AUDIO_USER_SLOT,
        "audio_assistant_slot_token_id": special.AUDIO_ASSISTANT_SLOT,
    }


def _layer_names(prefix: str, layers: int) -> list[str]:
    return [f"{prefix}_{what}_{layer}" for layer in range(layers) for what in ("key", "value")]


def _transformer_offsets(size: BundleSize) -> list[dict[str, object]]:
    return [
        {
            "index": index,
            "decoder_index": decoder_index(index),
            "input_name": f"transformer_offset_{index}",
            "output_name": f"transformer_offset_out_{index}",
            "shape": [1],
            "dtype": "int32",
        }
        for index in range(len(size.codec_stages))
    ]


def _attention_caches(size: BundleSize) -> list[dict[str, object]]:
    places = [
        (stage, layer, shape.context)
        for stage, shape in enumerate(size.codec_stages)
        for layer in range(shape.layers)
    ]
    return [
        {
            "index": index,
            "decoder_index": decoder_index(stage),
            "layer_index": layer,
            "context": context,
            "num_heads": size.codec_heads,
            "head_dim": size.codec_head_dim,
            "offset_input_name": f"attn_offset_{index}",
            "offset_output_name": f"attn_offset_out_{index}",
            "cached_keys_input_name": f"attn_cached_keys_{index}",
            "cached_keys_output_name": f"attn_cached_keys_out_{index}",
            "cached_values_input_name": f"attn_cached_values_{index}",
            "cached_values_output_name": f"attn_cached_values_out_{index}",
            "cached_positions_input_name": f"attn_cached_positions_{index}",
            "cached_positions_output_name": f"attn_cached_positions_out_{index}",
            "offset_shape": [1],
            "cache_shape": [1, size.codec_heads, context, size.codec_head_dim],
            "positions_shape": [1, context],
            "cache_dtype": "float32",
            "positions_dtype": "int32",
        }
        for index, (stage, layer, context) in enumerate(places)
    ]
