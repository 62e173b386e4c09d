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
from ..errors import BundleError, ServerError
from ..machine import share_heap
from ..model.bundle import missing_official_files
from ..model.download import fetch_model
from ..model.metadata import OFFICIAL_RULES
from ..model.progress import Progress, ProgressLog
from ..server.app import Announce, Server, ServerOptions
from ..server.discovery import instance_name
from ..server.probe import describe
from ..server.supply import Fetch, FetchingSupply, ImprovingSupply, LocalSupply, Supply
from ..server.voicebox import Speaker, Voicebox
from ..settings import Settings
from ..voices.enrol import Encoder
from ..voices.store import VoiceStore
from .precision import Precision, ProgressLines
from .workspace import Workspace, tell

_LOGGER = logging.getLogger(__name__)


def serve(_parsed: argparse.Namespace, workspace: Workspace) -> None:
    """Serve Wyoming until told to stop."""
    # from here on, being told to stop is no failure, also while files are still being read
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    share_heap()
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
            lambda: _first_speaker(workspace, voices, ending),
        )
    else:
        bundle = workspace.bundle()
        voices = workspace.voices(bundle)
        voicebox = Voicebox(voices, options, bundle.rules.kind, normalize=normalize)
        supply = LocalSupply(voicebox, _first_speaker(workspace, voices, ending))
    supply = ImprovingSupply(
        voicebox, supply, lambda given_up: _better(workspace, voicebox, given_up)
    )
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


def _first_speaker(workspace: Workspace, voices: VoiceStore, ending: threading.Event) -> Speaker:
    """Return what speaks with the graphs that are on disk now."""
    bundle = workspace.bundle()
    precision = Precision(workspace, bundle)
    engine = precision.engine()
    encoder = Encoder(bundle, engine.codec)
    enrolment = threading.Thread(
        target=voices.encode_recordings, args=(encoder, ending), name="enrolment"
    )

    def prepare() -> None:
        # graphs that are about to be replaced are loaded only if somebody asks for speech meanwhile
        if not precision.missing():
            engine.warm_up(voices.get(voices.default, encoder).codes)
        if engine.precision != "exact":
            _LOGGER.info("Speaking with precision %s", engine.precision)
        enrolment.start()

    return _speaker(engine, prepare, workspace.settings)


def _better(workspace: Workspace, voicebox: Voicebox, given_up: threading.Event) -> Speaker | None:
    """Compile what the settings want compiled; return what speaks with it, if that is needed."""
    precision = Precision(workspace, workspace.bundle())

    def warm_up(engine: Engine) -> None:
        engine.warm_up(voicebox.reference(voicebox.voices.default, engine))

    if not precision.missing():
        precision.tell_reason()
        return None
    try:
        if not precision.compile(ProgressLines(), given_up):
            return None
    except BundleError as error:
        _LOGGER.warning("Speaking with --precision exact: %s", error)
        warm_up(voicebox.speaker().engine)
        return None
    engine = precision.engine()
    return _speaker(engine, lambda: warm_up(engine), workspace.settings)


def _speaker(engine: Engine, prepare: Callable[[], None], settings: Settings) -> Speaker:
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
