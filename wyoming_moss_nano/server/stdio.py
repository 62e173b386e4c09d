"""Standard input and output as asyncio streams, whatever they are: pipes, files, terminals.

asyncio can wait for pipes and sockets only. Here two threads carry the bytes between the standard
streams and a pair of sockets that asyncio waits for.
"""

import asyncio
import os
import socket
import sys
import threading
from contextlib import suppress
from typing import Final

from .wire import MAX_HEADER_BYTES

_PORTION: Final = 65536  # bytes


class StandardStreams:
    """A reader and a writer over standard input and output; ``flushed`` waits for the latter."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, output: threading.Thread
    ) -> None:
        self.reader = reader
        self.writer = writer
        self._output = output

    @classmethod
    async def open(cls) -> "StandardStreams":
        """Begin to carry bytes."""
        ours, theirs = socket.socketpair()
        reader, writer = await asyncio.open_connection(sock=ours, limit=MAX_HEADER_BYTES)
        threads = [
            threading.Thread(target=carry, args=(theirs,), name=name, daemon=True)
            for name, carry in (("standard input", _carry_in), ("standard output", _carry_out))
        ]
        for thread in threads:
            thread.start()
        return cls(reader, writer, threads[1])

    async def flushed(self) -> None:
        """Wait until everything that was written before the writer was closed has left."""
        while self._output.is_alive():  # noqa: ASYNC110 - a thread, which sets no event
            await asyncio.sleep(0.02)


def _carry_in(into: socket.socket) -> None:
    with suppress(OSError):
        while data := os.read(sys.stdin.fileno(), _PORTION):
            into.sendall(data)
    with suppress(OSError):
        into.shutdown(socket.SHUT_WR)


def _carry_out(source: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(_PORTION):
            while data:
                data = data[os.write(sys.stdout.fileno(), data) :]
        return
    # whoever read the output has left: nobody is there to speak to
    source.close()
