"""Asking a Wyoming server what it offers."""

import asyncio

from wyoming.client import AsyncClient
from wyoming.info import Describe, Info

_ANSWER_SECONDS = 5.0  # as long as Home Assistant waits


async def describe(uri: str) -> Info:
    """Return what the server at a URI says about itself.

    Raises:
        OSError: nobody listens there, or whoever does hangs up.
        TimeoutError: it does not answer.
        ValueError: the URI is none.
    """
    async with asyncio.timeout(_ANSWER_SECONDS), AsyncClient.from_uri(uri) as client:
        await client.write_event(Describe().event())
        while (event := await client.read_event()) is not None:
            if Info.is_type(event.type):
                return Info.from_event(event)
    raise ConnectionError("it hung up without an answer")
