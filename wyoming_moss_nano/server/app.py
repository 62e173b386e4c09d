"""The server's life: listen, load, announce, and on a signal end in good order."""

import asyncio
import ipaddress
import logging
import signal
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from wyoming.info import Info

from ..errors import ServerError
from .discovery import Advertiser, Announcement
from .endpoint import (
    Endpoint,
    StdioEndpoint,
    TcpEndpoint,
    UnixEndpoint,
    listen_tcp,
    listen_unix,
    open_stdio,
)
from .handler import Connection
from .info import build_info
from .reply import Voicebox

_LOGGER = logging.getLogger(__name__)

# From a signal to the end: what is being spoken may finish for so long, then it is cut.
FINISH_SECONDS: Final = 2.0
_TELL_SECONDS: Final = 0.5  # to tell clients that it was cut


@dataclass(frozen=True)
class ServerOptions:
    """How the server presents itself. ``announce`` says what name, if any, is announced."""

    endpoints: tuple[Endpoint, ...]
    samples_per_chunk: int
    streaming: bool
    announce: "Announce | None"


@dataclass(frozen=True)
class Announce:
    """A name to announce, addresses to announce instead of the machine's, and how eagerly.

    ``asked_for`` announces even a server that only this machine can reach.
    """

    name: str
    hosts: tuple[str, ...]
    asked_for: bool


class Server:
    """A Wyoming server over any number of endpoints."""

    def __init__(self, voicebox: Voicebox, options: ServerOptions) -> None:
        self._voicebox = voicebox
        self._options = options
        self._connections: set[Connection] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._listening: list[asyncio.Server] = []
        self._stop = asyncio.Event()

    async def run(self) -> None:
        """Serve until SIGTERM, SIGINT or the end of the only client on standard input.

        Raises:
            ServerError: an endpoint cannot be listened on.
        """
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._stop.set)
        advertiser = None
        try:
            bound = await self._listen()
            self._voicebox.scheduler.start()
            advertiser = self._advertiser(bound)
            if advertiser is not None:
                advertiser.start()
            await self._stop.wait()
        finally:
            await self._end(advertiser)

    async def _listen(self) -> list[tuple[str, int]]:
        """Open all endpoints; return host and port of every TCP socket."""
        for endpoint in self._options.endpoints:
            match endpoint:
                case TcpEndpoint():
                    self._listening += await listen_tcp(endpoint, self._accept)
                case UnixEndpoint():
                    self._listening.append(await listen_unix(endpoint, self._accept))
                case StdioEndpoint():
                    self._keep(asyncio.create_task(self._serve_stdio()))
        names = [socket.getsockname() for server in self._listening for socket in server.sockets]
        for name in names:
            _LOGGER.info("Listening on %s", _uri(name))
        return [(name[0], name[1]) for name in names if isinstance(name, tuple)]

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = self._connection(reader, writer)
        try:
            await connection.read()
        finally:
            self._connections.discard(connection)
            await connection.close()

    async def _serve_stdio(self) -> None:
        reader, writer = await open_stdio()
        connection = self._connection(reader, writer)
        try:
            await connection.read()
            # whoever pipes text in ends it before the sound is out
            await connection.finish()
        finally:
            self._connections.discard(connection)
            await connection.close()
            if not self._listening:
                self._stop.set()

    def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> Connection:
        connection = Connection(
            reader, writer, self._voicebox, self._info, self._options.samples_per_chunk
        )
        self._connections.add(connection)
        return connection

    def _info(self) -> Info:
        self._voicebox.voices.refresh()
        return build_info(
            self._voicebox.engine.bundle,
            self._voicebox.voices,
            streaming=self._options.streaming,
        )

    def _advertiser(self, bound: Sequence[tuple[str, int]]) -> Advertiser | None:
        announce = self._options.announce
        if announce is None or not bound:
            return None
        port = bound[0][1]
        hosts = tuple(host for host, its_port in bound if its_port == port)
        if not announce.asked_for and all(ipaddress.ip_address(host).is_loopback for host in hosts):
            return None
        return Advertiser(Announcement(announce.name, port, hosts, announce.hosts))

    def _keep(self, task: asyncio.Task[None]) -> None:
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _end(self, advertiser: Advertiser | None) -> None:
        for server in self._listening:
            server.close()
        withdrawn = asyncio.create_task(advertiser.stop()) if advertiser is not None else None
        if not await self._all_answered(FINISH_SECONDS):
            _LOGGER.warning("Cutting what is still being spoken")
            for connection in self._connections:
                connection.cut(ServerError("the server is stopping"))
            await self._all_answered(_TELL_SECONDS)
        for connection in list(self._connections):
            await connection.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if withdrawn is not None:
            await withdrawn
        await asyncio.to_thread(self._voicebox.scheduler.stop)
        for endpoint in self._options.endpoints:
            if isinstance(endpoint, UnixEndpoint) and self._listening:
                await asyncio.to_thread(Path(endpoint.path).unlink, missing_ok=True)

    async def _all_answered(self, seconds: float) -> bool:
        """Wait until no request is open, for so long at most; return whether none is."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + seconds
        while any(connection.busy for connection in self._connections):
            if loop.time() > deadline:
                return False
            await asyncio.sleep(0.05)
        return True


def _uri(name: tuple[str, int] | str) -> str:
    if isinstance(name, str):
        return f"unix://{name}"
    host, port = name[:2]
    return f"tcp://[{host}]:{port}" if ":" in host else f"tcp://{host}:{port}"
