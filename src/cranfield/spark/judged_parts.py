"""What comes back of a part of a run that was judged on a cluster, and how parts become whole again.

A part has the judged documents of some topics of one run: few numbers, whatever the number of rows. Put together they
are the `Judged` that one machine would have made; what is to be said of the rows, which stay, travels as counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from hashlib import blake2b
from typing import NamedTuple

import numpy as np

from cranfield.errors import UsageError
from cranfield.formats import read_qrels
from cranfield.judged import Integers, Judged, Pool
from cranfield.tables import Run

FEW = 5  # names in a sentence


class RowCounts(NamedTuple):
    """What is known of the rows of a part: how many, of how many judged topics, of which others, and what was odd.

    The last six are there where scores are made in the cluster, and say what the documents that are judged tell where
    they come back (`findings.JoinCounts`); topics without an answer are, where judgements come with
    the rows.
    """

    rows: int = 0
    answered: int = 0
    unjudged: tuple[str, ...] = ()  # topics; where scores are made in the cluster the first of a part alone
    unjudged_count: int = 0
    collapsed: int = 0
    repeated: tuple[tuple[str, str], ...] = ()  # for a topic with repeated rows, the document of the first of them
    rank_disagreements: int = 0
    comments: int = 0
    tags: frozenset[str] = frozenset()
    several_tags: bool = False
    judged: int = 0  # rows
    longest: int = 0  # rows of a judged topic
    tied_topics: int = 0
    missing: tuple[str, ...] = ()  # the first of a part
    missing_count: int = 0
    missing_scores: frozenset[str] = frozenset()  # how those topics are scored, in words

    def shortened(self) -> RowCounts:
        """The same with no more names than a sentence has."""
        return self._replace(unjudged=self.unjudged[:FEW], missing=self.missing[:FEW])


NO_ROWS = RowCounts()
NO_TOPICS: Integers = np.zeros(0, dtype=np.int64)


class RunPart(NamedTuple):
    """The judged documents of some topics of a run: numbers of topics and how many each has, then an entry for each."""

    topics: Integers
    counts: Integers
    retrieved: Integers
    rank: Integers
    judgement: Integers  # among those of its topic
    tie_first: Integers
    tie_size: Integers
    rows: RowCounts


def part_of(judged: Judged, rows: RowCounts) -> RunPart:
    """A run as it was joined with all judgements, as the part that travels: the topics alone that it answers."""
    answered = np.flatnonzero(judged.answered)
    return RunPart(
        topics=answered,
        counts=np.diff(judged.offsets)[answered],
        retrieved=judged.retrieved[answered],
        rank=judged.rank,
        judgement=judged.row - judged.pool.offsets[judged.topic],
        tie_first=judged.tie_first,
        tie_size=judged.tie_size,
        rows=rows,
    )


def row_counts(run: Run, judged: Judged, known: AbstractSet[str]) -> RowCounts:
    """What is known of the rows of a run that was joined with judgements of the topics that are known."""
    table = run.table
    unjudged = tuple(topic for topic in table.topics() if topic not in known)
    return RowCounts(
        rows=table.row_count,
        answered=int(np.count_nonzero(judged.answered)),
        unjudged=unjudged,
        unjudged_count=len(unjudged),
        collapsed=table.collapsed_count,
        repeated=() if table.repeated is None else (table.repeated,),
        rank_disagreements=int(table.rank_disagreements().sum()),
        judged=len(judged.rank),
        longest=int(judged.retrieved.max(initial=0)),
    )


def stand_in(topic: str) -> int:
    """A number below zero for a topic, the same wherever it is asked for; two topics may have the same, if hardly ever.

    >>> stand_in("q1")
    -8341156147024183349
    """
    digest = blake2b(topic.encode("utf-8", "surrogateescape"), digest_size=8).digest()
    return -1 - (int.from_bytes(digest, "big") >> 1)


def counted_together(counts: Iterable[RowCounts]) -> RowCounts:
    """What is known of the rows of several parts of one run.

    >>> counted_together([RowCounts(rows=2, tags=frozenset("a")), RowCounts(rows=3, tags=frozenset("b"))]).several_tags
    True
    """
    parts = list(counts)
    tags: frozenset[str] = frozenset().union(*(part.tags for part in parts))
    return RowCounts(
        rows=sum(part.rows for part in parts),
        answered=sum(part.answered for part in parts),
        unjudged=tuple(in_order(topic for part in parts for topic in part.unjudged)),
        unjudged_count=sum(part.unjudged_count for part in parts),
        collapsed=sum(part.collapsed for part in parts),
        repeated=tuple(pair for part in parts for pair in part.repeated),
        rank_disagreements=sum(part.rank_disagreements for part in parts),
        comments=sum(part.comments for part in parts),
        tags=tags,
        several_tags=len(tags) > 1 or any(part.several_tags for part in parts),
        judged=sum(part.judged for part in parts),
        longest=max((part.longest for part in parts), default=0),
        tied_topics=sum(part.tied_topics for part in parts),
        missing=tuple(in_order(topic for part in parts for topic in part.missing)),
        missing_count=sum(part.missing_count for part in parts),
        missing_scores=frozenset().union(*(part.missing_scores for part in parts)),
    )


def judged_together(parts: Sequence[RunPart], pool: Pool) -> Judged:
    """The parts of one run as the whole that one machine makes of it. No two of them have a topic in common."""
    topics = _joined([part.topics for part in parts])
    if len(topics) > len(set(topics.tolist())):
        raise AssertionError("rows of a topic were judged in two places")
    counts, retrieved = np.zeros((2, len(pool.topics)), dtype=np.int64)
    counts[topics] = _joined([part.counts for part in parts])
    retrieved[topics] = _joined([part.retrieved for part in parts])
    owner = np.repeat(topics, counts[topics])
    order = np.argsort(owner, kind="stable")
    row = _joined([part.judgement for part in parts])[order] + pool.offsets[owner[order]]
    return Judged(
        pool=pool,
        offsets=np.concatenate(([0], np.cumsum(counts))),
        rank=_joined([part.rank for part in parts])[order],
        row=row,
        grade=pool.grades[row],
        tie_first=_joined([part.tie_first for part in parts])[order],
        tie_size=_joined([part.tie_size for part in parts])[order],
        retrieved=retrieved,
        answered=retrieved > 0,
    )


def _joined(arrays: list[Integers]) -> Integers:
    return np.concatenate(arrays) if arrays else NO_TOPICS


def in_order(topics: Iterable[str]) -> list[str]:
    """Topics as tables have them: by number where all are numbers, otherwise as bytes.

    >>> in_order(["10", "9"]), in_order(["10", "9", "a"])
    (['9', '10'], ['10', '9', 'a'])
    """
    named = dict.fromkeys(topics)
    return read_qrels({topic: {"d": 1} for topic in named}).topics if named else []


@dataclass(frozen=True, eq=False)
class RemoteTable:
    """A run's table that was read elsewhere: what is said of its rows, which are not here."""

    counts_of_rows: RowCounts
    answered: tuple[str, ...] = ()  # judged topics, as far as they are known here

    is_run = True

    @property
    def row_count(self) -> int:
        return self.counts_of_rows.rows

    @property
    def collapsed_count(self) -> int:
        return self.counts_of_rows.collapsed

    @property
    def repeated(self) -> tuple[str, str] | None:
        """The document of a repeated row in the first topic that has one."""
        known = dict(self.counts_of_rows.repeated)
        first = in_order(known)[:1]
        return (first[0], known[first[0]]) if first else None

    def topics(self) -> list[str]:
        return in_order([*self.answered, *self.counts_of_rows.unjudged])

    def rank_disagreements(self) -> Integers:
        return np.array([self.counts_of_rows.rank_disagreements])

    def values(self) -> None:
        raise UsageError("this run was judged on a cluster: its rows are not here")
