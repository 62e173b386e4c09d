"""Which precision a machine should use for a bundle: measured once, then remembered."""

import json
import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ..engine.options import SpeechOptions
from ..engine.pace import Recorder
from ..engine.prompt import Codes
from ..engine.speech import Engine
from ..engine.utterance import Frame
from ..model.bundle import Bundle
from ..model.compiled import COMPILER_VERSION

_LOGGER = logging.getLogger(__name__)

# From the sound of the publisher's own runtime to what is only nearly the same.
BY_FIDELITY: Final = ("exact", "fp32", "int8")

# Of real time, alone on the machine: the other half is for other streams, for slower moments, and
# for whatever else runs there.
MOST_REAL_TIME_FACTOR: Final = 0.5

MEASURED_FRAMES: Final = 30
_TEXT: Final = "The kettle is on, and the garden door is still open."
_FILE: Final = "choice.json"


def real_time_factor(engine: Engine, reference: Codes) -> float:
    """Return the time that 30 real frames take, language model and codec, by their length.

    The graphs are loaded and run once before.
    """
    engine.warm_up(reference)
    options = SpeechOptions()
    (ids, *_) = engine.pieces(_TEXT)
    utterance, sound = engine.utter([ids], reference, options), engine.sound(options, Recorder())
    frames = 0
    started = time.perf_counter()
    while frames < MEASURED_FRAMES:
        if utterance.idle:
            utterance.add(ids)
        event = utterance.step()
        frames += isinstance(event, Frame)
        if event is not None:
            sound.take([event])
    seconds = time.perf_counter() - started
    utterance.close()
    codec = engine.bundle.codec
    return seconds / (frames * codec.downsample_rate / codec.sample_rate)


def recommended(factors: Mapping[str, float]) -> str:
    """Return the most faithful precision that is real time with margin, or else the fastest.

    Args:
        factors: the real-time factor of each precision that could be used.
    """
    for precision in BY_FIDELITY:
        if factors.get(precision, float("inf")) <= MOST_REAL_TIME_FACTOR:
            return precision
    return min(factors, key=lambda precision: factors[precision])


@dataclass(frozen=True)
class Choice:
    """A precision, and the real-time factors it was chosen by."""

    precision: str
    factors: Mapping[str, float]


class Choices:
    """Choices by bundle, kept in one file beside the compiled graphs.

    A file that cannot be read costs another measurement, never more.
    """

    def __init__(self, compiled_dir: Path, threads: int) -> None:
        self._file = compiled_dir / _FILE
        self._threads = threads

    def of(self, bundle: Bundle) -> Choice | None:
        """Return what was chosen for a bundle and this number of threads, if anything was."""
        entry = self._read().get(self._key(bundle))
        try:
            choice = Choice(entry["precision"], dict(entry["factors"])) if entry else None
        except (KeyError, TypeError, ValueError):
            return None
        return choice if choice is not None and choice.precision in BY_FIDELITY else None

    def remember(self, bundle: Bundle, choice: Choice) -> None:
        """Keep a choice."""
        entry = {"precision": choice.precision, "factors": dict(choice.factors)}
        kept = {**self._read(), self._key(bundle): entry}
        unfinished = self._file.with_suffix(".unfinished")
        unfinished.write_text(json.dumps(kept, indent=2) + "\n", encoding="utf-8")
        unfinished.replace(self._file)

    def _key(self, bundle: Bundle) -> str:
        return f"{bundle.bundle_id}-v{COMPILER_VERSION}-threads{self._threads}"

    def _read(self) -> dict[str, Any]:
        try:
            kept = json.loads(self._file.read_bytes())
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as error:
            _LOGGER.debug("Starting without what is kept in %s: %s", self._file, error)
            return {}
        return kept if isinstance(kept, dict) else {}
