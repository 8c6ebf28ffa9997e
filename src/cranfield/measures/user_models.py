"""Measures that model how a user goes down the list."""

from __future__ import annotations

import numpy as np

from cranfield.judged import Floats, Judged
from cranfield.measures import bounded, explained_gains
from cranfield.measures.arithmetic import within
from cranfield.measures.definition import Traits
from cranfield.measures.registry import measure
from cranfield.registry import Parameter, is_number


@measure(
    Traits(bounds=lambda judged, **parameters: bounds_of_err(judged, **parameters), cumulative=True),
    max_grade=Parameter(
        "the grade at which satisfaction is all but sure; None takes the highest of the judgements",
        "None or a number above 0",
        lambda v: v is None or (is_number(v) and v > 0),
    ),
    explain=explained_gains.cascade,
)
def ERR(judged: Judged, *, max_grade: float | None = None, cutoff: int | None = None) -> Floats:
    """Expected reciprocal rank at which a user, going down the list, is satisfied.

    A document of grade g satisfies with probability (2^g - 1) / 2^max_grade. The highest grade is that of all the
    judgements read, so a topic's value does not depend on which others are evaluated with it.

    Formula: Σ (1 / i) R_i Π_{j<i} (1 - R_j), with R_i = (2^g_i - 1) / 2^max_grade
    Reference: Chapelle, Metzler, Zhang and Grinspan, "Expected reciprocal rank for graded relevance", CIKM 2009.

    >>> ERR(max_grade=2).per_topic(relstring("201"))
    array([0.77083333])
    """
    highest = judged.pool.max_grade if max_grade is None else max_grade
    grade = np.clip(judged.grade, 0.0, highest)
    satisfied = (np.exp2(grade - highest) - np.exp2(-highest)) * within(judged.rank, cutoff)
    return judged.total(satisfied * judged.product_above(1 - satisfied) / judged.rank)


@measure(
    Traits(
        exact_ties=True,
        bounds=lambda judged, **parameters: bounds_of_rbp(judged, **parameters),
        linear=True,
        cumulative=True,
    ),
    explain=explained_gains.rank_biased,
)
def RBP(judged: Judged, *, p: float = 0.8, rel: float = 1, cutoff: int | None = None) -> Floats:
    """Rank-biased precision: the share of relevant documents a user sees who goes on with probability p.

    Formula: (1 - p) Σ p^(i - 1) over the ranks i of relevant documents
    Reference: Moffat and Zobel, "Rank-biased precision for measurement of retrieval effectiveness", TOIS 27(1), 2008.

    >>> RBP(p=0.5).per_topic(relstring("101"))
    array([0.625])
    """
    seen = judged.at_rank(lambda rank: (1 - p) * p ** (rank - 1.0) * within(rank, cutoff))
    return judged.total(judged.hits(rel) * seen)


def bounds_of_err(judged: Judged, *, max_grade: float | None, cutoff: int | None) -> bounded.Bounds:
    """Every unjudged document can only help."""
    highest = judged.pool.max_grade if max_grade is None else max_grade
    measure = ERR(max_grade=highest) if cutoff is None else ERR(max_grade=highest) @ cutoff
    return bounded.of_growing(judged, measure.per_topic, highest)


def bounds_of_rbp(judged: Judged, *, p: float, rel: float, cutoff: int | None) -> bounded.Bounds:
    """Every unjudged document can only add."""
    rank = judged.unjudged.rank
    known = judged.total(judged.hits(rel, cutoff) * (1 - p) * p ** (judged.rank - 1.0))
    return known, known + judged.unjudged.total((1 - p) * p ** (rank - 1.0) * within(rank, cutoff))
