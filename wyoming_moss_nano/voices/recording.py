"""Reading a recording: any file that libsndfile knows, at the rate and width a codec takes."""

from pathlib import Path

import numpy as np
import soundfile
import soxr
from numpy.typing import NDArray

from ..errors import VoiceError


def read_recording(path: Path, sample_rate: int, channels: int) -> NDArray[np.float32]:
    """Return the sound of a file as float32 [channels, samples].

    It is resampled to ``sample_rate`` Hz; mono is duplicated to ``channels``.

    Raises:
        VoiceError: the file is missing or no sound, or has channels that fit neither.
    """
    try:
        sound, rate = soundfile.read(path, dtype="float32", always_2d=True)
    except (OSError, soundfile.SoundFileError) as error:
        raise VoiceError(f"cannot read the recording {path}: {error}") from error
    if sound.shape[1] == 1:
        sound = np.repeat(sound, channels, axis=1)
    if sound.shape[1] != channels:
        raise VoiceError(f"{path} has {sound.shape[1]} channels; mono or {channels} can be used")
    resampled = sound if rate == sample_rate else soxr.resample(sound, rate, sample_rate)
    return np.ascontiguousarray(resampled.T, dtype=np.float32)
