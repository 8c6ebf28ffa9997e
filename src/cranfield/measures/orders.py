"""Measures of the order alone: how close it comes to an ideal one, how often better documents stand above worse."""

from __future__ import annotations

import numpy as np

from cranfield.judged import Floats, Integers, Judged
from cranfield.measures import explained_ranked
from cranfield.measures.arithmetic import ratio
from cranfield.measures.definition import Traits
from cranfield.measures.registry import measure
from cranfield.registry import Parameter


@measure(
    Traits(may_hurt=True),
    normalize=Parameter(
        "divide by what the ideal ranking, which has an end, reaches itself",
        "True or False",
        lambda v: isinstance(v, bool),
    ),
)
def Compat(judged: Judged, *, p: float = 0.95, normalize: bool = True) -> Floats:
    """Compatibility: the highest rank-biased overlap of the ranking with any ideal ranking.

    An ideal ranking has the documents of grades above 0, best first. Those of one grade may stand in any order, so the
    ranking's own order is taken: no other overlaps more. Both are compared down to the end of the longer one.

    Formula: Σ p^(i - 1) |first i documents ∩ first i ideal ones| / i over ranks i, divided by the same for the ideal
      ranking and itself; without normalize by Σ p^(i - 1)
    Reference: Clarke, Vtyurina and Smucker, "Assessing top-k preferences", TOIS 39(3), 2021; on the overlap
      Webber, Moffat and Zobel, "A similarity measure for indefinite rankings", TOIS 28(4), 2010.

    >>> Compat(p=0.5).per_topic(relstring("102", "212"))
    array([0.25      , 0.85714286])
    """
    pool = judged.pool
    ideal = np.flatnonzero(pool.grades > 0)
    depth = np.maximum(judged.retrieved, pool.total(pool.grades > 0)).astype(np.int64)
    weight = p ** np.arange(depth.max(initial=0), dtype=np.float64)
    down_to = np.concatenate(([0.0], np.cumsum(weight / np.arange(1, len(weight) + 1))))
    # A document that stands in both rankings by rank i is in the overlap from there down to the end.
    hit = np.flatnonzero(judged.grade > 0)
    both = np.maximum(judged.rank[hit], _ideal_rank(judged, hit))
    worth, most = np.zeros(len(judged.rank)), np.zeros(len(pool.grades))
    worth[hit] = down_to[depth[judged.topic[hit]]] - down_to[both - 1]
    most[ideal] = down_to[depth[pool.topic[ideal]]] - down_to[pool.place[ideal] - 1]
    return ratio(judged.total(worth), pool.total(most) if normalize else (1 - p**depth) / (1 - p))


@measure(explain=explained_ranked.accuracy)
def Accuracy(judged: Judged, *, rel: float = 1, cutoff: int | None = None) -> Floats:
    """The chance that of two retrieved documents, a relevant one and one that is not, the relevant one stands higher.

    Only the documents down to the cutoff count: what was not retrieved is not missed, so it tells whether a model has
    learned to order what it is given, not whether a search was good. A list without a relevant document scores 0, one
    of relevant documents alone 1.

    Formula: 1 - Σ n_i / (r_k (k - r_k)) over the relevant documents i, n_i documents that are not relevant standing
      above; k is the length of the list, or the cutoff
    Reference: ir_measures' Accuracy; the area under the ROC curve of the list, see Fawcett, "An introduction to ROC
      analysis", Pattern Recognition Letters 27(8), 2006.

    >>> Accuracy.per_topic(relstring("10-1", "11"))
    array([0.5, 1. ])
    """
    hit = judged.hits(rel, cutoff)
    hits = judged.total(hit)
    others = (judged.retrieved if cutoff is None else np.minimum(judged.retrieved, cutoff)) - hits
    wrong = judged.total(hit * (judged.rank - judged.running(hit)))
    return np.where(hits > 0, 1 - ratio(wrong, hits * others), 0.0)


def _ideal_rank(judged: Judged, hit: Integers) -> Integers:
    """Rank of each of these hits in the ideal ranking that has documents of one grade in the order of the run."""
    pool = judged.pool
    new_grade = (np.diff(pool.grades, prepend=np.nan) != 0) | (pool.place == 1)
    first = np.maximum.accumulate(np.where(new_grade, np.arange(len(new_grade)), 0))[judged.row[hit]]
    order = np.lexsort((judged.rank[hit], first))
    starts = np.searchsorted(first[order], first[order])
    rank = np.empty(len(hit), dtype=np.int64)
    rank[order] = pool.place[first[order]] + np.arange(len(hit)) - starts
    return rank
