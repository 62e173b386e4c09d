"""Where the files of the official model come from, and what can go wrong there."""

from collections.abc import Generator
from pathlib import Path
from typing import Final, Protocol

from .manifest import PinnedFile
from .verify import size_problem

Block = tuple[int, bytes]  # where in the file it belongs, and the bytes
Blocks = Generator[Block, None, None]

_READ: Final = 1 << 20  # bytes


class TransientError(Exception):
    """Trying again may help, after ``retry_after`` seconds where the hub named a time."""

    def __init__(
        self, text: str, *, unreachable: bool = False, retry_after: float | None = None
    ) -> None:
        super().__init__(text)
        self.unreachable = unreachable
        self.retry_after = retry_after


class RejectedError(Exception):
    """What came is not the pinned file; the text says why, the file being its subject."""


class Source(Protocol):
    """Where files come from."""

    name: str

    def read(self, pinned: PinnedFile, start: int) -> Blocks:
        """Yield a file's content from byte ``start`` on, or from 0; a block may be empty."""


class FolderSource:
    """A folder of files that somebody copied: as published, flat, or a cache of the hub's tools."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.name = str(folder)

    def find(self, pinned: PinnedFile) -> Path | None:
        """Return the file of the pinned size, if there is one.

        Raises:
            OSError: the folder cannot be looked into.
        """
        cached = f"models--{pinned.repository.replace('/', '--')}/snapshots/{pinned.revision}"
        for folder in (pinned.directory, ".", cached):
            path = self._folder / folder / pinned.file
            if not size_problem(path, pinned):
                return path
        return None

    def read(self, pinned: PinnedFile, start: int) -> Blocks:
        """Yield a file's content from byte ``start`` on."""
        path = self.find(pinned)
        if path is None:
            raise RejectedError("is not there any more")
        with path.open("rb") as file:
            file.seek(start)
            while block := file.read(_READ):
                yield start, block
                start += len(block)
