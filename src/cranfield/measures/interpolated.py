"""Interpolated precision: at a recall level, the best precision at that recall or a higher one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cranfield.judged import Floats, Judged
from cranfield.measures.registry import Parameter, is_number, measure

RECALL_LEVELS = tuple(i / 10 for i in range(11))


@measure(
    at="recall",
    trec_at="iprec_at_recall",
    trec_cutoffs=RECALL_LEVELS,
    recall=Parameter("the recall level", "a number from 0 to 1", lambda v: is_number(v) and 0 <= v <= 1),
)
def IPrec(judged: Judged, *, rel: float = 1, recall: float) -> Floats:
    """Highest precision at any rank where recall is at least the given level.

    Formula: max of r_i / i over ranks i with r_i / R >= recall
    Reference: Manning, Raghavan and Schütze, Introduction to Information Retrieval, 2008, section 8.4.

    >>> (IPrec @ 0.5).per_topic(relstring("0010000100000010"))
    array([0.25])
    """
    return interpolated(judged, rel, [recall])[0]


@measure(
    trec="11pt_avg",
    points=Parameter("11: recall 0, 0.1, … 1; 10: recall 0.1, 0.2, … 1", "11 or 10", lambda v: v in (10, 11)),
)
def InterpolatedAP(judged: Judged, *, rel: float = 1, points: int = 11) -> Floats:
    """Interpolated precision averaged over the standard recall levels.

    Formula: mean of IPrec@r over r = 0, 0.1, … 1 (11 points) or r = 0.1, … 1 (10 points)
    Reference: Manning, Raghavan and Schütze, Introduction to Information Retrieval, 2008, section 8.4; the 10-point
      average is common in lecture notes.

    >>> InterpolatedAP(points=10).per_topic(relstring("001000010000001"))
    array([0.255])
    """
    levels = RECALL_LEVELS if points == 11 else RECALL_LEVELS[1:]
    return sum(interpolated(judged, rel, levels), np.zeros(len(judged.topics))) / points


def interpolated(judged: Judged, rel: float, levels: Sequence[float]) -> list[Floats]:
    """Interpolated precision of every topic at each recall level."""
    relevant = judged.n_relevant(rel)
    # The fewest documents that reach the level; 0.7 * 10 is a little above 7 in binary.
    return reached(judged, rel, [np.ceil(level * relevant - 1e-9) for level in levels])


def reached(judged: Judged, rel: float, needed: Sequence[Floats]) -> list[Floats]:
    """Highest precision of every topic from where as many relevant documents are found as it needs; 0 if they are not.

    Needing none is as needing one: precision is highest at a relevant document.
    """
    hit = judged.hits(rel)
    best = np.append(judged.best_from_here(judged.running(hit) / judged.rank * hit)[hit], 0.0)
    found = judged.total(hit).astype(np.int64)
    start = np.cumsum(found) - found
    curves = []
    for count in needed:
        place = np.clip(count, 1, found + 1).astype(np.int64)
        curves.append(np.where(place <= found, best[np.minimum(start + place - 1, len(best) - 1)], 0.0))
    return curves
