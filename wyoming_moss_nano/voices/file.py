"""voices.yaml: which voice is the default, and other names for voices."""

import logging
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import yaml

from ..errors import SettingsError

_LOGGER = logging.getLogger(__name__)

# Parts of the file that this release reads over.
_LATER: Final = ("voices", "pronounce")


@dataclass(frozen=True)
class VoicesFile:
    """The content of a voices file: a default voice ("" for none) and names by alias."""

    default_voice: str = ""
    aliases: dict[str, str] = field(default_factory=dict)

    def settings(self) -> dict[str, str]:
        """Return the settings that the file makes, by name."""
        return {"default_voice": self.default_voice} if self.default_voice else {}


def read_voices_file(path: Path, *, needed: bool) -> VoicesFile:
    """Read a voices file; one that is missing and not needed is empty.

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
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        reason = " ".join(str(error).split())
        raise SettingsError(f"{path} is no YAML: {reason}") from None
    return _checked({} if content is None else content, path)


def _checked(content: Any, path: Path) -> VoicesFile:
    if not isinstance(content, dict):
        raise SettingsError(f"{path} must be a mapping of keys to values")
    known = ("default_voice", "aliases", *_LATER)
    for key in content:
        if key not in known:
            raise SettingsError(f"{path}: there is no key {key!r}; known are {', '.join(known)}")
        if key in _LATER:
            _LOGGER.warning("%s: %s is not read by this release", path, key)
    default = content.get("default_voice", "")
    if not isinstance(default, str):
        raise SettingsError(f"{path}: default_voice must be a name, not {default!r}")
    aliases = content.get("aliases") or {}
    if not isinstance(aliases, dict) or not all(
        isinstance(alias, str) and isinstance(name, str) for alias, name in aliases.items()
    ):
        raise SettingsError(f"{path}: aliases must be names of voices by alias")
    return VoicesFile(default, aliases)
