"""All settings: what each one means, what it accepts, and where its value comes from."""

import ipaddress
import logging
import os
from collections.abc import Callable, Mapping
from dataclasses import Field, dataclass, field, fields
from pathlib import Path
from typing import Any, Final

from .engine.generator import DEFAULT_MAX_FRAMES
from .engine.local import SAMPLE_MODES
from .engine.options import DEFAULT_SEED, SpeechOptions
from .errors import SettingsError
from .machine import Machine
from .server.endpoint import DEFAULT_PORT, Endpoint, TcpEndpoint, parse_endpoint

ENVIRONMENT_PREFIX: Final = "MOSS_NANO_"
LOG_LEVELS: Final = ("debug", "info", "warning", "error")

# What a log format may refer to, with values that any conversion takes.
_ANY_RECORD: Final = dict.fromkeys((*logging.makeLogRecord({}).__dict__, "message", "asctime"), 0)

PRECISIONS: Final = ("auto", "exact", "fp32", "int8")

# More threads than this slow the small matrices of this model down (published measurements).
_MOST_THREADS: Final = 4


def default_threads() -> int:
    """Return the number of cores this process can keep busy, four at most."""
    return min(_MOST_THREADS, Machine().usable_cores)


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


def _count(lowest: int, highest: int) -> Callable[[str], int]:
    def parse(text: str) -> int:
        count = _whole(text)
        if not lowest <= count <= highest:
            raise ValueError(f"a whole number from {lowest} to {highest}")
        return count

    return parse


def _instance(text: str) -> str:
    # an mDNS label has at most 63 bytes; a dot would begin another one
    if not 0 < len(text.encode()) <= 63 or "." in text:  # noqa: PLR2004
        raise ValueError("a name of 1 to 63 bytes without dots")
    return text


def _addresses(text: str) -> tuple[str, ...]:
    try:
        return tuple(str(ipaddress.ip_address(part.strip())) for part in text.split(","))
    except ValueError:
        raise ValueError("an IP address, or several with commas between") from None


def _endpoints(text: str) -> tuple[Endpoint, ...]:
    try:
        return tuple(parse_endpoint(part.strip()) for part in text.split(","))
    except SettingsError:
        raise ValueError("tcp://HOST:PORT, unix://PATH or stdio://") from None


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


def _log_format(text: str) -> str:
    try:
        logging.Formatter(text)
        text % _ANY_RECORD
    except (ValueError, KeyError, TypeError):
        raise ValueError(
            "a format of Python's logging, such as '%(asctime)s %(message)s'"
        ) from None
    return text


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
    """One value per option: flags win over the environment, that over voices.yaml and defaults."""

    model: str = _setting(
        "auto",
        str,
        "which model speaks: embedded, official, the path of a bundle, or auto: the official one "
        "if it is complete on disk, else the embedded one",
        "auto|official|embedded|PATH",
    )
    data_dir: Path = _setting(default_data_dir, _path, "where models and voices are kept", "DIR")
    threads: int = _setting(default_threads, _count(1, 256), "threads of each model graph", "N")
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
    no_normalize: bool = _setting(
        False, _switch, "leave numbers, units, dates and the like as they are written"
    )
    stereo: bool = _setting(False, _switch, "two channels, as the codec makes them, not mono")
    precision: str = _setting(
        "auto",
        _one_of(*PRECISIONS),
        "how the model computes: exact runs the published graphs, fp32 and int8 graphs compiled "
        "for this machine, auto the most faithful that is fast enough here",
        "|".join(PRECISIONS),
    )
    uri: tuple[Endpoint, ...] = _setting(
        (TcpEndpoint(None, DEFAULT_PORT),),
        _endpoints,
        "where to listen: tcp://HOST:PORT, unix://PATH or stdio://; may be given several times, in "
        "the environment with commas between; without it all addresses on port 10200",
        "URI",
    )
    zeroconf: str = _setting(
        "", _instance, "announce the server under this name, not one of its own", "NAME"
    )
    no_zeroconf: bool = _setting(False, _switch, "do not announce the server")
    zeroconf_host: tuple[str, ...] = _setting(
        (), _addresses, "announce this address, not those of the machine", "ADDRESS"
    )
    voices: Path | None = _setting(
        None, _path, "the voices file (default: voices.yaml in the data folder)", "FILE"
    )
    voices_dir: Path | None = _setting(
        None, _path, "where enrolled voices are kept (default: voices in the data folder)", "DIR"
    )
    default_voice: str = _setting(
        "",
        str,
        "the voice that speaks where none is asked for; without it the model's first",
        "NAME",
    )
    samples_per_chunk: int = _setting(
        3840, _count(1, 480_000), "most samples of an audio-chunk event", "N"
    )
    no_streaming: bool = _setting(
        False, _switch, "do not offer text streaming; sound streams all the same"
    )
    max_streams: int = _setting(
        4, _count(1, 64), "how many requests are spoken at the same time", "N"
    )
    max_queue: int = _setting(
        64, _count(0, 10_000), "how many more may wait before requests are refused", "N"
    )
    log_level: str = _setting("", _one_of(*LOG_LEVELS), "what is logged", "|".join(LOG_LEVELS))
    log_format: str = _setting(
        "%(levelname)s %(message)s", _log_format, "how, as a format of Python's logging", "FORMAT"
    )

    @classmethod
    def resolve(
        cls,
        flags: Mapping[str, str | bool | None],
        environment: Mapping[str, str],
        file: Mapping[str, str] | None = None,
    ) -> "Settings":
        """Return settings from flags by field name (None: not given), environment, voices file.

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
            elif file is not None and option.name in file:
                values[option.name] = _parse(option, file[option.name], option.name)
        settings = cls(**values)
        settings.speech_options()
        return settings

    @property
    def voices_file(self) -> Path:
        """The voices file that was named, or the one in the data folder."""
        return self.voices or self.data_dir / "voices.yaml"

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
