"""The lists that simulated users are shown: of two rankers in turns of an A/B test, or interleaved."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np

from cranfield.errors import DataError, UsageError, plural
from cranfield.online.interleaving.method import Interleaved, Interleaver, Interleaves
from cranfield.online.interleaving.outcomes import AuditCase, DrawReplay, made
from cranfield.online.interleaving.serving import RankedQuery, Serving, asked_of_runs
from cranfield.online.users.hashed_chance import uniform
from cranfield.statistics.significance import Floats, Integers
from cranfield.tables import Qrels, Run

ENUMERATED = 1024  # outcomes of a topic up to which all are gone through, with their chances
_LISTS = 3  # the stream of chance by which lists are drawn


@dataclass(frozen=True)
class JudgedRankings:
    """What every ranker answers to each judged topic, as far down as is shown, and how relevant documents are.

    `relevance` of a topic's documents is from 0 to 1: the grade as a share of the highest, or with `rel` 1 from it on.

    >>> from cranfield import read_qrels, read_run
    >>> qrels = read_qrels({"q": {"a": 2, "b": 1}})
    >>> found = JudgedRankings.of(qrels, [read_run({"q": {"a": 1.0, "c": 0.5}})], ["bm25"], depth=10)
    >>> found.relevance, found.top
    ({'q': {'a': 1.0, 'b': 0.5}}, 2.0)
    """

    names: tuple[str, ...]
    asked: tuple[RankedQuery, ...]
    relevance: dict[str, dict[str, float]]
    top: float
    notes: tuple[str, ...] = ()

    @classmethod
    def of(
        cls, qrels: Qrels, runs: Sequence[Run], names: Sequence[str], *, depth: int, rel: float | None = None
    ) -> JudgedRankings:
        """Rankings of runs, for the topics that are judged."""
        judged = qrels.to_dict()
        grades = [float(grade) for of in judged.values() for grade in of.values()]
        top = max(grades, default=0.0)
        if top <= 0:
            raise DataError("has no relevant document: users would not know what to click", source=qrels.name)
        asked = [one for one in asked_of_runs(runs, depth=depth) if one.query in judged]
        if not asked:
            raise DataError("none of the topics of the runs is judged", source=qrels.name)
        missing = sum(any(not ranking for ranking in one.rankings) for one in asked)
        notes = []
        left_out = len({topic for run in runs for topic in run.topics}) - len(asked)
        if left_out:
            notes.append(f"{plural(left_out, 'topic')} of the runs without judgements: nobody asks them")
        if missing:
            notes.append(
                f"{plural(missing, 'topic')} without an answer of some run: an A/B test shows an empty page there"
            )
        relevance = {
            topic: {doc: _relevance(float(grade), top, rel) for doc, grade in of.items()}
            for topic, of in judged.items()
        }
        return cls(tuple(names), tuple(asked), relevance, top, tuple(notes))


def _relevance(grade: float, top: float, rel: float | None) -> float:
    return float(grade >= rel) if rel is not None else max(grade, 0.0) / top


class PageArrays(NamedTuple):
    """Lists as arrays: the numbers of documents (-1 where a list has ended), their relevance (NaN there), teams."""

    docs: Integers
    relevance: Floats
    teams: Integers


@dataclass
class PageBook:
    """All lists that are shown, each with a number; those that chance would make again are kept once."""

    rankings: JudgedRankings
    depth: int
    lists: list[Interleaved] = field(default_factory=list)
    topics: list[int] = field(default_factory=list)

    def add(self, shown: Interleaved, topic: int) -> int:
        """The number of a list that is new."""
        self.lists.append(shown)
        self.topics.append(topic)
        return len(self.lists) - 1

    @cached_property
    def documents(self) -> tuple[str, ...]:
        """All documents of all rankings."""
        return tuple(dict.fromkeys(doc for one in self.rankings.asked for ranking in one.rankings for doc in ranking))

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {doc: number for number, doc in enumerate(self.documents)}

    def arrays(self, start: int = 0) -> PageArrays:
        """The lists from a number on."""
        count = len(self.lists) - start
        docs = np.full((count, self.depth), -1, dtype=np.int64)
        relevance, teams = np.full((count, self.depth), np.nan), np.full((count, self.depth), -1, dtype=np.int64)
        for row, (shown, topic) in enumerate(zip(self.lists[start:], self.topics[start:], strict=True)):
            size = len(shown.docs)
            known = self.rankings.relevance[self.rankings.asked[topic].query]
            docs[row, :size] = [self._numbers[doc] for doc in shown.docs]
            relevance[row, :size] = [known.get(doc, 0.0) for doc in shown.docs]
            teams[row, : len(shown.teams)] = shown.teams
        return PageArrays(docs, relevance, teams)


class PagesByArm:
    """The list of each ranker as it is: what an A/B test shows."""

    def __init__(self, rankings: JudgedRankings, depth: int) -> None:
        self.book = PageBook(rankings, depth)
        for topic, one in enumerate(rankings.asked):
            for ranking in one.rankings:
                self.book.add(Interleaved((ranking,), ranking[:depth]), topic)
        self.arms = len(rankings.names)

    def shown(self, users: Integers, topics: Integers, arms: Integers) -> Integers:
        """The number of the list for each query of a user in an arm."""
        return np.asarray(topics * self.arms + arms)


class InterleavedPages:
    """Interleaved lists: a user who asks again sees the same one.

    Where a method can make few lists of a topic, all are gone through with their exact chances, and one is drawn for a
    user; otherwise each is made as `online interleave` makes it.
    """

    def __init__(self, rankings: JudgedRankings, depth: int, method: Interleaver, seed: int) -> None:
        self.book, self.method, self.seed = PageBook(rankings, depth), method, seed
        self.depth, self.rankings = depth, rankings
        self.first: list[int] = []  # of each topic, the first of its lists
        self.reached: list[Floats | None] = []  # and the chance of its lists up to each; None where they are too many
        for topic, one in enumerate(rankings.asked):
            known = method.check_rankings(one.rankings)
            found = _outcomes(method.function, AuditCase(known, min(depth, sum(map(len, known)))))
            self.first.append(len(self.book.lists))
            self.reached.append(None if found is None else np.cumsum(list(found.values())))
            for shown in found or ():
                self.book.add(shown, topic)
        self.served: dict[tuple[int, int], int] = {}

    def shown(self, users: Integers, topics: Integers, arms: Integers) -> Integers:
        """The number of the list for each query of a user."""
        drawn = uniform(self.seed, _LISTS, users, topics)
        numbers = np.empty(len(users), dtype=np.int64)
        for topic in np.unique(topics).tolist():
            of = np.flatnonzero(topics == topic)
            reached = self.reached[topic]
            if reached is None:
                numbers[of] = [self._made(user, topic) for user in users[of].tolist()]
            else:
                places = np.searchsorted(reached / reached[-1], drawn[of], side="right")
                numbers[of] = self.first[topic] + np.minimum(places, len(reached) - 1)
        return numbers

    def _made(self, user: int, topic: int) -> int:
        """A list made for this user and topic alone."""
        key = user, topic
        if key not in self.served:
            one = self.rankings.asked[topic]._replace(user=f"u{user}")
            serving = Serving(self.method, self.depth, self.seed, self.rankings.names)
            self.served[key] = self.book.add(serving.shown(one), topic)
        return self.served[key]


@lru_cache(maxsize=64)
def _outcomes(method: Callable[..., Interleaves], case: AuditCase) -> Mapping[Interleaved, float] | None:
    """Every list of a method with its chance; None if there are too many to go through.

    Those of some topics are kept: who simulates users again and again shows them the same lists.
    """
    found: dict[Interleaved, float] = {}
    told: list[int] | None = []
    for _ in range(ENUMERATED):
        replay = DrawReplay(told or [])
        shown = made(method(), case, replay)
        found[shown] = found.get(shown, 0.0) + float(replay.chance())
        told = replay.next()
        if told is None:
            return found
    return None


def check_two(names: Sequence[str]) -> None:
    """That two rankers are compared."""
    if len(names) != 2:
        raise UsageError(f"two runs are compared, not {len(names)}")
