"""Codes of recordings for one codec, kept so that a start does not encode them again."""

import hashlib
import json
import logging
from collections.abc import Collection
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ..errors import BundleError, VoiceError
from ..model.json_object import JsonObject
from .voice_file import read_frames, write_private

_LOGGER = logging.getLogger(__name__)

# Counts up when recordings are prepared in another way before they are encoded.
_PREPARATION: Final = 1
_SUFFIX: Final = ".codes.json"

Codes = NDArray[np.int32]


class EncodedRecordings:
    """One private file per voice and codec; what cannot be read is encoded again."""

    def __init__(self, folder: Path, codec_id: str) -> None:
        self._folder = folder
        self._codec_id = codec_id

    def read(self, name: str, recording: Path) -> Codes | None:
        """Return the codes int32 [frames, codebooks] that a recording was encoded to, if known."""
        path = self._path(name)
        if not path.is_file():
            return None
        try:
            content = JsonObject.read(path)
            if content.text("made_of") != self._stamp(recording):
                return None
            return read_frames(content.raw("codes"), path)
        except (BundleError, VoiceError, OSError) as error:
            _LOGGER.debug("Encoding voice %s again: %s", name, error)
            return None

    def keep(self, name: str, recording: Path, codes: Codes) -> None:
        """Keep the codes of a recording; where that fails, the next start encodes again."""
        try:
            text = json.dumps({"made_of": self._stamp(recording), "codes": codes.tolist()})
            write_private(self._path(name), lambda file: file.write_text(text, encoding="utf-8"))
        except (VoiceError, OSError) as error:
            _LOGGER.debug("The codes of voice %s are not kept: %s", name, error)

    def forget_others(self, names: Collection[str]) -> None:
        """Remove the codes of voices that are not among ``names``: they are somebody's voice."""
        for path in self._folder.glob(f"*{_SUFFIX}"):
            name, _, _ = path.name.removesuffix(_SUFFIX).rpartition("-")
            if name not in names:
                path.unlink(missing_ok=True)

    def _path(self, name: str) -> Path:
        return self._folder / f"{name}-{self._codec_id}{_SUFFIX}"

    def _stamp(self, recording: Path) -> str:
        digest = hashlib.sha256(recording.read_bytes()).hexdigest()
        return f"{digest}-{_PREPARATION}"
