"""The subcommands about servers: serve, probe."""

import argparse
import asyncio
import logging
import os
import signal
import sys
from dataclasses import replace

from ..engine.scheduler import Scheduler
from ..engine.speech import Engine
from ..errors import ServerError
from ..server.app import Announce, Server, ServerOptions
from ..server.discovery import instance_name
from ..server.probe import describe
from ..server.reply import Voicebox
from ..voices.enrol import Encoder
from .workspace import Workspace, tell


def serve(_parsed: argparse.Namespace, workspace: Workspace) -> None:
    """Serve Wyoming until told to stop."""
    # from here on, being told to stop is no failure, also while files are still being read
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    settings, bundle = workspace.settings, workspace.bundle()
    engine = Engine.load(bundle, settings.threads)
    voices = workspace.voices(bundle)
    scheduler = Scheduler(
        engine,
        prepare=lambda: engine.warm_up(
            voices.get(voices.default, Encoder(bundle, engine.codec)).codes
        ),
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


def probe(parsed: argparse.Namespace, _workspace: Workspace) -> None:
    """Ask a server what it offers."""
    try:
        info = asyncio.run(describe(parsed.server))
    except (OSError, TimeoutError, ValueError) as error:
        raise ServerError(f"{parsed.server} does not answer: {error or 'no time left'}") from error
    for program in info.tts:
        tell(f"{program.name} {program.version or ''}".strip())
        for voice in program.voices:
            state = "" if voice.installed else " (not installed)"
            tell(f"  {voice.name}  {' '.join(voice.languages)}  {voice.description}{state}")
