"""Engines that speak a fixed number of frames, whatever the model decides."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ..engine.codec import Codec
from ..engine.language import LanguageModel, compiled_language, exact_language
from ..engine.local import FrameSampler, FrameSamplers, Turn
from ..engine.options import SpeechOptions
from ..engine.sampling import FloatArray, RandomStream
from ..engine.speech import Engine
from ..model.bundle import Bundle
from ..model.compiled import Compiled
from ..model.sessions import Sessions

BENCH_FRAMES: Final = 100
BENCH_TEXT: Final = "Dinner is ready, and the kettle is on."


class EndlessEngine(Engine):
    """An engine whose pieces become ``BENCH_FRAMES`` frames each.

    ``language`` is its language model, ``sessions`` the published graphs.
    """

    def __init__(self, bundle: Bundle, threads: int, compiled: Compiled | None) -> None:
        # the bundle's own cap may be lower
        patient = replace(bundle, rules=replace(bundle.rules, cap_base=BENCH_FRAMES))
        self.sessions = Sessions(patient, threads)
        if compiled is None:
            language = exact_language(patient, self.sessions)
        else:
            language = compiled_language(patient, self.sessions, compiled, threads)
        self.language: LanguageModel = replace(
            language, samplers=_EndlessSamplers(language.samplers)
        )
        super().__init__(patient, Codec(patient, self.sessions), self.language)

    def options(self) -> SpeechOptions:
        """Return the options of one measured request."""
        return SpeechOptions(max_frames=BENCH_FRAMES, trailing_silence=0.0)

    def ids(self) -> list[int]:
        """Return the token ids of the measured text."""
        return next(part for part in self.pieces(BENCH_TEXT) if isinstance(part, list))


class EndlessStream(RandomStream):
    """Random numbers of which the first of a frame, that may end it, is 0: never ending."""

    def __init__(self, stream: RandomStream) -> None:
        super().__init__(0)
        self._stream = stream

    def draw_clamped(self, count: int) -> FloatArray:
        """Return draws of which the first is 0."""
        draws = self._stream.draw_clamped(count)
        draws[0] = 0
        return draws


class _EndlessSampler:
    def __init__(self, sampler: FrameSampler) -> None:
        self._sampler = sampler

    def frames(self, hidden: FloatArray, turns: Sequence[Turn]) -> list[NDArray[np.int32] | None]:
        return self._sampler.frames(
            hidden, [Turn(turn.seen, EndlessStream(turn.stream)) for turn in turns]
        )


class _EndlessSamplers:
    def __init__(self, samplers: FrameSamplers) -> None:
        self._samplers = samplers
        self._made: dict[str, FrameSampler] = {}

    def sampler(self, mode: str) -> FrameSampler:
        if mode not in self._made:
            self._made[mode] = _EndlessSampler(self._samplers.sampler(mode))
        return self._made[mode]
