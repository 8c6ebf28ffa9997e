"""One engine asked over HTTP: so many requests a second, tried again where that may help, and never for ever."""

from __future__ import annotations

import http.client
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
from typing import NamedTuple, Self
from urllib.parse import urljoin, urlsplit

from cranfield.errors import UsageError, plural, shorten
from cranfield.probing.addresses import VARIABLE, Address, masked, without
from cranfield.probing.answers import AnswerError
from cranfield.probing.engines import Call
from cranfield.probing.templates import as_body
from cranfield.version import __version__

TRIED_AGAIN = (429, 502, 503, 504)  # of these, servers say themselves that they will pass
REDIRECTS = (301, 302, 303, 307, 308)
HOPS = 5
FIRST_PAUSE, LONGEST_PAUSE = 0.5, 30.0  # seconds before trying again, each pause twice the one before
LONGEST_WAIT = 120.0  # of what an engine may ask for with Retry-After
BLOCK = 1 << 16
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


class Client:
    """Connections to one engine, one a thread, kept open between requests.

    `requests` counts all that were sent, `tried_again` why some were sent once more.
    """

    def __init__(self, address: Address, headers: Mapping[str, str], limits: Limits) -> None:
        self._address, self._limits = address, limits
        self._headers = {"Accept": "application/json", "User-Agent": f"cranfield/{__version__}", **headers}
        words = [part for value in headers.values() for part in (value, value.partition(" ")[2])]
        self._secrets = [word for word in (*address.secrets(), *words) if len(word) > 3]
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
            self._sleep(self._pace.turn())
            try:
                return self._exchanged(call)
            except PassingError as error:
                if tried == most:
                    times = f", tried {plural(tried + 1, 'time')}" if tried else ""
                    raise AnswerError(f"{error}{times}") from None
                pause = min(FIRST_PAUSE * 2**tried, LONGEST_PAUSE) if error.wait is None else error.wait
                if pause > LONGEST_WAIT:
                    told = f"asks to wait {pause:,.0f} s, and {LONGEST_WAIT:g} s is the longest that is waited"
                    raise AnswerError(f"{error}: the engine {told}") from None
                with self._lock:
                    self.tried_again[str(error)] += 1
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
        path, start = call.path, None
        for _ in range(HOPS + 1):
            response, asked = self._response(call, path)
            start = asked if start is None else start
            with response:
                body = self._body(response, asked + self._limits.timeout)
            end = time.perf_counter()
            if response.status not in REDIRECTS:
                self._check_status(response, body)
                return Reply(body, start, end)
            path = self._elsewhere(response, path)
        raise AnswerError(f"the engine sends from one address to the next, more than {HOPS} times")

    def _response(self, call: Call, path: str) -> tuple[http.client.HTTPResponse, float]:
        """What comes back, and when it was asked for; connecting is no part of that time."""
        headers = dict(self._headers)
        body = None
        if call.body is not None:
            headers["Content-Type"], body = "application/json", as_body(call.body)
        connection, reused = self._connected()
        with self._lock:
            self.requests += 1
        start = time.perf_counter()
        try:
            connection.request("GET" if body is None else "POST", path, body, headers)
            return connection.getresponse(), start
        except _CLOSED:
            if not reused:
                raise
        # The engine had closed the connection while nothing was asked: that is its right, and no failure.
        self._drop()
        connection, _ = self._connected()
        start = time.perf_counter()
        connection.request("GET" if body is None else "POST", path, body, headers)
        return connection.getresponse(), start

    def _connected(self) -> tuple[http.client.HTTPConnection, bool]:
        """This thread's connection, and whether it was open before."""
        connection: http.client.HTTPConnection | None = getattr(self._own, "connection", None)
        if connection is not None and connection.sock is not None:
            return connection, True
        if connection is None:
            host, port, timeout = self._address.host, self._address.port, self._limits.timeout
            connection = (
                http.client.HTTPSConnection(host, port, timeout=timeout, context=self._context)
                if self._context
                else http.client.HTTPConnection(host, port, timeout=timeout)
            )
            self._own.connection = connection
            with self._lock:
                self._all.append(connection)
        connection.connect()
        return connection, False

    def _drop(self) -> None:
        connection: http.client.HTTPConnection | None = getattr(self._own, "connection", None)
        if connection is not None:
            connection.close()

    def _body(self, response: http.client.HTTPResponse, deadline: float) -> bytes:
        """All of an answer, if it is not too long and comes in time, whole or not at all."""
        length, most = response.length, self._limits.most_bytes
        parts: list[bytes] = []
        size = 0
        while length is None or size < length:
            if max(size, length or 0) > most:
                self._drop()
                raise AnswerError(f"the answer is larger than {most:,} bytes: ask for less with --depth")
            if time.perf_counter() > deadline:
                raise TimeoutError
            part = response.read1(BLOCK)
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
        text = shorten(without(self._secrets, " ".join(body[:2000].decode("utf-8", "replace").split())), 200)
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
        there = urljoin(here, response.headers.get("Location", ""))
        try:
            target = Address.of(there)
        except UsageError:
            target = None
        if target is None or target.origin != address.origin or response.status == 303:
            shown = shorten(without(self._secrets, masked(there)), 100)
            raise AnswerError(
                f"the engine answers {response.status} and sends us to {shown}, which is not followed",
                remedy="Give that address, if it is the engine's.",
            )
        parts = urlsplit(there)
        return f"{parts.path or '/'}?{parts.query}" if parts.query else parts.path or "/"


def _wait(text: str | None) -> float | None:
    """The seconds of a Retry-After, which is a number or a date.

    >>> _wait("3"), _wait("Thu, 01 Jan 1970 00:00:00 GMT"), _wait("soon"), _wait(None)
    (3.0, 0.0, None, None)
    """
    if text is None:
        return None
    if text.strip().isdecimal():
        return float(text)
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - time.time())
    except ValueError:
        return None


def _words(error: http.client.HTTPException) -> str:
    if isinstance(error, http.client.RemoteDisconnected):
        return "the engine closed the connection without an answer"
    if isinstance(error, http.client.IncompleteRead):
        return "the engine closed the connection before the end of its answer"
    return f"the answer is not HTTP ({type(error).__name__})"
