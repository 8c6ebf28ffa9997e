"""The meaning of a list of events. Whatever else keeps a state of judging is tested against this.

1. Events count in the order of the list, not of their clocks.
2. An event that is sent again, the same assessor and key, counts once, where it first stands. With something else in
   it, it is refused.
3. An undo takes back one event of the same assessor on the same pair that stands until then, and can't be undone.
   What is left is the list without both.
4. Of what is left, the last grade or "can't tell" of an assessor on a pair is that assessor's opinion; "later" takes it
   back, and puts the pair among those to be judged. A blind repeat is an opinion beside the first, not instead of it.
5. The last adjudication of a pair, whoever made it, is its verdict.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from cranfield.errors import DataError, shorten
from cranfield.judging.events import Event, Kind, Reason

Pair: TypeAlias = tuple[str, str]  # topic, document
Slot: TypeAlias = tuple[str, str, str, bool]  # topic, document, assessor, whether it is a blind repeat


@dataclass(frozen=True, kw_only=True, slots=True)
class Opinion:
    """What was said last of a pair: a grade, or that there is none and why. `assessor` said it, in the event `key`."""

    kind: Kind
    grade: int | None
    reason: Reason | None
    note: str
    at: str
    key: str
    assessor: str


@dataclass(frozen=True, kw_only=True)
class State:
    """The opinions of assessors and the verdicts of adjudicators, as events left them."""

    opinions: Mapping[Slot, Opinion] = field(default_factory=dict)
    verdicts: Mapping[Pair, Opinion] = field(default_factory=dict)


def state_of(events: Iterable[Event]) -> State:
    """What events mean, the first one first.

    >>> from cranfield.judging.events import moment
    >>> said = {"topic": "q1", "document": "d7", "assessor": "ann", "at": moment(0)}
    >>> events = [Event(kind="grade", grade=2, key="1", **said), Event(kind="grade", grade=0, key="2", **said)]
    >>> state_of(events).opinions["q1", "d7", "ann", False].grade
    0
    >>> state_of([*events, Event(kind="undo", undoes="2", key="3", **said)]).opinions["q1", "d7", "ann", False].grade
    2
    """
    opinions: dict[Slot, Opinion] = {}
    verdicts: dict[Pair, Opinion] = {}
    for event in standing(events):
        slot = event.topic, event.document, event.assessor, event.repeat
        if event.kind == "adjudicate":
            verdicts[event.topic, event.document] = _opinion(event)
        elif event.kind == "later":
            opinions.pop(slot, None)
        else:
            opinions[slot] = _opinion(event)
    return State(opinions=opinions, verdicts=verdicts)


def standing(events: Iterable[Event]) -> list[Event]:
    """The events that stand: none sent again, none undone, no undo.

    >>> standing([])
    []
    """
    seen: dict[tuple[str, str], Event] = {}
    left: dict[tuple[str, str], Event] = {}
    for event in events:
        name = event.assessor, event.key
        if name in seen:
            if not event.resends(seen[name]):
                raise DataError(f"{_named(event)} was sent before with something else in it")
            continue
        if event.undoes is not None:
            check_undo(event, seen.get((event.assessor, event.undoes)), (event.assessor, event.undoes) in left)
            del left[event.assessor, event.undoes]
        else:
            left[name] = event
        seen[name] = event
    return list(left.values())


def check_undo(undo: Event, undone: Event | None, stands: bool) -> None:
    """That an undo may take back an event of the same assessor: there is one, on the same pair, no undo, and it stands.

    Whoever stores an undo asks this before; `standing` refuses it too.

    >>> from cranfield.judging.events import moment
    >>> said = {"topic": "q1", "document": "d7", "assessor": "ann", "at": moment(0)}
    >>> check_undo(Event(kind="undo", undoes="1", key="2", **said), None, False)
    Traceback (most recent call last):
    cranfield.errors.DataError: event '2' of ann undoes '1', which ann never sent
    """
    says = f"{_named(undo)} undoes '{shorten(str(undo.undoes))}'"
    if undone is None:
        raise DataError(f"{says}, which {undo.assessor} never sent")
    if undone.kind == "undo":
        raise DataError(f"{says}, which is an undo itself: judge again instead")
    if (undone.topic, undone.document, undone.repeat) != (undo.topic, undo.document, undo.repeat):
        raise DataError(f"{says}, which is about another document")
    if not stands:
        raise DataError(f"{says}, which was undone before")


def _opinion(event: Event) -> Opinion:
    return Opinion(
        kind=event.kind,
        grade=event.grade,
        reason=event.reason,
        note=event.note,
        at=event.at,
        key=event.key,
        assessor=event.assessor,
    )


def _named(event: Event) -> str:
    return f"event '{shorten(event.key)}' of {event.assessor}"
