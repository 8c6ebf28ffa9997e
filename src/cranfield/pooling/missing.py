"""How many relevant documents a pool has likely missed, from how fast new ones came in towards its end.

After Zobel, "How reliable are the results of large-scale information retrieval experiments?", 1998: the number of new
relevant documents at each depth is extrapolated below the pool. Here it is a power of the depth with Poisson noise,
fitted to all but the first tenth of the depths, and other topics of the kind are drawn for the interval.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cranfield.errors import UsageError
from cranfield.judged import Floats, Integers
from cranfield.statistics.resampled import Estimate, default_sampling, percentile_estimate, topic_draws
from cranfield.statistics.significance import Sampling

LEAST_DEPTH = 10  # depths to fit a curve to
ASSUMES = (
    "new relevant documents go on coming in with depth as a power of it, runs below the pool are like those above, and "
    "what no run retrieves there is not counted"
)


class Missing(NamedTuple):
    """Relevant documents below the pool, down to rank `reach` of runs like these; `share` of all there then are."""

    found: int
    missing: Estimate
    share: Estimate
    exponent: float
    depth: int
    reach: int


def power_law(counts: Floats, depths: Integers) -> tuple[Floats, Floats]:
    """Logarithm of the factor, and exponent, of the power of depth that counts most likely follow, row by row.

    Poisson regression on the logarithm of the depth, by Newton's method.

    >>> factor, exponent = power_law(np.array([[64.0, 32.0, 16.0, 8.0]]), np.array([1, 2, 4, 8]))
    >>> np.exp(factor).round(6).tolist(), exponent.round(6).tolist()
    ([64.0], [-1.0])
    """
    x = np.log(depths)
    slope = np.full(len(counts), -1.0)
    level = np.log(counts.sum(axis=1) / np.exp(-x).sum())
    for _ in range(100):
        expected = np.exp(level[:, None] + slope[:, None] * x)
        off = counts - expected
        gradient = np.stack([off.sum(axis=1), off @ x], axis=1)
        a, b, c = expected.sum(axis=1), expected @ x, expected @ x**2
        step = np.stack([c * gradient[:, 0] - b * gradient[:, 1], a * gradient[:, 1] - b * gradient[:, 0]], axis=1)
        step /= (a * c - b**2)[:, None]
        level, slope = level + step[:, 0], slope + step[:, 1]
        if np.abs(step).max(initial=0.0) < 1e-10:
            break
    return level, slope


def estimate_missing(
    new_relevant: Integers, *, reach: int | None = None, sampling: Sampling | None = None
) -> Missing | None:
    """From new_relevant[topic, depth - 1], the relevant documents that first come in at each depth of the pool.

    `reach` is the rank down to which runs are thought to go on, ten times the pool's depth by default. None where
    there is too little to extrapolate from: fewer than ten depths, or nothing new in the last nine tenths of them.

    >>> counts = np.array([[16, 8, 5, 4, 3, 3, 2, 2, 2, 2]] * 6)  # about 16 / depth
    >>> made = estimate_missing(counts, reach=100)
    >>> made.found, round(made.missing.value), round(made.exponent, 2)
    (282, 248, -0.94)
    """
    depth = new_relevant.shape[1]
    reach = 10 * depth if reach is None else reach
    if reach <= depth:
        raise UsageError(f"reach must be below the pool's depth, {depth}, not {reach}")
    first = depth // 10
    fitted = new_relevant[:, first:].astype(np.float64)
    if depth < LEAST_DEPTH or np.count_nonzero(fitted.sum(axis=0)) < 2:
        return None
    sampling = sampling or default_sampling()
    draws = np.array([np.bincount(draw, minlength=len(fitted)) for draw in topic_draws(len(fitted), sampling)])
    counts = np.concatenate([fitted.sum(axis=0, keepdims=True), draws @ fitted])
    relevant = np.concatenate([[new_relevant.sum()], draws @ new_relevant.sum(axis=1)]).astype(np.float64)
    usable = np.count_nonzero(counts, axis=1) >= 2
    level, slope = np.full(len(counts), np.nan), np.full(len(counts), np.nan)
    level[usable], slope[usable] = power_law(counts[usable], np.arange(first + 1, depth + 1))
    below = np.log(np.arange(depth + 1, reach + 1))
    missing = np.array([np.exp(a + b * below).sum() for a, b in zip(level, slope, strict=True)])
    # A resample has other topics and so another number of relevant ones: what is missing is scaled to these topics.
    per_relevant = missing / np.maximum(relevant, 1)
    share = per_relevant / (1 + per_relevant)
    return Missing(
        int(relevant[0]),
        percentile_estimate(float(missing[0]), per_relevant[1:] * relevant[0]),
        percentile_estimate(float(share[0]), share[1:]),
        float(slope[0]),
        depth,
        reach,
    )
