"""How often each test cries wolf, and how often each interval misses: by simulation, inside stated bands.

A simulated rate may be four standard errors from the true one. All data sets of a simulation are tested in one call.
Tests are taken from the registry: a new one is held to the same.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from cranfield.statistics.corrections import all_corrections, find_correction
from cranfield.statistics.deciding import decide
from cranfield.statistics.differences import moments
from cranfield.statistics.effects import Resampled, bootstrap_interval, effects, equivalence
from cranfield.statistics.paired import draws, t
from cranfield.statistics.significance import Outcome, Sampling, SignificanceTest, all_pairs, all_tests
from simulate import Floats, band, equal_systems, pairs_within, skewed_systems

PAIRED = [test for test in all_tests() if test.kind == "paired"]
ALPHA = 0.05
SETS = 4000
SAMPLING = Sampling(seed=11, resamples=999)

# Tests whose false alarms are bounded above only, and why.
CONSERVATIVE = {"sign": "a number of wins jumps from one p-value to the next: with 50 topics from .033 to .065"}
# What rejects the skewed null, on which the means are equal, with 200 topics: these tests are not about means.
NOT_ABOUT_MEANS = {"wilcoxon": 0.657, "sign": 0.960}

each_paired_test = pytest.mark.parametrize("test", PAIRED, ids=lambda test: test.name)


@cache
def null_scores(margin: str, topics: int) -> Floats:
    return equal_systems(margin, SETS, 2, topics)


def false_alarms(test: SignificanceTest, scores: Floats) -> float:
    sets = len(scores) // 2
    return float(np.mean(test.function(scores, pairs_within(sets), SAMPLING).p <= ALPHA))


@each_paired_test
@pytest.mark.parametrize("margin", ["AP", "nDCG", "P@10", "RR@10"])
def test_false_alarms_stay_in_their_band(test: SignificanceTest, margin: str) -> None:
    rate = false_alarms(test, null_scores(margin, 50))
    assert rate <= ALPHA + band(ALPHA, SETS)
    if test.name not in CONSERVATIVE:
        assert rate >= ALPHA - band(ALPHA, SETS)


def rejected_by_rule(scores: Floats) -> float:
    pairs = pairs_within(len(scores) // 2)
    outcomes = {"t": t(scores, pairs, SAMPLING)}
    return float(np.mean(decide(scores, pairs, outcomes, SAMPLING).p <= ALPHA))


@pytest.mark.parametrize("topics", [2, 5, 10, 15, 24, 25, 50])
@pytest.mark.parametrize("margin", ["AP", "P@10"])
def test_false_alarms_of_the_rule_that_chooses_the_test(margin: str, topics: int) -> None:
    """Never too many; and not too few where randomisation has enough p-values to choose from."""
    rate = rejected_by_rule(null_scores(margin, topics))
    assert rate <= ALPHA + band(ALPHA, SETS)
    if topics >= 10 and margin == "AP":
        assert rate >= ALPHA - band(ALPHA, SETS)


@pytest.mark.parametrize(("topics", "share"), [(25, 0.3), (50, 0.08), (50, 0.5), (100, 0.25)])
def test_false_alarms_of_the_rule_where_some_topics_change(topics: int, share: float) -> None:
    """Topics change at random, by a skewed amount in either direction: on both sides of the limit of 25."""
    random = np.random.default_rng(topics)
    change = random.exponential(0.2, (SETS, topics)) * random.choice([-1, 1], (SETS, topics))
    scores = np.zeros((2 * SETS, topics))
    scores[::2] = np.where(random.random((SETS, topics)) < share, change, 0.0)
    assert rejected_by_rule(scores) <= ALPHA + band(ALPHA, SETS)


@each_paired_test
@pytest.mark.parametrize("topics", [2, 5])
def test_false_alarms_with_few_topics(test: SignificanceTest, topics: int) -> None:
    """Scores of 0, a half and 1, where few p-values are possible and differences are often the same on every topic."""
    scores = np.round(2 * null_scores("P@10", topics)) / 2
    assert false_alarms(test, scores) <= ALPHA + band(ALPHA, SETS)


def test_the_band_catches_a_test_that_is_too_liberal() -> None:
    """The bootstrap of plain means, .0667 with 25 topics in simulations of 20,000."""
    scores = null_scores("AP", 25)
    mean, _ = moments(scores, pairs_within(SETS))
    centred = scores[0::2] - scores[1::2] - mean[:, None]
    drawn = np.concatenate(list(draws(SAMPLING, 25))) / 25
    p = np.mean(np.abs(centred @ drawn.T) >= np.abs(mean)[:, None], axis=1)
    assert np.mean(p <= ALPHA) > ALPHA + band(ALPHA, SETS)


@each_paired_test
def test_means_that_are_equal_under_a_skewed_distribution(test: SignificanceTest) -> None:
    """Differences of Exp(1) - 1: their mean is zero, most are below. What a test says tells what it is about."""
    sets = 2000
    rate = false_alarms(test, skewed_systems(sets, 200))
    if test.name in NOT_ABOUT_MEANS:
        expected = NOT_ABOUT_MEANS[test.name]
        assert abs(rate - expected) <= band(expected, sets)
    else:
        assert abs(rate - ALPHA) <= band(ALPHA, sets)


def test_skewness_wears_off_for_the_t_test_only_with_topics() -> None:
    (t_test,) = (test for test in PAIRED if test.name == "t")
    assert abs(false_alarms(t_test, skewed_systems(SETS, 50)) - 0.068) <= band(0.068, SETS)


@pytest.mark.parametrize("margin", ["AP", "nDCG", "P@10", "RR@10"])
@pytest.mark.parametrize("topics", [25, 50])
def test_t_intervals_cover_the_true_difference(margin: str, topics: int) -> None:
    found = effects(null_scores(margin, topics), pairs_within(SETS))
    assert abs(covered(found.low, found.high) - 0.95) <= band(0.95, SETS)


@pytest.mark.parametrize(("method", "expected"), [("percentile", 0.929), ("basic", 0.936), ("BCa", 0.922)])
def test_bootstrap_intervals_cover_too_little_with_25_topics(method: Resampled, expected: float) -> None:
    sets = 1000
    scores = null_scores("AP", 25)[: 2 * sets]
    low, high = bootstrap_interval(scores, pairs_within(sets), Sampling(resamples=499), method=method)
    assert abs(covered(low, high) - expected) <= band(expected, sets)


def covered(low: Floats, high: Floats) -> float:
    return float(np.mean((low <= 0) & (high >= 0)))


def test_systems_at_the_margin_pass_for_equal_as_rarely_as_promised() -> None:
    scores = null_scores("nDCG", 50).copy()
    scores[0::2] += 0.2
    assert abs(np.mean(equivalence(scores, pairs_within(SETS), 0.2).p <= ALPHA) - ALPHA) <= band(ALPHA, SETS)


FAMILIES, SYSTEMS, TOPICS = 600, 20, 50


@cache
def family_p(better: int) -> Floats:
    """p[family, pair] of the t test, with so many systems truly better than the others, each by another amount."""
    scores = equal_systems("AP", FAMILIES, SYSTEMS, TOPICS).reshape(FAMILIES, SYSTEMS, TOPICS)
    scores[:, SYSTEMS - better :] += np.linspace(0.1, 0.5, better)[:, None]
    pairs = pairs_within(FAMILIES, SYSTEMS)
    return t(scores.reshape(-1, TOPICS), pairs, SAMPLING).p.reshape(FAMILIES, -1)


def adjusted(name: str, better: int) -> Floats:
    correct = find_correction(name)
    return np.array([correct(family) for family in family_p(better)])


@pytest.mark.parametrize(
    ("name", "expected"),
    [("none", 0.922), ("bonferroni", 0.033), ("holm", 0.033), ("hochberg", 0.033)],
)
def test_family_wise_error_when_no_system_differs(name: str, expected: float) -> None:
    rate = np.mean((adjusted(name, 0) <= ALPHA).any(axis=1))
    assert abs(rate - expected) <= band(expected, FAMILIES)


@pytest.mark.parametrize("name", [correction.name for correction in all_corrections() if correction.name != "none"])
def test_every_correction_holds_when_no_system_differs(name: str) -> None:
    """Then every finding is false, and the share of false ones is 1 or 0: all corrections promise the same."""
    assert np.mean((adjusted(name, 0) <= ALPHA).any(axis=1)) <= ALPHA + band(ALPHA, FAMILIES)


@pytest.mark.parametrize("name", [correction.name for correction in all_corrections()])
def test_every_correction_holds_when_half_the_systems_differ(name: str) -> None:
    """Ten systems are equal. Some corrections rule out even one false finding, the others bound their share."""
    pairs = all_pairs(SYSTEMS)
    equal = (pairs < SYSTEMS // 2).all(axis=1)
    found = adjusted(name, SYSTEMS // 2) <= ALPHA
    family_wise = np.mean(found[:, equal].any(axis=1))
    share = np.mean(found[:, equal].sum(axis=1) / np.maximum(found.sum(axis=1), 1))
    assert np.mean(found[:, ~equal]) > 0.5
    if name in ("bonferroni", "holm", "hochberg"):
        assert family_wise <= ALPHA + band(ALPHA, FAMILIES)
    elif name.startswith("benjamini"):
        assert share <= ALPHA
    if name in ("none", "benjamini-hochberg"):
        assert family_wise > 0.3


def test_simultaneous_intervals_hold_together() -> None:
    pairs = pairs_within(FAMILIES, SYSTEMS)
    found = effects(equal_systems("AP", FAMILIES, SYSTEMS, TOPICS), pairs, comparisons=len(pairs) // FAMILIES)
    together = ((found.low <= 0) & (found.high >= 0)).reshape(FAMILIES, -1).all(axis=1)
    assert np.mean(together) >= 0.95 - band(0.95, FAMILIES)
    assert abs(np.mean(together) - 0.967) <= band(0.967, FAMILIES)


def run(test: SignificanceTest, scores: Floats, sampling: Sampling = SAMPLING) -> Outcome:
    return test.function(scores, all_pairs(len(scores)), sampling)


def assert_same_up_to_draws(outcome: Outcome, other: Outcome) -> None:
    """The same p-values, but for what other draws may change."""
    by_chance = 5 * np.sqrt(outcome.error**2 + other.error**2)
    assert (np.abs(outcome.p - other.p) <= by_chance + 1e-9).all()


@pytest.fixture(params=["AP", "P@10"])
def scores(request: pytest.FixtureRequest) -> Floats:
    scores = equal_systems(request.param, 1, 5, 30, seed=6)
    scores[0] = np.minimum(scores[0] + 0.1, 1)
    return scores


@each_paired_test
def test_what_must_not_matter(test: SignificanceTest, scores: Floats) -> None:
    outcome = run(test, scores)
    random = np.random.default_rng(1)
    assert_same_up_to_draws(outcome, run(test, scores[:, random.permutation(30)]))
    assert_same_up_to_draws(outcome, run(test, scores + random.random(30)))
    assert_same_up_to_draws(outcome, run(test, scores * 7.3))


@each_paired_test
def test_the_order_of_two_systems_turns_the_sign_and_nothing_else(test: SignificanceTest, scores: Floats) -> None:
    pairs = all_pairs(len(scores))
    outcome, turned = (test.function(scores, order, SAMPLING) for order in (pairs, pairs[:, ::-1]))
    np.testing.assert_allclose(turned.p, outcome.p, rtol=1e-12)
    if test.name == "sign":
        return  # its statistic is the number of wins
    np.testing.assert_allclose(turned.statistic, -outcome.statistic, rtol=1e-12, atol=1e-15)


@each_paired_test
def test_other_pairs_do_not_matter(test: SignificanceTest, scores: Floats) -> None:
    pairs = all_pairs(len(scores))
    outcome = test.function(scores, pairs, SAMPLING)
    for place, pair in enumerate(pairs):
        alone = test.function(scores[pair], np.array([[0, 1]]), SAMPLING)
        np.testing.assert_allclose(alone.p[0], outcome.p[place], rtol=1e-9)


@each_paired_test
def test_p_values_are_possible_ones(test: SignificanceTest, scores: Floats) -> None:
    outcome = run(test, np.concatenate([scores, scores[:1], scores[:1] + 10]))
    undefined = np.isnan(outcome.p)
    # The first system against its copy, against itself and ten more, and the copy against that: nothing varies.
    assert np.flatnonzero(undefined).tolist() == ([4, 5, 20] if test.name in ("t", "bootstrap") else [])
    assert ((outcome.p > 0) & (outcome.p <= 1))[~undefined].all()
    assert (outcome.p[outcome.error > 0] >= 1 / (1 + SAMPLING.resamples)).all()
    assert undefined[4] or outcome.p[4] == 1


@each_paired_test
def test_the_seed_decides_and_threads_do_not(test: SignificanceTest, scores: Floats) -> None:
    outcome = run(test, scores)
    for threads in (1, 2, 5):
        again = run(test, scores, Sampling(seed=11, resamples=999, threads=threads))
        for column, same in zip(outcome, again, strict=True):
            np.testing.assert_array_equal(column, same)
    other = run(test, scores, Sampling(seed=12, resamples=999))
    assert_same_up_to_draws(outcome, other)
    assert outcome.error.any() == (outcome.p != other.p).any()


@each_paired_test
def test_every_test_explains_itself(test: SignificanceTest) -> None:
    assert len(test.null) > 40
    assert ">>>" in test.help
