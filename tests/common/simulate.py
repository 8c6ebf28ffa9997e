"""Scores drawn so that no system is better than another: what every test must keep quiet about.

Systems are exchangeable on each topic: a Gaussian copula with correlation 0.6 (topics are easy or hard for all), and
the same margin for all systems, shaped like a measure's scores.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Margin = Callable[[Floats], Floats]

CORRELATION = 0.6


def _beta(a: float, b: float) -> Margin:
    """Scores of a beta distribution, interpolated between quantiles: exact ones would take longer than all tests."""
    shares = np.linspace(0, 1, 2049)
    quantiles = special.betaincinv(a, b, shares)
    return lambda share: np.interp(share, shares, quantiles)


def _precision_at_10(share: Floats) -> Floats:
    return np.searchsorted(stats.betabinom(10, 0.9, 1.3).cdf(np.arange(10)), share) / 10


def _reciprocal_rank(share: Floats) -> Floats:
    """First relevant document at rank 1 in 40 % of topics, rarer further down, none in the first ten in 10 %."""
    ranks = np.searchsorted(0.9 * np.cumsum(1 / np.arange(1, 11)) / np.sum(1 / np.arange(1, 11)), share) + 1
    return np.where(ranks <= 10, 1 / ranks, 0.0)


MARGINS: Mapping[str, Margin] = {
    "AP": _beta(0.7, 1.9),
    "nDCG": _beta(1.3, 1.6),
    "P@10": _precision_at_10,
    "RR@10": _reciprocal_rank,
}


def equal_systems(margin: str, sets: int, systems: int, topics: int, seed: int = 0) -> Floats:
    """scores[set * systems + system, topic] of data sets with no difference between their systems."""
    random = np.random.default_rng(seed)
    common = random.standard_normal((sets, 1, topics))
    own = random.standard_normal((sets, systems, topics))
    normal = np.sqrt(CORRELATION) * common + np.sqrt(1 - CORRELATION) * own
    return MARGINS[margin](special.ndtr(normal)).reshape(sets * systems, topics)


def skewed_systems(sets: int, topics: int, seed: int = 0) -> Floats:
    """scores[2 * set + system, topic] of pairs that differ by Exp(1) - 1: on average not at all, mostly by a little."""
    scores = np.zeros((sets, 2, topics))
    scores[:, 0] = np.random.default_rng(seed).exponential(size=(sets, topics)) - 1
    return scores.reshape(2 * sets, topics)


def pairs_within(sets: int, systems: int = 2) -> Integers:
    """Every pair of systems of each data set; all pairs of the first data set come first."""
    pairs = np.stack(np.triu_indices(systems, 1), axis=1)
    return (pairs + systems * np.arange(sets)[:, None, None]).reshape(-1, 2).astype(np.int64)


def band(rate: float, sets: int) -> float:
    """How far a simulated rate may be from the true one: four standard errors."""
    return float(4 * np.sqrt(rate * (1 - rate) / sets))


def within_errors(drawn: Floats, exact: Floats, resamples: int) -> bool:
    """Whether as many resamples were extreme as may be: four standard errors, by the binomial distribution itself."""
    count = np.rint(drawn * (1 + resamples)) - 1
    tail = np.minimum(stats.binom.cdf(count, resamples, exact), stats.binom.sf(count - 1, resamples, exact))
    return bool((tail >= stats.norm.sf(4)).all())
