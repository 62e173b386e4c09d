"""Whatever a client sends or leaves undone, the server goes on speaking to the others."""

import asyncio
import contextlib
import json
import socket
import statistics
import struct
import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from wyoming_moss_nano.text.reading import Reading
from wyoming_moss_nano.text.stream import split_text

LONG = "It was a dark night, and the rain fell on the roofs of the town. " * 200
PING = b'{"type": "ping", "data": {"text": "still here"}}\n'
GOOD_NIGHT = b'{"type": "synthesize", "data": {"text": "Good night."}}\n'


def read_until(plain, wanted, times=1):
    """Return what a socket gives up to some bytes that come so often, or to its end."""
    got = b""
    with contextlib.suppress(ConnectionError):
        while got.count(wanted) < times and (more := plain.recv(1 << 16)):
            got += more
    return got


# Events whose framing is right: the connection stays.
PASSED_OVER = {
    "no text": b'{"type": "synthesize", "data": {}}',
    "text is null": b'{"type": "synthesize", "data": {"text": null}}',
    "text is a number": b'{"type": "synthesize", "data": {"text": 7}}',
    "text is a list": b'{"type": "synthesize", "data": {"text": ["Hello"]}}',
    "voice is null": b'{"type": "synthesize", "data": {"text": "Hi.", "voice": null}}',
    "voice of half a character": b'{"type": "synthesize", "data": {"voice": {"name": "\\ud800"}}}',
    "text of half a character": b'{"type": "synthesize", "data": {"text": "Hello \\udfff."}}',
    "text with a zero byte": b'{"type": "synthesize", "data": {"text": "Hi \\u0000!"}}',
    "ping of half a character": b'{"type": "ping", "data": {"text": "\\ud800"}}',
    "ping of a list": b'{"type": "ping", "data": {"text": []}}',
    "data is null": b'{"type": "synthesize", "data": null}',
    "data is a list": b'{"type": "synthesize", "data": [1]}',
    "data is text": b'{"type": "synthesize", "data": "text"}',
    "data_length is null": b'{"type": "describe", "data_length": null}',
    "data_length is zero": b'{"type": "describe", "data_length": 0, "payload_length": 0}',
    "a list": b"[]",
    "a number": b"7",
    "null": b"null",
    "nothing in it": b"{}",
    "no type": b'{"data": {"text": "Hello"}}',
    "type is a number": b'{"type": 7}',
    "type is null": b'{"type": null}',
    "type is a list": b'{"type": ["synthesize"]}',
    "type of half a character": b'{"type": "\\ud800"}',
    "white space around": b' \t{"type": "ping"} \r',
    "data apart is a list": b'{"type": "synthesize", "data_length": 2}\n[]',
    "data apart is null": b'{"type": "synthesize", "data_length": 4}\nnull',
    "deep but not too deep": b'{"type": "ping", "data": {"text": ' + b"[" * 90 + b"]" * 90 + b"}}",
}

# Bytes after which no event can be told from another: the connection ends.
REFUSED = {
    "no JSON": b"hello\n",
    "HTTP": b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
    "TLS": bytes.fromhex("16030100c8010000c40303") + bytes(189) + b"\n",
    "a blank line": b"\n",
    "invalid UTF-8": b'{"type": "ping", "data": {"text": "\xff\xfe"}}\n',
    "a bare carriage return": b"\r\n",
    "a header longer than 64 KiB": b'{"type": "' + b"a" * (64 << 10) + b'"}\n',
    "a header without an end": b"a" * (1 << 20),
    "deeply nested": b'{"type": "ping", "data": ' + b"[" * 30_000 + b"]" * 30_000 + b"}\n",
    "deeply nested data": b'{"type": "ping", "data_length": 1000000}\n' + b"[" * 1_000_000,
    "a number of 5000 digits": b'{"type": ' + b"7" * 5000 + b"}\n",
    "negative data_length": b'{"type": "ping", "data_length": -1}\n',
    "huge data_length": b'{"type": "ping", "data_length": 9000000000}\n',
    "data_length is a float": b'{"type": "ping", "data_length": 2.0}\n{}',
    "data_length is not finite": b'{"type": "ping", "data_length": Infinity}\n',
    "data_length is text": b'{"type": "ping", "data_length": "2"}\n{}',
    "data_length is true": b'{"type": "ping", "data_length": true}\n{}',
    "data_length is a list": b'{"type": "ping", "data_length": [2]}\n{}',
    "data apart is no JSON": b'{"type": "ping", "data_length": 3}\n{{{',
    "data apart is no UTF-8": b'{"type": "ping", "data_length": 4}\n"\xff\xff"',
    "a payload": b'{"type": "audio-chunk", "payload_length": 4}\nabcd',
    "a huge payload": b'{"type": "audio-chunk", "payload_length": 9000000000}\n',
    "negative payload_length": b'{"type": "audio-chunk", "payload_length": -4}\n',
}


@pytest.mark.parametrize("event", PASSED_OVER.values(), ids=PASSED_OVER)
def test_an_event_of_odd_content_leaves_the_connection_as_it_was(server, event):
    answers = 1 + (b'"type": "synthesize"' in event)
    line_end = b"" if b"\n" in event else b"\n"
    with server.dial() as plain:
        plain.sendall(event + line_end + PING + GOOD_NIGHT)

        got = read_until(plain, b'"audio-stop"', answers)

    assert b"still here" in got
    assert got.count(b'"audio-stop"') == answers
    assert "ERROR" not in server.log


@pytest.mark.parametrize("sent", REFUSED.values(), ids=REFUSED)
def test_bytes_that_are_no_event_end_the_connection_and_nothing_else(server, sent):
    with server.dial() as plain:
        with contextlib.suppress(ConnectionError):
            plain.sendall(sent)
        assert read_until(plain, b"never sent") == b""

    asyncio.run(server.speaks())
    assert "WARNING" not in server.log
    assert "ERROR" not in server.log


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b'{"type": "synth',
        b'{"type": "synthesize", "data_length": 100}\n',
        b'{"type": "synthesize", "data_length": 100}\n{"text": "Hel',
    ],
    ids=["nothing", "half a header", "no data", "half of the data"],
)
def test_a_client_may_leave_in_the_middle_of_an_event(server, sent):
    with server.dial() as plain:
        plain.sendall(sent)
        plain.shutdown(socket.SHUT_WR)
        assert read_until(plain, b"never sent") == b""

    assert "WARNING" not in server.log
    assert "ERROR" not in server.log


def test_data_apart_wins_over_data_in_the_header(server):
    data = b'{"text": "apart"}'
    header = {"type": "ping", "data": {"text": "inside"}, "data_length": len(data)}
    with server.dial() as plain:
        plain.sendall(json.dumps(header).encode() + b"\n" + data)
        got = read_until(plain, b"apart")

    assert b"apart" in got
    assert b"inside" not in got


def test_a_long_text_comes_through_as_data_apart(server):
    data = json.dumps({"text": "Hello. " + " " * 100_000}).encode()
    with server.dial() as plain:
        plain.sendall(b'{"type": "synthesize", "data_length": %d}\n' % len(data) + data)
        assert b"audio-stop" in read_until(plain, b"audio-stop")


@pytest.mark.parametrize("what", ["data_length", "payload_length"])
def test_a_declared_length_of_9_gb_is_refused_and_not_reserved(server, what):
    before = server.megabytes
    with server.dial() as plain:
        plain.sendall(b'{"type": "synthesize", "%s": 9000000000}\n' % what.encode())
        with contextlib.suppress(ConnectionError):
            for _ in range(100):
                plain.sendall(bytes(1 << 20))
        assert read_until(plain, b"never sent") == b""

    assert server.megabytes - before < 30


def leave_properly(plain):
    plain.close()


def leave_with_a_reset(plain):
    plain.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    plain.close()


@pytest.fixture(scope="module")
def _narrow(tmp_path_factory, server_process):
    folder = tmp_path_factory.mktemp("narrow")
    options = ["--uri", "tcp://127.0.0.1:0", "--max-streams", "1", "--max-queue", "0"]
    process = server_process(folder, ["--model", "embedded", "--log-level", "debug", *options])
    yield process.wait_until_listening()
    process.clean_up()


@pytest.fixture
def narrow(_narrow):
    """A server that speaks for one client at a time and lets nobody wait."""
    _narrow.forget_log()
    return _narrow


@pytest.mark.parametrize("leave", [leave_properly, leave_with_a_reset])
@pytest.mark.parametrize(
    ("sent", "heard"),
    [
        ([("synthesize", {"text": LONG})], b""),
        ([("synthesize", {"text": LONG})], b"audio-start"),
        ([("synthesize", {"text": LONG})], b"audio-chunk"),
        ([("synthesize", {"text": LONG})] * 3, b"audio-chunk"),
        ([("synthesize-start", {}), ("synthesize-chunk", {"text": LONG})], b"audio-chunk"),
        (
            [
                ("synthesize-start", {}),
                ("synthesize-chunk", {"text": "Good night to you. Sleep very we"}),
            ],
            b"audio-chunk",
        ),
    ],
    ids=["at once", "before sound", "in sound", "with more to come", "in text", "between texts"],
)
async def test_nobody_speaks_on_for_a_client_that_left(narrow, wire, leave, sent, heard):
    plain = narrow.dial()
    plain.sendall(b"".join(wire(kind, **data) for kind, data in sent))
    read_until(plain, heard)
    leave(plain)

    async with narrow.connect() as client:
        deadline = time.monotonic() + 10
        while (answer := await client.say("Good night.")).kinds[0] == "error":
            assert answer[0].data["code"] == "QueueFullError"
            assert time.monotonic() < deadline, "the place of a client that left is not free"
            await asyncio.sleep(0.02)

    assert answer.kinds == ["audio-start", "audio-chunk", "audio-stop"]
    others = [line for line in narrow.log.splitlines() if not line.startswith(("DEBUG", "INFO"))]
    # refusing the second client is what this test waits for
    assert all("try again in a moment" in line for line in others), others


async def test_a_client_that_stops_reading_costs_little_and_slows_nobody(server, wire):
    await server.speaks()
    before = server.megabytes
    with server.dial(receive_buffer=4096) as plain:
        plain.sendall(wire("synthesize", text=LONG * 3))
        read_until(plain, b"audio-chunk")
        async with asyncio.timeout(15):
            # long before the text is spoken there is nothing to do but to wait
            worked = 1.0
            while worked > 0.1:
                before_a_while = server.working_seconds
                await asyncio.sleep(0.4)
                worked = server.working_seconds - before_a_while
        async with server.connect() as client:
            answer = await client.say("Dinner is ready now, and it is warm.")
        grown = server.megabytes - before

    assert answer.kinds == ["audio-start", "audio-chunk", "audio-stop"]
    assert grown < 60


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=9), inner),
    max_leaves=8,
)
KINDS = st.sampled_from(
    "describe ping synthesize synthesize-start synthesize-chunk synthesize-stop audio-chunk".split()
)
EVENTS = st.builds(
    lambda kind, data, more: json.dumps({"type": kind, "data": data, **more}).encode() + b"\n",
    KINDS | JSON,
    JSON
    | st.fixed_dictionaries(
        {},
        optional={
            "text": st.text(max_size=12) | JSON,
            "voice": JSON | st.fixed_dictionaries({"name": JSON, "language": JSON}),
        },
    ),
    st.dictionaries(st.sampled_from(["data_length", "payload_length", "version", "x"]), JSON),
)


def test_random_bytes_and_random_events_never_end_the_server(server):
    @settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.lists(EVENTS | st.binary(max_size=200) | st.just(b"\n"), max_size=6))
    def check(parts):
        with server.dial() as plain:
            plain.sendall(b"".join(parts))
            plain.shutdown(socket.SHUT_WR)
            read_until(plain, b"never sent")

    check()
    asyncio.run(server.speaks())
    assert "ERROR" not in server.log


async def round_trips(server, enough):
    """Return how long each ping took, in seconds, until there is enough."""
    async with server.connect() as client:
        lags = []
        while not enough(lags):
            started = time.perf_counter()
            await client.send("ping")
            await client.event()
            lags.append(time.perf_counter() - started)
            await asyncio.sleep(0.005)
    return lags


class Sink(asyncio.Protocol):
    """Takes all that comes and looks at nothing, which leaves the cores to the server."""

    def connection_made(self, transport):
        self.transport = transport
        self.bytes = 0
        self.hears = asyncio.Event()

    def data_received(self, data):
        self.bytes += len(data)
        self.hears.set()


async def test_the_server_answers_others_at_once_while_it_speaks_to_four(server, wire):
    await server.speaks()
    idle = statistics.median(await round_trips(server, lambda lags: len(lags) == 50))
    loop = asyncio.get_running_loop()
    sinks = []
    for _ in range(4):
        _, sink = await loop.create_connection(Sink, "127.0.0.1", server.port)
        sink.transport.write(wire("synthesize", text=LONG))
        sinks.append(sink)
    for sink in sinks:
        await sink.hears.wait()
    before = [sink.bytes for sink in sinks]

    busy = statistics.median(await round_trips(server, lambda lags: len(lags) == 100))

    still_spoken_to = [sink.bytes > so_far for sink, so_far in zip(sinks, before, strict=True)]
    for sink in sinks:
        sink.transport.abort()
    assert all(still_spoken_to)
    # a quiet machine shows a factor below 2; a loop that waited for steps shows hundreds
    assert busy < 20 * idle, (busy, idle)


@pytest.mark.parametrize(
    "text",
    ["a" * 100_000, "." * 100_000, "a," * 50_000, " " * 100_000],
    ids=["one word", "dots", "commas", "blanks"],
)
async def test_the_server_answers_others_while_a_monstrous_text_comes_in(server, text):
    idle = statistics.median(await round_trips(server, lambda lags: len(lags) == 20))
    async with server.connect() as client:
        await client.send("synthesize", text=text)
        began = time.perf_counter()
        started = asyncio.create_task(client.until("audio-start"))
        lags = await round_trips(server, lambda lags: started.done() and len(lags) > 20)
        until_sound = time.perf_counter() - began
    began = time.perf_counter()
    split_text(text, len, 200, Reading("en"))
    took = max(until_sound, time.perf_counter() - began)

    # whoever had to wait until such a text is cut would have waited for nearly all of that
    assert max(lags) < max(took / 2, 40 * idle)
