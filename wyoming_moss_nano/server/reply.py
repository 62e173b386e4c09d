"""The answer to one request: text on its way in, sound on its way out."""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Final

from ..engine.pcm import Pcm
from ..errors import MossNanoError, SpeechError
from .voicebox import Voicebox

_LOGGER = logging.getLogger(__name__)

# Two hours of speech; more is a mistake, and takes long to cut.
MAX_TEXT_CHARACTERS: Final = 128 * 1024

# So much text is cut into pieces on the event loop, in a few milliseconds.
_PORTION: Final = 4000  # characters


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
        self._loop = asyncio.get_running_loop()
        self._characters = 0
        self._started = False
        self._ended = False
        try:
            speaker = voicebox.speaker()
        except MossNanoError as error:
            self._put(Ended(error))
            return
        self._engine = speaker.engine
        self._pieces = speaker.engine.piece_stream()
        self._speech = speaker.scheduler.open(
            lambda: voicebox.reference(voice_name, speaker.engine), voicebox.options, self
        )

    async def add(self, text: str) -> None:
        """Take a part of the text."""
        if self._ended:
            return
        self._characters += len(text)
        if self._characters > MAX_TEXT_CHARACTERS:
            self._give_up(SpeechError(f"the text is longer than {MAX_TEXT_CHARACTERS} characters"))
        for start in range(0, len(text), _PORTION):
            await self._cut(partial(self._pieces.add, text[start : start + _PORTION]))

    async def end(self) -> None:
        """Note that the text is complete."""
        if self._ended:
            return
        await self._cut(self._pieces.finish)
        self._start()
        self._speech.end()

    def cancel(self) -> None:
        """Stop speaking; nobody listens any more."""
        if not self._ended:
            self._ended = True
            self._speech.cancel()

    def cut(self, error: MossNanoError) -> None:
        """End with an error now, without the sound that is still waiting to be sent."""
        self.cancel()
        while not self.events.empty():
            self.events.get_nowait()
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

    async def _cut(self, pieces: Callable[[], list[str]]) -> None:
        """Speak the pieces that a part of the text completes."""
        if self._ended:
            return
        if self._characters <= _PORTION:
            self._speak(self._engine.encode(pieces()))
        else:
            # a long text takes so long to cut that others would have to wait for the event loop
            self._speak(await asyncio.to_thread(lambda: self._engine.encode(pieces())))

    def _speak(self, encoded: list[list[int]]) -> None:
        if not encoded or self._ended:
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
