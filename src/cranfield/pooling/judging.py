"""A judging loop: which document to judge next, topic by topic, and what was found.

session = JudgingSession(["a.run", "b.run"], "move-to-front", budget=100)
while (document := session.next("301")) is not None:
    session.judged("301", document, grade=ask(document))
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping
from math import isfinite
from typing import TYPE_CHECKING

from cranfield.errors import UsageError
from cranfield.formats import read_qrels
from cranfield.pooling.candidates import Candidates, Plan, Pooled, pooled_runs
from cranfield.pooling.strategy import Adaptive, Strategy, Taught, find_method

if TYPE_CHECKING:
    from cranfield.formats.given import Given, GivenRuns


class _Topic:
    """One topic of a session: its candidates, the method at work on them, and what was judged.

    `known` are judgements made before that the method has not asked for yet; when it does, they answer.
    """

    def __init__(self, candidates: Candidates, method: Strategy, rel: float, seed: int) -> None:
        self.candidates, self.rel = candidates, rel
        self.at_work: Adaptive = method.started(candidates, candidates.generator(seed))
        self.grades: dict[str, float] = {}
        self.known: dict[str, float] = {}
        self.asked: int | None = None

    @property
    def spent(self) -> int:
        return len(self.grades) + len(self.known)

    def next(self) -> int | None:
        while self.asked is None and (document := self.at_work.next()) is not None:
            self.asked = document
            self._answer()
        return self.asked

    def judged(self, grade: float, relevant: bool) -> None:
        assert self.asked is not None
        self.grades[self.candidates.documents[self.asked]] = grade
        self.at_work.judged(self.asked, relevant)
        self.asked = None

    def take(self, grades: Mapping[str, float]) -> None:
        candidates = set(self.candidates.documents)
        new = {d: grade for d, grade in grades.items() if d in candidates and d not in self.grades and grade >= 0}
        if isinstance(self.at_work, Taught):
            number = {document: i for i, document in enumerate(self.candidates.documents) if document in new}
            self.at_work.taught({number[document]: grade >= self.rel for document, grade in new.items()})
            self.grades |= new
            self.asked = None  # what was asked for, it would perhaps not ask for now
        else:
            self.known |= new
            self._answer()

    def _answer(self) -> None:
        """Judges the document asked for, if it is known."""
        if self.asked is not None and (document := self.candidates.documents[self.asked]) in self.known:
            grade = self.known.pop(document)
            self.judged(grade, grade >= self.rel)

    def copied(self) -> _Topic:
        """The same at this moment, to go on by itself."""
        made = copy.copy(self)
        made.at_work = copy.deepcopy(self.at_work, {id(self.candidates): self.candidates})
        made.grades, made.known = dict(self.grades), dict(self.known)
        return made


class JudgingSession:
    """Judgements in the making: `next` says what to judge, `judged` takes what was found.

    Everything but a sample can be judged so: methods that learn, and those that only have an order. `budget` is the
    number of judgements a topic, `rel` the grade from which a document is relevant; the same seed and the same
    judgements give the same documents.

    >>> runs = {"a": {"q1": {"d1": 2.0, "d2": 1.0}}, "b": {"q1": {"d3": 2.0, "d1": 1.0}}}
    >>> session = JudgingSession(runs, "rrf", budget=2)
    >>> session.next("q1")
    'd1'
    >>> session.judged("q1", "d1", 2)
    >>> session.next("q1")
    'd3'
    >>> session.judged("q1", "d3", 0)
    >>> session.next("q1") is None, session.grades
    (True, {'q1': {'d1': 2.0, 'd3': 0.0}})
    """

    def __init__(
        self,
        runs: GivenRuns | Pooled,
        method: str | Strategy = "move-to-front",
        *,
        depth: int | None = None,
        plan: Plan | None = None,
        budget: int | None = None,
        rel: float = 1,
        seed: int = 0,
    ) -> None:
        self.pooled = runs if isinstance(runs, Pooled) else pooled_runs(runs, depth, plan)
        self.method, self.seed = find_method(method), seed
        self.budget, self.rel = checked_budget(budget), checked_rel(rel)
        if self.method.kind == "sample":
            raise UsageError(f"{self.method.name} draws a sample once: it has no next document")
        self._topics: dict[str, _Topic] = {}

    @property
    def grades(self) -> Mapping[str, Mapping[str, float]]:
        """What was judged so far: {topic: {document: grade}}, in the order of judging, then what else was taken."""
        return {topic: state.grades | state.known for topic, state in self._topics.items() if state.spent}

    def next(self, topic: str) -> str | None:
        """The document of a topic to judge next, the same until it is; None when budget or candidates are used up."""
        state = self._topic(topic)
        if self._left(state) <= 0:
            return None
        number = state.next()
        return None if number is None else state.candidates.documents[number]

    def judged(self, topic: str, document: str, grade: float) -> None:
        """Takes the grade of the document that was asked for."""
        expected = self.next(topic)
        if document != expected:
            wanted = "nothing more" if expected is None else f"'{expected}'"
            raise UsageError(f"topic '{topic}': '{document}' was judged, but {wanted} was asked for")
        self._topic(topic).judged(float(grade), grade >= self.rel)

    def take(self, qrels: Given) -> int:
        """Judgements that exist answer where the method asks for them, and nobody else is asked; a negative grade is
        none. How many of them are of documents that may be asked for.

        >>> session = JudgingSession({"a": {"q1": {"d1": 3.0, "d2": 2.0, "d3": 1.0}}}, "depth")
        >>> session.take({"q1": {"d1": 1, "d3": 0, "x": 0}})
        2
        >>> session.ahead("q1", 5)
        ['d2']
        """
        known = read_qrels(qrels).to_dict()
        before = sum(state.spent for state in self._topics.values())
        for topic in self.pooled.topics:
            if topic in known:
                self._topic(topic).take(known[topic])
        return sum(state.spent for state in self._topics.values()) - before

    def ahead(self, topic: str, count: int) -> list[str]:
        """The next documents of a topic, supposing that none of them turns out relevant.

        >>> JudgingSession({"a": {"q1": {"d1": 3.0, "d2": 2.0, "d3": 1.0}}}, budget=5).ahead("q1", 2)
        ['d1', 'd2']
        """
        state = self._topic(topic)
        state.next()
        later = state.copied()  # what is asked for now stays asked for
        most = min(count, self._left(state))
        documents: list[str] = []
        while len(documents) < most and (number := later.next()) is not None:
            documents.append(later.candidates.documents[number])
            later.judged(0.0, relevant=False)
        return documents

    def _left(self, state: _Topic) -> float:
        return float("inf") if self.budget is None else self.budget - state.spent

    def _topic(self, topic: str) -> _Topic:
        if topic not in self._topics:
            if topic not in self.pooled.topics:
                raise UsageError(f"no run answers topic '{topic}'")
            candidates = self.method.candidates(self.pooled, topic)
            self._topics[topic] = _Topic(candidates, self.method, self.rel, self.seed)
        return self._topics[topic]


def replayed(method: Adaptive, relevant: Callable[[int], bool], budget: int | None = None) -> Iterator[int]:
    """The documents in the order in which a method wants them judged, when all judgements are known.

    >>> from cranfield.pooling.strategy import InOrder
    >>> import numpy as np
    >>> list(replayed(InOrder(np.array([2, 0, 1])), lambda document: False, budget=2))
    [2, 0]
    """
    left = float("inf") if budget is None else budget
    while left > 0 and (document := method.next()) is not None:
        yield document
        method.judged(document, relevant(document))
        left -= 1


def checked_budget(budget: int | None) -> int | None:
    """A number of judgements a topic, if it is one."""
    if budget is not None and (isinstance(budget, bool) or not isinstance(budget, int) or budget < 1):
        raise UsageError(f"a budget is a number of judgements a topic, a whole one from 1, not {budget!r}")
    return budget


def checked_rel(rel: float) -> float:
    """A grade from which documents are relevant, if it is one."""
    if not isfinite(rel):
        raise UsageError(f"the grade from which a document is relevant must be a number, not {rel!r}")
    return rel


def check_planned(method: Strategy, plan: Plan | None) -> None:
    """The method plan without one would be depth-k in silence."""
    if method.name == "plan" and plan is None:
        raise UsageError("the method plan needs a plan: the depth and the priority of each run (--plan FILE)")
