"""What a score would be if one document of a ranking had another grade: of one topic, all else as it is."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

import numpy as np

from cranfield.judged import Floats, Integers, Judged
from cranfield.measures.explained import Trace
from cranfield.measures.registry import Measure

Numbers = TypeVar("Numbers", Integers, Floats)


def if_not_relevant(measure: Measure, trace: Trace, rank: int) -> float | None:
    """What a document is worth: the score less that without its relevance. None for one that is not relevant.

    >>> from cranfield.judged import relstring
    >>> from cranfield.measures import F
    >>> at_5 = F @ 5
    >>> round(if_not_relevant(at_5, at_5.trace(relstring("10101")), 1), 4)  # 0.75 - 2 (2/5) (2/2) / (2/5 + 2/2)
    0.1786
    """
    judged = trace.judged
    at = np.flatnonzero(judged.rank == rank)
    if not len(at) or not judged.grade[at[0]] > 0:
        return None
    row, pool = judged.row[at[0]], judged.pool
    grades, columns = pool.grades.copy(), dict(pool.columns)
    # Without its preferences a document is preferred to none, and none to it.
    grades[row] = np.nan if "preferences" in columns else 0.0
    if "subtopics" in columns:
        of_subtopics = columns["subtopics"].copy()
        of_subtopics[row] = np.where(np.isnan(of_subtopics[row]), np.nan, 0.0)
        columns["subtopics"] = of_subtopics
    other = replace(judged, pool=replace(pool, columns=columns)).regraded(grades)
    return trace.value - _value(measure, other, pool.max_grade)


def if_relevant(measure: Measure, trace: Trace, rank: int, grade: float, tie: tuple[int, int]) -> float | None:
    """The score if the unjudged document at a rank had a grade; None where more than its grade would be open.

    `tie` is the first of the ranks that share its score, and how many do.

    >>> from cranfield.judged import relstring
    >>> from cranfield.measures import AP
    >>> if_relevant(AP, AP.trace(relstring("-1")), 1, 1.0, (1, 1))
    1.0
    """
    judged = trace.judged
    if measure.definition.needs not in (None, "lengths", "known") or "preferences" in judged.pool.columns:
        return None
    highest = max(judged.pool.max_grade, grade)
    at = np.flatnonzero(judged.rank == rank)
    if not len(at) and measure.definition.needs is not None:
        return None
    if not len(at):
        return _value(measure, with_judgement(judged, rank, grade, tie), highest)
    grades = judged.pool.grades.copy()  # it is pooled, with a negative grade
    grades[judged.row[at[0]]] = grade
    return _value(measure, judged.regraded(grades), highest)


def _value(measure: Measure, judged: Judged, highest: float) -> float:
    """The highest grade stays that of all judgements, whatever becomes of one document."""
    return float(measure.per_topic(replace(judged, pool=replace(judged.pool, max_grade=highest)))[0])


def with_judgement(judged: Judged, rank: int, grade: float, tie: tuple[int, int]) -> Judged:
    """One topic's ranking with a grade for the unjudged document at a rank, in the pool as well.

    >>> from cranfield.judged import relstring
    >>> made = with_judgement(relstring("1-0"), 2, 3.0, (2, 1))
    >>> made.rank.tolist(), made.grade.tolist(), made.pool.grades.tolist()
    ([1, 2, 3], [1.0, 3.0, 0.0], [3.0, 1.0, 0.0])
    """
    grades = judged.pool.grades
    row = int(np.searchsorted(-grades, -grade, "right"))
    at = int(np.searchsorted(judged.rank, rank))
    pool = replace(
        judged.pool,
        offsets=np.array([0, len(grades) + 1]),
        grades=_with(grades, row, grade),
        columns={},
    )
    return replace(
        judged,
        pool=pool,
        offsets=np.array([0, len(judged.rank) + 1]),
        rank=_with(judged.rank, at, rank),
        row=_with(judged.row + (judged.row >= row), at, row),
        grade=_with(judged.grade, at, grade),
        tie_first=_with(judged.tie_first, at, tie[0]),
        tie_size=_with(judged.tie_size, at, tie[1]),
    )


def _with(values: Numbers, at: int, value: float) -> Numbers:
    """One more value at a place: np.insert is general, and takes ten times as long."""
    return np.concatenate((values[:at], np.array([value], dtype=values.dtype), values[at:]))
