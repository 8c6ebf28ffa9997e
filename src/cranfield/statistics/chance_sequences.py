"""Chances that are looked at while they are counted: shares of successes, wins against losses. Exact at every count."""

from __future__ import annotations

from math import exp, inf, log
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from cranfield.errors import UsageError
from cranfield.statistics.confidence_sequences import mixture_scale
from cranfield.statistics.crossing import root
from cranfield.statistics.significance import Floats


class ShareInterval(NamedTuple):
    """An interval of a chance that holds at every number of trials at once."""

    low: float
    high: float


def share_evidence(successes: float, trials: float, share: float, scale: float, *, above: bool = False) -> float:
    """The logarithm of the evidence that the chance of a success is another one: a beta-binomial mixture.

    How much likelier the counts are if the chance is drawn from a beta distribution around `share` than if it is
    `share`; with `above`, from the part of it above `share` (one-sided). A larger scale draws it closer.

    Reference: Howard, Ramdas, McAuliffe and Sekhon, "Time-uniform, nonparametric, nonasymptotic confidence sequences",
    2021.

    >>> round(share_evidence(60, 100, 0.5, 5.0), 4)
    0.7823
    """
    from scipy.special import betaincc, betaln

    failures = trials - successes
    prior, other = scale / (1 - share), scale / share
    evidence = float(betaln(prior + successes, other + failures) - betaln(prior, other))
    evidence -= (successes * log(share) if successes else 0.0) + (failures * log(1 - share) if failures else 0.0)
    if above:
        seen = float(betaincc(prior + successes, other + failures, share))
        evidence += (log(seen) if seen > 0 else -inf) - log(float(betaincc(prior, other, share)))
    return evidence


def share_interval(successes: int, trials: int, *, alpha: float = 0.05, tuned_for: float = 100) -> ShareInterval:
    """An interval of a chance that may be looked at after every trial.

    `tuned_for` is the number of trials at which it is narrowest, nearly.

    >>> low, high = share_interval(700, 1000)
    >>> round(low, 5), round(high, 5)
    (0.65163, 0.74595)
    """
    if not 0 <= successes <= trials:
        raise UsageError(f"{successes} successes of {trials} trials: there must be from 0 to as many as trials")
    if not 0 < alpha < 1 or not tuned_for > 0:
        raise UsageError(f"alpha must be between 0 and 1 and tuned_for above 0, not {alpha:g} and {tuned_for:g}")
    if trials == 0:
        return ShareInterval(0.0, 1.0)
    seen, limit = successes / trials, -log(alpha)

    def excess(share: float) -> float:
        spread = share * (1 - share)
        scale = max(mixture_scale(tuned_for * spread, alpha) - spread, 1e-3 * spread)
        return share_evidence(successes, trials, share, scale) - limit

    tiny = 1e-12
    inside = min(max(seen, tiny), 1 - tiny)
    low = 0.0 if successes == 0 or excess(tiny) <= 0 else root(lambda share: -excess(share), tiny, inside)
    high = 1.0 if successes == trials or excess(1 - tiny) <= 0 else root(excess, inside, 1 - tiny)
    return ShareInterval(low, high)


def sign_evidence(wins: ArrayLike, losses: ArrayLike, *, concentration: float = 10.0) -> Floats:
    """The logarithm of the evidence that wins are not as likely as losses, which may be counted up at every look.

    Count units (users), one vote each: impressions of a user are not independent. Ties are left out. A larger
    concentration looks for smaller preferences.

    Formula: B(a + wins, a + losses) / B(a, a) × 2^(wins + losses)

    >>> np.exp(sign_evidence([60], [40], concentration=1)).round(7), np.exp(sign_evidence([60], [40])).round(7)
    (array([0.9130498]), array([2.1865901]))
    """
    from scipy.special import betaln

    if not concentration > 0:
        raise UsageError(f"concentration must be above 0, not {concentration:g}")
    won, lost = np.asarray(wins, dtype=np.float64), np.asarray(losses, dtype=np.float64)
    if not ((won >= 0) & (lost >= 0)).all():
        raise UsageError("wins and losses must be 0 or more")
    a = concentration
    return np.asarray(betaln(a + won, a + lost) - betaln(a, a) + (won + lost) * log(2))


def always_valid_p(log_evidence: ArrayLike) -> Floats:
    """p after each look from the logarithm of the evidence: the least of its inverse so far, at most 1.

    >>> always_valid_p(np.log([0.5, 10.0, 4.0]))
    array([1. , 0.1, 0.1])
    """
    evidence = np.asarray(log_evidence, dtype=np.float64)
    return np.exp(-np.maximum.accumulate(np.maximum(evidence, 0.0)))


def sign_p(wins: int, losses: int, *, concentration: float = 10.0) -> float:
    """The always valid p of one look at wins and losses.

    >>> round(sign_p(80, 40), 4)
    0.0078
    """
    return min(1.0, exp(-float(sign_evidence(wins, losses, concentration=concentration))))
