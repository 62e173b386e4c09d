"""Which addresses are announced, and under what name."""

import asyncio
import ipaddress
import logging

import pytest
from zeroconf import NonUniqueNameException

from wyoming_moss_nano.server import discovery
from wyoming_moss_nano.server.discovery import (
    Advertiser,
    Announcement,
    instance_name,
    reachable,
)

MACHINE = [
    ipaddress.ip_address(text)
    for text in ("127.0.0.1", "::1", "192.0.2.7", "2001:db8::7", "fe80::7", "169.254.3.4")
]


def texts(addresses):
    return [str(address) for address in addresses]


@pytest.mark.parametrize(
    ("bound", "announced"),
    [
        (("0.0.0.0", "::"), ["192.0.2.7", "2001:db8::7"]),
        (("0.0.0.0",), ["192.0.2.7"]),
        (("::",), ["2001:db8::7"]),
        (("192.0.2.7",), ["192.0.2.7"]),
        (("127.0.0.1",), ["127.0.0.1"]),
        (("127.0.0.1", "0.0.0.0"), ["127.0.0.1", "192.0.2.7"]),
    ],
)
def test_real_addresses_are_announced_and_loopback_only_where_bound_to_it(bound, announced):
    assert texts(reachable(bound, MACHINE)) == announced


def test_addresses_can_be_given_instead():
    announcement = Announcement("moss", 10200, ("0.0.0.0",), ("2001:db8::1", "192.0.2.1"))

    assert texts(announcement.addresses()) == ["192.0.2.1", "2001:db8::1"]


def test_the_name_stays_the_same_and_another_machine_has_another(tmp_path):
    first = instance_name(tmp_path / "data")

    assert first == instance_name(tmp_path / "data")
    assert first != instance_name(tmp_path / "other")
    assert first.startswith("moss-nano-")
    assert len(first) == len("moss-nano-") + 8


def test_a_data_folder_that_cannot_be_written_is_a_warning_and_a_name_all_the_same(
    tmp_path, caplog
):
    (tmp_path / "file").touch()

    names = {instance_name(tmp_path / "file") for _ in range(2)}

    assert len(names) == 1
    assert "cannot be kept" in caplog.text


class Zeroconf:
    """Stands where the network would be, to fail or to take note."""

    def __init__(self, error=None):
        self.error = error
        self.registered = []
        self.closed = 0

    def __call__(self, **_):
        if isinstance(self.error, OSError):
            raise self.error
        return self

    async def async_register_service(self, info, *, allow_name_change):
        if self.error is not None:
            raise self.error
        self.registered.append(info.parsed_addresses())
        return asyncio.sleep(0)

    async def async_unregister_all_services(self):
        pass

    async def async_close(self):
        self.closed += 1


@pytest.mark.parametrize("error", [OSError("no route"), NonUniqueNameException()])
async def test_what_cannot_be_announced_is_a_warning(monkeypatch, caplog, error):
    monkeypatch.setattr(discovery, "AsyncZeroconf", Zeroconf(error))
    advertiser = Advertiser(Announcement("moss", 1, ("192.0.2.7",)), check_seconds=0.01)

    advertiser.start()
    await asyncio.sleep(0.1)
    await advertiser.stop()

    assert [record.levelno for record in caplog.records] == [logging.WARNING]


async def test_changed_addresses_are_announced_again(monkeypatch):
    network = Zeroconf()
    monkeypatch.setattr(discovery, "AsyncZeroconf", network)
    machine = [ipaddress.ip_address("192.0.2.7")]
    monkeypatch.setattr(discovery, "machine_addresses", lambda: list(machine))
    advertiser = Advertiser(Announcement("moss", 1, ("0.0.0.0",)), check_seconds=0.01)

    advertiser.start()
    while not network.registered:
        await asyncio.sleep(0.01)
    machine.append(ipaddress.ip_address("192.0.2.8"))
    while len(network.registered) < 2:
        await asyncio.sleep(0.01)
    await advertiser.stop()

    assert network.registered == [["192.0.2.7"], ["192.0.2.7", "192.0.2.8"]]
    assert network.closed == 2


async def test_a_machine_without_an_address_waits_for_one(monkeypatch, caplog):
    network = Zeroconf()
    monkeypatch.setattr(discovery, "AsyncZeroconf", network)
    machine = []
    monkeypatch.setattr(discovery, "machine_addresses", lambda: list(machine))
    advertiser = Advertiser(Announcement("moss", 1, ("0.0.0.0",)), check_seconds=0.01)

    advertiser.start()
    await asyncio.sleep(0.05)
    assert network.registered == []
    machine.append(ipaddress.ip_address("192.0.2.8"))
    while not network.registered:
        await asyncio.sleep(0.01)
    await advertiser.stop()

    assert network.registered == [["192.0.2.8"]]
