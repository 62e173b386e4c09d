"""Reading a recording: any file that libsndfile knows, at the rate and width a codec takes."""

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


def read_recording(path: Path, sample_rate: int, channels: int) -> Sound:
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
        sound, rate = soundfile.read(path, dtype="float32", always_2d=True)
    except (OSError, soundfile.SoundFileError) as error:
        raise VoiceError(f"cannot read the recording {path}: {error}") from error
    if not len(sound):
        raise VoiceError(f"the recording {path} is empty")
    if sound.shape[1] != channels:
        sound = np.repeat(sound.mean(axis=1, keepdims=True, dtype=np.float32), channels, axis=1)
    if rate != sample_rate:
        sound = soxr.resample(sound, rate, sample_rate)
    return np.ascontiguousarray(sound.T, dtype=np.float32)


def write_recording(path: Path, sound: Sound, sample_rate: int) -> None:
    """Write sound [channels, samples] in [-1, 1] as 16-bit flac."""
    soundfile.write(path, sound.T, sample_rate, format="FLAC", subtype="PCM_16")
