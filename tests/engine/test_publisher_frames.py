"""Frames that the publisher's own runtime made of the tiny bundle, against our engine's.

They were recorded once by benchmarks/compare_publisher.py, so that no test needs the publisher's
code: see benchmarks/README.md.
"""

import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from wyoming_moss_nano.engine.local import SAMPLE_MODES
from wyoming_moss_nano.engine.options import SpeechOptions
from wyoming_moss_nano.engine.speech import Engine
from wyoming_moss_nano.engine.utterance import Frame, PieceEnd
from wyoming_moss_nano.model.tokenizer import TextTokenizer

FRAMES = Path(__file__).parent / "frames"
RECORD_AGAIN = (
    "these frames are of another tiny bundle: if its builder changed, record again with "
    "`python benchmarks/compare_publisher.py --publisher DIR --record tests/engine/frames`"
)


@dataclass(frozen=True)
class Recording:
    """A request, and the codes of the frames [16] of each of its pieces."""

    mode: str
    bundle_id: str
    max_frames: int
    voice: str
    seed: int
    pieces: list[str]
    frames: list[list[list[int]]]

    def __str__(self):
        return f"{self.mode}, {self.voice}, {' '.join(self.pieces)}"


def recordings(mode):
    recorded = json.loads((FRAMES / f"{mode}.json").read_text(encoding="utf-8"))
    return [
        Recording(mode, recorded["bundle_id"], recorded["max_frames"], **case)
        for case in recorded["cases"]
    ]


ALL_RECORDINGS = [recording for mode in SAMPLE_MODES for recording in recordings(mode)]


@pytest.fixture
def speak(tiny_engine: Engine):
    tokenizer = TextTokenizer(tiny_engine.bundle)

    def frames_of(recording: Recording) -> list[list[list[int]]]:
        options = SpeechOptions(
            seed=recording.seed, sample_mode=recording.mode, max_frames=recording.max_frames
        )
        pieces = [tokenizer.encode(piece).ids for piece in recording.pieces]
        reference = tiny_engine.bundle.builtin_voices[recording.voice]
        utterance = tiny_engine.utter(pieces, reference, options)
        made: list[list[list[int]]] = [[]]
        while (event := utterance.step()) is not None:
            match event:
                case Frame(codes):
                    made[-1].append(codes.tolist())
                case PieceEnd():
                    made.append([])
        return made[:-1]

    return frames_of


@pytest.mark.parametrize("recording", ALL_RECORDINGS, ids=str)
def test_the_engine_makes_the_publishers_frames(recording, speak, tiny_bundle):
    # other releases of onnx may write other bytes for the same weights, so ids are but a hint
    hint = "" if recording.bundle_id == tiny_bundle.bundle_id else RECORD_AGAIN

    assert speak(recording) == recording.frames, hint


@pytest.mark.parametrize("mode", SAMPLE_MODES)
def test_enough_is_recorded_of_each_mode(mode):
    requests = recordings(mode)
    pieces = [piece for request in requests for piece in request.frames]
    assert sum(len(piece) for piece in pieces) >= 60
    assert len({request.voice for request in requests}) > 1
    # of two pieces, the first stopped by itself: its last random numbers were drawn in vain
    stopped = [len(request.frames[0]) < request.max_frames for request in requests]
    assert (2, True) in zip([len(request.frames) for request in requests], stopped, strict=True)
