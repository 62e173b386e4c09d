"""The answer to one request: text on its way in, sound on its way out."""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Final

from ..engine.pcm import Pcm
from ..engine.utterance import Part
from ..errors import MossNanoError, SpeechError
from ..text.piece import Piece
from ..text.reading import Reading
from .voicebox import Voicebox

_LOGGER = logging.getLogger(__name__)

# Two hours of speech; more is a mistake, and takes long to cut.
MAX_TEXT_CHARACTERS: Final = 128 * 1024

# A writer who takes such a break may take a longer one: what looks complete is spoken then.
IDLE_SECONDS: Final = 1.0

# So much text is cut into pieces on the event loop, in about 10 ms (benchmarks/text_cost.py).
_PORTION: Final = 1000  # characters


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

    def __init__(
        self, voicebox: Voicebox, voice_name: str, reading: Reading, *, streamed: bool
    ) -> None:
        self.streamed = streamed
        self.events: asyncio.Queue[Started | Pcm | Ended] = asyncio.Queue()
        self._loop = asyncio.get_running_loop()
        self._characters = 0
        self._started = False
        self._ended = False
        self._cutting = asyncio.Lock()
        self._idle: asyncio.TimerHandle | None = None
        self._released: asyncio.Task[None] | None = None
        try:
            speaker = voicebox.speaker()
        except MossNanoError as error:
            self._put(Ended(error))
            return
        self._engine = speaker.engine
        self._pieces = speaker.engine.piece_stream(reading)
        self._speech = speaker.scheduler.open(
            lambda: voicebox.reference(voice_name, speaker.engine), voicebox.options, self
        )

    async def add(self, text: str) -> None:
        """Take a part of the text."""
        if self._ended:
            return
        self._stop_waiting()
        self._characters += len(text)
        if self._characters > MAX_TEXT_CHARACTERS:
            self._give_up(SpeechError(f"the text is longer than {MAX_TEXT_CHARACTERS} characters"))
        for start in range(0, len(text), _PORTION):
            await self._cut(partial(self._pieces.add, text[start : start + _PORTION]))
        if self.streamed and not self._ended:
            self._idle = self._loop.call_later(IDLE_SECONDS, self._release)

    async def end(self) -> None:
        """Note that the text is complete."""
        self._stop_waiting()
        if self._ended:
            return
        await self._cut(self._pieces.finish)
        self._start()
        self._speech.end()

    def cancel(self) -> None:
        """Stop speaking; nobody listens any more."""
        self._stop_waiting()
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
        if self._ended:
            self._stop_waiting()
        self.events.put_nowait(event)

    def _stop_waiting(self) -> None:
        if self._idle is not None:
            self._idle.cancel()
            self._idle = None

    def _release(self) -> None:
        """Speak what looks complete; the task is kept so that it is not collected."""
        self._released = self._loop.create_task(self._cut(self._pieces.idle))

    async def _cut(self, pieces: Callable[[], list[Piece]]) -> None:
        """Speak the pieces that a part of the text completes."""
        async with self._cutting:
            if self._ended:
                return
            if self._characters <= _PORTION:
                self._speak(self._engine.encode(pieces()))
            else:
                # a long text takes so long to cut that others would wait for the event loop
                self._speak(await asyncio.to_thread(lambda: self._engine.encode(pieces())))

    def _speak(self, encoded: list[Part]) -> None:
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
