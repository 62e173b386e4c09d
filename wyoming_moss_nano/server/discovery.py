"""Being found: the server's real addresses, announced over mDNS and DNS-SD.

Home Assistant connects to the announced address and remembers the instance name, so addresses are
those of interfaces that are bound, and the name stays the same over restarts.
"""

import asyncio
import ipaddress
import logging
import secrets
import uuid
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import ifaddr
from zeroconf import Error as ZeroconfError
from zeroconf import InterfaceChoice, IPVersion, ServiceInfo
from zeroconf.asyncio import AsyncZeroconf

_LOGGER = logging.getLogger(__name__)

SERVICE_TYPE: Final = "_wyoming._tcp.local."

_ID_FILE: Final = "zeroconf-id"
_CHECK_SECONDS: Final = 15.0  # between looks at the machine's addresses

Address = ipaddress.IPv4Address | ipaddress.IPv6Address


@dataclass(frozen=True)
class Announcement:
    """What is announced: an instance name, a port, and the hosts the server is bound to.

    ``fixed`` are addresses to announce instead of the machine's own.
    """

    name: str
    port: int
    bound: tuple[str, ...]
    fixed: tuple[str, ...] = ()

    def addresses(self) -> list[Address]:
        """Return the addresses under which the server can be reached now, sorted."""
        if self.fixed:
            return sorted_addresses(map(ipaddress.ip_address, self.fixed))
        return reachable(self.bound, machine_addresses())


class Advertiser:
    """Announces the server until ``stop``, again whenever the machine's addresses change.

    Failing to announce is a warning: a server that cannot be found can still be told.
    """

    def __init__(self, announcement: Announcement, check_seconds: float = _CHECK_SECONDS) -> None:
        self._announcement = announcement
        self._check_seconds = check_seconds
        # A host name nobody else has: servers that share one are taken for one machine, and a
        # client of the one is sent to the other. Clients remember the instance name, not this.
        self._host = f"moss-nano-{secrets.token_hex(8)}.local."
        self._zeroconf: AsyncZeroconf | None = None
        self._task: asyncio.Task[None] | None = None
        self._warning = ""

    def start(self) -> None:
        """Begin to announce, in the background."""
        self._task = asyncio.create_task(self._keep_announced())

    async def stop(self) -> None:
        """Take the announcement back."""
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task
        await self._withdraw()

    async def _keep_announced(self) -> None:
        announced: list[Address] = []
        while True:
            addresses = await self._addresses()
            if not addresses:
                # the sockets are bound to what has gone
                await self._withdraw()
                announced = []
            elif addresses != announced:
                await self._withdraw()
                # what failed is tried again: a network may be late
                announced = addresses if await self._announce(addresses) else []
            await asyncio.sleep(self._check_seconds)

    async def _addresses(self) -> list[Address]:
        try:
            addresses = await asyncio.to_thread(self._announcement.addresses)
        except OSError as error:
            self._warn(f"This machine does not tell its addresses: {error}")
            return []
        if not addresses:
            self._warn("This machine has no address to announce; waiting for one")
        return addresses

    async def _announce(self, addresses: Sequence[Address]) -> bool:
        """Announce addresses; return whether they are."""
        announcement = self._announcement
        info = ServiceInfo(
            SERVICE_TYPE,
            f"{announcement.name}.{SERVICE_TYPE}",
            port=announcement.port,
            addresses=[address.packed for address in addresses],
            server=self._host,
        )
        try:
            self._zeroconf = AsyncZeroconf(
                interfaces=InterfaceChoice.All, ip_version=_ip_version(addresses)
            )
            # another server of this name makes this one take the next free name
            await (await self._zeroconf.async_register_service(info, allow_name_change=True))
        except (OSError, ZeroconfError) as error:
            self._warn(f"Home Assistant cannot find this server by itself: {error!r}")
            await self._withdraw()
            return False
        self._warning = ""
        _LOGGER.info(
            "Announced as %s at %s",
            info.name.removesuffix(f".{SERVICE_TYPE}"),
            ", ".join(map(str, addresses)),
        )
        return True

    def _warn(self, warning: str) -> None:
        """Log a warning that is not the last one."""
        if warning != self._warning:
            self._warning = warning
            _LOGGER.warning("%s", warning)

    async def _withdraw(self) -> None:
        zeroconf, self._zeroconf = self._zeroconf, None
        if zeroconf is None:
            return
        try:
            await zeroconf.async_unregister_all_services()
        except (OSError, ZeroconfError) as error:
            _LOGGER.debug("Could not take the announcement back: %r", error)
        await zeroconf.async_close()


def instance_name(data_dir: Path) -> str:
    """Return a name that no other machine has and that stays: ``moss-nano-<8 hex digits>``.

    It is kept in the data folder; where that cannot be written, the machine's hardware address
    gives one.
    """
    file = data_dir / _ID_FILE
    try:
        kept = file.read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        kept = ""
    if not kept.isalnum():
        kept = secrets.token_hex(4)
        try:
            data_dir.mkdir(parents=True, exist_ok=True)
            file.write_text(f"{kept}\n", encoding="ascii")
        except OSError as error:
            _LOGGER.warning("The server's name cannot be kept in %s: %s", file, error.strerror)
            kept = f"{uuid.getnode() & 0xFFFFFFFF:08x}"
    return f"moss-nano-{kept}"


def machine_addresses() -> list[Address]:
    """Return all addresses of this machine's interfaces."""
    found = []
    for adapter in ifaddr.get_adapters():
        for ip in adapter.ips:
            text = ip.ip if isinstance(ip.ip, str) else ip.ip[0]
            found.append(ipaddress.ip_address(text))
    return found


def reachable(bound: Iterable[str], machine: Iterable[Address]) -> list[Address]:
    """Return under which of a machine's addresses a server bound to hosts is reached, sorted.

    A host that stands for all addresses of a family gives those that other machines can use.
    """
    machine = list(machine)
    addresses: set[Address] = set()
    for host in map(ipaddress.ip_address, bound):
        if host.is_unspecified:
            addresses.update(
                address
                for address in machine
                if address.version == host.version
                and not (address.is_loopback or address.is_link_local)
            )
        else:
            addresses.add(host)
    return sorted_addresses(addresses)


def sorted_addresses(addresses: Iterable[Address]) -> list[Address]:
    """Return addresses with IPv4 first, which every client can use."""
    return sorted(addresses, key=lambda address: (address.version, address.packed))


def _ip_version(addresses: Iterable[Address]) -> IPVersion:
    versions = {address.version for address in addresses}
    return IPVersion.V4Only if versions == {4} else IPVersion.All
