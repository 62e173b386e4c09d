"""The subcommands about the official model's files: fetch, verify, remove."""

import argparse
import logging
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final, TextIO

from ..errors import DownloadError
from ..model.choice import models_folder
from ..model.download import copy_model, fetch_model, remove_model
from ..model.licence import licence_text
from ..model.manifest import PINNED_FILES
from ..model.progress import Progress, ProgressLog
from ..model.verify import missing_files, verify_model
from .workspace import Workspace, tell

_BAR_WIDTH: Final = 30
_BAR_BEAT: Final = 0.1  # seconds
_CLEAR_LINE: Final = "\r\x1b[K"


def fetch(parsed: argparse.Namespace, workspace: Workspace) -> None:
    """Make the official model complete on disk, from the hub or from a folder."""
    models = models_folder(workspace.settings.data_dir)
    news = bool(missing_files(models))
    with _shown(sys.stderr) as on_progress:
        if parsed.source is None:
            fetch_model(models, on_progress=on_progress, check=parsed.check)
        else:
            copy_model(parsed.source, models, on_progress=on_progress, check=parsed.check)
    if news:
        tell(licence_text())
    size = sum(pinned.bytes for pinned in PINNED_FILES) / 1e6
    tell(f"{models}: the official model is complete, {len(PINNED_FILES)} files, {size:.0f} MB")


def verify(_parsed: argparse.Namespace, workspace: Workspace) -> None:
    """Read all files of the official model again and name each that differs."""
    models = models_folder(workspace.settings.data_dir)
    problems = verify_model(models)
    if problems:
        tell("\n".join(problems))
        raise DownloadError(
            f"{len(problems)} of {len(PINNED_FILES)} files in {models} are not as published: "
            "model fetch --check fetches them again"
        )
    tell(f"{models}: all {len(PINNED_FILES)} files are as published")


def remove(parsed: argparse.Namespace, workspace: Workspace) -> None:
    """Remove the official model, and what was compiled where that is asked for."""
    data_dir = workspace.settings.data_dir
    freed = remove_model(models_folder(data_dir))
    tell(f"{models_folder(data_dir)}: {freed / 1e6:.0f} MB of the official model are removed")
    compiled = data_dir / "compiled"
    if parsed.compiled and compiled.is_dir():
        shutil.rmtree(compiled)
        tell(f"{compiled}: compiled models are removed")


@contextmanager
def _shown(stream: TextIO) -> Iterator[Callable[[Progress], None]]:
    """Show progress: a bar for a person who looks on, lines in the log for everybody else."""
    if not stream.isatty():
        yield ProgressLog()
        return
    bar = _Bar(stream)
    handlers = logging.getLogger().handlers
    for handler in handlers:
        handler.addFilter(bar.make_way)
    try:
        yield bar
    finally:
        for handler in handlers:
            handler.removeFilter(bar.make_way)
        stream.write(_CLEAR_LINE)
        stream.flush()


class _Bar:
    """One line that is drawn over itself, at most ten times a second."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._drawn = 0.0
        self._began: tuple[float, int] | None = None

    def __call__(self, progress: Progress) -> None:
        now = time.monotonic()
        if self._began is None:
            self._began = now, progress.done_bytes
        if now - self._drawn < _BAR_BEAT:
            return
        self._drawn = now
        began, done_then = self._began
        speed = max(0, progress.done_bytes - done_then) / 1e6 / max(now - began, 1e-3)
        full = _BAR_WIDTH * progress.percent // 100
        line = (
            f"[{'#' * full}{' ' * (_BAR_WIDTH - full)}] {progress.percent:3} %  "
            f"{progress.done_bytes / 1e6:.0f} of {progress.total_bytes / 1e6:.0f} MB  "
            f"{speed:.1f} MB/s  {progress.file}"
        )
        columns = shutil.get_terminal_size().columns
        self._stream.write(_CLEAR_LINE + line[: columns - 1])
        self._stream.flush()

    def make_way(self, _record: logging.LogRecord) -> bool:
        """Clear the line before the log writes one of its own."""
        self._stream.write(_CLEAR_LINE)
        return True
