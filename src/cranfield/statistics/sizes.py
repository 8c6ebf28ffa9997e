"""How many units does an online experiment need, and what could so many have found?

Sizes are of the control arm and not rounded; the treatment has `allocation` times as many. Round up. Of more
treatments, each needs its own. Size is planned for the effect that matters, not for the one that is hoped for.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import asin, inf, sqrt
from typing import Literal

from cranfield.errors import UsageError
from cranfield.statistics.crossing import root
from cranfield.statistics.moments import Moments
from cranfield.statistics.power import detectable_shift
from cranfield.statistics.ratios import Ratio


@dataclass(frozen=True)
class Sizing:
    """What a size is to promise: the chance to find the effect (`power`) at an error `alpha`, to one or both sides.

    `covariate_correlation` is that of the metric with what is known before (CUPED), which leaves 1 - ρ² of the
    variance; `inflation` is what looking early costs (`Boundary.inflation`).

    >>> round(Sizing().mean(0.5, 1.0), 4), round(Sizing(covariate_correlation=0.7).mean(0.05, 1.0))
    (63.7656, 3203)
    """

    power: float = 0.8
    alpha: float = 0.05
    sides: int = 2
    allocation: float = 1.0
    covariate_correlation: float = 0.0
    inflation: float = 1.0

    def __post_init__(self) -> None:
        if not 0 < self.alpha < self.power < 1:
            raise UsageError(
                f"alpha and power must be between 0 and 1, alpha below power: {self.alpha:g}, {self.power:g}"
            )
        if self.sides not in (1, 2):
            raise UsageError(f"a test has 1 side or 2, not {self.sides}")
        if not 0 < self.allocation < inf or not 1 <= self.inflation < inf:
            raise UsageError("allocation must be above 0 and inflation 1 or more")
        if not -1 < self.covariate_correlation < 1:
            raise UsageError(f"a correlation must be between -1 and 1, not {self.covariate_correlation:g}")

    def mean(self, difference: float, sd: float) -> float:
        """Units of the control for a difference of means, by the t test.

        >>> round(Sizing().mean(0.02, 1.0), 3)
        39245.263
        """
        effect = self._effect(difference, sd) / sqrt(1 - self.covariate_correlation**2)
        shape = 1 + 1 / self.allocation
        least = max((self._shift() / effect) ** 2 * shape, 2 / min(self.allocation, 1.0))  # t needs more than z

        def excess(units: float) -> float:
            reach = detectable_shift(
                units * (1 + self.allocation) - 2, power=self.power, alpha=self.alpha * 2 / self.sides
            )
            return effect * sqrt(units / shape) - reach

        most = least + 10
        while excess(most) < 0:
            most *= 2
        return root(excess, least, most, 1e-10) * self.inflation

    def ratio(self, ratio: Ratio, before: Moments, difference: float) -> float:
        """Units of the control for a difference of a ratio metric, from moments of units of an earlier period.

        The period should be as long as the experiment: the variance of a ratio changes with the time it is summed over.

        >>> users = Moments.of({"clicks": [1, 0, 3, 2, 0, 1], "queries": [4, 2, 5, 2, 1, 6]})
        >>> round(Sizing().ratio(Ratio("clicks", "queries"), users, 0.05))
        593
        """
        found = ratio.of(before)
        if not found.variance > 0:
            raise UsageError(f"{'/'.join(ratio.columns)} does not vary in {found.units} units: no size can be planned")
        return self.mean(difference, sqrt(found.variance * found.units))

    def proportion(self, share: float, difference: float, *, method: Literal["score", "arcsine"] = "score") -> float:
        """Units of the control to tell a share from one that is larger by the difference.

        "score" has the variance without an effect in the error, and with it in the power (the formula of Evan Miller's
        calculator for equal arms); "arcsine" is Cohen's h, which statsmodels has.

        >>> round(Sizing().proportion(0.2, 0.05)), round(Sizing().proportion(0.2, 0.05, method="arcsine"), 3)
        (1030, 1091.896)
        """
        other = share + difference
        if not (0 < share < 1 and 0 < other < 1) or difference == 0:
            raise UsageError(f"shares must be between 0 and 1 and differ, not {share:g} and {other:g}")
        error, reach = self._quantiles()
        left = 1 - self.covariate_correlation**2
        k = self.allocation
        if method == "arcsine":
            effect = 2 * asin(sqrt(other)) - 2 * asin(sqrt(share))
            return (self._shift() / effect) ** 2 * (1 + 1 / k) * left * self.inflation
        null = sqrt(share * (1 - share) * (1 + 1 / k))
        effect_spread = sqrt(share * (1 - share) + other * (1 - other) / k)
        return ((error * null + reach * effect_spread) / difference) ** 2 * left * self.inflation

    def preference(self, win_rate: float) -> float:
        """Queries (or users) with a winner that interleaving needs, to tell so many wins of one side from a half.

        One each: queries of a user count once between them, if users differ in taste.

        >>> round(Sizing().preference(0.55), 1)
        782.5
        """
        if not 0 < win_rate < 1 or win_rate == 0.5:
            raise UsageError(f"a win rate must be between 0 and 1 and not a half, not {win_rate:g}")
        error, reach = self._quantiles()
        spread = sqrt(win_rate * (1 - win_rate))
        return ((error / 2 + reach * spread) / (win_rate - 0.5)) ** 2 * self.inflation

    def detectable(self, units: float, sd: float) -> float:
        """The least difference of means that so many units of the control find.

        >>> round(Sizing().detectable(39245.263, 1.0), 6)
        0.02
        """
        effective = units / self.inflation
        freedom = effective * (1 + self.allocation) - 2
        if not freedom >= 1:
            raise UsageError(f"{units:g} units are too few to find anything")
        shape = (1 + 1 / self.allocation) * (1 - self.covariate_correlation**2)
        reach = detectable_shift(freedom, power=self.power, alpha=self.alpha * 2 / self.sides)
        return reach * sd * sqrt(shape / effective)

    def _shift(self) -> float:
        """What z must be on average; a test of two sides may also find the effect on the wrong one."""
        from scipy.special import ndtr

        error, reach = self._quantiles()
        far = self.sides - 1
        return root(lambda z: float(ndtr(z - error) + far * ndtr(-z - error)) - self.power, 0.0, error + reach)

    def _quantiles(self) -> tuple[float, float]:
        from scipy.special import ndtri

        return -float(ndtri(self.alpha / self.sides)), float(ndtri(self.power))

    def _effect(self, difference: float, sd: float) -> float:
        if not 0 < sd < inf:
            raise UsageError(f"the standard deviation must be above 0, not {sd:g}")
        if not 0 < abs(difference) < inf:
            raise UsageError(f"the difference to be found must not be {difference:g}")
        return abs(difference) / sd
