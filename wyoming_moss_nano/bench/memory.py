"""What a process that serves takes at most, read from the system."""

import asyncio
import multiprocessing
import re
import tempfile
import time
from dataclasses import dataclass
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Final

from wyoming.audio import AudioStop
from wyoming.client import AsyncClient
from wyoming.tts import Synthesize

from ..engine.scheduler import Scheduler
from ..errors import ServerError
from ..model.bundle import Bundle
from ..model.compiled import Compiled
from ..model.sessions import Sessions
from ..server.app import Server, ServerOptions
from ..server.endpoint import UnixEndpoint
from ..server.supply import LocalSupply
from ..server.voicebox import Speaker, Voicebox
from ..voices.enrol import Encoder
from ..voices.store import Places, VoiceStore
from .endless import BENCH_TEXT, EndlessEngine

_START_SECONDS: Final = 120.0
_BEAT_SECONDS: Final = 0.1


def peak_megabytes(process: str = "self") -> float:
    """Return the most memory a process has had at once; in MB of 10**6 bytes.

    Raises:
        ServerError: the system does not tell, or the process is gone.
    """
    try:
        status = Path(f"/proc/{process}/status").read_text(encoding="ascii")
    except OSError as error:
        raise ServerError(f"cannot read the memory of process {process}: {error}") from error
    found = re.search(r"^VmHWM:\s+(\d+) kB", status, re.MULTILINE)
    if found is None:
        raise ServerError("this system does not tell the peak memory of a process")
    return int(found.group(1)) * 1024 / 1e6


@dataclass(frozen=True)
class ServedModel:
    """What a measured server speaks with; ``compiled`` is None for the published graphs."""

    bundle: Bundle
    compiled: Compiled | None
    threads: int
    places: Places


def serving(model: ServedModel) -> float:
    """Return the peak memory in MB of a server process that speaks one request.

    It is a real server on a socket, but for the length of what it says. With the published graphs
    it loads all of them at its start, as the publisher's runtime does.

    Raises:
        ServerError: it does not start, or does not speak.
    """
    with tempfile.TemporaryDirectory(prefix="moss-bench-") as folder:
        socket = Path(folder, "server")
        context = multiprocessing.get_context("spawn")
        server = context.Process(target=_serve, args=(model, socket), daemon=True)
        server.start()
        try:
            _wait_for(socket, server)
            asyncio.run(_speak(f"unix://{socket}"))
            return peak_megabytes(str(server.pid))
        finally:
            server.terminate()
            server.join()


def _serve(model: ServedModel, socket: Path) -> None:
    bundle = model.bundle
    engine = EndlessEngine(bundle, model.threads, model.compiled)
    voices = VoiceStore({}, bundle.rules.languages, bundle.codec_id, model.places)

    def prepare() -> None:
        if model.compiled is None:
            load_all(engine.sessions, bundle)
        engine.warm_up(voices.get(voices.default, Encoder(bundle, engine.codec)).codes)

    scheduler = Scheduler(engine, prepare, max_streams=4, max_queue=4)
    voicebox = Voicebox(voices, engine.options(), bundle.rules.kind)
    supply = LocalSupply(voicebox, Speaker(engine, scheduler))
    options = ServerOptions((UnixEndpoint(socket),), 3840, streaming=True, announce=None)
    asyncio.run(Server(voicebox, supply, options).run())


def load_all(sessions: Sessions, bundle: Bundle) -> None:
    """Load every published graph, as the publisher's runtime does at its start."""
    for name in bundle.tts_graphs.paths:
        sessions.graph(name)
    for name in bundle.codec_graphs.paths:
        sessions.graph(f"codec_{name}")


def _wait_for(path: Path, server: BaseProcess) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while not path.exists():
        if server.exitcode is not None or time.monotonic() > deadline:
            raise ServerError("the server to be measured did not start: its log says why")
        time.sleep(_BEAT_SECONDS)


async def _speak(uri: str) -> None:
    async with AsyncClient.from_uri(uri) as client:
        await client.write_event(Synthesize(text=BENCH_TEXT).event())
        while (event := await client.read_event()) is not None:
            if event.type == "error":
                raise ServerError(f"the server to be measured says: {event.data.get('text')}")
            if AudioStop.is_type(event.type):
                return
    raise ServerError("the server to be measured hung up")
