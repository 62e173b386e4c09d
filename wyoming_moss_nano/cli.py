"""The command line: arguments in, one function per subcommand, one line on stderr when it fails."""

import argparse
import asyncio
import logging
import os
import re
import signal
import sys
import tempfile
import wave
from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, Final

from . import __version__
from .embedded import REFERENCES_FOLDER
from .engine.pcm import Pcm
from .engine.scheduler import Scheduler
from .engine.speech import Engine, Recorder
from .errors import MossNanoError, ServerError, SettingsError
from .model.bundle import Bundle, read_bundle
from .model.choice import choose_bundle
from .model.digests import DigestStore
from .server.app import Announce, Server, ServerOptions
from .server.discovery import instance_name
from .server.endpoint import DEFAULT_PORT
from .server.probe import describe
from .server.reply import Voicebox
from .settings import ENVIRONMENT_PREFIX, Settings, flag_name, setting
from .voices.file import read_voices_file
from .voices.store import VoiceStore

_MODEL_OPTIONS: Final = ("model", "data_dir", "log_level")
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
    "samples_per_chunk",
    "no_streaming",
    "max_streams",
    "max_queue",
    "log_level",
    "log_format",
)
_SAY_OPTIONS: Final = (
    *_MODEL_OPTIONS[:2],
    "threads",
    "voice",
    "seed",
    "sample_mode",
    "stereo",
    "max_frames",
    "gain_db",
    "sentence_silence",
    "trailing_silence",
    "log_level",
)

_TOP_OPTIONS: Final = ("-h", "--help", "--version")
_DEFAULT_SERVER: Final = f"tcp://127.0.0.1:{DEFAULT_PORT}"

_FILE_NAME_LENGTH: Final = 40  # of a file named after its text, without the ending

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


def run() -> None:
    """Run the command line of this process and exit."""
    sys.exit(main(sys.argv[1:]))


def main(arguments: Sequence[str]) -> int:
    """Run one command; return 0, or 1 where it failed, or 2 where it was asked for wrongly."""
    parsed = _parser().parse_args(_with_command(arguments))
    try:
        settings = _settings(parsed)
        logging.basicConfig(
            level=(settings.log_level or parsed.log_default).upper(),
            format=settings.log_format,
            stream=sys.stderr,
        )
        command: Callable[[argparse.Namespace, Settings], None] = parsed.command
        command(parsed, settings)
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


def _settings(parsed: argparse.Namespace) -> Settings:
    """Return settings of all sources; flags and environment say where the voices file is."""
    flags = {f.name: getattr(parsed, f.name, None) for f in fields(Settings)}
    if flags["uri"] is not None:
        flags["uri"] = ",".join(flags["uri"])
    settings = Settings.resolve(flags, os.environ)
    parsed.voices_file = read_voices_file(settings.voices_file, needed=settings.voices is not None)
    return Settings.resolve(flags, os.environ, parsed.voices_file.settings())


def _fail(error: Exception, status: int) -> int:
    print(f"wyoming-moss-nano: {error}", file=sys.stderr)  # noqa: T201
    return status


def serve(parsed: argparse.Namespace, settings: Settings) -> None:
    """Serve Wyoming until told to stop."""
    # from here on, being told to stop is no failure, also while files are still being read
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    bundle = _bundle(settings)
    engine = Engine.load(bundle, settings.threads)
    voices = _voices(parsed, settings, engine)
    scheduler = Scheduler(
        engine,
        prepare=lambda: engine.warm_up(voices.get(voices.default).codes),
        max_streams=settings.max_streams,
        max_queue=settings.max_queue,
    )
    announce = None
    if not settings.no_zeroconf:
        announce = Announce(
            name=settings.zeroconf or instance_name(settings.data_dir),
            hosts=settings.zeroconf_host,
            asked_for=bool(settings.zeroconf),
        )
    options = ServerOptions(
        endpoints=settings.uri,
        samples_per_chunk=settings.samples_per_chunk,
        streaming=not settings.no_streaming,
        announce=announce,
    )
    # Wyoming's sound has one channel here, whatever --stereo is in the environment
    speech_options = replace(settings.speech_options(), stereo=False)
    voicebox = Voicebox(engine, scheduler, voices, speech_options)
    asyncio.run(Server(voicebox, options).run())
    if not scheduler.stopped:
        # a graph is still being loaded: native code that cannot be interrupted, and that crashes
        # when the interpreter is taken down around it
        logging.shutdown()
        os._exit(0)


def probe(parsed: argparse.Namespace, _settings: Settings) -> None:
    """Ask a server what it offers."""
    try:
        info = asyncio.run(describe(parsed.server))
    except (OSError, TimeoutError, ValueError) as error:
        raise ServerError(f"{parsed.server} does not answer: {error or 'no time left'}") from error
    for program in info.tts:
        _tell(f"{program.name} {program.version or ''}".strip())
        for voice in program.voices:
            state = "" if voice.installed else " (not installed)"
            _tell(f"  {voice.name}  {' '.join(voice.languages)}  {voice.description}{state}")


def say(parsed: argparse.Namespace, settings: Settings) -> None:
    """Speak a text into a WAV file."""
    text = sys.stdin.read() if parsed.text == "-" else parsed.text
    path = parsed.output or Path(_file_name(text))
    if not path.absolute().parent.is_dir():
        raise SettingsError(f"-o {path}: there is no folder {path.absolute().parent}")
    bundle = _bundle(settings)
    engine = Engine.load(bundle, settings.threads)
    voices = _voices(parsed, settings, engine)
    voice = voices.get(settings.voice or voices.default)
    options = settings.speech_options()
    chunks = engine.speak(text, voice.codes, options, Recorder())
    rate, channels = bundle.codec.sample_rate, bundle.codec.channels if options.stereo else 1
    seconds = _write_wav(path, chunks, rate, channels) / rate
    _tell(f"{path}: {seconds:.2f} s, voice {voice.name}, {bundle.rules.kind} model")


def model_show(parsed: argparse.Namespace, settings: Settings) -> None:
    """Print what the chosen model is and holds."""
    bundle = _bundle(settings)
    engine = Engine.load(bundle, settings.threads)
    voices = _voices(parsed, settings, engine)
    files = {*bundle.tts_graphs.files(), *bundle.codec_graphs.files(), bundle.tokenizer}
    size = sum(path.stat().st_size for path in files)
    config, codec = bundle.config, bundle.codec
    rows = {
        "model": f"{bundle.rules.kind}, in {bundle.directory}",
        "bundle id": bundle.bundle_id,
        "codec id": bundle.codec_id,
        "size": f"{size / 1e6:.1f} MB in {len(files)} files",
        "language model": f"{config.global_layers} global layers of {config.hidden_size}, "
        f"{config.local_layers} local, {config.vocab_size} tokens",
        "codec": f"{codec.sample_rate} Hz, {codec.channels} channels, "
        f"{codec.quantizers} codebooks of {max(config.codebook_sizes)}, "
        f"{codec.sample_rate / codec.downsample_rate:g} frames/s",
        "text": f"pieces of at most {bundle.rules.max_text_tokens} tokens",
        "precision": "exact",
        "languages": " ".join(bundle.rules.languages),
        "default voice": voices.default,
    }
    rows |= {f"voice {name}": voices.describe(name) for name in voices.names()}
    width = max(map(len, rows))
    _tell("\n".join(f"{label:<{width}}  {value}" for label, value in rows.items()))


def model_random(parsed: argparse.Namespace, _settings: Settings) -> None:
    """Write a bundle with random weights."""
    try:
        from .model import random_bundle  # noqa: PLC0415 - needs the extra
    except ImportError as error:
        raise SettingsError(
            f"random bundles need the package {error.name}: pip install 'wyoming-moss-nano[all]'"
        ) from error
    size = {"tiny": random_bundle.TINY, "official": random_bundle.OFFICIAL}[parsed.size]
    folder = parsed.directory or _cache_dir() / f"random-{parsed.size}-{parsed.weights_seed}"
    if not (folder / "complete").exists():
        random_bundle.build_random_bundle(folder, size, seed=parsed.weights_seed)
        (folder / "complete").touch()
    _tell(str(folder))


def _bundle(settings: Settings) -> Bundle:
    digests = DigestStore(settings.data_dir / "digests.json")
    return read_bundle(choose_bundle(settings.model, settings.data_dir), digests)


def _voices(parsed: argparse.Namespace, settings: Settings, engine: Engine) -> VoiceStore:
    return VoiceStore(
        engine.bundle,
        engine.codec,
        REFERENCES_FOLDER,
        settings.default_voice,
        parsed.voices_file.aliases,
    )


def _cache_dir() -> Path:
    base = os.environ.get("XDG_CACHE_HOME", "")
    home = Path(base) if base.startswith("/") else Path.home() / ".cache"
    return home / "wyoming-moss-nano"


def _file_name(text: str) -> str:
    words = re.sub(r"[^\w]+", "-", text[: 4 * _FILE_NAME_LENGTH]).strip("-").lower()
    return (words[:_FILE_NAME_LENGTH].strip("-") or "speech") + ".wav"


def _write_wav(path: Path, chunks: Iterable[Pcm], rate: int, channels: int) -> int:
    """Write 16-bit PCM under a name of its own until it is complete; return the samples written."""
    samples = 0
    with tempfile.NamedTemporaryFile(
        dir=path.absolute().parent, prefix=f".{path.name}.", delete=False
    ) as unfinished:
        try:
            with wave.open(unfinished, "wb") as file:
                file.setnchannels(channels)
                file.setsampwidth(2)
                file.setframerate(rate)
                for pcm in chunks:
                    file.writeframes(pcm.tobytes())
                    samples += len(pcm)
            Path(unfinished.name).chmod(0o666 & ~_umask())
            Path(unfinished.name).replace(path)
        except BaseException:
            Path(unfinished.name).unlink(missing_ok=True)
            raise
    return samples


def _umask() -> int:
    # it can only be read by setting it; nothing else of this process makes files meanwhile
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _tell(text: str) -> None:
    print(text)  # noqa: T201


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
    speak.add_argument("text", metavar="TEXT", help="what to say; - reads standard input")
    speak.add_argument(
        "-o",
        dest="output",
        type=Path,
        metavar="FILE",
        help="the WAV file to write; without it, one named after the text",
    )

    asked = _command(commands, "probe", probe, "ask a server what it offers", ())
    asked.add_argument("server", nargs="?", default=_DEFAULT_SERVER, metavar="URI")

    model = commands.add_parser("model", help="look at models", description="Look at models.")
    models = model.add_subparsers(metavar="COMMAND", required=True)
    _command(models, "show", model_show, "print what the chosen model is and holds", _MODEL_OPTIONS)
    random = _command(
        models, "random", model_random, "write a model with random weights, for measuring", ()
    )
    random.add_argument("directory", nargs="?", type=Path, help="where; default: the user's cache")
    random.add_argument("--size", choices=("tiny", "official"), default="tiny")
    random.add_argument("--weights-seed", type=int, default=0, metavar="N", help="default: 0")
    return parser


def _command(
    commands: Any,
    name: str,
    command: Callable[[argparse.Namespace, Settings], None],
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
