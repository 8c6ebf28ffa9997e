"""What there is to count in a collection: words, judgements for each topic and grade, what a perfect run scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from cranfield.evaluation.findings import DEPTHS, Shape, shape_of
from cranfield.judged import Floats, Judged, Pool
from cranfield.texts.forms import Texts

MOST_GRADES = 20  # more are numbers rather than grades


class Spread(NamedTuple):
    """The least, the median, the mean and the most of some numbers."""

    least: float
    median: float
    mean: float
    most: float


class GradeSummary(NamedTuple):
    """One grade: how many judgements have it, in how many topics, how many a topic has, and what it is called."""

    grade: float
    judgements: int
    topics: int
    per_topic: Spread
    label: str | None = None


class Cutoff(NamedTuple):
    """A cutoff k: what a perfect run scores in P@k, how many topics have k relevant documents, and of the documents
    that runs have down to it the share that is judged (None without runs, or where no run goes so far).
    """

    cutoff: int
    perfect: float
    topics: int
    judged: float | None


@dataclass(frozen=True)
class TextSummary:
    """How many documents or topics there are, how many of them are empty, and the words of each field."""

    count: int
    empty: int
    words: Mapping[str, Spread]


@dataclass(frozen=True, kw_only=True)
class JudgementSummary:
    """How many judgements there are, how many say relevant, for each topic and each grade, and what shape they have.

    `levels` is the number of different grades above 0; grades are listed if there are not too many of them.
    """

    topics: int
    judged: int
    relevant: int
    judged_per_topic: Spread
    relevant_per_topic: Spread
    levels: int
    grades: tuple[GradeSummary, ...]
    shape: Shape


def spread(values: Sequence[float] | Floats) -> Spread:
    """
    >>> spread([1, 2, 6])
    Spread(least=1.0, median=2.0, mean=3.0, most=6.0)
    """
    array = np.asarray(values, dtype=np.float64)
    return Spread(float(array.min()), float(np.median(array)), float(array.mean()), float(array.max()))


def of_texts(texts: Texts) -> TextSummary:
    """Counts of documents or topics."""
    words = {name: spread([len(text.split()) for text in column]) for name, column in texts.fields.items()}
    return TextSummary(len(texts), texts.empty(), words)


def of_judgements(pooled: Pool, labels: Mapping[float, str] | None = None) -> JudgementSummary:
    """Counts of judgements, by grades that may have labels; a negative grade is in the pool but not judged."""
    judged = pooled.total(pooled.grades >= 0)
    relevant = pooled.total(pooled.grades > 0)
    grades = []
    values = np.unique(pooled.grades)[::-1]
    for grade in values.tolist() if len(values) <= MOST_GRADES else ():
        per_topic = pooled.total(pooled.grades == grade)
        label = (labels or {}).get(grade)
        grades.append(
            GradeSummary(grade, int(per_topic.sum()), int(np.count_nonzero(per_topic)), spread(per_topic), label)
        )
    return JudgementSummary(
        topics=len(pooled.topics),
        judged=int(judged.sum()),
        relevant=int(relevant.sum()),
        judged_per_topic=spread(judged),
        relevant_per_topic=spread(relevant),
        levels=int(np.count_nonzero(values > 0)),
        grades=tuple(grades),
        shape=shape_of(pooled),
    )


def of_cutoffs(pooled: Pool, runs: Sequence[Judged]) -> tuple[Cutoff, ...]:
    """What may be expected at each of the usual cutoffs."""
    relevant = pooled.total(pooled.grades > 0)
    return tuple(
        Cutoff(
            cutoff,
            float(np.mean(np.minimum(relevant, cutoff) / cutoff)),
            int(np.count_nonzero(relevant >= cutoff)),
            _judged_share([judged for judged in runs if judged.retrieved.max() >= cutoff], cutoff),
        )
        for cutoff in DEPTHS
    )


def _judged_share(runs: Sequence[Judged], cutoff: int) -> float | None:
    """Of the documents that runs have down to a cutoff, the share that is judged: the mean over runs."""
    shares = [
        np.count_nonzero((judged.rank <= cutoff) & (judged.grade >= 0)) / np.minimum(judged.retrieved, cutoff).sum()
        for judged in runs
    ]
    return float(np.mean(shares)) if shares else None
