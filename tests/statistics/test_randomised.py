"""The randomisation test against published figures, enumeration of all flips, and simulated error rates."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from cranfield import _core
from cranfield.errors import UsageError
from cranfield.statistics.randomised import common_denominator, exact_p, monte_carlo_p, randomisation, summands
from cranfield.statistics.significance import Sampling, all_pairs
from published import CROFT, SAKAI, TAGUE, TREC8
from simulate import Floats, band, equal_systems, pairs_within, within_errors

PAIR = np.array([[0, 1]])
SAMPLING = Sampling(seed=5, resamples=9_999)


def enumerated(differences: list[Fraction]) -> float:
    """The definition: the share of all flips whose sum is as far from zero."""
    observed = abs(sum(differences, Fraction()))
    flips = itertools.product((1, -1), repeat=len(differences))
    sums = [abs(sum((s * d for s, d in zip(signs, differences, strict=True)), Fraction())) for signs in flips]
    return sum(s >= observed for s in sums) / len(sums)


def counted(differences: list[int]) -> Fraction:
    """The same for many topics, in whole numbers: digit w of a long number is how many flips make w negative."""
    sizes = [abs(d) for d in differences]
    width = len(sizes) // 8 + 1  # bytes a digit
    number = 1
    for size in sizes:
        number += number << (8 * width * size)
    digits = number.to_bytes(width * (sum(sizes) + 1), "little")
    reach = (sum(sizes) - abs(sum(differences))) // 2
    count = sum(int.from_bytes(digits[w * width : (w + 1) * width], "little") for w in range(reach + 1))
    return min(Fraction(1), Fraction(2 * count, 1 << len(sizes)))


def in_ten_thousandths(scores: Floats) -> list[int]:
    return [int(d) for d in np.rint(scores[0] * 1e4) - np.rint(scores[1] * 1e4)]


@pytest.mark.parametrize(
    ("scores", "p"),
    [
        (CROFT, 24 / 512),
        (TAGUE, 0.173828125),
        (SAKAI[[0, 1]], 2160 / 32768),
        (SAKAI[[0, 2]], 0.1446075),
        (SAKAI[[1, 2]], 0.6235352),
    ],
    ids=["Croft", "Tague", "Sakai a b", "Sakai a c", "Sakai b c"],
)
def test_published_p(scores: Floats, p: float) -> None:
    outcome = randomisation(scores, PAIR, SAMPLING)
    assert outcome.p[0] == pytest.approx(p, abs=5e-8)
    assert outcome.error[0] == 0
    assert outcome.statistic[0] == pytest.approx(np.mean(scores[0] - scores[1]))


@pytest.fixture(scope="module")
def trec8() -> Floats:
    """Average precision of all runs of TREC-8's ad hoc task (Urbano, Lima and Hanjalic 2019)."""
    if not TREC8.exists():
        pytest.skip("the folder with the scores of TREC-8 is not here")
    return np.loadtxt(TREC8, delimiter=",", skiprows=1).T


def test_trec8(trec8: Floats) -> None:
    scores = trec8[[124, 125]]
    outcome = randomisation(scores, PAIR, SAMPLING)
    assert outcome.p[0] == pytest.approx(0.001191492284318585, rel=1e-12)
    assert outcome.p[0] == pytest.approx(float(counted(in_ten_thousandths(scores))), rel=1e-12)


def test_every_pair_of_trec8_is_exact_and_as_drawn(trec8: Floats) -> None:
    pairs = all_pairs(40)
    outcome = randomisation(trec8[:40], pairs, SAMPLING)
    assert (outcome.error == 0).all()
    drawn = monte_carlo_p(trec8[:40], pairs, Sampling(resamples=20_000))
    assert within_errors(drawn, outcome.p, 20_000)


@pytest.mark.parametrize("unit", [1.0, 0.1, 1 / 2520, 1e-4, np.sqrt(2), np.pi * 1e-3])
def test_all_flips_are_accounted_for(unit: float) -> None:
    random = np.random.default_rng(1)
    for topics in (2, 3, 7, 10):
        whole = random.integers(0, 6, (2, topics))
        scores: Floats = np.multiply(whole, unit, dtype=np.float64)
        expected = enumerated([Fraction(int(d)) for d in whole[0] - whole[1]])
        assert randomisation(scores, PAIR, SAMPLING).p[0] == pytest.approx(expected, rel=1e-12)


@settings(max_examples=40)
@given(
    st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)), min_size=2, max_size=8),
    st.sampled_from([1, 10, 20, 7, 2520]),
)
def test_small_scores_with_ties(scores: list[tuple[int, int]], denominator: int) -> None:
    differences = [Fraction(a - b, denominator) for a, b in scores]
    p = randomisation(np.array(scores).T / denominator, PAIR, SAMPLING).p[0]
    assert p == pytest.approx(enumerated(differences), rel=1e-12)


def test_scipy_agrees() -> None:
    scores = np.random.default_rng(2).beta(0.7, 1.9, (2, 11))
    theirs = stats.permutation_test(
        (scores[0] - scores[1],), np.mean, permutation_type="samples", n_resamples=np.inf, vectorized=True
    )
    assert randomisation(scores, PAIR, SAMPLING).p[0] == pytest.approx(theirs.pvalue, rel=1e-12)


@pytest.mark.parametrize("topics", [25, 36])
def test_sums_that_meet_are_those_counted(topics: int) -> None:
    differences = np.random.default_rng(topics).integers(-300, 320, (6, topics)).astype(float)
    counting = _core.exact_flips(differences, np.zeros(6), 1 << 24, 1)
    meeting = _core.exact_flips(differences, np.full(6, 1e-6), 1 << 24, 1)
    assert counting == pytest.approx([float(counted([int(d) for d in row])) for row in differences], rel=1e-12)
    assert meeting == pytest.approx(counting, rel=1e-12)


@pytest.mark.parametrize("lean", [0.5, 0.52, 0.6, 0.9, 1.0])
def test_more_flips_than_a_double_can_count(lean: float) -> None:
    random = np.random.default_rng(3)
    whole = np.where(random.random(1200) < lean, 1, -1) * random.integers(1, 4, 1200)
    expected = counted([int(d) for d in whole])
    p = exact_p(np.stack([whole / 10, np.zeros(1200)]), PAIR, SAMPLING)[0]
    if expected > Fraction(1, 10**300):
        assert p == pytest.approx(float(expected), rel=1e-10)
    else:
        assert 0 < p < 1e-300


def test_too_many_sums_are_drawn_instead() -> None:
    scores = equal_systems("AP", 3, 2, 60)
    outcome = randomisation(scores, pairs_within(3), SAMPLING)
    assert np.isnan(exact_p(scores, pairs_within(3), SAMPLING)).all()
    assert outcome.error == pytest.approx(np.sqrt(outcome.p * (1 - outcome.p) / 10_000))
    rounded = randomisation(np.round(scores, 4), pairs_within(3), SAMPLING)
    assert (rounded.error == 0).all()
    assert within_errors(outcome.p, rounded.p, SAMPLING.resamples)


def test_a_pair_does_not_depend_on_the_others() -> None:
    scores = equal_systems("AP", 1, 6, 60)
    scores[:3] = np.round(scores[:3], 4)
    together = randomisation(scores, all_pairs(6), SAMPLING)
    assert {float(error) > 0 for error in together.error} == {True, False}
    for i, pair in enumerate(all_pairs(6)):
        alone = randomisation(scores[pair], PAIR, SAMPLING)
        assert alone.p[0] == together.p[i]


@pytest.mark.parametrize("margin", ["AP", "P@10", "RR@10"])
@pytest.mark.parametrize("scale", [1.0, np.e])
def test_drawn_flips_agree_with_all_flips(margin: str, scale: float) -> None:
    scores = equal_systems(margin, 1, 12, 24, seed=4) * scale
    exact = exact_p(scores, all_pairs(12), SAMPLING)
    assert not np.isnan(exact).any()
    drawn = monte_carlo_p(scores, all_pairs(12), Sampling(seed=6, resamples=20_000))
    assert within_errors(drawn, exact, 20_000)


def test_equal_sums_are_equal_however_they_are_written() -> None:
    tenths = np.array([[3, 2, 5, 9, 7, 4, 8], [2, 1, 7, 7, 4, 5, 8]])
    ways = [
        tenths / 10,
        tenths * 0.1,
        tenths / 10 * np.sqrt(3),
        1 - (1 - tenths / 10),
        tenths / 10 + 0.1 * np.arange(7),
    ]
    exact = enumerated([Fraction(int(d)) for d in tenths[0] - tenths[1]])
    for scores in ways:
        assert randomisation(scores, PAIR, SAMPLING).p[0] == exact
        assert monte_carlo_p(scores, PAIR, SAMPLING)[0] == monte_carlo_p(tenths.astype(float), PAIR, SAMPLING)[0]


@pytest.mark.parametrize("topics", [20, 60])
def test_what_must_not_matter(topics: int) -> None:
    random = np.random.default_rng(7)
    scores, pairs = equal_systems("AP", 1, 5, topics, seed=7), all_pairs(5)
    p = randomisation(scores, pairs, SAMPLING).p
    same = [scores * 8, scores / 3, -scores, scores + random.random(topics)]
    for changed in same:
        assert randomisation(changed, pairs, SAMPLING).p == pytest.approx(p, rel=1e-12)
    assert randomisation(scores, pairs[:, ::-1].copy(), SAMPLING).p == pytest.approx(p, rel=1e-12)
    shuffled = randomisation(scores[:, random.permutation(topics)], pairs, SAMPLING).p
    if topics <= 20:
        assert shuffled == pytest.approx(p, rel=1e-12)
    else:  # other flips are drawn
        assert np.abs(shuffled - p) == pytest.approx(0, abs=4 * np.sqrt(0.5 / SAMPLING.resamples))


def test_systems_that_do_not_differ() -> None:
    scores = np.random.default_rng(8).random((4, 50))
    scores[1] = scores[0]
    scores[3] = scores[2] * (1 + 1e-15)
    outcome = randomisation(scores, np.array([[0, 1], [0, 2], [2, 3]]), SAMPLING)
    assert outcome.p[[0, 2]].tolist() == [1, 1]
    assert outcome.p[1] < 1
    assert outcome.notes == ("2 of 3 pairs have the same score on every topic: p = 1",)
    assert monte_carlo_p(scores, np.array([[0, 1], [2, 3]]), SAMPLING).tolist() == [1, 1]


@pytest.mark.parametrize("whole", [True, False])
def test_p_depends_on_the_seed_and_not_on_the_threads(whole: bool) -> None:
    scores = equal_systems("AP", 1, 9, 130)
    scores = np.round(scores, 3) if whole else scores
    p = {
        (seed, threads): tuple(monte_carlo_p(scores, all_pairs(9), Sampling(seed, 5_000, threads)))
        for seed in (0, 1, -1)
        for threads in (1, 2, 7)
    }
    assert len(set(p.values())) == 3
    assert all(p[seed, 1] == p[seed, 2] == p[seed, 7] for seed in (0, 1, -1))
    exact = [exact_p(np.round(scores, 2), all_pairs(9), Sampling(threads=threads)) for threads in (1, 5)]
    assert (exact[0] == exact[1]).all()


@pytest.mark.parametrize("unit", [1.0, np.sqrt(0.5)])
def test_each_resample_is_the_same_however_many_there_are(unit: float) -> None:
    scores: Floats = np.multiply(np.random.default_rng(9).integers(0, 9, (7, 70)), unit, dtype=np.float64)
    counts = []
    for resamples in range(1, 135):
        p = monte_carlo_p(scores, all_pairs(7), Sampling(resamples=resamples))
        assert (p >= 1 / (1 + resamples)).all()
        assert (p <= 1).all()
        counts.append(np.rint(p * (1 + resamples)))
    assert set(np.diff(counts, axis=0).ravel()) == {0, 1}


def test_flips_are_fair_and_independent() -> None:
    """Sums of powers of two tell every flip of eight topics: all 256 outcomes must be as frequent."""
    scores = np.zeros((2, 72))
    for first in (0, 64):  # within a tile of topics and past it
        scores[0] = 0
        scores[0, first : first + 8] = 2.0 ** np.arange(8)
        resamples = 64_000
        at_least = np.array(
            [_core.flipped_sums(scores, PAIR, np.array([s]), 1, resamples, 2)[0] for s in np.arange(1.0, 258.0, 2)]
        )
        counts = -np.diff(at_least)  # both signs of a sum together
        assert stats.chisquare(counts, np.full(128, resamples / 128)).pvalue > 0.001


@pytest.mark.parametrize(("margin", "topics"), [("AP", 25), ("AP", 50), ("nDCG", 25), ("P@10", 50), ("RR@10", 50)])
def test_error_rate(margin: str, topics: int) -> None:
    """Equal systems are told apart as often as the level says; scores of few values keep below it."""
    sets = 2500
    scores = equal_systems(margin, sets, 2, topics, seed=10)
    p = randomisation(scores, pairs_within(sets), Sampling(seed=10, resamples=999)).p
    for level in (0.05, 0.01):
        rate = np.mean(p <= level)
        assert rate <= level + band(level, sets)
        assert rate >= level - band(level, sets) or margin in ("P@10", "RR@10")


@settings(max_examples=50)
@given(
    st.lists(st.integers(-3000, 3000), min_size=1, max_size=20), st.sampled_from([1, 3, 10, 64, 2520, 10_000, 10**6])
)
def test_common_denominator_of_multiples(numerators: list[int], denominator: int) -> None:
    values = np.array(numerators) / denominator
    least = np.lcm.reduce([Fraction(n, denominator).denominator for n in numerators])
    assert common_denominator(values) == least
    assert common_denominator(np.array(numerators) * (1 / denominator)) == least


def test_common_denominator_of_other_numbers() -> None:
    random = np.random.default_rng(11)
    for values in (random.random(30), np.sqrt([2.0, 3.0]), np.array([1e300, 1.0]), 1 / random.integers(1, 10_000, 40)):
        assert common_denominator(values) == 0
        assert (summands(values[np.newaxis]).rounding >= 0).all()
    assert common_denominator(np.zeros(5)) == 1


def test_bad_requests() -> None:
    scores = equal_systems("AP", 1, 2, 60)
    with pytest.raises(UsageError, match="at least one resample, not 0"):
        randomisation(scores, PAIR, Sampling(resamples=0))
    with pytest.raises(UsageError, match="score is missing"):
        randomisation(np.array([[0.1, np.nan, 0.2], [0.1, 0.2, 0.3]]), PAIR, SAMPLING)
    with pytest.raises(IndexError, match="system that is not there"):
        _core.flipped_sums(scores, np.array([[0, 2]]), np.zeros(1), 0, 10, 1)
