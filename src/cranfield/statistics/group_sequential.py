"""Looking several times at an experiment whose maximum is known: limits of z at each look that keep the error at alpha.

O'Brien and Fleming's and Pocock's limits need the looks as they were planned. Spending functions (Lan and DeMets) say
how much of alpha may be spent by when, so that looks may come earlier, later or more often than planned: each limit
follows from the information that looks up to it have had, and nothing that is spent is spent again. What may not be is
to choose the time of a look by what was seen.

Information is a share of its planned maximum, which for means and ratios is the number of units (more exactly
1 / squared standard error of the difference).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import e, expm1, inf, isfinite, log, log1p, sqrt
from typing import Literal, NamedTuple, get_args

import numpy as np

from cranfield.errors import UsageError, either
from cranfield.statistics.crossing import Paths, check_information, crossing, root
from cranfield.statistics.significance import Floats

Spending = Literal["lan-demets-obrien-fleming", "lan-demets-pocock", "hwang-shih-decani", "kim-demets"]
Limits = Literal["obrien-fleming", "pocock", Spending]
LIMITS: tuple[Limits, ...] = (*get_args(Limits)[:2], *get_args(Spending))
PARAMETERS: dict[Limits, float] = {"hwang-shih-decani": -4.0, "kim-demets": 3.0}  # what is taken if none is given
_FARTHEST = 38.0  # z beyond which the normal distribution has no chance left that a float can hold


class Boundary(NamedTuple):
    """Limits for z at each look: stop if z is above `upper`, in a two-sided design also if it is below minus that.

    `information` is what each look had as a share of the maximum, `spent` the alpha spent up to each look.
    """

    information: Floats
    upper: Floats
    spent: Floats
    sides: int

    @property
    def lower(self) -> Floats:
        """The lower limits; without end in a one-sided design."""
        return -self.upper if self.sides == 2 else np.full(len(self.upper), -inf)

    @property
    def nominal(self) -> Floats:
        """The p at each look, by itself, below which it stops.

        >>> SequentialDesign("pocock").boundary([0.5, 1.0]).nominal.round(4)
        array([0.0294, 0.0294])
        """
        from scipy.special import ndtr

        return np.asarray(self.sides * ndtr(-self.upper))

    def crossed(self, look: int, z: float) -> bool:
        """Whether z stops the experiment at that look, counted from 0."""
        return z >= float(self.upper[look]) or (self.sides == 2 and z <= -float(self.upper[look]))

    def power(self, drift: float) -> float:
        """The chance to stop on the side of the drift, which is what z is on average with all information.

        >>> round(SequentialDesign("obrien-fleming").boundary([0.5, 1.0]).power(2.8), 4)
        0.7965
        """
        found = crossing(self.upper, self.lower, self.information, drift)
        return float((found.upper if drift >= 0 or self.sides == 1 else found.lower).sum())

    def drift_for(self, power: float) -> float:
        """The least drift that is found with that chance."""
        if not 0 < power < 1:
            raise UsageError(f"power must be between 0 and 1, not {power:g}")
        return root(lambda drift: self.power(drift) - power, 0.0, 40.0 / sqrt(float(self.information[0])))

    def inflation(self, power: float = 0.8) -> float:
        """How many more units than an experiment with one look the maximum must have, as a factor.

        >>> looks = np.arange(1, 6) / 5
        >>> round(SequentialDesign("lan-demets-obrien-fleming").boundary(looks).inflation(0.8), 4)
        1.0247
        """
        return (self.drift_for(power) / _drift_of_one_look(self, power)) ** 2

    def expected_information(self, drift: float) -> float:
        """The information that is used on average, as a share of the maximum."""
        found = crossing(self.upper, self.lower, self.information, drift)
        stopped = (found.upper + found.lower)[:-1]
        last = float(self.information[-1])
        return float(self.information[:-1] @ stopped + last * (1 - stopped.sum()))

    def expected_size(self, power: float = 0.8) -> float:
        """The units used on average if the effect is as planned, by those that an experiment with one look needs.

        >>> looks = np.arange(1, 6) / 5
        >>> round(SequentialDesign("lan-demets-obrien-fleming").boundary(looks).expected_size(0.8), 4)
        0.8237
        """
        return self.inflation(power) * self.expected_information(self.drift_for(power))


@dataclass(frozen=True)
class SequentialDesign:
    """A rule for looking early: which limits, at which error, in one direction or both.

    `parameter` is γ of Hwang, Shih and DeCani (-4: late, like O'Brien and Fleming; 1: like Pocock) and ρ of Kim and
    DeMets (above 0; alpha t^ρ is spent by t).

    >>> SequentialDesign("obrien-fleming").boundary([1 / 3, 2 / 3, 1.0]).upper.round(4)
    array([3.4711, 2.4544, 2.004 ])
    """

    limits: Limits = "lan-demets-obrien-fleming"
    alpha: float = 0.05
    sides: int = 2
    parameter: float | None = None

    def __post_init__(self) -> None:
        if self.limits not in LIMITS:
            raise UsageError(f"there are no limits {self.limits!r}; there are {either(LIMITS)}")
        if not 0 < self.alpha < 1:
            raise UsageError(f"alpha must be between 0 and 1, not {self.alpha:g}")
        if self.sides not in (1, 2):
            raise UsageError(f"a design has 1 side or 2, not {self.sides}")
        if self.parameter is not None and self.limits not in PARAMETERS:
            raise UsageError(f"{self.limits} has no parameter; {either(PARAMETERS)} has one")
        known = self.parameter if self.parameter is not None else PARAMETERS.get(self.limits, 1.0)
        if not isfinite(known) or (self.limits == "kim-demets" and known <= 0) or abs(known) > 100:
            raise UsageError(f"the parameter of {self.limits} cannot be {known:g}")

    @property
    def spends(self) -> bool:
        """Whether limits follow from a spending function, so that looks need not be as planned."""
        return self.limits in get_args(Spending)

    def spent(self, information: float) -> float:
        """How much of alpha may be spent by then, in both directions together.

        >>> round(SequentialDesign("lan-demets-obrien-fleming", alpha=0.025, sides=1).spent(0.6), 8)
        0.00380806
        """
        from scipy.special import ndtr, ndtri

        if not self.spends:
            raise UsageError(f"{self.limits} spends alpha by no function; lan-demets-{self.limits} does, much alike")
        alpha, time = self.alpha / self.sides, min(information, 1.0)
        parameter = self.parameter if self.parameter is not None else PARAMETERS.get(self.limits, 0.0)
        if time <= 0:
            return 0.0
        if self.limits == "lan-demets-obrien-fleming":
            part = 2 * float(ndtr(ndtri(alpha / 2) / sqrt(time)))
        elif self.limits == "lan-demets-pocock":
            part = alpha * log1p((e - 1) * time)
        elif self.limits == "hwang-shih-decani":
            part = alpha * (expm1(-parameter * time) / expm1(-parameter) if parameter else time)
        else:
            part = alpha * time**parameter
        return self.sides * part

    def boundary(self, information: Sequence[float] | Floats, *, final: bool = False) -> Boundary:
        """The limits of looks with so much information each, as shares of the planned maximum.

        While an experiment runs, give the looks so far, with the information they had: limits of looks that have been
        stay as they were. `final` says that no look follows: whatever alpha is left is spent, also if the maximum was
        not reached. A last look may have more than the maximum.

        >>> SequentialDesign("kim-demets").boundary([0.3, 0.8]).upper.round(4)
        array([3.2051, 2.2438])
        """
        looks = np.asarray(information, dtype=np.float64)
        check_information(looks)
        if self.spends:
            return self._spending(looks, final)
        if abs(float(looks[-1]) - 1) > 1e-9 and not final:
            raise UsageError(f"{self.limits} needs all looks as planned, the last with all information: take spending")
        return self._of_shape(looks, 0.0 if self.limits == "obrien-fleming" else 0.5)

    def _of_shape(self, looks: Floats, power: float) -> Boundary:
        """Limits C t^(power - 1/2): Wang and Tsiatis, 1987."""
        shape = (looks / looks[-1]) ** (power - 0.5)

        def excess(constant: float) -> float:
            upper = constant * shape
            lower = -upper if self.sides == 2 else np.full(len(upper), -inf)
            return self.alpha - crossing(upper, lower, looks).total

        one_look = _quantile(self.alpha / self.sides)
        most = _quantile(self.alpha / self.sides / len(looks))  # Bonferroni's
        upper = root(excess, min(one_look, 0.0), max(most, one_look + 1.0)) * shape
        found = crossing(upper, -upper if self.sides == 2 else np.full(len(upper), -inf), looks)
        return Boundary(looks, upper, np.cumsum(found.upper + found.lower), self.sides)

    def _spending(self, looks: Floats, final: bool) -> Boundary:
        if len(looks) > 1 and looks[-2] >= 1:
            raise UsageError("all of alpha is spent with all information: no look may follow one that had it")
        spent = np.array([self.spent(share) for share in looks.tolist()])
        if final:
            spent[-1] = self.alpha
        paths, upper = Paths.begun(), np.empty(len(looks))
        gone = 0.0  # what the limits spent, which is less than allowed where a limit is without end
        for look, now in enumerate(looks.tolist()):
            upper[look] = _limit(paths, now, (spent[look] - gone) / self.sides)
            gone += self.sides * paths.above(upper[look], now) if upper[look] < _FARTHEST else 0.0
            if look + 1 < len(looks):
                lower = -upper[look] if self.sides == 2 else -inf
                paths = paths.on(float(lower), float(upper[look]), now, float(looks[look + 1]))
        return Boundary(looks, upper, spent, self.sides)


def _limit(paths: Paths, information: float, chance: float) -> float:
    """z with that chance to be above it at the next look; without end where the chance is none."""
    if chance < 1e-250:
        return inf
    target = log(chance)

    def excess(z: float) -> float:
        above = paths.above(z, information)
        return target - log(above) if above > 0 else target + 1e4

    return root(excess, -_FARTHEST / 4, _FARTHEST, 1e-11)


def _quantile(alpha: float) -> float:
    from scipy.special import ndtri

    return float(-ndtri(alpha))


def _drift_of_one_look(boundary: Boundary, power: float) -> float:
    """What z must be on average for a test with one look at the same error and power, on the side of the effect."""
    alpha = float(boundary.spent[-1])
    return _quantile(alpha / boundary.sides) - _quantile(power)


def error_of_peeking(looks: int, *, alpha: float = 0.05) -> float:
    """The chance to find something where there is nothing, if a test at alpha is made at each of so many equal looks.

    >>> [round(error_of_peeking(looks), 4) for looks in (1, 2, 5, 10)]
    [0.05, 0.0831, 0.1417, 0.1934]
    """
    if looks < 1:
        raise UsageError(f"looks must be 1 or more, not {looks}")
    limits = np.full(looks, _quantile(alpha / 2))
    return crossing(limits, -limits, np.arange(1, looks + 1) / looks).total
