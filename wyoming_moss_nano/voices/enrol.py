"""From a recording somebody brought to a reference: judged, trimmed, levelled, encoded."""

import hashlib
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import numpy as np

from ..engine.codec import Codec
from ..engine.pcm import Limiter
from ..engine.prompt import Codes
from ..errors import VoiceError
from ..model.bundle import Bundle
from .judgement import (
    MAX_SECONDS,
    Judgement,
    block_levels,
    judge,
    speech_level,
    speech_span,
    without_offset,
)
from .loudness import loudness
from .recording import Recording, Sound, read_recording
from .voice_file import Authorization, VoiceFile

# The level of every reference, as ITU-R BS.1770 measures it; speech follows its reference's level.
REFERENCE_LUFS: Final = -20.0

# A chosen stretch is trimmed like any recording, and must then still be long enough.
MIN_BEST_SECONDS: Final = 1.5

_BLOCK_SECONDS: Final = 0.02


@dataclass(frozen=True)
class Encoder:
    """What turns recordings into codes of one bundle."""

    bundle: Bundle
    codec: Codec

    def read(self, path: Path) -> Recording:
        """Return a recording at the bundle's rate and channels."""
        config = self.bundle.codec
        return read_recording(path, config.sample_rate, config.channels)

    def encode(self, sound: Sound) -> Codes:
        """Return the codes int32 [frames, codebooks] of prepared sound."""
        return self.codec.encode(sound)

    @property
    def sample_rate(self) -> int:
        """Rate in Hz of prepared sound."""
        return self.bundle.codec.sample_rate


@dataclass(frozen=True)
class Enrolment:
    """A voice ready to be kept, the recording it was made from, and what was found of that."""

    voice: VoiceFile
    recording: Sound
    judgement: Judgement


def enrol(
    encoder: Encoder,
    path: Path,
    name: str,
    languages: tuple[str, ...],
    description: str,
    authorization: Authorization,
    best_seconds: float | None = None,
) -> Enrolment:
    """Make a voice of a recording, or of its best stretch of ``best_seconds``, 1.5 to 20.

    Raises:
        VoiceError: nobody authorised it, or the recording is not fit; the message says what was
            measured and what to do.
    """
    if not (authorization.by.strip() and authorization.statement.strip()):
        raise VoiceError(
            "a voice belongs to a person: say who authorised its use and in what words"
        )
    recording = encoder.read(path)
    if best_seconds is not None and np.isfinite(recording.sound).all():
        recording = recording.part(*best_span(recording.sound, encoder.sample_rate, best_seconds))
    judgement = judge(recording.sound, encoder.sample_rate, recording.clipped)
    if not judgement.usable:
        raise VoiceError(f"{path} cannot be a reference: {'; '.join(judgement.problems)}")
    prepared = prepare(recording.sound, encoder.sample_rate)
    voice = VoiceFile(
        name=name,
        languages=languages,
        description=description,
        codec_id=encoder.bundle.codec_id,
        codes=encoder.encode(prepared),
        recording_sha256=hashlib.sha256(path.read_bytes()).hexdigest(),
        seconds=prepared.shape[1] / encoder.sample_rate,
        loudness_lufs=judgement.loudness_lufs,
        authorization=authorization,
    )
    return Enrolment(voice, prepared, judgement)


def now() -> str:
    """Return the time as an authorisation notes it."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def prepare(sound: Sound, sample_rate: int) -> Sound:
    """Return a judged recording trimmed to its speech, at REFERENCE_LUFS, its peaks limited."""
    sound = without_offset(sound)
    start, end = speech_span(sound, sample_rate)
    speech = sound[:, start:end]
    limiter = Limiter(sample_rate, gain_db=REFERENCE_LUFS - loudness(speech))
    limited = limiter.take(speech)
    rest = limiter.rest()
    return limited if rest is None else np.concatenate([limited, rest], axis=1)


def best_span(sound: Sound, sample_rate: int, seconds: float) -> tuple[int, int]:
    """Return first and last sample of the stretch with most speech between pauses, if there are.

    Raises:
        VoiceError: ``seconds`` is no length a reference can have.
    """
    if not MIN_BEST_SECONDS <= seconds <= MAX_SECONDS:
        raise VoiceError(
            f"--best must be from {MIN_BEST_SECONDS:g} to {MAX_SECONDS:g} seconds, not {seconds:g}"
        )
    levels = block_levels(without_offset(sound), sample_rate)
    length = round(seconds / _BLOCK_SECONDS)
    if len(levels) <= length:
        return 0, sound.shape[1]
    middle = (speech_level(levels) + float(np.percentile(levels, 8))) / 2
    speaking = (levels > middle).astype(np.float64)
    sums = np.concatenate([[0.0], np.cumsum(speaking)])
    share = (sums[length:] - sums[:-length]) / length
    # a stretch that cuts a word in two at an end must have much more speech to be chosen
    cuts = speaking[: len(share)] + speaking[length - 1 :][: len(share)]
    first = int(np.argmax(share - 0.2 * cuts)) * round(_BLOCK_SECONDS * sample_rate)
    return first, min(sound.shape[1], first + round(seconds * sample_rate))
