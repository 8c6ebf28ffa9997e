"""The child process of uploads: what it may use, what it can see, and how its end is told."""

from __future__ import annotations

import os
import signal
import socket
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from cranfield.web.uploads import child
from cranfield.web.uploads.child import ChildLimits, in_child, work_folder
from cranfield.web.uploads.refusal import UNREAD, UploadError
from places import ROOT

MiB = 1 << 20
FAULT = "that is a fault of the server"


@pytest.fixture(autouse=True)
def more_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same child with tasks that misbehave."""
    places = (str(ROOT / "tests" / "common"), os.environ.get("PYTHONPATH"))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, places)))
    monkeypatch.setattr(child, "MODULE", "misbehaving_child")


def done(folder: Path, task: str, limits: ChildLimits | None = None, **arguments: Any) -> Any:
    with work_folder(folder) as work:
        return in_child(task, arguments, inputs={}, folder=work, limits=limits or ChildLimits(wall_seconds=60))


@pytest.mark.parametrize(
    ("task", "arguments", "limits", "code", "words"),
    [
        ("sleep", {}, {"wall_seconds": 1.5}, "time", "reading it took longer than 1.5 seconds"),
        ("spin", {}, {"processor_seconds": 2}, "processor", "more than 2 seconds of processor time"),
        ("eat", {}, {"memory": 512 * MiB}, "memory", "reading it needs more than 512 MiB of memory"),
        ("fill", {}, {"file_bytes": 3 * MiB}, "file-size", "what is made of it is more than 3,145,728 bytes"),
        (
            "talk",
            {"length": 5000},
            {"answer_bytes": 4000},
            "answer",
            "what there is to say about it is more than",
        ),
        ("end", {"signal": "SIGSEGV"}, {}, "crash", "reading it crashed (SIGSEGV), perhaps for want of memory"),
        ("end", {"signal": "SIGABRT"}, {}, "crash", "reading it crashed (SIGABRT)"),
        ("end", {"signal": "SIGKILL"}, {}, "killed", "reading it was stopped from outside"),
        ("leave", {}, {}, "failure", f"reading it failed: {FAULT}"),
        ("fail", {}, {}, "failure", f"reading it failed (RuntimeError): {FAULT}"),
        ("no such task", {}, {}, "failure", f"reading it failed (KeyError): {FAULT}"),
        ("refuse", {}, {}, "contents", "a.run:1: is wrong"),
    ],
    ids=lambda value: value.replace(" ", "-")[:20] if isinstance(value, str) else "",
)
def test_an_end_says_which_limit_it_was(
    tmp_path: Path, task: str, arguments: Mapping[str, Any], limits: Mapping[str, Any], code: str, words: str
) -> None:
    with pytest.raises(UploadError) as refused:
        done(tmp_path, task, ChildLimits(**{"wall_seconds": 60, **limits}), **arguments)
    assert refused.value.code == code
    assert words in str(refused.value)
    assert str(tmp_path) not in str(refused.value)
    assert refused.value.code not in UNREAD
    assert os.listdir(tmp_path) == []


def test_the_log_gets_what_the_client_does_not(tmp_path: Path) -> None:
    with pytest.raises(UploadError) as refused:
        done(tmp_path, "leave")
    assert "the reason" in refused.value.detail
    assert "the reason" not in str(refused.value)


def test_what_a_library_prints_is_no_answer(tmp_path: Path) -> None:
    assert done(tmp_path, "talk", length=3) == "xxx"


def test_nothing_of_the_server_is_in_the_child(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CRANFIELD_SECRET", "told to nobody")
    monkeypatch.setenv("HOME", "/root")
    with socket.create_server(("127.0.0.1", 0)) as listening, (tmp_path / "database").open("w") as file:
        for held in (listening.fileno(), file.fileno()):
            os.set_inheritable(held, True)
        seen = done(tmp_path, "look_around", ChildLimits(memory=1 << 30, processor_seconds=7, file_bytes=5 * MiB))
    assert "told to nobody" not in str(seen)
    allowed = {"LC_ALL", "PATH", "TMPDIR", "PYTHONDONTWRITEBYTECODE", "PYTHONPATH"}
    assert {name for name in seen["environment"] if not name.endswith("_THREADS")} - {"LC_CTYPE"} == allowed
    assert all(where.startswith(("pipe:", "/proc/")) for where in seen["files"].values()), seen["files"]
    assert seen["folder"] == []
    assert seen["limits"] == {
        "AS": [1 << 30, 1 << 30],
        "CPU": [7, 8],
        "FSIZE": [5 * MiB, 5 * MiB],
        "NOFILE": [64, 64],
        "CORE": [0, 0],
    }
    assert seen["leads"]
    assert not {"", ".", seen["environment"]["TMPDIR"]} & set(seen["path"])  # an upload called numpy.py is no module


def test_the_child_reaches_no_one(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        tried = done(tmp_path, "reach_out", port=listening.getsockname()[1])
    assert tried == ["connect", "run", "fork", "system"]


def test_what_the_child_has_started_ends_with_it(tmp_path: Path) -> None:
    told = tmp_path / "pid"
    with pytest.raises(UploadError, match="longer than 3 seconds"):
        done(tmp_path, "part", ChildLimits(wall_seconds=3), told=str(told))
    status = Path(f"/proc/{told.read_text()}/stat")
    for _ in range(1000):  # where nobody waits for it, it may stay as a name
        try:
            if status.read_text().rpartition(")")[2].split()[0] == "Z":
                return
        except (FileNotFoundError, ProcessLookupError):
            return
        time.sleep(0.01)
    pytest.fail("it still runs")


def test_no_more_than_two_at_once(tmp_path: Path) -> None:
    """Others wait their turn, and are told if it does not come."""
    ends: list[str] = []

    def one(wall: float) -> None:
        try:
            done(tmp_path, "sleep", ChildLimits(wall_seconds=wall))
        except UploadError as error:
            ends.append(error.code)

    threads = [threading.Thread(target=one, args=(3,)) for _ in range(child.AT_ONCE)]
    for thread in threads:
        thread.start()
    while len(os.listdir(tmp_path)) < child.AT_ONCE or child._places._value:
        time.sleep(0.01)
    one(0.2)
    assert ends == ["busy"]
    for thread in threads:
        thread.join()
    assert ends == ["busy", "time", "time"]


def test_the_child_ends_without_its_server(tmp_path: Path) -> None:
    """A clock of its own rings somewhat later than the server's would."""
    assert child._reason(-signal.SIGALRM) == "time"
    with pytest.raises(UploadError) as refused:
        done(tmp_path, "end", signal="SIGALRM")
    assert refused.value.code == "time"


@pytest.mark.parametrize("answer", [b"", b"[]", b"{}", b"x", b'{"given": 1, "refused": 2}', b"[" * 100_000])
def test_an_answer_that_is_none(answer: bytes) -> None:
    with pytest.raises(UploadError) as refused:
        child._meaning(answer, "")
    assert refused.value.code == "failure"


def test_an_answer_is_looked_at_as_a_strangers() -> None:
    with pytest.raises(UploadError) as refused:
        child._meaning(b'{"refused": "teapot", "text": "a\\u001b[2J\\ud800b\\nc"}', "")
    assert (refused.value.code, str(refused.value)) == ("failure", "a\\x1b[2J\\ud800b\n    c")


def test_a_request_fits_into_a_pipe(tmp_path: Path) -> None:
    with pytest.raises(UploadError, match="what is said about the file is too long"):
        done(tmp_path, "talk", text="x" * child.MOST_REQUESTED)
