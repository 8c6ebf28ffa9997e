"""Intervals that hold at every look at once, however often one looks and whenever one stops.

They are for experiments without a known maximum; with one, group sequential limits find the same with fewer units.
Each rests on evidence (an e-process): a number that is 1 on average, at any time, if there is nothing to find, and so
exceeds 1 / alpha at some time with a chance of alpha at most (Ville). The interval holds the values against which there
is no such evidence.

Asymptotic confidence sequences take means of many units for normal: they hold from some number of units on, and the
burn-in says from which. Before it the interval is endless, and looks there cost nothing. Those of chances (clicks or
not, wins or losses) are exact from the first unit.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, inf, isnan, log, nan, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from cranfield.errors import UsageError
from cranfield.statistics.arms import TwoArms
from cranfield.statistics.significance import Floats


class AlwaysValid(NamedTuple):
    """An effect at one look, with an interval and p that hold at all looks together.

    `log_evidence` is the logarithm of the evidence against no effect; p is its inverse, at most 1. Before the burn-in
    the interval is endless and p 1; where the standard error is unknown p is NaN.
    """

    value: float
    low: float
    high: float
    p: float
    log_evidence: float


@dataclass(frozen=True)
class ConfidenceSequence:
    """Asymptotic confidence sequence of means, ratios and differences of them.

    `tuned_for` is the number of units, of both arms together, about which one hopes to decide. There it is 1.55 times
    as wide as an interval for one look (at 95 %); 2.0 times at a tenth of it, 1.65 at ten and 1.8 at a hundred times.
    Fix it before looking. `burn_in` is the number of units before which nothing is said.

    Reference: Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas, "Time-uniform central limit theory and asymptotic
    confidence sequences", 2024.

    >>> sequence = ConfidenceSequence(tuned_for=5000)
    >>> round(sequence.rho, 10), round(float(sequence.factors([5000])[0]), 4)
    (0.0398400668, 3.0352)
    """

    tuned_for: float
    alpha: float = 0.05
    burn_in: int = 0

    def __post_init__(self) -> None:
        if not 0 < self.alpha < 1:
            raise UsageError(f"alpha must be between 0 and 1, not {self.alpha:g}")
        if not 0 < self.tuned_for < inf:
            raise UsageError(
                f"a confidence sequence must be tuned for a number of units above 0, not {self.tuned_for:g}"
            )

    @property
    def rho(self) -> float:
        """What makes it narrowest at `tuned_for` units, nearly: √((-2 ln α + ln(1 - 2 ln α)) / n)."""
        return tuned_rho(self.tuned_for, self.alpha)

    def factors(self, units: ArrayLike) -> Floats:
        """By how many standard errors it extends to each side after so many units; endless before the burn-in.

        Formula: √(2 (n ρ² + 1) / (n ρ²) ln(√(n ρ² + 1) / α))
        """
        count = np.asarray(units, dtype=np.float64)
        time = count * self.rho**2
        with np.errstate(divide="ignore", invalid="ignore"):
            squared = 2 * (time + 1) / time * (0.5 * np.log1p(time) - log(self.alpha))
        return np.where((count >= self.burn_in) & (count > 0), np.sqrt(squared), inf)

    def log_evidence(self, statistics: ArrayLike, units: ArrayLike) -> Floats:
        """The logarithm of the evidence against no effect, from z after so many units; 0 before the burn-in.

        >>> round(float(ConfidenceSequence(1000).log_evidence([4.0], [2000])[0]), 4)
        6.113
        """
        z, count = np.asarray(statistics, dtype=np.float64), np.asarray(units, dtype=np.float64)
        time = count * self.rho**2
        evidence = 0.5 * z * z * time / (time + 1) - 0.5 * np.log1p(time)
        return np.where((count >= self.burn_in) & (count > 0), evidence, 0.0)

    def at(self, effect: float, error: float, units: int) -> AlwaysValid:
        """The interval and p of an effect with its standard error after so many units, of both arms together.

        >>> found = ConfidenceSequence(1000).at(0.50337, 0.33341, 6461)
        >>> round(found.low, 5), round(found.high, 5)
        (-0.55842, 1.56516)
        """
        if isnan(effect) or isnan(error):
            return AlwaysValid(effect, -inf, inf, nan, nan)
        if units < max(self.burn_in, 1) or error == 0:
            return AlwaysValid(effect, -inf, inf, 1.0, 0.0)
        half = float(self.factors(units)) * error
        evidence = float(self.log_evidence(effect / error, units))
        return AlwaysValid(effect, effect - half, effect + half, exp(min(0.0, -evidence)), evidence)

    def difference(self, arms: TwoArms) -> AlwaysValid:
        """The difference of two arms, adjusted or not; the units of both count.

        >>> arms = TwoArms(0.20, 0.23, control_variance=4e-6, treatment_variance=5e-6, units=(900, 900))
        >>> found = ConfidenceSequence(1000).difference(arms)
        >>> round(found.low, 4), round(found.high, 4)
        (0.0208, 0.0392)
        """
        if arms.unknown is not None:
            return AlwaysValid(arms.treatment - arms.control, -inf, inf, nan, nan)
        return self.at(arms.treatment - arms.control, arms.spread(), sum(arms.units))


def tuned_rho(units: float, alpha: float) -> float:
    """The ρ with which a confidence sequence is narrowest after so many units, nearly.

    >>> round(tuned_rho(1000, 0.05), 10)
    0.0890850975
    """
    squared = -2 * log(alpha)
    return sqrt((squared + log(squared + 1)) / units)


def normal_mixture_bound(variance: ArrayLike, alpha: float, *, tuned_for: float) -> Floats:
    """How far a sum of normal values may be from 0 at any time, by the variance that it has then: a two-sided bound.

    `tuned_for` is the variance at which it is narrowest, nearly (the exact optimum needs Lambert's W, and hardly
    differs). Of sums with known variance, it is what `ConfidenceSequence` is of means with an estimated one.

    Formula: √((v + r) ln((v + r) / (r α²))), r = v* / (2 ln(1/α) + ln(1 + 2 ln(1/α)))
    Reference: Howard, Ramdas, McAuliffe and Sekhon, "Time-uniform, nonparametric, nonasymptotic confidence sequences",
    2021.

    >>> normal_mixture_bound([100.0], 0.05, tuned_for=100).round(5)
    array([30.35209])
    """
    v, r = np.asarray(variance, dtype=np.float64), mixture_scale(tuned_for, alpha)
    return np.asarray(np.sqrt((v + r) * np.log((v + r) / (r * alpha**2))))


def normal_mixture_evidence(total: ArrayLike, variance: ArrayLike, scale: float) -> Floats:
    """The logarithm of the evidence that a sum of normal values has another mean than 0: a normal mixture.

    With mean differences d of n pairs of variance V, and a normal prior of variance τ² on the effect, it is the mixture
    sequential probability ratio test (Johari): total n d, variance n V, scale V² / τ².

    >>> float(np.exp(normal_mixture_evidence(1000 * 0.1, 1000 * 2, 2**2 / 0.01)).round(7))
    3.2787216
    """
    s, v = np.asarray(total, dtype=np.float64), np.asarray(variance, dtype=np.float64)
    return np.asarray(0.5 * np.log(scale / (v + scale)) + s * s / (2 * (v + scale)))


def mixture_scale(variance: float, alpha: float) -> float:
    """The scale of a normal mixture that is narrowest at that variance, nearly.

    >>> round(mixture_scale(100, 0.05), 5)
    12.60056
    """
    squared = -2 * log(alpha)
    return variance / (squared + log(1 + squared))
