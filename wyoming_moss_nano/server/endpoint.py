"""Where the server listens: URIs, and the sockets they become."""

import asyncio
import errno
import socket
import stat
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from ..errors import ServerError, SettingsError
from .wire import MAX_HEADER_BYTES

DEFAULT_PORT: Final = 10200

Accept = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@dataclass(frozen=True)
class TcpEndpoint:
    """A TCP address; without a host, all addresses of both families."""

    host: str | None
    port: int

    def __str__(self) -> str:
        host = self.host or "*"
        return f"tcp://[{host}]:{self.port}" if ":" in host else f"tcp://{host}:{self.port}"


@dataclass(frozen=True)
class UnixEndpoint:
    """A Unix domain socket."""

    path: Path

    def __str__(self) -> str:
        return f"unix://{self.path}"


@dataclass(frozen=True)
class StdioEndpoint:
    """Standard input and output: one client."""

    def __str__(self) -> str:
        return "stdio://"


Endpoint = TcpEndpoint | UnixEndpoint | StdioEndpoint


def parse_endpoint(uri: str) -> Endpoint:
    """Return the endpoint of a URI: ``tcp://HOST:PORT``, ``unix://PATH`` or ``stdio://``.

    Raises:
        SettingsError: it is none of these.
    """
    try:
        parts = urlsplit(uri)
        port = parts.port
    except ValueError as error:
        raise SettingsError(f"{uri!r} is no URI: {error}") from None
    if parts.scheme == "tcp" and parts.hostname and port is not None:
        return TcpEndpoint(parts.hostname, port)
    path = parts.netloc + parts.path
    if parts.scheme == "unix" and path:
        return UnixEndpoint(Path(path))
    if parts.scheme == "stdio":
        return StdioEndpoint()
    raise SettingsError(f"{uri!r} must be tcp://HOST:PORT, unix://PATH or stdio://")


async def listen_tcp(endpoint: TcpEndpoint, accept: Accept) -> list[asyncio.Server]:
    """Listen on a TCP address, with a server for each family where no host is named.

    Raises:
        ServerError: the address is in use, or not of this machine.
    """
    try:
        if endpoint.host is None:
            return [
                await asyncio.start_server(accept, sock=bound, limit=MAX_HEADER_BYTES)
                for bound in _all_addresses(endpoint.port)
            ]
        server = await asyncio.start_server(
            accept, endpoint.host, endpoint.port, limit=MAX_HEADER_BYTES
        )
    except OSError as error:
        raise ServerError(f"cannot listen on {endpoint}: {error.strerror or error}") from error
    return [server]


async def listen_unix(endpoint: UnixEndpoint, accept: Accept) -> asyncio.Server:
    """Listen on a Unix domain socket; a socket that a dead server left behind is replaced.

    Raises:
        ServerError: a living server has it, or something else is there.
    """
    try:
        await asyncio.to_thread(_clear_dead_socket, endpoint.path)
        return await asyncio.start_unix_server(accept, endpoint.path, limit=MAX_HEADER_BYTES)
    except OSError as error:
        raise ServerError(f"cannot listen on {endpoint}: {error.strerror or error}") from error


def _all_addresses(port: int) -> list[socket.socket]:
    """Bind all IPv4 addresses, and where there is IPv6 all of that, on one port."""
    ipv4 = socket.create_server(("0.0.0.0", port))  # noqa: S104 - what the user asked for
    sockets = [ipv4]
    try:
        port = ipv4.getsockname()[1]
        sockets.append(socket.create_server(("::", port), family=socket.AF_INET6))
    except OSError as error:
        if error.errno not in (errno.EAFNOSUPPORT, errno.EADDRNOTAVAIL):
            ipv4.close()
            raise
    return sockets


def _clear_dead_socket(path: Path) -> None:
    try:
        if not stat.S_ISSOCK(path.stat().st_mode):
            raise FileExistsError(errno.EEXIST, "something that is no socket is there")
    except FileNotFoundError:
        return
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.connect(str(path))
        except ConnectionRefusedError:
            path.unlink()
        else:
            raise OSError(errno.EADDRINUSE, "another server listens there")
