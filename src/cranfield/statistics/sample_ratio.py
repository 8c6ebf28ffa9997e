"""Did every arm get its share of the units? If not, more than chance chose them, and no result is to be trusted.

The chi-square test is for one look at the end. The sequential test may be looked at as often as one likes, such as
every day: its p falls below alpha at any time with a chance of alpha at most, if the assignment is right.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from cranfield.errors import UsageError
from cranfield.statistics.significance import Floats

ALARM = 0.001  # the usual level of alarm: with thousands of experiments, 0.05 would cry wolf every day


class SampleRatio(NamedTuple):
    """What chi-square says of the counts: the statistic, degrees of freedom, p, and the counts that were expected.

    p is NaN without any units. `least` is the smallest count expected: below 5 the test is approximate at best.
    """

    statistic: float
    freedom: int
    p: float
    expected: tuple[float, ...]

    @property
    def least(self) -> float:
        """The smallest count expected."""
        return min(self.expected)


class SampleRatioSequence(NamedTuple):
    """What the sequential test says after each look: the logarithm of the evidence against the shares, and p.

    p is always valid: the least of 1 / evidence so far, at most 1.
    """

    log_evidence: Floats
    p: Floats


def sample_ratio(counts: Sequence[int], weights: Sequence[float]) -> SampleRatio:
    """Chi-square goodness of fit of the numbers of units to the arms' weights, which need not add up to 1.

    >>> found = sample_ratio([821588, 815482], [1, 1])
    >>> round(found.statistic, 7), f"{found.p:.5e}"
    (22.7743688, '1.82179e-06')
    """
    from scipy.special import chdtrc

    observed, shares = _checked([counts], weights)
    total = float(observed.sum())
    expected = shares * total
    freedom = len(shares) - 1
    if total == 0:
        return SampleRatio(float("nan"), freedom, float("nan"), tuple(expected.tolist()))
    statistic = float(((observed[0] - expected) ** 2 / expected).sum())
    return SampleRatio(statistic, freedom, float(chdtrc(freedom, statistic)), tuple(expected.tolist()))


def sequential_sample_ratio(
    counts: ArrayLike, weights: Sequence[float], *, concentration: float = 2.0
) -> SampleRatioSequence:
    """The same at every look: counts[look, arm] are all units so far.

    The evidence is how much likelier the counts are if the shares are drawn from a Dirichlet distribution around the
    weights than if they are the weights. If the weights are right its mean is 1 at any time, and it exceeds 1 / alpha
    at some time with a chance of alpha at most (Ville). A larger concentration looks for smaller mismatches: it takes
    more units to be heard, and hears more. Between looks nothing is lost: it depends on the counts alone.

    Formula: B(α + n) / B(α) / Π w^n, α = concentration × w, B the multivariate beta function
    Reference: Lindon and Malek, "Anytime-valid inference for multinomial count data", 2022.

    >>> found = sequential_sample_ratio([[300, 250], [600, 400]], [0.5, 0.5])
    >>> round(float(found.log_evidence[1]), 7), f"{found.p[1]:.4e}"
    (16.8862807, '4.6385e-08')
    """
    from scipy.special import gammaln

    if not concentration > 0:
        raise UsageError(f"concentration must be above 0, not {concentration:g}")
    observed, shares = _checked(counts, weights)
    if (np.diff(observed, axis=0) < 0).any():
        raise UsageError("counts of a later look are smaller than before: give all units so far at each look")
    prior = concentration * shares
    total = observed.sum(axis=1)
    mixed = gammaln(observed + prior).sum(axis=1) - gammaln(total + concentration)
    start = float(gammaln(prior).sum() - gammaln(concentration))
    log_evidence = mixed - start - observed @ np.log(shares)
    highest = np.maximum.accumulate(np.maximum(log_evidence, 0.0))
    return SampleRatioSequence(log_evidence, np.exp(-highest))


def detectable_mismatch(units: int, *, alpha: float = ALARM, power: float = 0.8) -> float:
    """How far off one half the share of an arm of two must be for chi-square to notice with that chance.

    >>> round(detectable_mismatch(1_000_000), 5)
    0.00207
    """
    from scipy.special import ndtri

    if units < 1:
        raise UsageError(f"units must be 1 or more, not {units}")
    return float((ndtri(1 - alpha / 2) + ndtri(power)) / 2 / np.sqrt(units))


def _checked(counts: ArrayLike, weights: Sequence[float]) -> tuple[Floats, Floats]:
    table, shares = np.asarray(counts, dtype=np.float64), np.asarray(weights, dtype=np.float64)
    if shares.ndim != 1 or len(shares) < 2 or table.ndim != 2 or table.shape[1] != len(shares):
        raise UsageError(f"a sample ratio needs 2 arms or more, each with a weight: {table.shape}, {shares.shape}")
    if not (np.isfinite(shares).all() and (shares > 0).all()):
        raise UsageError(f"every weight must be above 0, not {shares.tolist()}: leave out arms that get no units")
    if not (np.isfinite(table).all() and (table >= 0).all() and (table == np.floor(table)).all()):
        raise UsageError("counts of units must be whole numbers, 0 or more")
    return table, shares / shares.sum()
