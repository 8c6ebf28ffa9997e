"""Paired tests of significance against published figures, SciPy and statsmodels."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.descriptivestats import sign_test as statsmodels_sign_test

from cranfield.errors import UsageError
from cranfield.statistics.differences import moments, whole_differences, win_tie_loss
from cranfield.statistics.paired import bootstrap, draws, sign, sign_test, signed_rank_p, t, wilcoxon
from cranfield.statistics.significance import Sampling, all_pairs
from published import CROFT, SAKAI, SLEEP, TAGUE, TREC8
from simulate import Floats, equal_systems, pairs_within

PAIR = np.array([[0, 1]])
SAMPLING = Sampling(seed=3, resamples=9_999)


@pytest.fixture(scope="module")
def trec8() -> Floats:
    """Average precision of all runs of TREC-8's ad hoc task (Urbano, Lima and Hanjalic 2019)."""
    if not TREC8.exists():
        pytest.skip("the folder with the scores of TREC-8 is not here")
    return np.loadtxt(TREC8, delimiter=",", skiprows=1).T


@pytest.mark.parametrize(
    ("scores", "statistic", "p"),
    [
        (CROFT, 2.32688, 2 * 0.022488),
        (TAGUE, 1.324169, 0.218088),
        (SAKAI, 2.116, 0.048),
        (SLEEP, -4.0621277, 0.00283289),
    ],
    ids=["Croft", "Tague", "Sakai", "sleep"],
)
def test_published_t(scores: Floats, statistic: float, p: float) -> None:
    outcome = t(scores, PAIR, SAMPLING)
    assert outcome.statistic[0] == pytest.approx(statistic, rel=1e-3 if scores is SAKAI else 2e-6)
    assert outcome.p[0] == pytest.approx(p, rel=1e-2 if scores is SAKAI else 3e-5)


def test_published_moments() -> None:
    mean, variance = moments(CROFT, PAIR)
    assert (mean[0], np.sqrt(variance[0])) == pytest.approx((21.4, 29.083), abs=5e-4)
    mean, variance = moments(SAKAI, PAIR)
    assert (mean[0], variance[0]) == pytest.approx((0.0750, 0.0251), abs=5e-5)


def test_published_signed_ranks() -> None:
    assert wilcoxon(CROFT, PAIR, SAMPLING).statistic[0] == 35
    assert signed_rank_p(whole_differences(SLEEP, PAIR)[0], "asymptotic")[0] == pytest.approx(0.0090907, abs=5e-8)


def test_published_signs() -> None:
    assert sign(TAGUE, PAIR, SAMPLING).p[0] == pytest.approx(0.34375, rel=1e-12)
    outcome = sign(CROFT, PAIR, SAMPLING)
    # The book keeps the tied topic and gives .171875, the chance of 7 wins or more in 10; here it is left out.
    assert stats.binom.sf(outcome.statistic[0] - 1, 10, 0.5) == pytest.approx(0.171875, rel=1e-12)
    assert outcome.p[0] == pytest.approx(0.1796875, rel=1e-12)
    assert outcome.notes == ("topics tied, left out: 1 of 10 topics",)


def test_trec8_runs_125_and_126(trec8: Floats) -> None:
    """The figures that Urbano, Lima and Hanjalic give with their data."""
    pair = np.array([[125, 124]])
    outcome = t(trec8, pair, SAMPLING)
    assert outcome.statistic[0] == pytest.approx(3.4072972, abs=5e-8)
    assert outcome.p[0] == pytest.approx(0.0013193972, abs=5e-11)
    raw = trec8[125:126] - trec8[124:125]
    assert signed_rank_p(raw, "asymptotic")[0] == pytest.approx(0.003445188, abs=5e-10)
    assert signed_rank_p(raw, "exact")[0] == pytest.approx(0.0028963, abs=5e-8)
    # Those have 334 as the sum of the ranks of losses; it is 333.5, as rounding shows that two differences are tied.
    outcome = wilcoxon(trec8, pair, SAMPLING)
    assert outcome.statistic[0] == 50 * 51 / 2 - 2 * 333.5
    assert outcome.p[0] == pytest.approx(slow_ranks_p(np.round(raw[0], 4)), rel=1e-12)
    assert outcome.notes[0].startswith("differences tied in size: ")
    outcome = sign_test(trec8, pair, tie=0.01)
    assert (outcome.statistic[0], outcome.notes) == (31, ("topics tied, left out: 6 of 50 topics",))
    assert outcome.p[0] == pytest.approx(0.009559879, abs=5e-10)


def test_trec8_draws_give_the_published_bootstrap_of_plain_means(trec8: Floats) -> None:
    """Which is too liberal to be offered as a test; but the draws are the same. A million gave .000586."""
    difference = trec8[125] - trec8[124]
    drawn = np.concatenate(list(draws(Sampling(seed=1, resamples=100_000), 50)))
    means = drawn @ (difference - difference.mean()) / 50
    p = np.mean(np.abs(means) >= abs(difference.mean()))
    assert abs(p - 0.000586) <= 4 * np.sqrt(0.000586 / 100_000)


def test_trec8_all_pairs_of_t_are_those_of_scipy(trec8: Floats) -> None:
    pairs = all_pairs(len(trec8))
    pairs = pairs[(trec8[pairs[:, 0]] != trec8[pairs[:, 1]]).any(axis=1)]  # SciPy gives NaN for identical systems
    first, second = trec8[pairs.T]
    expected = stats.ttest_rel(first, second, axis=1)
    outcome = t(trec8, pairs, SAMPLING)
    np.testing.assert_allclose(outcome.statistic, expected.statistic, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(outcome.p, expected.pvalue, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("systems", [2, 12])
def test_t_is_that_of_scipy_even_for_systems_that_hardly_differ(systems: int) -> None:
    scores = equal_systems("AP", 1, systems, 50)
    scores[1] = scores[0]
    scores[1, 7] += 1e-4
    pairs = all_pairs(systems)
    first, second = scores[pairs.T]
    expected = stats.ttest_rel(first, second, axis=1)
    outcome = t(scores, pairs, SAMPLING)
    np.testing.assert_allclose(outcome.statistic, expected.statistic, rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(outcome.p, expected.pvalue, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("topics", [5, 13, 14, 50, 51])
@pytest.mark.parametrize("margin", ["AP", "P@10"])
def test_signed_ranks_are_those_of_scipy_pair_by_pair(margin: str, topics: int) -> None:
    """SciPy's exact p where nothing is tied, all signs listed where it is; SciPy's approximation beyond 50."""
    sets = 25
    pairs = pairs_within(sets)
    scores = equal_systems(margin, sets, 2, topics)
    outcome = wilcoxon(scores, pairs, SAMPLING)
    for place, difference in enumerate(whole_differences(scores, pairs)[0]):
        kept = difference[difference != 0]
        if not len(kept):
            assert (outcome.statistic[place], outcome.p[place]) == (0, 1)
            continue
        untied = len(np.unique(np.abs(kept))) == len(kept)
        expected = stats.wilcoxon(kept, correction=True, method="exact" if len(kept) <= 50 else "asymptotic")
        p = expected.pvalue if untied or len(kept) > 50 else slow_ranks_p(kept)
        assert outcome.p[place] == pytest.approx(p, rel=1e-12)
        smaller = (len(kept) * (len(kept) + 1) / 2 - abs(outcome.statistic[place])) / 2
        assert smaller == expected.statistic


def slow_ranks_p(difference: Floats) -> float:
    """The exact p of signed ranks, tied ones shared, from the chance of every sum: one sign after the other."""
    kept = difference[difference != 0]
    ranks = (2 * stats.rankdata(np.abs(kept))).astype(int)
    chances = {0: 1.0}
    for rank in ranks.tolist():
        moved: dict[int, float] = {}
        for total, chance in chances.items():
            for turned in (-rank, rank):
                moved[total + turned] = moved.get(total + turned, 0.0) + chance / 2
        chances = moved
    observed = abs(int((ranks * np.sign(kept)).sum()))
    return sum(chance for total, chance in chances.items() if abs(total) >= observed)


def test_a_pair_decides_alone_how_its_ranks_are_judged() -> None:
    """A tie in one pair must not cost another its exact p-value, as it does in SciPy."""
    scores = np.concatenate([equal_systems("AP", 3, 2, 20), equal_systems("P@10", 3, 2, 20)])
    pairs = pairs_within(6)
    alone = [wilcoxon(scores, pair[None], SAMPLING).p[0] for pair in pairs]
    np.testing.assert_array_equal(wilcoxon(scores, pairs, SAMPLING).p, alone)


def test_rounding_does_not_hide_ties() -> None:
    scores = np.array([[0.3, 0.2, 0.9, 0.5], [0.2, 0.1, 0.8, 0.7]])
    assert len(np.unique(np.abs(scores[0] - scores[1]))) == 3  # one tie of the three is seen without rounding
    outcome = wilcoxon(scores, PAIR, SAMPLING)
    assert outcome.notes == ("differences tied in size: 3 of 4 topics",)
    assert outcome.statistic[0] == 2 + 2 + 2 - 4
    scores = np.array([[0.1 + 0.2, 0.5], [0.3, 0.4]])
    assert [count[0] for count in win_tie_loss(scores, PAIR)] == [1, 1, 0]


def test_signs_are_those_of_statsmodels() -> None:
    pairs = pairs_within(50)
    scores = equal_systems("P@10", 50, 2, 30)
    p = sign(scores, pairs, SAMPLING).p
    expected = [statsmodels_sign_test(row)[1] for row in whole_differences(scores, pairs)[0]]
    np.testing.assert_allclose(p, expected, rtol=1e-12)


def test_bootstrap_is_the_plain_formula() -> None:
    """Draw by draw, as Sakai 2006 writes it."""
    scores, sampling = equal_systems("nDCG", 8, 2, 12), Sampling(seed=5, resamples=300)
    outcome = bootstrap(scores, pairs_within(8), sampling)
    drawn = np.concatenate(list(draws(sampling, 12))).astype(int)
    for place in range(8):
        difference = scores[2 * place] - scores[2 * place + 1]
        observed = difference.mean() / np.sqrt(difference.var(ddof=1) / 12)
        resampled = np.array([np.repeat(difference, counts) for counts in drawn])
        centred = resampled.mean(axis=1) - difference.mean()
        count = np.sum(np.abs(centred / np.sqrt(resampled.var(axis=1, ddof=1) / 12)) >= abs(observed))
        assert outcome.p[place] == (1 + count) / 301
        assert outcome.error[place] == pytest.approx(np.sqrt(outcome.p[place] * (1 - outcome.p[place]) / 300))


def test_draws_are_uniform_and_come_in_pieces() -> None:
    pieces = list(draws(Sampling(seed=0, resamples=5000), 40))
    counts = np.concatenate(pieces)
    assert len(pieces) > 1
    assert counts.shape == (5000, 40)
    assert (counts.sum(axis=1) == 40).all()
    assert stats.chisquare(counts.sum(axis=0)).pvalue > 1e-3
    assert counts.var() == pytest.approx(1 - 1 / 40, abs=0.01)


def test_a_difference_that_never_varies() -> None:
    """Rounding makes 0.3 - 0.2 and 0.9 - 0.8 differ; the result must be that of an exactly constant difference."""
    scores = np.array([[0.3, 0.9, 0.5, 0.7], [0.2, 0.8, 0.4, 0.6], [0.2, 0.8, 0.4, 0.6]])
    pairs = np.array([[0, 1], [1, 0], [1, 2]])
    outcome = t(scores, pairs, SAMPLING)
    assert outcome.statistic.tolist() == [np.inf, -np.inf, 0]
    assert np.isnan(outcome.p).all()
    assert outcome.notes == (
        "in 2 of 3 pairs the difference is the same on every topic: without variation p is undefined",
    )
    assert t(scores, PAIR, SAMPLING).notes[0].startswith("the difference is the same")
    drawn = bootstrap(scores, pairs, SAMPLING)
    assert np.isnan(drawn.p).all()
    assert not drawn.error.any()
    assert wilcoxon(scores, pairs, SAMPLING).p.tolist() == [0.125, 0.125, 1]
    assert sign(scores, pairs, SAMPLING).p.tolist() == [0.125, 0.125, 1]


@pytest.mark.parametrize("test", [t, wilcoxon, sign, bootstrap])
def test_unusable_scores_are_refused(test: object) -> None:
    assert callable(test)
    with pytest.raises(UsageError, match="1 topic: a test needs at least 2"):
        test(np.array([[0.1], [0.2]]), PAIR, SAMPLING)
    with pytest.raises(UsageError, match="a score is missing: leave out topics"):
        test(np.array([[0.1, 0.2], [0.2, np.nan]]), PAIR, SAMPLING)


def test_bootstrap_counts_a_draw_that_is_as_extreme_whatever_the_rounding() -> None:
    """Differences of tenths, counted with whole numbers: many draws have the very |t| that was observed."""
    sampling, ties = Sampling(seed=5, resamples=2000), 0
    for tenths in ([3, 1, 1, -1], [1, 2, 3, 0], [4, 1, 0, 1, -1], [1, 1, 2, -3, 4], [7, 1, 1, 1, 1, 1]):
        n, total = len(tenths), sum(tenths)
        centred = [n * each - total for each in tenths]  # n times the difference moved to mean zero, a whole number
        square = sum(each * each for each in centred)
        extreme = 0
        for drawn in np.concatenate(list(draws(sampling, n))).astype(int).tolist():
            s = sum(count * each for count, each in zip(drawn, centred, strict=True))
            q = sum(count * each * each for count, each in zip(drawn, centred, strict=True))
            # |t*| >= |t| with both sides squared, and multiplied by what they are divided by.
            left, right = s * s * (square + n * total * total), n * n * total * total * q
            extreme += left >= right
            ties += left == right
        scores = np.array([[0.3 + each / 10 for each in tenths], [0.3] * n])
        assert bootstrap(scores, PAIR, sampling).p[0] == (1 + extreme) / 2001, tenths
    assert ties > 100


def test_a_bootstrap_of_no_draws_is_refused() -> None:
    with pytest.raises(UsageError, match="at least one resample, not 0"):
        bootstrap(SAKAI, PAIR, Sampling(resamples=0))


@pytest.mark.parametrize("test", [t, wilcoxon, sign, bootstrap])
def test_no_pairs_give_no_results(test: object) -> None:
    assert callable(test)
    outcome = test(equal_systems("AP", 1, 3, 20), np.empty((0, 2), dtype=np.int64), SAMPLING)
    assert [len(column) for column in outcome[:3]] == [0, 0, 0]
