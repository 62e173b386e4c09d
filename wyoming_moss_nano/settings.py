"""All settings: what each one means, what it accepts, and where its value comes from."""

import os
from collections.abc import Callable, Mapping
from dataclasses import Field, dataclass, field, fields
from pathlib import Path
from typing import Any, Final

from .engine.generator import DEFAULT_MAX_FRAMES
from .engine.local import SAMPLE_MODES
from .engine.speech import DEFAULT_SEED, SpeechOptions
from .errors import SettingsError

ENVIRONMENT_PREFIX: Final = "MOSS_NANO_"
LOG_LEVELS: Final = ("debug", "info", "warning", "error")

# More threads than this slow the small matrices of this model down (published measurements).
_MOST_THREADS: Final = 4


def default_threads() -> int:
    """Return the number of cores this process may use, four at most."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return min(_MOST_THREADS, usable or 1)


def default_data_dir() -> Path:
    """Return the user's data folder for this program, by the XDG base directory specification."""
    base = os.environ.get("XDG_DATA_HOME", "")
    # the specification says to ignore a relative path
    home = Path(base) if base.startswith("/") else Path.home() / ".local" / "share"
    return home / "wyoming-moss-nano"


def _whole(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ValueError("a whole number") from None


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError("a number") from None


def _threads(text: str) -> int:
    threads = _whole(text)
    if not 1 <= threads <= 256:  # noqa: PLR2004
        raise ValueError("a whole number from 1 to 256")
    return threads


def _switch(text: str) -> bool:
    words = {"1": True, "true": True, "yes": True, "on": True}
    words |= {"0": False, "false": False, "no": False, "off": False, "": False}
    if text.lower() not in words:
        raise ValueError("true or false")
    return words[text.lower()]


def _one_of(*choices: str) -> Callable[[str], str]:
    def parse(text: str) -> str:
        if text not in choices:
            raise ValueError(f"one of {', '.join(choices)}")
        return text

    return parse


def _path(text: str) -> Path:
    if not text:
        raise ValueError("a path")
    return Path(text).expanduser()


def _setting(
    default: Any, parse: Callable[[str], Any], help_text: str, metavar: str | None = None
) -> Any:
    metadata = {"parse": parse, "help": help_text, "metavar": metavar}
    if callable(default):
        return field(default_factory=default, metadata=metadata)
    return field(default=default, metadata=metadata)


@dataclass(frozen=True)
class Settings:
    """One value per option. Flags win over the environment, the environment over defaults."""

    model: str = _setting(
        "auto",
        str,
        "which model speaks: embedded, official, the path of a bundle, or auto: the official one "
        "if it is complete on disk, else the embedded one",
        "auto|official|embedded|PATH",
    )
    data_dir: Path = _setting(default_data_dir, _path, "where models and voices are kept", "DIR")
    threads: int = _setting(default_threads, _threads, "threads of each model graph", "N")
    voice: str = _setting("", str, "the voice that speaks; without it the model's first", "NAME")
    seed: int = _setting(
        DEFAULT_SEED, _whole, "seed of the random numbers; the same seed, the same speech", "N"
    )
    sample_mode: str = _setting(
        "fixed",
        _one_of(*SAMPLE_MODES),
        "how codes are chosen: fixed (sampled in the model), greedy (the likeliest), full (sampled "
        "here)",
        "|".join(SAMPLE_MODES),
    )
    max_frames: int = _setting(
        DEFAULT_MAX_FRAMES, _whole, "most frames of 80 ms per piece of text", "N"
    )
    gain_db: float = _setting(0.0, _number, "louder or softer; peaks are limited softly", "DB")
    sentence_silence: float = _setting(0.24, _number, "pause between pieces of text", "SECONDS")
    trailing_silence: float = _setting(0.2, _number, "silence at the end", "SECONDS")
    stereo: bool = _setting(False, _switch, "two channels, as the codec makes them, not mono")
    log_level: str = _setting(
        "warning", _one_of(*LOG_LEVELS), "what is logged", "|".join(LOG_LEVELS)
    )

    @classmethod
    def resolve(
        cls, flags: Mapping[str, str | bool | None], environment: Mapping[str, str]
    ) -> "Settings":
        """Return settings from flags by field name (None: not given), then the environment.

        Raises:
            SettingsError: a value cannot be used; the message names the flag or variable.
        """
        values: dict[str, Any] = {}
        for option in fields(cls):
            flag = flags.get(option.name)
            variable = ENVIRONMENT_PREFIX + option.name.upper()
            if isinstance(flag, bool):
                values[option.name] = flag
            elif flag is not None:
                values[option.name] = _parse(option, flag, flag_name(option.name))
            elif variable in environment:
                values[option.name] = _parse(option, environment[variable], variable)
        settings = cls(**values)
        settings.speech_options()
        return settings

    def speech_options(self) -> SpeechOptions:
        """Return the part of the settings that says how a request is spoken."""
        return SpeechOptions(**{f.name: getattr(self, f.name) for f in fields(SpeechOptions)})


def flag_name(name: str) -> str:
    """Return the command-line flag of a setting."""
    return "--" + name.replace("_", "-")


def setting(name: str) -> Field[Any]:
    """Return the declaration of a setting: its default, help and metavar."""
    return next(f for f in fields(Settings) if f.name == name)


def _parse(option: Field[Any], text: str, source: str) -> Any:
    try:
        return option.metadata["parse"](text)
    except ValueError as error:
        raise SettingsError(f"{source} must be {error}, not {text!r}") from None
