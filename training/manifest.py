"""The manifest and the bundle's own voices, which its own encode graph makes."""

from pathlib import Path
from typing import Any, Final

import numpy as np
import onnxruntime
from scipy.signal import resample_poly

from . import codec_graphs, tokens
from .export import CODEC_FOLDER, LANGUAGE_FOLDER, audio_sampling, token_config, write_json
from .graphs import Sampling
from .speakers import Speaker
from .teacher import SAMPLE_RATE, Sound, Teacher
from .tokenizer import build_tokenizer

VOICES: Final = {
    "Robin": Speaker("en-us", 40),
    "Max": Speaker("en-us+m3", 45),
    "Otto": Speaker("en-us+m7", 40),
    "Fay": Speaker("en-us+f2", 45),
    "Ivy": Speaker("en-us+f5", 40),
}
VOICE_TEXT: Final = "The quick brown fox jumps over the lazy dog."
SAMPLE_TEXT: Final = "turn on the kitchen lights."
# Speech takes about one frame for each character, with pauses at its marks.
RULES: Final = {
    "kind": "embedded",
    "languages": ["en"],
    "offer_builtin_voices": True,
    "prefix_reuse": False,  # every row of a prompt sees every other
    "max_text_tokens": 200,
    "cap": {"base": 12, "per_token": 1.6},
}
GENERATION: Final = {
    "max_new_frames": 375,
    "do_sample": True,
    "sample_mode": "fixed",
    "text_temperature": 1.0,
    "text_top_p": 1.0,
    "text_top_k": 50,
}


def encode(session: onnxruntime.InferenceSession, sound: Sound) -> list[list[int]]:
    """Return the codes of mono sound at 16 kHz as the bundle's own graph makes them."""
    factor = codec_graphs.SAMPLE_RATE // SAMPLE_RATE
    wave = resample_poly(sound, factor, 1).astype(np.float32)
    stereo = np.stack([wave, wave])[np.newaxis]
    length = np.array([len(wave)], np.int32)
    codes, lengths = session.run(None, {"waveform": stereo, "input_lengths": length})
    found: list[list[int]] = codes[0, : lengths[0]].tolist()
    return found


def builtin_voices(bundle: Path, teacher: Teacher) -> list[dict[str, Any]]:
    """Return the voices of the manifest."""
    path = bundle / CODEC_FOLDER / "moss_audio_tokenizer_encode.onnx"
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    voices = []
    for name, speaker in VOICES.items():
        said = teacher.say(VOICE_TEXT, speaker)
        codes = encode(session, said.sound[: int(said.end * SAMPLE_RATE)])
        voice = {"voice": name, "display_name": name, "group": "synthetic"}
        voices.append(voice | {"prompt_audio_codes": codes})
    return voices


def write_manifest(bundle: Path, teacher: Teacher, sampling: Sampling) -> None:
    """Write tokenizer and manifest into a bundle that has its graphs."""
    folder = bundle / LANGUAGE_FOLDER
    build_tokenizer(folder / "tokenizer.model")
    templates = {
        "user_prompt_prefix_token_ids": list(tokens.USER_PREFIX),
        "user_prompt_after_reference_token_ids": list(tokens.AFTER_REFERENCE),
        "assistant_prompt_prefix_token_ids": list(tokens.ASSISTANT_PREFIX),
    }
    sample = {"text": SAMPLE_TEXT, "text_token_ids": tokens.character_ids(SAMPLE_TEXT)}
    manifest = {
        "format_version": 1,
        "model_files": {
            "tts_meta": "tts_browser_onnx_meta.json",
            "codec_meta": f"../{CODEC_FOLDER}/codec_browser_onnx_meta.json",
            "tokenizer_model": "tokenizer.model",
        },
        "tts_config": token_config(),
        "prompt_templates": templates,
        "generation_defaults": GENERATION | audio_sampling(sampling),
        "builtin_voices": builtin_voices(bundle, teacher),
        "text_samples": [sample],
        "moss_nano": RULES,
    }
    write_json(folder / "browser_poc_manifest.json", manifest)
