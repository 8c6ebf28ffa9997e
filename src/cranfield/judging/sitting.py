"""A sitting: one assessor, a pool, and a log of events; which pair is next, and what each answer adds to the log."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from secrets import token_hex
from time import monotonic
from typing import NamedTuple

import numpy as np

from cranfield.errors import DataError
from cranfield.judging.event_log import EventLog
from cranfield.judging.events import Event, Kind, Reason, View, now
from cranfield.judging.near_duplicates import near_duplicates
from cranfield.judging.order import arranged
from cranfield.judging.scale import Scale
from cranfield.judging.state import Pair, standing, state_of

IDLE = 120.0  # seconds without a key after which nobody is reading any more


class JudgedSoFar(NamedTuple):
    """Of the pairs of a topic or of all: how many are graded, how many can't be told, and how many there are."""

    graded: int
    cannot: int
    all: int

    @property
    def done(self) -> int:
        """How many have an answer."""
        return self.graded + self.cannot


def queue_of(pool: Mapping[str, Sequence[str]], texts: Mapping[str, str], assessor: str, seed: int = 0) -> list[Pair]:
    """The pairs of a pool as an assessor meets them: topic by topic, at random, near-duplicates one after another.

    >>> queue_of({"q1": ["d1", "d2", "d3"]}, {}, "ann") == queue_of({"q1": ["d3", "d2", "d1"]}, {}, "ann")
    True
    """
    queue: list[Pair] = []
    for topic, documents in pool.items():
        said = "\0".join((str(seed), assessor, topic)).encode("utf-8", "surrogatepass")
        rng = np.random.default_rng(int.from_bytes(sha256(said).digest()))
        groups = near_duplicates({document: texts[document] for document in documents if document in texts})
        queue += [(topic, document) for document in arranged(documents, groups, rng)]
    return queue


class Sitting:
    """`pair` is what to judge now, None when all is judged; every answer is in the log when its call returns.

    A pair that is put off comes again at the end of its topic. What is undone is to be judged at once.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, EventLog(f"{folder}/a.events") as log:
    ...     sitting = Sitting(log, "ann", Scale.usual(), [("q1", "d1"), ("q1", "d2")])
    ...     sitting.later(); sitting.grade(2); sitting.pair
    ('q1', 'd1')
    """

    def __init__(
        self,
        log: EventLog,
        assessor: str,
        scale: Scale,
        queue: Sequence[Pair],
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self.log, self.assessor, self.scale, self.queue = log, assessor, scale, tuple(queue)
        self.note = ""
        self.view: View = "passage"
        self._clock = clock
        self._undone: Pair | None = None
        self._last = self._active = self._away = 0.0
        self._check_grades()
        self._proceed()

    def grade(self, value: int) -> None:
        """Gives the pair a grade of the scale."""
        self._add("grade", grade=self.scale.of_value(value).value)

    def cannot(self, reason: Reason) -> None:
        """Says that it can't be told, and why."""
        self._add("cannot", reason=reason)

    def later(self) -> None:
        """Puts the pair off."""
        self._add("later")

    def undo(self) -> Event | None:
        """Takes back the last thing that this assessor did and that stands; None where there is nothing."""
        own = [event for event in standing(self.log.events) if event.assessor == self.assessor]
        last = next((event for event in reversed(own) if event.kind != "adjudicate" and not event.repeat), None)
        if last is None:
            return None
        self._store("undo", (last.topic, last.document), undoes=last.key)
        self._undone = (last.topic, last.document) if (last.topic, last.document) in self.queue else None
        self._proceed()
        self.note = last.note
        return last

    def touched(self) -> None:
        """Says that somebody is there: time without a sign of it counts as away after a while."""
        passed, self._last = self._clock() - self._last, self._clock()
        self._active += min(passed, IDLE)
        self._away += max(passed - IDLE, 0.0)

    def progress(self, topic: str | None = None) -> JudgedSoFar:
        """How far this assessor is, with a topic or with all of the pool."""
        pairs = [pair for pair in self.queue if topic is None or pair[0] == topic]
        opinions = [self._opinions.get((*pair, self.assessor, False)) for pair in pairs]
        kinds = [opinion.kind for opinion in opinions if opinion is not None]
        return JudgedSoFar(kinds.count("grade"), kinds.count("cannot"), len(pairs))

    def _add(self, kind: Kind, grade: int | None = None, reason: Reason | None = None) -> None:
        assert self.pair is not None
        self._store(kind, self.pair, grade=grade, reason=reason)
        self._undone = None
        self._proceed()

    def _store(
        self,
        kind: Kind,
        pair: Pair,
        *,
        grade: int | None = None,
        reason: Reason | None = None,
        undoes: str | None = None,
    ) -> None:
        self.touched()
        event = Event(
            topic=pair[0],
            document=pair[1],
            assessor=self.assessor,
            kind=kind,
            grade=grade,
            reason=reason,
            undoes=undoes,
            note="" if kind == "undo" else self.note,
            active_ms=round(1000 * self._active),
            away_ms=round(1000 * self._away),
            view=self.view,
            origin="terminal",
            key=token_hex(8),
            at=now(),
        )
        self.log.add(event)

    def _proceed(self) -> None:
        """What is next, as the log has it."""
        self._opinions = state_of(self.log.events).opinions
        self.pair = self._undone or self._next()
        self.note, self.view = "", "passage"
        self._active = self._away = 0.0
        self._last = self._clock()

    def _next(self) -> Pair | None:
        put_off = {
            (event.topic, event.document): number
            for number, event in enumerate(standing(self.log.events), start=1)
            if event.kind == "later" and event.assessor == self.assessor
        }
        left = [pair for pair in self.queue if (*pair, self.assessor, False) not in self._opinions]
        if not left:
            return None
        of_topic = [pair for pair in left if pair[0] == left[0][0]]
        return min(of_topic, key=lambda pair: put_off.get(pair, 0))

    def _check_grades(self) -> None:
        for event in standing(self.log.events):
            if event.grade is not None and event.grade not in self.scale.values:
                raise DataError(
                    f"grade {event.grade} of {event.assessor} for {event.topic} {event.document} is none of the scale",
                    source=self.log.path,
                    remedy="Judge on with the scale that was judged with before, --scale, or with another log.",
                )
