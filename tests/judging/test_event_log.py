"""The log of events: what is added is there, whatever happens to the process."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from cranfield.errors import DataError, UsageError
from cranfield.judging.event_log import EventLog, read_events
from cranfield.judging.events import Event, moment


def event(key: str, **said: object) -> Event:
    usual = {"topic": "q1", "document": "d ü\n", "assessor": "ann", "kind": "grade", "grade": 1, "at": moment(0)}
    return Event(**{**usual, "key": key, **said})  # type: ignore[arg-type]


def test_events_are_there_again(tmp_path: Path) -> None:
    path = str(tmp_path / "ann.events")
    with EventLog(path) as log:
        assert log.events == []
        for key in "ab":
            log.add(event(key))
            assert read_events(path)[-1].key == key
    with EventLog(path) as log:
        assert log.events == [event("a"), event("b")]
        assert log.findings == ()
        log.add(event("c"))
    assert [e.key for e in read_events(path)] == ["a", "b", "c"]


def test_what_is_added_again_is_there_once_and_what_differs_is_refused(tmp_path: Path) -> None:
    path = str(tmp_path / "ann.events")
    with EventLog(path) as log:
        log.add(event("a"))
        log.add(replace(event("a"), at=moment(9)))
        undo = event("u", kind="undo", grade=None, undoes="a")
        log.add(undo)
        log.add(undo)
        for wrong in (event("a", grade=2), event("v", kind="undo", grade=None, undoes="a")):
            with pytest.raises(DataError):
                log.add(wrong)
    assert read_events(path) == [event("a"), undo]


def test_a_torn_last_line_is_told_and_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "ann.events"
    whole = event("a").line + "\n"
    path.write_text(whole + event("b").line[:50])
    assert read_events(str(path)) == [event("a")]
    with EventLog(str(path)) as log:
        (finding,) = log.findings
        assert finding.message.startswith("the last line was never finished, and is cut off: {")
        log.add(event("c"))
    assert path.read_text() == whole + event("c").line + "\n"


def test_a_whole_event_that_lacks_only_the_end_of_its_line_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "ann.events"
    path.write_text(event("a").line)
    with EventLog(str(path)) as log:
        assert log.findings == ()
        log.add(event("b"))
    assert read_events(str(path)) == [event("a"), event("b")]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("not json", ":2: not an event"),
        ("{}", ":2: an event needs topic, document"),
        ("", ":2: not an event"),
        ("[" * 100_000, ":2: not an event"),
        (event("a", grade=3).line, "event 'a' of ann was sent before with something else in it"),
    ],
)
def test_a_wrong_line_in_the_middle_is_an_error_that_changes_nothing(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "ann.events"
    content = f"{event('a').line}\n{line}\n{event('c').line}\n"
    path.write_text(content)
    with pytest.raises(DataError, match=message):
        EventLog(str(path))
    assert path.read_text() == content


def test_two_at_a_time_are_refused(tmp_path: Path) -> None:
    path = str(tmp_path / "ann.events")
    with EventLog(path), pytest.raises(UsageError, match="is in use: somebody else is judging with it"):
        EventLog(path)
    EventLog(path).close()


def test_a_place_that_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be opened: Is a directory"):
        EventLog(str(tmp_path))
    with pytest.raises(DataError, match="it is no file that keeps what is written"):
        EventLog("/dev/zero")
    with pytest.raises(DataError, match="cannot be opened: No such file"):
        EventLog(str(tmp_path / "none" / "ann.events"))


def test_a_full_disk_takes_nothing_that_was_there(tmp_path: Path) -> None:
    """The system lets no file grow beyond a limit: as on a full disk, half a line may be written."""
    path = str(tmp_path / "ann.events")
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        with EventLog(path) as log:
            log.add(event("a"))
            resource.setrlimit(resource.RLIMIT_FSIZE, (os.path.getsize(path) + 20, hard))
            with pytest.raises(DataError, match="What was judged before is in it; this judgement is not") as caught:
                log.add(event("b"))
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
            assert "cannot be written" in str(caught.value)
            assert read_events(path) == [event("a")]
            log.add(event("b"))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, handler)
    assert read_events(path) == [event("a"), event("b")]


def test_what_was_added_outlives_a_killed_process(tmp_path: Path) -> None:
    path = str(tmp_path / "ann.events")
    code = (
        "import os, sys, itertools\n"
        "from cranfield.judging.event_log import EventLog\n"
        "from cranfield.judging.events import Event, now\n"
        "log = EventLog(sys.argv[1])\n"
        "for n in itertools.count():\n"
        "    log.add(Event(topic='q', document=str(n), assessor='a', kind='later', key=str(n), at=now()))\n"
        "    print(n, flush=True)\n"
    )
    with subprocess.Popen([sys.executable, "-c", code, path], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        acknowledged = [int(child.stdout.readline()) for _ in range(20)]
        child.kill()
        acknowledged += [int(line) for line in child.stdout.read().splitlines()]
    with EventLog(path) as log:
        kept = [int(e.key) for e in log.events]
    assert kept[: len(acknowledged)] == acknowledged
