"""Metrics that are ratios of sums over units, such as clicks by queries of users, and what two arms differ by in them.

What was randomised is the unit, so that the unit is what varies: a rate over all queries is R = Σ c / Σ n over users,
and its variance is that of what users add to it, c - R n, and not that of so many independent queries. A mean over
units is the ratio with n = 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import exp, inf, isnan, lgamma, log, nan
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from cranfield.errors import UsageError
from cranfield.statistics.arms import TwoArms
from cranfield.statistics.moments import Moments
from cranfield.statistics.significance import Floats


class ArmValue(NamedTuple):
    """A metric in one arm: its value, the variance of that value (not of the units), and how many units there are.

    The value is NaN where the denominators add up to 0, the variance NaN of fewer than 2 units. `counted` is how many
    units have a denominator above 0, at least: what moments tell of it.
    """

    value: float
    variance: float
    units: int
    counted: int


@dataclass(frozen=True)
class Ratio:
    """Σ numerator / Σ denominator over units; the mean of the numerator if there is no denominator.

    >>> users = Moments.of({"clicks": [1, 0, 3, 2, 0, 1], "queries": [4, 2, 5, 2, 1, 6]})
    >>> value, variance, units, _ = Ratio("clicks", "queries").of(users)
    >>> round(value, 6), round(variance, 6), units
    (0.35, 0.015705, 6)
    >>> Ratio("clicks").of(users).value
    1.1666666666666667
    """

    numerator: str
    denominator: str | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns it is made of."""
        return (self.numerator,) if self.denominator is None else (self.numerator, self.denominator)

    def value(self, moments: Moments) -> float:
        """The ratio over all units; NaN where there is nothing to divide by."""
        if self.denominator is None:
            return moments.mean(self.numerator)
        below = moments.mean(self.denominator)
        return nan if isnan(below) or below == 0 else moments.mean(self.numerator) / below

    def of(self, moments: Moments) -> ArmValue:
        """The ratio of one arm with the variance of its estimate, by the delta method.

        Formula: (s_cc - 2 R s_cn + R² s_nn) / (N n̄²), with variances over N - 1
        Reference: Deng, Knoblich and Lu, "Applying the delta method in metric analytics", 2018.
        """
        value = self.value(moments)
        variance = nan if isnan(value) else moments.variance_of(self.slope(moments)) / max(moments.count, 1)
        return ArmValue(value, variance, moments.count, self._counted(moments))

    def slope(self, moments: Moments) -> dict[str, float]:
        """How the ratio changes with the means of its columns: weights of the columns that make it linear.

        >>> Ratio("clicks", "queries").slope(Moments.of({"clicks": [1, 0], "queries": [4, 4]}))
        {'clicks': 0.25, 'queries': -0.03125}
        """
        if self.denominator is None:
            return {self.numerator: 1.0}
        below = moments.mean(self.denominator)
        if isnan(below) or below == 0:
            raise UsageError(f"{'/'.join(self.columns)} has no value: its denominators add up to 0")
        if self.numerator == self.denominator:
            return {self.numerator: 0.0}
        return {self.numerator: 1 / below, self.denominator: -self.value(moments) / below}

    def linearised(self, columns: Mapping[str, ArrayLike], reference: Moments) -> Floats:
        """What each unit adds to the ratio: (c - R n) / n̄, with R and n̄ of reference units, usually of the control.

        Its mean over the reference is 0, its variance over N that of the ratio: any test for means can be used on it.
        Reference: Budylin et al., "Consistent transformation of ratio metrics for efficient online controlled
        experiments", 2018.

        >>> users = {"clicks": [1, 0, 3], "queries": [4, 2, 4]}
        >>> Ratio("clicks", "queries").linearised(users, Moments.of(users))
        array([-0.18, -0.24,  0.42])
        """
        value, slope = self.value(reference), self.slope(reference)
        numerator = np.asarray(columns[self.numerator], dtype=np.float64)
        if self.denominator is None:
            return numerator - value
        return slope[self.numerator] * (numerator - value * np.asarray(columns[self.denominator], dtype=np.float64))

    def compared(self, control: Moments, treatment: Moments) -> TwoArms:
        """The two arms side by side, for their difference and their relative effect.

        >>> a = Moments.of({"clicks": [1, 0, 3, 2, 0, 1], "queries": [4, 2, 5, 2, 1, 6]})
        >>> b = Moments.of({"clicks": [2, 1, 3, 2, 1, 3], "queries": [4, 2, 4, 3, 1, 6]})
        >>> effect = Ratio("clicks", "queries").compared(a, b).difference()
        >>> round(effect.value, 9), round(effect.error, 9), round(effect.statistic, 9)
        (0.25, 0.138076066, 1.810596197)
        """
        first, second = self.of(control), self.of(treatment)
        return TwoArms(
            control=first.value,
            treatment=second.value,
            control_variance=first.variance,
            treatment_variance=second.variance,
            freedom=welch_freedom((first.variance, second.variance), (first.units - 1, second.units - 1)),
            units=(first.units, second.units),
            exchanged=_chance_of_dealing(first.counted, second.counted),
        )

    def against(self, moments: Moments, null: float = 0.0) -> TwoArms:
        """One group of units beside a fixed value, as in interleaving: is the mean preference of users off zero?

        Sums of users over the root of the sum of their squares is what others call a cluster-robust z.

        >>> users = Moments.of({"ahead": [2, 1, -1, 3, 1, 2]})
        >>> effect = Ratio("ahead").against(users).difference()
        >>> round(effect.value, 4), round(effect.p, 4)
        (1.3333, 0.0624)
        """
        found = self.of(moments)
        # If no unit prefers anything, each of them could as well be on the other side: two of 2^n flips are so far off.
        exchanged = 2.0 ** (1 - found.counted) if found.counted else nan
        return TwoArms(
            control=null,
            treatment=found.value,
            control_variance=0.0,
            treatment_variance=found.variance,
            freedom=float(found.units - 1),
            units=(found.units, found.units),
            exchanged=exchanged,
        )

    def _counted(self, moments: Moments) -> int:
        """How many units have a denominator that is not 0, at least: (Σ n)² / Σ n² by Cauchy and Schwarz."""
        if self.denominator is None:
            return moments.count
        mean = moments.mean(self.denominator)
        if moments.count == 0 or mean == 0:
            return 0
        place = moments.place(self.denominator)
        square = mean**2 + float(moments.products[place, place]) / moments.count
        return int(-(-moments.count * mean**2 // (square * (1 + 1e-12))))


def welch_freedom(variances: tuple[float, ...], freedoms: tuple[float, ...]) -> float:
    """Degrees of freedom of a sum of estimated variances, each with its own (Welch, Satterthwaite).

    >>> welch_freedom((1.0, 1.0), (9, 9)), welch_freedom((0.0, 2.0), (9, 4))
    (18.0, 4.0)
    """
    parts = sum(variance**2 / freedom for variance, freedom in zip(variances, freedoms, strict=True) if variance > 0)
    if any(isnan(variance) for variance in variances) or min(freedoms) < 1:
        return nan
    return sum(variances) ** 2 / parts if parts > 0 else float(sum(freedoms))


def _chance_of_dealing(first: int, second: int) -> float:
    """The share of all ways to deal units to arms that part them so neatly by value, if none varies within its arm.

    It is what a permutation test says where nothing else can: units are alike within arms, and unlike between them. The
    other way round counts too.
    """
    if not first or not second:
        return nan
    ways = lgamma(first + second + 1) - lgamma(first + 1) - lgamma(second + 1)
    return min(1.0, exp(log(2) - ways)) if ways < inf else 0.0
