"""Tests of all systems together against published figures, slow references and simulated family-wise error rates."""

from __future__ import annotations

import itertools
from typing import cast

import numpy as np
import pytest
from scipy import stats

from cranfield import _core
from cranfield.errors import UsageError
from cranfield.statistics.families import (
    maxt,
    permutation_p,
    randomised_tukey,
    standard_error_of_means,
    studentised_range_tail,
    tukey,
    tukey_half_width,
)
from cranfield.statistics.randomised import exact_p, monte_carlo_p, randomisation
from cranfield.statistics.significance import Sampling, against, all_pairs
from cranfield.statistics.significance import TestsPairs as FamilyTest  # a name that pytest does not take for tests
from published import SAKAI, TREC8
from simulate import Floats, Integers, band, equal_systems, within_errors

SAMPLING = Sampling(seed=1, resamples=20_000)
FAMILY: list[FamilyTest] = [tukey, randomised_tukey, maxt]
RANDOMISED: list[FamilyTest] = [randomised_tukey, maxt]
# Tippett, "Technological applications of statistics", 1950: breaks of yarn of two wools at low, medium, high tension.
WARPBREAKS = np.array(
    [
        [
            [26, 30, 54, 25, 70, 52, 51, 26, 67],
            [18, 21, 29, 17, 12, 18, 35, 30, 36],
            [36, 21, 24, 18, 10, 43, 28, 15, 26],
        ],
        [
            [27, 14, 29, 19, 29, 31, 41, 20, 44],
            [42, 26, 19, 16, 39, 28, 21, 39, 29],
            [20, 21, 24, 17, 13, 15, 15, 16, 28],
        ],
    ]
)


def test_published_tukey() -> None:
    """Sakai 2018, table 5.1, with topics as blocks."""
    outcome = tukey(SAKAI, all_pairs(3), SAMPLING)
    assert outcome.p == pytest.approx([0.2567, 0.0957, 0.8550], abs=5e-5)
    effect = np.abs(outcome.statistic) / np.sqrt(20)  # differences in units of the error's standard deviation
    assert effect == pytest.approx([0.5070, 0.6760, 0.1690], abs=5e-5)
    assert 20 * standard_error_of_means(SAKAI) ** 2 == pytest.approx(0.0219, abs=5e-5)


def test_published_tukey_of_an_additive_layout() -> None:
    """R's TukeyHSD of breaks by wool and tension has 18 values a mean and 50 degrees of freedom, as has this layout."""
    by_tension = WARPBREAKS.mean(axis=(0, 2))
    residual = WARPBREAKS - by_tension[:, None] - WARPBREAKS.mean(axis=(1, 2), keepdims=True) + WARPBREAKS.mean()
    error = np.sqrt(np.square(residual).sum() / 50 / 18)

    noise = np.random.default_rng(0).standard_normal((3, 26))
    noise -= noise.mean(axis=0)
    noise -= noise.mean(axis=1, keepdims=True)
    scores = by_tension[:, None] + noise * error / standard_error_of_means(noise)
    low, medium, high = 0, 1, 2
    outcome = tukey(scores, np.array([[medium, high], [low, high], [low, medium]]), SAMPLING)
    assert outcome.p == pytest.approx([0.4474210, 0.0011218, 0.0336262], abs=5e-8)
    difference, half = by_tension[medium] - by_tension[high], tukey_half_width(scores)
    assert difference == pytest.approx(4.722, abs=5e-4)
    assert [difference - half, difference + half] == pytest.approx([-4.6312, 14.0756], abs=6e-5)


@pytest.mark.skipif(not TREC8.exists(), reason="the folder with the scores of TREC-8 is not here")
def test_topics_are_blocks() -> None:
    """Of the 100 best runs of TREC-8, 964 pairs differ; a test that takes topics for noise finds 106."""
    scores = np.loadtxt(TREC8, delimiter=",", skiprows=1).T
    best = scores[np.argsort(-scores.mean(axis=1))[:100]]
    assert np.sum(tukey(best, all_pairs(100), SAMPLING).p < 0.05) == 964


@pytest.mark.parametrize(("systems", "freedom"), [(2, 1), (3, 4), (3, 38), (20, 931), (100, 4851), (30, 90_000)])
def test_studentised_range(systems: int, freedom: int) -> None:
    q = np.array([0.0, 0.3, 1.0, 2.5, 4.0, 6.0, 9.0])
    expected = stats.studentized_range.sf(q, systems, freedom)
    assert studentised_range_tail(q, systems, freedom) == pytest.approx(expected, abs=5e-9)


@pytest.mark.parametrize("freedom", [1, 2, 7, 49, 1000])
def test_studentised_range_of_two_is_t_far_into_the_tail(freedom: int) -> None:
    q = np.array([0.1, 1.0, 5.0, 10.0, 15.0])
    expected = 2 * stats.t.sf(q / np.sqrt(2), freedom)
    assert studentised_range_tail(q, 2, freedom) == pytest.approx(expected, rel=1e-8)


def test_tukey_of_two_systems_is_the_paired_t_test() -> None:
    scores = equal_systems("AP", 1, 2, 50)
    assert tukey(scores, all_pairs(2), SAMPLING).p[0] == pytest.approx(stats.ttest_rel(*scores).pvalue, rel=1e-8)


def test_tukey_interval_excludes_zero_where_p_is_small() -> None:
    scores = equal_systems("nDCG", 1, 12, 30) + np.linspace(0, 0.4, 12)[:, None]
    difference = scores.mean(axis=1)[all_pairs(12)] @ [1, -1]
    for level in (0.2, 0.05, 0.001):
        significant = tukey(scores, all_pairs(12), SAMPLING).p < level
        assert (significant == (np.abs(difference) > tukey_half_width(scores, 1 - level))).all()
        assert significant.any()
        assert not significant.all()


def test_tukey_uses_all_systems_whatever_pairs_are_asked_for() -> None:
    scores = equal_systems("AP", 1, 6, 40)
    for test in (tukey, randomised_tukey):
        everything = test(scores, all_pairs(6), SAMPLING).p
        some = test(scores, against(0, 6), SAMPLING).p
        assert some == pytest.approx(everything[:5], rel=1e-12)


def test_maxt_steps_over_the_pairs_asked_for() -> None:
    scores = equal_systems("AP", 1, 6, 40)
    some = maxt(scores, against(0, 6), SAMPLING).p
    everything = maxt(scores, all_pairs(6), SAMPLING).p[:5]
    assert (some <= everything).all()
    assert (some < everything).any()


def test_published_randomised_tukey() -> None:
    """The exact values are from the distribution of two sums of differences over all permutations."""
    sampling = Sampling(seed=2, resamples=200_000)
    outcome = randomised_tukey(SAKAI, all_pairs(3), sampling)
    assert within_errors(outcome.p, np.array([0.3037641620, 0.1065872956, 0.8915998653]), sampling.resamples)
    assert outcome.error == pytest.approx(np.sqrt(outcome.p * (1 - outcome.p) / 200_001))


@pytest.mark.parametrize("shape", [(3, 5), (4, 3), (5, 2)])
@pytest.mark.parametrize("unit", [0.1, np.sqrt(0.1)])
def test_randomised_tukey_of_all_permutations(shape: tuple[int, int], unit: float) -> None:
    systems, topics = shape
    whole = np.random.default_rng(3).integers(0, 8, shape)
    dealt = [np.array(list(itertools.permutations(whole[:, topic]))) for topic in range(topics)]
    sums = dealt[0][:1]  # what the first topic's permutations do, renaming the systems does
    for rows in dealt[1:]:
        sums = (sums[:, None] + rows[None]).reshape(-1, systems)
    ranges = np.ptp(sums, axis=1)
    pairs = all_pairs(systems)
    observed = np.abs(whole.sum(axis=1)[pairs] @ [1, -1])
    expected = np.mean(ranges[:, None] >= observed, axis=0)
    p = permutation_p(np.multiply(whole, unit, dtype=np.float64), pairs, SAMPLING)
    assert within_errors(p, expected, SAMPLING.resamples)


def test_randomised_tukey_of_two_systems_is_the_randomisation_test() -> None:
    scores = np.round(equal_systems("AP", 1, 2, 30, seed=4), 4)
    family, paired = randomised_tukey(scores, all_pairs(2), SAMPLING), randomisation(scores, all_pairs(2), SAMPLING)
    assert (family.p, family.error, family.statistic) == (paired.p, paired.error, paired.statistic)
    exact = exact_p(scores, all_pairs(2), SAMPLING)
    assert within_errors(permutation_p(scores, all_pairs(2), SAMPLING), exact, SAMPLING.resamples)


def slow_maxt(scores: Floats, pairs: Integers) -> Floats:
    """Step-down maxT over all flips, as Westfall and Young 1993 define it (algorithm 2.8)."""
    differences = scores[pairs[:, 0]] - scores[pairs[:, 1]]
    signs = np.array(list(itertools.product((1, -1), repeat=scores.shape[1])))
    flipped = np.abs(signs @ differences.T) / np.sqrt(np.square(differences).sum(axis=1))
    observed = flipped[0]
    p = np.zeros(len(pairs))
    largest_p = 0.0
    remaining = list(range(len(pairs)))
    while remaining:
        best = max(remaining, key=lambda pair: observed[pair])
        beaten = flipped[:, remaining].max(axis=1) >= observed[best] - 1e-9
        p[best] = largest_p = max(largest_p, float(beaten.mean()))
        remaining.remove(best)
    return p


@pytest.mark.parametrize("unit", [1.0, 0.1, np.pi])
def test_maxt_of_all_flips(unit: float) -> None:
    random = np.random.default_rng(5)
    for systems in (2, 3, 6):
        whole = random.integers(0, 30, (systems, 11)) + 7 * np.arange(systems)[:, None]
        scores: Floats = np.multiply(whole, unit, dtype=np.float64)
        p = maxt(scores, all_pairs(systems), SAMPLING).p
        assert within_errors(p, slow_maxt(whole.astype(np.float64), all_pairs(systems)), SAMPLING.resamples)


def test_maxt_of_one_pair_is_the_randomisation_test_and_of_more_is_stricter() -> None:
    for scores in (equal_systems("AP", 1, 8, 60), equal_systems("P@10", 1, 8, 60)):
        single = monte_carlo_p(scores, all_pairs(8), SAMPLING)
        assert [maxt(scores, pair[np.newaxis], SAMPLING).p[0] for pair in all_pairs(8)[:4]] == single[:4].tolist()
        outcome = maxt(scores, all_pairs(8), SAMPLING)
        assert (outcome.p >= single).all()
        strongest_first = np.argsort(-np.abs(outcome.statistic))
        assert (np.diff(outcome.p[strongest_first]) >= 0).all()


@pytest.mark.parametrize("test", FAMILY)
def test_what_must_not_matter(test: FamilyTest) -> None:
    random = np.random.default_rng(6)
    scores, pairs = equal_systems("nDCG", 1, 7, 40, seed=6), all_pairs(7)
    p = test(scores, pairs, SAMPLING).p
    for changed in (scores * 4, scores / 3, -scores, scores + random.random(40)):
        assert test(changed, pairs, SAMPLING).p == pytest.approx(p, rel=1e-9)
    turned = test(scores, pairs[:, ::-1].copy(), SAMPLING)
    assert turned.p == pytest.approx(p, rel=1e-12)
    order = random.permutation(len(pairs))
    assert test(scores, pairs[order], SAMPLING).p == pytest.approx(p[order], rel=1e-12)
    by_chance = 0 if test is tukey else 8 * np.sqrt(0.25 / SAMPLING.resamples)
    shuffled = scores[:, random.permutation(40)]
    assert test(shuffled, pairs, SAMPLING).p == pytest.approx(p, rel=1e-9, abs=by_chance)


@pytest.mark.parametrize("test", RANDOMISED)
@pytest.mark.parametrize("margin", ["AP", "P@10"])
def test_p_depends_on_the_seed_and_not_on_the_threads(test: FamilyTest, margin: str) -> None:
    scores = equal_systems(margin, 1, 9, 70)
    p = {
        (seed, threads): tuple(test(scores, all_pairs(9), Sampling(seed, 3_000, threads)).p)
        for seed in (0, 1)
        for threads in (1, 2, 7)
    }
    assert len(set(p.values())) == 2
    assert all(p[seed, 1] == p[seed, 2] == p[seed, 7] for seed in (0, 1))


@pytest.mark.parametrize("test", RANDOMISED)
def test_each_resample_is_the_same_however_many_there_are(test: FamilyTest) -> None:
    scores = equal_systems("AP", 1, 4, 20)
    pairs = all_pairs(4)[:1]  # of one pair, whose p-values nothing else has a part in
    counts = []
    for resamples in range(1, 135):
        p = test(scores, pairs, Sampling(resamples=resamples)).p
        assert 1 / (1 + resamples) <= p[0] <= 1
        counts.append(np.rint(p * (1 + resamples)))
    assert set(np.diff(counts, axis=0).ravel()) == {0, 1}


@pytest.mark.parametrize("test", FAMILY)
def test_systems_that_do_not_differ(test: FamilyTest) -> None:
    scores = np.random.default_rng(7).random((4, 30)) + np.array([[0], [0], [1], [1]])
    scores[1] = scores[0]
    scores[3] = scores[2] * (1 + 1e-15)
    outcome = test(scores, all_pairs(4), SAMPLING)
    assert outcome.p[[0, 5]] == pytest.approx([1, 1])
    assert (outcome.p[1:5] < 0.01).all()  # rounding has no part in it
    assert outcome.notes == ("2 of 6 pairs have the same score on every topic: p = 1",)


@pytest.mark.parametrize("test", [*FAMILY, randomisation])
def test_no_pairs_and_pairs_in_any_memory(test: FamilyTest) -> None:
    scores, pairs = equal_systems("AP", 1, 4, 30), all_pairs(4)
    assert test(scores, pairs[:0], SAMPLING).p.shape == (0,)
    p = test(scores, pairs, SAMPLING).p
    assert test(np.asfortranarray(scores), pairs[:, ::-1], SAMPLING).p == pytest.approx(p, rel=1e-9)


def test_tukey_without_error() -> None:
    outcome = tukey(np.array([[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]]), all_pairs(2), SAMPLING)
    assert np.isnan(outcome.p).all()
    assert outcome.notes == (
        "systems differ by the same on every topic: without an error to compare differences with p is undefined",
    )


@pytest.mark.parametrize("test", FAMILY)
def test_bad_requests(test: FamilyTest) -> None:
    with pytest.raises(UsageError, match="score is missing"):
        test(np.array([[0.1, np.nan], [0.1, 0.2], [0.3, 0.4]]), all_pairs(3), SAMPLING)
    with pytest.raises(UsageError, match="at least 2"):
        test(np.array([[0.1], [0.2], [0.3]]), all_pairs(3), SAMPLING)
    if test is tukey:
        with pytest.raises(UsageError, match="one system"):
            test(np.array([[0.1, 0.2]]), all_pairs(1), SAMPLING)
    else:
        with pytest.raises(UsageError, match="at least one resample"):
            test(equal_systems("AP", 1, 3, 10), all_pairs(3), Sampling(resamples=0))


SETS, SYSTEMS, TOPICS = 600, 20, 50


def smallest_p(test: FamilyTest, scores: Floats, number: int) -> tuple[float, float]:
    """Of all pairs, and of those of the first ten systems."""
    pairs = all_pairs(SYSTEMS)
    p = test(scores, pairs, Sampling(seed=number, resamples=399)).p
    return cast(float, p.min()), cast(float, p[(pairs < 10).all(axis=1)].min())


@pytest.fixture(scope="module")
def critical() -> float:
    """The studentised range that Tukey's test needs at 0.05, found once and not for each data set."""
    return cast(float, stats.studentized_range.ppf(0.95, SYSTEMS, (SYSTEMS - 1) * (TOPICS - 1)))


@pytest.mark.parametrize("partial", [False, True], ids=["all equal", "half equal"])
def test_family_wise_error(partial: bool, critical: float) -> None:
    """A false finding among all pairs is as rare as one should be; it is rarer where half of the systems do differ."""
    effects = np.where(np.arange(SYSTEMS) < 10, 0.0, 0.02 * np.arange(SYSTEMS))[:, None] if partial else 0.0
    data = equal_systems("nDCG", SETS, SYSTEMS, TOPICS, seed=8).reshape(SETS, SYSTEMS, TOPICS) + effects
    for test in RANDOMISED:
        p = np.array([smallest_p(test, scores, number) for number, scores in enumerate(data)])
        check_rate(p[:, 1 if partial else 0] <= 0.05, partial)
        assert np.mean(p[:, 0] <= 0.05) > 0.95 or not partial
    found = [
        np.ptp(scores[: 10 if partial else SYSTEMS].mean(axis=1)) > critical * standard_error_of_means(scores)
        for scores in data
    ]
    check_rate(np.array(found), partial)


def check_rate(false_findings: np.ndarray[tuple[int], np.dtype[np.bool_]], partial: bool) -> None:
    rate = false_findings.mean()
    assert rate <= 0.05 + band(0.05, SETS)
    assert rate >= 0.05 - band(0.05, SETS) or partial


def test_the_core_refuses_what_does_not_fit_together() -> None:
    scores, pairs = equal_systems("AP", 1, 3, 10), all_pairs(3)
    with pytest.raises(ValueError, match="as many numbers"):
        _core.flipped_sums(scores, pairs, np.zeros(2), 0, 10, 1)
    with pytest.raises(ValueError, match="as many numbers"):
        _core.flipped_maxima(scores, pairs, np.ones(2), np.zeros(3), 0, 10, 1)
    with pytest.raises(ValueError, match="as many numbers"):
        _core.exact_flips(scores, np.zeros(2), 100, 1)


def test_successive_maxima_count_no_resample_twice() -> None:
    """A threshold of zero is reached by each resample, once."""
    scores = equal_systems("AP", 1, 3, 10)
    for resamples in (1, 64, 100, 2_000):
        counts = _core.flipped_maxima(scores, all_pairs(3), np.ones(3), np.zeros(3), 0, resamples, 2)
        assert counts.tolist() == [resamples] * 3
