"""Servers in a network of their own are found by a real browser, by real addresses."""

import json
import os
import queue
import shutil
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager

import pytest

PATIENCE = 30.0  # seconds; reached only where a test fails

# Prints what is found as it is found, and what goes: one JSON line each.
BROWSER = """
import json, time
from zeroconf import InterfaceChoice, IPVersion, ServiceBrowser, ServiceListener, Zeroconf

class Found(ServiceListener):
    def add_service(self, zc, kind, name):
        # a busy machine may answer late
        while (info := zc.get_service_info(kind, name, 3000)) is None:
            pass
        addresses = info.parsed_addresses(IPVersion.All)
        print(json.dumps({"name": name, "port": info.port, "at": addresses}), flush=True)
    def remove_service(self, zc, kind, name):
        print(json.dumps({"name": name, "gone": True}), flush=True)
    def update_service(self, zc, kind, name):
        pass

zc = Zeroconf(interfaces=InterfaceChoice.All, ip_version=IPVersion.V4Only)
ServiceBrowser(zc, "_wyoming._tcp.local.", Found())
time.sleep(300)
"""


@pytest.fixture
def network():
    """A network namespace with one interface that has an address of each family."""
    if os.geteuid() != 0 or shutil.which("ip") is None:
        pytest.skip("making a network of one's own needs root and the command ip (iproute2)")
    name = f"moss-{os.getpid()}"
    try:
        ip("netns", "add", name)
    except subprocess.CalledProcessError as error:
        pytest.skip(f"this machine allows no network namespace: {error.stderr}")
    try:
        for command in (
            "link set lo up",
            "link add moss0 type veth peer name moss1",
            "address add 10.77.1.1/24 dev moss0",
            "address add fd77::1/64 dev moss0 nodad",
            "link set moss0 up",
            "link set moss1 up",
            "route add default dev moss0",
        ):
            ip("-n", name, *command.split())
        yield name
    finally:
        ip("netns", "delete", name)


@pytest.fixture
def neighbour(network):
    """Another machine in the network."""
    name = f"{network}-neighbour"
    ip("netns", "add", name)
    try:
        ip("-n", network, "link", "set", "moss1", "netns", name)
        for command in (
            "link set lo up",
            "address add 10.77.1.2/24 dev moss1",
            "link set moss1 up",
            "route add default dev moss1",
        ):
            ip("-n", name, *command.split())
        yield name
    finally:
        ip("netns", "delete", name)


def ip(*arguments):
    subprocess.run(["ip", *arguments], check=True, capture_output=True, text=True)


class Inside:
    """A process in the network, whose lines are read as they come."""

    def __init__(self, network, *command):
        self.process = subprocess.Popen(
            ["ip", "netns", "exec", network, *command],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        self.lines = {"stdout": queue.Queue(), "stderr": queue.Queue()}
        self.readers = [
            threading.Thread(target=self._read, args=(name,), daemon=True) for name in self.lines
        ]
        for reader in self.readers:
            reader.start()

    def _read(self, name):
        for line in getattr(self.process, name):
            self.lines[name].put(line)

    def until(self, name, condition):
        """The lines of a stream up to one that fulfils a condition."""
        lines = []
        while not lines or not condition(lines[-1]):
            try:
                lines.append(self.lines[name].get(timeout=PATIENCE))
            except queue.Empty:
                rest = list(self.lines["stderr"].queue)
                pytest.fail(f"nothing more came after {lines}; errors: {rest}")
        return lines

    def end(self):
        self.process.terminate()
        try:
            self.process.wait(timeout=PATIENCE)
        finally:
            self.process.kill()
            for reader in self.readers:
                reader.join(PATIENCE)
            self.process.stdout.close()
            self.process.stderr.close()


@contextmanager
def inside(network, *command):
    """A process in the network; it is ended at the end."""
    running = Inside(network, *command)
    try:
        yield running
    finally:
        running.end()


def served(network, data_dir, *options):
    return inside(
        network, sys.executable, "-m", "wyoming_moss_nano", "serve", "--model", "embedded",
        "--data-dir", str(data_dir), *options,
    )  # fmt: skip


def announced(server):
    return server.until("stderr", lambda line: "Announced as" in line)[-1]


def found_by(browser, count):
    """What a browser finds, by port; less than ``count`` where nothing more comes."""
    found = {}
    while len(found) < count:
        try:
            service = json.loads(browser.lines["stdout"].get(timeout=PATIENCE))
        except queue.Empty:
            break
        found[service["port"]] = service
    return found


def test_two_servers_find_different_names_and_both_are_resolved(network, tmp_path):
    with (
        served(network, tmp_path, "--uri", "tcp://0.0.0.0:10201") as first,
        # without --uri: all addresses of both families on port 10200
        served(network, tmp_path) as second,
    ):
        announced(first)
        announced(second)
        # on a machine that is very busy a browser can miss what it should hear: then another looks
        for _ in range(3):
            with inside(network, sys.executable, "-c", BROWSER) as browser:
                found = found_by(browser, 2)
                if len(found) < 2:
                    continue
                assert found[10201]["name"] != found[10200]["name"]
                assert found[10201]["at"] == ["10.77.1.1"]
                assert found[10200]["at"] == ["10.77.1.1", "fd77::1"]

                second.process.send_signal(signal.SIGTERM)
                gone = json.loads(browser.until("stdout", lambda line: "gone" in line)[-1])
                assert gone["name"] == found[10200]["name"]
                return
        pytest.fail(f"no browser found both servers: {found}")


def test_machines_of_one_name_are_each_resolved_to_their_own_address(network, neighbour, tmp_path):
    with (
        served(network, tmp_path / "1", "--zeroconf", "kitchen") as first,
        served(neighbour, tmp_path / "2", "--zeroconf", "kitchen") as second,
    ):
        names = [announced(server).split()[3] for server in (first, second)]
        assert len(set(names)) == 2
        for _ in range(3):
            with inside(neighbour, sys.executable, "-c", BROWSER) as browser:
                found = {}
                while len(found) < 2:
                    try:
                        service = json.loads(browser.lines["stdout"].get(timeout=PATIENCE))
                    except queue.Empty:
                        break
                    found[service["name"].partition(".")[0]] = service["at"]
                if len(found) == 2:
                    break

    assert found == {names[0]: ["10.77.1.1", "fd77::1"], names[1]: ["10.77.1.2"]}


def test_the_name_stays_over_a_restart(network, tmp_path):
    names = []
    for _ in range(2):
        with served(network, tmp_path) as server:
            names.append(announced(server).split()[3])

    assert names[0] == names[1]


def test_a_machine_without_ipv6_is_served_on_ipv4_alone(network, tmp_path):
    subprocess.run(
        ["ip", "netns", "exec", network, "sh", "-c",
         "for f in /proc/sys/net/ipv6/conf/*/disable_ipv6; do echo 1 > $f; done"],
        check=True,
    )  # fmt: skip
    with served(network, tmp_path) as server:
        lines = server.until("stderr", lambda line: "Announced as" in line)

    assert "Listening on tcp://0.0.0.0:10200\n" in "".join(lines)
    assert lines[-1].rstrip().endswith("at 10.77.1.1")


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--uri", "tcp://127.0.0.1:10200"], None),
        (["--no-zeroconf"], None),
        (["--uri", "tcp://127.0.0.1:10200", "--zeroconf", "here"], "here at 127.0.0.1"),
        (["--zeroconf-host", "10.77.1.9"], "at 10.77.1.9"),
    ],
)
def test_what_is_announced_can_be_said(network, tmp_path, options, told):
    with served(network, tmp_path, *options) as server:
        if told is not None:
            assert announced(server).rstrip().endswith(told)
            return
        server.until("stderr", lambda line: "Listening" in line)
        time.sleep(1)
        server.process.terminate()
        server.process.wait(timeout=PATIENCE)
        assert "Announced" not in "".join(server.lines["stderr"].queue)
