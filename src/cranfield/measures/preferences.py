"""Measures of preferences: of two documents, does the better one stand above the other?

Preferences are those that were judged (judgements="preferences"), each as often as judges expressed it; where there are
none, they are those that grades imply: a document is preferred to every one of a lower grade. A pair is ordered by the
document that stands higher; one that was not retrieved stands below all that were. A pair of which neither document
was retrieved down to the cutoff is not ordered.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations_with_replacement
from math import comb
from typing import NamedTuple

import numpy as np

from cranfield.errors import UsageError
from cranfield.judged import Floats, Integers, Judged, Mask, Pool
from cranfield.measures import explained
from cranfield.measures.arithmetic import ratio, within
from cranfield.measures.bounded import MOST_WORK, Bounds
from cranfield.measures.definition import Traits
from cranfield.measures.filled import filled
from cranfield.measures.notation import parse_measure
from cranfield.measures.registry import measure
from cranfield.measures.tied import chance_above
from cranfield.notation import Value
from cranfield.registry import Parameter


class Preferences(NamedTuple):
    """How a ranking orders the pairs, each counted at the document that stands higher.

    For each hit: the preferences of it over documents below (`right`), those of documents below over it (`wrong`), and
    whether it is preferred to anything. For each topic: how many preferences, and how many documents so preferred.
    Where the mean over all orders of ties is asked for, those over documents of the same score are apart (`tied`), and
    what is wrong is not told.
    """

    right: Floats
    tied: Floats
    wrong: Floats
    is_preferred: Mask
    total: Floats
    n_preferred: Floats


def preferences(judged: Judged) -> Preferences:
    """The preferences that were judged, or those that grades imply."""
    return _of_pairs(judged) if "preferences" in judged.pool.columns else _of_grades(judged)


def pairs(pool: Pool) -> tuple[Integers, Integers]:
    """The preferences that were judged, as rows of the pool: the better and the worse document of each."""
    # An entry of the column is a document's own number, then those of the documents it is preferred to.
    entries = pool.columns["preferences"]
    own = np.array([entry[0] for entry in entries], dtype=np.int64)
    place = np.full(own.max(initial=-1) + 1, -1, dtype=np.int64)
    place[own] = np.arange(len(own))
    better = np.repeat(np.arange(len(own)), [len(entry) - 1 for entry in entries])
    worse = np.concatenate([entry[1:] for entry in entries]) if len(entries) else own
    known = worse < len(place)  # a document may have been left out since
    known[known] = place[worse[known]] >= 0
    return better[known], place[worse[known]]


def _of_pairs(judged: Judged) -> Preferences:
    pool = judged.pool
    better, worse = pairs(pool)
    rank = np.full(len(pool.grades), np.inf)
    rank[judged.row] = judged.tie_first if judged.expected else judged.rank
    hit = np.zeros(len(pool.grades), dtype=np.int64)
    hit[judged.row] = np.arange(len(judged.row))
    hits, topics = len(judged.row), len(pool.topics)
    right = np.bincount(hit[better[rank[better] < rank[worse]]], minlength=hits)
    tied = np.bincount(hit[better[(rank[better] == rank[worse]) & (rank[better] < np.inf)]], minlength=hits)
    wrong = np.bincount(hit[worse[rank[worse] < rank[better]]], minlength=hits)
    is_preferred = np.zeros(len(pool.grades), dtype=bool)
    is_preferred[better] = True
    total = np.bincount(pool.topic[better], minlength=topics)
    return Preferences(
        right.astype(np.float64),
        tied.astype(np.float64),
        wrong.astype(np.float64),
        is_preferred[judged.row],
        total.astype(np.float64),
        pool.total(is_preferred),
    )


def _of_grades(judged: Judged) -> Preferences:
    """All pairs of different grades, without writing them down: by how many stand higher and lower in the pool."""
    pool = judged.pool
    is_judged = pool.grades >= 0
    # The pool has the best first, so documents of one grade are neighbours.
    starts = np.flatnonzero(np.diff(pool.grades, prepend=np.nan) != 0)
    starts = np.union1d(starts, pool.offsets[:-1][np.diff(pool.offsets) > 0])
    sizes = np.diff(np.append(starts, len(pool.grades)))
    first = np.repeat(starts, sizes) - pool.offsets[pool.topic]
    better = first * is_judged
    worse = (pool.total(is_judged)[pool.topic] - first - np.repeat(sizes, sizes)) * is_judged
    right, wrong = worse[judged.row].astype(np.float64), better[judged.row].astype(np.float64)
    tied = np.zeros(len(judged.rank))
    for grade in np.unique(judged.grade[judged.grade >= 0]):
        here, lower = judged.grade == grade, (judged.grade >= 0) & (judged.grade < grade)
        if judged.expected:
            tied[here] = judged.in_group(lower)[here]
            right[here] -= judged.above_group(lower)[here] + tied[here]
        else:
            right[here] -= judged.running(lower)[here]
            wrong[here] -= judged.running(judged.grade > grade)[here]
    return Preferences(right, tied, wrong, worse[judged.row] > 0, pool.total(worse), pool.total(worse > 0))


def _searched(name: str) -> Callable[..., Bounds]:
    """The extremes over every way to give the unjudged documents grades of the judgements, best first or best last.

    Two of them that stand in the wrong order do better to change places, so no other way is better or worse.
    """

    def bounds(judged: Judged, **parameters: Value) -> Bounds:
        function = parse_measure(name).definition.function
        unjudged, grades = judged.unjudged, judged.pool.grades
        levels = np.unique(np.append(grades[grades >= 0], 0.0))[::-1]
        longest = int(unjudged.counts.max(initial=0))
        if comb(longest + len(levels) - 1, len(levels) - 1) * len(unjudged.rank) > MOST_WORK:
            raise UsageError(
                "bounds of this measure are searched for, and the lists are too long for that: cut them (depth)"
            )
        lowest = highest = function(judged, **parameters)
        from_below = unjudged.counts[unjudged.topic] + 1 - unjudged.place
        for ends in combinations_with_replacement(range(longest + 1), len(levels) - 1):  # of all levels but the last
            for place in (unjudged.place, from_below):
                value = function(filled(judged, levels[np.searchsorted(ends, place)]), **parameters)
                lowest, highest = np.minimum(lowest, value), np.maximum(highest, value)
        return lowest, highest

    return bounds


@measure(
    Traits(bounds=_searched("Ppref")),
    aliases=("ppref",),
    explain=lambda trace, *, cutoff: explained_pairs(trace, trace.within(cutoff) * 1.0),
)
def Ppref(judged: Judged, *, cutoff: int | None = None) -> Floats:
    """Precision of preferences: the share of the pairs ordered by the first k documents that is ordered right.

    A pair is ordered as soon as one of its documents stands at rank k or above. Without a cutoff this is trec_eval's
    prefs_simp_imp.

    Formula: (pairs ordered right down to rank k) / (pairs ordered down to rank k)
    Reference: Carterette and Bennett, "Evaluation measures for preference judgments", SIGIR 2008.

    >>> Ppref.per_topic(relstring("102", "10/2"))
    array([0.33333333, 0.33333333])
    """
    pair = preferences(judged)
    seen = within(judged.rank, cutoff)
    return ratio(judged.total(seen * pair.right), judged.total(seen * (pair.right + pair.wrong)))


@measure(
    Traits(exact_ties=True, bounds=_searched("Rpref")),
    aliases=("rpref",),
    explain=lambda trace, *, cutoff: explained_pairs(
        trace, trace.within(cutoff) * 1.0, float(preferences(trace.judged).total[0])
    ),
)
def Rpref(judged: Judged, *, cutoff: int | None = None) -> Floats:
    """Recall of preferences: the share of all preferences that the first k documents order right.

    Without a cutoff this is trec_eval's prefs_simp.

    Formula: (pairs ordered right down to rank k) / (number of preferences)
    Reference: Carterette and Bennett, "Evaluation measures for preference judgments", SIGIR 2008.

    >>> Rpref.per_topic(relstring("102", "2/10"))
    array([0.33333333, 0.66666667])
    """
    pair = preferences(judged)
    right = judged.total(judged.within(cutoff) * pair.right + chance_above(judged, cutoff) * pair.tied)
    return ratio(right, pair.total)


@measure(
    Traits(may_hurt=True),
    aliases=("appref",),
    over=Parameter(
        "increases: the ranks at which recall of preferences grows (Carterette and Bennett); preferred: all documents "
        "preferred to any, where those not retrieved have the recall of preferences (Elsas's pairwise_pref_eval)",
        "'increases' or 'preferred'",
        lambda v: isinstance(v, str) and v in ("increases", "preferred"),
    ),
)
def APpref(judged: Judged, *, over: str = "increases", cutoff: int | None = None) -> Floats:
    """Mean of the precision of preferences over the ranks where a preferred document is found.

    By the first definition a preferred document that is missing costs only through the pairs that it is in.

    Formula: mean of ppref_i over the ranks i at which rpref_i > rpref_(i-1), or over all preferred documents
    Reference: Carterette and Bennett, "Evaluation measures for preference judgments", SIGIR 2008.

    >>> APpref.per_topic(relstring("102", "210"))
    array([0.5, 1. ])
    """
    pair = preferences(judged)
    right, ordered = judged.running(pair.right), judged.running(pair.right + pair.wrong)
    precision, seen = ratio(right, ordered), within(judged.rank, cutoff)
    if over == "increases":
        counted = seen * (pair.right > 0)
        return ratio(judged.total(precision * counted), judged.total(counted))
    counted = seen * pair.is_preferred
    missing = pair.n_preferred - judged.total(counted)
    recall = ratio(judged.total(seen * pair.right), pair.total)  # as if the list went on until every pair is ordered
    return ratio(judged.total(precision * counted) + missing * recall, pair.n_preferred)


@measure(
    Traits(bounds=_searched("Wpref")),
    aliases=("wpref",),
    explain=lambda trace, *, cutoff: explained_pairs(trace, trace.within(cutoff) / np.log2(trace.rank + 1)),
)
def Wpref(judged: Judged, *, cutoff: int | None = None) -> Floats:
    """Weighted precision of preferences: a pair counts the more the higher its upper document stands.

    Formula: Σ w_i [ordered right] / Σ w_i over the pairs ordered down to rank k, w_i = 1 / log2(i + 1), i the rank of
      the document of the pair that stands higher
    Reference: Carterette and Bennett, "Evaluation measures for preference judgments", SIGIR 2008.

    >>> Wpref.per_topic(relstring("102", "210"))
    array([0.38009377, 1.        ])
    """
    pair = preferences(judged)
    weight = within(judged.rank, cutoff) / np.log2(judged.rank + 1)
    return ratio(judged.total(weight * pair.right), judged.total(weight * (pair.right + pair.wrong)))


def explained_pairs(trace: explained.Trace, weight: Floats, below: float | None = None) -> explained.Working:
    """The pairs that each document orders right, weighted by rank, over all of them or a number."""
    pair = preferences(trace.judged)
    right, wrong = trace.spread(pair.right), trace.spread(pair.wrong)
    over = float(np.sum(weight * (right + wrong))) if below is None else below
    columns = {"pairs right": right, "wrong": wrong}
    return explained.averaged(trace, weight * right, over, columns=columns)
