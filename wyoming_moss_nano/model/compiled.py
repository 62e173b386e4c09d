"""Compiled graphs on disk: where they lie, what is known of them, and their sessions."""

import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from ..errors import BundleError
from .bundle import Bundle
from .sessions import Graph, open_graph

_LOGGER = logging.getLogger(__name__)

# Counts up whenever compiled graphs change; older ones are then compiled anew.
COMPILER_VERSION: Final = 1

COMPILED_PRECISIONS: Final = ("fp32", "int8")

# A prompt is a few hundred rows, a piece of text at most 7500 frames.
MOST_ROWS: Final = 8192

LANGUAGE_FILE: Final = "language.onnx"
SAMPLED_FILE: Final = "sampled_frame.onnx"
GREEDY_FILE: Final = "greedy_frame.onnx"
WEIGHTS_FILE: Final = "weights.data"
PROOF_FILE: Final = "proof.json"


class CannotCompileError(BundleError):
    """A bundle's graphs are not built as the compiler knows them, or came out worse."""


@dataclass(frozen=True)
class Compiled:
    """Compiled graphs of one bundle; ``figures`` is what proving them measured, label by label."""

    folder: Path
    precision: str
    figures: Mapping[str, Any]


class CompiledSessions:
    """The compiled graphs as sessions, each loaded when first used."""

    def __init__(self, compiled: Compiled, threads: int) -> None:
        self._folder = compiled.folder
        self._threads = threads

    @cached_property
    def language(self) -> Graph:
        """The global transformer."""
        return open_graph(self._folder / LANGUAGE_FILE, self._threads)

    @cached_property
    def sampled(self) -> Graph:
        """A frame, drawn by random numbers."""
        return open_graph(self._folder / SAMPLED_FILE, self._threads)

    @cached_property
    def greedy(self) -> Graph:
        """A frame of the likeliest codes."""
        return open_graph(self._folder / GREEDY_FILE, self._threads)


def compiled_folder(compiled_dir: Path, bundle: Bundle, precision: str) -> Path:
    """Return where the compiled graphs of a bundle lie, whether or not they are there."""
    return compiled_dir / f"{bundle.bundle_id}-{precision}-v{COMPILER_VERSION}"


def find_compiled(compiled_dir: Path, bundle: Bundle, precision: str) -> Compiled | None:
    """Return the compiled graphs of a bundle, if they are there; the log tells of damaged ones."""
    folder = compiled_folder(compiled_dir, bundle, precision)
    if not folder.is_dir():
        return None
    try:
        proof = json.loads((folder / PROOF_FILE).read_bytes())
        if proof["files"] != file_sizes(folder):
            raise ValueError("files are missing or cut off")  # noqa: TRY301 - as damaged as others
    except (OSError, ValueError, KeyError, TypeError) as error:
        _LOGGER.warning("The compiled graphs in %s are damaged and not used: %s", folder, error)
        return None
    return Compiled(folder, precision, proof)


def file_sizes(folder: Path) -> dict[str, int]:
    """Return the size of every compiled file in a folder, without that of the proof."""
    return {path.name: path.stat().st_size for path in folder.iterdir() if path.name != PROOF_FILE}


def refusal(compiled_dir: Path, bundle: Bundle, precision: str) -> str:
    """Return why a bundle cannot be compiled, if that was found before; else nothing."""
    try:
        return _refusal_file(compiled_dir, bundle, precision).read_text(encoding="utf-8").strip()
    except OSError:
        return ""


def remember_refusal(compiled_dir: Path, bundle: Bundle, precision: str, reason: str) -> None:
    """Keep why a bundle cannot be compiled, so that not every start tries again."""
    file = _refusal_file(compiled_dir, bundle, precision)
    file.write_text(f"{reason}\n", encoding="utf-8")


def forget_refusal(compiled_dir: Path, bundle: Bundle, precision: str) -> None:
    """Forget that a bundle could not be compiled: now it has been."""
    _refusal_file(compiled_dir, bundle, precision).unlink(missing_ok=True)


def _refusal_file(compiled_dir: Path, bundle: Bundle, precision: str) -> Path:
    folder = compiled_folder(compiled_dir, bundle, precision)
    return folder.with_name(f"{folder.name}.refused")
