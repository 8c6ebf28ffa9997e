"""Slow references of the measures of preferences: every pair of documents is written down and looked at."""

from __future__ import annotations

import math
from collections import Counter

from reference import Topic, over

Pair = tuple[float, float]  # ranks of the better and the worse document; infinite if not retrieved


def pairs_by_grade(topic: Topic) -> list[Pair]:
    places = [(float(rank), grade) for rank, grade in enumerate(topic.ranked, start=1) if grade is not None]
    missed = Counter(topic.judged) - Counter(grade for _, grade in places)
    places += [(math.inf, grade) for grade in missed.elements()]
    places = [(rank, grade) for rank, grade in places if grade >= 0]
    return [(rank, other) for rank, grade in places for other, lower in places if grade > lower]


def right_and_ordered(pairs: list[Pair], cutoff: float) -> tuple[int, int]:
    ordered = [(better, worse) for better, worse in pairs if min(better, worse) <= cutoff and better != worse]
    return sum(1 for better, worse in ordered if better < worse), len(ordered)


def deepest(cutoff: int | None) -> float:
    return 1e300 if cutoff is None else cutoff  # infinity would take in what was not retrieved


def ppref_of(pairs: list[Pair], cutoff: float) -> float:
    return over(*right_and_ordered(pairs, cutoff))


def rpref_of(pairs: list[Pair], cutoff: float) -> float:
    return over(right_and_ordered(pairs, cutoff)[0], len(pairs))


def wpref_of(pairs: list[Pair], cutoff: float) -> float:
    right = total = 0.0
    for better, worse in pairs:
        upper = min(better, worse)
        if upper <= cutoff:
            total += 1 / math.log2(upper + 1)
            right += 1 / math.log2(upper + 1) if better < worse else 0
    return over(right, total)


def increases_of(pairs: list[Pair], length: int, cutoff: float) -> float:
    """Rank by rank down the list: where recall is more than it was."""
    values = []
    for rank in range(1, length + 1):
        if rank <= cutoff and rpref_of(pairs, rank) > rpref_of(pairs, rank - 1):
            values.append(ppref_of(pairs, rank))
    return over(sum(values), len(values))


def preferred_of(pairs: list[Pair], ranks: list[float], cutoff: float) -> float:
    """`ranks` of every document that is preferred to another."""
    values = [ppref_of(pairs, rank) if rank <= cutoff else rpref_of(pairs, cutoff) for rank in ranks]
    return over(sum(values), len(values))


def Ppref(topic: Topic, cutoff: int | None) -> float:
    return ppref_of(pairs_by_grade(topic), deepest(cutoff))


def Rpref(topic: Topic, cutoff: int | None) -> float:
    return rpref_of(pairs_by_grade(topic), deepest(cutoff))


def Wpref(topic: Topic, cutoff: int | None) -> float:
    return wpref_of(pairs_by_grade(topic), deepest(cutoff))


def APpref(topic: Topic, over: str, cutoff: int | None) -> float:
    pairs = pairs_by_grade(topic)
    if over == "increases":
        return increases_of(pairs, len(topic.ranked), deepest(cutoff))
    known = [grade for grade in topic.judged if grade >= 0]
    preferred = Counter(grade for grade in known if grade > min(known))
    ranks = [
        float(rank) for rank, grade in enumerate(topic.ranked, start=1) if grade is not None and grade in preferred
    ]
    ranks += [math.inf] * (preferred.total() - len(ranks))
    return preferred_of(pairs, ranks, deepest(cutoff))
