"""Intervals for any number of looks: reference values of others, exact chances, and error over many looks."""

from __future__ import annotations

from itertools import product
from math import comb, exp, inf, isnan, log, nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special, stats

from cranfield.errors import UsageError
from cranfield.statistics.arms import TwoArms
from cranfield.statistics.chance_sequences import (
    always_valid_p,
    share_evidence,
    share_interval,
    sign_evidence,
    sign_p,
)
from cranfield.statistics.confidence_sequences import (
    ConfidenceSequence,
    mixture_scale,
    normal_mixture_bound,
    normal_mixture_evidence,
    tuned_rho,
)
from cranfield.statistics.crossing import root
from cranfield.statistics.significance import Floats
from simulate import band


def test_reference_values_of_the_asymptotic_sequence() -> None:
    assert tuned_rho(1000, 0.05) == pytest.approx(0.0890850975, abs=1e-10)
    assert tuned_rho(5000, 0.05) == pytest.approx(0.0398400668, abs=1e-10)
    factor = float(ConfidenceSequence(5000).factors(5000))
    assert factor / np.sqrt(5000) == pytest.approx(0.0429243372, abs=1e-8)
    assert factor / stats.norm.isf(0.025) == pytest.approx(1.5486, abs=5e-5)
    found = ConfidenceSequence(1000).at(0.50337, 0.33341, 6461)
    assert (found.high - found.low) / 2 == pytest.approx(1.0617945, abs=2e-7)
    assert found.low == pytest.approx(-0.55843, abs=2e-5)


def test_reference_values_of_the_normal_mixture() -> None:
    scale = mixture_scale(100, 0.05)
    assert scale == pytest.approx(12.60056, abs=1e-5)
    assert float(normal_mixture_evidence(10, 100, scale)) == pytest.approx(-0.6510052, abs=1e-5)
    assert float(normal_mixture_bound(100, 0.05, tuned_for=100)) == pytest.approx(30.35209, abs=1e-5)


def test_the_mixture_sequential_probability_ratio_test() -> None:
    evidence = exp(float(normal_mixture_evidence(1000 * 0.1, 1000 * 2.0, 2.0**2 / 0.01)))
    assert evidence == pytest.approx(3.2787216, abs=1e-7)
    assert 1 / evidence == pytest.approx(0.3049969, abs=1e-7)


def test_the_sequence_is_the_mixture_of_a_mean() -> None:
    """Its half-width is the bound of a sum over n, for variance 1 of each unit and the scale 1 / ρ²."""
    sequence, units = ConfidenceSequence(800, alpha=0.1), np.array([10.0, 500, 3e4])
    scale = 1 / sequence.rho**2
    bound = np.sqrt((units + scale) * np.log((units + scale) / (scale * 0.1**2)))
    assert sequence.factors(units) / np.sqrt(units) == pytest.approx(bound / units)
    z = np.array([0.3, 2.0, 4.0])
    evidence = normal_mixture_evidence(z * np.sqrt(units), units, scale)
    assert sequence.log_evidence(z, units) == pytest.approx(evidence)


@given(st.floats(-10, 10), st.floats(0.01, 5), st.integers(1, 10**7), st.floats(0.001, 0.5))
def test_interval_and_p_agree(effect: float, error: float, units: int, alpha: float) -> None:
    found = ConfidenceSequence(1000, alpha=alpha).at(effect, error, units)
    assert found.low <= effect <= found.high
    if abs(found.p - alpha) > 1e-9:
        assert (found.low > 0 or found.high < 0) == (found.p < alpha)
    mirrored = ConfidenceSequence(1000, alpha=alpha).at(-effect, error, units)
    assert (mirrored.low, mirrored.high, mirrored.p) == pytest.approx((-found.high, -found.low, found.p))


def test_widths_said_in_the_docstring() -> None:
    sequence = ConfidenceSequence(5000)
    ratios = sequence.factors([500, 5000, 50_000, 500_000]) / stats.norm.isf(0.025)
    assert ratios == pytest.approx([2.0, 1.55, 1.65, 1.8], abs=0.04)
    near = sequence.factors([4000, 5000, 6500]) / np.sqrt([4000, 5000, 6500])
    other = [float(ConfidenceSequence(n).factors(5000)) for n in (2500, 10_000)]
    assert float(sequence.factors(5000)) < min(other)
    assert (np.diff(near) < 0).all()


@pytest.mark.parametrize("kind", ["normal", "clicks", "revenue"])
def test_errors_over_many_looks(kind: str) -> None:
    """50 looks at two arms of 2,000 units each from the hundredth on: naive intervals fail a third of the time."""
    random, sets, units = np.random.default_rng(31), 1000, 2000
    looks = np.arange(200, units + 1, 36)

    def draws() -> Floats:
        if kind == "normal":
            return random.normal(3, 1, (2, units))
        if kind == "revenue":
            return random.lognormal(0, 1, (2, units))
        return random.binomial(1, 0.1, (2, units)).astype(np.float64)

    sequence = ConfidenceSequence(tuned_for=2000, burn_in=400)
    failed, naive = 0, 0
    for _ in range(sets):
        values = draws()
        sums, squares = (part.cumsum(axis=1)[:, looks - 1] for part in (values, values**2))
        variance = (squares - sums**2 / looks) / (looks - 1) / looks
        z = np.diff(sums / looks, axis=0)[0] / np.sqrt(variance.sum(axis=0))
        failed += bool((np.abs(z) > sequence.factors(2 * looks)).any())
        naive += bool((np.abs(z) > 1.96).any())
    assert failed / sets <= 0.05
    assert naive / sets > 0.2


def test_before_the_burn_in_nothing_is_said() -> None:
    sequence = ConfidenceSequence(1000, burn_in=500)
    before, after = sequence.at(9.0, 1.0, 499), sequence.at(9.0, 1.0, 500)
    assert (before.low, before.high, before.p, before.log_evidence) == (-inf, inf, 1.0, 0.0)
    assert after.p < 1e-6
    assert np.isinf(sequence.factors([0, 499])).all()
    assert sequence.log_evidence([9.0], [499]) == 0


def test_degenerate_effects() -> None:
    sequence = ConfidenceSequence(1000)
    unknown = sequence.difference(TwoArms(nan, 1.0, nan, 0.1, units=(0, 5)))
    assert isnan(unknown.p)
    assert (unknown.low, unknown.high) == (-inf, inf)
    constant = sequence.at(0.2, 0.0, 50)
    assert (constant.low, constant.high, constant.p) == (-inf, inf, 1.0)
    nothing = sequence.at(0.2, 0.1, 0)
    assert (nothing.low, nothing.p) == (-inf, 1.0)
    arms = TwoArms(1.0, 1.5, 0.01, 0.02, units=(40, 60))
    assert sequence.difference(arms) == sequence.at(0.5, arms.spread(), 100)


@pytest.mark.parametrize(
    ("successes", "trials", "tuned_for", "low", "high"),
    [
        (700, 1000, 100, 0.651629, 0.745949),
        (15, 50, 50, 0.129556, 0.511896),
        (5, 50, 50, 0.013021, 0.269264),
        (1, 50, 50, 0.0, 0.13489),
        (1, 2, 50, 0.0, 1.0),
        (100, 200, 1, 0.328923, 0.671076),
    ],
)
def test_confseq_says_the_same_of_shares(
    successes: int, trials: int, tuned_for: float, low: float, high: float
) -> None:
    found = share_interval(successes, trials, tuned_for=tuned_for)
    assert found == pytest.approx((low, high), abs=1e-5)
    mirrored = share_interval(trials - successes, trials, tuned_for=tuned_for)
    assert mirrored == pytest.approx((1 - high, 1 - low), abs=1e-5)


def test_confseq_says_the_same_of_the_beta_binomial_mixture() -> None:
    """Bounds of a sum with 625 trials of chance 0.2, which have the variance 100."""

    def bound(scale: float, above: bool) -> float:
        return root(lambda s: share_evidence(125 + s, 625, 0.2, scale, above=above) - log(20), 0.0, 400.0)

    assert bound(mixture_scale(100, 0.05) - 0.16, False) == pytest.approx(31.4308, abs=1e-5)
    assert bound(mixture_scale(100, 0.1) - 0.16, True) == pytest.approx(28.41238, abs=1e-5)


def test_evidence_of_a_share_is_one_on_average() -> None:
    for above in (False, True):
        expected = sum(
            comb(12, wins) * 0.3**wins * 0.7 ** (12 - wins) * exp(share_evidence(wins, 12, 0.3, 1.7, above=above))
            for wins in range(13)
        )
        assert expected == pytest.approx(1)


def test_shares_hold_over_many_looks() -> None:
    random, sets, chance = np.random.default_rng(41), 1500, 0.15
    trials = np.arange(5, 400, 5)
    scale = mixture_scale(100 * chance * (1 - chance), 0.05) - chance * (1 - chance)
    wins = random.binomial(5, chance, (sets, len(trials))).cumsum(axis=1)
    failed = np.zeros(sets, dtype=bool)
    for look, count in enumerate(trials.tolist()):
        seen = np.unique(wins[:, look])
        beyond = [won for won in seen.tolist() if share_evidence(won, count, chance, scale) >= log(20)]
        failed |= np.isin(wins[:, look], beyond)
    assert failed.mean() <= 0.05 + band(0.05, sets)
    assert failed.mean() > 0.005


def test_shares_of_nothing_and_of_all() -> None:
    assert share_interval(0, 0) == (0, 1)
    none, all_of_them = share_interval(0, 20), share_interval(20, 20)
    assert none.low == 0 < none.high < 1
    assert all_of_them == pytest.approx((1 - none.high, 1.0))
    for bad in ((5, 4), (-1, 4)):
        with pytest.raises(UsageError, match="successes"):
            share_interval(*bad)
    with pytest.raises(UsageError, match="alpha"):
        share_interval(1, 2, alpha=0)


def test_reference_values_of_the_sign_test() -> None:
    found = [exp(float(sign_evidence(60, 40, concentration=a))) for a in (1, 10)]
    assert found == pytest.approx([0.9130498, 2.1865901], abs=1e-6)
    assert sign_p(60, 40) == pytest.approx(1 / 2.1865901, abs=1e-7)
    assert sign_p(60, 40) == sign_p(40, 60)
    assert sign_p(5, 5) == 1
    assert sign_p(0, 0) == 1


def test_evidence_of_signs_is_one_on_average() -> None:
    paths = [exp(float(sign_evidence(sum(path), 8 - sum(path), concentration=3))) for path in product((0, 1), repeat=8)]
    assert np.mean(paths) == pytest.approx(1)
    by_hand = special.beta(3 + 6, 3 + 2) / special.beta(3, 3) * 2**8
    assert exp(float(sign_evidence(6, 2, concentration=3))) == pytest.approx(by_hand)


def test_signs_over_two_thousand_looks() -> None:
    """With concentration 50: 2.8 % against 42.6 % of a plain sign test."""
    random, sets = np.random.default_rng(51), 2000
    wins = random.integers(0, 2, (sets, 2000)).cumsum(axis=1)
    counts = np.arange(1, 2001)
    p = np.exp(-sign_evidence(wins, counts - wins, concentration=50).max(axis=1))
    assert np.mean(p < 0.05) == pytest.approx(0.0283, abs=band(0.0283, sets))
    z = np.abs(2 * wins - counts) / np.sqrt(counts)
    naive = np.mean((z[:, 9:] > 1.96).any(axis=1))
    assert naive > 0.4


def test_p_is_the_least_so_far() -> None:
    evidence = np.log([0.1, 30.0, 2.0, 50.0])
    assert always_valid_p(evidence) == pytest.approx([1, 1 / 30, 1 / 30, 1 / 50])


def test_bad_requests_are_refused() -> None:
    for tuned_for in (0, -1, inf, nan):
        with pytest.raises(UsageError, match="must be tuned for a number of units above 0"):
            ConfidenceSequence(tuned_for)
    with pytest.raises(UsageError, match="alpha"):
        ConfidenceSequence(1000, alpha=1)
    with pytest.raises(UsageError, match="concentration"):
        sign_evidence(1, 2, concentration=0)
    with pytest.raises(UsageError, match="0 or more"):
        sign_evidence(-1, 2)
