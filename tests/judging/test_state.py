"""The meaning of events: properties of every list of them, and what is refused."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cranfield.errors import DataError
from cranfield.judging.events import REASONS, Event, moment, now
from cranfield.judging.state import State, standing, state_of


def event(kind: str = "grade", key: str = "k", **said: Any) -> Event:
    usual: dict[str, Any] = {"topic": "q1", "document": "d1", "assessor": "ann", "at": moment(0)}
    return Event(**usual | {"kind": kind, "key": key} | said)


@st.composite
def histories(draw: st.DrawFn) -> list[Event]:
    """Lists of events that are allowed: two topics, three documents, two assessors, undos of what stands."""
    events: list[Event] = []
    for number in range(draw(st.integers(0, 25))):
        said: dict[str, Any] = {
            "topic": draw(st.sampled_from(["q1", "q2"])),
            "document": draw(st.sampled_from(["d1", "d2", "ü \n"])),
            "assessor": draw(st.sampled_from(["ann", "bob"])),
            "repeat": draw(st.booleans()),
            "key": str(number),
            "at": moment(draw(st.integers(0, 100))),  # clocks step back
            "note": draw(st.sampled_from(["", "odd"])),
        }
        kind = draw(st.sampled_from(["grade", "grade", "cannot", "later", "adjudicate", "undo"]))
        stands = [other for other in standing(events) if other.assessor == said["assessor"]]
        if kind == "undo" and stands:
            undone = draw(st.sampled_from(stands))
            about = {"topic": undone.topic, "document": undone.document, "repeat": undone.repeat}
            events.append(Event(**said | about, kind="undo", undoes=undone.key))
        elif kind == "cannot":
            events.append(Event(**said, kind="cannot", reason=draw(st.sampled_from(REASONS))))
        elif kind == "later":
            events.append(Event(**said, kind="later"))
        elif kind == "adjudicate":
            events.append(Event(**said, kind="adjudicate", grade=draw(st.integers(-1, 3))))
        else:
            events.append(Event(**said, kind="grade", grade=draw(st.integers(-1, 3))))
    return events


@given(histories(), st.data())
def test_what_is_sent_again_changes_nothing(events: list[Event], data: st.DataObject) -> None:
    sent = list(events)
    for _ in range(data.draw(st.integers(0, 5)) if events else 0):
        again = data.draw(st.sampled_from(events))
        after = data.draw(st.integers(sent.index(again) + 1, len(sent)))
        sent.insert(after, replace(again, at=moment(500)))
    assert state_of(sent) == state_of(events)


@given(histories(), st.data())
def test_undo_restores_exactly(events: list[Event], data: st.DataObject) -> None:
    """Whatever stands, taking it back gives the state of the list without it, and all else as it was."""
    stands = standing(events)
    if not stands:
        return
    undone = data.draw(st.sampled_from(stands))
    undo = replace(undone, kind="undo", grade=None, reason=None, undoes=undone.key, key="last")
    assert state_of([*events, undo]) == state_of([other for other in stands if other is not undone])
    fresh = replace(undone, kind="later", grade=None, reason=None, key="fresh")
    both = [fresh, replace(fresh, kind="undo", undoes="fresh", key="back")]
    assert state_of([*events, *both]) == state_of(events)


@given(histories())
def test_the_state_is_that_of_what_stands_and_of_the_json_form(events: list[Event]) -> None:
    assert state_of(standing(events)) == state_of(events)
    assert [Event.from_json(json.loads(event.line)) for event in events] == events
    assert all(event.line.isascii() and "\n" not in event.line for event in events)


@given(histories())
def test_pairs_and_assessors_do_not_touch_each_other(events: list[Event]) -> None:
    whole = state_of(events)
    for topic, document, assessor, repeat in whole.opinions:
        alone = [
            e for e in events if (e.topic, e.document, e.assessor, e.repeat) == (topic, document, assessor, repeat)
        ]
        place = topic, document, assessor, repeat
        assert state_of(alone).opinions[place] == whole.opinions[place]
    for opinion in whole.opinions.values():
        assert (opinion.kind, opinion.grade is None) in {("grade", False), ("cannot", True)}


def test_the_last_opinion_counts_by_its_place_in_the_list() -> None:
    events = [event(key="1", grade=2, at=moment(9)), event(key="2", grade=0, note="no", at=moment(1))]
    ((place, opinion),) = state_of(events).opinions.items()
    assert place == ("q1", "d1", "ann", False)
    assert (opinion.grade, opinion.note, opinion.key, opinion.assessor) == (0, "no", "2", "ann")


def test_later_takes_the_opinion_back_and_its_undo_gives_it_back() -> None:
    grade, later = event(key="1", grade=2), event("later", "2")
    assert state_of([grade, later]) == State()
    assert state_of([grade, later, event("undo", "3", undoes="2")]) == state_of([grade])


def test_a_repeat_stands_beside_the_first_opinion() -> None:
    state = state_of([event(key="1", grade=2), event(key="2", grade=1, repeat=True)])
    assert {place[3]: opinion.grade for place, opinion in state.opinions.items()} == {False: 2, True: 1}


def test_cannot_is_an_opinion_without_a_grade() -> None:
    state = state_of([event(key="1", grade=2), event("cannot", "2", reason="language")])
    (opinion,) = state.opinions.values()
    assert (opinion.kind, opinion.grade, opinion.reason) == ("cannot", None, "language")


def test_the_last_verdict_counts_whoever_gave_it() -> None:
    first = event("adjudicate", "1", grade=1)
    second = event("adjudicate", "1", grade=3, assessor="bob")
    assert state_of([first, second]).verdicts["q1", "d1"].grade == 3
    undone = [first, second, event("undo", "2", undoes="1", assessor="bob")]
    assert state_of(undone).verdicts["q1", "d1"].assessor == "ann"
    assert not state_of(undone).opinions


@pytest.mark.parametrize(
    ("events", "message"),
    [
        ([event(grade=1), event(grade=2)], "event 'k' of ann was sent before with something else in it"),
        ([event("undo", undoes="z")], "undoes 'z', which ann never sent"),
        ([event(grade=1, assessor="bob"), event("undo", "u", undoes="k")], "undoes 'k', which ann never sent"),
        (
            [event(grade=1), event("undo", "u", undoes="k"), event("undo", "v", undoes="k")],
            "event 'v' of ann undoes 'k', which was undone before",
        ),
        (
            [event(grade=1), event("undo", "u", undoes="k"), event("undo", "v", undoes="u")],
            "which is an undo itself: judge again instead",
        ),
        ([event(grade=1), event("undo", "u", undoes="k", document="d2")], "which is about another document"),
        ([event(grade=1), event("undo", "u", undoes="k", repeat=True)], "which is about another document"),
    ],
)
def test_what_is_refused(events: list[Event], message: str) -> None:
    with pytest.raises(DataError, match=message):
        state_of(events)


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({}, "of kind grade has grade, not nothing of the kind"),
        ({"grade": 1, "reason": "other"}, "of kind grade has grade, not grade and reason"),
        ({"kind": "later", "grade": 1}, "of kind later has neither grade nor reason, not grade"),
        ({"kind": "adjudicate"}, "of kind adjudicate has grade or reason, not nothing of the kind"),
        ({"kind": "undo"}, "of kind undo has undoes"),
        ({"kind": "guess", "grade": 1}, "kind of an event is grade, cannot, later, undo or adjudicate, not 'guess'"),
        ({"kind": "cannot", "reason": "tired"}, "reason of an event is question unclear, document unreadable"),
        ({"grade": True}, "grade of an event is a whole number, not True"),
        ({"grade": 1.0}, "grade of an event is a whole number, not 1.0"),
        ({"grade": 1, "topic": ""}, "topic of an event is a text that is not empty, not ''"),
        ({"grade": 1, "document": 7}, "document of an event is a text that is not empty, not 7"),
        ({"grade": 1, "active_ms": -1}, "active_ms of an event is a whole number from 0, not -1"),
        ({"grade": 1, "scale": 2**60}, "scale of an event is a whole number from 0"),
        ({"grade": 1, "note": None}, "note of an event is a text, not None"),
        ({"grade": 1, "repeat": 1}, "repeat of an event is true or false, not 1"),
        ({"grade": 1, "view": "title"}, "view of an event is passage or whole, not 'title'"),
        ({"grade": 1, "origin": "fax"}, "origin of an event is page, api, terminal or import, not 'fax'"),
        ({"grade": 1, "at": "2026-01-31 09:30"}, "at of an event is a time as 2026-01-31T09:30:00.000Z"),
        ({"grade": 1, "at": "2026-02-31T09:30:00.000Z"}, "at of an event is a time"),
    ],
)
def test_what_is_no_event(said: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=message):
        event(**said)


def test_json_that_is_no_event() -> None:
    whole = event(grade=1).to_json()
    for data, message in (
        ([], r"an event is an object, not \[\]"),
        (whole | {"rank": 1}, "an event has no 'rank'"),
        ({name: value for name, value in whole.items() if name != "note"}, "an event needs note"),
        (whole | {"kind": []}, "kind of an event is"),
    ):
        with pytest.raises(DataError, match=message):
            Event.from_json(data)


def test_a_verdict_may_say_why_there_is_no_grade() -> None:
    assert state_of([event("adjudicate", reason="language")]).verdicts["q1", "d1"].grade is None


def test_now_is_a_time_that_events_have() -> None:
    assert event(grade=1, at=now()).at.endswith("Z")
