"""Limits for values of units that are far out: fixed once, from all arms together, before the arms are compared.

A limit from each arm by itself would hide an effect on the largest values; one chosen after looking would choose a
result.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from cranfield.errors import UsageError
from cranfield.statistics.significance import Floats


class WinsorLimits(NamedTuple):
    """Values below `low` count as low, those above `high` as high."""

    low: float
    high: float


class Winsorised(NamedTuple):
    """Values within limits, and how many were changed."""

    values: Floats
    changed: int


def winsor_limits(pooled: ArrayLike, *, upper: float = 0.99, lower: float = 0.0) -> WinsorLimits:
    """Limits at quantiles of the values of all arms together (of another period, if they are to be fixed beforehand).

    The value at a quantile is one that was seen, the larger one if it lies between two.

    >>> winsor_limits([0, 0, 1, 2, 3, 400], upper=0.8)
    WinsorLimits(low=0.0, high=3.0)
    """
    values = np.asarray(pooled, dtype=np.float64)
    if not values.size or not np.isfinite(values).all():
        raise UsageError("limits need values, all of them finite numbers")
    if not 0 <= lower < upper <= 1:
        raise UsageError(f"quantiles must be from 0 to 1, the lower one first, not {lower:g} and {upper:g}")
    low, high = np.quantile(values, [lower, upper], method="higher")
    return WinsorLimits(float(low), float(high))


def winsorised(values: ArrayLike, limits: WinsorLimits) -> Winsorised:
    """The values, none of them beyond the limits.

    >>> winsorised([0, 2, 400], WinsorLimits(0, 3))
    Winsorised(values=array([0., 2., 3.]), changed=1)
    """
    before = np.asarray(values, dtype=np.float64)
    if np.isnan(before).any():
        raise UsageError("a value is missing: give every unit a number")
    after = np.clip(before, limits.low, limits.high)
    return Winsorised(after, int(np.count_nonzero(after != before)))
