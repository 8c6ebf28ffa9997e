"""A real engine on loopback: our own index behind HTTP, speaking as Elasticsearch, Solr and others do, with faults.

Asked for `/pond/_search`, `/solr/pond/select` or `/find?q=…&n=…` it answers rightly. What follows a dash in the name of
the index, or of `find`, is the fault that it shows: `/pond-duplicates/_search` has a document twice.
"""

from __future__ import annotations

import json
import re
import threading
import time
from base64 import b64encode
from collections import Counter
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple
from urllib.parse import parse_qs, quote, unquote_plus, urlsplit

from cranfield.search import System, build_index, find_model
from cranfield.texts import read_documents
from places import EXAMPLES

Rows = list[tuple[Any, Any]]  # as the fault has it, which may be anything
SLOW = 0.3  # seconds that the fault of that name takes longer
HUGE = 200_000  # bytes
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
HOSTILE = "</td><img/src=x/onerror=window.pwned=1>\x1b[2J\u202e"
USUAL = re.compile(r"//localhost(:9200|:8983|)/")  # where Elasticsearch, Solr and others are found


class Seen(NamedTuple):
    """A request as the engine saw it."""

    method: str
    path: str
    headers: dict[str, str]
    body: str
    moment: float
    connection: int


class PondServer(ThreadingHTTPServer):
    """The pond of the examples, searched by bm25."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.seen: list[Seen] = []
        self.times: Counter[str] = Counter()
        self.lock = threading.Lock()
        self.most_at_once, self.at_once = 0, 0

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.server_port}"

    @property
    def url(self) -> str:
        return f"http://{self.address}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients that go away are what some tests are about."""


@cache
def system(fields: tuple[str, ...] = ()) -> System:
    documents = read_documents(EXAMPLES / "pond-documents.jsonl")
    return find_model("bm25").system(build_index(documents, fields=fields))


def ranked(query: str, depth: int, fields: tuple[str, ...] = ()) -> list[tuple[str, float]]:
    """What the pond has for a query; what a field counts more than another, as in title^2, is not heeded."""
    searched = system(tuple(field.partition("^")[0] for field in fields))
    found = searched.rank(query, depth)
    return [
        (searched.index.ids[i], score) for i, score in zip(found.documents.tolist(), found.scores.tolist(), strict=True)
    ]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: PondServer

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def do_POST(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        length = int(self.headers.get("Content-Length", 0))
        body = self.rfile.read(length).decode() if length else ""
        with self.server.lock:
            self.server.seen.append(
                Seen(self.command, self.path, dict(self.headers), body, time.monotonic(), self.client_address[1])
            )
            self.server.at_once += 1
            self.server.most_at_once = max(self.server.most_at_once, self.server.at_once)
        try:
            self._answer(body)
        finally:
            with self.server.lock:
                self.server.at_once -= 1

    def _answer(self, body: str) -> None:
        parts = urlsplit(self.path)
        given = {name: values[0] for name, values in parse_qs(parts.query).items()}
        segments = parts.path.strip("/").split("/")
        fault = next((part.partition("-")[2] for part in segments if "-" in part), "")
        if parts.path == "/":
            number = self._heard(body) if "X-Repeat" in self.headers else "8.1.0"
            self._send({"version": {"number": number, "distribution": "pond"}})
        elif parts.path == "/solr/admin/info/system":
            self._send({"lucene": {"solr-spec-version": "9.7.0"}})
        elif segments[-1] == "_search":
            asked = json.loads(body)
            match = asked["query"]["multi_match"]
            rows = self._rows(fault, match["query"], asked["size"], tuple(match.get("fields", ())))
            self._reply(fault, rows, lambda ids: {"hits": {"hits": [{"_id": i, "_score": s} for i, s in ids]}}, body)
        elif segments[0] == "solr":
            rows = self._rows(fault, given["q"], int(given["rows"]), tuple(given.get("qf", "").split()))
            self._reply(fault, rows, lambda ids: {"response": {"docs": [{"id": i, "score": s} for i, s in ids]}})
        elif segments[0].startswith("find"):
            asked = json.loads(body) if body else given
            rows = self._rows(fault, asked["q"], int(asked.get("n", 10)))
            self._reply(fault, rows, lambda ids: {"hits": [{"id": i, "score": s} for i, s in ids]}, body)
        else:
            self._send({"error": "no such index"}, 404)

    def _rows(self, fault: str, query: str, depth: int, fields: tuple[str, ...] = ()) -> Rows | None:
        """What is found, made wrong as the fault has it; None where there is no answer but a failure."""
        with self.server.lock:
            self.server.times[f"{self.path.partition('?')[0]} {query}"] += 1
            again = self.server.times[f"{self.path.partition('?')[0]} {query}"] % 2 == 0
        rows: Rows = list(ranked(query, depth, fields))
        if fault == "slow":
            time.sleep(SLOW)
        if fault in ("busy", "unavailable") and again:
            return rows
        if (fault == "partial" or fault in REPEATED) and "ducks" not in query:
            return rows
        if fault in REPEATED:
            return None
        if fault == "fails" and self.server.times[f"{self.path.partition('?')[0]} {query}"] < 3:
            return [*rows, rows[0]]
        if fault == "fails" and "ducks" not in query:
            return rows
        if fault == "locked" and self.headers.get("X-Key") == "open":
            return rows
        if fault in FAILURES:
            return None
        changed: dict[str, Rows] = {
            "duplicates": [*rows, *((id, rows[-1][1] - 1) for id, _ in rows[:1])],
            "many": [*rows, *((f"more{n}", -float(n)) for n in range(1, depth + 2))],
            "ascending": [(id, -score) for id, score in rows],
            "unstable": [(id, s) for (id, _), (_, s) in zip(reversed(rows), rows, strict=True)] if again else rows,
            "null": [(id, None) for id, _ in rows],
            "text": [(id, str(score)) for id, score in rows],
            "nan": [(id, float("nan")) for id, _ in rows],
            "nobody": [(None, score) for _, score in rows],
            "surrogate": [(id + "\ud800", score) for id, score in rows],
            "blank": [(f"{id} x", score) for id, score in rows],
            "newline": [(f"{id}\nx", score) for id, score in rows],
            "numbers": [(n, score) for n, (_, score) in enumerate(rows)],
            "nothing": [],
            "hostile": [(f"{HOSTILE}{n}", score) for n, (_, score) in enumerate(rows)],
        }
        return changed.get(fault, rows)

    def _heard(self, body: str) -> str:
        """All that could be a secret, as it was sent and otherwise."""
        sent = [value for name, value in self.headers.items() if name in ("Authorization", "Cookie", "X-Key")]
        words = [
            self.path,
            unquote_plus(self.path),
            *sent,
            body,
            json.dumps(body),
            *parse_qs(urlsplit(self.path).query),
        ]
        values = [value for values in parse_qs(urlsplit(self.path).query).values() for value in values]
        return " ".join([*words, *values, *(b64encode(word.encode()).decode() for word in (*sent, *values))])

    def _reply(self, fault: str, rows: Rows | None, form: Any, body: str = "") -> None:
        if rows is None and fault in REPEATED:
            REPEATED[fault](self, self._heard(body))
            return
        if rows is None:
            FAILURES[fault](self)
            return
        if fault == "drops" and self.client_address[1] in [seen.connection for seen in self.server.seen[:-1]]:
            self.close_connection = True  # though it was asked
            return
        if fault == "idle":  # as engines do with connections that nobody used for a while, without a word
            self._send(form(rows))
            self.close_connection = True
            return
        if fault == "page":
            self._raw(b"<html>hello</html>")
        elif fault == "shards":
            self._send(form(rows) | {"timed_out": False, "_shards": {"failed": 2}})
        elif fault == "time":
            self._send(form(rows) | {"timed_out": True, "_shards": {"failed": 0}})
        elif fault == "most":
            self._send(form(rows) | {"responseHeader": {"partialResults": True}})
        elif fault == "shape":
            self._send({"other": {"things": []}})
        else:
            self._send(form(rows))

    def _send(self, document: Any, status: int = 200, **headers: str) -> None:
        self._raw(json.dumps(document).encode(), status, **headers)

    def _raw(self, body: bytes, status: int = 200, reason: str | None = None, **headers: str) -> None:
        self.send_response(status, reason)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def _close(self) -> None:
        self.close_connection = True

    def _cut(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "1000")
        self.end_headers()
        self.wfile.write(b'{"hits": ')
        self.close_connection = True

    def _endless(self) -> None:
        """Larger than anybody wants, and nothing says so before."""
        self.send_response(200)
        self.send_header("Connection", "close")
        self.end_headers()
        for _ in range(HUGE // 1000):
            self.wfile.write(b" " * 1000)
        self.close_connection = True

    def _drip(self) -> None:
        """A byte now and then: every one of them comes in time, the answer does not."""
        self.send_response(200)
        self.send_header("Content-Length", "20")
        self.end_headers()
        for _ in range(20):
            self.wfile.write(b" ")
            time.sleep(0.05)

    def _dripped(self, first: bytes, again: bytes | None) -> None:
        """Something, and then the same now and then without end, or at once if it is the first."""
        self.close_connection = True
        self.wfile.write(first)
        while again != b"":
            self.wfile.write(first if again is None else again)
            time.sleep(0 if again is None else 0.02)

    def _refused(self) -> None:
        self._send({"error": f"{self.headers.get('Authorization')} may not do this"}, 401)

    def _elsewhere(self, where: str, status: int = 307) -> None:
        self._send({}, status, Location=where)


# What has no answer that could be read.
FAILURES: dict[str, Any] = {
    "busy": lambda handler: handler._send({}, 429, Retry_After="1"),
    "unavailable": lambda handler: handler._send({}, 503),
    "late": lambda handler: handler._send({}, 503, Retry_After="3600"),
    "down": lambda handler: handler._send({}, 503, Retry_After="0"),
    "wrong": lambda handler: handler._send({"error": {"reason": "no such field"}}, 400),
    "partial": lambda handler: handler._send({"error": {"reason": "no such field"}}, 400),
    "broken": lambda handler: handler._raw(b'{"hits": '),
    "empty": lambda handler: handler._raw(b""),
    "closed": Handler._close,
    "cut": Handler._cut,
    "huge": lambda handler: handler._raw(b" " * HUGE),
    "endless": Handler._endless,
    "drip": Handler._drip,
    "refused": Handler._refused,
    "locked": Handler._refused,
    "moved": lambda handler: handler._elsewhere(handler.path.replace("-moved", "")),
    "away": lambda handler: handler._elsewhere("http://ada:lace@127.0.0.2:9/pond/_search?token=x"),
    "file": lambda handler: handler._elsewhere("file:///etc/passwd"),
    "other": lambda handler: handler._elsewhere(handler.path.replace("-other", ""), 303),
    "round": lambda handler: handler._elsewhere(handler.path),
    "fails": lambda handler: handler._send({}, 500),
    "accent": lambda handler: handler._elsewhere("/café"),
    "bracket": lambda handler: handler._elsewhere("http://[::1"),
    "never": lambda handler: handler._send({}, 503, Retry_After="Mon, 01 Jan 2030 00:00:00 +99999999999999999999"),
    "dripped-head": lambda handler: handler._dripped(b"HTTP/1.1 200 OK\r\nX: ", b"y"),
    "lines": lambda handler: handler._dripped(b"HTTP/1.1 200 OK\r\n", b"X: y\r\n"),
    "continue": lambda handler: handler._dripped(b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    "digits": lambda handler: handler._dripped(CHUNKED, b"0"),
    "chunk": lambda handler: handler._dripped(CHUNKED + b"zz\r\nabc\r\n0\r\n\r\n", b""),
    "tall": lambda handler: handler._dripped(b"HTTP/1.1 100 Continue\r\nX: " + b"y" * 60_000 + b"\r\n\r\n", None),
}

# What repeats all that it heard.
REPEATED: dict[str, Any] = {
    "says-page": lambda handler, heard: handler._raw(heard.encode()),
    "says-later": lambda handler, heard: handler._raw(b" " * 20 + heard.encode()),
    "says-wrong": lambda handler, heard: handler._raw(heard.encode(), 400),
    "says-reason": lambda handler, heard: handler._raw(b"", 400, heard),
    "says-busy": lambda handler, heard: handler._raw(b"", 503, heard, Retry_After="0"),
    "says-name": lambda handler, heard: handler._send(dict.fromkeys(heard.split(), 1)),
    "says-id": lambda handler, heard: handler._send({"hits": [{"id": [heard], "score": 1}]}),
    "says-score": lambda handler, heard: handler._send({"hits": [{"id": "d1", "score": heard}]}),
    "says-where": lambda handler, heard: handler._elsewhere(f"http://127.0.0.2/{quote(heard)}"),
}


def started() -> PondServer:
    """An engine of one's own, which ends with the process."""
    server = PondServer()
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    return server


@cache
def engine() -> PondServer:
    """The engine that all tests of a process share."""
    return started()


def with_engine(word: str) -> str:
    """A word of a command line with the real address, where it has one that engines usually have."""
    return USUAL.sub(f"//{engine().address}/", word, count=1)


def without_engine(text: str) -> str:
    """What was said, with a usual address again."""
    return text.replace(engine().address, "localhost:9200") if engine.cache_info().currsize else text
