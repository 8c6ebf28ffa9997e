"""Elections: runs are voters and documents candidates."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cranfield.fusion.lists import Floats, Lists
from cranfield.fusion.method import WEIGHTS, method
from cranfield.fusion.scores import each_weight

ASLAM = 'Aslam and Montague, "Models for metasearch", SIGIR 2001'
MONTAGUE = 'Montague and Aslam, "Condorcet fusion for improved retrieval", CIKM 2002'


@method(
    "bordafuse",
    title="Borda-fuse",
    formula="Σ (c - i + 1), and (c - m + 1) / 2 from a list of m that lacks it, with c candidates",
    reference=ASLAM,
    looks_at="ranks",
    aliases=("borda",),
)
def borda_fuse(lists: Lists) -> Floats:
    """The Borda count: c points for the first place, one less for each next; a list divides what it has left evenly."""
    return weighted_borda_fuse(lists, weights=[1.0] * len(lists.runs))


@method(
    "weighted-bordafuse",
    title="Weighted Borda-fuse",
    formula="as Borda-fuse, each list's points times w",
    reference=ASLAM,
    looks_at="ranks",
    aliases=("w_bordafuse",),
    weights=WEIGHTS,
)
def weighted_borda_fuse(lists: Lists, *, weights: Sequence[float]) -> Floats:
    """The Borda count, where the points of a list count as much as its run."""
    candidates = lists.candidates[lists.topic]
    points = lists.each(candidates + 1) - lists.rank
    left = (candidates - lists.length + 1) / 2
    weight = np.asarray(weights, dtype=np.float64)[lists.run]
    return lists.total_or(each_weight(lists, weights) * points, weight * left)


@method(
    "condorcet",
    title="Condorcet-fuse",
    formula="c - place + 1, places sorted by majority of lists that have one document above the other",
    reference=MONTAGUE,
    looks_at="ranks",
)
def condorcet(lists: Lists) -> Floats:
    """Documents sorted so that of two neighbours no majority of lists has the lower one above the other.

    A list has what it names above what it does not; of two that it does not name it says nothing. Sorting starts from
    the Borda count, which also stands where there is no majority.
    """
    return weighted_condorcet(lists, weights=[1.0] * len(lists.runs))


@method(
    "weighted-condorcet",
    title="Weighted Condorcet-fuse",
    formula="as Condorcet-fuse, by majority of w",
    reference=MONTAGUE,
    looks_at="ranks",
    aliases=("w_condorcet",),
    weights=WEIGHTS,
)
def weighted_condorcet(lists: Lists, *, weights: Sequence[float]) -> Floats:
    """Condorcet-fuse where the vote of a list counts as much as its run."""
    start = weighted_borda_fuse(lists, weights=weights)
    weight = np.asarray(weights, dtype=np.float64)[lists.run]
    place = lists.gathered.majority_places(start, weight)
    return (lists.each_document(lists.candidates) + 1 - place).astype(np.float64)
