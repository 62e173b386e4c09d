"""Whether files are what the manifest pins: by presence and size, or by every byte."""

import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, Final

from .manifest import PINNED_FILES, PinnedFile

_BLOCK: Final = 1 << 20


def place_of(models: Path, pinned: PinnedFile) -> Path:
    """Return where a file of the official model belongs."""
    return models / pinned.directory / pinned.file


def missing_files(
    models: Path, files: tuple[PinnedFile, ...] = PINNED_FILES
) -> tuple[PinnedFile, ...]:
    """Return the files that are absent or not of the pinned size; reads no content."""
    return tuple(pinned for pinned in files if size_problem(place_of(models, pinned), pinned))


def verify_model(models: Path, files: tuple[PinnedFile, ...] = PINNED_FILES) -> list[str]:
    """Read every file; return a line for each that is not as published: its name, and why."""
    problems = ((pinned, problem(place_of(models, pinned), pinned)) for pinned in files)
    return [f"{pinned.directory}/{pinned.file} {why}" for pinned, why in problems if why]


def size_problem(path: Path, pinned: PinnedFile) -> str:
    """Return why a file cannot be the pinned one, by presence and size alone; else nothing.

    Raises:
        OSError: its folder cannot be looked into.
    """
    if not path.is_file():
        return "is missing"
    found = path.stat().st_size
    return "" if found == pinned.bytes else f"has {found} bytes, not {pinned.bytes}"


def problem(path: Path, pinned: PinnedFile, between: Callable[[], None] = lambda: None) -> str:
    """Return why a file is not the pinned one, every byte read; else nothing.

    ``between`` is called before each block; what it raises ends the reading.
    """
    try:
        why = size_problem(path, pinned)
        if why:
            return why
        with path.open("rb") as file:
            same = content_digest(file, pinned, between) == pinned.digest
    except OSError as error:
        return f"cannot be read: {error.strerror}"
    return "" if same else "has the right size, but not the published content"


def content_digest(
    file: BinaryIO, pinned: PinnedFile, between: Callable[[], None] = lambda: None
) -> str:
    """Return the hex digest of an open file from its start, by the algorithm it is pinned with.

    Raises:
        OSError: it cannot be read.
    """
    if pinned.algorithm == "sha256":
        digest = hashlib.sha256()
    else:
        # git's name of a file, chosen by the publisher's repository, not by us
        digest = hashlib.sha1(b"blob %d\0" % pinned.bytes, usedforsecurity=False)
    file.seek(0)
    for block in _blocks(file):
        between()
        digest.update(block)
    return digest.hexdigest()


def _blocks(file: BinaryIO) -> Iterator[bytes]:
    while block := file.read(_BLOCK):
        yield block
