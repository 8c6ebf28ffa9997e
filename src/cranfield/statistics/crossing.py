"""The chance that a statistic that is looked at several times crosses its boundary, look by look.

The score S = z √t gains independent normal increments from look to look: mean drift × Δt, variance Δt, with t the
information, 1 at the planned end. Its density over the paths that have crossed no boundary so far is carried from one
look to the next by integration (Armitage, McPherson and Rowe, 1969; Jennison and Turnbull, "Group Sequential Methods",
2000, chapter 19). It is smooth between the boundaries, so that Gauss and Legendre's rule on short panels is exact to
some twelve digits; the integral ends nine standard deviations from the mean.
"""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite, sqrt
from typing import NamedTuple

import numpy as np

from cranfield.errors import UsageError
from cranfield.statistics.significance import Floats

LEAST_APART = 1e-4  # information between two looks
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(24)
_PANEL = 6.0  # width of a panel, in standard deviations of the sharper of the two increments beside it
_FAR = 9.0  # standard deviations beyond which nothing is integrated


class Crossing(NamedTuple):
    """The chance to cross each look's upper and lower boundary, and none before."""

    upper: Floats
    lower: Floats

    @property
    def total(self) -> float:
        """The chance to cross any boundary at any look."""
        return float(self.upper.sum() + self.lower.sum())


class Paths:
    """The paths that have crossed no boundary so far: points, and how likely it is to be near each of them.

    `begun` starts at the first look, `on` goes to the next; nothing is changed in place.
    """

    def __init__(self, points: Floats, chances: Floats, information: float, drift: float) -> None:
        self.points, self.chances, self.information, self.drift = points, chances, information, drift

    @classmethod
    def begun(cls, drift: float = 0.0) -> Paths:
        """Before any look there is no information, and every path is at 0."""
        return cls(np.zeros(1), np.ones(1), 0.0, drift)

    def above(self, z: float, information: float) -> float:
        """The chance to be above z at the next look, and to have crossed nothing before."""
        return self._beyond(z, information, 1.0)

    def below(self, z: float, information: float) -> float:
        """The chance to be below z at the next look, and to have crossed nothing before."""
        return self._beyond(z, information, -1.0)

    def _beyond(self, z: float, information: float, side: float) -> float:
        from scipy.special import ndtr

        gained = information - self.information
        reached = (self.points + self.drift * gained - z * sqrt(information)) / sqrt(gained)
        return float(self.chances @ ndtr(side * reached))

    def on(self, low: float, high: float, information: float, following: float | None = None) -> Paths:
        """The paths between z of low and high at the next look; `following` is the information of the look after."""
        gained = information - self.information
        sharp = sqrt(gained if following is None else min(gained, following - information))
        middle, reach = self.drift * information, _FAR * sqrt(information)
        start, end = (min(max(z * sqrt(information), middle - reach), middle + reach) for z in (low, high))
        panels = max(1, int(np.ceil((end - start) / (_PANEL * sharp))))
        edges = np.linspace(start, end, panels + 1)
        half = (end - start) / panels / 2
        points = ((edges[:-1] + half)[:, None] + half * _NODES).ravel()
        apart = (points[:, None] - self.points - self.drift * gained) / sqrt(gained)
        density = np.exp(-0.5 * apart * apart) @ self.chances / sqrt(2 * np.pi * gained)
        return Paths(points, density * np.tile(half * _WEIGHTS, panels), information, self.drift)


def crossing(upper: Floats, lower: Floats, information: Floats, drift: float = 0.0) -> Crossing:
    """The chances to cross boundaries in z at looks with so much information, if z has the mean drift × √information.

    The same test at 5 % at each of five looks finds something 14 % of the time where there is nothing:

    >>> limits = np.full(5, 1.959964)
    >>> round(crossing(limits, -limits, np.arange(1, 6) / 5).total, 4)
    0.1417
    """
    check_information(information)
    paths = Paths.begun(drift)
    above, below = np.empty(len(upper)), np.empty(len(upper))
    for look, now in enumerate(information.tolist()):
        above[look], below[look] = paths.above(upper[look], now), paths.below(lower[look], now)
        if look + 1 < len(information):
            paths = paths.on(float(lower[look]), float(upper[look]), now, float(information[look + 1]))
    return Crossing(above, below)


def check_information(information: Floats) -> None:
    """Refuses information that does not grow from look to look.

    >>> check_information(np.array([0.5, 0.5]))
    Traceback (most recent call last):
    cranfield.errors.UsageError: information must grow by 0.0001 of its maximum at least from look to look: 0.5, 0.5
    """
    if information.ndim != 1 or not len(information) or not np.isfinite(information).all():
        raise UsageError(f"information must be a list of numbers, one for each look, not {information.tolist()}")
    if (np.diff(information, prepend=0.0) < LEAST_APART * (1 - 1e-9)).any():
        shown = ", ".join(f"{share:g}" for share in information[:10])
        raise UsageError(f"information must grow by {LEAST_APART:g} of its maximum at least from look to look: {shown}")


def root(function: Callable[[float], float], low: float, high: float, tolerance: float = 1e-12) -> float:
    """Where an increasing function is 0, between low and high; the nearer end if it is not 0 between them.

    The Illinois method (Dowell and Jarratt, 1971), with a bisection whenever that is slow: scipy.optimize would take
    longer to load than most uses of this take. What is given is the guess at which the function was nearest to 0, which
    is much closer than the tolerance, so that digits do not depend on how a processor rounds.

    >>> round(root(lambda x: x**3 - 2, 0, 2), 9)
    1.25992105
    """
    at_low, at_high = function(low), function(high)
    if at_low >= 0 or at_high <= 0:
        return low if at_low >= 0 else high
    side, width = 0, high - low
    nearest, least = (low, -at_low) if -at_low < at_high else (high, at_high)
    for step in range(200):
        if high - low <= tolerance * max(1.0, abs(low), abs(high)):
            break
        guess = (low * at_high - high * at_low) / (at_high - at_low)
        if not isfinite(guess) or not low < guess < high or (step % 4 == 3 and high - low > width / 2):
            guess, side = (low + high) / 2, 0
        if step % 4 == 3:
            width = high - low
        value = function(guess)
        if abs(value) < least:
            nearest, least = guess, abs(value)
        if value == 0:
            break
        if value < 0:
            low, at_low, at_high, side = guess, value, at_high / 2 if side == -1 else at_high, -1
        else:
            high, at_high, at_low, side = guess, value, at_low / 2 if side == 1 else at_low, 1
    return nearest
