"""Systems that give another run under every seed: is method A better than method B, whatever the seed?

The seeds of a method are a sample, as the topics are. A difference between two methods is uncertain because other
topics would have been asked and because other seeds would have been drawn; pairing every run of A with every run of B
counts the same topics many times and leaves the seeds out, which is far too sure.
"""

from __future__ import annotations

from math import nan, sqrt
from typing import NamedTuple

import numpy as np

from cranfield.errors import UsageError
from cranfield.statistics.significance import Floats

ROUNDING = 1e-12  # differences of equal scores differ by less than this, relative to themselves


class SeedSpread(NamedTuple):
    """A method over its seeds: the mean score, and the standard deviation of the runs' means (NaN for one run)."""

    seeds: int
    mean: float
    sd: float


class SeedComparison(NamedTuple):
    """Method A against method B: difference of the mean scores with its standard error, degrees of freedom, t,
    two-sided p and interval; `notes` are sentences that a reader of the p-value must know. Where nothing varies,
    neither over topics nor over seeds, t, p and interval are undefined: NaN.
    """

    a: SeedSpread
    b: SeedSpread
    difference: float
    error: float
    freedom: float
    statistic: float
    p: float
    low: float
    high: float
    notes: tuple[str, ...]


class _Part(NamedTuple):
    """A mean square's share in the variance of the difference, with its degrees of freedom."""

    variance: float
    freedom: float


def compare_seeds(
    a: Floats, b: Floats, *, confidence: float = 0.95, names: tuple[str, str] = ("A", "B")
) -> SeedComparison:
    """Tests whether two methods differ, from a[seed, topic] and b[seed, topic] on the same topics.

    The null hypothesis: over all topics and all seeds, the methods have the same mean score.

    Formula: variance = s²_d / n + Σ max(0, (MS_seed - MS_rest) / n) / R over both methods, with s_d the standard
    deviation over the n topics of the difference between the methods' means over seeds, and the mean squares those of
    each method's two-way analysis of variance over R seeds and n topics; t with Satterthwaite's degrees of freedom
    Reference: Satterthwaite, "An approximate distribution of estimates of variance components", 1946.

    >>> a = np.array([[0.50, 0.25, 0.75, 0.60], [0.55, 0.35, 0.70, 0.60], [0.45, 0.40, 0.80, 0.65]])
    >>> b = np.array([[0.40, 0.15, 0.70, 0.50]])
    >>> comparison = compare_seeds(a, b)
    >>> round(comparison.difference, 4), round(comparison.error, 4), round(comparison.p, 4)
    (0.1125, 0.0275, 0.0265)
    >>> comparison.notes
    ('B has one run: the result is about that run and says nothing of the method under other seeds',)
    """
    a, b = _checked(a, names[0]), _checked(b, names[1])
    if a.shape[1] != b.shape[1]:
        raise UsageError(
            f"{names[0]} has {a.shape[1]} topics and {names[1]} {b.shape[1]}: they must be the same topics"
        )
    if not 0 < confidence < 1:
        raise UsageError(f"confidence must be between 0 and 1, not {confidence:g}")
    topics = a.shape[1]
    per_topic = a.mean(axis=0) - b.mean(axis=0)
    difference = float(per_topic.mean())
    parts = [_Part(_variance(per_topic) / topics, topics - 1), *_of_seeds(a), *_of_seeds(b)]
    variance = sum(part.variance for part in parts)
    notes = [
        f"{name} has one run: the result is about that run and says nothing of the method under other seeds"
        for name, scores in zip(names, (a, b), strict=True)
        if len(scores) == 1
    ]
    if variance == 0:
        notes.append("the differences do not vary at all, neither over topics nor over seeds: p is undefined")
        t, p, low, high, freedom = nan, nan, nan, nan, nan
    else:
        from scipy.stats import t as student

        freedom = variance**2 / sum(part.variance**2 / part.freedom for part in parts)
        t = difference / sqrt(variance)
        p = float(2 * student.sf(abs(t), freedom))
        margin = float(student.isf((1 - confidence) / 2, freedom)) * sqrt(variance)
        low, high = difference - margin, difference + margin
    return SeedComparison(
        seed_spread(a), seed_spread(b), difference, sqrt(variance), freedom, t, p, low, high, tuple(notes)
    )


def seed_spread(scores: Floats) -> SeedSpread:
    """A method's mean score over scores[seed, topic], and how far apart its runs are.

    >>> seed_spread(np.array([[0.25, 0.25], [0.5, 0.5], [0.5, 1.0]]))
    SeedSpread(seeds=3, mean=0.5, sd=0.25)
    """
    means = np.asarray(scores, dtype=np.float64).mean(axis=1)
    sd = float(means.std(ddof=1)) if len(means) > 1 else nan
    return SeedSpread(len(means), float(means.mean()), sd)


def _of_seeds(scores: Floats) -> list[_Part]:
    """What a method's choice of seeds adds: its mean squares between seeds, less what topics alone explain."""
    seeds, topics = scores.shape
    if seeds == 1:
        return []
    means = scores.mean(axis=1)
    rest = scores - means[:, None] - scores.mean(axis=0) + scores.mean()
    between = topics * _variance(means)
    residual = float((rest**2).sum()) / ((seeds - 1) * (topics - 1))
    if between <= residual:
        return []
    return [
        _Part(between / (topics * seeds), seeds - 1),
        _Part(-residual / (topics * seeds), (seeds - 1) * (topics - 1)),
    ]


def _variance(values: Floats) -> float:
    """The unbiased variance; what rounding leaves of equal values is none."""
    return 0.0 if np.ptp(values) <= ROUNDING * np.abs(values).max() else float(values.var(ddof=1))


def _checked(scores: Floats, name: str) -> Floats:
    scores = np.asarray(scores, dtype=np.float64)
    if scores.ndim != 2 or scores.shape[0] < 1 or scores.shape[1] < 2:
        raise UsageError(
            f"{name} must be scores[seed, topic] of a seed or more on 2 topics or more, not of shape {scores.shape}"
        )
    if not np.isfinite(scores).all():
        raise UsageError(f"the scores of {name} must be complete: every run needs a finite score on every topic")
    return scores
