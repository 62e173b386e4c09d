"""The published constants of sampling."""

from typing import Final

from ..metadata import SamplingDefaults

# tts_browser_onnx_meta.json, fixed_sampled_frame_constants. The graph has no temperature, top-p
# or top-k of the text in it: its two candidates are drawn as they are.
SAMPLING: Final = SamplingDefaults(
    text_temperature=1.0,
    text_top_p=1.0,
    text_top_k=50,
    audio_temperature=0.8,
    audio_top_p=0.95,
    audio_top_k=25,
    audio_repetition_penalty=1.2,
)
