"""One connection: events are read while earlier requests are being spoken."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, Final

from wyoming.audio import AudioChunk, AudioStart, AudioStop
from wyoming.error import Error
from wyoming.event import Event, async_write_event
from wyoming.info import Info
from wyoming.ping import Pong
from wyoming.tts import SynthesizeStopped

from ..engine.pcm import Pcm
from ..errors import MossNanoError
from ..voices.offer import PublishedVoice
from .reply import Ended, Reply, Started
from .voicebox import Voicebox
from .wire import WireError, read_event

_LOGGER = logging.getLogger(__name__)

_SAMPLE_WIDTH: Final = 2  # bytes

# More requests on one connection are read only when earlier ones have been answered.
MOST_OPEN_REQUESTS: Final = 32

_CLOSE_SECONDS: Final = 0.5  # for what a closed connection still has to send

# A client that takes nothing for so long is gone or broken.
STALLED_SECONDS: Final = 60.0


class Connection:
    """One client: ``read`` its events to the end, then ``finish`` or ``close``."""

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        voicebox: Voicebox,
        info: Callable[[], Info],
        samples_per_chunk: int,
    ) -> None:
        self._reader = reader
        self._writer = writer
        self._voicebox = voicebox
        self._info = info
        self._samples_per_chunk = samples_per_chunk
        self._writing = asyncio.Lock()
        self._replies: asyncio.Queue[Reply] = asyncio.Queue()
        self._open: set[Reply] = set()
        self._room = asyncio.Semaphore(MOST_OPEN_REQUESTS)
        self._stream: _TextStream | None = None
        self._speaking = asyncio.create_task(self._speak_in_order())
        self._handlers: dict[str, Callable[[dict[str, Any]], Awaitable[None]]] = {
            "describe": self._describe,
            "ping": self._ping,
            "synthesize": self._synthesize,
            "synthesize-start": self._synthesize_start,
            "synthesize-chunk": self._synthesize_chunk,
            "synthesize-stop": self._synthesize_stop,
        }

    @property
    def busy(self) -> bool:
        """Whether a request is not fully answered."""
        return bool(self._open)

    async def read(self) -> None:
        """Handle events until the client leaves, sends what is none, or takes nothing."""
        reading = asyncio.create_task(self._read())
        await asyncio.wait([reading, self._speaking], return_when=asyncio.FIRST_COMPLETED)
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)

    async def _read(self) -> None:
        try:
            while (event := await read_event(self._reader)) is not None:
                handler = self._handlers.get(event.type)
                if handler is None:
                    _LOGGER.debug("Passing over an event of type %.40r", event.type)
                else:
                    await handler(event.data)
        except WireError as error:
            _LOGGER.debug("Ending a connection: %s", error)
        except OSError as error:
            _LOGGER.debug("A client left: %s", error)
        except Exception:  # a bug must not be swallowed with the task
            _LOGGER.exception("Reading from a client failed unexpectedly")

    async def finish(self) -> None:
        """Answer what was asked, to the last byte."""
        if self._stream is not None:
            await self._synthesize_stop({})
        while self._open and not self._speaking.done():
            await asyncio.wait([self._speaking], timeout=0.05)
        with suppress(OSError):
            self._writer.transport.set_write_buffer_limits(high=0)
            await self._writer.drain()

    def cut(self, error: MossNanoError) -> None:
        """End every open request with an error: a plain end would pass for all of the sound."""
        for reply in self._open:
            reply.cut(error)

    async def close(self) -> None:
        """Stop speaking and drop the connection."""
        for reply in self._open:
            reply.cancel()
        self._speaking.cancel()
        await asyncio.gather(self._speaking, return_exceptions=True)
        self._writer.close()
        with suppress(OSError):
            async with asyncio.timeout(_CLOSE_SECONDS):
                await self._writer.wait_closed()

    async def _describe(self, _data: dict[str, Any]) -> None:
        await self._write(self._info().event())

    async def _ping(self, data: dict[str, Any]) -> None:
        text = data.get("text")
        await self._write(Pong(text=text if isinstance(text, str) else None).event())

    async def _synthesize(self, data: dict[str, Any]) -> None:
        text = _text(data)
        if self._stream is not None:
            self._stream.whole_text = text
            return
        reply = await self._reply(data, streamed=False)
        await reply.add(text)
        await reply.end()

    async def _synthesize_start(self, data: dict[str, Any]) -> None:
        if self._stream is not None:
            await self._synthesize_stop({})
        self._stream = _TextStream(await self._reply(data, streamed=True))

    async def _synthesize_chunk(self, data: dict[str, Any]) -> None:
        if self._stream is None:
            _LOGGER.debug("Passing over a synthesize-chunk without synthesize-start")
            return
        await self._stream.add(_text(data))

    async def _synthesize_stop(self, _data: dict[str, Any]) -> None:
        stream, self._stream = self._stream, None
        if stream is None:
            _LOGGER.debug("Answering a synthesize-stop without synthesize-start")
            await self._write(SynthesizeStopped().event())
            return
        await stream.end()

    async def _reply(self, data: dict[str, Any], *, streamed: bool) -> Reply:
        await self._room.acquire()
        voice = self._voice(data)
        reading = self._voicebox.reading(voice.language, ssml=data.get("text_format") == "ssml")
        reply = Reply(self._voicebox, voice.voice, reading, streamed=streamed)
        self._open.add(reply)
        self._replies.put_nowait(reply)
        return reply

    def _voice(self, data: dict[str, Any]) -> PublishedVoice:
        voice = data.get("voice")
        wanted = voice if isinstance(voice, dict) else {}
        if wanted.get("speaker") is not None:
            _LOGGER.debug("Passing over the speaker of a request: voices here have none")
        name, language = wanted.get("name"), wanted.get("language")
        return self._voicebox.voices.choose(
            name if isinstance(name, str) else None,
            language if isinstance(language, str) else None,
        )

    async def _speak_in_order(self) -> None:
        """Send replies one after the other, each from its start to its terminators."""
        try:
            while True:
                reply = await self._replies.get()
                await self._send(reply)
                self._open.discard(reply)
                self._room.release()
        except (OSError, TimeoutError) as error:
            _LOGGER.debug("A client left or stopped reading: %s", error or "nothing was taken")
            self._writer.transport.abort()

    async def _send(self, reply: Reply) -> None:
        started = False
        while not isinstance(event := await reply.events.get(), Ended):
            if isinstance(event, Started):
                started = True
                rate = self._voicebox.sample_rate
                await self._write(AudioStart(rate, _SAMPLE_WIDTH, 1).event())
            else:
                await self._send_pcm(reply, event)
        if event.error is not None:
            _LOGGER.warning("A request failed: %s", event.error)
            await self._write(_error(event.error))
        # without a start, only a client that sent one event and counts on a stop gets one
        if started or not reply.streamed:
            await self._write(AudioStop().event())
        if reply.streamed:
            await self._write(SynthesizeStopped().event())

    async def _send_pcm(self, reply: Reply, pcm: Pcm) -> None:
        rate = self._voicebox.sample_rate
        for start in range(0, len(pcm), self._samples_per_chunk):
            samples = pcm[start : start + self._samples_per_chunk]
            chunk = AudioChunk(rate, _SAMPLE_WIDTH, 1, samples.tobytes())
            await self._write(chunk.event())
            reply.taken(len(samples) / rate)

    async def _write(self, event: Event) -> None:
        async with self._writing, asyncio.timeout(STALLED_SECONDS):
            await async_write_event(event, self._writer)


class _TextStream:
    """A text that comes in parts, and the copy of the whole that older servers need."""

    def __init__(self, reply: Reply) -> None:
        self._reply = reply
        self._any = False
        self.whole_text = ""

    async def add(self, text: str) -> None:
        self._any = self._any or bool(text)
        await self._reply.add(text)

    async def end(self) -> None:
        if not self._any:
            await self._reply.add(self.whole_text)
        await self._reply.end()


def _text(data: dict[str, Any]) -> str:
    text = data.get("text")
    return text if isinstance(text, str) else ""


def _error(error: MossNanoError) -> Event:
    return Error(text=str(error), code=type(error).__name__).event()
