"""Judging in the terminal: with lines as keys, and in a real terminal with single presses."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import pty
import re
import resource
import select
import signal
import struct
import sys
import termios
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from commands import command_line, of_a_process
from cranfield.formats import read_qrels
from cranfield.formats.reading import Reading
from cranfield.judging.event_log import EventLog, read_events
from places import EXAMPLES

POND = ("--collection", "pond.toml")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for path in EXAMPLES.glob("pond*"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    return tmp_path


def judge(folder: Path, keys: str, *words: str) -> tuple[str, str, int]:
    return command_line("judge", "pond.pool", *POND, *words, stdin="\n".join(keys.split(" ")).encode(), folder=folder)


def test_lines_are_keys_and_the_judgements_are_written(folder: Path) -> None:
    out, err, code = judge(folder, "2 x 3 l space 0 q", "-o", "mine.qrels")
    assert code == 0
    events = read_events(str(folder / "pond.pool.events"))
    assert [(e.kind, e.grade, e.reason, e.view) for e in events] == [
        ("grade", 2, None, "passage"),
        ("cannot", None, "language", "passage"),
        ("later", None, None, "passage"),
        ("grade", 0, None, "whole"),
    ]
    assert "2 of 19 documents judged, 1 can't be told, 16 left: pond.pool.events\n2 judgements in mine.qrels\n" in out
    grades = read_qrels(folder / "mine.qrels").to_dict()
    assert grades == {"1": {events[0].document: 2.0, events[3].document: 0.0}}
    assert "cranfield: warning: judgements: without a grade, not judged: 16 pairs" in err
    assert "cranfield: warning: judgements: without a grade, can't tell: 1 pair" in err


def test_it_goes_on_where_it_was(folder: Path) -> None:
    first, _, _ = judge(folder, "0 1 q")
    again, _, _ = judge(folder, "q")
    assert again.splitlines()[1] == "Topic 1: 2 of 3 judged; 2 of 19 in all"
    assert "\n".join(again.splitlines()[1:8]) in first


def test_when_all_is_judged_it_ends(folder: Path) -> None:
    out, err, code = judge(folder, " ".join(["1"] * 19), "-o", "all.qrels")
    assert (code, err) == (0, "")
    assert out.endswith(
        "19 of 19 documents judged, 0 can't be told, 0 left: pond.pool.events\n19 judgements in all.qrels\n"
    )
    out, _, _ = judge(folder, "")
    assert out == "19 of 19 documents judged, 0 can't be told, 0 left: pond.pool.events\n"


def test_undo_notes_and_help(folder: Path) -> None:
    keys = "n\nreads like spam\n0\nu\n?\n3\nu\nu\nq\n"
    out, _, code = command_line("judge", "pond.pool", *POND, stdin=keys.encode(), folder=folder)
    assert code == 0
    events = read_events(str(folder / "pond.pool.events"))
    assert [(e.kind, e.grade, e.note) for e in events] == [
        ("grade", 0, "reads like spam"),
        ("undo", None, ""),
        ("grade", 3, "reads like spam"),
        ("undo", None, ""),
    ]
    assert "Undone; judge it again.\nNote: reads like spam\n" in out
    assert "Nothing to undo." in out
    assert "  u  undo\n  x  can't tell\n" in out


@pytest.mark.parametrize(("keys", "line"), [("1 zz", "2 | zz"), ("1 k", "2 | k")])
def test_a_line_that_is_no_key_is_an_error_and_what_was_judged_is_kept(folder: Path, keys: str, line: str) -> None:
    _, err, code = judge(folder, keys)
    assert code == 3
    assert f"cranfield: standard input:2: not a key\n    {line}\n" in err
    assert len(read_events(str(folder / "pond.pool.events"))) == 1


def test_a_reason_that_is_none_judges_nothing(folder: Path) -> None:
    out, _, code = judge(folder, "x 9 q")
    assert code == 0
    assert "Can't tell: 1 question unclear  2 document unreadable  3 language  4 other" in out
    assert "No reason given: judge it." in out
    assert read_events(str(folder / "pond.pool.events")) == []


def test_nothing_judged_writes_nothing(folder: Path) -> None:
    out, _, code = judge(folder, "q", "-o", "mine.qrels")
    assert code == 0
    assert out.endswith("Nothing is judged yet: mine.qrels is not written.\n")
    assert not (folder / "mine.qrels").exists()


def test_two_at_one_log_are_refused(folder: Path) -> None:
    with EventLog(str(folder / "pond.pool.events")):
        _, err, code = judge(folder, "1")
    assert code == 2
    assert "pond.pool.events is in use: somebody else is judging with it" in err


@pytest.mark.parametrize("place", ["pond.pool", "pond.toml", "pond-documents.jsonl"])
def test_a_log_is_nothing_that_is_read(folder: Path, place: str) -> None:
    before = (folder / place).read_bytes()
    _, err, code = judge(folder, "1", "--events", place)
    assert code == 2
    assert f"{place} is also read" in err
    assert (folder / place).read_bytes() == before


def test_a_log_and_the_judgements_are_two_files(folder: Path) -> None:
    _, err, code = judge(folder, "1", "--events", "one", "-o", "./one")
    assert code == 2
    assert "name one file" in err


def test_a_torn_log_is_told(folder: Path) -> None:
    (folder / "pond.pool.events").write_text('{"topic":')
    _, err, code = judge(folder, "1 q")
    assert code == 0
    assert "cranfield: warning: pond.pool.events: the last line was never finished, and is cut off: {" in err
    assert len(read_events(str(folder / "pond.pool.events"))) == 1


def test_documents_and_topics_without_text_are_told_and_shown_so(folder: Path) -> None:
    (folder / "pond.pool").write_text("1 0 nowhere\n99 0 d01\n")
    out, err, code = judge(folder, "1 q")
    assert code == 0
    assert "pond: no text of 1 topic of the pool: 99" in err
    assert "pond: no text of 1 document of the pool: nowhere" in err
    assert "(no text of this document)" in out
    assert "(no text of this topic)" in out


def test_ranks_and_systems_are_nowhere(folder: Path) -> None:
    out, _, _ = judge(folder, " ".join(["0"] * 19))
    assert not re.search("bm25|titles|rank|score", out)


def test_a_sample_is_released_with_its_strata(folder: Path) -> None:
    words = [
        "pool",
        "pond-bm25.run",
        "pond-titles.run",
        "--method",
        "stratified",
        "--strata",
        "1:1,3:50%",
        "-o",
        "sample.pool",
    ]
    assert command_line(*words, folder=folder).exit == 0
    lines = len((folder / "sample.pool").read_text().splitlines())
    done = command_line(
        "judge", "sample.pool", *POND, "-o", "s.qrels", stdin=b"1\n" * (lines - 1) + b"q\n", folder=folder
    )
    assert done.exit == 3
    assert "1 document drawn but not judged" in done.stderr
    done = command_line("judge", "sample.pool", *POND, "-o", "s.qrels", stdin=b"1\n", folder=folder)
    assert done.exit == 0
    qrels = read_qrels(folder / "s.qrels", reading=Reading(judgements="sampled"))
    assert set(qrels.columns) == {"sampled", "stratum"}


def test_logs_of_several_make_one_release(folder: Path) -> None:
    words = ("--events", "pond-ann.events", "--events", "pond-bob.events", "--policy", "highest")
    done = command_line(
        "judge", "pond.pool", "--release", *words, "-o", "r.qrels", "--provenance", "r.json", folder=folder
    )
    assert (done.exit, done.stdout) == (0, "19 judgements in r.qrels\n")
    told = json.loads((folder / "r.json").read_text())
    assert [who["assessor"] for who in told["assessors"]] == ["ann", "bob"]
    import hashlib

    assert told["digest"] == "sha256:" + hashlib.sha256((folder / "r.qrels").read_bytes()).hexdigest()


HOSTILE = "\x1b[2J\x1b]0;owned\x07\x1b[1mbold\x9b31m \u202egnp\u2066 \x08\x0d zzz"


@pytest.fixture
def hostile(folder: Path) -> Path:
    (folder / "pond.pool").write_bytes(b"q\x1b[31m 0 d\x1b[2J\n")
    (folder / "topics.tsv").write_text("id\ttitle\nq\x1b[31m\tzzz " + HOSTILE.replace("\x0d", "") + "\n")
    (folder / "documents.jsonl").write_text(
        json.dumps({"id": "d\x1b[2J", "title": HOSTILE, "text": f"{HOSTILE}\nline\n{HOSTILE}"}) + "\n"
    )
    return folder


TEXTS = ("--questions", "topics.tsv", "--documents", "documents.jsonl")


def test_hostile_text_steers_nothing_without_a_terminal(hostile: Path) -> None:
    done = command_line("judge", "pond.pool", *TEXTS, stdin=f"space\nn\n{HOSTILE[:4]}\nq\n".encode(), folder=hostile)
    assert done.exit == 0, done.stderr
    assert "\\x1b[2J" in done.stdout
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", done.stdout + done.stderr)


class Typist:
    """Somebody at a real terminal, who types when the screen shows what was waited for."""

    def __init__(self, folder: Path, *words: str, lines: int, largest: int | None) -> None:
        self.child, self.terminal = pty.fork()
        if self.child == 0:
            if largest is not None:
                resource.setrlimit(resource.RLIMIT_FSIZE, (largest, largest))
            os.chdir(folder)
            environment = of_a_process() | {"TERM": "xterm", "COLUMNS": "80"}
            os.execve(sys.executable, [sys.executable, "-m", "cranfield", "judge", "pond.pool", *words], environment)
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", lines, 80, 0, 0))
        self.before = termios.tcgetattr(self.terminal)
        self.seen = ""

    def until(self, text: str) -> str:
        """What comes on the screen until it has this."""
        new = ""
        end = time.monotonic() + 60
        while text not in new:
            assert time.monotonic() < end, f"no {text!r} in {new!r}"
            if select.select([self.terminal], [], [], 1)[0]:
                with contextlib.suppress(OSError):
                    part = os.read(self.terminal, 65536).decode("utf-8", "surrogateescape")
                    new += part
                    self.seen += part
        return new

    def type(self, keys: str) -> None:
        os.write(self.terminal, keys.encode())

    def ended(self) -> int:
        with contextlib.suppress(OSError):
            while part := os.read(self.terminal, 65536):
                self.seen += part.decode("utf-8", "surrogateescape")
        return os.waitstatus_to_exitcode(os.waitpid(self.child, 0)[1])

    @property
    def settings(self) -> list[object]:
        return termios.tcgetattr(self.terminal)


@contextlib.contextmanager
def typing(folder: Path, *words: str, lines: int = 40, largest: int | None = None) -> Iterator[Typist]:
    typist = Typist(folder, *words, lines=lines, largest=largest)
    try:
        yield typist
    finally:
        with contextlib.suppress(OSError):
            os.close(typist.terminal)
        with contextlib.suppress(ProcessLookupError, ChildProcessError):
            os.kill(typist.child, signal.SIGKILL)
            os.waitpid(typist.child, 0)


def test_single_presses_in_a_real_terminal(folder: Path) -> None:
    with typing(folder, *POND) as typist:
        typist.until("q leave")
        before = typist.before[3]
        assert not typist.settings[3] & (termios.ICANON | termios.ECHO)  # type: ignore[operator]
        typist.type("\x1b[A\x1bOB\x1b[1;5C2")  # arrows are no keys
        typist.until("1 of 19 in all")
        typist.type("x")
        typist.until("4 other")
        typist.type("4")
        typist.until("2 of 19 in all")
        typist.type("n")
        typist.until("Note: ")
        typist.type("a nöte\n")
        typist.until("Note: a nöte")
        typist.type("1u")
        typist.until("Undone; judge it again.")
        typist.type("k")
        typist.until("That key does nothing; ? lists all.")
        typist.type("q")
        typist.until("1 of 19 documents judged, 1 can't be told, 17 left")
        assert typist.settings[3] == before
        assert typist.ended() == 0
    events = read_events(str(folder / "pond.pool.events"))
    assert [(e.kind, e.grade, e.note) for e in events] == [
        ("grade", 2, ""),
        ("cannot", None, ""),
        ("grade", 1, "a nöte"),
        ("undo", None, ""),
    ]


def test_words_of_the_question_are_marked_until_h(folder: Path) -> None:
    with typing(folder, *POND) as typist:
        first = typist.until("q leave")
        assert re.search("\x1b\\[33m[Dd]ucks?\x1b\\[0m", first)
        typist.type("h")
        assert "\x1b[33m" not in typist.until("q leave")
        typist.type("h")
        assert "\x1b[33m" in typist.until("q leave")
        typist.type("\x04")  # the end of input
        typist.until("left")
        assert typist.ended() == 0


def test_ctrl_c_is_a_way_to_leave(folder: Path) -> None:
    with typing(folder, *POND, "-o", "judged.qrels") as typist:
        typist.until("q leave")
        typist.type("3")
        typist.until("1 of 19 in all")
        typist.type("\x03")
        typist.until("18 left")
        assert typist.settings[3] == typist.before[3]
        assert typist.ended() == 0
    assert [event.grade for event in read_events(str(folder / "pond.pool.events"))] == [3]
    assert (folder / "judged.qrels").read_text().split()[-1] == "3"


def test_a_signal_loses_nothing_and_restores_the_terminal(folder: Path) -> None:
    with typing(folder, *POND) as typist:
        typist.until("q leave")
        typist.type("3")
        typist.until("1 of 19 in all")
        os.kill(typist.child, signal.SIGTERM)
        typist.until("interrupted")
        assert typist.settings[3] == typist.before[3]
        assert typist.ended() == 128 + signal.SIGTERM
    assert [event.grade for event in read_events(str(folder / "pond.pool.events"))] == [3]


def test_an_error_restores_the_terminal(folder: Path) -> None:
    """No file may grow to more than a few bytes: as on a full disk, the log takes no event."""
    with typing(folder, *POND, largest=10) as typist:
        typist.until("q leave")
        typist.type("1")
        typist.until("pond.pool.events: cannot be written: ")
        assert typist.settings[3] == typist.before[3]
        assert typist.ended() == 3
    assert (folder / "pond.pool.events").read_bytes() == b""


def test_a_long_document_is_turned_page_by_page_and_back(folder: Path) -> None:
    (folder / "pond.pool").write_text("1 0 long\n")
    text = "\n".join(f"line number {n} about ducks" for n in range(60))
    (folder / "documents.jsonl").write_text(json.dumps({"id": "long", "title": "Long", "text": text}) + "\n")
    words = ("--questions", "pond-topics.tsv", "--documents", "documents.jsonl")
    with typing(folder, *words, lines=30) as typist:
        assert "page" not in typist.until("q leave")
        typist.type(" ")
        whole = typist.until("q leave")
        pages = int(re.search(r"page 1 of (\d)", whole)[1])  # type: ignore[index]
        assert "line number 0 about" in re.sub("\x1b\\[[0-9]*m", "", whole)
        for page in range(2, pages + 1):
            typist.type(" ")
            last = typist.until("q leave")
            assert f"page {page} of {pages}" in last
        assert "line number 59 about" in re.sub("\x1b\\[[0-9]*m", "", last)
        assert len(last.splitlines()) <= 30
        typist.type(" ")
        assert "page" not in typist.until("q leave")
        typist.type("1")
        typist.until("0 left")
        assert typist.ended() == 0


def test_hostile_text_steers_no_terminal(hostile: Path) -> None:
    with typing(hostile, *TEXTS) as typist:
        typist.until("q leave")
        typist.type(" ")
        typist.until("q leave")
        typist.type("0")
        typist.until("0 left")
        assert typist.ended() == 0
    own = r"\x1b\[(?:[0-9]+m|H|2J|K)"
    assert "\\x1b[2J\\x1b]0;owned\\x07\\x1b[1mbold" in re.sub(r"\x1b\[[0-9]+m", "", typist.seen)
    bare = re.sub(own, "", typist.seen.replace("\x1b[H\x1b[2J", ""))
    assert not re.search("[\x00-\x09\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", bare)
    assert typist.seen.count("\x1b[2J") == typist.seen.count("\x1b[H\x1b[2J")


def test_the_paragraph_is_that_of_the_pages(folder: Path) -> None:
    """The best paragraph first, its lines in one; then all of them, line by line, with blank lines between."""
    (folder / "pond.pool").write_text("1 0 long\n")
    text = "Some birds fly.\n\nDucks swim\nwell\nand dive.\n\nNothing else."
    (folder / "documents.jsonl").write_text(json.dumps({"id": "long", "title": "Birds", "text": text}) + "\n")
    words = ("--questions", "pond-topics.tsv", "--documents", "documents.jsonl")
    out, _, code = command_line("judge", "pond.pool", *words, stdin=b"space\nq\n", folder=folder)
    assert code == 0
    first, whole = out.split("Document long\n\n")[1:]
    assert first.startswith("Birds\n\nDucks swim well and dive.\n\n0 not relevant")
    assert whole.startswith(f"Birds\n\n{text}\n\n0 not relevant")
