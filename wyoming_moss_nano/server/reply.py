"""The answer to one request: text on its way in, sound on its way out."""

import asyncio
import logging
from dataclasses import dataclass
from typing import Final

from ..engine.pcm import Pcm
from ..engine.prompt import Codes
from ..engine.scheduler import Scheduler, Speech
from ..engine.speech import Engine, SpeechOptions
from ..errors import MossNanoError, SpeechError
from ..voices.enrol import Encoder
from ..voices.store import VoiceStore

_LOGGER = logging.getLogger(__name__)

MAX_TEXT_CHARACTERS: Final = 1024 * 1024

# Text is cut into pieces on the event loop, in portions between which others have their turn.
_PORTION: Final = 4000


@dataclass(frozen=True)
class Voicebox:
    """What it takes to speak: handed to every connection."""

    engine: Engine
    scheduler: Scheduler
    voices: VoiceStore
    options: SpeechOptions

    def reference(self, name: str) -> Codes:
        """Return the codes of a voice, encoding its recording if that has not been done."""
        return self.voices.get(name, Encoder(self.engine.bundle, self.engine.codec)).codes


@dataclass(frozen=True)
class Started:
    """The request is queued: its sound will follow."""


@dataclass(frozen=True)
class Ended:
    """Nothing more comes; ``error`` says why if it ended early."""

    error: MossNanoError | None


class Reply:
    """One request being answered; ``events`` yields Started, PCM and Ended, in this order.

    ``streamed`` tells whether its text came in parts, which is answered with one more event.
    """

    def __init__(self, voicebox: Voicebox, voice_name: str, *, streamed: bool) -> None:
        self.streamed = streamed
        self.events: asyncio.Queue[Started | Pcm | Ended] = asyncio.Queue()
        self._engine = voicebox.engine
        self._loop = asyncio.get_running_loop()
        self._pieces = voicebox.engine.piece_stream()
        self._characters = 0
        self._started = False
        self._ended = False
        self._speech: Speech = voicebox.scheduler.open(
            lambda: voicebox.reference(voice_name), voicebox.options, self
        )

    async def add(self, text: str) -> None:
        """Take a part of the text."""
        self._characters += len(text)
        if self._characters > MAX_TEXT_CHARACTERS:
            self._give_up(SpeechError(f"the text is longer than {MAX_TEXT_CHARACTERS} characters"))
        for start in range(0, len(text), _PORTION):
            if self._ended:
                return
            self._speak(self._pieces.add(text[start : start + _PORTION]))
            await asyncio.sleep(0)

    def end(self) -> None:
        """Note that the text is complete."""
        if self._ended:
            return
        self._speak(self._pieces.finish())
        self._start()
        self._speech.end()

    def cancel(self) -> None:
        """Stop speaking; nobody listens any more."""
        self._ended = True
        self._speech.cancel()

    def cut(self, error: MossNanoError) -> None:
        """End with an error now, without the sound that is still waiting to be sent."""
        self._speech.cancel()
        while not self.events.empty():
            self.events.get_nowait()
        self._ended = True
        self.events.put_nowait(Ended(error))

    def taken(self, seconds: float) -> None:
        """Note that the listener took so much sound."""
        self._speech.taken(seconds)

    def pcm(self, pcm: Pcm) -> None:
        """Outlet: take PCM from a thread of the scheduler."""
        self._put_from_thread(pcm)

    def done(self, error: MossNanoError | None) -> None:
        """Outlet: take the end from a thread of the scheduler."""
        self._put_from_thread(Ended(error))

    def _put_from_thread(self, event: Pcm | Ended) -> None:
        try:
            self._loop.call_soon_threadsafe(self._put, event)
        except RuntimeError:
            # the loop is closed: the process is ending and nobody listens
            self._speech.cancel()

    def _put(self, event: Started | Pcm | Ended) -> None:
        if self._ended:
            return
        self._ended = isinstance(event, Ended)
        self.events.put_nowait(event)

    def _speak(self, pieces: list[str]) -> None:
        encoded = self._engine.encode(pieces)
        if not encoded:
            return
        try:
            self._speech.add(encoded)
        except MossNanoError as error:
            self._give_up(error)
            return
        self._start()

    def _start(self) -> None:
        if not self._started and not self._ended:
            self._started = True
            self._put(Started())

    def _give_up(self, error: MossNanoError) -> None:
        self._speech.cancel()
        self._put(Ended(error))
