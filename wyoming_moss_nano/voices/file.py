"""voices.yaml: a default voice, other names for voices, and voices to be made of recordings."""

import logging
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import yaml

from ..errors import SettingsError, VoiceError
from .voice_file import Authorization, check_name

_LOGGER = logging.getLogger(__name__)

_KEYS: Final = ("default_voice", "voices", "aliases", "pronounce")
_VOICE_KEYS: Final = (
    "name",
    "languages",
    "description",
    "file",
    "recording",
    "authorized_by",
    "statement",
)


@dataclass(frozen=True)
class ListedVoice:
    """A voice of the file: ``source`` is a .voice.json, or a recording with its authorisation."""

    name: str
    languages: tuple[str, ...]
    description: str
    source: Path
    authorization: Authorization | None


@dataclass(frozen=True)
class VoicesFile:
    """The content of a voices file: a default voice ("" for none), voices, names by alias.

    ``pronounce`` holds what is said for a word, by language and word.
    """

    default_voice: str = ""
    voices: tuple[ListedVoice, ...] = ()
    aliases: dict[str, str] = field(default_factory=dict)
    pronounce: dict[str, dict[str, str]] = field(default_factory=dict)

    def settings(self) -> dict[str, str]:
        """Return the settings that the file makes, by name."""
        return {"default_voice": self.default_voice} if self.default_voice else {}


def read_voices_file(path: Path, *, needed: bool) -> VoicesFile:
    """Read a voices file; one that is missing and not needed is empty.

    A voice that cannot be used is logged by name and left out; the rest goes on.

    Raises:
        SettingsError: it cannot be read, is no YAML, or has a key or value that is not known.
    """
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        if needed:
            raise SettingsError(f"there is no voices file {path}") from None
        return VoicesFile()
    except OSError as error:
        raise SettingsError(f"cannot read {path}: {error.strerror}") from error
    except (yaml.YAMLError, ValueError, LookupError, AttributeError, RecursionError) as error:
        # the library lets through what its values' own constructors raise
        reason = " ".join(str(error).split())
        raise SettingsError(f"{path} is no YAML: {reason}") from None
    return _checked({} if content is None else content, path)


def _checked(content: Any, path: Path) -> VoicesFile:
    if not isinstance(content, dict):
        raise SettingsError(f"{path} must be a mapping of keys to values")
    for key in content:
        if key not in _KEYS:
            raise SettingsError(f"{path}: there is no key {key!r}; known are {', '.join(_KEYS)}")
    default = _given(content, "default_voice", "")
    if not isinstance(default, str):
        raise SettingsError(f"{path}: default_voice must be a name, not {default!r}")
    aliases = _given(content, "aliases", {})
    if not isinstance(aliases, dict) or not all(
        isinstance(alias, str) and isinstance(name, str) for alias, name in aliases.items()
    ):
        raise SettingsError(f"{path}: aliases must be names of voices by alias")
    listed = _given(content, "voices", [])
    if not isinstance(listed, list):
        raise SettingsError(f"{path}: voices must be a list")
    pronounce = _pronunciations(_given(content, "pronounce", {}), path)
    return VoicesFile(default, tuple(_usable(listed, path)), aliases, pronounce)


def _pronunciations(value: Any, path: Path) -> dict[str, dict[str, str]]:
    """Return what is said for a word, by language in small letters and word."""
    if not isinstance(value, dict):
        raise SettingsError(f"{path}: pronounce must be words by language")
    for language, words in value.items():
        # YAML reads the code of Norwegian as the word no
        if not isinstance(language, str):
            raise SettingsError(f"{path}: pronounce: put the language {language!r} into quotes")
        if not isinstance(words, dict):
            raise SettingsError(f"{path}: pronounce: {language} must be what is said by word")
        for word, said in words.items():
            if not (isinstance(word, str) and isinstance(said, str) and word.strip()):
                raise SettingsError(
                    f"{path}: pronounce: {language}: {word!r} and what is said for it must both be "
                    "text; put them into quotes"
                )
    return {language.lower(): dict(words or {}) for language, words in value.items()}


def _given(content: dict[Any, Any], key: str, default: Any) -> Any:
    """Return the value of a key that may be absent or empty; YAML's no and 0 are neither."""
    value = content.get(key)
    return default if value is None else value


def _usable(listed: list[Any], path: Path) -> list[ListedVoice]:
    voices: list[ListedVoice] = []
    for number, entry in enumerate(listed, start=1):
        try:
            voices.append(listed_voice(entry, path.parent))
        except VoiceError as error:
            name = entry.get("name") if isinstance(entry, dict) else None
            _LOGGER.error("%s: voice %s is left out: %s", path, name or number, error)  # noqa: TRY400
    return voices


def listed_voice(entry: Any, folder: Path) -> ListedVoice:
    """Return the voice of one entry, whose paths begin at a folder; nothing is read there.

    Raises:
        VoiceError: the entry is no voice; what is missing or wrong is named.
    """
    if not isinstance(entry, dict):
        raise VoiceError("it must be a mapping of keys to values")
    for key, value in entry.items():
        if key not in _VOICE_KEYS:
            raise VoiceError(f"there is no key {key!r}; known are {', '.join(_VOICE_KEYS)}")
        if key != "languages" and not isinstance(value, str):
            raise VoiceError(f"{key} must be text, not {value!r}")
    name = check_name(entry.get("name") or "")
    source = entry.get("file") or entry.get("recording")
    if not source or ("file" in entry and "recording" in entry):
        raise VoiceError("it needs either a file or a recording")
    authorization = None
    if "recording" in entry:
        by, statement = entry.get("authorized_by") or "", entry.get("statement") or ""
        if not (by.strip() and statement.strip()):
            raise VoiceError("a recording needs authorized_by and statement: a voice is a person's")
        authorization = Authorization(by, "", statement)
    return ListedVoice(
        name=name,
        languages=parse_languages(entry.get("languages")),
        description=entry.get("description") or "",
        source=folder / source,
        authorization=authorization,
    )


def parse_languages(value: Any) -> tuple[str, ...]:
    """Return language codes of a list or of text with commas; none given is English.

    Raises:
        VoiceError: they are something else.
    """
    parts = value.split(",") if isinstance(value, str) else ["en"] if value is None else value
    if not isinstance(parts, list) or not all(isinstance(part, str) for part in parts):
        raise VoiceError(f"languages must be codes such as en, de, not {value!r}")
    codes = tuple(dict.fromkeys(part.strip().lower() for part in parts if part.strip()))
    if not codes or not all(2 <= len(code) <= 3 and code.isalpha() for code in codes):  # noqa: PLR2004
        raise VoiceError(f"languages must be codes such as en, de, not {value!r}")
    return codes
