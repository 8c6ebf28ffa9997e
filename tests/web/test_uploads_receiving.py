"""Bodies of requests through a real server: honest ones arrive whole, others are refused and leave nothing."""

from __future__ import annotations

import hashlib
import json
import os
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from select import select
from typing import Any, NamedTuple

import pytest

from commands import of_a_process
from places import ROOT

MOST = 100 << 20
LIMITS = {"file_bytes": MOST, "reserve": 0, "chunk_seconds": 5}
PIECE = b"q1 Q0 d1 1 9.5 tag\n" * 3450  # about 64 KB


class Server(NamedTuple):
    """A server in a process of its own."""

    port: int
    folder: Path
    pid: int

    def peak(self) -> int:
        """The most memory that it has had, in bytes."""
        text = Path(f"/proc/{self.pid}/status").read_text()
        return int(text.partition("VmHWM:")[2].split()[0]) << 10

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=30)

    def left(self) -> list[str]:
        return sorted(os.listdir(self.folder))


@contextmanager
def serving(folder: Path, limits: dict[str, Any], *more: str) -> Iterator[Server]:
    script = ROOT / "tests" / "common" / "upload_server.py"
    with subprocess.Popen(
        [sys.executable, str(script), str(folder), json.dumps(limits), *more],
        stdout=subprocess.PIPE,
        env=of_a_process(),
    ) as process:
        assert process.stdout is not None
        try:
            yield Server(int(process.stdout.readline()), folder, process.pid)
        finally:
            process.kill()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("uploads"), LIMITS) as started:
        yield started


@pytest.fixture(scope="module")
def impatient(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    limits = {"reserve": 0, "chunk_seconds": 0.5, "grace_seconds": 1, "slowest": 1000, "fields": 2, "field_bytes": 50}
    with serving(tmp_path_factory.mktemp("impatient"), limits) as started:
        yield started


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    limits = {"file_bytes": 1000, "reserve": 0, "chunk_seconds": 60, "grace_seconds": 1, "slowest": 1000}
    with serving(tmp_path_factory.mktemp("small"), limits) as started:
        yield started


def head(length: int | None, *more: str, path: str = "/a.run") -> bytes:
    sent = "Transfer-Encoding: chunked" if length is None else f"Content-Length: {length}"
    return "\r\n".join([f"POST {path} HTTP/1.1", "Host: x", sent, *more, "", ""]).encode()


def answer(client: socket.socket) -> tuple[int, dict[str, Any]]:
    """The status and what was said."""
    data = b""
    while b"\r\n\r\n" not in data or not data.endswith(b"}"):
        piece = client.recv(1 << 16)
        assert piece, data
        data += piece
    return int(data.split()[1]), json.loads(data.partition(b"\r\n\r\n")[2])


def sent(server: Server, *parts: bytes) -> tuple[int, dict[str, Any]]:
    with server.connect() as client:
        for part in parts:
            client.sendall(part)
        return answer(client)


def form(*parts: tuple[str, bytes], boundary: str = "cut") -> bytes:
    """The body of a form: for each part what it is, and what it holds."""
    whole = b"".join(
        f"--{boundary}\r\nContent-Disposition: form-data; {what}\r\n\r\n".encode() + data + b"\r\n"
        for what, data in parts
    )
    return whole + f"--{boundary}--\r\n".encode()


def posted(server: Server, body: bytes, kind: str = "multipart/form-data; boundary=cut") -> tuple[int, dict[str, Any]]:
    return sent(server, head(len(body), f"Content-Type: {kind}"), body)


def test_a_body_becomes_a_file_of_its_owner_alone(server: Server) -> None:
    body = PIECE * 40
    status, told = sent(server, head(len(body), path="/runs/best.run"), body)
    path = Path(told["path"])
    assert (status, told["size"], told["name"]) == (200, len(body), "best.run")
    assert told["sha256"] == hashlib.sha256(body).hexdigest()
    assert path.read_bytes() == body
    assert (path.parent, stat.S_IMODE(path.stat().st_mode)) == (server.folder, 0o600)
    assert "best" not in path.name
    path.unlink()


def test_chunks_and_no_bytes_at_all(server: Server) -> None:
    status, told = sent(server, head(None), b"3\r\nabc\r\n", b"2\r\nde\r\n0\r\n\r\n")
    assert (status, told["size"], Path(told["path"]).read_bytes()) == (200, 5, b"abcde")
    Path(told["path"]).unlink()
    status, told = sent(server, head(0))
    assert (status, told["size"]) == (200, 0)
    Path(told["path"]).unlink()


def test_a_form_has_one_file_and_a_few_fields(server: Server) -> None:
    data = b"\r\n--cu\r\n--cu--" + PIECE * 30 + b"\r\n--c"  # what looks like its end is none
    body = form(("name=kind", b"run"), ('name=f; filename="../L\u00e4ufe.run.gz"', data), ("name=note", "é".encode()))
    status, told = posted(server, body)
    assert (status, told["name"], told["fields"]) == (200, "Läufe.run.gz", {"kind": "run", "note": "é"})
    assert Path(told["path"]).read_bytes() == data
    assert told["sha256"] == hashlib.sha256(data).hexdigest()
    Path(told["path"]).unlink()


FILE = ('name=f; filename="a"', b"1")


@pytest.mark.parametrize(
    ("body", "kind", "reason"),
    [
        (form(FILE), "multipart/form-data", "it names no boundary"),
        (form(FILE), f"multipart/form-data; boundary={'x' * 300}", "Boundary length 300"),
        (form(FILE)[:-8], "", "it ends too early"),
        (form(("name=a", b"1")), "", "it has no file"),
        (form(('name=f; filename=""', b"")), "", "no file was chosen"),
        (form(FILE, FILE), "", "it has more than one file"),
        (form(FILE, ("name=a", b"1"), ("name=b", b"2"), ("name=c", b"3")), "", "it has more than 2 fields"),
        (form(FILE, ("name=a", b"1"), ("name=a", b"2")), "", "a field comes twice"),
        (form(FILE, ("name=a", b"1" * 51)), "", "a field has more than 50 bytes"),
        (form(FILE, (f"name={'a' * 101}", b"1")), "", "a field has a name of more than 100 characters"),
        (form(FILE).replace(b"form-data", b"attachment"), "", "a part of it does not say what it is"),
        (form(FILE).replace(b"\r\n\r\n", b"\r\nX: " + b"x" * 20_000 + b"\r\n\r\n"), "", "Maximum header size exceeded"),
        (b"no form", "", "Expected boundary"),
    ],
    ids=lambda value: value[:30] if isinstance(value, str) else "",
)
def test_what_is_no_such_form_is_refused_in_words(impatient: Server, body: bytes, kind: str, reason: str) -> None:
    status, told = posted(impatient, body, kind or "multipart/form-data; boundary=cut")
    assert (status, told["code"]) == (400, "malformed")
    assert told["text"].startswith("not a form with one file: ")
    assert reason in told["text"]
    assert impatient.left() == []


@pytest.mark.parametrize("length", [MOST + (1 << 20), 10 << 30, 10**18])
def test_gigabytes_announced_are_refused_before_they_come(server: Server, length: int) -> None:
    status, told = sent(server, head(length))
    assert (status, told["code"]) == (413, "too-long")
    assert told["text"].startswith(f"the file is longer than {MOST:,} bytes")
    assert server.left() == []


def test_one_byte_too_many(small: Server) -> None:
    """Of the file, whatever the form around it takes."""
    for size, status in ((1000, 200), (1001, 413)):
        data = b"x" * size
        whole = form(('name=f; filename="a"', data), ("name=a", b"1" * 500))
        for told in (sent(small, head(None), b"%x\r\n%b\r\n0\r\n\r\n" % (size, data)), posted(small, whole)):
            assert told[0] == status
            if status == 200:
                Path(told[1]["path"]).unlink()
            else:
                assert told[1]["text"].startswith("the file is longer than 1,000 bytes\n    Compress it")
        assert small.left() == []


def pushed(client: socket.socket, start: bytes, wrap: bool, most: int) -> int:
    """How many bytes of an endless body the server lets a client send."""
    client.sendall(start)
    chunk = b"%x\r\n%b\r\n" % (len(PIECE), PIECE) if wrap else PIECE
    count = 0
    try:
        while count < most:
            client.sendall(chunk)
            count += len(PIECE)
    except (BrokenPipeError, ConnectionResetError):
        pass
    return count


@pytest.mark.parametrize("kind", ["body", "form", "behind a form"])
def test_a_body_without_end_is_cut_off_and_memory_stays(server: Server, kind: str) -> None:
    Path(sent(server, head(len(PIECE) * 40), PIECE * 40)[1]["path"]).unlink()
    before = server.peak()
    with server.connect() as client:
        more = [] if kind == "body" else ["Content-Type: multipart/form-data; boundary=cut"]
        whole = form(('name=f; filename="a"', b""))
        first = {"body": b"", "form": whole[: -len("\r\n--cut--\r\n")], "behind a form": whole}[kind]
        start = head(None, *more) + (b"%x\r\n%b\r\n" % (len(first), first) if first else b"")
        count = pushed(client, start, True, 2 * MOST)
        assert MOST < count < 2 * MOST  # the connection is closed: nobody reads on
    assert server.peak() - before < 16 << 20
    assert server.left() == []


def test_a_body_that_is_long_enough_takes_no_memory_either(server: Server) -> None:
    count = MOST // len(PIECE)
    before = server.peak()
    with server.connect() as client:
        client.sendall(head(count * len(PIECE)))
        for _ in range(count):
            client.sendall(PIECE)
        status, told = answer(client)
    assert (status, told["size"]) == (200, count * len(PIECE))
    assert server.peak() - before < 16 << 20
    Path(told["path"]).unlink()


def test_lengths_that_lie(impatient: Server) -> None:
    with impatient.connect() as client:
        client.sendall(head(5) + b"abcde")
        status, told = answer(client)
        assert (status, told["size"]) == (200, 5)
        client.sendall(b"fgh\r\n\r\n")  # what follows is taken for another request, and is none
        assert client.recv(1 << 16).startswith(b"HTTP/1.1 400 ")
    Path(told["path"]).unlink()
    status, told = sent(impatient, head(50), b"abc")
    assert (status, told["code"], told["text"]) == (408, "slow", "nothing came for 0.5 seconds")
    assert impatient.left() == []


def test_who_drips_is_cut_off(small: Server) -> None:
    with small.connect() as client:
        client.sendall(head(10_000))
        while not select([client], [], [], 0.1)[0]:  # a byte now and then, which alone would never be too slow
            client.sendall(b"x")
        status, told = answer(client)
    assert (status, told["text"]) == (408, "fewer than 1,000 bytes a second came")
    assert small.left() == []


def test_who_goes_away_leaves_nothing(server: Server) -> None:
    def until(there: bool) -> None:
        for _ in range(3000):
            if (server.left() != []) == there:
                return
            time.sleep(0.01)
        pytest.fail(f"{server.left()}")

    with server.connect() as client:
        client.sendall(head(50 << 20) + PIECE * 100)
        until(there=True)
    until(there=False)


def test_a_full_disk_is_told_and_left_as_it_was(tmp_path: Path) -> None:
    with serving(tmp_path, {"reserve": 1 << 60}) as full:
        status, told = sent(full, head(3), b"abc")
        assert (status, told["code"]) == (507, "no-space")
        assert told["text"].startswith("the server's disk is full; nothing was kept")
        assert full.left() == []
    with serving(tmp_path, {"reserve": 0}, str(3 << 19)) as narrow:  # a file of more is refused by the system
        status, told = sent(narrow, head(len(PIECE) * 30), PIECE * 30)
        assert (status, told["code"]) == (507, "no-space")
        assert narrow.left() == []
    with serving(tmp_path / "gone", {"reserve": 0}) as missing:
        status, told = sent(missing, head(3), b"abc")
        assert (status, told["code"]) == (500, "failure")
        assert str(tmp_path) not in told["text"]
