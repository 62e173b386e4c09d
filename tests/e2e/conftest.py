"""The server as its own process, and clients that talk to it as other programs do."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from itertools import groupby
from pathlib import Path

import numpy as np
import pytest
from wyoming.client import AsyncClient
from wyoming.event import Event

# Far beyond what anything here takes: it is reached only where a test fails.
PATIENCE = 30.0


class Answer(list[Event]):
    """The events that answer a request."""

    @property
    def kinds(self):
        """Their types in order, neighbours of the same type once."""
        return [kind for kind, _ in groupby(event.type for event in self)]

    @property
    def pcm(self):
        sound = b"".join(e.payload for e in self if e.type == "audio-chunk")
        return np.frombuffer(sound, "<i2").astype(int)

    def only(self, kind):
        (event,) = (event for event in self if event.type == kind)
        return event


class Client:
    """One connection of the Wyoming library's own client."""

    def __init__(self, connection: AsyncClient):
        self._connection = connection

    async def send(self, kind, **data):
        await self._connection.write_event(Event(kind, data))

    async def send_bytes(self, sent):
        self._connection._writer.write(sent)
        await self._connection._writer.drain()

    async def event(self):
        event = await self._connection.read_event()
        assert event is not None, "the server hung up"
        return event

    async def until(self, last):
        answer = Answer()
        while not answer or answer[-1].type != last:
            answer.append(await self.event())
        return answer

    async def say(self, text, **data):
        await self.send("synthesize", text=text, **data)
        return await self.until("audio-stop")

    async def stream(self, *parts, **data):
        await self.send("synthesize-start", **data)
        for part in parts:
            await self.send("synthesize-chunk", text=part)
        await self.send("synthesize-stop")
        return await self.until("synthesize-stopped")

    async def ended(self):
        """Whether the server hung up."""
        return await self._connection.read_event() is None


class ServerProcess:
    """``wyoming-moss-nano serve`` as a process of its own, its log in a file."""

    def __init__(self, folder: Path, options: list[str], **more):
        self.log_file = folder / "log"
        with self.log_file.open("wb") as log:
            self.process = subprocess.Popen(
                [*command("serve"), "--no-zeroconf", "--data-dir", str(folder), *options],
                stderr=log, **more,
            )  # fmt: skip
        self._mark = 0

    def wait_until_listening(self):
        deadline = time.monotonic() + PATIENCE
        while not self.uris:
            assert self.process.poll() is None, self.log
            assert time.monotonic() < deadline, self.log
            time.sleep(0.01)
        return self

    @property
    def log(self):
        return self.log_file.read_bytes()[self._mark :].decode()

    def forget_log(self):
        self._mark = self.log_file.stat().st_size

    @property
    def uris(self):
        lines = self.log_file.read_text().splitlines()
        return [line.split(" on ", 1)[1] for line in lines if "Listening on" in line]

    @property
    def uri(self):
        return self.uris[0]

    @property
    def port(self):
        return int(self.uri.rsplit(":", 1)[1])

    @property
    def megabytes(self):
        """What the process holds in memory."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.split("VmRSS:")[1].split()[0]) / 1024

    @property
    def working_seconds(self):
        """How long the process has kept cores busy."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    @asynccontextmanager
    async def connect(self) -> AsyncIterator[Client]:
        connection = AsyncClient.from_uri(self.uri, read_timeout=PATIENCE)
        await connection.connect()
        try:
            yield Client(connection)
        finally:
            with suppress(ConnectionError):
                await connection.disconnect()

    def dial(self, receive_buffer=None):
        """A plain socket, whose reads give up after a while."""
        plain = socket.socket()
        if receive_buffer:
            plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        plain.settimeout(PATIENCE)
        plain.connect(("127.0.0.1", self.port))
        return plain

    async def speaks(self):
        """Assert that a new client is answered and hears something."""
        async with self.connect() as client:
            answer = await client.say("Hi.")
        assert answer.kinds == ["audio-start", "audio-chunk", "audio-stop"]
        assert np.abs(answer.pcm).max() > 1000

    def end(self, number=signal.SIGTERM):
        """Send a signal; return the exit status."""
        self.process.send_signal(number)
        return self.process.wait(PATIENCE)

    def clean_up(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                with suppress(BrokenPipeError):
                    pipe.close()


def command(*arguments):
    return [sys.executable, "-m", "wyoming_moss_nano", *arguments]


@pytest.fixture(scope="session")
def cli():
    """Run a command to its end."""

    def run(*arguments, **more):
        return subprocess.run(
            command(*map(str, arguments)),
            capture_output=True, timeout=PATIENCE, check=False, **more,
        )  # fmt: skip

    return run


@pytest.fixture(scope="session")
def wire():
    """Make the bytes of an event with its data inside the header, as small programs send it."""

    def encode(kind, **data):
        return json.dumps({"type": kind, "data": data}).encode() + b"\n"

    return encode


@pytest.fixture
def launch(tmp_path_factory) -> Iterator[Callable[..., ServerProcess]]:
    """Start a server process, which need not come to listen."""
    launched = []

    def start(*options, **more):
        folder = tmp_path_factory.mktemp("server")
        launched.append(ServerProcess(folder, ["--model", "embedded", *map(str, options)], **more))
        return launched[-1]

    yield start
    for process in launched:
        process.clean_up()


@pytest.fixture
def serve(launch) -> Callable[..., ServerProcess]:
    """Start a server with options of one's own."""

    def start(*options, uri="tcp://127.0.0.1:0"):
        return launch("--uri", uri, *options).wait_until_listening()

    return start


@pytest.fixture(scope="session")
def server_process() -> type[ServerProcess]:
    return ServerProcess


@pytest.fixture(scope="session")
def _shared(tmp_path_factory) -> Iterator[ServerProcess]:
    process = ServerProcess(
        tmp_path_factory.mktemp("shared"),
        ["--model", "embedded", "--uri", "tcp://127.0.0.1:0", "--log-level", "debug"],
    )
    yield process.wait_until_listening()
    process.clean_up()


@pytest.fixture
def server(_shared) -> Iterator[ServerProcess]:
    """A server with default options that tests share; nothing they do may surprise it."""
    _shared.forget_log()
    yield _shared
    assert _shared.process.poll() is None
    assert "Traceback" not in _shared.log


@pytest.fixture(scope="session")
def ipv6():
    try:
        with socket.create_server(("::1", 0), family=socket.AF_INET6):
            pass
    except OSError as error:
        pytest.skip(f"this machine has no IPv6: {error}")
