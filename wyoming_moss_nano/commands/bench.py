"""The subcommand bench: what each precision costs on this machine."""

import argparse
import json
import logging
import os
from pathlib import Path
from typing import Final

from ..bench.bench import Bench, Samples, ratios, report
from ..engine.codec import Codec
from ..model.bundle import Bundle, read_bundle
from ..model.compiled import COMPILED_PRECISIONS
from ..model.digests import DigestStore
from ..model.sessions import Sessions
from ..precision.compilation import compile_bundle
from ..voices.enrol import Encoder
from .model import random_bundle_folder
from .workspace import Workspace, tell

_LOGGER = logging.getLogger(__name__)

_UNITS: Final = {"real_time_factor": "", "four_streams": "", "peak_memory": "MB"}


def bench(parsed: argparse.Namespace, workspace: Workspace) -> None:
    """Compare the precisions on a bundle."""
    # every measured utterance is cut at the same length, on purpose
    logging.getLogger("wyoming_moss_nano.engine").setLevel(logging.ERROR)
    settings = workspace.settings
    bundle = _bundle(parsed.bundle, workspace)
    # the project's own reference speaks on every bundle, and is what the official one has first
    voices = workspace.reference_voices(bundle)
    encoder = Encoder(bundle, Codec(bundle, Sessions(bundle, parsed.threads)))
    reference = voices.get(voices.default, encoder).codes
    _LOGGER.info("Voice %s, %d frames", voices.default, len(reference))
    compiled_dir = settings.data_dir / "compiled"
    compiled = {}
    for precision in COMPILED_PRECISIONS:
        _LOGGER.info("Compiling to %s, if that has not been done", precision)
        compiled[precision] = compile_bundle(
            bundle,
            precision,
            compiled_dir,
            {voices.default: reference},
            threads=parsed.threads,
        )
    measured = Bench(
        bundle,
        compiled,
        reference,
        parsed.threads,
        workspace.places,
        lambda text: _LOGGER.info("%s", text),
    ).run()
    if parsed.json:
        machine = {"cores": os.cpu_count(), "threads": parsed.threads}
        tell(json.dumps({"bundle": bundle.bundle_id, **machine, **report(measured)}, indent=2))
    else:
        tell(_table(measured))


def _bundle(name: str, workspace: Workspace) -> Bundle:
    if not name:
        return workspace.bundle()
    folder = random_bundle_folder("official", 0) if name == "full-random" else Path(name)
    return read_bundle(folder, DigestStore(workspace.settings.data_dir / "digests.json"))


def _table(measured: dict[str, Samples]) -> str:
    """Return medians with their spread, a row per quantity and a column per precision."""
    rows = [["", *measured]]
    names = measured["int8"].medians()
    for name in names:
        row = [f"{name.replace('_', ' ')} {_UNITS.get(name, 'ms')}".strip()]
        for samples in measured.values():
            median = samples.medians().get(name)
            if median is None:
                row.append("-")
                continue
            least, most = samples.spreads()[name]
            digits = 0 if median >= 100 else 2  # noqa: PLR2004
            row.append(f"{median:.{digits}f} ({least:.{digits}f}-{most:.{digits}f})")
        rows.append(row)
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = ["  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)) for row in rows]
    lines += ["", "medians (least-most); ratios:"]
    lines += [f"  {name:<18}{value:.3g}" for name, value in ratios(measured).items()]
    return "\n".join(line.rstrip() for line in lines)
