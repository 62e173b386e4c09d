"""How long each step of making speech takes, alone on one thread of execution."""

import time
from dataclasses import dataclass
from statistics import mean
from typing import Final

import numpy as np

from ..engine.local import Turn
from ..engine.pace import Listener
from ..engine.prompt import Codes
from ..engine.sampling import RandomStream, SeenCodes
from .endless import BENCH_FRAMES, EndlessEngine

GROUPS: Final = (1, 2, 4, 8)


@dataclass(frozen=True)
class StepTimes:
    """Milliseconds of one utterance.

    Attributes:
        prefill: the prompt, or what is not kept of it.
        global_step: one row of the global transformer, mean over all frames.
        local_frame: the codes of one frame, mean over all frames.
        codec: one frame of sound by the number of frames decoded at once.
    """

    prefill: float
    global_step: float
    local_frame: float
    codec: dict[int, float]

    @property
    def language(self) -> float:
        """Milliseconds of the language model per frame."""
        return self.global_step + self.local_frame


def time_steps(engine: EndlessEngine, reference: Codes) -> StepTimes:
    """Make one utterance step by step; the engine should be warm."""
    transformer = engine.language.transformer
    sampler = engine.language.samplers.sampler("fixed")
    turn = Turn(SeenCodes(engine.bundle.config), RandomStream(engine.options().seed))
    reading = transformer.open(reference, engine.ids())
    last: Codes | None = None
    frames: list[Codes] = []
    global_watch, local_watch = Stopwatch(), Stopwatch()
    while len(frames) < BENCH_FRAMES:
        with global_watch:
            hidden = transformer.read([(reading, last)])
        with local_watch:
            (last,) = sampler.frames(hidden, [turn])
        if last is not None:
            turn.seen.add(last)
            frames.append(last)
    transformer.close(reading)
    prefill, *steps = global_watch.laps
    return StepTimes(
        prefill=1e3 * prefill,
        global_step=1e3 * mean(steps),
        local_frame=1e3 * mean(local_watch.laps),
        codec=_time_codec(engine, np.stack(frames)),
    )


def time_first_audio(engine: EndlessEngine, reference: Codes) -> float:
    """Return the milliseconds from a request to its first PCM; the engine should be warm."""
    watch = Stopwatch()
    with watch:
        utterance = engine.utter([engine.ids()], reference, engine.options())
        sound = engine.sound(engine.options(), Listener())
        pcm = sound.take([])
        while not len(pcm) and (event := utterance.step()) is not None:
            pcm = sound.take([event])
    utterance.close()
    return 1e3 * watch.laps[0]


def _time_codec(engine: EndlessEngine, codes: Codes) -> dict[int, float]:
    times = {}
    for group in GROUPS:
        decoder, watch = engine.codec.stream(), Stopwatch()
        for first in range(0, len(codes) // len(GROUPS), group):
            with watch:
                decoder.decode(codes[first : first + group])
        times[group] = 1e3 * mean(watch.laps) / group
    return times


class Stopwatch:
    """Seconds of each time its ``with`` statement was passed."""

    def __init__(self) -> None:
        self.laps: list[float] = []
        self._started = 0.0

    def __enter__(self) -> None:
        self._started = time.perf_counter()

    def __exit__(self, *_: object) -> None:
        self.laps.append(time.perf_counter() - self._started)
