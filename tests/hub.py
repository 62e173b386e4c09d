"""A hub on this machine: it serves files as the public one does, in whatever manner a test asks."""

import hashlib
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar, Self

from wyoming_moss_nano.model.manifest import PinnedFile

_BLOCK = 16 << 10


def pin(folder: Path) -> tuple[PinnedFile, ...]:
    """A manifest of the files in the two folders of a bundle, plain files and large ones."""
    return tuple(
        pinned(path.parent.name, path.name, path.read_bytes())
        for path in sorted(folder.glob("*/*"))
    )


def pinned(directory: str, name: str, content: bytes) -> PinnedFile:
    revision = hashlib.sha1(directory.encode(), usedforsecurity=False).hexdigest()
    if name.endswith((".json", ".md")):
        head = b"blob %d\0" % len(content)
        algorithm, digest = "git-blob-sha1", hashlib.sha1(head + content, usedforsecurity=False)
    else:
        algorithm, digest = "sha256", hashlib.sha256(content)
    return PinnedFile(
        f"Somebody/{directory}", revision, directory, name, len(content), algorithm,
        digest.hexdigest(),
    )  # fmt: skip


@dataclass
class Manner:
    """How one request is answered."""

    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    cut: int | None = None  # bytes of the body after which the hub hangs up
    stall: tuple[int, float] | None = None  # after so many bytes, so many seconds of silence
    pace: float = 0.0  # seconds between blocks
    block: int = _BLOCK
    alter: Callable[[bytes], bytes] = lambda content: content
    ranges: bool = True  # whether a part is given where one is asked for
    content_range: str | None = None  # a wrong one
    chunked: bool = False
    redirect: str | None = None  # the host name of the place that has the file
    before: Callable[[], None] = lambda: None


@dataclass(frozen=True)
class Asked:
    """A request that came."""

    path: str
    range: str | None
    authorization: str | None
    host: str


class Hub:
    """The server; ``manner`` is its habit, ``manners`` come first, one request each."""

    def __init__(self, folder: Path, files: tuple[PinnedFile, ...]) -> None:
        self._content = {
            f"/{file.repository}/resolve/{file.revision}/{file.file}": folder
            / file.directory
            / file.file
            for file in files
        }
        self.manner = Manner()
        self.manners: deque[Manner] = deque()
        self.asked: list[Asked] = []
        self.sent = 0
        self._server = ThreadingHTTPServer(
            ("127.0.0.1", 0), type("Handler", (_Handler,), {"hub": self})
        )
        self._server.daemon_threads = True
        self.port = self._server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    @property
    def ranges(self) -> list[str]:
        return [asked.range for asked in self.asked if asked.range]

    def next_manner(self) -> Manner:
        return self.manners.popleft() if self.manners else self.manner

    def content(self, path: str) -> bytes | None:
        file = self._content.get(path.removeprefix("/cdn").partition("?")[0])
        return file.read_bytes() if file else None


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    hub: ClassVar["Hub"]

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        headers = self.headers
        self.hub.asked.append(
            Asked(self.path, headers["Range"], headers["Authorization"], headers["Host"])
        )
        manner = self.hub.next_manner()
        manner.before()
        self.close_connection = True
        with suppress(ConnectionError):
            self._answer(manner)

    def _answer(self, manner: Manner) -> None:
        content = self.hub.content(self.path)
        if manner.redirect is not None:
            host = f"http://{manner.redirect}:{self.hub.port}" if manner.redirect else ""
            self._begin(302, {"Location": f"{host}/cdn{self.path}?signed=x", "Content-Length": 0})
        elif content is None or manner.status >= 300:
            status = 404 if content is None else manner.status
            self._begin(status, {"Content-Length": 4} | manner.headers)
            self.wfile.write(b"oops")
        else:
            self._give(manner.alter(content), manner)

    def _give(self, content: bytes, manner: Manner) -> None:
        status, headers, start = manner.status, {}, 0
        if self.headers["Range"] and manner.ranges:
            start = int(self.headers["Range"].removeprefix("bytes=").removesuffix("-"))
            if start >= len(content):
                return self._begin(416, {"Content-Length": 0})
            status = 206
            whole = f"bytes {start}-{len(content) - 1}/{len(content)}"
            headers["Content-Range"] = manner.content_range or whole
        length = {"Transfer-Encoding": "chunked"} if manner.chunked else {
            "Content-Length": len(content) - start
        }  # fmt: skip
        self._begin(status, headers | length | manner.headers)
        return self._send(content[start:], manner)

    def _begin(self, status: int, headers: dict) -> None:
        self.send_response(status)
        for name, text in headers.items():
            self.send_header(name, str(text))
        self.end_headers()

    def _send(self, body: bytes, manner: Manner) -> None:
        end = len(body) if manner.cut is None else min(manner.cut, len(body))
        for at in range(0, end, manner.block):
            block = body[at : min(at + manner.block, end)]
            if manner.stall and at >= manner.stall[0]:
                time.sleep(manner.stall[1])
                manner.stall = None
            framed = b"%x\r\n%s\r\n" % (len(block), block) if manner.chunked else block
            self.wfile.write(framed)
            self.hub.sent += len(block)
            time.sleep(manner.pace)
        if manner.chunked and end == len(body):
            self.wfile.write(b"0\r\n\r\n")
