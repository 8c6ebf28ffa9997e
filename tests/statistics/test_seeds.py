"""Methods under several seeds: the two-level error holds its level where pooling does not; known cases; properties."""

from __future__ import annotations

from math import isnan, sqrt

import numpy as np
import pytest
from scipy import stats

from cranfield import UsageError
from cranfield.statistics import compare_seeds
from cranfield.statistics.seeds import seed_spread


def drawn(random: np.random.Generator, seeds: int, topics: int, seed_sd: float, hard: np.ndarray) -> np.ndarray:
    """scores[seed, topic] of a method: its own strengths, and what each seed adds to all topics and to each."""
    own = random.normal(0, 0.1, topics)
    return hard + own + random.normal(0, seed_sd, (seeds, 1)) + random.normal(0, 0.1, (seeds, topics))


@pytest.mark.parametrize(("topics", "seed_sd", "trials"), [(50, 0.02, 1000), (1000, 0.01, 400)])
def test_two_levels_hold_the_level_and_pooling_does_not(topics: int, seed_sd: float, trials: int) -> None:
    """Both methods are draws of the same one, five seeds each: every difference found is an error."""
    random = np.random.default_rng(17)
    two_level, pooled = [], []
    for _ in range(trials):
        hard = random.normal(0.4, 0.2, topics)
        a, b = (drawn(random, 5, topics, seed_sd, hard) for _ in range(2))
        two_level.append(compare_seeds(a, b).p < 0.05)
        differences = (a - b).ravel()
        pooled.append(abs(differences.mean()) > 1.96 * differences.std() / sqrt(differences.size))
    assert abs(np.mean(two_level) - 0.05) <= 4 * sqrt(0.05 * 0.95 / trials)
    assert np.mean(pooled) > 0.2


def test_the_interval_covers_a_true_difference() -> None:
    random = np.random.default_rng(18)
    trials, topics = 600, 60
    covered = []
    for _ in range(trials):
        hard = random.normal(0.4, 0.2, topics)
        found = compare_seeds(drawn(random, 6, topics, 0.03, hard) + 0.1, drawn(random, 4, topics, 0.03, hard))
        covered.append(found.low <= 0.1 <= found.high)
    assert abs(np.mean(covered) - 0.95) <= 4 * sqrt(0.95 * 0.05 / trials)


def test_one_seed_each_is_the_paired_t_test() -> None:
    random = np.random.default_rng(19)
    a, b = random.beta(1, 2, (2, 1, 40))
    found, expected = compare_seeds(a, b), stats.ttest_rel(a[0], b[0])
    interval = expected.confidence_interval()
    assert (found.statistic, found.p, found.freedom) == pytest.approx((expected.statistic, expected.pvalue, 39))
    assert (found.low, found.high) == pytest.approx((interval.low, interval.high))
    assert len(found.notes) == 2
    assert all("says nothing of the method under other seeds" in note for note in found.notes)


def test_the_error_by_hand() -> None:
    """Every number written out: a two-way analysis of variance of each method, and the sum of the parts."""
    random = np.random.default_rng(20)
    topics = 7
    methods = [random.normal(0, 1, (seeds, 1)) + random.normal(0, 0.5, (seeds, topics)) for seeds in (4, 3)]
    parts = []
    for scores in methods:
        seeds = len(scores)
        grand = sum(sum(row) for row in scores) / (seeds * topics)
        of_seed = [sum(row) / topics for row in scores]
        of_topic = [sum(scores[r][t] for r in range(seeds)) / seeds for t in range(topics)]
        between = topics * sum((mean - grand) ** 2 for mean in of_seed) / (seeds - 1)
        rest = sum(
            (scores[r][t] - of_seed[r] - of_topic[t] + grand) ** 2 for r in range(seeds) for t in range(topics)
        ) / ((seeds - 1) * (topics - 1))
        assert between > rest
        parts += [(between / topics / seeds, seeds - 1), (-rest / topics / seeds, (seeds - 1) * (topics - 1))]
    differences = [methods[0][:, t].mean() - methods[1][:, t].mean() for t in range(topics)]
    mean = sum(differences) / topics
    parts.append((sum((d - mean) ** 2 for d in differences) / (topics - 1) / topics, topics - 1))
    variance = sum(part for part, _ in parts)
    found = compare_seeds(*methods)
    assert found.difference == pytest.approx(mean)
    assert found.error == pytest.approx(sqrt(variance))
    assert found.freedom == pytest.approx(variance**2 / sum(part**2 / freedom for part, freedom in parts))
    assert found.p == pytest.approx(2 * stats.t.sf(abs(mean) / sqrt(variance), found.freedom))


def test_topics_order_methods_order_and_shared_difficulty_do_not_matter() -> None:
    random = np.random.default_rng(21)
    a, b = drawn(random, 4, 30, 0.05, np.zeros(30)), drawn(random, 5, 30, 0.05, np.zeros(30))
    expected = compare_seeds(a, b)
    order, hard = random.permutation(30), random.normal(size=30)
    for same in (
        compare_seeds(a[:, order], b[:, order]),
        compare_seeds(a + hard, b + hard),
        compare_seeds(a[::-1], b[random.permutation(5)]),
        compare_seeds(10 * a, 10 * b),
    ):
        assert (same.p, same.statistic, same.freedom) == pytest.approx(
            (expected.p, expected.statistic, expected.freedom), rel=1e-9
        )
    turned = compare_seeds(b, a)
    assert (turned.p, turned.low, turned.high) == pytest.approx((expected.p, -expected.high, -expected.low))


def test_spread_is_that_of_the_runs_means() -> None:
    scores = np.array([[0.1, 0.3], [0.2, 0.6], [0.3, 0.3]])
    spread = seed_spread(scores)
    assert (spread.seeds, spread.mean, spread.sd) == pytest.approx((3, 0.3, np.std([0.2, 0.4, 0.3], ddof=1)))
    assert isnan(seed_spread(scores[:1]).sd)


@pytest.mark.parametrize("gap", [0.0, 0.1])
def test_differences_that_never_vary_are_not_tested(gap: float) -> None:
    a = np.array([[0.1, 0.7, 0.3]])
    found = compare_seeds(a + gap, a)
    assert isnan(found.p)
    assert isnan(found.low)
    assert found.notes[-1] == "the differences do not vary at all, neither over topics nor over seeds: p is undefined"


@pytest.mark.parametrize(
    ("a", "b", "message"),
    [
        (np.zeros((2, 3)), np.zeros((2, 4)), "A has 3 topics and B 4"),
        (np.zeros(3), np.zeros((2, 3)), "A must be scores"),
        (np.zeros((2, 3)), np.zeros((0, 3)), "B must be scores"),
        (np.zeros((2, 1)), np.zeros((2, 1)), "2 topics or more"),
        (np.zeros((2, 3)), np.full((2, 3), np.nan), "the scores of B must be complete"),
    ],
)
def test_scores_that_do_not_fit_are_refused(a: np.ndarray, b: np.ndarray, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        compare_seeds(a, b)
