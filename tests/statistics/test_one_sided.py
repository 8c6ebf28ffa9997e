"""One-sided evidence: against every flip listed by hand, against SciPy, and what holds whatever the scores are."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from cranfield.errors import UsageError
from cranfield.statistics.one_sided import OneSided, least_lead, one_sided, one_sided_tests, topics_needed
from cranfield.statistics.randomised import exact_p, monte_carlo_p
from cranfield.statistics.significance import Floats, Sampling
from simulate import band

PAIR = np.array([[0, 1]])
RANDOM = np.random.default_rng(7)


def listed_p(difference: Floats) -> float:
    """The share of all flips whose sum is as large, by listing them."""
    signs = np.array(list(product([1, -1], repeat=len(difference))))
    return float(np.mean(signs @ difference >= difference.sum() - 1e-9))


def scores_of(kind: str, topics: int) -> tuple[Floats, Floats]:
    if kind == "coarse":
        first, second = RANDOM.integers(0, 4, (2, topics)) / 3
    elif kind == "constant":
        second = RANDOM.random(topics)
        first = second + 0.1
    else:
        first, second = RANDOM.normal(size=(2, topics))
    return first, second


@pytest.mark.parametrize("kind", ["coarse", "any", "constant"])
@pytest.mark.parametrize("topics", [1, 2, 5, 9])
def test_exact_p_is_the_share_of_all_flips(kind: str, topics: int) -> None:
    for _ in range(20):
        first, second = scores_of(kind, topics)
        for one, other in ((first, second), (second, first)):
            found = one_sided(one, other)
            assert found.p == pytest.approx(listed_p(one - other), abs=1e-12)
            assert (found.test, found.method, found.error) == ("randomisation", "exact", 0)


def test_half_of_the_two_sided_p_where_the_first_is_ahead() -> None:
    for topics in (12, 30):
        first, second = scores_of("any", topics)
        ahead, behind = (first, second) if first.mean() > second.mean() else (second, first)
        both_sides = exact_p(np.stack([first, second]), PAIR, Sampling())[0]
        assert one_sided(ahead, behind).p == pytest.approx(both_sides / 2)
        assert one_sided(behind, ahead).p == pytest.approx(1 - both_sides / 2, abs=2 ** -(topics - 1))


@pytest.mark.parametrize("kind", ["coarse", "any"])  # whole numbers and others are added up by different loops
def test_drawn_p_is_near_the_exact_one(kind: str) -> None:
    first, second = scores_of(kind, 18)
    for one, other in ((first, second), (second, first)):
        exact = one_sided(one, other).p
        drawn = monte_carlo_p(np.stack([one, other]), PAIR, Sampling(seed=3, resamples=40_000), one_sided=True)[0]
        assert drawn == pytest.approx(exact, abs=4 * np.sqrt(exact * (1 - exact) / 40_000) + 1e-4)


def test_p_is_drawn_where_exact_is_too_much_work() -> None:
    first, second = scores_of("any", 80)
    found = one_sided(first, second, sampling=Sampling(seed=1, resamples=999))
    assert found.method == "drawn"
    assert found.error == pytest.approx(np.sqrt(found.p * (1 - found.p) / 1000))
    assert found == one_sided(first, second, sampling=Sampling(seed=1, resamples=999, threads=2))
    assert found != one_sided(first, second, sampling=Sampling(seed=2, resamples=999))
    assert one_sided(second + 9, second + 0 * first, sampling=Sampling(resamples=999)).p < 0.002
    everywhere = one_sided(second - 9 - np.abs(first), second, sampling=Sampling(resamples=999))
    assert (everywhere.p, everywhere.method) == (1.0, "drawn")  # its standard error is 0 all the same


topic_scores = st.lists(st.integers(0, 10), min_size=1, max_size=9)


@given(topic_scores, st.data())
def test_exact_p_never_rises_when_the_first_gains_on_a_topic(whole: list[int], data: st.DataObject) -> None:
    first = np.array(whole) / 10
    second = np.array(data.draw(st.lists(st.integers(0, 10), min_size=len(whole), max_size=len(whole)))) / 10
    gained = first.copy()
    gained[data.draw(st.integers(0, len(whole) - 1))] += data.draw(st.integers(1, 20)) / 10
    assert one_sided(gained, second).p <= one_sided(first, second).p + 1e-12


def test_a_larger_win_can_raise_p_of_t_as_the_documentation_says() -> None:
    gains = np.array([0.1, 0.2, 0.1, 0.2, 0.1])
    larger = np.array([0.1, 0.2, 0.1, 0.2, 2.0])
    none = np.zeros(5)
    assert round(one_sided(gains, none, "t").p, 3) == 0.002
    assert round(one_sided(larger, none, "t").p, 2) == 0.12
    assert one_sided(larger, none).p == one_sided(gains, none).p == 2**-5


@pytest.mark.parametrize("topics", [6, 40])
def test_other_tests_are_those_of_scipy(topics: int) -> None:
    for _ in range(5):
        first, second = scores_of("any", topics)
        wins = int(np.sum(first > second))
        for one, other, won in ((first, second, wins), (second, first, topics - wins)):
            found = {test: one_sided(one, other, test) for test in ("t", "wilcoxon", "sign")}
            assert {each.method for each in found.values()} == {"formula"}
            assert found["t"].p == pytest.approx(stats.ttest_rel(one, other, alternative="greater").pvalue)
            # beyond the middle, one less half is without the chance of the very same statistic
            if found["wilcoxon"].p < 0.5:
                assert found["wilcoxon"].p == pytest.approx(stats.wilcoxon(one - other, alternative="greater").pvalue)
            if won > topics / 2:
                assert found["sign"].p == pytest.approx(stats.binomtest(won, topics, alternative="greater").pvalue)
            else:
                assert found["sign"].p >= 0.5


def test_randomisation_answers_where_t_has_none() -> None:
    second = np.array([0.2, 0.5, 0.4, 0.1, 0.3, 0.3])
    assert one_sided(second + 0.1, second, "t") == OneSided(2**-6, "randomisation", "exact")
    assert one_sided(second, second, "t") == OneSided(1.0, "randomisation", "exact")
    for test in one_sided_tests():
        assert one_sided(np.array([1.0]), np.array([0.0]), test) == OneSided(0.5, "randomisation", "exact")


@pytest.mark.parametrize("test", ["bootstrap", "tukey", "welch"])
def test_tests_without_a_side_are_refused(test: str) -> None:
    with pytest.raises(UsageError, match=f"{test} is not one-sided; take one of randomisation, t, wilcoxon, sign"):
        one_sided(np.ones(3), np.zeros(3), test)


@pytest.mark.parametrize(("alpha", "topics"), [(0.05, 5), (0.01, 7), (0.5, 2), (0.03125, 6), (0.9, 1)])
def test_so_many_topics_can_reach_alpha(alpha: float, topics: int) -> None:
    assert topics_needed(alpha) == topics
    assert one_sided(np.ones(topics), np.zeros(topics)).p < alpha
    assert topics == 1 or one_sided(np.ones(topics - 1), np.zeros(topics - 1)).p >= alpha


@pytest.mark.parametrize("test", ["randomisation", "t"])
@pytest.mark.parametrize("alpha", [0.05, 0.2])
def test_the_interval_ends_where_the_test_begins_to_reject(test: str, alpha: float) -> None:
    for topics in (5, 8, 15):
        first, second = scores_of("any", topics)
        least = least_lead(first, second, alpha, test)
        assert one_sided(first - least + 1e-6, second, test).p < alpha
        assert one_sided(first - least - 1e-6, second, test).p >= alpha


def test_the_interval_has_no_end_where_topics_are_too_few() -> None:
    first, second = scores_of("any", 4)
    assert least_lead(first, second, 0.05) == -np.inf
    assert np.isnan(least_lead(first, second, 0.05, "sign"))
    assert np.isnan(least_lead(first, second, 0.05, "wilcoxon"))


def test_an_interval_from_drawn_sets_is_near_that_of_all() -> None:
    first, second = scores_of("any", 17)
    sums, sizes = np.zeros(1), np.zeros(1)
    for value in first - second:
        sums, sizes = np.r_[sums, sums + value], np.r_[sizes, sizes + 1]
    all_sets = np.sort(sums[1:] / sizes[1:])[int(np.ceil(0.05 * 2**17)) - 2]
    error = (first - second).std() / np.sqrt(17)
    assert least_lead(first, second, 0.05) == pytest.approx(all_sets, abs=0.05 * error)
    few = [least_lead(first, second, 0.05, sampling=Sampling(seed, 99)) for seed in (1, 1, 2)]
    assert few[0] == few[1] != few[2]


def misses(differences: Floats, mean: float) -> float:
    """How often the least lead is above the true one."""
    sampling = Sampling(resamples=499)
    return float(np.mean([least_lead(row, 0 * row, 0.05, sampling=sampling) > mean + 1e-12 for row in differences]))


@pytest.mark.parametrize("topics", [6, 25])
def test_the_interval_misses_no_more_than_alpha_where_differences_lie_evenly(topics: int) -> None:
    random, sets = np.random.default_rng(2), 1500
    for differences in (
        random.standard_t(3, (sets, topics)) + 0.3,
        np.where(random.random((sets, topics)) < 0.5, random.uniform(-1, 1, (sets, topics)), 0.0) + 0.3,
    ):
        assert misses(differences, 0.3) <= 0.05 + band(0.05, sets)
