"""Quantiles of what units have several of, such as the latency of queries of users: how far off may they be?

A quantile is as uncertain as the share of values at or below it, and that share is a ratio over units: how many values
each has there, by how many it has. The quantile moves with the share along the slope of the quantile function, which is
taken over the interval of the share (the outer interval of Deng, Knoblich and Lu). So a quantile becomes a ratio of
sums of units, with which everything else goes on as with any other.

Values that are equal need care, as of latencies in steps: the share at or below the quantile is then more than the
quantile asks for, and varies as another share does; and the quantile can jump to one side alone, by a whole step.

Reference: Deng, Knoblich and Lu, "Applying the delta method in metric analytics", 2018.
"""

from __future__ import annotations

from math import isclose, isnan, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from cranfield.statistics.arms import check_confidence, critical_value
from cranfield.statistics.moments import Moments
from cranfield.statistics.ratios import Ratio
from cranfield.statistics.significance import Floats


class OuterShares(NamedTuple):
    """The share of values that are at or below a quantile, and the interval of shares that could as well be it.

    `cut` says that the interval would reach beyond all values: there are too few units for the quantile. `stretch` is
    by how much a share of just the quantile varies more than the share seen, which is another where values are equal.
    """

    share: float
    low: float
    high: float
    cut: bool
    stretch: float = 1.0


class QuantileLine(NamedTuple):
    """A quantile with how it moves with the share of values at or below it."""

    value: float
    share: float
    slope: float

    def summed(self, below: ArrayLike, count: ArrayLike) -> Floats:
        """What units add to the quantile: divided by their counts, these sums make it, and vary as it does.

        >>> QuantileLine(300.0, 0.95, 2000.0).summed([2, 1], [2, 2])
        array([ 400., 2400.])
        """
        number = np.asarray(count, dtype=np.float64)
        if isnan(self.value):  # nothing is known of any unit
            return np.zeros_like(number)
        return self.value * number + self.slope * (self.share * number - np.asarray(below, dtype=np.float64))


def outer_shares(quantile: float, below: ArrayLike, count: ArrayLike, *, confidence: float = 0.95) -> OuterShares:
    """The shares between which the quantile may as well be, given how many values units have at or below it.

    >>> found = outer_shares(0.5, [2, 0, 1, 1], [2, 2, 2, 2])
    >>> found.share, round(found.low, 3), round(found.high, 3)
    (0.5, 0.1, 0.9)
    """
    check_confidence(confidence)
    found = Ratio("below", "count").of(Moments.of({"below": below, "count": count}))
    if isnan(found.value) or isnan(found.variance):
        return OuterShares(found.value, quantile, quantile, False)
    seen = found.value * (1 - found.value)
    stretch = sqrt(quantile * (1 - quantile) / seen) if seen > 0 else 1.0
    width = critical_value(float("inf"), (1 + confidence) / 2) * sqrt(found.variance) * stretch
    low, high = quantile - width, quantile + width
    return OuterShares(found.value, max(low, 0.0), min(high, 1.0), low < 0 or high > 1, stretch)


def quantile_line(value: float, at: OuterShares, low: float, high: float) -> QuantileLine:
    """The line of a quantile through the values `low` and `high`, which are the quantiles at both ends of the shares.

    If the quantile stays on one side, all of its movement is on the other, in half of the shares.

    >>> at = OuterShares(0.5, 0.25, 0.75, False)
    >>> quantile_line(300.0, at, 280.0, 330.0).slope, quantile_line(300.0, at, 300.0, 350.0).slope
    (100.0, 200.0)
    """
    wide = at.high - at.low
    if not wide > 0:
        return QuantileLine(value, at.share, 0.0)
    one_sided = isclose(low, value) != isclose(high, value)
    return QuantileLine(value, at.share, (high - low) / wide * at.stretch * (2 if one_sided else 1))


QUANTILE_RATIO = Ratio("at the quantile", "values")


def quantile_moments(values: ArrayLike, units: ArrayLike, quantile: float) -> Moments:
    """The moments of units that have these values, of which `QUANTILE_RATIO` makes the quantile with its variance.

    `units[i]` is the number of the unit that values[i] is of, from 0.

    >>> moments = quantile_moments([10.0, 30.0, 20.0, 40.0, 30.0, 50.0], [0, 0, 1, 1, 2, 2], 0.5)
    >>> found = QUANTILE_RATIO.of(moments)
    >>> round(found.value, 6), round(found.variance ** 0.5, 6)
    (30.0, 6.287767)
    """
    known, number = np.asarray(values, dtype=np.float64), np.asarray(units, dtype=np.int64)
    value = float(np.quantile(known, quantile))
    count = np.bincount(number).astype(np.float64)
    below = np.bincount(number, weights=known <= value, minlength=len(count))
    at = outer_shares(quantile, below, count)
    low, high = np.quantile(known, [at.low, at.high])
    line = quantile_line(value, at, float(low), float(high))
    return Moments.of({QUANTILE_RATIO.numerator: line.summed(below, count), "values": count})
