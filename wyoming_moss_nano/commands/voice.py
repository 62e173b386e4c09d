"""The subcommands about voices: add, list, show, rename, remove, check, preview."""

import argparse
import json
import sys
from dataclasses import replace
from pathlib import Path

from ..engine.speech import Engine
from ..errors import SettingsError, VoiceError
from ..model.bundle import Bundle
from ..voices.enrol import REFERENCE_LUFS, Encoder, enrol, now
from ..voices.file import parse_languages
from ..voices.judgement import Judgement, judge
from ..voices.recording import write_recording
from ..voices.voice_file import (
    Authorization,
    VoiceFile,
    check_free,
    check_name,
    read_voice,
    recording_path,
    voice_path,
    write_private,
    write_voice,
)
from .say import speak_to_file
from .workspace import Workspace, tell


def add(parsed: argparse.Namespace, workspace: Workspace) -> None:
    """Make a voice of a recording and keep it."""
    bundle = workspace.bundle()
    languages = parse_languages(parsed.language)
    workspace.voices(bundle).check_new_name(parsed.name, languages)
    path = check_free(workspace.places.voices_dir, parsed.name)
    encoder = _encoder(bundle, workspace)
    made = enrol(
        encoder,
        parsed.recording,
        parsed.name,
        languages,
        parsed.description or parsed.name.capitalize(),
        Authorization(parsed.authorized_by, now(), parsed.statement),
        parsed.best,
    )
    if parsed.keep_recording:
        write_private(
            recording_path(path),
            lambda file: write_recording(file, made.recording, encoder.sample_rate),
        )
    try:
        write_voice(path, made.voice)
    except BaseException:
        recording_path(path).unlink(missing_ok=True)
        raise
    tell(
        f"{path}: voice {parsed.name}, {made.voice.seconds:.1f} s, {len(made.voice.codes)} frames, "
        f"{REFERENCE_LUFS:g} LUFS (was {made.judgement.loudness_lufs:.1f})"
    )
    for hint in made.judgement.hints:
        tell(f"hint: {hint}")


def list_voices(_parsed: argparse.Namespace, workspace: Workspace) -> None:
    """Print the voices that can speak."""
    voices = workspace.voices(workspace.bundle())
    names = voices.names()
    width = max(map(len, names))
    for name in names:
        mark = "*" if name == voices.default else " "
        tell(f"{mark} {name:<{width}}  {voices.describe(name)}")


def show(parsed: argparse.Namespace, workspace: Workspace) -> None:
    """Print what is kept of a voice, but for its codes."""
    path, voice = _own_voice(workspace, parsed.name)
    recording = recording_path(path)
    rows = {
        "voice": voice.name,
        "languages": " ".join(voice.languages),
        "description": voice.description,
        "file": str(path),
        "recording": str(recording) if recording.is_file() else "not kept",
        "length": f"{voice.seconds:.1f} s, {len(voice.codes)} frames",
        "loudness": f"{voice.loudness_lufs:.1f} LUFS as it was brought",
        "recording id": voice.recording_sha256,
        "codec id": voice.codec_id,
        "authorised by": voice.authorization.by,
        "authorised at": voice.authorization.at,
        "statement": voice.authorization.statement,
    }
    width = max(map(len, rows))
    tell("\n".join(f"{label:<{width}}  {value}" for label, value in rows.items()))


def rename(parsed: argparse.Namespace, workspace: Workspace) -> None:
    """Give a voice another name."""
    path, voice = _own_voice(workspace, parsed.name)
    workspace.voices(workspace.bundle()).check_new_name(parsed.new_name, voice.languages)
    new_path = check_free(path.parent, parsed.new_name)
    write_voice(new_path, replace(voice, name=parsed.new_name))
    if recording_path(path).is_file():
        recording_path(path).rename(recording_path(new_path))
    path.unlink()
    tell(f"{new_path}: voice {parsed.new_name}")


def remove(parsed: argparse.Namespace, workspace: Workspace) -> None:
    """Remove a voice and its recording, after a question."""
    # a voice that cannot be read any more can still be removed
    path = voice_path(workspace.places.voices_dir, check_name(parsed.name))
    if not path.is_file():
        raise VoiceError(f"there is no enrolled voice {parsed.name!r} in {path.parent}")
    if not parsed.yes:
        _confirm(f"Remove voice {parsed.name} and its recording for good?")
    recording_path(path).unlink(missing_ok=True)
    path.unlink()
    tell(f"voice {parsed.name} is removed")


def check(parsed: argparse.Namespace, workspace: Workspace) -> None:
    """Print whether a recording can be a reference."""
    encoder = _encoder(workspace.bundle(), workspace)
    recording = encoder.read(parsed.recording)
    judgement = judge(recording.sound, encoder.sample_rate, recording.clipped)
    tell(json.dumps(judgement.as_json(), indent=2) if parsed.json else _in_words(judgement))
    if not judgement.usable:
        raise VoiceError(f"{parsed.recording} cannot be a reference")


def preview(parsed: argparse.Namespace, workspace: Workspace) -> None:
    """Speak a text with a voice into a WAV file."""
    speak_to_file(parsed.text, parsed.name, parsed.output, workspace)


def _encoder(bundle: Bundle, workspace: Workspace) -> Encoder:
    return Encoder(bundle, Engine.load(bundle, workspace.settings.threads).codec)


def _own_voice(workspace: Workspace, name: str) -> tuple[Path, VoiceFile]:
    path = voice_path(workspace.places.voices_dir, check_name(name))
    if not path.is_file():
        raise VoiceError(f"there is no enrolled voice {name!r} in {path.parent}")
    return path, read_voice(path)


def _confirm(question: str) -> None:
    if not sys.stdin.isatty():
        raise SettingsError("nobody can be asked here: say --yes to remove without a question")
    try:
        answer = input(f"{question} [y/N] ")
    except EOFError:
        answer = ""
    if answer.strip().lower() not in ("y", "yes"):
        raise VoiceError("nothing was removed")


def _in_words(judgement: Judgement) -> str:
    lines = [
        f"speech          {judgement.seconds:.1f} s ({judgement.trimmed_seconds:.1f} s trimmed)",
        f"loudness        {judgement.loudness_lufs:.1f} LUFS",
        f"peak            {judgement.peak:.3f} of full scale",
        f"clipped         {judgement.clipped:.2%} of samples",
        f"speech to noise {judgement.speech_to_noise_db:.0f} dB",
    ]
    lines += [f"problem: {problem}" for problem in judgement.problems]
    lines += [f"hint: {hint}" for hint in judgement.hints]
    return "\n".join([*lines, "usable" if judgement.usable else "not usable"])
