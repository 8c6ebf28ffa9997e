"""A sitting: what comes next, and what is in the log after each answer."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cranfield.errors import DataError, UsageError
from cranfield.judging.event_log import EventLog, read_events
from cranfield.judging.scale import Scale, parse_scale, read_scale
from cranfield.judging.sitting import IDLE, Sitting, queue_of
from cranfield.judging.state import state_of

QUEUE = [("q1", "d1"), ("q1", "d2"), ("q1", "d3"), ("q2", "d1")]


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def log(tmp_path: Path) -> Iterator[EventLog]:
    with EventLog(str(tmp_path / "log")) as opened:
        yield opened


def test_grades_go_on_and_all_is_in_the_log(log: EventLog) -> None:
    sitting = Sitting(log, "ann", Scale.usual(), QUEUE)
    seen = []
    while sitting.pair is not None:
        seen.append(sitting.pair)
        sitting.grade(len(seen) - 1)
    assert seen == QUEUE
    assert [(e.topic, e.document, e.grade, e.assessor, e.origin) for e in read_events(log.path)] == [
        (*pair, n, "ann", "terminal") for n, pair in enumerate(QUEUE)
    ]
    assert sitting.progress() == (4, 0, 4)
    assert sitting.progress("q1") == (3, 0, 3)


def test_it_goes_on_where_it_was_and_others_do_not_matter(log: EventLog) -> None:
    Sitting(log, "ann", Scale.usual(), QUEUE).grade(1)
    Sitting(log, "bob", Scale.usual(), QUEUE).grade(1)
    again = Sitting(log, "ann", Scale.usual(), QUEUE)
    assert again.pair == ("q1", "d2")
    again.cannot("language")
    assert again.progress() == (1, 1, 4)
    assert again.progress().done == 2


def test_what_is_put_off_comes_again_at_the_end_of_its_topic(log: EventLog) -> None:
    sitting = Sitting(log, "ann", Scale.usual(), QUEUE)
    sitting.later()
    sitting.later()
    seen = []
    while sitting.pair is not None:
        seen.append(sitting.pair)
        sitting.grade(0)
    assert seen == [("q1", "d3"), ("q1", "d1"), ("q1", "d2"), ("q2", "d1")]


def test_what_is_undone_is_there_again_with_its_note(log: EventLog) -> None:
    sitting = Sitting(log, "ann", Scale.usual(), QUEUE)
    assert sitting.undo() is None
    sitting.note = "odd"
    sitting.grade(3)
    assert sitting.note == ""
    sitting.later()
    assert (sitting.undo() or log.events[0]).kind == "later"
    assert sitting.pair == ("q1", "d2")
    undone = sitting.undo()
    assert undone is not None
    assert (undone.grade, undone.note) == (3, "odd")
    assert (sitting.pair, sitting.note) == (("q1", "d1"), "odd")
    assert sitting.undo() is None
    assert not state_of(log.events).opinions
    sitting.grade(0)
    assert sitting.pair == ("q1", "d2")
    assert [e.kind for e in log.events] == ["grade", "later", "undo", "undo", "grade"]


def test_an_undone_pair_comes_at_once_even_from_another_topic(log: EventLog) -> None:
    sitting = Sitting(log, "ann", Scale.usual(), QUEUE)
    for _ in range(3):
        sitting.grade(0)
    assert sitting.pair == ("q2", "d1")
    sitting.undo()
    assert sitting.pair == ("q1", "d3")


def test_time_is_active_until_nobody_is_there(log: EventLog) -> None:
    clock = Clock()
    sitting = Sitting(log, "ann", Scale.usual(), QUEUE, clock)
    clock.now += 5
    sitting.touched()
    clock.now += IDLE + 7
    sitting.view = "whole"
    sitting.grade(0)
    clock.now += 1
    sitting.grade(0)
    assert [(e.active_ms, e.away_ms, e.view) for e in log.events] == [
        (round(1000 * (5 + IDLE)), 7000, "whole"),
        (1000, 0, "passage"),
    ]


def test_another_scale_than_before_is_refused(log: EventLog) -> None:
    Sitting(log, "ann", Scale.usual(), QUEUE).grade(3)
    with pytest.raises(DataError, match="grade 3 of ann for q1 d1 is none of the scale"):
        Sitting(log, "ann", parse_scale("0=no,1=yes"), QUEUE)


@given(st.lists(st.sampled_from("0123xlu"), max_size=40))
def test_whatever_is_done_what_is_left_is_what_has_no_opinion(
    tmp_path_factory: pytest.TempPathFactory, keys: list[str]
) -> None:
    path = tmp_path_factory.mktemp("sitting") / "log"
    with EventLog(str(path)) as opened:
        sitting = Sitting(opened, "ann", Scale.usual(), QUEUE)
        for key in keys:
            if key == "u":
                sitting.undo()
            elif sitting.pair is None:
                break
            elif key == "x":
                sitting.cannot("other")
            elif key == "l":
                sitting.later()
            else:
                sitting.grade(int(key))
            opinions = state_of(opened.events).opinions
            left = [pair for pair in QUEUE if (*pair, "ann", False) not in opinions]
            assert sitting.progress().done == len(QUEUE) - len(left)
            assert (sitting.pair in left) if left else sitting.pair is None
        assert read_events(str(path)) == opened.events


def test_the_queue_is_random_by_assessor_and_seed_and_keeps_near_duplicates_together() -> None:
    pool = {"q1": [f"d{n}" for n in range(20)], "q2": ["d1"]}
    words = " ".join(f"w{n}" for n in range(50))
    texts = {"d3": words, "d17": f"{words} end", "d5": "other"}
    queue = queue_of(pool, texts, "ann")
    assert sorted(queue) == sorted((topic, document) for topic, documents in pool.items() for document in documents)
    assert queue[-1] == ("q2", "d1")
    assert abs(queue.index(("q1", "d3")) - queue.index(("q1", "d17"))) == 1
    assert queue == queue_of(pool, texts, "ann")
    assert queue != queue_of(pool, texts, "bob")
    assert queue != queue_of(pool, texts, "ann", seed=1)


def test_scales_from_files_and_in_short(tmp_path: Path) -> None:
    import json

    (tmp_path / "s.json").write_text(json.dumps(Scale.usual().to_json()))
    assert read_scale(str(tmp_path / "s.json")) == Scale.usual()
    (tmp_path / "s.toml").write_text(
        "threshold = 2\n[[grades]]\nvalue = 0\nlabel = 'no'\nkey = 'a'\ngain = 0\n"
        "[[grades]]\nvalue = 2\nlabel = 'yes'\nkey = 'b'\ngain = 5\n"
    )
    assert read_scale(str(tmp_path / "s.toml")).threshold == 2
    assert [(g.value, g.key, g.gain) for g in read_scale("-1:s=spam, 0=no ,10:t=yes").grades] == [
        (-1, "s", 0.0),
        (0, "0", 0.0),
        (10, "t", 10.0),
    ]
    for wrong, message in (
        ("0", "'0' is no grade"),
        ("x=no", "'x=no' is no grade"),
        ("0=a,12=b", "grade 12 needs a key"),
    ):
        with pytest.raises(UsageError, match=message):
            read_scale(wrong)
    (tmp_path / "w.toml").write_text("x =")
    with pytest.raises(DataError, match="not TOML"):
        read_scale(str(tmp_path / "w.toml"))
