"""Guardrails: is the treatment at least not worse than a margin? And equivalence: is it as good as equal?

"No significant harm" is no evidence of no harm: a small experiment finds none. Non-inferiority is shown if a harm as
large as the margin is rejected. A metric has a direction, in which it is better; margins are always above 0, and say
how much in the other direction is still all right, as a difference or as a share of the control's absolute value.
"""

from __future__ import annotations

from math import inf, isnan, nan
from typing import Literal, NamedTuple

from cranfield.errors import UsageError
from cranfield.statistics.arms import TwoArms

Standing = Literal["held", "broken", "open"]


class NonInferiority(NamedTuple):
    """Whether a guardrail is held: p of a harm below the margin, and of one beyond it, each one-sided.

    `worst` is the largest harm that the data do not rule out at level alpha, in units of the margin's own kind (a
    difference, or a share of the control); below 0 it is a gain. It is below the margin exactly where p is below alpha.
    `least` is the smallest harm that they do not rule out, beyond the margin exactly where `p_broken` is below alpha.
    Where there is no answer p is NaN, `worst` and `least` are endless, and `note` says why: such a guardrail is open,
    not held.
    """

    margin: float
    alpha: float
    p: float
    p_broken: float
    worst: float
    note: str | None = None
    least: float = -inf

    @property
    def standing(self) -> Standing:
        """Held if a harm of the margin is rejected, broken if less than that is, open otherwise."""
        return "held" if self.p < self.alpha else "broken" if self.p_broken < self.alpha else "open"


class Equivalence(NamedTuple):
    """Two one-sided tests (TOST): p is small if the effect is surely within ±margin."""

    margin: float
    p: float


def non_inferior(
    arms: TwoArms, margin: float, *, higher_is_better: bool = True, relative: bool = False, alpha: float = 0.05
) -> NonInferiority:
    """Tests whether the treatment is worse than the control by less than the margin.

    All guardrails must hold for a decision to ship, so that none needs a correction for how many there are; a chance to
    miss the decision grows with their number.

    Reference: Schuirmann, "A comparison of the two one-sided tests procedure and the power approach", 1987;
    Schultzberg, Ankargren and Frånberg, "Risk-aware product decisions in A/B tests with multiple metrics", 2024.

    >>> arms = TwoArms(control=0.30, treatment=0.299, control_variance=4e-6, treatment_variance=4e-6)
    >>> found = non_inferior(arms, 0.02, relative=True)
    >>> found.standing, round(found.p, 4), round(found.worst, 4)
    ('held', 0.0371, 0.0187)
    """
    _check_margin(margin, alpha)
    better = arms if higher_is_better else arms.mirrored()
    if better.unknown is not None:
        return NonInferiority(margin, alpha, nan, nan, inf, better.unknown)
    interval = (better.relative if relative else better.difference)(confidence=1 - 2 * alpha)
    if interval.method == "undefined":
        return NonInferiority(margin, alpha, nan, nan, inf, interval.notes[0])
    p = better.p_above(-margin, relative=relative)
    broken = better.mirrored().p_above(margin, relative=relative)
    return NonInferiority(margin, alpha, p, broken, -interval.low, least=-interval.high)


def equivalent(arms: TwoArms, margin: float, *, relative: bool = False) -> Equivalence:
    """Tests whether the arms differ by less than the margin, either way; NaN where there is no answer.

    >>> arms = TwoArms(control=0.30, treatment=0.299, control_variance=4e-6, treatment_variance=4e-6)
    >>> round(equivalent(arms, 0.01).p, 4)
    0.0007
    """
    _check_margin(margin, 0.05)
    ps = [each.p_above(-margin, relative=relative) for each in (arms, arms.mirrored())]
    return Equivalence(margin, nan if any(isnan(p) for p in ps) else max(ps))


def _check_margin(margin: float, alpha: float) -> None:
    if not 0 < margin < inf:
        raise UsageError(f"a margin must be above 0, not {margin:g}: say how much worse is still all right")
    if not 0 < alpha < 0.5:
        raise UsageError(f"alpha must be between 0 and 0.5, not {alpha:g}")
