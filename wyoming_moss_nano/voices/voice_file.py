"""A voice on disk: one private JSON file, and beside it the recording it was made from."""

import json
import os
import re
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ..errors import BundleError, VoiceError
from ..model.json_object import JsonObject
from ..model.metadata import check_codes

SCHEMA: Final = 1
SUFFIX: Final = ".voice.json"
RECORDING_SUFFIX: Final = ".flac"

_NAME: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
_PRIVATE: Final = 0o600

# 20 s at 12.5 frames a second: more is refused when a voice is added, and here if it was edited.
MAX_FRAMES: Final = 250


@dataclass(frozen=True)
class Authorization:
    """Who allowed a voice to be used, when (ISO 8601), and in what words."""

    by: str
    at: str
    statement: str


@dataclass(frozen=True)
class VoiceFile:
    """A voice as it is kept. ``codes`` int32 [frames, codebooks] belong to the codec ``codec_id``.

    ``recording_sha256`` is of the recording as it was brought, ``seconds`` and ``loudness_lufs``
    are of what was taken of it.
    """

    name: str
    languages: tuple[str, ...]
    description: str
    codec_id: str
    codes: NDArray[np.int32]
    recording_sha256: str
    seconds: float
    loudness_lufs: float
    authorization: Authorization


def check_name(name: str) -> str:
    """Return a name that a voice can have.

    Raises:
        VoiceError: it cannot.
    """
    if not _NAME.fullmatch(name):
        raise VoiceError(
            f"{name!r} cannot be a voice's name: lower-case letters, digits, - and _, at most 64, "
            "the first a letter or digit"
        )
    return name


def voice_path(folder: Path, name: str) -> Path:
    """Return where the voice of a checked name is kept."""
    return folder / f"{name}{SUFFIX}"


def recording_path(voice: Path) -> Path:
    """Return where the recording of the voice in a file is kept."""
    return voice.with_name(voice.name.removesuffix(SUFFIX) + RECORDING_SUFFIX)


def check_free(folder: Path, name: str) -> Path:
    """Return where a new voice goes; nothing that lies there is ever overwritten.

    Raises:
        VoiceError: a voice, even one that cannot be used, or a recording has the name.
    """
    path = voice_path(folder, name)
    for taken in (path, recording_path(path)):
        if taken.exists():
            raise VoiceError(
                f"{taken} exists already: choose another name, remove that voice with "
                f"voice remove {name}, or move the file away"
            )
    return path


def read_voice(path: Path) -> VoiceFile:
    """Read and check a voice; its codes are checked for shape and sign, not against a codec.

    Raises:
        VoiceError: the file is missing, damaged, of another schema, or has no authorisation.
    """
    try:
        content = JsonObject.read(path)
        if content.integer("schema") != SCHEMA:
            raise VoiceError(f"{path} has schema {content.raw('schema')!r}; this release reads 1")
        permission = content.object("authorization")
        codes = read_frames(content.raw("codes"), path)
        voice = VoiceFile(
            name=check_name(content.text("name")),
            languages=content.texts("languages"),
            description=content.text("description"),
            codec_id=content.text("codec_id"),
            codes=codes,
            recording_sha256=content.text("recording_sha256"),
            seconds=content.number("seconds"),
            loudness_lufs=content.number("loudness_lufs"),
            authorization=Authorization(
                permission.text("by"), permission.text("at"), permission.text("statement")
            ),
        )
    except BundleError as error:
        raise VoiceError(str(error)) from None
    if not (voice.authorization.by.strip() and voice.authorization.statement.strip()):
        raise VoiceError(f"{path} does not say who authorised the voice: it is not used")
    if not voice.languages:
        raise VoiceError(f"{path} names no language")
    if len(codes) > MAX_FRAMES:
        raise VoiceError(f"{path} has {len(codes)} frames; at most {MAX_FRAMES} can be used")
    return voice


def read_frames(codes: Any, path: Path) -> NDArray[np.int32]:
    """Return the codes int32 [frames, codebooks] that a file holds; their range is not known here.

    Raises:
        VoiceError: they are no frames.
        BundleError: they are of different widths, or no codes.
    """
    if not isinstance(codes, list) or not codes or not isinstance(codes[0], list) or not codes[0]:
        raise VoiceError(f"{path}: its codes must be a list of frames")
    return check_codes(codes, (2**31 - 1,) * len(codes[0]), str(path))


def write_voice(path: Path, voice: VoiceFile) -> None:
    """Write a voice for its owner's eyes only, whole or not at all."""
    content = {
        "schema": SCHEMA,
        "name": voice.name,
        "languages": list(voice.languages),
        "description": voice.description,
        "codec_id": voice.codec_id,
        "recording_sha256": voice.recording_sha256,
        "seconds": round(voice.seconds, 3),
        "loudness_lufs": round(voice.loudness_lufs, 2),
        "authorization": voice.authorization.__dict__,
    }
    # a frame a line, not a code a line
    head = json.dumps(content, ensure_ascii=False, indent=1).removesuffix("\n}")
    frames = ",\n".join(f"  {json.dumps(frame)}" for frame in voice.codes.tolist())
    text = f'{head},\n "codes": [\n{frames}\n ]\n}}\n'
    write_private(path, lambda file: file.write_text(text, encoding="utf-8"))


def write_private(path: Path, write: Callable[[Path], Any]) -> None:
    """Let ``write`` fill a file that only its owner can read, then put it in place.

    Raises:
        VoiceError: the folder cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, unfinished = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        os.close(handle)
        try:
            write(Path(unfinished))
            Path(unfinished).chmod(_PRIVATE)
            Path(unfinished).replace(path)
        except BaseException:
            Path(unfinished).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise VoiceError(f"cannot write {path}: {error.strerror or error}") from error
    except UnicodeEncodeError:
        raise VoiceError(f"cannot write {path}: a text for it is no Unicode") from None
