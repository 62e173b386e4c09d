"""The subcommands about servers: serve, probe."""

import argparse
import asyncio
import logging
import os
import signal
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from ..engine.scheduler import Scheduler
from ..engine.speech import Engine
from ..errors import ServerError
from ..model.bundle import Bundle, missing_official_files
from ..model.download import fetch_model
from ..model.metadata import OFFICIAL_RULES
from ..model.progress import Progress, ProgressLog
from ..server.app import Announce, Server, ServerOptions
from ..server.discovery import instance_name
from ..server.probe import describe
from ..server.supply import Fetch, FetchingSupply, LocalSupply, Supply
from ..server.voicebox import Speaker, Voicebox
from ..settings import Settings
from ..voices.enrol import Encoder
from ..voices.store import VoiceStore
from .workspace import Workspace, tell


def serve(_parsed: argparse.Namespace, workspace: Workspace) -> None:
    """Serve Wyoming until told to stop."""
    # from here on, being told to stop is no failure, also while files are still being read
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    settings = workspace.settings
    # Wyoming's sound has one channel here, whatever --stereo is in the environment
    options = replace(settings.speech_options(), stereo=False)
    normalize = not settings.no_normalize
    ending = threading.Event()
    if settings.model == "official" and missing_official_files(workspace.models_folder):
        voices = workspace.official_voices()
        voicebox = Voicebox(voices, options, OFFICIAL_RULES.kind, normalize=normalize)
        supply: Supply = FetchingSupply(
            voicebox,
            _fetch(workspace.models_folder),
            lambda: _speaker(workspace.bundle(), voices, settings, ending),
        )
    else:
        bundle = workspace.bundle()
        voices = workspace.voices(bundle)
        voicebox = Voicebox(voices, options, bundle.rules.kind, normalize=normalize)
        supply = LocalSupply(voicebox, _speaker(bundle, voices, settings, ending))
    asyncio.run(Server(voicebox, supply, _server_options(settings)).run())
    ending.set()
    if not supply.stopped:
        # a graph is still being loaded: native code that cannot be interrupted, and that crashes
        # when the interpreter is taken down around it
        logging.shutdown()
        os._exit(0)


def _server_options(settings: Settings) -> ServerOptions:
    announce = None
    if not settings.no_zeroconf:
        announce = Announce(
            name=settings.zeroconf or instance_name(settings.data_dir),
            hosts=settings.zeroconf_host,
            asked_for=bool(settings.zeroconf),
        )
    return ServerOptions(
        endpoints=settings.uri,
        samples_per_chunk=settings.samples_per_chunk,
        streaming=not settings.no_streaming,
        announce=announce,
    )


def _speaker(
    bundle: Bundle, voices: VoiceStore, settings: Settings, ending: threading.Event
) -> Speaker:
    engine = Engine.load(bundle, settings.threads)
    encoder = Encoder(bundle, engine.codec)

    def prepare() -> None:
        engine.warm_up(voices.get(voices.default, encoder).codes)
        threading.Thread(
            target=voices.encode_recordings, args=(encoder, ending), name="enrolment"
        ).start()

    return Speaker(engine, Scheduler(engine, prepare, settings.max_streams, settings.max_queue))


def _fetch(models: Path) -> Fetch:
    def fetch(on_percent: Callable[[float], None], cancelled: threading.Event) -> None:
        log = ProgressLog()

        def on_progress(progress: Progress) -> None:
            log(progress)
            on_percent(progress.percent)

        fetch_model(models, on_progress=on_progress, cancelled=cancelled)

    return fetch


def probe(parsed: argparse.Namespace, _workspace: Workspace) -> None:
    """Ask a server what it offers."""
    uri: str = parsed.server
    if uri.startswith("unix://"):
        # the library's client wants an absolute path
        uri = f"unix://{Path(uri.removeprefix('unix://')).absolute()}"
    try:
        info = asyncio.run(describe(uri))
    except (OSError, TimeoutError, ValueError) as error:
        raise ServerError(f"{parsed.server} does not answer: {error or 'no time left'}") from error
    for program in info.tts:
        tell(f"{program.name} {program.version or ''}".strip())
        for voice in program.voices:
            state = "" if voice.installed else " (not installed)"
            tell(f"  {voice.name}  {' '.join(voice.languages)}  {voice.description}{state}")
