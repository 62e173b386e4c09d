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
    machine_addresses,
    reachable,
    sorted_addresses,
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


@pytest.mark.parametrize("bound", ["0.0.0.0", "::"])
def test_a_machine_that_is_alone_has_nothing_to_announce(bound):
    assert reachable((bound,), [address for address in MACHINE if address.is_loopback]) == []


def test_ipv4_comes_first_and_each_family_in_the_order_of_its_numbers():
    mixed = ["2001:db8::7", "192.0.2.100", "192.0.2.9", "10.0.0.1", "2001:db8::10"]

    ordered = sorted_addresses(map(ipaddress.ip_address, mixed))

    assert texts(ordered) == ["10.0.0.1", "192.0.2.9", "192.0.2.100", "2001:db8::7", "2001:db8::10"]


def test_the_machine_has_at_least_its_loopback_address():
    assert ipaddress.ip_address("127.0.0.1") in machine_addresses()


def test_addresses_can_be_given_instead():
    announcement = Announcement("moss", 10200, ("0.0.0.0",), ("2001:db8::1", "192.0.2.1"))

    assert texts(announcement.addresses()) == ["192.0.2.1", "2001:db8::1"]


def test_the_name_stays_the_same_and_another_machine_has_another(tmp_path):
    first = instance_name(tmp_path / "data")

    assert first == instance_name(tmp_path / "data")
    assert first != instance_name(tmp_path / "other")
    assert first.startswith("moss-nano-")
    assert len(first) == len("moss-nano-") + 8


@pytest.mark.parametrize("content", [b"", b"\n", b"\xff\xfe", b"../../etc", b"a.b", b"two words"])
def test_a_name_that_was_damaged_is_replaced_once_and_for_all(tmp_path, content):
    (tmp_path / "zeroconf-id").write_bytes(content)

    name = instance_name(tmp_path)

    assert name.removeprefix("moss-nano-").isalnum()
    assert name == instance_name(tmp_path)


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


async def until(condition):
    async with asyncio.timeout(10):
        while not condition():
            await asyncio.sleep(0.01)


async def test_an_address_that_goes_and_comes_back_is_announced_again(monkeypatch, caplog):
    # the sockets of an interface that was gone are of no more use
    network = Zeroconf()
    monkeypatch.setattr(discovery, "AsyncZeroconf", network)
    address = ipaddress.ip_address("192.0.2.7")
    machine = [address]
    monkeypatch.setattr(discovery, "machine_addresses", lambda: list(machine))
    advertiser = Advertiser(Announcement("moss", 1, ("0.0.0.0",)), check_seconds=0.01)

    advertiser.start()
    await until(lambda: network.registered)
    machine.clear()
    await until(lambda: "no address" in caplog.text)
    machine.append(address)
    await asyncio.sleep(0.2)
    await advertiser.stop()

    assert network.registered == [["192.0.2.7"], ["192.0.2.7"]]
    assert network.closed == 2


async def test_what_failed_is_tried_again_with_one_warning(monkeypatch, caplog):
    network = Zeroconf(OSError("no route"))
    monkeypatch.setattr(discovery, "AsyncZeroconf", network)
    advertiser = Advertiser(Announcement("moss", 1, ("192.0.2.7",)), check_seconds=0.01)

    advertiser.start()
    await asyncio.sleep(0.1)
    network.error = None
    await until(lambda: network.registered)
    await advertiser.stop()

    assert caplog.text.count("cannot find this server") == 1


async def test_a_machine_that_does_not_tell_its_addresses_is_a_warning(monkeypatch, caplog):
    network = Zeroconf()
    monkeypatch.setattr(discovery, "AsyncZeroconf", network)
    answers = iter([OSError("too many open files")])

    def addresses():
        if (error := next(answers, None)) is not None:
            raise error
        return [ipaddress.ip_address("192.0.2.7")]

    monkeypatch.setattr(discovery, "machine_addresses", addresses)
    advertiser = Advertiser(Announcement("moss", 1, ("0.0.0.0",)), check_seconds=0.01)

    advertiser.start()
    await asyncio.sleep(0.2)
    await advertiser.stop()

    assert "WARNING" in caplog.text
    assert network.registered == [["192.0.2.7"]]


async def test_stopping_in_the_middle_of_announcing_closes_what_was_opened(monkeypatch):
    network = Zeroconf()
    begun = asyncio.Event()

    async def never(_info, *, allow_name_change):
        begun.set()
        await asyncio.Event().wait()

    network.async_register_service = never
    monkeypatch.setattr(discovery, "AsyncZeroconf", network)
    advertiser = Advertiser(Announcement("moss", 1, ("192.0.2.7",)))

    advertiser.start()
    async with asyncio.timeout(10):
        await begun.wait()
    await advertiser.stop()
    await advertiser.stop()

    assert network.closed == 1


async def test_an_advertiser_that_never_began_can_be_stopped():
    await Advertiser(Announcement("moss", 1, ("192.0.2.7",))).stop()
