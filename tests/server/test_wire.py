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
