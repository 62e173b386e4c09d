"""SHA-256 digests of large files, computed once and kept by path, size and time of change."""

import hashlib
import json
import logging
import tempfile
from pathlib import Path

from ..errors import BundleError

_LOGGER = logging.getLogger(__name__)


class DigestStore:
    """Digests of files, kept in one JSON file; without a file they are kept in memory only.

    A store that cannot be read or written costs time, never correctness: it starts empty.
    """

    def __init__(self, file: Path | None = None) -> None:
        self._file = file
        self._kept = self._load()

    def sha256(self, path: Path) -> str:
        """Return the hex SHA-256 of a file's content.

        Raises:
            BundleError: the file cannot be read.
        """
        try:
            status = path.stat()
            stamp = [status.st_size, status.st_mtime_ns]
            key = str(path.resolve())
            known = self._kept.get(key)
            if known is not None and known[:2] == stamp:
                return str(known[2])
            with path.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise BundleError(f"cannot read {path}: {error.strerror}") from error
        self._kept[key] = [*stamp, digest]
        self._save()
        return digest

    def _load(self) -> dict[str, list[int | str]]:
        if self._file is None:
            return {}
        try:
            kept = json.loads(self._file.read_bytes())
            return {
                str(path): [int(size), int(changed), str(digest)]
                for path, (size, changed, digest) in kept.items()
            }
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, TypeError, AttributeError) as error:
            _LOGGER.debug("Starting without the kept digests of %s: %s", self._file, error)
            return {}

    def _save(self) -> None:
        if self._file is None:
            return
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(
                "w", dir=self._file.parent, prefix=self._file.name, delete=False
            ) as unfinished:
                json.dump(self._kept, unfinished, indent=2)
            Path(unfinished.name).replace(self._file)
        except OSError as error:
            _LOGGER.debug("Digests are not kept in %s: %s", self._file, error)
