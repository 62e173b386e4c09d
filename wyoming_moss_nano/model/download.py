"""Fetching the official model: what is missing comes, is checked byte by byte, and moves in.

A fetch can be killed at any time and goes on where it was: unfinished files wait in a folder of
their own, and a file has its final name only once it is whole, checked and on disk.
"""

import errno
import logging
import os
import shutil
import threading
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from typing import Final

from ..errors import DownloadError
from .hub import HubSource
from .licence import licence_file, licence_text
from .manifest import PINNED_FILES, PinnedFile
from .partial import PartialFolder
from .progress import Progress
from .source import FolderSource, RejectedError, Source, TransientError
from .verify import content_digest, missing_files, place_of, problem

_LOGGER = logging.getLogger(__name__)

_RESERVE: Final = 32 << 20  # bytes of disk that a fetch leaves to others
_BETWEEN_SYNCS: Final = 16 << 20  # bytes; syncing hundreds of megabytes at once would take long
_LOCK_BEAT: Final = 0.2  # seconds
_LONGEST_REQUESTED_PAUSE: Final = 300.0  # seconds


@dataclass(frozen=True)
class Patience:
    """How often a file is tried without a byte of progress, and the pauses, in seconds.

    Pauses double. Where ``endless`` is set only what trying cannot change ends a fetch.
    """

    tries: int = 6
    first_pause: float = 1.0
    longest_pause: float = 60.0
    endless: bool = False

    def pause(self, failures: int, requested: float | None) -> float:
        """Return the pause after so many failures in a row; the hub may ask for a longer one."""
        own = min(self.longest_pause, self.first_pause * 2.0 ** min(failures - 1, 16))
        return max(own, min(requested or 0.0, _LONGEST_REQUESTED_PAUSE))


def fetch_model(
    models: Path,
    files: tuple[PinnedFile, ...] = PINNED_FILES,
    *,
    on_progress: Callable[[Progress], None] = lambda _: None,
    cancelled: threading.Event | None = None,
    source: Source | None = None,
    check: bool = False,
    patience: Patience | None = None,
) -> bool:
    """Make ``files`` complete below ``models``; nothing happens where they are.

    Files of the right size are trusted, unless ``check`` is set: then each is read, and fetched
    again where it differs. A process that fetches already is waited for. Without a ``source`` files
    come from the hub.

    Returns:
        Whether all is there; not so only where ``cancelled`` was set, which is obeyed in a second.

    Raises:
        DownloadError: files cannot be fetched or written; what came is kept for the next time.
    """
    try:
        fetch = _Fetch(
            models, files, on_progress, cancelled or threading.Event(), patience or Patience()
        )
        fetch.run(source, licence_text(files), check=check)
    except _CancelledError:
        return False
    except OSError as error:
        raise DownloadError(_in_words(error, models)) from error
    return True


def copy_model(
    folder: Path,
    models: Path,
    files: tuple[PinnedFile, ...] = PINNED_FILES,
    *,
    on_progress: Callable[[Progress], None] = lambda _: None,
    check: bool = False,
) -> None:
    """Make ``files`` complete below ``models`` from a folder, with the same checks as a fetch.

    What the folder has is copied also where it does not have all.

    Raises:
        DownloadError: the folder does not have all that is missing, or not as published, or files
            cannot be written.
    """
    source = FolderSource(folder)
    try:
        found = tuple(pinned for pinned in files if source.find(pinned))
        fetch = _Fetch(models, found, on_progress, threading.Event(), Patience())
        fetch.run(source, licence_text(files), check=check)
        missing = missing_files(models, files)
    except OSError as error:
        raise DownloadError(_in_words(error, models)) from error
    if missing:
        first = f"{missing[0].directory}/{missing[0].file}"
        raise DownloadError(
            f"{len(missing)} of {len(files)} files are still missing, and not in {folder} "
            f"with the right size: the first is {first}"
        )


def remove_model(models: Path, files: tuple[PinnedFile, ...] = PINNED_FILES) -> int:
    """Remove the files, finished or not, and what was kept beside them; return how many bytes.

    Files that are none of ours stay, and so do their folders.

    Raises:
        DownloadError: a fetch is running.
        OSError: something cannot be removed.
    """
    if not models.is_dir():
        return 0
    partial = PartialFolder(models)
    with partial.held(busy=_refuse_to_remove):
        freed = sum(partial.bytes_of(pinned) for pinned in files)
        partial.clear(wanted=())
        paths = [licence_file(models), *(place_of(models, pinned) for pinned in files)]
        for path in paths:
            if path.is_file() or path.is_symlink():
                freed += path.lstat().st_size
                path.unlink()
    for folder in (*{models / pinned.directory for pinned in files}, models):
        if folder.is_dir() and not folder.is_symlink() and not any(folder.iterdir()):
            folder.rmdir()
    return freed


class _CancelledError(Exception):
    pass


class _Fetch:
    """One fetch. What cancels it ends whatever it is doing with a _CancelledError."""

    def __init__(
        self,
        models: Path,
        files: tuple[PinnedFile, ...],
        on_progress: Callable[[Progress], None],
        cancelled: threading.Event,
        patience: Patience,
    ) -> None:
        self._models = models
        self._files = files
        self._on_progress = on_progress
        self._cancelled = cancelled
        self._patience = patience
        self._partial = PartialFolder(models)
        self._done: dict[PinnedFile, int] = {}
        self._anything_came = False

    def run(self, source: Source | None, licence: str, *, check: bool) -> None:
        # asked again under the lock: another process may have brought some
        wanted = self._wanted(self._files, check=check)
        if not wanted:
            return
        source = source or HubSource()
        self._models.mkdir(parents=True, exist_ok=True)
        with self._partial.held(busy=self._wait_for_the_other()):
            wanted = self._wanted(wanted, check=check)
            self._partial.clear(wanted)
            self._done = {pinned: pinned.bytes for pinned in self._files}
            self._done |= {pinned: self._partial.bytes_of(pinned) for pinned in wanted}
            self._check_room(wanted)
            self._keep_licence(licence)
            if wanted:
                missing = sum(pinned.bytes - self._done[pinned] for pinned in wanted) / 1e6
                _LOGGER.info(
                    "Fetching %d files from %s, %.1f MB to go", len(wanted), source.name, missing
                )
            for pinned in wanted:
                self._fetch(pinned, source)
        changed = missing_files(self._models, self._files)
        if changed:
            raise DownloadError(
                f"{place_of(self._models, changed[0])} was changed by somebody else: fetch again"
            )

    def _wanted(self, files: tuple[PinnedFile, ...], *, check: bool) -> tuple[PinnedFile, ...]:
        if not check:
            return missing_files(self._models, files)
        return tuple(
            pinned
            for pinned in files
            if problem(place_of(self._models, pinned), pinned, self._obey)
        )

    def _fetch(self, pinned: PinnedFile, source: Source) -> None:
        failures = rejections = 0
        while True:
            before = self._done[pinned]
            try:
                self._try(pinned, source)
            except RejectedError as error:
                rejections += 1
                # once may be an old unfinished file, or a moment's trouble on the way
                if rejections > 1:
                    raise DownloadError(
                        f"{pinned.directory}/{pinned.file} {error}: {source.name} does not give "
                        "the published file"
                    ) from error
                _LOGGER.warning("%s %s; trying again", pinned.file, error)
            except TransientError as error:
                failures = 1 if self._done[pinned] > before else failures + 1
                self._pause(failures, error)
            else:
                return

    def _pause(self, failures: int, error: TransientError) -> None:
        patience = self._patience
        if not patience.endless:
            if error.unreachable and not self._anything_came:
                raise DownloadError(
                    f"{error}: check network and clock, or bring the files with model fetch "
                    "--from DIR"
                ) from error
            if failures >= patience.tries:
                raise DownloadError(
                    f"{error}, and so for {failures} times: fetch again later, it goes on from here"
                ) from error
        pause = patience.pause(failures, error.retry_after)
        _LOGGER.warning("%s; trying again in %.0f s", error, pause)
        if self._cancelled.wait(pause):
            raise _CancelledError

    def _try(self, pinned: PinnedFile, source: Source) -> None:
        path = self._partial.place_of(pinned)
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        with FileIO(os.open(path, flags, 0o644), "r+") as file:
            size = os.fstat(file.fileno()).st_size
            if size > pinned.bytes:
                size = file.truncate(0)
            if size < pinned.bytes:
                self._receive(file, size, pinned, source)
            self._finish(file, path, pinned)

    def _receive(self, file: FileIO, size: int, pinned: PinnedFile, source: Source) -> None:
        self._report(pinned, file.seek(size))
        unsynced = 0
        with closing(source.read(pinned, size)) as blocks:
            for offset, block in blocks:
                self._obey()
                if not block:
                    continue
                if offset != file.tell():
                    file.truncate(file.seek(offset))
                _write(file, block)
                self._anything_came = True
                self._report(pinned, file.tell())
                unsynced += len(block)
                if unsynced >= _BETWEEN_SYNCS:
                    os.fsync(file.fileno())
                    unsynced = 0

    def _finish(self, file: FileIO, path: Path, pinned: PinnedFile) -> None:
        """Move a file in that has all its bytes; what is checked is what lies on disk."""
        if content_digest(file, pinned, self._obey) != pinned.digest:
            file.truncate(0)
            self._report(pinned, 0)
            raise RejectedError("has the right size, but not the published content")
        os.fchmod(file.fileno(), 0o644)
        os.fsync(file.fileno())
        if not _is_same(file, path):
            path.unlink(missing_ok=True)
            raise RejectedError("was replaced by somebody else while it was fetched")
        target = place_of(self._models, pinned)
        target.parent.mkdir(parents=True, exist_ok=True)
        path.replace(target)
        _sync_folder(target.parent)
        self._report(pinned, pinned.bytes)

    def _check_room(self, wanted: tuple[PinnedFile, ...]) -> None:
        needed = sum(pinned.bytes - self._done[pinned] for pinned in wanted)
        free = shutil.disk_usage(self._models).free
        if needed and needed + _RESERVE > free:
            raise DownloadError(
                f"{self._models} has {free / 1e6:.0f} MB free, but {needed / 1e6:.0f} MB are still "
                f"to be fetched and {_RESERVE / 1e6:.0f} MB must stay free: make room there, or "
                "choose another place with --data-dir"
            )

    def _keep_licence(self, text: str) -> None:
        path = licence_file(self._models)
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")

    def _wait_for_the_other(self) -> Callable[[], None]:
        told = False

        def wait() -> None:
            nonlocal told
            if not told:
                _LOGGER.warning("Another fetch is running: waiting until it is done")
                told = True
            if self._cancelled.wait(_LOCK_BEAT):
                raise _CancelledError

        return wait

    def _report(self, pinned: PinnedFile, done: int) -> None:
        self._done[pinned] = done
        total = sum(file.bytes for file in self._files)
        self._on_progress(Progress(pinned.file, sum(self._done.values()), total))

    def _obey(self) -> None:
        if self._cancelled.is_set():
            raise _CancelledError


def _in_words(error: OSError, models: Path) -> str:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return f"{models} is full: make room there and fetch again, it goes on from here"
    return (
        f"cannot use {error.filename or models}: {error.strerror}; check whom it belongs to, or "
        "choose another place with --data-dir"
    )


def _write(file: FileIO, block: bytes) -> None:
    rest = memoryview(block)
    while rest:
        rest = rest[file.write(rest) :]


def _is_same(file: FileIO, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.lstat())
    except FileNotFoundError:
        return False


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _refuse_to_remove() -> None:
    raise DownloadError("a fetch is running: stop it first")
