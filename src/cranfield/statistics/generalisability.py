"""Would other topics have put the systems in the same order? Generalisability theory on scores[system, topic].

Scores vary because systems differ, because topics differ, and because some systems suit some topics. Eρ² is the share
of the variance between mean scores that is due to the systems alone when only their differences matter; Φ the same when
the scores themselves matter, so that a hard set of topics is an error too.

Reference: Brennan, "Generalizability Theory", 2001; Urbano, Marrero and Martín, "On the measurement of test collection
reliability", SIGIR 2013.
"""

from __future__ import annotations

from math import ceil, inf, isnan, nan
from typing import NamedTuple

import numpy as np

from cranfield.errors import UsageError
from cranfield.statistics.significance import Floats


class Components(NamedTuple):
    """Mean squares of the two-way analysis of variance, and the variances that they estimate, never below 0."""

    systems: int
    topics: int
    systems_square: float
    topics_square: float
    residual_square: float

    @property
    def systems_variance(self) -> float:
        return max(0.0, (self.systems_square - self.residual_square) / self.topics)

    @property
    def topics_variance(self) -> float:
        return max(0.0, (self.topics_square - self.residual_square) / self.systems)

    @property
    def residual_variance(self) -> float:
        return self.residual_square


class IntervalEstimate(NamedTuple):
    """A number with its interval. Topics needed are infinite where no number of topics would do."""

    value: float
    low: float
    high: float


def variance_components(scores: Floats) -> Components:
    """Splits the variance of scores[system, topic] into that of systems, of topics and the rest.

    Formula: MS_s = n_q Σ(x̄_s - x̄)² / (n_s - 1), MS_q = n_s Σ(x̄_q - x̄)² / (n_q - 1), MS_e the rest
    σ²_s = (MS_s - MS_e) / n_q, σ²_q = (MS_q - MS_e) / n_s, σ²_e = MS_e

    >>> components = variance_components(np.array([[0.1, 0.4, 0.5], [0.3, 0.5, 0.9]]))
    >>> np.round([components.systems_variance, components.topics_variance, components.residual_variance], 4)
    array([0.0233, 0.0567, 0.0117])
    """
    scores = np.asarray(scores, dtype=np.float64)
    if scores.ndim != 2 or min(scores.shape) < 2:
        raise UsageError(f"scores must be those of 2 systems or more on 2 topics or more, not of shape {scores.shape}")
    if not np.isfinite(scores).all():
        raise UsageError("scores must be complete: every system needs a finite score on every topic")
    systems, topics = scores.shape
    of_system = scores.mean(axis=1, keepdims=True) - scores.mean()
    of_topic = scores.mean(axis=0, keepdims=True) - scores.mean()
    rest = scores - scores.mean() - of_system - of_topic
    rounding = 1e-12 * np.abs(scores).max()  # what is left of equal scores is not variance

    def sum_of_squares(deviations: Floats) -> float:
        return float((np.where(np.abs(deviations) <= rounding, 0.0, deviations) ** 2).sum())

    return Components(
        systems,
        topics,
        topics * sum_of_squares(of_system) / (systems - 1),
        systems * sum_of_squares(of_topic) / (topics - 1),
        sum_of_squares(rest) / ((systems - 1) * (topics - 1)),
    )


def generalisability(
    components: Components, topics: int | None = None, *, confidence: float = 0.95
) -> IntervalEstimate:
    """Eρ² with that many topics, or as many as there were: how stable the differences between systems are.

    Formula: Eρ² = σ²_s / (σ²_s + σ²_e / n); interval from MS_s / MS_e and the quantiles of F
    Reference: Feldt, "The approximate sampling distribution of Kuder-Richardson reliability coefficient twenty", 1965.

    >>> components = variance_components(np.array([[0.1, 0.4, 0.5, 0.2], [0.3, 0.5, 0.9, 0.1], [0.0, 0.1, 0.4, 0.2]]))
    >>> round(generalisability(components).value, 3), round(generalisability(components, 50).value, 3)
    (0.718, 0.97)
    """
    number = _checked_topics(topics, components)
    ratios = (
        _ratio(components.systems_variance, components.residual_variance),
        *_relative_bounds(components, confidence),
    )
    return IntervalEstimate(*(_reliability(number, ratio) for ratio in ratios))


def dependability(components: Components, topics: int | None = None, *, confidence: float = 0.95) -> IntervalEstimate:
    """Φ with that many topics, or as many as there were: how stable the scores themselves are.

    Formula: Φ = σ²_s / (σ²_s + (σ²_q + σ²_e) / n)
    Reference: Arteaga, Jeyaratnam and Franklin, "Confidence intervals for proportions of total variance in the two-way
    cross component of variance model", 1982.

    >>> components = variance_components(np.array([[0.1, 0.4, 0.5, 0.2], [0.3, 0.5, 0.9, 0.1], [0.0, 0.1, 0.4, 0.2]]))
    >>> round(dependability(components).value, 3), round(dependability(components, 50).value, 3)
    (0.477, 0.919)
    """
    number = _checked_topics(topics, components)
    noise = components.topics_variance + components.residual_variance
    ratios = (_ratio(components.systems_variance, noise), *_absolute_bounds(components, confidence))
    return IntervalEstimate(*(_reliability(number, ratio) for ratio in ratios))


def topics_for_generalisability(components: Components, target: float, *, confidence: float = 0.95) -> IntervalEstimate:
    """How many topics give that Eρ².

    Formula: n = ⌈target σ²_e / (σ²_s (1 - target))⌉

    >>> components = variance_components(np.array([[0.1, 0.4, 0.5, 0.2], [0.3, 0.5, 0.9, 0.1], [0.0, 0.1, 0.4, 0.2]]))
    >>> topics_for_generalisability(components, 0.9).value
    15.0
    """
    ratio, bounds = (
        _ratio(components.systems_variance, components.residual_variance),
        _relative_bounds(components, confidence),
    )
    return _topics_for(target, ratio, bounds)


def topics_for_dependability(components: Components, target: float, *, confidence: float = 0.95) -> IntervalEstimate:
    """How many topics give that Φ.

    Formula: n = ⌈target (σ²_q + σ²_e) / (σ²_s (1 - target))⌉

    >>> components = variance_components(np.array([[0.1, 0.4, 0.5, 0.2], [0.3, 0.5, 0.9, 0.1], [0.0, 0.1, 0.4, 0.2]]))
    >>> topics_for_dependability(components, 0.9).value
    40.0
    """
    noise = components.topics_variance + components.residual_variance
    return _topics_for(target, _ratio(components.systems_variance, noise), _absolute_bounds(components, confidence))


def expected_tau(generalisability: float) -> float:
    """Kendall's τ to expect between the order of systems that was found and the true one; a guess fitted to TREC data.

    Formula: (Eρ²)^2.84729794
    Reference: Urbano, Marrero and Martín, 2013.

    >>> round(expected_tau(0.95), 3)
    0.864
    """
    return float(generalisability**2.84729794002905)


def expected_tau_ap(generalisability: float) -> float:
    """τ_AP to expect between the order of systems that was found and the true one; a guess fitted to TREC data.

    Formula: (Eρ²)^3.98652984
    Reference: Urbano, Marrero and Martín, 2013.

    >>> round(expected_tau_ap(0.95), 3)
    0.815
    """
    return float(generalisability**3.98652984123827)


def _relative_bounds(components: Components, confidence: float) -> tuple[float, float]:
    """Bounds of σ²_s / σ²_e."""
    from scipy.stats import f

    observed = _ratio(components.systems_square, components.residual_square)
    freedom = components.systems - 1, (components.systems - 1) * (components.topics - 1)
    tail = (1 - _checked_share("confidence", confidence)) / 2
    low, high = ((observed / float(f.isf(at, *freedom)) - 1) / components.topics for at in (tail, 1 - tail))
    return low, high


def _absolute_bounds(components: Components, confidence: float) -> tuple[float, float]:
    """Bounds of σ²_s / (σ²_q + σ²_e)."""
    from scipy.stats import chi2, f

    systems, topics = components.systems, components.topics
    of_systems, of_topics, rest = components.systems_square, components.topics_square, components.residual_square
    tail = (1 - _checked_share("confidence", confidence)) / 2

    def bound(at: float) -> float:
        alone = float(chi2.isf(at, systems - 1)) / (systems - 1)  # F with infinite degrees of freedom below
        with_rest = float(f.isf(at, systems - 1, (systems - 1) * (topics - 1)))
        with_topics = float(f.isf(at, systems - 1, topics - 1))
        above = of_systems**2 - alone * of_systems * rest + (alone - with_rest) * with_rest * rest**2
        below = (systems - 1) * alone * of_systems * rest + with_topics * of_systems * of_topics
        return systems * _ratio(above, below) / topics

    return bound(tail), bound(1 - tail)


def _reliability(topics: int, ratio: float) -> float:
    """The share of variance that is due to the systems, from the ratio of their variance to the noise of one topic."""
    if isnan(ratio) or ratio == inf:
        return nan if isnan(ratio) else 1.0
    signal = topics * max(ratio, 0.0)
    return signal / (1 + signal)


def _topics_for(target: float, ratio: float, bounds: tuple[float, float]) -> IntervalEstimate:
    odds = _checked_share("target", target) / (1 - target)

    def needed(ratio: float) -> float:
        if isnan(ratio) or ratio <= 0:
            return nan if isnan(ratio) else inf
        return float(max(1, ceil(odds / ratio)))

    low, high = bounds
    return IntervalEstimate(needed(ratio), needed(high), needed(low))


def _ratio(above: float, below: float) -> float:
    """A ratio that is infinite without noise and unknown (NaN) without any variance at all."""
    if below > 0:
        return above / below
    return inf if above > 0 else nan


def _checked_topics(topics: int | None, components: Components) -> int:
    if topics is not None and topics < 1:
        raise UsageError(f"topics must be at least 1, not {topics}")
    return components.topics if topics is None else topics


def _checked_share(name: str, value: float) -> float:
    if not 0 < value < 1:
        raise UsageError(f"{name} must be between 0 and 1, not {value:g}")
    return value
