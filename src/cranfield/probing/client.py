"""One engine asked over HTTP: so many requests a second, tried again where that may help, and never for ever."""

from __future__ import annotations

import http.client
import io
import selectors
import socket
import ssl
import threading
import time
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple, Self
from urllib.parse import urljoin

from cranfield.errors import UsageError, plural, shorten
from cranfield.probing.addresses import VARIABLE, Address, Secrets, masked
from cranfield.probing.answers import AnswerError, beginning
from cranfield.probing.engines import Call
from cranfield.probing.templates import as_body
from cranfield.version import __version__

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer as Buffer

TRIED_AGAIN = (429, 502, 503, 504)  # of these, servers say themselves that they will pass
REDIRECTS = (301, 302, 303, 307, 308)
HOPS = 5
FIRST_PAUSE, LONGEST_PAUSE = 0.5, 30.0  # seconds before trying again, each pause twice the one before
LONGEST_WAIT = 120.0  # of what an engine may ask for with Retry-After
LONGEST_LIMIT = 86_400.0  # seconds for an answer, or between two requests: a day
BLOCK = 1 << 16
HEAD = 1 << 20  # bytes of an answer before its body
_CLOSED = (http.client.RemoteDisconnected, BrokenPipeError, ConnectionResetError, ConnectionAbortedError)


@dataclass(frozen=True, kw_only=True)
class Limits:
    """How hard an engine is asked: requests a second, how many at once, seconds for an answer, how often a request is
    tried again, and the most bytes of an answer.

    >>> Limits(rate=5).parallel
    1
    """

    rate: float = 10.0
    parallel: int = 1
    timeout: float = 30.0
    retries: int = 3
    most_bytes: int = 50_000_000

    def __post_init__(self) -> None:
        if not (0 < self.rate < float("inf") and 0 < self.timeout < float("inf")):
            raise UsageError(f"rate and timeout must be above 0, not {self.rate:g} and {self.timeout:g}")
        if self.timeout > LONGEST_LIMIT:
            raise UsageError(f"timeout must be at most {LONGEST_LIMIT:,.0f} seconds, a day, not {self.timeout:g}")
        if self.rate < 1 / LONGEST_LIMIT:
            raise UsageError(f"rate must be at least {1 / LONGEST_LIMIT:.2g}, a request a day, not {self.rate:g}")
        if self.parallel < 1 or self.retries < 0 or self.most_bytes < 1:
            raise UsageError("parallel and most_bytes must be 1 or more, and retries 0 or more")


class Reply(NamedTuple):
    """What came back, and the moments when it was asked for and when it was there."""

    body: bytes
    start: float
    end: float


class PassingError(Exception):
    """An answer that another try may better, and how many seconds the engine asks to wait before."""

    def __init__(self, reason: str, wait: float | None = None) -> None:
        super().__init__(reason)
        self.wait = wait


class Pace:
    """Lets through so many a second, whoever asks."""

    def __init__(self, rate: float) -> None:
        self._gap, self._next, self._lock = 1 / rate, 0.0, threading.Lock()

    def turn(self) -> float:
        """Seconds until it is the caller's turn."""
        with self._lock:
            now = time.monotonic()
            turn = max(now, self._next)
            self._next = turn + self._gap
        return turn - now


class _Timely(io.RawIOBase):
    """A connection that is read until a moment, which bytes that come one by one do not put off."""

    def __init__(self, raw: io.RawIOBase, connected: socket.socket) -> None:
        self._raw, self._connected = raw, connected
        self._deadline = time.perf_counter() + (connected.gettimeout() or 0.0)
        self.in_head, self.ended, self._size = True, False, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Buffer) -> int | None:
        left = self._deadline - time.perf_counter()
        if left <= 0:
            raise TimeoutError
        self._connected.settimeout(left)
        count = self._raw.readinto(buffer)
        self.ended = count == 0
        self._size += count or 0
        if self.in_head and self._size > HEAD:
            raise http.client.LineTooLong("head")
        return count

    def close(self) -> None:
        if not self.closed:
            self._raw.close()
        super().close()


class _Response(http.client.HTTPResponse):
    """An answer that is there, all of it, before the timeout that its connection has when it is made is over."""

    def __init__(self, sock: socket.socket, *arguments: Any, **more: Any) -> None:
        super().__init__(sock, *arguments, **more)
        self.timely = _Timely(self.fp.detach(), sock)
        self.fp = io.BufferedReader(self.timely)

    def begin(self) -> None:
        super().begin()
        self.timely.in_head = False


class Client:
    """Connections to one engine, one a thread, kept open between requests.

    `requests` counts all that were sent, `tried_again` why some were sent once more. What an engine says is to be shown
    without the `secrets`.
    """

    def __init__(self, address: Address, headers: Mapping[str, str], limits: Limits, secrets: Secrets) -> None:
        self._address, self._limits, self.secrets = address, limits, secrets
        self._headers = {"Accept": "application/json", "User-Agent": f"cranfield/{__version__}", **headers}
        self._pace, self._own, self._lock = Pace(limits.rate), threading.local(), threading.Lock()
        self._all: list[http.client.HTTPConnection] = []
        self._stopped = threading.Event()
        self._context = ssl.create_default_context() if address.scheme == "https" else None
        self.requests, self.tried_again = 0, Counter[str]()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for connection in self._all:
            connection.close()

    def ask(self, call: Call, *, retries: int | None = None) -> Reply:
        """The answer to a call, tried again where that may help; an AnswerError says why there is none."""
        most = self._limits.retries if retries is None else retries
        for tried in range(most + 1):
            try:
                return self._exchanged(call)
            except PassingError as error:
                reason = self.secrets.hidden(str(error))
                if tried == most:
                    times = f", tried {plural(tried + 1, 'time')}" if tried else ""
                    raise AnswerError(f"{reason}{times}") from None
                pause = min(FIRST_PAUSE * 2**tried, LONGEST_PAUSE) if error.wait is None else error.wait
                if pause > LONGEST_WAIT:
                    told = f"asks to wait {pause:,.0f} s, and {LONGEST_WAIT:g} s is the longest that is waited"
                    raise AnswerError(f"{reason}: the engine {told}") from None
                with self._lock:
                    self.tried_again[reason] += 1
                self._sleep(pause)
        raise AssertionError("unreachable")

    def stop(self) -> None:
        """Lets nobody wait any longer: what is under way ends, and nothing more is sent."""
        self._stopped.set()
        with self._lock:
            opened = [connection.sock for connection in self._all if connection.sock is not None]
        for connected in opened:
            with suppress(OSError):
                connected.shutdown(socket.SHUT_RDWR)

    def _sleep(self, seconds: float) -> None:
        if self._stopped.wait(seconds):
            raise AnswerError("stopped")

    def _exchanged(self, call: Call) -> Reply:
        """One request and its answer, with faults of the network in words."""
        try:
            return self._followed(call)
        except ssl.SSLError as error:
            self._drop()
            reason = getattr(error, "verify_message", "") or error.reason or str(error)
            raise AnswerError(f"no safe connection to {self._address.host}: {reason}") from None
        except TimeoutError:
            self._drop()
            raise PassingError(f"no answer within {self._limits.timeout:g} s") from None
        except socket.gaierror as error:
            raise AnswerError(f"there is no host {self._address.host}: {error.strerror}") from None
        except ConnectionRefusedError:
            self._drop()
            raise PassingError(f"nobody listens at {self._address.host}:{self._address.port}") from None
        except http.client.HTTPException as error:
            self._drop()
            raise PassingError(_words(error)) from None
        except OSError as error:
            self._drop()
            raise PassingError(f"the connection failed: {error.strerror or error}") from None

    def _followed(self, call: Call) -> Reply:
        """The answer, from where the engine sends us, which must be the same host: credentials go nowhere else."""
        path, taken = call.path, 0.0
        for _ in range(HOPS + 1):
            response, start = self._response(call, path)
            with response:
                body = self._body(response)
            end = time.perf_counter()
            taken += end - start  # without waiting for a turn before each of them
            if response.status not in REDIRECTS:
                self._check_status(response, body)
                return Reply(body, end - taken, end)
            path = self._elsewhere(response, path)
        raise AnswerError(f"the engine sends from one address to the next, more than {HOPS} times")

    def _response(self, call: Call, path: str) -> tuple[_Response, float]:
        """What comes back, and when it was asked for: after waiting for a turn, and after connecting."""
        headers = dict(self._headers)
        body = None
        if call.body is not None:
            headers["Content-Type"], body = "application/json", as_body(call.body)
        while True:
            self._sleep(self._pace.turn())
            connection, reused = self._connected()
            with self._lock:
                self.requests += 1
            start = time.perf_counter()
            try:
                connection.sock.settimeout(self._limits.timeout)
                connection.request("GET" if body is None else "POST", path, body, headers)
                left = start + self._limits.timeout - time.perf_counter()
                if left <= 0:
                    raise TimeoutError
                connection.sock.settimeout(left)
                response = connection.getresponse()
                assert isinstance(response, _Response)
                return response, start
            except _CLOSED:
                if not reused:
                    raise
                # The engine closed the connection when nothing was asked, or just then: its right, and no failure.
                self._drop()

    def _connected(self) -> tuple[http.client.HTTPConnection, bool]:
        """This thread's connection, and whether it was open before."""
        connection: http.client.HTTPConnection | None = getattr(self._own, "connection", None)
        if connection is not None and connection.sock is not None:
            if not _is_over(connection.sock):
                return connection, True
            connection.close()
        if connection is None:
            host, port, timeout = self._address.host, self._address.port, self._limits.timeout
            connection = (
                http.client.HTTPSConnection(host, port, timeout=timeout, context=self._context)
                if self._context
                else http.client.HTTPConnection(host, port, timeout=timeout)
            )
            connection.response_class = _Response
            self._own.connection = connection
            with self._lock:
                self._all.append(connection)
        connection.connect()
        return connection, False

    def _drop(self) -> None:
        connection: http.client.HTTPConnection | None = getattr(self._own, "connection", None)
        if connection is not None:
            connection.close()

    def _body(self, response: _Response) -> bytes:
        """All of an answer, if it is not too long, whole or not at all."""
        length, most = response.length, self._limits.most_bytes
        parts: list[bytes] = []
        size = 0
        while length is None or size < length:
            if max(size, length or 0) > most:
                self._drop()
                raise AnswerError(f"the answer is larger than {most:,} bytes: ask for less with --depth")
            try:
                part = response.read1(BLOCK)
            except http.client.IncompleteRead:
                if response.timely.ended:
                    raise
                raise ChunkError from None  # there is more, and no size of a chunk before it
            if not part:
                break
            parts.append(part)
            size += len(part)
        if length is not None and size < length:
            raise http.client.IncompleteRead(b"", length - size)
        return b"".join(parts)

    def _check_status(self, response: http.client.HTTPResponse, body: bytes) -> None:
        if 200 <= response.status < 300:
            return
        reason = shorten(f"{response.status} {response.reason}".strip(), 60)
        if response.status in TRIED_AGAIN:
            raise PassingError(f"the engine answers {reason}", _wait(response.headers.get("Retry-After")))
        text = shorten(" ".join(beginning(body, 2000).split()), 200)
        remedy = None
        if response.status in (401, 403):
            remedy = f"Give credentials by --header-file FILE (headers= in Python) or in the variable {VARIABLE}."
        told = f": {text}" if text else ""
        raise AnswerError(f"the engine answers {reason}{told}", remedy=remedy)

    def _elsewhere(self, response: http.client.HTTPResponse, path: str) -> str:
        """The path that a redirect leads to on the same host; one to another is refused."""
        address = self._address
        host = f"[{address.host}]" if ":" in address.host else address.host
        here = f"{address.scheme}://{host}:{address.port}{path}"
        there = _as_written(response.headers.get("Location", ""))
        try:
            there = urljoin(here, there)
            target = Address.of(there)
        except ValueError:  # a UsageError is one
            target = None
        if target is None or target.origin != address.origin or response.status == 303:
            shown = shorten(masked(there), 100)
            raise AnswerError(
                f"the engine answers {response.status} and sends us to {shown}, which is not followed",
                remedy="Give that address, if it is the engine's.",
            )
        return f"{target.path}?{target.query}" if target.query else target.path


class ChunkError(http.client.HTTPException):
    """A chunk of an answer without a size."""


def _is_over(connected: socket.socket) -> bool:
    """Whether the engine has closed a connection on which nothing was asked: only then is there something to read."""
    with selectors.DefaultSelector() as selector:
        selector.register(connected, selectors.EVENT_READ)
        return bool(selector.select(0))


def _as_written(text: str) -> str:
    """A header as its bytes have it, which is UTF-8 where they are: it was read as Latin-1.

    >>> _as_written("/caf\\xc3\\xa9"), _as_written("/caf\\xe9")
    ('/café', '/café')
    """
    try:
        return text.encode("latin-1").decode()
    except UnicodeError:
        return text


def _wait(text: str | None) -> float | None:
    """The seconds of a Retry-After, which is a number or a date.

    >>> _wait("3"), _wait("Thu, 01 Jan 1970 00:00:00 GMT"), _wait("soon"), _wait(None)
    (3.0, 0.0, None, None)
    >>> _wait("Mon, 01 Jan 2030 00:00:00 +99999999999999999999") is None
    True
    """
    if text is None:
        return None
    if text.strip().isdecimal():
        return float(text)
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - time.time())
    except (ValueError, OverflowError):
        return None


def _words(error: http.client.HTTPException) -> str:
    if isinstance(error, http.client.RemoteDisconnected):
        return "the engine closed the connection without an answer"
    if isinstance(error, http.client.IncompleteRead):
        return "the engine closed the connection before the end of its answer"
    if isinstance(error, ChunkError):
        return "a chunk of the answer has no size that can be read"
    if isinstance(error, http.client.LineTooLong) or type(error) is http.client.HTTPException:  # too many headers
        return "the head of the answer, or of a chunk in it, is too long"
    return f"the answer is not HTTP ({type(error).__name__})"
