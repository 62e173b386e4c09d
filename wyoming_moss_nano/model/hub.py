"""Reading pinned files from the hub: one request, from any byte on, by plain HTTP.

huggingface-hub says where files are and who asks for them. The transfer is not its own, because
its versions differ in what they do with a download that was cut off. No entity tag goes with a
range: a pinned revision never changes, and the digest decides in the end.
"""

import queue
import re
import threading
from collections.abc import Callable
from contextlib import closing, suppress
from datetime import UTC, datetime
from email.message import Message
from email.utils import parsedate_to_datetime
from functools import partial
from http import HTTPStatus
from http.client import HTTPException
from typing import IO, Any, Final
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from .. import __version__
from ..errors import DownloadError
from .manifest import PinnedFile
from .source import Block, Blocks, RejectedError, TransientError

_BLOCK: Final = 256 << 10  # at most; a block is what one read of the connection gives
_BLOCKS_AHEAD: Final = 16
_BEAT: Final = 0.2  # seconds
_SILENCE: Final = 30.0  # seconds

_PASSING: Final = (
    HTTPStatus.REQUEST_TIMEOUT,
    HTTPStatus.TOO_EARLY,
    HTTPStatus.TOO_MANY_REQUESTS,
)
_ADVICE: Final[dict[int, str]] = {
    HTTPStatus.UNAUTHORIZED: "check HF_TOKEN, or unset it: the published files need none",
    HTTPStatus.FORBIDDEN: "check HF_TOKEN, HF_ENDPOINT and any proxy between",
    HTTPStatus.NOT_FOUND: "check HF_ENDPOINT",
}
_BRING: Final = "or bring the files with model fetch --from DIR"
_NO_ADDRESS: Final = "HF_ENDPOINT is no web address: unset it, or make it https://HOST"


class HubSource:
    """The hub at ``endpoint``: without one that of HF_ENDPOINT, else the public one.

    ``silence`` is how many seconds without a byte break a connection.

    Raises:
        DownloadError: HF_HUB_OFFLINE is set, or HF_ENDPOINT is no web address.
    """

    def __init__(self, endpoint: str | None = None, silence: float = _SILENCE) -> None:
        # Imported late: it takes a fifth of a second, and most starts fetch nothing.
        from huggingface_hub import constants, get_token, hf_hub_url  # noqa: PLC0415

        if constants.HF_HUB_OFFLINE:
            raise DownloadError(f"HF_HUB_OFFLINE is set, so nothing is fetched: unset it, {_BRING}")
        self.name = _host(endpoint or constants.ENDPOINT)
        self._url = partial(hf_hub_url, endpoint=endpoint)
        # The library's own headers tell what else is installed and which program runs it, and newer
        # versions ask the hub for a list to do so. Nothing but the token is needed.
        self._headers = {"User-Agent": f"wyoming-moss-nano/{__version__}"}
        token = None if constants.HF_HUB_DISABLE_IMPLICIT_TOKEN else get_token()
        if token:
            self._headers["Authorization"] = f"Bearer {token}"
        self._opener = build_opener(_Redirects)
        self._silence = silence

    def read(self, pinned: PinnedFile, start: int) -> Blocks:
        """Yield a file's content from byte ``start`` on, or from 0 where the hub gives no part.

        While nothing comes an empty block is yielded several times a second, so that whoever reads
        can stop at any time: the connection has a thread of its own.

        Raises:
            TransientError: trying again may help.
            RejectedError: the hub sends something else.
            DownloadError: trying again will not help.
        """
        arrived: queue.Queue[Block | Exception | None] = queue.Queue(_BLOCKS_AHEAD)
        left = threading.Event()

        def offer(item: Block | Exception | None) -> None:
            while not left.is_set():
                with suppress(queue.Full):
                    arrived.put(item, timeout=_BEAT)
                    return

        def pump() -> None:
            try:
                with closing(self._blocks(pinned, start)) as blocks:
                    for block in blocks:
                        offer(block)
                        if left.is_set():
                            return
                offer(None)
            except Exception as error:  # noqa: BLE001 - raised where it is waited for
                offer(error)

        threading.Thread(target=pump, name=f"fetch {pinned.file}", daemon=True).start()
        try:
            yield from _take(arrived.get, start)
        finally:
            left.set()

    def _blocks(self, pinned: PinnedFile, start: int) -> Blocks:
        response = self._open(pinned, start)
        try:
            with response:
                offset = _first_byte(response.status, response.headers, pinned, start)
                if offset is not None:
                    yield from self._body(response, pinned, offset)
        except (OSError, HTTPException) as error:
            raise self._broken(error) from error
        if offset is None:
            yield from self._blocks(pinned, 0)

    def _body(self, response: Any, pinned: PinnedFile, offset: int) -> Blocks:
        while offset < pinned.bytes:
            block = response.read1(min(_BLOCK, pinned.bytes - offset))
            if not block:
                raise TransientError(f"{self.name} hung up early")
            yield offset, block
            offset += len(block)

    def _open(self, pinned: PinnedFile, start: int) -> Any:
        url = self._url(pinned.repository, pinned.file, revision=pinned.revision)
        request = Request(url, headers=self._headers)  # noqa: S310 - the scheme is checked
        if start:
            request.add_header("Range", f"bytes={start}-")
        try:
            return self._opener.open(request, timeout=self._silence)
        except HTTPError as error:
            error.close()
            if error.code != HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE or not start:
                raise self._refusal(pinned, error) from error
        except URLError as error:
            raise TransientError(
                f"{self.name} cannot be reached ({_reason(error.reason)})", unreachable=True
            ) from error
        except (OSError, HTTPException) as error:
            raise self._broken(error) from error
        except ValueError as error:
            raise DownloadError(_NO_ADDRESS) from error
        return self._open(pinned, 0)

    def _broken(self, error: Exception) -> TransientError:
        return TransientError(f"the connection to {self.name} broke ({_reason(error)})")

    def _refusal(self, pinned: PinnedFile, error: HTTPError) -> Exception:
        answer = f"{self.name} answers {error.code} for {pinned.repository}/{pinned.file}"
        if error.code in _PASSING or error.code >= HTTPStatus.INTERNAL_SERVER_ERROR:
            return TransientError(answer, retry_after=_seconds(error.headers.get("Retry-After")))
        advice = _ADVICE.get(error.code, "check HF_ENDPOINT and any proxy between")
        return DownloadError(f"{answer}: {advice}, {_BRING}")


class _Redirects(HTTPRedirectHandler):
    """Follows the hub to where it keeps large files, but never hands the user's token on."""

    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: Any, newurl: str
    ) -> Request | None:
        request = super().redirect_request(req, fp, code, msg, headers, newurl)
        if request is not None and _origin(newurl) != _origin(req.full_url):
            request.remove_header("Authorization")
        return request


def _host(endpoint: str) -> str:
    try:
        parts = urlsplit(endpoint)
        port = parts.port
    except ValueError as error:
        raise DownloadError(_NO_ADDRESS) from error
    # a password in the address would end up in messages: the token is what says who asks
    if parts.scheme not in ("http", "https") or not parts.hostname or port == 0 or parts.username:
        raise DownloadError(_NO_ADDRESS)
    return parts.hostname


def _origin(url: str) -> tuple[str, str | None, int | None]:
    parts = urlsplit(url)
    return parts.scheme, parts.hostname, parts.port


def _take(get: Callable[[bool, float], Block | Exception | None], start: int) -> Blocks:
    nothing = (start, b"")
    while True:
        try:
            item = get(True, _BEAT)
        except queue.Empty:
            yield nothing
            continue
        if item is None:
            return
        if isinstance(item, Exception):
            raise item
        yield item


def _first_byte(status: int, headers: Message, pinned: PinnedFile, start: int) -> int | None:
    """Return where in the file an answer begins; None where it is a part nobody asked for.

    Raises:
        RejectedError: its length is not that of the pinned file.
    """
    if status == HTTPStatus.PARTIAL_CONTENT and start:
        part = re.fullmatch(r"bytes (\d+)-\d+/(\d+|\*)", headers.get("Content-Range", ""))
        if part is None or int(part[1]) != start:
            return None
        length = None if part[2] == "*" else part[2]
    elif status == HTTPStatus.OK:
        length = headers.get("Content-Length")
    else:
        raise RejectedError(f"comes with status {status}")
    if length is not None and length != str(pinned.bytes):
        raise RejectedError(f"has {length} bytes there, not {pinned.bytes}")
    return start if status == HTTPStatus.PARTIAL_CONTENT else 0


def _seconds(retry_after: str | None) -> float | None:
    """Return the seconds that a Retry-After header asks for: it holds a number or a date."""
    if retry_after is None:
        return None
    if retry_after.strip().isdecimal():
        return float(retry_after)
    try:
        until = parsedate_to_datetime(retry_after)
    except ValueError:
        return None
    if until.tzinfo is None:
        until = until.replace(tzinfo=UTC)
    return max(0.0, (until - datetime.now(UTC)).total_seconds())


def _reason(error: object) -> str:
    if isinstance(error, TimeoutError):
        return "no answer in time"
    return getattr(error, "strerror", None) or str(error) or type(error).__name__
