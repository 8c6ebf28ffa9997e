"""How far two orderings of the same systems agree, and how far an ordering would agree with itself on other topics."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from cranfield.errors import UsageError
from cranfield.statistics.coefficients import Coefficient
from cranfield.statistics.resampled import Estimate, percentile_estimate, topic_draws
from cranfield.statistics.significance import Floats, Integers, Sampling

DECIMALS = 12


def arithmetic_mean(scores: Floats) -> Floats:
    """Mean over the last axis.

    >>> arithmetic_mean(np.array([[0.0, 1.0], [1.0, 1.0]])).tolist()
    [0.5, 1.0]
    """
    means: Floats = np.mean(scores, axis=-1)
    return means


@dataclass(frozen=True, eq=False)
class Ordering:
    """scores[system, topic], and how a system's topics become the one number by which it is ordered.

    >>> Ordering(np.array([[0.0, 1.0], [1.0, 1.0]])).numbers().tolist()
    [0.5, 1.0]
    """

    scores: Floats
    average: Callable[[Floats], Floats] = arithmetic_mean

    def __post_init__(self) -> None:
        if self.scores.ndim != 2 or np.isnan(self.scores).any():
            raise UsageError("an ordering takes a score for every system and topic; use topics that all systems answer")

    @property
    def topics(self) -> int:
        return int(self.scores.shape[1])

    def numbers(self, topics: Integers | slice = slice(None)) -> Floats:
        """What the systems are ordered by, on all topics or on some.

        Rounded where adding the same scores in another order makes a difference: equal systems are tied.
        """
        numbers: Floats = np.round(self.average(self.scores[:, topics]), DECIMALS)
        return numbers


def agreement_of_orderings(
    coefficients: Sequence[Coefficient], first: Ordering, second: Ordering, sampling: Sampling, *, same_topics: bool
) -> list[Estimate]:
    """Each coefficient between two orderings of the same systems, with an interval over resampled topics.

    Where both orderings are over the same topics, both see the same resamples; otherwise each has its own. A resample
    repeats topics and so orders systems with more noise than the topics it is drawn from: intervals lean low.

    >>> from cranfield.statistics.coefficients import find_coefficient
    >>> easy = Ordering(np.array([[0.1, 0.2, 0.1], [0.4, 0.5, 0.4], [0.7, 0.9, 0.8]]))
    >>> agreement_of_orderings([find_coefficient("kendall")], easy, easy, Sampling(resamples=50), same_topics=True)
    [Estimate(value=1.0, low=1.0, high=1.0, undefined=0)]
    """
    if len(first.scores) != len(second.scores):
        raise UsageError(f"two orderings of different systems: {len(first.scores)} and {len(second.scores)}")
    if same_topics and first.topics != second.topics:
        raise UsageError(f"two orderings over different topics: {first.topics} and {second.topics}")
    draws = topic_draws(first.topics, sampling)
    others = topic_draws(second.topics, sampling, stream=0 if same_topics else 1)
    numbers = [(first.numbers(draw), second.numbers(other)) for draw, other in zip(draws, others, strict=True)]
    return [
        percentile_estimate(
            coefficient(first.numbers(), second.numbers()), np.array([coefficient(x, y) for x, y in numbers])
        )
        for coefficient in coefficients
    ]


class Stability(NamedTuple):
    """A coefficient between the orderings of two random halves of the topics: mean, spread and middle 95 %."""

    mean: float
    deviation: float
    low: float
    high: float
    undefined: int = 0


def split_half_stability(
    coefficients: Sequence[Coefficient], ordering: Ordering, sampling: Sampling
) -> list[Stability]:
    """How well the ordering of one half of the topics tells that of the other half, over random splits.

    >>> from cranfield.statistics.coefficients import find_coefficient
    >>> easy = Ordering(np.array([[0.1, 0.2, 0.1], [0.4, 0.5, 0.4], [0.7, 0.9, 0.8]]))
    >>> split_half_stability([find_coefficient("kendall")], easy, Sampling(resamples=20))[0].mean
    1.0
    """
    if ordering.topics < 2:
        raise UsageError("one topic cannot be split in halves")
    generator = np.random.default_rng(sampling.seed)
    halves = []
    for _ in range(sampling.resamples):
        shuffled = generator.permutation(ordering.topics)
        middle = ordering.topics // 2
        halves.append((ordering.numbers(shuffled[:middle]), ordering.numbers(shuffled[middle:])))
    return [_stability(np.array([coefficient(x, y) for x, y in halves])) for coefficient in coefficients]


def _stability(replicates: Floats) -> Stability:
    defined = replicates[~np.isnan(replicates)]
    if not len(defined):
        nothing = float("nan")
        return Stability(nothing, nothing, nothing, nothing, len(replicates))
    _, low, high, undefined = percentile_estimate(0.0, replicates)
    return Stability(float(np.mean(defined)), float(np.std(defined)), low, high, undefined)
