"""Reading Wyoming events with bounds of our own.

The library's reader takes whatever length a header declares. A header here is at most 64 KiB, its
data 1 MiB, and a payload, which no request of a text-to-speech server needs, is refused.
"""

import asyncio
import json
from typing import Any, Final

from wyoming.event import Event

MAX_HEADER_BYTES: Final = 64 * 1024
MAX_DATA_BYTES: Final = 1024 * 1024


class WireError(Exception):
    """The bytes are no Wyoming events, or break a bound: the connection has no more use."""


async def read_event(reader: asyncio.StreamReader) -> Event | None:
    """Return the next event, or None at the end of the stream.

    The reader's own limit must be MAX_HEADER_BYTES. An event whose framing is right and whose
    content is not comes with the type "" or the data {}, so that it can be passed over.

    Raises:
        WireError: no event can be read from here on.
        OSError: the connection broke.
    """
    try:
        line = await reader.readuntil(b"\n")
    except asyncio.IncompleteReadError as error:
        if error.partial.strip():
            raise WireError("the stream ends inside a header") from None
        return None
    except asyncio.LimitOverrunError:
        raise WireError(f"a header is longer than {MAX_HEADER_BYTES} bytes") from None
    header = _parse(line)
    if not isinstance(header, dict):
        return Event(type="")
    data_length = _length(header, "data_length", MAX_DATA_BYTES)
    _length(header, "payload_length", 0)
    data = _as_dict(header.get("data"))
    if data_length:
        try:
            data |= _as_dict(_parse(await reader.readexactly(data_length)))
        except asyncio.IncompleteReadError:
            raise WireError("the stream ends inside an event's data") from None
    event_type = header.get("type")
    return Event(type=event_type if isinstance(event_type, str) else "", data=data)


def _parse(content: bytes) -> Any:
    try:
        return _writable(json.loads(content))
    except (ValueError, RecursionError):
        raise WireError("an event is no JSON") from None


def _writable(value: Any) -> Any:
    """Return a value whose texts can be written again: JSON can carry half of a surrogate pair."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, list):
        return [_writable(item) for item in value]
    if isinstance(value, dict):
        return {key: _writable(item) for key, item in value.items()}
    return value


def _as_dict(value: Any) -> dict[str, Any]:
    return dict(value) if isinstance(value, dict) else {}


def _length(header: dict[str, Any], key: str, most: int) -> int:
    length = header.get(key)
    if length is None:
        return 0
    if not isinstance(length, int) or isinstance(length, bool) or length < 0:
        raise WireError(f"{key} is no length")
    if length > most:
        raise WireError(f"{key} is {length}, and at most {most} is read")
    return length
