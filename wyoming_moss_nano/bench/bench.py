"""The whole comparison: every precision on one bundle, in rounds, so that all see the same machine.

The baseline is ``exact`` as the publisher's runtime works: all graphs loaded at once, whole prompts
read, and each step after the one before.
"""

import gc
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from ..engine.prompt import Codes
from ..model.bundle import Bundle
from ..model.compiled import Compiled
from ..voices.store import Places
from .endless import EndlessEngine
from .memory import ServedModel, load_all, serving
from .steps import StepTimes, time_first_audio, time_steps
from .streams import in_publishers_order, together

_ROUNDS: Final = 5
_FIRST_AUDIO_TRIES: Final = 3
_STREAMS: Final = 4
# Whole utterances are what two cores are for: one thread of the model and one of the codec each.
_UTTERANCE_THREADS: Final = 2

BASELINE: Final = "exact"


@dataclass
class Samples:
    """What was measured of one precision, one value per round. Times in ms, memory in MB."""

    load: list[float] = field(default_factory=list)
    prefill: list[float] = field(default_factory=list)
    first_audio: list[float] = field(default_factory=list)
    global_step: list[float] = field(default_factory=list)
    local_frame: list[float] = field(default_factory=list)
    language: list[float] = field(default_factory=list)
    codec_1: list[float] = field(default_factory=list)
    codec_8: list[float] = field(default_factory=list)
    real_time_factor: list[float] = field(default_factory=list)
    four_streams: list[float] = field(default_factory=list)
    peak_memory: list[float] = field(default_factory=list)

    def add_steps(self, times: StepTimes) -> None:
        """Take the times of one utterance."""
        self.prefill.append(times.prefill)
        self.global_step.append(times.global_step)
        self.local_frame.append(times.local_frame)
        self.language.append(times.language)
        self.codec_1.append(times.codec[1])
        self.codec_8.append(times.codec[8])

    def medians(self) -> dict[str, float]:
        """Return the median of each quantity that was measured."""
        return {name: statistics.median(values) for name, values in vars(self).items() if values}

    def spreads(self) -> dict[str, tuple[float, float]]:
        """Return the least and the most of each quantity that was measured."""
        return {name: (min(values), max(values)) for name, values in vars(self).items() if values}


@dataclass(frozen=True)
class Bench:
    """What is measured.

    Attributes:
        bundle: the model.
        compiled: its compiled graphs by precision.
        reference: codes [frames, codebooks] of the voice.
        threads: of each graph in the measurements of single steps.
        places: where voices come from.
        tell: told what is being done.
    """

    bundle: Bundle
    compiled: Mapping[str, Compiled]
    reference: Codes
    threads: int
    places: Places
    tell: Callable[[str], None]

    def run(self) -> dict[str, Samples]:
        """Measure everything; takes a few minutes."""
        samples = {name: Samples() for name in (BASELINE, *self.compiled)}
        self._memory(samples)
        self._steps(samples)
        self._utterances(samples)
        return samples

    def _steps(self, samples: Mapping[str, Samples]) -> None:
        engines = self._engines(samples, self.threads)
        for count in range(_ROUNDS):
            self.tell(f"steps, {self.threads} threads: round {count + 1} of {_ROUNDS}")
            for name, engine in engines.items():
                samples[name].add_steps(time_steps(engine, self.reference))
                for _ in range(_FIRST_AUDIO_TRIES):
                    samples[name].first_audio.append(time_first_audio(engine, self.reference))

    def _utterances(self, samples: Mapping[str, Samples]) -> None:
        engines = self._engines({name: Samples() for name in samples}, _UTTERANCE_THREADS)
        for count in range(_ROUNDS):
            self.tell(f"utterances, {_UTTERANCE_THREADS} threads: round {count + 1} of {_ROUNDS}")
            for name, engine in engines.items():
                if name == BASELINE:
                    factor = in_publishers_order(engine, self.reference)
                else:
                    factor = together(engine, self.reference, 1)
                    four = together(engine, self.reference, _STREAMS)
                    samples[name].four_streams.append(four)
                samples[name].real_time_factor.append(factor)

    def _engines(self, samples: Mapping[str, Samples], threads: int) -> dict[str, EndlessEngine]:
        """Load and warm an engine of each precision, after whatever was loaded before is gone."""
        gc.collect()
        engines = {}
        for name, measured in samples.items():
            self.tell(f"loading {name}, {threads} threads")
            started = time.perf_counter()
            engine = EndlessEngine(self.bundle, threads, self.compiled.get(name))
            if name == BASELINE:
                load_all(engine.sessions, self.bundle)
            engine.warm_up(self.reference)
            measured.load.append(1e3 * (time.perf_counter() - started))
            engines[name] = engine
        return engines

    def _memory(self, samples: Mapping[str, Samples]) -> None:
        for name, measured in samples.items():
            self.tell(f"memory of {name}")
            compiled = self.compiled.get(name)
            model = ServedModel(self.bundle, compiled, self.threads, self.places)
            measured.peak_memory.append(serving(model))


def ratios(samples: Mapping[str, Samples]) -> dict[str, float]:
    """Return how the compiled precisions compare: times faster, or shares of the baseline's.

    ``four_streams`` is the time of four utterances at once by that of one.
    """
    base = samples[BASELINE].medians()
    int8, fp32 = samples["int8"].medians(), samples["fp32"].medians()
    return {
        "lm_int8": base["language"] / int8["language"],
        "lm_fp32": base["language"] / fp32["language"],
        "first_audio_int8": base["first_audio"] / int8["first_audio"],
        "rtf_int8": int8["real_time_factor"] / base["real_time_factor"],
        "memory_int8": int8["peak_memory"] / base["peak_memory"],
        "memory_fp32": fp32["peak_memory"] / base["peak_memory"],
        "four_streams": int8["four_streams"] / int8["real_time_factor"],
    }


def report(samples: Mapping[str, Samples]) -> dict[str, Any]:
    """Return medians, spreads and ratios for a program."""
    return {
        "precisions": {
            name: {"medians": each.medians(), "spreads": each.spreads()}
            for name, each in samples.items()
        },
        "ratios": ratios(samples),
    }
