"""Measures that model how a user goes down the list."""

from __future__ import annotations

import numpy as np

from cranfield.judged import Floats, Judged
from cranfield.measures.arithmetic import within
from cranfield.measures.registry import Parameter, is_number, measure


@measure(
    max_grade=Parameter(
        "the grade at which satisfaction is all but sure; None takes the highest of the judgements",
        "None or a number above 0",
        lambda v: v is None or (is_number(v) and v > 0),
    ),
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
    p=Parameter(
        "persistence: the chance to go on to the next document",
        "a number between 0 and 1",
        lambda v: is_number(v) and 0 < v < 1,
    )
)
def RBP(judged: Judged, *, p: float = 0.8, rel: float = 1, cutoff: int | None = None) -> Floats:
    """Rank-biased precision: the share of relevant documents a user sees who goes on with probability p.

    Formula: (1 - p) Σ p^(i - 1) over the ranks i of relevant documents
    Reference: Moffat and Zobel, "Rank-biased precision for measurement of retrieval effectiveness", TOIS 27(1), 2008.

    >>> RBP(p=0.5).per_topic(relstring("101"))
    array([0.625])
    """
    hit = judged.hits(rel, cutoff)
    return judged.total(hit * (1 - p) * p ** (judged.rank - 1.0))
