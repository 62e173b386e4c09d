"""The subcommand say: a text into a WAV file."""

import argparse
import os
import re
import sys
import tempfile
import wave
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from ..engine.pace import Recorder
from ..engine.pcm import Pcm
from ..errors import SettingsError
from ..text.reading import Reading
from ..voices.enrol import Encoder
from .precision import engine_for
from .workspace import Workspace, tell

_FILE_NAME_LENGTH: Final = 40  # of a file named after its text, without the ending


def say(parsed: argparse.Namespace, workspace: Workspace) -> None:
    """Speak a text into a WAV file."""
    text = sys.stdin.read() if parsed.text == "-" else parsed.text
    path = parsed.output or Path(_file_name(text))
    speak_to_file(text, workspace.settings.voice, path, workspace)


def speak_to_file(text: str, voice_name: str, path: Path, workspace: Workspace) -> None:
    """Speak a text into a WAV file; without a voice's name, with the default voice."""
    if not path.absolute().parent.is_dir():
        raise SettingsError(f"-o {path}: there is no folder {path.absolute().parent}")
    settings, bundle = workspace.settings, workspace.bundle()
    engine = engine_for(workspace, bundle)
    voices = workspace.voices(bundle)
    voice = voices.get(voice_name or voices.default, Encoder(bundle, engine.codec))
    options = settings.speech_options()
    reading = Reading(
        voices.language(voice_name or voices.default),
        normalize=not settings.no_normalize,
        pronounce=voices.pronunciations(voices.language(voice_name or voices.default)),
    )
    chunks = engine.speak(text, voice.codes, options, Recorder(), reading)
    rate, channels = bundle.codec.sample_rate, bundle.codec.channels if options.stereo else 1
    seconds = _write_wav(path, chunks, rate, channels) / rate
    model = f"{bundle.rules.kind} model, {engine.precision}"
    tell(f"{path}: {seconds:.2f} s, voice {voice.name}, {model}")


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
