"""Values with intervals from topics drawn anew, with replacement: what other topics of the kind might have shown."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from cranfield.statistics.significance import Floats, Integers, Sampling

CONFIDENCE = 0.95
RESAMPLES = 1000


class Estimate(NamedTuple):
    """A value and its percentile interval; `undefined` counts the resamples that gave no value and were left out."""

    value: float
    low: float
    high: float
    undefined: int = 0


def default_sampling() -> Sampling:
    """Enough for an interval's ends to two digits; a p-value would need more.

    >>> default_sampling().resamples
    1000
    """
    return Sampling(resamples=RESAMPLES)


def topic_draws(topics: int, sampling: Sampling, stream: int = 0) -> Iterator[Integers]:
    """For each resample the numbers of the topics drawn; streams are independent of each other.

    >>> [draw.tolist() for draw in topic_draws(3, Sampling(seed=1, resamples=2))]
    [[1, 1, 2], [2, 0, 0]]
    """
    generator = np.random.default_rng([sampling.seed, stream])
    return (generator.integers(topics, size=topics) for _ in range(sampling.resamples))


def percentile_estimate(value: float, replicates: Floats, confidence: float = CONFIDENCE) -> Estimate:
    """A value with the middle part of its resamples.

    >>> percentile_estimate(50.0, np.arange(101.0), 0.5)
    Estimate(value=50.0, low=25.0, high=75.0, undefined=0)
    """
    defined = replicates[np.isfinite(replicates)]
    undefined = len(replicates) - len(defined)
    if not len(defined):
        return Estimate(value, float("nan"), float("nan"), undefined)
    low, high = np.quantile(defined, [(1 - confidence) / 2, (1 + confidence) / 2])
    return Estimate(value, float(low), float(high), undefined)
