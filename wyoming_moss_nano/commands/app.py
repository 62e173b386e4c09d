"""The subcommand of the Home Assistant app: its options as flags, one a line, for its service."""

import argparse
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import yaml

from ..app_options import (
    Folders,
    merge_voices,
    read_options,
    usable_settings,
    usable_voices,
)
from ..errors import BundleError, VoiceError
from ..settings import Settings, flag_name
from ..voices.voice_file import write_private
from .workspace import Workspace, tell

_LOGGER = logging.getLogger(__name__)


def app_flags(parsed: argparse.Namespace, workspace: Workspace) -> None:
    """Write the voices file, print the flags of ``serve``, log what of the options is wrong."""
    data_dir = workspace.settings.data_dir
    folders = Folders(parsed.config, parsed.share)
    options = read_options(parsed.options or data_dir / "options.json")
    chosen = usable_settings(options)
    listed = merge_voices(folders.voices_file, usable_voices(options, folders))
    wanted_voices = {
        "Option default_voice": chosen.pop("default_voice", ""),
        f"{folders.voices_file}: default_voice": listed.pop("default_voice", None) or "",
    }
    voices = data_dir / "voices.yaml"
    text = yaml.safe_dump(listed, allow_unicode=True, sort_keys=False)
    write_private(voices, lambda file: file.write_text(text, encoding="utf-8"))
    model = chosen.get("model", workspace.settings.model)
    settings = replace(workspace.settings, voices=voices, model=model)
    for source, name in wanted_voices.items():
        if name and "default_voice" not in chosen and _is_known(name, source, settings):
            chosen["default_voice"] = name
    for name, value in chosen.items():
        tell(f"{flag_name(name)}={value}")
    tell(f"--voices={voices}")


def _is_known(name: str, source: str, settings: Settings) -> bool:
    """Return whether the server will know a voice; log where an unknown one comes from."""
    try:
        _check_default_voice(replace(settings, default_voice=name))
    except VoiceError as error:
        _LOGGER.error("%s is not used: %s", source, error)  # noqa: TRY400 - one line
        return False
    return True


def _check_default_voice(settings: Settings) -> None:
    """Raise VoiceError unless the server will know the default voice."""
    workspace = Workspace(settings)
    with _unheard():
        if settings.model == "official":
            workspace.official_voices()
            return
        try:
            bundle = workspace.bundle()
        except BundleError:
            # a model that cannot be used is the server's to say
            return
        workspace.voices(bundle)


@contextmanager
def _unheard() -> Iterator[None]:
    """Keep what the server is about to say of other voices from being said twice."""
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(logging.NOTSET)
