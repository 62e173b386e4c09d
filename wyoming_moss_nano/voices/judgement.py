"""Is a recording fit to be a reference? What was measured, and what to do about it."""

from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from .loudness import loudness
from .recording import Recording, Sound, clipped_samples

MIN_SECONDS: Final = 1.0
MAX_SECONDS: Final = 20.0
# The publisher advises 3 to 10 s; longer references make every request slower.
HINT_SECONDS: Final = 10.0

_SILENT_PEAK: Final = 10 ** (-60 / 20)
_MAX_CLIPPED: Final = 0.01  # of all samples
_MIN_SPEECH_TO_NOISE_DB: Final = 15.0
_QUIET_LUFS: Final = -50.0

_BLOCK_SECONDS: Final = 0.02
_LOUDEST_SECONDS: Final = 0.5
_FLOOR_DB: Final = -90.0
# A recording that is digital silence for more than a tenth was gated: its pauses are no noise.
_GATED_SHARE: Final = 0.9
_QUIET_PERCENTILE: Final = 8

# Speech is what is less than this below the loudest blocks; the rest at both ends is trimmed.
_SPEECH_RANGE_DB: Final = 35.0
_LEAD_IN_SECONDS: Final = 0.05
_LEAD_OUT_SECONDS: Final = 0.15


@dataclass(frozen=True)
class Judgement:
    """What was measured of a recording, what is wrong with it, and what could be better.

    ``seconds`` is the length after trimming, ``speech_to_noise_db`` the distance between its loud
    and its quiet parts. A recording without ``problems`` can be a reference.
    """

    seconds: float
    trimmed_seconds: float
    loudness_lufs: float
    peak: float
    clipped: float
    speech_to_noise_db: float
    problems: tuple[str, ...]
    hints: tuple[str, ...]

    @property
    def usable(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems

    def as_json(self) -> dict[str, Any]:
        """Return all of it for JSON, which knows no infinity: silence has no loudness."""
        values = asdict(self) | {"usable": self.usable}
        return {
            key: None if isinstance(value, float) and not np.isfinite(value) else value
            for key, value in values.items()
        }


def judge(sound: Sound, sample_rate: int, clipped: float = 0.0) -> Judgement:
    """Judge a recording [channels, samples] as it was made, before anything is done to it.

    ``clipped`` is the share of samples that were found clipped before it was resampled.
    """
    if not np.isfinite(sound).all():
        return _refused(sound, sample_rate, "it has samples that are no numbers: export it again")
    share = Recording(sound, clipped_samples(sound)).clipped
    sound = without_offset(sound)
    peak = float(np.abs(sound).max(initial=0.0))
    if peak < _SILENT_PEAK:
        return _refused(sound, sample_rate, f"it is silent (peak {peak:.6f} of full scale)")
    start, end = speech_span(sound, sample_rate)
    speech = sound[:, start:end]
    judgement = Judgement(
        seconds=speech.shape[1] / sample_rate,
        trimmed_seconds=(sound.shape[1] - speech.shape[1]) / sample_rate,
        loudness_lufs=loudness(sound),
        peak=peak,
        clipped=max(clipped, share),
        speech_to_noise_db=_speech_to_noise(block_levels(speech, sample_rate)),
        problems=(),
        hints=(),
    )
    return Judgement(
        **{**judgement.__dict__, "problems": _problems(judgement), "hints": _hints(judgement)}
    )


def without_offset(sound: Sound) -> Sound:
    """Return a recording without its constant part, which some sound cards add."""
    offset = sound.mean(axis=1, keepdims=True, dtype=np.float64)
    return np.asarray(sound - offset, dtype=np.float32)


def speech_span(sound: Sound, sample_rate: int) -> tuple[int, int]:
    """Return the first sample of speech and the one after its last, with a little air around."""
    levels = block_levels(sound, sample_rate)
    active = np.flatnonzero(levels > speech_level(levels) - _SPEECH_RANGE_DB)
    block = round(_BLOCK_SECONDS * sample_rate)
    start = int(active[0]) * block - round(_LEAD_IN_SECONDS * sample_rate)
    end = (int(active[-1]) + 1) * block + round(_LEAD_OUT_SECONDS * sample_rate)
    return max(0, start), min(sound.shape[1], end)


def speech_level(levels: NDArray[np.float64]) -> float:
    """Return how loud speech is: the level that the loudest half second reaches, however long."""
    loudest = np.sort(levels)[-round(_LOUDEST_SECONDS / _BLOCK_SECONDS) :]
    return float(np.median(loudest))


def block_levels(sound: Sound, sample_rate: int) -> NDArray[np.float64]:
    """Return the level in dB of every 20 ms of a recording."""
    block = round(_BLOCK_SECONDS * sample_rate)
    power = np.square(sound.astype(np.float64)).mean(axis=0)
    power = np.pad(power, (0, -len(power) % block)).reshape(-1, block).mean(axis=1)
    return np.asarray(10 * np.log10(np.maximum(power, 10 ** (_FLOOR_DB / 10))))


def _speech_to_noise(levels: NDArray[np.float64]) -> float:
    # blocks of digital silence were cut in by a program and tell nothing of the room
    heard = levels[levels > _FLOOR_DB]
    if not len(heard):
        return 0.0
    if len(heard) < _GATED_SHARE * len(levels):
        return speech_level(heard) - _FLOOR_DB
    return speech_level(heard) - float(np.percentile(heard, _QUIET_PERCENTILE))


def _problems(found: Judgement) -> tuple[str, ...]:
    problems = []
    if found.seconds < MIN_SECONDS:
        problems.append(
            f"it has {found.seconds:.1f} s of speech; at least {MIN_SECONDS:.0f} s are needed: "
            "record 3 to 10 s"
        )
    if found.seconds > MAX_SECONDS:
        problems.append(
            f"it has {found.seconds:.1f} s of speech; at most {MAX_SECONDS:.0f} s can be used: "
            "take the best part with --best 8"
        )
    if found.clipped > _MAX_CLIPPED:
        problems.append(
            f"{found.clipped:.1%} of its samples are clipped (at most {_MAX_CLIPPED:.0%}): "
            "record it again with a lower input level"
        )
    if found.speech_to_noise_db < _MIN_SPEECH_TO_NOISE_DB:
        problems.append(
            f"speech is only {found.speech_to_noise_db:.0f} dB above the noise (at least "
            f"{_MIN_SPEECH_TO_NOISE_DB:.0f} dB): record it closer to the microphone in a quiet room"
        )
    if found.loudness_lufs < _QUIET_LUFS:
        problems.append(
            f"it is too quiet ({found.loudness_lufs:.0f} LUFS, at least {_QUIET_LUFS:.0f}): "
            "record it again with a higher input level"
        )
    return tuple(problems)


def _hints(found: Judgement) -> tuple[str, ...]:
    if HINT_SECONDS < found.seconds <= MAX_SECONDS:
        hint = (
            f"{found.seconds:.1f} s is longer than needed and slows every request: "
            "3 to 10 s are best, --best 8 picks them"
        )
        return (hint,)
    return ()


def _refused(sound: Sound, sample_rate: int, problem: str) -> Judgement:
    seconds = sound.shape[1] / sample_rate
    return Judgement(seconds, 0.0, float("-inf"), 0.0, 0.0, 0.0, (problem,), ())
