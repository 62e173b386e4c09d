"""Events are read within bounds, whatever bytes arrive."""

import asyncio
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from wyoming.event import Event

from wyoming_moss_nano.server.wire import (
    MAX_DATA_BYTES,
    MAX_HEADER_BYTES,
    WireError,
    read_event,
)


def read_all(content):
    """The events of some bytes."""

    async def read():
        reader = asyncio.StreamReader(limit=MAX_HEADER_BYTES)
        reader.feed_data(content)
        reader.feed_eof()
        events = []
        while (event := await read_event(reader)) is not None:
            events.append(event)
        return events

    return asyncio.run(read())


def line(**header):
    return json.dumps(header).encode() + b"\n"


def test_data_may_stand_in_the_header_or_behind_it_or_both():
    behind = b'{"text": "later"}'

    events = read_all(
        line(type="ping", data={"text": "here"})
        + line(type="ping", data={"text": "here", "more": 1}, data_length=len(behind))
        + behind
        + line(type="describe")
    )

    assert [event.type for event in events] == ["ping", "ping", "describe"]
    assert [event.data for event in events] == [
        {"text": "here"},
        {"text": "later", "more": 1},
        {},
    ]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"[]\n", Event("")),
        (b"5\n", Event("")),
        (b'{"data": {"a": 1}}\n', Event("", {"a": 1})),
        (b'{"type": 5}\n', Event("")),
        (b'{"type": "ping", "data": null}\n', Event("ping")),
        (b'{"type": "ping", "data": []}\n', Event("ping")),
        (b'{"type": "ping", "data_length": null, "payload_length": 0}\n', Event("ping")),
    ],
)
def test_an_event_of_right_frame_and_odd_content_can_be_passed_over(content, expected):
    after = line(type="describe")

    assert read_all(content + after) == [expected, Event("describe")]


@pytest.mark.parametrize(
    "content",
    [
        b"GET / HTTP/1.1\r\n",
        b"\n",
        b"\xff\xfe\n",
        b"[" * 50_000 + b"\n",
        b'{"type": "ping"',
        b'{"type": "ping", "data_length": 9}\n{}',
        b'{"type": "ping", "data_length": 3}\nnot',
        line(type="ping", data_length=-1),
        line(type="ping", data_length=1.5),
        line(type="ping", data_length="3"),
        line(type="ping", data_length=True),
        line(type="ping", data_length=MAX_DATA_BYTES + 1),
        line(type="audio-chunk", payload_length=1) + b"x",
        line(type="audio-chunk", payload_length=9_000_000_000),
        line(type="ping", data={"text": "x" * MAX_HEADER_BYTES}),
    ],
)
def test_what_breaks_the_frame_or_a_bound_ends_the_connection(content):
    with pytest.raises(WireError):
        read_all(content)


def test_the_bounds_themselves_are_within():
    data = json.dumps({"text": "x" * (MAX_DATA_BYTES - 12)}).encode()
    assert len(data) == MAX_DATA_BYTES
    header = line(type="ping", data={"text": "x" * (MAX_HEADER_BYTES - 100)})

    assert len(read_all(line(type="ping", data_length=len(data)) + data + header)) == 2


def test_half_of_a_surrogate_pair_becomes_something_that_can_be_written():
    (event,) = read_all(b'{"type": "ping", "data": {"text": "\\ud83d", "in": ["\\ude00"]}}\n')

    json.dumps(event.data, ensure_ascii=False).encode()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


@given(st.binary() | st.lists(JSON.map(json.dumps)).map(lambda lines: "\n".join(lines).encode()))
def test_any_bytes_are_events_or_no_wyoming(content):
    try:
        events = read_all(content)
    except WireError:
        return
    assert all(isinstance(event.type, str) and isinstance(event.data, dict) for event in events)


@pytest.mark.parametrize(("spare", "within"), [(0, True), (-1, False)])
def test_a_header_has_64_kib_without_its_newline_and_not_a_byte_more(spare, within):
    frame = len(line(type="ping", data={"text": ""})) - 1
    header = line(type="ping", data={"text": "x" * (MAX_HEADER_BYTES - frame - spare)})
    assert len(header) == MAX_HEADER_BYTES + 1 - spare

    if within:
        assert read_all(header)[0].type == "ping"
    else:
        with pytest.raises(WireError, match="longer than 65536"):
            read_all(header)


@pytest.mark.parametrize("end", [b"", b" ", b" \r\t "])
def test_a_stream_may_end_between_events(end):
    assert len(read_all(line(type="ping") + end)) == 1


@pytest.mark.parametrize(
    "content",
    [
        b'{"type": "ping", "data_length": ' + b"9" * 5000 + b"}\n",
        b'{"type": "ping", "data_length": 1e3}\n',
        b'{"type": "ping", "data_length": -0.0}\n',
        b'{"type": "ping", "data_length": NaN}\n',
        b'{"type": "ping", "data_length": [3]}\n',
        b'{"type": "ping", "payload_length": -1}\n',
        b'{"type": "ping", "payload_length": "0"}\n',
        b'{"type": "\xe9"}\n',
        b'{"type": "ping", "data_length": 200000}\n' + b"[" * 200_000,
        b'{"type": "ping"}{"type": "ping"}\n',
    ],
)
def test_more_of_what_ends_the_connection(content):
    with pytest.raises(WireError):
        read_all(content)


@pytest.mark.parametrize("behind", [b"[]", b"5", b"null", b'"text"'])
def test_data_behind_a_header_that_is_no_mapping_is_passed_over(behind):
    header = line(type="ping", data={"text": "here"}, data_length=len(behind))

    events = read_all(header + behind + line(type="describe"))

    assert [(event.type, event.data) for event in events] == [
        ("ping", {"text": "here"}),
        ("describe", {}),
    ]


def test_windows_line_ends_are_lines():
    assert [event.type for event in read_all(b'{"type": "ping"}\r\n{"type": "ping"}\r\n')] == [
        "ping",
        "ping",
    ]


async def test_an_event_is_there_as_soon_as_its_last_byte_is():
    reader = asyncio.StreamReader(limit=MAX_HEADER_BYTES)
    data = '{"text": "süß"}'.encode()
    reading = asyncio.create_task(read_event(reader))
    content = line(type="synthesize", data_length=len(data)) + data

    for number in range(len(content)):
        assert not reading.done()
        reader.feed_data(content[number : number + 1])
        await asyncio.sleep(0)
        await asyncio.sleep(0)

    async with asyncio.timeout(10):
        assert (await reading).data == {"text": "süß"}


@pytest.mark.parametrize("before", [b"", b'{"type": "pi', b'{"type": "ping", "data_length": 5}\n{'])
async def test_a_connection_that_breaks_is_an_os_error(before):
    reader = asyncio.StreamReader(limit=MAX_HEADER_BYTES)
    reader.feed_data(before)
    reading = asyncio.create_task(read_event(reader))
    await asyncio.sleep(0)
    reader.set_exception(ConnectionResetError())

    with pytest.raises(OSError):  # noqa: PT011 - whatever the system says
        await reading


# Headers that are nearly right find more than bytes that are anything.
LENGTHS = st.none() | st.integers(-2, 40) | st.floats() | st.text(max_size=3) | st.booleans()


@given(
    st.fixed_dictionaries(
        {}, optional={"type": JSON, "data": JSON, "data_length": LENGTHS, "payload_length": LENGTHS}
    ),
    JSON.map(lambda value: json.dumps(value).encode()) | st.binary(max_size=60),
)
def test_any_nearly_right_event_is_read_or_refused(header, behind):
    content = json.dumps(header).encode() + b"\n" + behind
    try:
        events = read_all(content)
    except WireError:
        return
    for event in events:
        json.dumps(event.data, ensure_ascii=False).encode()
        assert isinstance(event.type, str)
        assert event.payload is None
