"""How long whole utterances take, one after the other steps or several at once."""

import threading
import time
from typing import TYPE_CHECKING

from ..engine.pace import Listener
from ..engine.pcm import Pcm
from ..engine.prompt import Codes
from ..engine.scheduler import Scheduler
from ..errors import MossNanoError
from .endless import BENCH_FRAMES, EndlessEngine

if TYPE_CHECKING:
    from ..engine.request import Speech


def in_publishers_order(engine: EndlessEngine, reference: Codes) -> float:
    """Return the real-time factor of one utterance whose steps follow one another.

    As the publisher's runtime does it: a frame, then the codec as far as its listener needs it.
    """
    utterance = engine.utter([engine.ids()], reference, engine.options())
    sound = engine.sound(engine.options(), Listener())
    started = time.perf_counter()
    while (event := utterance.step()) is not None:
        sound.take([event])
    sound.finish()
    return (time.perf_counter() - started) / _seconds_of_sound(engine)


def together(engine: EndlessEngine, reference: Codes, streams: int) -> float:
    """Return the time that so many utterances at once take, by the length of one of them.

    As the server does it: one thread for the language model, one for the codec.
    """
    scheduler = Scheduler(engine, lambda: None, max_streams=streams, max_queue=0)
    scheduler.start()
    try:
        listeners = [_Listener(engine.bundle.codec.sample_rate) for _ in range(streams)]
        started = time.perf_counter()
        for listener in listeners:
            speech = scheduler.open(lambda: reference, engine.options(), listener)
            listener.speech = speech
            speech.add([engine.ids()])
            speech.end()
        for listener in listeners:
            listener.wait()
        return (time.perf_counter() - started) / _seconds_of_sound(engine)
    finally:
        scheduler.stop()


def _seconds_of_sound(engine: EndlessEngine) -> float:
    codec = engine.bundle.codec
    return BENCH_FRAMES * codec.downsample_rate / codec.sample_rate


class _Listener:
    """Takes all sound at once."""

    def __init__(self, rate: int) -> None:
        self.speech: Speech | None = None
        self._rate = rate
        self._ended = threading.Event()
        self._error: MossNanoError | None = None

    def pcm(self, pcm: Pcm) -> None:
        if self.speech is not None:
            self.speech.taken(len(pcm) / self._rate)

    def done(self, error: MossNanoError | None) -> None:
        self._error = error
        self._ended.set()

    def wait(self) -> None:
        self._ended.wait()
        if self._error is not None:
            raise self._error
