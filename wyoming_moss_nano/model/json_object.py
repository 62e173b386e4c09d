"""JSON files of bundles and voices, read key by key with errors that name file and key."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import BundleError


class JsonObject:
    """One JSON object of a metadata file, read key by key with errors that name file and key."""

    def __init__(self, values: Any, where: str) -> None:
        if not isinstance(values, Mapping):
            raise BundleError(f"{where} is no JSON object")
        self._values = values
        self.where = where

    @classmethod
    def read(cls, path: Path) -> "JsonObject":
        """Read a UTF-8 JSON file with any line ends."""
        try:
            return cls(json.loads(path.read_bytes()), str(path))
        except FileNotFoundError:
            raise BundleError(f"{path} is missing") from None
        except OSError as error:
            raise BundleError(f"cannot read {path}: {error.strerror}") from error
        except (ValueError, RecursionError) as error:
            raise BundleError(f"{path} is cut off or damaged: {error}") from None

    def __contains__(self, key: str) -> bool:
        return key in self._values

    def raw(self, key: str) -> Any:
        """Return the value of a key that must be there."""
        if key not in self._values:
            raise BundleError(f"{self.where} lacks {key}")
        return self._values[key]

    def _fail(self, key: str, wanted: str) -> BundleError:
        return BundleError(f"{self.where}: {key} must be {wanted}, not {self._values[key]!r:.60}")

    def number(self, key: str) -> float:
        """Return a finite number."""
        value = self.raw(key)
        if isinstance(value, bool) or not isinstance(value, int | float) or not np.isfinite(value):
            raise self._fail(key, "a number")
        return float(value)

    def integer(self, key: str) -> int:
        """Return a whole number of at least 0, written as int or float."""
        value = self.raw(key)
        if not _is_whole(value):
            raise self._fail(key, "a whole number of at least 0")
        return int(value)

    def integers(self, key: str) -> tuple[int, ...]:
        """Return a list of whole numbers of at least 0."""
        value = self.raw(key)
        if not isinstance(value, list) or not all(_is_whole(item) for item in value):
            raise self._fail(key, "a list of whole numbers of at least 0")
        return tuple(int(item) for item in value)

    def text(self, key: str) -> str:
        """Return a string."""
        value = self.raw(key)
        if not isinstance(value, str):
            raise self._fail(key, "a string")
        return value

    def flag(self, key: str) -> bool:
        """Return a boolean."""
        value = self.raw(key)
        if not isinstance(value, bool):
            raise self._fail(key, "true or false")
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        """Return a list of strings."""
        value = self.raw(key)
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise self._fail(key, "a list of strings")
        return tuple(value)

    def object(self, key: str) -> "JsonObject":
        """Return an object inside this one."""
        return JsonObject(self.raw(key), f"{self.where}: {key}")

    def objects(self, key: str) -> list["JsonObject"]:
        """Return a list of objects inside this one."""
        value = self.raw(key)
        if not isinstance(value, list):
            raise self._fail(key, "a list")
        return [JsonObject(item, f"{self.where}: {key}[{i}]") for i, item in enumerate(value)]


def _is_whole(value: Any) -> bool:
    return (
        isinstance(value, int | float)
        and not isinstance(value, bool)
        and bool(np.isfinite(value))
        and value >= 0
        and value == int(value)
    )
