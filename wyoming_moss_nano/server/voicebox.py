"""What it takes to speak: voices at once, an engine as soon as its model is there."""

import threading
from dataclasses import dataclass
from typing import Final

from ..engine.options import SpeechOptions
from ..engine.prompt import Codes
from ..engine.scheduler import Scheduler
from ..engine.speech import Engine
from ..errors import ModelNotReadyError
from ..text.reading import Reading
from ..voices.enrol import Encoder
from ..voices.store import VoiceStore

# Every model so far has this rate; one that does not has it from the moment it speaks.
_USUAL_SAMPLE_RATE: Final = 48000


@dataclass(frozen=True)
class Speaker:
    """An engine and whose turn it is on it."""

    engine: Engine
    scheduler: Scheduler


class Voicebox:
    """Handed to every connection. ``kind`` is that of the model, as its bundle says.

    ``normalize`` says whether numbers and the like are spoken as words.
    """

    def __init__(
        self, voices: VoiceStore, options: SpeechOptions, kind: str, *, normalize: bool = True
    ) -> None:
        self.voices = voices
        self.options = options
        self.kind = kind
        self._normalize = normalize
        self._speaker: Speaker | None = None
        self._waiting_for = "the model is not there yet"
        self._is_ready = threading.Event()

    @property
    def sample_rate(self) -> int:
        """Rate in Hz of what is sent."""
        if self._speaker is None:
            return _USUAL_SAMPLE_RATE
        return self._speaker.engine.bundle.codec.sample_rate

    def speaker(self) -> Speaker:
        """Return what speaks.

        Raises:
            ModelNotReadyError: nothing does yet; the message says what is being waited for.
        """
        if self._speaker is None:
            raise ModelNotReadyError(self._waiting_for)
        return self._speaker

    def ready(self, speaker: Speaker) -> None:
        """Speak with this from now on."""
        self._speaker = speaker
        self._is_ready.set()

    def wait_ready(self, seconds: float) -> bool:
        """Wait for so long at most until something speaks; return whether it does."""
        return self._is_ready.wait(seconds)

    def wait_for(self, what: str) -> None:
        """Note what stands between now and speaking, for those who ask meanwhile."""
        self._waiting_for = what

    def stop(self) -> None:
        """Stop speaking."""
        if self._speaker is not None:
            self._speaker.scheduler.stop()

    def reading(self, language: str, *, ssml: bool) -> Reading:
        """Return how a text of a language is read."""
        return Reading(language, self._normalize, self.voices.pronunciations(language), ssml)

    def reference(self, name: str, engine: Engine) -> Codes:
        """Return the codes of a voice, encoding its recording if that has not been done."""
        return self.voices.get(name, Encoder(engine.bundle, engine.codec)).codes
