"""The server's life: listen, load, announce, and on a signal end in good order."""

import asyncio
import ipaddress
import logging
import signal
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

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
)
from .handler import Connection
from .info import build_info
from .stdio import StandardStreams
from .supply import Supply
from .voicebox import Voicebox

if TYPE_CHECKING:
    from pathlib import Path

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

    def __init__(self, voicebox: Voicebox, supply: Supply, options: ServerOptions) -> None:
        self._voicebox = voicebox
        self._supply = supply
        self._options = options
        self._connections: set[Connection] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._listening: list[asyncio.Server] = []
        self._socket_files: dict[Path, int] = {}
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
            self._supply.start()
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
                    self._socket_files[endpoint.path] = endpoint.path.stat().st_ino
                case StdioEndpoint():
                    self._keep(asyncio.create_task(self._serve_stdio()))
        names = [socket.getsockname() for server in self._listening for socket in server.sockets]
        for name in names:
            _LOGGER.info("Listening on %s", _uri(name))
        return [(name[0], name[1]) for name in names if isinstance(name, tuple)]

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # asyncio's own callback complains of a task that was cancelled: this one ends by itself
        task = asyncio.create_task(self._serve(self._connection(reader, writer)))
        self._keep(task)
        await asyncio.wait([task])

    async def _serve(self, connection: Connection) -> None:
        try:
            await connection.read()
        finally:
            self._connections.discard(connection)
            await connection.close()

    async def _serve_stdio(self) -> None:
        streams = await StandardStreams.open()
        connection = self._connection(streams.reader, streams.writer)
        try:
            await connection.read()
            # whoever pipes text in ends it before the sound is out
            await connection.finish()
        finally:
            self._connections.discard(connection)
            await connection.close()
            await streams.flushed()
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
            self._voicebox.kind,
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
        self._remove_socket_files()
        withdrawn = asyncio.create_task(advertiser.stop()) if advertiser is not None else None
        if not await self._all_answered(FINISH_SECONDS):
            _LOGGER.warning("Cutting what is still being spoken")
            for connection in self._connections:
                connection.cut(ServerError("the server is stopping"))
            await self._all_answered(_TELL_SECONDS)
        await asyncio.gather(*(connection.close() for connection in list(self._connections)))
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=_TELL_SECONDS)
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if withdrawn is not None:
            await withdrawn
        await asyncio.to_thread(self._supply.stop)

    def _remove_socket_files(self) -> None:
        """Remove our socket files; a server that took over has put its own there."""
        for path, number in self._socket_files.items():
            with suppress(FileNotFoundError):
                if path.stat().st_ino == number:
                    path.unlink()

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
