"""Where unfinished files wait: one folder that one process uses at a time and leaves tidy."""

import fcntl
import os
import shutil
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from .manifest import PinnedFile

PARTIAL_NAME: Final = ".partial"
_LOCK_NAME: Final = "lock"


class PartialFolder:
    """The folder of unfinished files below ``models``; its files are named by their digests."""

    def __init__(self, models: Path) -> None:
        self._path = models / PARTIAL_NAME

    def place_of(self, pinned: PinnedFile) -> Path:
        """Return where the unfinished file is; another pinned content is another file."""
        return self._path / pinned.digest

    def bytes_of(self, pinned: PinnedFile) -> int:
        """Return how much of a file is here, 0 where nothing usable is.

        Raises:
            OSError: the folder cannot be looked into.
        """
        path = self.place_of(pinned)
        size = path.stat().st_size if path.is_file() else 0
        return size if size <= pinned.bytes else 0

    @contextmanager
    def held(self, busy: Callable[[], None]) -> Iterator[None]:
        """Keep every other process out.

        ``busy`` is called again and again while another one is in: it waits a while, or raises.

        Raises:
            OSError: nothing can be written here.
        """
        descriptor = self._lock(busy)
        try:
            yield
        finally:
            self._tidy()
            os.close(descriptor)

    def clear(self, wanted: Collection[PinnedFile]) -> None:
        """Remove everything but the unfinished files of ``wanted`` and the lock.

        Raises:
            OSError: something cannot be removed.
        """
        kept = {_LOCK_NAME, *(pinned.digest for pinned in wanted)}
        for path in self._path.iterdir():
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            elif path.name not in kept or path.is_symlink():
                path.unlink()

    def _lock(self, busy: Callable[[], None]) -> int:
        path = self._path / _LOCK_NAME
        while True:
            with suppress(FileNotFoundError):  # its owner tidied up between two steps
                self._path.parent.mkdir(parents=True, exist_ok=True)
                with suppress(FileExistsError):  # mkdir's own exist_ok looks again, too late
                    self._path.mkdir()
                flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
                descriptor = os.open(path, flags, 0o644)
                if _locked(descriptor, path):
                    return descriptor
                os.close(descriptor)
                busy()

    def _tidy(self) -> None:
        # what cannot be tidied now is harmless, and the next one in tries again
        with suppress(OSError):
            if {path.name for path in self._path.iterdir()} == {_LOCK_NAME}:
                (self._path / _LOCK_NAME).unlink()
                self._path.rmdir()


def _locked(descriptor: int, path: Path) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # the owner before may have removed the file we opened: then it keeps nobody out
        return os.path.samestat(os.fstat(descriptor), path.lstat())
    except (BlockingIOError, FileNotFoundError):
        return False
