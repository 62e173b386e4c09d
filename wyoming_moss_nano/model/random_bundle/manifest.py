"""browser_poc_manifest.json: prompts, defaults and synthetic voices."""

from dataclasses import asdict

import numpy as np

from .metadata import tts_config
from .sampler import SAMPLING
from .size import BundleSize
from .templates import prompt_template
from .tokenizer import text_processor

# Frames of each synthetic reference.
_VOICES = (("alder", 24), ("birch", 36), ("cedar", 52))
_SAMPLES = (
    ("en_random_bundle", "The kettle is on, and the garden door is still open."),
    ("de_random_bundle", "Der Tee ist fertig, und die Tür zum Garten ist offen."),
)
_MAX_NEW_FRAMES = 375
_MAX_TEXT_TOKENS = 75


def bundle_manifest(size: BundleSize, tokenizer: bytes, seed: int) -> dict[str, object]:
    """The manifest's content.

    Args:
        size: The bundle's dimensions.
        tokenizer: The serialised tokenizer, for the ids of the text samples.
        seed: Decides the codes of the voices.
    """
    template = prompt_template(size)
    processor = text_processor(tokenizer)
    return {
        "format_version": 1,
        "model_files": {
            "tts_meta": "tts_browser_onnx_meta.json",
            "codec_meta": "../MOSS-Audio-Tokenizer-Nano-ONNX/codec_browser_onnx_meta.json",
            "tokenizer_model": "tokenizer.model",
        },
        "tts_config": tts_config(size),
        "prompt_templates": {
            "user_prompt_prefix_token_ids": list(template.user_prefix),
            "user_prompt_after_reference_token_ids": list(template.after_reference),
            "assistant_prompt_prefix_token_ids": list(template.assistant_prefix),
        },
        "generation_defaults": {
            "max_new_frames": _MAX_NEW_FRAMES,
            "do_sample": True,
            **asdict(SAMPLING),
            # whole numbers in the published file, too
            "text_temperature": int(SAMPLING.text_temperature),
            "text_top_p": int(SAMPLING.text_top_p),
            "sample_mode": "fixed",
        },
        "builtin_voices": _voices(size, seed),
        "text_samples": [
            {
                "id": name,
                "label": name.split("_")[0],
                "text": text,
                "text_token_ids": list(processor.encode(text)),
            }
            for name, text in _SAMPLES
        ],
        "moss_nano": {
            "kind": "random",
            "languages": ["en"],
            "offer_builtin_voices": True,
            "prefix_reuse": True,
            "max_text_tokens": _MAX_TEXT_TOKENS,
            "cap": {"base": size.base_frames, "per_token": size.cap_frames},
        },
    }


def _voices(size: BundleSize, seed: int) -> list[dict[str, object]]:
    generator = np.random.default_rng([seed, len(_VOICES)])
    return [
        {
            "voice": name,
            "display_name": name.capitalize(),
            "group": "Random",
            "audio_file": f"{name}.wav",
            "prompt_audio_codes": generator.integers(
                0, size.codebook_size, (frames, size.codebooks)
            ).tolist(),
        }
        for name, frames in _VOICES
    ]
