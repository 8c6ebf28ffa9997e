"""Sample ratios: reference values, SciPy, rates of false alarm by simulation, and what is refused."""

from __future__ import annotations

from math import exp, isnan

import numpy as np
import pytest
from scipy import stats

from cranfield.errors import UsageError
from cranfield.statistics.sample_ratio import ALARM, detectable_mismatch, sample_ratio, sequential_sample_ratio
from simulate import band


@pytest.mark.parametrize(
    ("counts", "statistic", "p"),
    [
        ((821_588, 815_482), 22.7743688, 1.82179e-06),
        ((44_000, 45_000), 11.2359551, 8.02278e-04),
        ((600, 400), 40, 2.53963e-10),
        ((10_000, 10_050), 0.1246883, 0.7240043),
    ],
)
def test_reference_values(counts: tuple[int, int], statistic: float, p: float) -> None:
    found = sample_ratio(counts, (1, 1))
    assert found.p == pytest.approx(p, rel=3e-6)
    assert found.statistic == pytest.approx(statistic, rel=1e-6)


def test_tea_tasting_corrects_for_continuity_and_we_do_not() -> None:
    """Its p for the same counts is 0.476767, which is that of |z| with half a unit less."""
    found = sample_ratio((2023, 1977), (1, 1))
    assert found.p == pytest.approx(2 * stats.norm.sf(23 / np.sqrt(1000)))
    assert 2 * stats.norm.sf((23 - 0.5) / np.sqrt(1000)) == pytest.approx(0.476767, abs=5e-7)


def test_scipy_says_the_same_of_many_arms() -> None:
    counts, weights = [120, 310, 95, 480], [1, 3, 1, 5]
    scipys = stats.chisquare(counts, np.array(weights) / 10 * sum(counts))
    found = sample_ratio(counts, weights)
    assert (found.statistic, found.p) == pytest.approx((scipys.statistic, scipys.pvalue))
    assert found.freedom == 3
    assert found.least == 100.5


def test_the_sequential_reference() -> None:
    found = sequential_sample_ratio([[600, 400]], [0.5, 0.5])
    assert found.log_evidence[0] == pytest.approx(16.8862807, rel=1e-7)
    assert found.p[0] == pytest.approx(4.6385e-08, rel=1e-5)
    assert sequential_sample_ratio([[5050, 4950]], [0.5, 0.5]).p[0] == 1


def test_evidence_is_the_ratio_of_two_chances_of_the_same_sequence() -> None:
    """By a running product: the next unit's chance under counts so far plus the prior, over the weight."""
    random, weights, concentration = np.random.default_rng(4), np.array([0.2, 0.3, 0.5]), 6.0
    arms = random.choice(3, size=60, p=[0.3, 0.3, 0.4])
    seen, product = concentration * weights, 1.0
    for arm in arms:
        product *= seen[arm] / seen.sum() / weights[arm]
        seen[arm] += 1
    counts = np.bincount(arms, minlength=3)
    found = sequential_sample_ratio([counts], weights.tolist(), concentration=concentration)
    assert exp(float(found.log_evidence[0])) == pytest.approx(product)


def test_p_never_rises_again() -> None:
    found = sequential_sample_ratio([[100, 40], [1000, 960], [5000, 4990]], [1, 1])
    assert (np.diff(found.p) <= 0).all()
    assert found.p[0] == found.p[2] < 0.001


def test_rates_of_false_alarm_and_of_alarm() -> None:
    """500 looks at a right assignment cry wolf in alpha of all cases at most; chi-square at each look far more."""
    random, sets = np.random.default_rng(6), 1000
    steps = random.binomial(100, 0.5, (sets, 500))
    first = steps.cumsum(axis=1)
    units = 100 * np.arange(1, 501)
    alarms, naive = 0, 0
    for counts in first:
        both = np.stack([counts, units - counts], axis=1)
        alarms += sequential_sample_ratio(both, [1, 1]).p[-1] < 0.05
        naive += (np.abs(2 * counts - units) / np.sqrt(units) > 1.96).any()
    assert alarms / sets <= 0.05 + band(0.05, sets)
    assert naive / sets > 0.4
    missed = random.binomial(1_000_000, 0.5 + detectable_mismatch(1_000_000), sets)
    heard = np.mean([sample_ratio([count, 1_000_000 - count], [1, 1]).p < ALARM for count in missed.tolist()])
    assert heard == pytest.approx(0.8, abs=band(0.8, sets))


def test_no_units_are_no_evidence() -> None:
    assert isnan(sample_ratio([0, 0], [1, 1]).p)
    assert sequential_sample_ratio([[0, 0]], [1, 1]).p[0] == 1
    assert sequential_sample_ratio([[0, 0]], [1, 1]).log_evidence[0] == pytest.approx(0)
    assert sample_ratio([1, 0], [1, 1]).p == pytest.approx(stats.chi2.sf(1, 1))
    assert sample_ratio([30, 0], [1, 1]).p < ALARM


@pytest.mark.parametrize(
    ("counts", "weights", "words"),
    [
        ([1, 2], [1, 0], "every weight must be above 0"),
        ([1, 2], [1, float("nan")], "every weight must be above 0"),
        ([1, 2, 3], [1, 1], "each with a weight"),
        ([1], [1], "2 arms or more"),
        ([1, -2], [1, 1], "whole numbers"),
        ([1, 2.5], [1, 1], "whole numbers"),
    ],
)
def test_bad_requests_are_refused(counts: list[int], weights: list[float], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        sample_ratio(counts, weights)
    with pytest.raises(UsageError, match=words):
        sequential_sample_ratio([counts], weights)


def test_counts_that_shrink_and_other_nonsense() -> None:
    with pytest.raises(UsageError, match="smaller than before"):
        sequential_sample_ratio([[5, 5], [4, 9]], [1, 1])
    with pytest.raises(UsageError, match="concentration"):
        sequential_sample_ratio([[5, 5]], [1, 1], concentration=0)
    with pytest.raises(UsageError, match="units"):
        detectable_mismatch(0)
