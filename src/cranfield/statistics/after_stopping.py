"""What the effect is once an experiment has stopped, which may have been early because it looked large.

The plain estimate of an experiment that stopped early is too large on average, and its plain interval misses the truth
too often. Outcomes are therefore put in an order (stagewise: a stop at an earlier look is more extreme than one at a
later look; at the same look z decides), and estimate, p and interval are those values of the effect under which what
was seen is in the middle or at an end of that order: the estimate is too large as often as too small. A stop at the
first look is the plain estimate still: nothing was looked at before it.

While an experiment goes on, repeated intervals hold at every look at once, whether or not it is then stopped.

Reference: Tsiatis, Rosner and Mehta, "Exact confidence intervals following a group sequential test", 1984; Jennison and
Turnbull, "Interim analyses: the repeated confidence interval approach", 1989.
"""

from __future__ import annotations

from math import inf, sqrt
from typing import NamedTuple

import numpy as np

from cranfield.errors import UsageError
from cranfield.statistics.crossing import Paths, root
from cranfield.statistics.group_sequential import Boundary


class StoppedEffect(NamedTuple):
    """The effect after stopping: median unbiased estimate, interval and p, and the plain estimate beside them.

    The plain one is biased where the experiment stopped early. The interval leaves out 0 exactly where p is below
    1 - confidence; at the confidence 1 - alpha of the design that is where the boundary was crossed.
    """

    look: int
    estimate: float
    low: float
    high: float
    p: float
    plain: float


class RepeatedInterval(NamedTuple):
    """An interval at one look that holds at all looks together with the confidence 1 - alpha of the design."""

    look: int
    low: float
    high: float


def after_stopping(
    boundary: Boundary, look: int, effect: float, error: float, *, confidence: float | None = None
) -> StoppedEffect:
    """What the effect is, of an experiment that stopped at a look (counted from 0) with this effect and standard error.

    It must have crossed its boundary there, or have had no look after it. p and interval are two-sided, those of a
    one-sided design one-sided (the interval has no upper end). `confidence` is that of the design if none is given.

    >>> from cranfield.statistics.group_sequential import SequentialDesign
    >>> boundary = SequentialDesign("obrien-fleming").boundary([0.5, 1.0])
    >>> found = after_stopping(boundary, 0, 0.3, 0.1)
    >>> round(found.estimate, 4), round(found.low, 4), round(found.high, 4), round(found.p, 4)
    (0.3, 0.104, 0.496, 0.0027)
    >>> found = after_stopping(boundary, 1, 0.15, 0.0707)
    >>> round(found.plain, 4), round(found.estimate, 4), round(found.p, 4)
    (0.15, 0.1492, 0.0363)
    """
    if not 0 <= look < len(boundary.upper):
        raise UsageError(
            f"the boundary has {len(boundary.upper)} looks, and none of the number {look} (counted from 0)"
        )
    if not error > 0:
        raise UsageError(f"the standard error must be above 0, not {error:g}")
    z, now = effect / error, float(boundary.information[look])
    if not boundary.crossed(look, z) and look + 1 < len(boundary.upper):
        raise UsageError(
            f"z = {z:.4g} has not crossed its limit {float(boundary.upper[look]):.4g} at look {look + 1}, "
            "and looks follow: while an experiment goes on, take repeated intervals"
        )
    level = float(boundary.spent[-1]) if confidence is None else 1 - confidence
    if not 0 < level < 1:
        raise UsageError(f"confidence must be between 0 and 1, not {confidence:g}")
    per_drift = sqrt(now) * error  # an effect is a drift times this
    reach = (abs(z) + 12) / sqrt(float(boundary.information[0]))

    def solved(share: float) -> float:
        return per_drift * root(lambda drift: _at_least(boundary, look, z, drift) - share, -reach, reach, 1e-10)

    above = _at_least(boundary, look, z, 0.0)
    tail = level / boundary.sides
    two_sided = boundary.sides == 2
    p = min(1.0, 2 * min(above, 1 - above)) if two_sided else above
    return StoppedEffect(look, solved(0.5), solved(tail), solved(1 - tail) if two_sided else inf, p, effect)


def repeated_interval(boundary: Boundary, look: int, effect: float, error: float) -> RepeatedInterval:
    """The effect ± the look's own limit × its standard error: it may be read at any look, whatever is done then.

    >>> from cranfield.statistics.group_sequential import SequentialDesign
    >>> boundary = SequentialDesign("obrien-fleming").boundary([0.5, 1.0])
    >>> found = repeated_interval(boundary, 0, 0.3, 0.1)
    >>> round(found.low, 4), round(found.high, 4)
    (0.0203, 0.5797)
    """
    if not 0 <= look < len(boundary.upper):
        raise UsageError(
            f"the boundary has {len(boundary.upper)} looks, and none of the number {look} (counted from 0)"
        )
    half = float(boundary.upper[look]) * error
    return RepeatedInterval(look, effect - half, effect + half if boundary.sides == 2 else inf)


def _at_least(boundary: Boundary, look: int, z: float, drift: float) -> float:
    """The chance of an outcome that is as far up or further in the order, under a drift."""
    information, upper, lower = boundary.information.tolist(), boundary.upper, boundary.lower
    paths, chance = Paths.begun(drift), 0.0
    for earlier in range(look):
        chance += paths.above(float(upper[earlier]), information[earlier])
        paths = paths.on(float(lower[earlier]), float(upper[earlier]), information[earlier], information[earlier + 1])
    return float(np.clip(chance + paths.above(z, information[look]), 0.0, 1.0))
