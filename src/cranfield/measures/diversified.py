"""Gains that fall with redundancy, and the rankings of the judged documents that gain most.

A document gains (1 - alpha)^s for each subtopic it is relevant to, s being the relevant documents of the subtopic
above it. The order that gains most is hard to find in general (Carterette, "An analysis of NP-completeness in novelty
and diversity ranking", 2009): the greedy order is what ndeval takes for ideal, the best one can be searched for where
a topic is small. Documents that are relevant to the same subtopics are of one kind, and stand for each other.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cranfield import _core
from cranfield.errors import UsageError
from cranfield.judged import Floats, Integers, Judged, Mask, Pool

MOST_WORK = 10_000_000  # numbers in an array, in the search of one topic
TOLERANCE = 1e-12


class Discount(NamedTuple):
    """What a gain is multiplied by at a rank."""

    name: str
    beta: float = 0.0

    def at(self, rank: Integers) -> Floats:
        """
        >>> Discount("geometric", 0.5).at(np.array([1, 2, 3]))
        array([1.  , 0.5 , 0.25])
        """
        if self.name == "geometric":
            return np.asarray(self.beta ** (rank - 1.0))
        return 1 / (np.log2(rank + 1.0) if self.name == "logarithmic" else np.asarray(rank, dtype=np.float64))


def relevant_subtopics(pool: Pool, rel: float) -> Mask:
    """For each judged document, the subtopics to which it is relevant."""
    relevant: Mask = pool.columns["subtopics"] >= max(rel, 0)  # a negative grade is never relevant
    return relevant


def subtopic_count(pool: Pool, rel: float) -> Floats:
    """For each topic, the number of subtopics that have a relevant document: the others do not count."""

    def compute() -> Floats:
        relevant = relevant_subtopics(pool, rel)
        covered = np.array([pool.total(column) > 0 for column in relevant.T], dtype=np.float64)
        return np.asarray(covered.reshape(relevant.shape[1], len(pool.topics)).sum(axis=0))

    return pool.once(("subtopic count", rel), compute)


def novelty(relevant: Mask, offsets: Integers, alpha: float) -> Floats:
    """The gain of each document of some rankings, one after the other, those of topic t from offsets[t].

    >>> novelty(np.array([[True, False], [True, True]]), np.array([0, 2]), 0.5)
    array([1. , 1.5])
    """
    above: Integers = np.cumsum(relevant, axis=0) - relevant
    seen: Integers = above - above[np.repeat(offsets[:-1], np.diff(offsets))]
    gain: Floats = np.sum(relevant * (1.0 - alpha) ** seen, axis=1)
    return gain


def run_gain(judged: Judged, rel: float, alpha: float, discount: Discount, cutoff: int | None) -> Floats:
    """For each topic, what the ranking gains down to the cutoff."""
    gain = novelty(relevant_subtopics(judged.pool, rel)[judged.row], judged.offsets, alpha)
    return judged.total(gain * discount.at(judged.rank) * (True if cutoff is None else judged.rank <= cutoff))


def perfect_gain(pool: Pool, rel: float, alpha: float, discount: Discount, cutoff: int) -> Floats:
    """For each topic, the gain of a list of documents that are relevant to every subtopic."""
    rank = np.arange(1, cutoff + 1)
    perfect: Floats = subtopic_count(pool, rel) * np.sum((1.0 - alpha) ** (rank - 1) * discount.at(rank))
    return perfect


def ideal_gain(pool: Pool, rel: float, alpha: float, discount: Discount, cutoff: int | None, way: str) -> Floats:
    """For each topic, what the ideal ranking gains down to the cutoff: the "greedy" or the "exact" one."""
    relevant = relevant_subtopics(pool, rel)
    longest = int(pool.total(np.asarray(relevant.any(axis=1))).max(initial=0))
    depth = longest if cutoff is None else min(cutoff, longest)

    def compute() -> Floats:
        weight = discount.at(np.arange(1, depth + 1))
        gains = pool.once(("greedy gains", rel, alpha, depth), lambda: _greedy_gains(pool, relevant, alpha, depth))
        greedy = _core.segment_sum(np.arange(len(pool.topics) + 1) * depth, (gains * weight).ravel())
        if way == "greedy":
            return greedy
        return np.array(
            [
                best_gain(documents, alpha, weight, at_least, topic)
                for topic, documents, at_least in zip(pool.topics, _by_topic(pool, relevant), greedy, strict=True)
            ]
        )

    return pool.once(("ideal", rel, alpha, discount, depth, way), compute)


def _by_topic(pool: Pool, relevant: Mask) -> list[Mask]:
    """The relevant documents of each topic by id, descending, as ndeval goes through them."""
    order = np.lexsort((pool.columns.get("by_id", pool.place), pool.topic))
    kept = order[relevant[order].any(axis=1)]
    starts = np.searchsorted(pool.topic[kept], np.arange(1, len(pool.topics)))
    return np.split(relevant[kept], starts)


def _greedy_gains(pool: Pool, relevant: Mask, alpha: float, depth: int) -> Floats:
    gains = np.zeros((len(pool.topics), depth))
    for row, documents in zip(gains, _by_topic(pool, relevant), strict=True):
        first = greedy_gains(documents, alpha, depth)
        row[: len(first)] = first
    return gains


def greedy_gains(documents: Mask, alpha: float, depth: int) -> Floats:
    """Gain at each rank, if each time the document that gains most is taken; of equal ones the first.

    >>> greedy_gains(np.array([[True, False, False], [False, True, True], [True, True, False]]), 0.5, 3)
    array([2. , 1.5, 0.5])
    """
    kinds, kind, count = np.unique(documents, axis=0, return_inverse=True, return_counts=True)
    waiting = np.append(np.argsort(kind.ravel(), kind="stable"), len(documents))
    end = np.cumsum(count)
    head = end - count
    worth = np.ones(documents.shape[1])
    gains = np.zeros(min(depth, len(documents)))
    as_numbers = kinds.astype(np.float64)
    for rank in range(len(gains)):
        gain = np.where(head < end, as_numbers @ worth, -1.0)
        # Sums in another order differ in their last digit: that must not decide between equal gains.
        tied = np.flatnonzero(gain >= gain.max() * (1 - TOLERANCE))
        chosen = tied[np.argmin(waiting[head[tied]])]
        gains[rank] = gain[chosen]
        head[chosen] += 1
        worth[kinds[chosen]] *= 1 - alpha
    return gains


def best_gain(documents: Mask, alpha: float, weight: Floats, at_least: float, topic: str) -> float:
    """The most that any order of the documents gains; `weight` is what a gain at rank 1, 2, … is multiplied by.

    Goes from rank to rank with every set of documents that could be the first ones of a best order; of the orders of
    one set the best is kept. A document relevant to more subtopics, and all those of another, may always stand above
    it. A set is given up where the most that may follow does not reach the best that is known.

    >>> documents = np.array([[True, True, False, False], [True, False, True, False], [False, True, False, True]])
    >>> best_gain(documents, 1.0, np.array([1.0, 1.0]), 3.0, "q1")
    4.0
    """
    kinds, count = np.unique(documents, axis=0, return_counts=True)
    ranks = min(len(weight), len(documents))
    _check_work(len(kinds) * kinds.size, topic, ranks)
    covers = np.all(kinds[:, None] >= kinds[None], axis=2) & ~np.eye(len(kinds), dtype=bool)  # [more, less]
    numbers = kinds.astype(np.float64)
    best, used, gained = at_least, np.zeros((1, len(kinds)), dtype=np.int64), np.zeros(1)
    for rank in range(ranks):
        left = used < count
        state, kind = np.nonzero(left & ~(left.astype(np.int64) @ covers).astype(bool))
        _check_work(len(state) * max(len(kinds), kinds.shape[1] * (ranks - rank)), topic, ranks)
        gain = (1 - alpha) ** (used @ numbers) @ numbers.T
        gained = gained[state] + weight[rank] * gain[state, kind]
        used = used[state]
        used[np.arange(len(kind)), kind] += 1
        best = max(best, float(gained.max()))
        to_come = _most_to_come(used, kinds, count, alpha, weight[rank + 1 : ranks])
        promising = gained + to_come > best * (1 + TOLERANCE)
        order = np.flatnonzero(promising)[np.argsort(-gained[promising], kind="stable")]
        if not len(order):
            break
        used, first = np.unique(used[order], axis=0, return_index=True)
        gained = gained[order][first]
    return best


def _check_work(numbers: int, topic: str, ranks: int) -> None:
    if numbers > MOST_WORK:
        raise UsageError(
            f"topic '{topic}' has too many orders to find the exact ideal down to rank {ranks}: "
            "take a smaller cutoff, or ideal='greedy'"
        )


def _most_to_come(used: Integers, kinds: Mask, count: Integers, alpha: float, weight: Floats) -> Floats:
    """For each set of documents taken, no less than the rest can gain.

    A subtopic that was met s times and has n documents left can gain (1 - alpha)^s, …, (1 - alpha)^(s + n - 1). The
    largest of all subtopics go to the first of the ranks left, as many to a rank as the widest document left has.
    """
    if not len(weight):
        return np.zeros(len(used))
    left = count - used
    seen, more = used @ kinds, left @ kinds
    widest = np.max(np.where(left > 0, kinds.sum(axis=1), 1), axis=1)
    step = np.arange(min(len(weight), int(more.max(initial=0))))
    gains = np.where(step < more[:, :, None], (1 - alpha) ** (seen[:, :, None] + step), 0.0).reshape(len(used), -1)
    gains[:, ::-1].sort(axis=1)
    rank = np.arange(gains.shape[1]) // widest[:, None]
    padded = np.append(weight, 0.0)
    most: Floats = np.sum(gains * padded[np.minimum(rank, len(weight))], axis=1)
    return most
