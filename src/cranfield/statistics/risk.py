"""Does a system hurt topics that a baseline served well? Risk measures on scores[system, topic].

All weigh a loss on a topic 1 + alpha times as much as a gain; alpha = 0 is the plain difference. Higher is better.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cranfield.errors import UsageError
from cranfield.statistics.significance import Floats

ROUNDING = 1e-12  # equal differences differ by less than this, relative to themselves


class Risk(NamedTuple):
    """The risk of each system: against the baseline (URisk, TRisk, and the two-sided p of TRisk), and among all systems
    (ZRisk, GeoRisk). Of the baseline itself URisk is 0, and TRisk and p are NaN. Among scores below 0, as those of a
    loss turned round are, ZRisk and GeoRisk do not exist: NaN.
    """

    urisk: Floats
    trisk: Floats
    p: Floats
    zrisk: Floats
    georisk: Floats


def risk(scores: Floats, baseline: int, *, alpha: float = 1.0) -> Risk:
    """Every risk measure of every system, against the baseline of that number and among all systems.

    >>> risks = risk(np.array([[0.2, 0.5, 0.4], [0.5, 0.4, 0.6]]), baseline=0)
    >>> risks.urisk.round(4).tolist(), risks.georisk.round(4).tolist()
    ([0.0, 0.1], [0.4148, 0.49])
    """
    scores = _checked(scores)
    if not 0 <= baseline < len(scores):
        raise UsageError(f"there is no system number {baseline}; there are {len(scores)}, numbered from 0")
    trisk, p = t_risk(scores, scores[baseline], alpha=alpha)
    none = np.full(len(scores), np.nan)
    among_all = (none, none) if (scores < 0).any() else (z_risk(scores, alpha=alpha), geo_risk(scores, alpha=alpha))
    return Risk(u_risk(scores, scores[baseline], alpha=alpha), trisk, p, *among_all)


def u_risk(scores: Floats, baseline: Floats, *, alpha: float = 1.0) -> Floats:
    """The mean over topics of gains less losses against a baseline, losses weighing 1 + alpha times as much.

    Formula: URisk = (1/n) (Σ_{wins} δ - (1 + alpha) Σ_{losses} |δ|), δ = system - baseline
    Reference: Wang, Bennett and Collins-Thompson, "Robust ranking models via risk-sensitive optimization", SIGIR 2012.

    >>> u_risk(np.array([[0.5, 0.4, 0.6]]), np.array([0.2, 0.5, 0.4]), alpha=1).round(4).tolist()
    [0.1]
    """
    weighed: Floats = _weighed(scores, baseline, alpha).mean(axis=1)
    return weighed


def t_risk(scores: Floats, baseline: Floats, *, alpha: float = 1.0) -> tuple[Floats, Floats]:
    """URisk in units of its standard error, and the two-sided p-value of that t: from about -2 down the risk is real.

    The standard deviation is the unbiased one (n - 1), as in the authors' own program; some tools divide by n. NaN
    where the differences do not vary.

    Formula: TRisk = √n URisk / s, s the standard deviation of the weighed differences; n - 1 degrees of freedom
    Reference: Dinçer, Macdonald and Ounis, "Hypothesis testing for the risk-sensitive evaluation of retrieval systems",
    SIGIR 2014.

    >>> t, p = t_risk(np.array([[0.5, 0.4, 0.6]]), np.array([0.2, 0.5, 0.4]), alpha=1)
    >>> t.round(4).tolist(), p.round(4).tolist()
    ([0.6547], [0.5799])
    """
    from scipy.stats import t as student

    weighed = _weighed(scores, baseline, alpha)
    topics = weighed.shape[1]
    if topics < 2:
        raise UsageError("TRisk needs 2 topics or more")
    spread = weighed.std(axis=1, ddof=1)
    spread[np.ptp(weighed, axis=1) <= ROUNDING * np.abs(weighed).max(axis=1)] = np.nan
    t: Floats = np.sqrt(topics) * weighed.mean(axis=1) / spread
    return t, 2 * student.sf(np.abs(t), topics - 1)


def z_risk(scores: Floats, *, alpha: float = 1.0) -> Floats:
    """How each system does where the systems together would have it: every system is the others' baseline.

    What is expected of a system on a topic is its total times the topic's total over the grand total, as in a χ² test;
    a topic on which no system scores anything adds nothing.

    Formula: ZRisk = Σ_{z > 0} z + (1 + alpha) Σ_{z < 0} z, z = (x - e) / √e, e = S_system T_topic / N
    Reference: Dinçer, Macdonald and Ounis, "Risk-sensitive evaluation and learning to rank using multiple baselines",
    SIGIR 2016.

    >>> z_risk(np.array([[0.2, 0.5, 0.4], [0.5, 0.4, 0.6]]), alpha=1).round(4).tolist()
    [-0.2311, -0.1492]
    """
    scores = _checked(scores)
    if (scores < 0).any():
        raise UsageError("ZRisk and GeoRisk are for scores from 0 up: there are negative ones")
    totals = scores.sum()
    if totals == 0:
        return np.zeros(len(scores))
    expected = scores.sum(axis=1, keepdims=True) * scores.sum(axis=0, keepdims=True) / totals
    z = np.divide(scores - expected, np.sqrt(expected), out=np.zeros_like(scores), where=expected > 0)
    weighed: Floats = np.where(z < 0, (1 + _checked_alpha(alpha)) * z, z).sum(axis=1)
    return weighed


def geo_risk(scores: Floats, *, alpha: float = 1.0) -> Floats:
    """The geometric mean of how good a system is and how safe: effective and robust systems come first.

    Formula: GeoRisk = √(mean score × Φ(ZRisk / n)), Φ the normal distribution function
    Reference: Dinçer, Macdonald and Ounis, SIGIR 2016.

    >>> geo_risk(np.array([[0.2, 0.5, 0.4], [0.5, 0.4, 0.6]]), alpha=1).round(4).tolist()
    [0.4148, 0.49]
    """
    from scipy.special import ndtr

    scores = _checked(scores)
    together: Floats = np.sqrt(scores.mean(axis=1) * ndtr(z_risk(scores, alpha=alpha) / scores.shape[1]))
    return together


def _weighed(scores: Floats, baseline: Floats, alpha: float) -> Floats:
    """Differences from the baseline, losses enlarged."""
    scores, baseline = _checked(scores), np.asarray(baseline, dtype=np.float64)
    if baseline.shape != scores.shape[1:]:
        raise UsageError(
            f"the baseline has scores of shape {baseline.shape}: it needs one for each of {scores.shape[1]} topics"
        )
    differences = scores - baseline
    if not np.isfinite(differences).all():
        raise UsageError("the baseline must be complete: it needs a finite score on every topic")
    return np.where(differences < 0, (1 + _checked_alpha(alpha)) * differences, differences)


def _checked(scores: Floats) -> Floats:
    scores = np.asarray(scores, dtype=np.float64)
    if scores.ndim != 2 or 0 in scores.shape:
        raise UsageError(f"scores must be scores[system, topic], not of shape {scores.shape}")
    if not np.isfinite(scores).all():
        raise UsageError("scores must be complete: every system needs a finite score on every topic")
    return scores


def _checked_alpha(alpha: float) -> float:
    if not 0 <= alpha < np.inf:
        raise UsageError(f"alpha must be a finite number from 0 up, not {alpha:g}")
    return alpha
