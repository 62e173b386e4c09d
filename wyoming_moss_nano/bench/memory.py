"""What a process that serves takes at most, read from the system."""

import asyncio
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Final

from wyoming.audio import AudioStop
from wyoming.client import AsyncClient
from wyoming.tts import Synthesize

from ..errors import ServerError
from ..model.bundle import Bundle
from ..model.sessions import Sessions
from .endless import BENCH_TEXT, EndlessEngine
from .streams import in_publishers_order

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


def serving(precision: str, arguments: list[str]) -> float:
    """Start a server, let it speak one request, and return its peak memory in MB.

    Args:
        precision: what it speaks with; graphs must be compiled already.
        arguments: further options of ``serve``.

    Raises:
        ServerError: it does not start, or does not speak.
    """
    with tempfile.TemporaryDirectory(prefix="moss-bench-") as folder:
        uri = f"unix://{folder}/server"
        command = [sys.executable, "-m", "wyoming_moss_nano", "serve", "--uri", uri]
        command += ["--precision", precision, "--no-zeroconf", "--log-level", "error", *arguments]
        server = subprocess.Popen(command)  # noqa: S603 - this program
        try:
            _wait_for(Path(folder, "server"), server)
            asyncio.run(_speak(uri))
            return peak_megabytes(str(server.pid))
        finally:
            server.terminate()
            server.wait()


def as_the_publisher(bundle: Bundle, threads: int, reference: Any, answer: Any) -> None:
    """Load all published graphs, speak one request, and send the peak memory in MB to ``answer``.

    Runs in a process of its own.
    """
    engine = EndlessEngine(bundle, threads, None)
    load_all(engine.sessions, bundle)
    in_publishers_order(engine, reference)
    answer.send(peak_megabytes())


def load_all(sessions: Sessions, bundle: Bundle) -> None:
    """Load every published graph, as the publisher's runtime does at its start."""
    for name in bundle.tts_graphs.paths:
        sessions.graph(name)
    for name in bundle.codec_graphs.paths:
        sessions.graph(f"codec_{name}")


def _wait_for(path: Path, server: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while not path.exists():
        if server.poll() is not None or time.monotonic() > deadline:
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
