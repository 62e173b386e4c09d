"""The subcommand doctor: what this machine is, how fast it speaks, and which settings suit it."""

import argparse
import platform
from collections.abc import Iterator
from importlib.metadata import version
from typing import Final

from .. import __version__
from ..bench.endless import EndlessEngine
from ..engine.codec import Codec
from ..engine.prompt import Codes
from ..machine import Machine
from ..model.bundle import Bundle
from ..model.compiled import COMPILED_PRECISIONS, Compiled, find_compiled
from ..model.sessions import Sessions
from ..precision.choice import MEASURED_FRAMES, MOST_REAL_TIME_FACTOR, real_time_factor, recommended
from ..voices.enrol import Encoder
from .precision import Precision
from .workspace import Workspace, tell

_LIBRARIES: Final = ("onnxruntime", "numpy", "wyoming")
# Published graphs load their weights twice or three times over: 1.7 GB of 0.67 GB of files.
_EXACT_BY_FILES: Final = 2.6


def doctor(_parsed: argparse.Namespace, workspace: Workspace) -> None:
    """Print facts, measure every precision that is there, and recommend settings."""
    machine, settings = Machine(), workspace.settings
    bundle = workspace.bundle()
    facts = {
        **_machine_facts(machine, workspace),
        "model": f"{bundle.rules.kind}, {bundle.directory}",
    }
    width = max(map(len, facts))
    tell("\n".join(f"{label:<{width}}  {value}" for label, value in facts.items()))
    voices = workspace.voices(bundle)
    encoder = Encoder(bundle, Codec(bundle, Sessions(bundle, settings.threads)))
    reference = voices.get(voices.default, encoder).codes
    tell(f"\n{MEASURED_FRAMES} frames with voice {voices.default}, {settings.threads} threads:")
    factors = {}
    for precision, compiled in _available(Precision(workspace, bundle), bundle):
        shortage = _shortage(machine, bundle, compiled)
        if shortage:
            tell(f"  {precision:<6} not measured: {shortage}")
            continue
        factors[precision] = _measured(bundle, settings.threads, compiled, reference)
        tell(f"  {precision:<6} real-time factor {factors[precision]:.2f}")
    tell("\n" + _advice(factors, settings.threads, Precision(workspace, bundle)))


def _machine_facts(machine: Machine, workspace: Workspace) -> dict[str, str]:
    quota, memory, available = machine.quota, machine.memory_megabytes, machine.available_megabytes
    data_dir = workspace.settings.data_dir
    return {
        "program": f"wyoming-moss-nano {__version__}, Python {platform.python_version()}, "
        + ", ".join(f"{name} {version(name)}" for name in _LIBRARIES),
        "processor": f"{machine.processor} ({platform.machine()}; "
        f"{' '.join(machine.int8_flags) or 'nothing for 8-bit products'})",
        "cores": f"{machine.cores}, "
        + ("no quota" if quota is None else f"a quota of {quota:g}")
        + f": {machine.usable_cores} usable",
        "memory": _megabytes(memory) + ", available " + _megabytes(available),
        "disk": f"{_megabytes(machine.free_megabytes(data_dir))} free in {data_dir}",
    }


def _megabytes(value: float | None) -> str:
    return "unknown" if value is None else f"{value:,.0f} MB"


def _available(precision: Precision, bundle: Bundle) -> Iterator[tuple[str, Compiled | None]]:
    """Yield each precision that could speak now, with its compiled graphs, exact first."""
    yield "exact", None
    for name in COMPILED_PRECISIONS:
        compiled = find_compiled(precision.compiled_dir, bundle, name)
        if compiled is not None:
            yield name, compiled


def _shortage(machine: Machine, bundle: Bundle, compiled: Compiled | None) -> str:
    """Return why a precision is not tried on this machine, or an empty text."""
    files = sum(path.stat().st_size for path in bundle.tts_graphs.files()) / 1e6
    needed, available = files * _EXACT_BY_FILES, machine.available_megabytes
    if compiled is None and available is not None and available < needed:
        return f"it takes {needed:,.0f} MB of memory, and {available:,.0f} MB are available"
    return ""


def _measured(bundle: Bundle, threads: int, compiled: Compiled | None, reference: Codes) -> float:
    # a function of its own, so that one engine is gone before the next one comes
    return real_time_factor(EndlessEngine(bundle, threads, compiled), reference)


def _advice(factors: dict[str, float], threads: int, precision: Precision) -> str:
    missing = [name for name in COMPILED_PRECISIONS if name not in factors]
    hint = ""
    if missing and not precision.obstacle():
        hint = f" Not compiled yet: {', '.join(missing)}; model compile makes them."
    if not factors:
        return f"Nothing could be measured.{hint}"
    best = recommended(factors)
    speed = f"real-time factor {factors[best]:.2f}"
    if factors[best] > 1:
        verdict = f"No precision keeps up with speech here; the fastest is {best} ({speed})."
    elif factors[best] > MOST_REAL_TIME_FACTOR:
        verdict = f"{best} keeps up with one speech at a time ({speed})."
    else:
        verdict = f"{best} is fast enough with room to spare ({speed})."
    return f"{verdict} Recommended: --precision {best} --threads {threads}.{hint}"
