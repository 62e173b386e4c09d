"""Reading a recording: any file that libsndfile knows, at the rate and width a codec takes."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import soundfile
import soxr
from numpy.typing import NDArray

from ..errors import VoiceError

Sound = NDArray[np.float32]

# Nobody speaks a reference for so long; more is a wrong file, and would fill the memory.
MAX_FILE_SECONDS: Final = 600

_CLIPPED_RUN: Final = 3  # samples
_SILENT_SWING: Final = 0.001  # of full scale
_CLIPPED_MARGIN: Final = 0.002  # of full swing, for what a lossy format adds


@dataclass(frozen=True)
class Recording:
    """A recording [channels, samples] at the rate and width of a codec.

    ``clipped_samples`` tells which samples of the file were cut off, before resampling rounded
    that off: bool [channels, samples of the file].
    """

    sound: Sound
    clipped_samples: NDArray[np.bool_]

    @property
    def clipped(self) -> float:
        """Share of samples that are cut off, in the channel where it is largest."""
        return float(self.clipped_samples.mean(axis=1).max(initial=0.0))

    def part(self, start: int, end: int) -> "Recording":
        """Return the samples from ``start`` to ``end``."""
        scale = self.clipped_samples.shape[1] / self.sound.shape[1]
        first, last = int(start * scale), max(int(start * scale) + 1, round(end * scale))
        return Recording(self.sound[:, start:end], self.clipped_samples[:, first:last])


def read_recording(path: Path, sample_rate: int, channels: int) -> Recording:
    """Return the sound of a file as float32 [channels, samples].

    It is resampled to ``sample_rate`` Hz. A file of as many channels keeps them; any other is
    averaged to one, which is duplicated.

    Raises:
        VoiceError: the file is missing, no sound, empty, or longer than MAX_FILE_SECONDS.
    """
    try:
        length = soundfile.info(path)
        if length.frames > MAX_FILE_SECONDS * length.samplerate:
            raise VoiceError(
                f"{path} is {length.duration:.0f} s long; at most {MAX_FILE_SECONDS} s are read: "
                "cut out the part to use"
            )
        raw, rate = soundfile.read(path, dtype="float32", always_2d=True)
    except (OSError, TypeError, soundfile.SoundFileError) as error:
        # of a file named .raw, libsndfile wants to be told what is in it: a TypeError
        raise VoiceError(f"cannot read the recording {path}: {error}") from error
    sound = raw
    if sound.shape[1] != channels:
        with np.errstate(invalid="ignore", over="ignore"):
            sound = np.repeat(sound.mean(axis=1, keepdims=True), channels, axis=1)
    if rate != sample_rate and len(sound):
        # the edges of a constant part would ring
        with np.errstate(invalid="ignore", over="ignore"):
            centred = sound - sound.mean(axis=0, keepdims=True, dtype=np.float64)
        sound = soxr.resample(centred.astype(np.float32), rate, sample_rate)
    if not len(sound):
        raise VoiceError(f"the recording {path} is empty")
    return Recording(np.ascontiguousarray(sound.T, dtype=np.float32), clipped_samples(raw.T))


def clipped_samples(sound: Sound) -> NDArray[np.bool_]:
    """Return which samples [channels, samples] stay at their channel's highest or lowest value.

    A waveform that is cut off stays there for some samples; one that is not passes it.
    """
    if sound.shape[1] < _CLIPPED_RUN or not np.isfinite(sound).all():
        return np.zeros(sound.shape, dtype=np.bool_)
    highest = sound.max(axis=1, keepdims=True).astype(np.float64)
    lowest = sound.min(axis=1, keepdims=True).astype(np.float64)
    swing = (highest - lowest) / 2
    margin = _CLIPPED_MARGIN * swing
    clipped = _in_runs(sound >= highest - margin) | _in_runs(sound <= lowest + margin)
    # a channel of silence, a constant or dither stays where it is and says nothing
    return np.asarray(clipped & (swing > _SILENT_SWING))


def _in_runs(marked: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which marks [channels, samples] are part of a run of _CLIPPED_RUN or more."""
    starts = marked[:, : 1 - _CLIPPED_RUN].copy()
    for shift in range(1, _CLIPPED_RUN):
        starts &= marked[:, shift : marked.shape[1] + 1 - _CLIPPED_RUN + shift]
    runs = np.zeros_like(marked)
    for shift in range(_CLIPPED_RUN):
        runs[:, shift : shift + starts.shape[1]] |= starts
    return runs


def write_recording(path: Path, sound: Sound, sample_rate: int) -> None:
    """Write sound [channels, samples] in [-1, 1] as 16-bit flac.

    Raises:
        VoiceError: the disk is full, or the file cannot be written for another reason.
    """
    try:
        soundfile.write(path, sound.T, sample_rate, format="FLAC", subtype="PCM_16")
    except soundfile.SoundFileError as error:
        raise VoiceError(f"cannot write the recording {path}: {error}") from error
