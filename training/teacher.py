"""The synthesizer's library, espeak-ng, through ctypes: sound and when each phoneme begins."""

import ctypes
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import numpy.typing as npt
from scipy.signal import resample_poly

from .speakers import Speaker

LIBRARY: Final = "libespeak-ng.so.1"
SAMPLE_RATE: Final = 16_000
# of speak_lib.h
AUDIO_OUTPUT_RETRIEVAL: Final = 1
PHONEME_EVENTS: Final = 1
CHARACTERS_UTF8: Final = 1
RATE, PITCH = 1, 3
LIST_TERMINATED, WORD_EVENT, PHONEME_EVENT = 0, 1, 7

Sound = npt.NDArray[np.float32]


class _Identifier(ctypes.Union):
    _fields_ = (
        ("number", ctypes.c_int),
        ("name", ctypes.c_char_p),
        ("string", ctypes.c_char * 8),
    )


class _Event(ctypes.Structure):
    _fields_ = (
        ("type", ctypes.c_int),
        ("unique_identifier", ctypes.c_uint),
        ("text_position", ctypes.c_int),
        ("length", ctypes.c_int),
        ("audio_position", ctypes.c_int),
        ("sample", ctypes.c_int),
        ("user_data", ctypes.c_void_p),
        ("id", _Identifier),
    )


_Callback = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.POINTER(ctypes.c_short), ctypes.c_int, ctypes.POINTER(_Event)
)


@dataclass(frozen=True)
class Phoneme:
    """A phoneme's name, when it begins in seconds, and where in the text its word begins."""

    name: str
    start: float
    word: int

    @property
    def silent(self) -> bool:
        """Whether it is a pause."""
        return self.name.startswith("_")


@dataclass
class Utterance:
    """What the synthesizer says: mono sound at 16 kHz and its phonemes."""

    sound: Sound
    phonemes: list[Phoneme] = field(default_factory=list)

    @property
    def end(self) -> float:
        """When the last phoneme that is no pause ends, in seconds."""
        spoken = [place for place, phoneme in enumerate(self.phonemes) if not phoneme.silent]
        after = spoken[-1] + 1 if spoken else len(self.phonemes)
        if after < len(self.phonemes):
            return self.phonemes[after].start
        return len(self.sound) / SAMPLE_RATE


class Teacher:
    """The synthesizer. One for each process: the library has only one state.

    Raises:
        OSError: espeak-ng's library is not installed.
    """

    def __init__(self) -> None:
        self._library = ctypes.CDLL(LIBRARY)
        self._rate = self._library.espeak_Initialize(
            AUDIO_OUTPUT_RETRIEVAL, 0, None, PHONEME_EVENTS
        )
        self._callback = _Callback(self._receive)
        self._library.espeak_SetSynthCallback(self._callback)
        self._variant = ""
        self._samples: list[npt.NDArray[np.int16]] = []
        self._phonemes: list[Phoneme] = []
        self._word = 0

    def say(self, text: str, speaker: Speaker) -> Utterance:
        """Speak a text."""
        self._become(speaker)
        self._samples, self._phonemes, self._word = [], [], 0
        raw = text.encode()
        self._library.espeak_Synth(raw, len(raw) + 1, 0, 0, 0, CHARACTERS_UTF8, None, None)
        self._library.espeak_Synchronize()
        samples = np.concatenate(self._samples) if self._samples else np.zeros(0, np.int16)
        sound = samples.astype(np.float32) * (10 ** (speaker.volume / 20) / 32768)
        resampled = resample_poly(sound, SAMPLE_RATE, self._rate).astype(np.float32)
        return Utterance(resampled, self._phonemes)

    def _become(self, speaker: Speaker) -> None:
        if speaker.variant != self._variant:
            if self._library.espeak_SetVoiceByName(speaker.variant.encode()) != 0:
                raise ValueError(f"espeak-ng has no voice {speaker.variant}")
            self._variant = speaker.variant
        self._library.espeak_SetParameter(RATE, speaker.rate, 0)
        self._library.espeak_SetParameter(PITCH, speaker.pitch, 0)

    def _receive(
        self,
        samples: "ctypes._Pointer[ctypes.c_short]",
        count: int,
        events: "ctypes._Pointer[_Event]",
    ) -> int:
        if count > 0:
            self._samples.append(np.ctypeslib.as_array(samples, (count,)).copy())
        place = 0
        while (event := events[place]).type != LIST_TERMINATED:
            if event.type == WORD_EVENT:
                self._word = event.text_position - 1
            elif event.type == PHONEME_EVENT:
                name = bytes(event.id.string).split(b"\0")[0].decode("utf8", "replace")
                self._phonemes.append(Phoneme(name, event.sample / self._rate, self._word))
            place += 1
        return 0
