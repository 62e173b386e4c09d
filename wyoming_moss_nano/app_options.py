"""The options of the Home Assistant app: what its user chose becomes flags and a voices file.

The Supervisor checks types when options are saved; here each value is checked for its meaning. What
cannot be used is one line in the log and left out, so that the app speaks with what is right.
"""

import json
import logging
import os
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml

from .errors import SettingsError, VoiceError
from .settings import Settings
from .voices.file import ListedVoice, listed_voice, read_voices_file

_LOGGER = logging.getLogger(__name__)

# Options of the app that are settings of the same name.
SETTINGS: Final = (
    "model",
    "precision",
    "threads",
    "default_voice",
    "sentence_silence",
    "log_level",
)
VOICES: Final = "voices"
MODELS: Final = ("official", "embedded")


@dataclass(frozen=True)
class Folders:
    """Where a user of the app puts recordings: the app's own folder, and the shared one."""

    config: Path
    share: Path

    @property
    def voices_file(self) -> Path:
        """The user's own voices file, which need not be there."""
        return self.config / "voices.yaml"


def read_options(path: Path) -> dict[str, Any]:
    """Return the options as the Supervisor wrote them; none where they cannot be read."""
    try:
        options = json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        _LOGGER.error("The options are not used: cannot read %s: %s", path, error)  # noqa: TRY400
        return {}
    if not isinstance(options, dict):
        _LOGGER.error("The options are not used: %s holds no options", path)
        return {}
    return options


def usable_settings(options: Mapping[str, Any]) -> dict[str, str]:
    """Return those options that are settings with a value that can be used, as text by name."""
    usable: dict[str, str] = {}
    for name, value in options.items():
        if name == VOICES or value is None or value == "":
            continue
        try:
            usable[name] = _setting(name, value)
        except SettingsError as error:
            _LOGGER.error("Option %s is not used: %s", name, error)  # noqa: TRY400 - one line
    return usable


def _setting(name: str, value: Any) -> str:
    if name not in SETTINGS:
        raise SettingsError(f"the app knows {', '.join((*SETTINGS, VOICES))}")
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise SettingsError(f"it must be text or a number, not {json.dumps(value)}")
    text = str(value).strip()
    if not text.isprintable():
        raise SettingsError(f"it must be one line of text, not {text!r}")
    if name == "model" and text not in MODELS:
        raise SettingsError(f"it must be one of {', '.join(MODELS)}, not {text!r}")
    Settings.resolve({}, {}, {name: text})
    return text


def usable_voices(options: Mapping[str, Any], folders: Folders) -> list[ListedVoice]:
    """Return the voices of the options that can be used, their recordings as whole paths."""
    listed = options.get(VOICES) or []
    if not isinstance(listed, list):
        _LOGGER.error("Option %s is not used: it must be a list", VOICES)
        return []
    usable: dict[str, ListedVoice] = {}
    for number, entry in enumerate(listed, start=1):
        name = (entry.get("name") if isinstance(entry, dict) else None) or f"number {number}"
        try:
            voice = _voice(entry, folders, usable)
            usable[voice.name] = voice
        except VoiceError as error:
            _LOGGER.error("Option voices: voice %s is left out: %s", name, error)  # noqa: TRY400
    return list(usable.values())


def _voice(entry: Any, folders: Folders, taken: Container[str]) -> ListedVoice:
    """Return a voice of the options, which is one of the voices file but for its places."""
    if isinstance(entry, dict):
        entry = {key: value for key, value in entry.items() if value not in (None, "")}
        if "file" in entry:
            raise VoiceError("there is no key 'file' here; list voice files in voices.yaml")
    voice = listed_voice(entry, folders.config)
    if voice.name in taken:
        raise VoiceError("an earlier one has the same name")
    recording = entry["recording"].strip()
    return ListedVoice(
        voice.name,
        voice.languages,
        voice.description,
        _recording(recording, folders),
        voice.authorization,
    )


def _recording(text: str, folders: Folders) -> Path:
    """Return the recording that a text names: in one of the folders, or a path below one of them.

    Raises:
        VoiceError: there is none, it lies elsewhere, or it cannot be read.
    """
    both = (folders.config, folders.share)
    places = " or ".join(map(str, both))
    # a path that is absolute already replaces the folder
    for path in (folder / text for folder in both):
        if path.is_file():
            if not any(path.resolve().is_relative_to(folder.resolve()) for folder in both):
                raise VoiceError(f"the recording {text} must be in {places}")
            if not os.access(path, os.R_OK):
                raise VoiceError(f"{path} cannot be read: allow others to read that file")
            return path
    raise VoiceError(f"there is no recording {text} in {places}")


def merge_voices(own: Path, listed: Iterable[ListedVoice]) -> dict[str, Any]:
    """Return a voices file of the user's own one and the voices that the options list.

    Of two voices with one name that of the options stays. An own file that cannot be used is left
    out as a whole.
    """
    chosen = {voice.name: voice for voice in listed}
    content: dict[str, Any] = {}
    kept: list[ListedVoice] = []
    try:
        for voice in read_voices_file(own, needed=False).voices:
            if voice.name in chosen:
                _LOGGER.error(
                    "%s: voice %s is left out: the options list one of that name", own, voice.name
                )
            else:
                kept.append(voice)
        if own.exists():
            content = yaml.safe_load(own.read_text(encoding="utf-8")) or {}
    except SettingsError as error:
        _LOGGER.error("The voices file is not used: %s", error)  # noqa: TRY400 - one line
    return content | {"voices": [_entry(voice) for voice in (*kept, *chosen.values())]}


def _entry(voice: ListedVoice) -> dict[str, Any]:
    entry: dict[str, Any] = {"name": voice.name, "languages": list(voice.languages)}
    if voice.description:
        entry["description"] = voice.description
    if voice.authorization is None:
        return entry | {"file": str(voice.source)}
    return entry | {
        "recording": str(voice.source),
        "authorized_by": voice.authorization.by,
        "statement": voice.authorization.statement,
    }
