"""Interpolated precision: at a recall level, the best precision at that recall or a higher one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cranfield.judged import Floats, Integers, Judged
from cranfield.measures import bounded, explained
from cranfield.measures.definition import Traits, Trec
from cranfield.measures.registry import measure
from cranfield.registry import Parameter, is_number

RECALL_LEVELS = tuple(i / 10 for i in range(11))
LEVELS = {11: RECALL_LEVELS, 10: RECALL_LEVELS[1:], 9: RECALL_LEVELS[1:-1]}  # by the number of points


@measure(
    Traits(bounds=lambda judged, *, rel, recall: bounds_of_interpolated(judged, rel, [recall])),
    at="recall",
    trec=Trec(at="iprec_at_recall", cutoffs=RECALL_LEVELS),
    recall=Parameter("the recall level", "a number from 0 to 1", lambda v: is_number(v) and 0 <= v <= 1),
    explain=lambda trace, *, rel, recall: explained_levels(trace, rel, [recall]),
)
def IPrec(judged: Judged, *, rel: float = 1, recall: float) -> Floats:
    """Highest precision at any rank where recall is at least the given level.

    Formula: max of r_i / i over ranks i with r_i / R >= recall
    Known as: interpolated precision; precision at a recall level
    Reference: Manning, Raghavan and Schütze, Introduction to Information Retrieval, 2008, section 8.4.

    >>> (IPrec @ 0.5).per_topic(relstring("0010000100000010"))
    array([0.25])
    """
    return interpolated(judged, rel, [recall])[0]


@measure(
    Traits(bounds=lambda judged, *, rel, points: bounds_of_interpolated(judged, rel, LEVELS[points])),
    trec="11pt_avg",
    points=Parameter(
        "11: recall 0, 0.1, … 1; 10: recall 0.1, 0.2, … 1; 9: recall 0.1, … 0.9",
        "11, 10 or 9",
        lambda v: is_number(v) and v in LEVELS,
    ),
    explain=lambda trace, *, rel, points: explained_levels(trace, rel, LEVELS[points]),
)
def InterpolatedAP(judged: Judged, *, rel: float = 1, points: int = 11) -> Floats:
    """Interpolated precision averaged over the standard recall levels.

    Formula: mean of IPrec@r over r = 0, 0.1, … 1
    Formula with points=10: mean of IPrec@r over r = 0.1, 0.2, … 1
    Formula with points=9: mean of IPrec@r over r = 0.1, 0.2, … 0.9
    Known as: 11-point average precision; interpolated average precision
    Reference: Manning, Raghavan and Schütze, Introduction to Information Retrieval, 2008, section 8.4; averages over 10
      and 9 points are common in lecture notes.

    >>> InterpolatedAP(points=10).per_topic(relstring("001000010000001"))
    array([0.255])
    >>> InterpolatedAP(points=9).per_topic(relstring("001000010000001"))
    array([0.26111111])
    """
    return sum(interpolated(judged, rel, LEVELS[points]), np.zeros(len(judged.topics))) / points


def interpolated(judged: Judged, rel: float, levels: Sequence[float]) -> list[Floats]:
    """Interpolated precision of every topic at each recall level."""
    relevant = judged.n_relevant(rel)
    return reached(judged, rel, [_fewest(level, relevant) for level in levels])


def explained_levels(trace: explained.Trace, rel: float, levels: Sequence[float]) -> explained.Working:
    """The mean over recall levels of the best precision from there on; the column has it at each relevant document."""
    values = np.array(interpolated(trace.judged, rel, levels))[:, 0]
    counts = trace.relevant(rel)
    here = counts * np.cumsum(counts) / trace.rank
    best = np.maximum.accumulate(here[::-1])[::-1]
    columns = {"best from here": np.where(counts, best, np.nan)}
    if len(levels) > 1:
        written, total = explained.summed([explained.number(value) for value in values]), float(values.sum())
        steps = explained.quotient(written, len(levels)), explained.quotient(explained.number(total), len(levels))
        pairs = tuple(zip(levels, values.tolist(), strict=True))
        return explained.Working(counts, steps, columns=columns, levels=pairs)
    reached = counts & (np.cumsum(counts) >= _fewest(levels[0], trace.judged.n_relevant(rel)))
    texts = [f"{n}/{i}" for n, i in zip(np.cumsum(counts)[reached], trace.rank[reached], strict=True)]
    if not texts:
        return explained.Working(counts, columns=columns, because=f"recall {levels[0]:g} is not reached")
    return explained.Working(reached, (f"max of {explained.summed(texts).replace(' +', ',')}",), columns=columns)


def _fewest(level: float, relevant: Floats) -> Floats:
    """The fewest documents that reach the level; 0.7 * 10 is a little above 7 in binary."""
    fewest: Floats = np.ceil(level * relevant - 1e-9)
    return fewest


def reached(judged: Judged, rel: float, needed: Sequence[Floats]) -> list[Floats]:
    """Highest precision of every topic from where as many relevant documents are found as it needs; 0 if they are not.

    Needing none is as needing one: precision is highest at a relevant document.
    """
    hit = judged.hits(rel)
    best = np.append(judged.best_from_here(judged.running(hit) / judged.rank * hit)[hit], 0.0)
    hits = judged.total(hit).astype(np.int64)
    start = np.cumsum(hits) - hits
    curves = []
    for count in needed:
        place = np.clip(count, 1, hits + 1).astype(np.int64)
        curves.append(np.where(place <= hits, best[np.minimum(start + place - 1, len(best) - 1)], 0.0))
    return curves


def bounds_of_interpolated(judged: Judged, rel: float, levels: Sequence[float]) -> bounded.Bounds:
    """Extremes of the mean over the levels: for each topic all numbers m of relevant unjudged documents at once.

    The m highest are relevant for the highest value, the m lowest for the lowest. Precision grows along a row of
    relevant documents, so it is looked at only where a row can end: at a relevant document, before a judged one, at
    the end of the list, and at the last of the m highest.
    """
    lowest, highest = np.zeros(len(judged.topics)), np.zeros(len(judged.topics))
    open_ranks, relevant = judged.unjudged, judged.n_relevant(rel)
    hit, known = judged.hits(rel), judged.grade >= 0
    for topic, length in enumerate(judged.retrieved.tolist()):
        shown = slice(judged.offsets[topic], judged.offsets[topic + 1])
        rank, hit_ranks = judged.rank[shown], judged.rank[shown][hit[shown]]
        holes = open_ranks.rank[open_ranks.offsets[topic] : open_ranks.offsets[topic + 1]]
        m = np.arange(len(holes) + 1)[:, None]
        ends = np.unique(np.concatenate((hit_ranks, rank[known[shown]] - 1, [length])))
        found_above, holes_above = (np.searchsorted(ranks, ends, "right") for ranks in (hit_ranks, holes))

        needed = [np.maximum(_fewest(level, relevant[topic] + m), 1) for level in levels]

        curves = _interpolated_rows(ends, found_above + np.maximum(holes_above - len(holes) + m, 0), needed)
        lowest[topic] = curves.mean(axis=0).min()

        last = np.concatenate(([0], holes))[:, None]
        down_to_last = np.searchsorted(hit_ranks, last, "right") + m
        at_last = down_to_last / np.maximum(last, 1) * (down_to_last >= needed)
        curves = _interpolated_rows(ends, found_above + np.minimum(holes_above, m), needed)
        highest[topic] = np.maximum(curves, at_last[..., 0]).mean(axis=0).max()
    return lowest, highest


def _interpolated_rows(ranks: Integers, above: Integers, needed: Sequence[Floats]) -> Floats:
    """Interpolated precision [level, row] of rankings, a row each, with so many relevant documents above some ranks."""
    precision = np.zeros((len(above), len(ranks) + 1))
    precision[:, :-1] = above / np.maximum(ranks, 1)
    best = np.maximum.accumulate(precision[:, ::-1], axis=1)[:, ::-1]
    first = [np.count_nonzero(above < number, axis=1) for number in needed]
    rows: Floats = best[np.arange(len(above)), first]
    return rows
