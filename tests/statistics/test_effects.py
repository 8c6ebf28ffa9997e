"""Effect sizes, intervals, detectable differences, equivalence and Friedman's test against published figures."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.power import TTestPower
from statsmodels.stats.weightstats import ttost_paired

from cranfield.errors import UsageError
from cranfield.planning.plans import power_analysis
from cranfield.statistics.corrections import find_correction
from cranfield.statistics.differences import win_tie_loss
from cranfield.statistics.effects import Resampled, bootstrap_interval, effects, equivalence
from cranfield.statistics.friedman import critical_difference, friedman
from cranfield.statistics.paired import t, wilcoxon
from cranfield.statistics.significance import Sampling, all_pairs
from published import CROFT, SAKAI, SLEEP, TAGUE
from simulate import Floats, equal_systems, pairs_within

PAIR = np.array([[0, 1]])
# Demšar 2006, table 6: C4.5 with its parameters tuned (m, cf, both) on 14 data sets, as printed to three decimals.
DEMSAR = np.array(
    [
        [0.763, 0.599, 0.954, 0.628, 0.882, 0.936, 0.661, 0.583, 0.775, 1.0, 0.940, 0.619, 0.972, 0.957],
        [0.768, 0.591, 0.971, 0.661, 0.888, 0.931, 0.668, 0.583, 0.838, 1.0, 0.962, 0.666, 0.981, 0.978],
        [0.771, 0.590, 0.968, 0.654, 0.886, 0.916, 0.609, 0.563, 0.866, 1.0, 0.965, 0.614, 0.975, 0.946],
        [0.798, 0.569, 0.967, 0.657, 0.898, 0.931, 0.685, 0.625, 0.875, 1.0, 0.962, 0.669, 0.975, 0.970],
    ]
)
VOTING = 12  # the data set whose tie in the printed table is not one in the paper's figures


def test_published_effects() -> None:
    sakai = effects(SAKAI, PAIR)
    assert sakai.mean[0] == pytest.approx(0.075)
    assert sakai.d_z[0] == pytest.approx(0.473, abs=5e-4)
    assert (sakai.high - sakai.mean)[0] == pytest.approx(0.0742, abs=5e-5)
    sleep = effects(SLEEP, PAIR)
    assert (sleep.low[0], sleep.high[0]) == pytest.approx((-2.4598858, -0.7001142), abs=5e-8)


def test_published_counts() -> None:
    assert [effects(CROFT, PAIR)[column][0] for column in (4, 5, 6)] == [7, 1, 2]
    assert [effects(TAGUE, PAIR)[column][0] for column in (4, 5, 6)] == [7, 0, 3]
    assert [effects(TAGUE, PAIR, tie=0.01)[column][0] for column in (4, 5, 6)] == [4, 4, 2]


@pytest.mark.parametrize("alpha", [0.05, 0.01])
def test_intervals_are_those_of_scipy(alpha: float) -> None:
    scores, pairs = equal_systems("AP", 1, 6, 30), all_pairs(6)
    first, second = scores[pairs.T]
    expected = stats.ttest_rel(first, second, axis=1).confidence_interval(1 - alpha)
    found = effects(scores, pairs, alpha=alpha)
    np.testing.assert_allclose(found.low, expected.low, rtol=1e-11)
    np.testing.assert_allclose(found.high, expected.high, rtol=1e-11)
    together = effects(scores, pairs, alpha=alpha, comparisons=15)
    expected = stats.ttest_rel(first, second, axis=1).confidence_interval(1 - alpha / 15)
    np.testing.assert_allclose(together.low, expected.low, rtol=1e-11)


def test_simultaneous_intervals_go_with_the_corrections() -> None:
    """Zero lies outside exactly where Bonferroni rejects, and only where Holm does."""
    scores, pairs = equal_systems("nDCG", 1, 12, 40, seed=4), all_pairs(12)
    scores[:8] += np.linspace(0, 0.25, 8)[:, None]
    found = effects(scores, pairs, comparisons=len(pairs))
    outside = (found.low > 0) | (found.high < 0)
    p = t(scores, pairs, Sampling()).p
    np.testing.assert_array_equal(outside, find_correction("bonferroni")(p) < 0.05)
    holm = find_correction("holm")(p) < 0.05
    assert (outside <= holm).all()
    assert 0 < outside.sum() < holm.sum() < len(pairs)


@pytest.mark.parametrize("topics", [3, 5, 10, 25, 200])
def test_a_detectable_difference_is_detected_with_its_power(topics: int) -> None:
    """By the non-central t of statsmodels, and as `cranfield plan` has it."""
    for comparisons in (1, 6):
        found = effects(equal_systems("AP", 20, 2, topics), pairs_within(20), comparisons=comparisons)
        deviation = found.mean / found.d_z
        exact = TTestPower().power(found.detectable / deviation, topics, 0.05 / comparisons)
        known = ~np.isnan(exact)  # SciPy has no far tail of some
        np.testing.assert_allclose(exact[known], 0.8, atol=1e-6)
        assert known.any()
        planned = power_analysis(topics=topics, sd=float(deviation[3]), comparisons=comparisons)
        assert found.detectable[3] == pytest.approx(planned.difference)


def test_equivalence_is_that_of_statsmodels() -> None:
    scores, pairs = equal_systems("nDCG", 30, 2, 50), pairs_within(30)
    outcome = equivalence(scores, pairs, margin=0.08)
    expected = [ttost_paired(scores[first], scores[second], -0.08, 0.08) for first, second in pairs]
    np.testing.assert_allclose(outcome.p, [found[0] for found in expected], rtol=1e-11)
    nearer = [min(lower[0], -upper[0]) for _, lower, upper in expected]
    np.testing.assert_allclose(outcome.statistic, nearer, rtol=1e-11)
    assert 0 < np.count_nonzero(outcome.p < 0.05) < 30


def test_equivalence_of_systems_whose_difference_never_varies() -> None:
    """t is undefined; of the flips of two differences one in four lies as far inside the margin."""
    scores = np.array([[0.2, 0.5], [0.2, 0.5], [0.3, 0.6]])
    assert equivalence(scores, all_pairs(3), margin=0.05).p.tolist() == [0.25, 1, 1]
    assert equivalence(np.array([[0.2] * 9, [0.1] * 9]), PAIR, margin=0.2).p.tolist() == [2.0**-9]
    assert equivalence(np.array([[0.5] * 9, [0.25] * 9]), PAIR, margin=0.25).p.tolist() == [1]


def test_differences_that_never_vary() -> None:
    scores = np.array([[0.3, 0.9, 0.5], [0.2, 0.8, 0.4], [0.2, 0.8, 0.4]])
    found = effects(scores, np.array([[0, 1], [1, 2], [2, 0]]))
    assert found.d_z.tolist() == [np.inf, 0, -np.inf]
    np.testing.assert_array_equal(found.low, found.high)
    assert found.detectable.tolist() == [0, 0, 0]
    low, high = bootstrap_interval(scores, PAIR, Sampling(resamples=99), method="BCa")
    assert (low[0], high[0]) == pytest.approx((0.1, 0.1), rel=1e-15)


@pytest.mark.parametrize("method", ["percentile", "basic", "BCa"])
def test_bootstrap_intervals_are_those_of_scipy(method: Resampled) -> None:
    scores, pairs = equal_systems("AP", 1, 4, 25), all_pairs(4)
    sampling = Sampling(seed=8, resamples=999)
    low, high = bootstrap_interval(scores, pairs, sampling, method=method, alpha=0.1)
    for place, (first, second) in enumerate(pairs):
        expected = stats.bootstrap(
            (scores[first] - scores[second],),
            np.mean,
            n_resamples=999,
            method=method,
            confidence_level=0.9,
            rng=np.random.default_rng(8),
        ).confidence_interval
        assert (low[place], high[place]) == pytest.approx((expected.low, expected.high), rel=1e-12)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"alpha": 0}, "alpha must lie between 0 and 1, not 0"),
        ({"power": 1}, "power must lie between 0 and 1, not 1"),
        ({"comparisons": 0}, "comparisons must be a whole number from 1, not 0"),
    ],
)
def test_senseless_requests_are_refused(arguments: dict[str, int], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        effects(SAKAI, PAIR, **arguments)


def test_a_margin_of_nothing_is_refused() -> None:
    with pytest.raises(UsageError, match="the margin must be above 0, not 0"):
        equivalence(SAKAI, PAIR, margin=0)


def paper(scores: Floats) -> Floats:
    """The table with the fourth decimal that tells the tuned cf from the tuned m + cf on one data set."""
    scores = scores.copy()
    scores[2, VOTING] = 0.97501
    return scores


def test_published_signed_ranks() -> None:
    """93 against 12 for tuning m, with the ranks of the two zeros split between the sides; here they are dropped."""
    outcome = wilcoxon(DEMSAR, np.array([[1, 0]]), Sampling())
    wins, zeros, losses = (int(count[0]) for count in win_tie_loss(DEMSAR, np.array([[1, 0]])))
    assert zeros == 2
    assert outcome.statistic[0] + zeros * (wins - losses) == 93 - 12
    assert outcome.notes[0] == "differences of zero, left out: 2 of 14 topics"


def test_published_ranks() -> None:
    found = friedman(paper(DEMSAR), correct_for_ties=False)
    assert found.ranks == pytest.approx([3.143, 2.000, 2.893, 1.964], abs=5e-4)
    assert (found.chi_square, found.f) == pytest.approx((9.28, 3.69), abs=5e-3)
    printed = friedman(DEMSAR, correct_for_ties=False)
    assert (printed.chi_square, printed.f) == pytest.approx((9.857, 3.987), abs=5e-4)
    assert critical_difference(4, 14) == pytest.approx(1.2536, abs=5e-5)
    assert critical_difference(4, 14) / np.sqrt(4 * 5 / (6 * 14)) == pytest.approx(2.569, abs=5e-4)


def test_friedman_is_that_of_scipy_and_of_an_analysis_of_variance_of_ranks() -> None:
    for scores in (DEMSAR, equal_systems("P@10", 1, 5, 20), equal_systems("AP", 1, 3, 50)):
        found, expected = friedman(scores), stats.friedmanchisquare(*scores)
        assert (found.chi_square, found.chi_square_p) == pytest.approx((expected.statistic, expected.pvalue), rel=1e-10)
        systems, topics = scores.shape
        ranks = stats.rankdata(-scores, axis=0)
        between = topics * ((ranks.mean(axis=1) - ranks.mean()) ** 2).sum() / (systems - 1)
        degrees = (systems - 1) * (topics - 1)
        f = between / (((ranks - ranks.mean(axis=1, keepdims=True)) ** 2).sum() / degrees)
        assert (found.f, found.p) == pytest.approx((f, stats.f.sf(f, systems - 1, degrees)), rel=1e-10)


def test_friedman_at_the_extremes() -> None:
    assert friedman(np.ones((3, 5)))[1:] == (0, 1, 0, 1)
    same_order = friedman(np.arange(12.0).reshape(3, 4))
    assert same_order.chi_square == 8
    assert (same_order.f, same_order.p) == (np.inf, 0)
    with pytest.raises(UsageError, match="at least 3; use a paired test for 2"):
        friedman(SAKAI[:2])
