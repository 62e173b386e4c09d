"""The command line: arguments in, a function of commands/ run, one line on stderr if it fails."""

import argparse
import logging
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, Final

from . import __version__
from .commands import fetch, model, precision, voice
from .commands.app import app_flags
from .commands.bench import bench
from .commands.doctor import doctor
from .commands.say import say
from .commands.serve import probe, serve
from .commands.text import text
from .commands.workspace import Workspace
from .errors import MossNanoError, SettingsError
from .server.endpoint import DEFAULT_PORT
from .settings import ENVIRONMENT_PREFIX, Settings, flag_name, setting
from .voices.file import read_voices_file

_MODEL_OPTIONS: Final = ("model", "data_dir", "voices", "voices_dir", "log_level")
_COMPILE_OPTIONS: Final = (*_MODEL_OPTIONS, "default_voice", "precision", "threads")
_SERVE_OPTIONS: Final = (
    "uri",
    "zeroconf",
    "no_zeroconf",
    "zeroconf_host",
    "model",
    "data_dir",
    "precision",
    "threads",
    "voices",
    "voices_dir",
    "default_voice",
    "seed",
    "sample_mode",
    "max_frames",
    "gain_db",
    "sentence_silence",
    "trailing_silence",
    "no_normalize",
    "samples_per_chunk",
    "no_streaming",
    "max_streams",
    "max_queue",
    "log_level",
    "log_format",
)
_SAY_OPTIONS: Final = (
    *_MODEL_OPTIONS[:2],
    "voices",
    "voices_dir",
    "default_voice",
    "precision",
    "threads",
    "seed",
    "sample_mode",
    "stereo",
    "max_frames",
    "gain_db",
    "sentence_silence",
    "trailing_silence",
    "no_normalize",
    "log_level",
)

_TEXT_OPTIONS: Final = (
    *_MODEL_OPTIONS[:2],
    "voices",
    "sentence_silence",
    "no_normalize",
    "log_level",
)

Command = Callable[[argparse.Namespace, Workspace], None]

_TOP_OPTIONS: Final = ("-h", "--help", "--version")
_DEFAULT_SERVER: Final = f"tcp://127.0.0.1:{DEFAULT_PORT}"

_EPILOG: Final = f"""\
Every option can also be set in the environment: --sample-mode greedy is
{ENVIRONMENT_PREFIX}SAMPLE_MODE=greedy. A flag wins over the environment.
"""

_SAY_EXAMPLES: Final = """\
examples:
  wyoming-moss-nano say "Dinner is ready." -o dinner.wav
  wyoming-moss-nano say "Dinner is ready." --voice max --seed 7
  date | wyoming-moss-nano say - -o date.wav
"""


_ADD_EXAMPLES: Final = """\
example:
  wyoming-moss-nano voice add anna anna.wav --authorized-by "Anna Berg" \\
      --statement "I agree that my voice is used for announcements in our house."
"""


def main(arguments: Sequence[str]) -> int:
    """Run one command; return 0, or 1 where it failed, or 2 where it was asked for wrongly."""
    parsed = _parser().parse_args(_with_command(arguments))
    try:
        workspace = _workspace(parsed)
        settings = workspace.settings
        logging.basicConfig(
            level=(settings.log_level or parsed.log_default).upper(),
            format=settings.log_format,
            stream=sys.stderr,
        )
        command: Command = parsed.command
        command(parsed, workspace)
    except SettingsError as error:
        return _fail(error, 2)
    except (MossNanoError, OSError) as error:
        return _fail(error, 1)
    except KeyboardInterrupt:
        return 130
    return 0


def _with_command(arguments: Sequence[str]) -> list[str]:
    """Return the arguments with ``serve``, the default, where they name no command."""
    if not arguments or (arguments[0].startswith("-") and arguments[0] not in _TOP_OPTIONS):
        return ["serve", *arguments]
    return list(arguments)


def _workspace(parsed: argparse.Namespace) -> Workspace:
    """Return the settings of all sources; flags and environment say where the voices file is."""
    flags = {f.name: getattr(parsed, f.name, None) for f in fields(Settings)}
    if flags["uri"] is not None:
        flags["uri"] = ",".join(flags["uri"])
    settings = Settings.resolve(flags, os.environ)
    voices_file = read_voices_file(settings.voices_file, needed=settings.voices is not None)
    return Workspace(Settings.resolve(flags, os.environ, voices_file.settings()))


def _fail(error: Exception, status: int) -> int:
    print(f"wyoming-moss-nano: {error}", file=sys.stderr)  # noqa: T201
    return status


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="wyoming-moss-nano",
        description="Private speech for the smart home: text in, a cloned voice out, on this CPU.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(metavar="COMMAND", required=True)

    server = _command(
        commands,
        "serve",
        serve,
        "serve Wyoming; this is what happens without a command",
        _SERVE_OPTIONS,
    )
    server.set_defaults(log_default="info")

    speak = _command(commands, "say", say, "speak a text into a WAV file", _SAY_OPTIONS)
    speak.epilog = _SAY_EXAMPLES + "\n" + _EPILOG
    _add_option(speak, "voice")
    speak.add_argument("text", metavar="TEXT", help="what to say; - reads standard input")
    speak.add_argument(
        "-o",
        dest="output",
        type=Path,
        metavar="FILE",
        help="the WAV file to write; without it, one named after the text",
    )

    app = _command(
        commands,
        "app-flags",
        app_flags,
        "print the flags that the options of the Home Assistant app make; its service runs this",
        ("data_dir", "voices_dir", "log_level"),
    )
    app.add_argument(
        "--options", type=Path, metavar="FILE", help="default: options.json in the data folder"
    )
    app.add_argument("--config", type=Path, default=Path("/config"), metavar="DIR")
    app.add_argument("--share", type=Path, default=Path("/share"), metavar="DIR")
    shown = _command(
        commands, "text", text, "print how a text is read, without speaking", _TEXT_OPTIONS
    )
    shown.add_argument("text", metavar="TEXT", help="the text; - reads standard input")
    shown.add_argument(
        "--language", default="en", metavar="CODE", help="whose rules to apply (default: en)"
    )
    shown.add_argument("--ssml", action="store_true", help="it is SSML, whatever it starts with")
    shown.add_argument("--json", action="store_true", help="for programs")

    asked = _command(commands, "probe", probe, "ask a server what it offers", ())
    asked.add_argument("server", nargs="?", default=_DEFAULT_SERVER, metavar="URI")

    compare = _command(
        commands,
        "bench",
        bench,
        "measure what each precision of the model costs on this machine",
        ("model", "data_dir", "voices", "voices_dir", "log_level"),
    )
    compare.set_defaults(log_default="info")
    compare.add_argument(
        "--bundle",
        default="",
        metavar="PATH|full-random",
        help="a model by its path, or one of the official size with random weights; default: "
        "the chosen model",
    )
    compare.add_argument(
        "--threads", type=int, default=1, metavar="N", help="of single steps (default: 1)"
    )
    compare.add_argument("--json", action="store_true", help="for programs")

    _command(
        commands,
        "doctor",
        doctor,
        "print what this machine is, how fast it speaks, and which settings suit it",
        ("model", "data_dir", "threads", "voices", "voices_dir", "default_voice", "log_level"),
    )

    _add_voice_commands(commands)
    _add_model_commands(commands)
    return parser


def _add_voice_commands(commands: Any) -> None:
    kept = ("data_dir", "voices_dir", "voices", "model", "threads", "log_level")
    parser = commands.add_parser(
        "voice", help="add and manage voices", description="Add and manage voices."
    )
    voices = parser.add_subparsers(metavar="COMMAND", required=True)

    add = _command(voices, "add", voice.add, "make a voice of a recording", kept)
    add.epilog = _ADD_EXAMPLES + "\n" + _EPILOG
    add.add_argument("name", metavar="NAME", help="lower-case letters, digits, - and _")
    add.add_argument("recording", metavar="RECORDING", type=Path, help="3 to 10 s of clear speech")
    add.add_argument(
        "--authorized-by", required=True, metavar="WHO", help="whose voice it is, or who may say so"
    )
    add.add_argument(
        "--statement", required=True, metavar="TEXT", help="in what words its use was allowed"
    )
    add.add_argument(
        "--language", default="en", metavar="CODES", help="such as en,de (default: en)"
    )
    add.add_argument("--description", default="", metavar="TEXT", help="what users see")
    add.add_argument(
        "--best", type=float, metavar="SECONDS", help="use the best stretch of this length"
    )
    add.add_argument(
        "--keep-recording",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="keep the prepared recording, so that another model can encode it",
    )

    _command(voices, "list", voice.list_voices, "print the voices that can speak", kept)

    show = _command(voices, "show", voice.show, "print what is kept of a voice", kept)
    show.add_argument("name", metavar="NAME")

    rename = _command(voices, "rename", voice.rename, "give a voice another name", kept)
    rename.add_argument("name", metavar="NAME")
    rename.add_argument("new_name", metavar="NEW_NAME")

    remove = _command(voices, "remove", voice.remove, "remove a voice and its recording", kept)
    remove.add_argument("name", metavar="NAME")
    remove.add_argument("--yes", action="store_true", help="do not ask")

    check = _command(voices, "check", voice.check, "tell whether a recording can be used", kept)
    check.add_argument("recording", metavar="RECORDING", type=Path)
    check.add_argument("--json", action="store_true", help="for programs")

    preview = _command(
        voices, "preview", voice.preview, "speak with a voice into a WAV file", _SAY_OPTIONS
    )
    preview.add_argument("name", metavar="NAME")
    preview.add_argument("text", metavar="TEXT")
    preview.add_argument("-o", dest="output", type=Path, required=True, metavar="FILE")


def _add_model_commands(commands: Any) -> None:
    look = commands.add_parser("model", help="look at models", description="Look at models.")
    models = look.add_subparsers(metavar="COMMAND", required=True)
    _command(
        models,
        "show",
        model.show,
        "print what the chosen model is and holds",
        (*_MODEL_OPTIONS, "precision"),
    )
    build = _command(
        models,
        "compile",
        precision.compile_model,
        "compile the chosen model for this machine and check what came out",
        _COMPILE_OPTIONS,
    )
    build.set_defaults(log_default="info")
    # where files lie is all these three need to know
    places = ("data_dir", "log_level")
    get = _command(models, "fetch", fetch.fetch, "fetch the official model", places)
    get.set_defaults(log_default="info")
    get.add_argument(
        "--from",
        dest="source",
        type=Path,
        metavar="DIR",
        help="copy its files from a folder, without a network",
    )
    get.add_argument(
        "--check", action="store_true", help="read the files that are there; fetch what differs"
    )
    _command(models, "verify", fetch.verify, "read the official model and check it", places)
    remove = _command(models, "remove", fetch.remove, "remove the official model", places)
    remove.add_argument(
        "--compiled", action="store_true", help="also remove what was compiled from models"
    )
    random = _command(
        models, "random", model.random, "write a model with random weights, for measuring", ()
    )
    random.add_argument("directory", nargs="?", type=Path, help="where; default: the user's cache")
    random.add_argument("--size", choices=("tiny", "official"), default="tiny")
    random.add_argument("--weights-seed", type=int, default=0, metavar="N", help="default: 0")


def _command(
    commands: Any,
    name: str,
    command: Command,
    help_text: str,
    options: Sequence[str],
) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        help=help_text,
        description=help_text[0].upper() + help_text[1:] + ".",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(command=command, log_default="warning")
    for option in options:
        _add_option(parser, option)
    return parser


def _add_option(parser: argparse.ArgumentParser, name: str) -> None:
    # values stay text here: Settings alone knows what each may be
    declared = setting(name)
    default = getattr(Settings(), name)
    help_text = declared.metadata["help"]
    if name == "uri":
        parser.add_argument(flag_name(name), action="append", metavar="URI", help=help_text)
        return
    if isinstance(default, bool) and name.startswith("no_"):
        parser.add_argument(flag_name(name), action="store_true", default=None, help=help_text)
        return
    if isinstance(default, bool):
        parser.add_argument(
            flag_name(name), action=argparse.BooleanOptionalAction, default=None, help=help_text
        )
        return
    parser.add_argument(
        flag_name(name),
        metavar=declared.metadata["metavar"],
        help=help_text if default in ("", None, ()) else _with_default(help_text, default),
    )


def _with_default(help_text: str, default: object) -> str:
    # argparse reads a per cent sign as the start of a conversion
    return f"{help_text} (default: {default})".replace("%", "%%")
