"""Which side do users prefer, when results of two systems are mixed in one list? Wins, ties and losses, by user.

Users differ in taste: what one prefers today, the same user prefers tomorrow. A sign test over impressions takes them
for strangers, and finds a preference where there is none: in 30 % of simulated experiments with eight impressions a
user. Everything here counts users.
"""

from __future__ import annotations

from math import nan, sqrt
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from cranfield.errors import UsageError
from cranfield.statistics.arms import ArmEffect, check_confidence, critical_value
from cranfield.statistics.moments import Moments
from cranfield.statistics.ratios import Ratio
from cranfield.statistics.significance import Floats


class Preference(NamedTuple):
    """Impressions won by A, tied, won by B; the preference for A with its interval and p over users; users by majority.

    `effect.value` is Δ = (wins + ties / 2) / all - 1/2: above 0 for A, from -1/2 to 1/2. `users_won` and `users_lost`
    have the users with more wins of A and of B, `sign_p` the two-sided sign test of these.
    """

    wins: int
    ties: int
    losses: int
    effect: ArmEffect
    users_won: int
    users_lost: int
    sign_p: float


class ShareEstimate(NamedTuple):
    """A share with its interval."""

    share: float
    low: float
    high: float


def preference(wins: ArrayLike, ties: ArrayLike, losses: ArrayLike, *, confidence: float = 0.95) -> Preference:
    """The preference for A over B, from the impressions of each user that A won, that were tied, and that B won.

    The standard error is that of a ratio over users (cluster-robust); with few users its t has few degrees of freedom.

    >>> found = preference([3, 1, 2, 0, 4], [1, 0, 2, 1, 0], [1, 0, 1, 0, 2])
    >>> round(found.effect.value, 4), round(found.effect.p, 4), found.users_won, found.users_lost, found.sign_p
    (0.1667, 0.007, 4, 0, 0.125)
    """
    won, tied, lost = (_counts(values) for values in (wins, ties, losses))
    if not len(won) == len(tied) == len(lost):
        raise UsageError("wins, ties and losses must have a value for each user")
    total = won + tied + lost
    users = Moments.of({"ahead": (won - lost) / 2, "impressions": total})
    effect = Ratio("ahead", "impressions").against(users).difference(confidence=confidence)
    above, below = int(np.count_nonzero(won > lost)), int(np.count_nonzero(won < lost))
    sums = [int(counts.sum()) for counts in (won, tied, lost)]
    return Preference(sums[0], sums[1], sums[2], effect, above, below, sign_test(above, below))


def delta(wins: int, ties: int, losses: int) -> float:
    """Δ of A over B: (wins + ties / 2) / all - 1/2; NaN of none.

    >>> delta(400, 250, 350)
    0.025
    """
    total = wins + ties + losses
    return (wins - losses) / (2 * total) if total else nan


def sign_test(wins: int, losses: int) -> float:
    """The exact two-sided p of the sign test: 1 if there are none.

    >>> round(sign_test(60, 40), 8)
    0.05688793
    """
    from scipy.special import bdtr

    if min(wins, losses) < 0:
        raise UsageError(f"wins and losses must be 0 or more, not {wins} and {losses}")
    return min(1.0, 2 * float(bdtr(min(wins, losses), wins + losses, 0.5)))


def win_share(
    wins: int, losses: int, *, confidence: float = 0.95, method: Literal["exact", "wilson"] = "exact"
) -> ShareEstimate:
    """The share of wins, ties left out, with the interval of Clopper and Pearson ("exact") or of Wilson.

    Clopper and Pearson's agrees with the sign test at a half; Wilson's is narrower, right on average.

    >>> [round(value, 7) for value in win_share(60, 40)]
    [0.6, 0.4972092, 0.6967052]
    """
    from scipy.special import betaincinv

    check_confidence(confidence)
    trials, tail = wins + losses, (1 - confidence) / 2
    if min(wins, losses) < 0:
        raise UsageError(f"wins and losses must be 0 or more, not {wins} and {losses}")
    if not trials:
        return ShareEstimate(nan, 0.0, 1.0)
    share = wins / trials
    if method == "exact":
        low = float(betaincinv(wins, losses + 1, tail)) if wins else 0.0
        high = float(betaincinv(wins + 1, losses, 1 - tail)) if losses else 1.0
        return ShareEstimate(share, low, high)
    if method != "wilson":
        raise UsageError(f"the interval of a share is exact or wilson, not {method!r}")
    square = critical_value(float("inf"), 1 - tail) ** 2
    middle = (share + square / (2 * trials)) / (1 + square / trials)
    half = sqrt(square * (share * (1 - share) / trials + square / (4 * trials**2))) / (1 + square / trials)
    return ShareEstimate(share, max(0.0, middle - half), min(1.0, middle + half))


def _counts(values: ArrayLike) -> Floats:
    counts = np.asarray(values, dtype=np.float64)
    if counts.ndim != 1 or not np.isfinite(counts).all() or (counts < 0).any() or (counts % 1 != 0).any():
        raise UsageError("wins, ties and losses of users must be whole numbers, 0 or more")
    return counts
