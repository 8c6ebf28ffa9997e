"""Was a run, or an improvement, reproduced? Scores of the original and of the reproduction in, distances out.

Breuer, Ferro, Fuhr, Maistro, Sakai, Schaer and Soboroff, "How to measure the reproducibility of system-oriented IR
experiments", 2020.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import NamedTuple

import numpy as np

from cranfield.errors import UsageError
from cranfield.statistics.coefficients import find_coefficient
from cranfield.statistics.resampled import Estimate, percentile_estimate, topic_draws
from cranfield.statistics.significance import Floats, Sampling


class Effect(NamedTuple):
    """Scores by topic of a baseline and of what is said to improve on it."""

    baseline: Floats
    advanced: Floats

    @property
    def improvement(self) -> float:
        """Mean difference."""
        return float(np.mean(self.advanced - self.baseline))

    @property
    def relative_improvement(self) -> float:
        """Mean difference as a share of the baseline's mean.

        >>> round(Effect(np.array([0.2, 0.4]), np.array([0.3, 0.6])).relative_improvement, 4)
        0.5
        """
        return _ratio(self.improvement, float(np.mean(self.baseline)))


def rmse(original: Floats, reproduced: Floats) -> float:
    """Root of the mean squared difference of scores by topic; 0 is a perfect reproduction.

    >>> rmse(np.array([0.5, 0.5]), np.array([0.5, 0.1])).__round__(4)
    0.2828
    """
    return float(np.sqrt(np.mean((original - reproduced) ** 2)))


def nrmse(original: Floats, reproduced: Floats) -> float:
    """RMSE as a share of the largest there could be for these originals: from 0 to 1. NaN for scores beyond [0, 1].

    RMSE / √(mean max(x, 1 - x)²)

    >>> nrmse(np.array([1.0, 0.0]), np.array([0.0, 1.0]))
    1.0
    """
    if min(original.min(), reproduced.min()) < 0 or max(original.max(), reproduced.max()) > 1:
        return float("nan")
    return rmse(original, reproduced) / float(np.sqrt(np.mean(np.maximum(original, 1 - original) ** 2)))


def effect_ratio(original: Effect, reproduced: Effect) -> float:
    """The reproduced improvement as a share of the original: 1 is perfect, 0 is no effect, below 0 the opposite one.

    >>> old = Effect(np.array([0.2, 0.4]), np.array([0.3, 0.6]))
    >>> effect_ratio(old, Effect(np.array([0.2, 0.4]), np.array([0.2, 0.55]))).__round__(4)
    0.5
    """
    return _ratio(reproduced.improvement, original.improvement)


def delta_relative_improvement(original: Effect, reproduced: Effect) -> float:
    """The original relative improvement less the reproduced one: 0 is perfect, above 0 less was reproduced.

    >>> old = Effect(np.array([0.2, 0.4]), np.array([0.3, 0.6]))
    >>> delta_relative_improvement(old, Effect(np.array([0.2, 0.4]), np.array([0.2, 0.55]))).__round__(4)
    0.25
    """
    return original.relative_improvement - reproduced.relative_improvement


def kendall_tau_union(original: Sequence[Hashable], reproduced: Sequence[Hashable], depth: int | None = None) -> float:
    """Kendall's tau of two lists read as numbers of their union, rank by rank, down to the end of the shorter one.

    The union is numbered by original rank, then by reproduced rank, so that what documents are called does not matter.
    It takes little notice of documents that differ: read it beside the overlap, and prefer rank-biased overlap.

    >>> kendall_tau_union(["a", "b", "c"], ["a", "b", "x"])
    1.0
    """
    length = min(len(original), len(reproduced), len(original) if depth is None else depth)
    place = {document: number for number, document in enumerate(original[:length])}
    for document in reproduced[:length]:
        place.setdefault(document, len(place))
    return find_coefficient("kendall")(np.arange(length), [place[document] for document in reproduced[:length]])


def reproduction_of_scores(original: Floats, reproduced: Floats, sampling: Sampling) -> dict[str, Estimate]:
    """RMSE and nRMSE of scores on the same topics, with intervals over resampled topics.

    >>> same = np.array([0.2, 0.7, 0.4])
    >>> reproduction_of_scores(same, same, Sampling(resamples=20))["RMSE"].high
    0.0
    """
    if original.shape != reproduced.shape:
        raise UsageError(f"scores on different topics: {original.shape} and {reproduced.shape}")
    draws = list(topic_draws(len(original), sampling))
    distances: dict[str, Callable[[Floats, Floats], float]] = {"RMSE": rmse, "nRMSE": nrmse}
    return {
        name: percentile_estimate(
            distance(original, reproduced), np.array([distance(original[draw], reproduced[draw]) for draw in draws])
        )
        for name, distance in distances.items()
    }


def reproduction_of_effect(
    original: Effect, reproduced: Effect, sampling: Sampling, *, same_topics: bool
) -> dict[str, Estimate]:
    """Effect ratio and delta relative improvement, with intervals over resampled topics.

    On the same topics both sides see the same resamples; on other topics each has its own.

    >>> old = Effect(np.array([0.2, 0.4, 0.3]), np.array([0.3, 0.6, 0.3]))
    >>> reproduction_of_effect(old, old, Sampling(resamples=20), same_topics=True)["effect ratio"].value
    1.0
    """
    draws = topic_draws(len(original.baseline), sampling)
    others = topic_draws(len(reproduced.baseline), sampling, stream=0 if same_topics else 1)
    pairs = [
        (Effect(*(scores[draw] for scores in original)), Effect(*(scores[other] for scores in reproduced)))
        for draw, other in zip(draws, others, strict=True)
    ]
    quantities = {"effect ratio": effect_ratio, "delta relative improvement": delta_relative_improvement}
    return {
        name: percentile_estimate(quantity(original, reproduced), np.array([quantity(*pair) for pair in pairs]))
        for name, quantity in quantities.items()
    }


def share_of_sign_changes(effect: Effect, sampling: Sampling) -> float:
    """How often the improvement vanishes or turns round when topics are drawn anew: ratios to it then mean little.

    >>> share_of_sign_changes(Effect(np.array([0.2, 0.4]), np.array([0.3, 0.6])), Sampling(resamples=20))
    0.0
    """
    difference = effect.advanced - effect.baseline
    means = np.array([np.mean(difference[draw]) for draw in topic_draws(len(difference), sampling)])
    return float(np.mean(means * effect.improvement <= 0))


def _ratio(numerator: float, denominator: float) -> float:
    return numerator / denominator if denominator else float("nan")
