"""How far two lists agree that need not hold the same documents: rank-biased overlap with ties, overlap at a depth.

Webber, Moffat and Zobel, "A similarity measure for indefinite rankings", 2010; for ties Corsi and Urbano, "The
treatment of ties in rank-biased overlap", 2024.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from cranfield.errors import UsageError
from cranfield.statistics.significance import Floats, Integers

Ties = Literal["w", "a", "b"]
TIE_TREATMENTS: dict[str, str] = {
    "w": "tied documents stand at one rank, that of the first of them (a sports ranking)",
    "a": "ties hide an order: the mean over all orders of the tied documents",
    "b": "ties hide an order, scaled so that a list agrees with itself completely",
}
LARGE_RESIDUAL = 0.1


@dataclass(frozen=True, eq=False)
class TiedRanking:
    """Documents best first, with the first and the last rank of the group of tied documents that each is in.

    >>> TiedRanking.of_groups([["a"], ["b", "c"]]).last.tolist()
    [1, 3, 3]
    >>> TiedRanking.of_scores(["a", "b", "c"], [7.0, 9.0, 7.0]).documents
    ('b', 'a', 'c')
    """

    documents: tuple[Hashable, ...]
    first: Integers
    last: Integers

    def __post_init__(self) -> None:
        if not self.documents:
            raise UsageError("a ranking without documents agrees with nothing: leave it out")
        if len(set(self.documents)) < len(self.documents):
            raise UsageError("a document stands twice in a ranking")

    @classmethod
    def of_groups(cls, groups: Iterable[Sequence[Hashable]]) -> TiedRanking:
        """From groups of tied documents, best first."""
        kept = [tuple(group) for group in groups if group]
        return cls._of_sizes(tuple(document for group in kept for document in group), [len(group) for group in kept])

    @classmethod
    def of_scores(cls, documents: Sequence[Hashable], scores: ArrayLike) -> TiedRanking:
        """From documents with scores, the higher the better; equal scores are ties."""
        values = np.asarray(scores, dtype=np.float64)
        if len(documents) != len(values):
            raise UsageError(f"{len(documents)} documents but {len(values)} scores")
        if np.isnan(values).any():
            raise UsageError("a score is NaN, which has no place in an order")
        order = np.argsort(-values, kind="stable")
        ordered = values[order]
        ends = np.append(np.flatnonzero(ordered[1:] != ordered[:-1]) + 1, len(values))
        return cls._of_sizes(tuple(documents[i] for i in order.tolist()), np.diff(ends, prepend=0))

    @classmethod
    def _of_sizes(cls, documents: tuple[Hashable, ...], sizes: ArrayLike) -> TiedRanking:
        sizes = np.asarray(sizes, dtype=np.int64)
        last = np.cumsum(sizes)
        return cls(documents, np.repeat(last - sizes + 1, sizes), np.repeat(last, sizes))

    def __len__(self) -> int:
        return len(self.documents)

    def in_both(self, other: TiedRanking) -> tuple[Integers, Integers]:
        """The places, in this list and in the other, of the documents in both."""
        places = {document: place for place, document in enumerate(other.documents)}
        shared = [(here, places[document]) for here, document in enumerate(self.documents) if document in places]
        here, there = np.array(shared, dtype=np.int64).reshape(-1, 2).T
        return here, there


class RankBiasedOverlap(NamedTuple):
    """Extrapolated value, and the least and the most it could be, whatever stands below the ends of the lists."""

    extrapolated: float
    lowest: float
    highest: float

    @property
    def residual(self) -> float:
        """What is not known because the lists end; beyond 0.1 they are too short for p."""
        return self.highest - self.lowest


def rank_biased_overlap(first: TiedRanking, second: TiedRanking, p: float = 0.9, ties: Ties = "b") -> RankBiasedOverlap:
    """The mean of the agreement of two lists at each depth, with weights that fall by p from one depth to the next.

    >>> x = TiedRanking.of_groups([["red"], ["blue", "green"], ["yellow"], ["pink"]])
    >>> y = TiedRanking.of_groups([["blue", "red"], ["white"], ["yellow", "black", "purple"], ["green"]])
    >>> [round(value, 4) for value in rank_biased_overlap(x, y, 0.95, "a")]
    [0.6923, 0.3311, 0.8931]
    """
    _check_persistence(p)
    if ties not in TIE_TREATMENTS:
        raise UsageError(f"ties must be one of {', '.join(TIE_TREATMENTS)}, not {ties!r}")
    short, long = sorted((first, second), key=len)
    if ties == "w":  # all of a tie group is in as soon as its first rank is
        short, long = replace(short, last=short.first), replace(long, last=long.first)
    s, l = len(short), len(long)  # noqa: E741  as in the papers
    in_short, in_long = short.in_both(long)
    shared = len(in_short)

    depth = np.arange(1, l + 1)
    overlap = _overlap(short, in_short, long, in_long)
    size = _sizes(short, long, ties)
    seen = overlap / size
    at_end = float(seen[s - 1])  # agreement where the shorter list ends

    # Below the end of the shorter list: its documents to come may be any that only the longer list has.
    to_come = np.maximum(depth - s, 0)
    alone = np.setdiff1d(np.arange(l), in_long)
    whole, begun = _count_to(long.last[alone], l), _count_to(long.first[alone], l)
    _, share = _cut_group(long, l)
    expected = to_come * at_end * np.divide(whole + (begun - whole) * share, begun, out=np.zeros(l), where=begun > 0)
    most = np.minimum(to_come, whole) + np.maximum(np.minimum(to_come, begun) - whole, 0) * share

    weights = p ** depth.astype(np.float64)
    rest = p ** (l + 1) / (1 - p)  # the weight of all depths below the longer list
    lowest = _sum(seen * weights) + shared * _harmonic_tail(p, l)
    extrapolated = _sum((overlap + expected) / size * weights) + (shared + (l - s) * at_end) / l * rest
    complete = l + s - shared  # the depth at which two lists that meet as soon as they can are equal
    beyond = np.arange(l + 1, complete + 1, dtype=np.float64)
    highest = _sum((overlap + most) / size * weights) + p ** (complete + 1) / (1 - p)
    highest += _sum((2 * beyond - l - s + shared) / beyond * p**beyond)
    scale = (1 - p) / p
    return RankBiasedOverlap(scale * extrapolated, scale * lowest, scale * highest)


def _overlap(short: TiedRanking, in_short: Integers, long: TiedRanking, in_long: Integers) -> Floats:
    """Σ over the documents at these places of how much of each is in both lists, at each depth.

    Tied documents come in evenly from the first to the last rank of their group, so that a depth cuts through at most
    one group of each list: all others are in or out. What is in by a part is counted group by group.
    """
    length = len(long)
    depth = np.arange(1, length + 1)
    first, last = short.first[in_short], short.last[in_short]
    other_first, other_last = long.first[in_long], long.last[in_long]
    group, share = _cut_group(short, length)
    other_group, other_share = _cut_group(long, length)
    overlap: Floats = _count_to(np.maximum(last, other_last), length).astype(np.float64)
    overlap += share * _count_in_group(first, other_last, group, 0, depth)
    overlap += other_share * _count_in_group(other_first, last, other_group, 0, depth)
    overlap += share * other_share * _count_in_group(first, other_first, group, other_group, other_group)
    return overlap


def _cut_group(ranking: TiedRanking, length: int) -> tuple[Integers, Floats]:
    """At each depth the tie group that it cuts through, by its first rank (0 for none), and how much of it is above."""
    depth = np.arange(1, len(ranking) + 1)
    cut = ranking.last > depth
    group, share = np.zeros(length, dtype=np.int64), np.zeros(length)
    group[: len(ranking)] = np.where(cut, ranking.first, 0)
    share[: len(ranking)] = np.where(cut, (depth - ranking.first + 1) / (ranking.last - ranking.first + 1), 0)
    return group, share


def _count_in_group(
    groups: Integers, ranks: Integers, group: Integers, lowest: Integers | int, highest: Integers
) -> Integers:
    """For each group asked for, how many documents of it have a rank in the other list from lowest to highest."""
    step = max(int(highest.max()), int(ranks.max(initial=0))) + 1
    keys = np.sort(groups * step + ranks)
    counts = np.searchsorted(keys, group * step + highest, "right") - np.searchsorted(
        keys, group * step + lowest, "left"
    )
    return np.where(group > 0, counts, 0)


def _count_to(ranks: Integers, depth: int) -> Integers:
    """How many of the ranks are at most d, for d from 1 to the depth."""
    counts: Integers = np.cumsum(np.bincount(ranks, minlength=depth + 1))[1:]
    return counts


def _sizes(short: TiedRanking, long: TiedRanking, ties: Ties) -> Floats:
    """What the overlap is divided by at each depth; below its end the shorter list is taken to go on without ties."""
    depth = np.arange(1, len(long) + 1)

    def of(ranking: TiedRanking) -> Floats:
        if ties == "w":
            counts = _count_to(ranking.first, len(long)).astype(np.float64)
        else:
            _, share = _cut_group(ranking, len(long))
            part = np.zeros(len(long))
            part[: len(ranking)] = ranking.last - ranking.first + 1
            counts = _count_to(ranking.last, len(long)) + part * share**2
        return np.where(depth > len(ranking), depth, counts)

    if ties == "a":
        return depth.astype(np.float64)
    sizes: Floats = (of(short) + of(long)) / 2 if ties == "w" else np.sqrt(of(short) * of(long))
    return sizes


def prefix_weight(p: float, depth: int) -> float:
    """The share of rank-biased overlap that the first ranks decide, down to a depth (Webber et al., equation 21).

    >>> round(prefix_weight(0.9, 10), 5)
    0.85559
    """
    _check_persistence(p)
    if depth < 1:
        raise UsageError(f"depth must be a whole number from 1, not {depth}")
    return 1 - p ** (depth - 1) + (1 - p) / p * depth * _harmonic_tail(p, depth - 1)


def overlap_at(first: TiedRanking, second: TiedRanking, depth: int) -> tuple[float, float]:
    """Shared documents among the first of each list, as a share of the longer cut list, and of their union (Jaccard).

    Tied documents are taken in the order given.

    >>> x, y = TiedRanking.of_groups(["a", "b", "c"]), TiedRanking.of_groups(["b", "d", "a"])
    >>> overlap_at(x, y, 2)[0], round(overlap_at(x, y, 2)[1], 4)
    (0.5, 0.3333)
    """
    if depth < 1:
        raise UsageError(f"depth must be a whole number from 1, not {depth}")
    ours, theirs = set(first.documents[:depth]), set(second.documents[:depth])
    shared = len(ours & theirs)
    return shared / max(len(ours), len(theirs)), shared / len(ours | theirs)


def _harmonic_tail(p: float, depth: int) -> float:
    """Σ p^d / d over all d below a depth; ln 1/(1-p) less the terms above would be all rounding in deep lists."""
    from scipy import special

    return float(p ** (depth + 1) / (depth + 1) * special.hyp2f1(1, depth + 1, depth + 2, p))


def _sum(terms: Floats) -> float:
    return float(np.sum(terms))


def _check_persistence(p: float) -> None:
    if not 0 < p < 1:
        raise UsageError(f"p must be between 0 and 1, both left out, not {p}")
