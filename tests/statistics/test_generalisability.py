"""Variance components, Eρ² and Φ: a published study, a regression on dummies, coverage by simulation, properties."""

from __future__ import annotations

from math import inf, isnan, sqrt

import numpy as np
import pytest

from cranfield import UsageError
from cranfield.statistics.generalisability import (
    Components,
    dependability,
    expected_tau,
    expected_tau_ap,
    generalisability,
    topics_for_dependability,
    topics_for_generalisability,
    variance_components,
)
from published import TREC8

# Brennan, "Generalizability Theory", 2001: synthetic data set 4 (table 3.2) as persons by 12 items.
BRENNAN = np.array(
    [
        [5, 6, 5, 5, 5, 3, 4, 5, 6, 7, 3, 3],
        [9, 3, 7, 7, 7, 5, 5, 5, 7, 7, 5, 2],
        [3, 4, 3, 3, 5, 3, 3, 5, 6, 5, 1, 6],
        [7, 5, 5, 3, 3, 1, 4, 3, 5, 3, 3, 5],
        [9, 2, 9, 7, 7, 7, 3, 7, 2, 7, 5, 3],
        [3, 4, 3, 5, 3, 3, 6, 3, 4, 5, 1, 2],
        [7, 3, 7, 7, 7, 5, 5, 7, 5, 5, 5, 4],
        [5, 8, 5, 7, 7, 5, 5, 4, 3, 2, 1, 1],
        [9, 9, 8, 8, 6, 6, 6, 5, 5, 8, 1, 1],
        [4, 4, 4, 3, 3, 5, 6, 5, 5, 7, 1, 1],
    ],
    dtype=np.float64,
)


def test_brennans_study() -> None:
    """Tables 6.2 and 6.5 of the book, with 80 % intervals."""
    found = variance_components(BRENNAN)
    assert found.systems_square == pytest.approx(10.2963, abs=5e-5)
    assert found.topics_square == pytest.approx(11.6273, abs=5e-5)
    assert found.residual_square == pytest.approx(2.7872, abs=5e-5)
    assert found.systems_variance == pytest.approx(0.6258, abs=5e-5)
    assert found.topics_variance == pytest.approx(0.8840, abs=5e-5)
    assert found.residual_variance == pytest.approx(2.7872, abs=5e-5)
    assert generalisability(found, confidence=0.8) == pytest.approx((0.729, 0.541, 0.876), abs=1e-3)
    assert dependability(found, confidence=0.8) == pytest.approx((0.672, 0.457, 0.845), abs=1e-3)


def test_expected_correlations() -> None:
    values = [expected_tau_ap(value) for value in (0.93, 0.95, 0.98)]
    assert values == pytest.approx([0.7487836, 0.8150692, 0.9226192], abs=5e-8)
    assert expected_tau(0.95) == pytest.approx(0.95**2.84729794)


def test_mean_squares_are_those_of_a_regression_on_dummies() -> None:
    random = np.random.default_rng(3)
    scores = random.beta(0.7, 1.9, (7, 23))
    systems, topics = scores.shape
    rows, columns = (index.ravel() for index in np.indices(scores.shape))
    of_systems = np.eye(systems)[rows][:, 1:]
    of_topics = np.eye(topics)[columns][:, 1:]

    def rest(*parts: np.ndarray) -> float:
        design = np.column_stack([np.ones(scores.size), *parts])
        fitted = design @ np.linalg.lstsq(design, scores.ravel(), rcond=None)[0]
        return float(((scores.ravel() - fitted) ** 2).sum())

    both = rest(of_systems, of_topics)
    found = variance_components(scores)
    assert found.systems_square == pytest.approx((rest(of_topics) - both) / (systems - 1), rel=1e-9)
    assert found.topics_square == pytest.approx((rest(of_systems) - both) / (topics - 1), rel=1e-9)
    assert found.residual_square == pytest.approx(both / ((systems - 1) * (topics - 1)), rel=1e-9)


def test_topics_for_a_target_reach_it_and_one_less_does_not() -> None:
    found = variance_components(BRENNAN)
    for target in (0.5, 0.8, 0.9, 0.95, 0.99):
        for needed, reached in (
            (topics_for_generalisability(found, target), generalisability),
            (topics_for_dependability(found, target), dependability),
        ):
            # The more is sure, the fewer topics: the lower bound of one is the upper of the other.
            for topics, bound in ((needed.value, "value"), (needed.low, "high"), (needed.high, "low")):
                assert getattr(reached(found, int(topics)), bound) >= target
                assert topics == 1 or getattr(reached(found, int(topics) - 1), bound) < target


def drawn(random: np.random.Generator, trials: int, systems: int, topics: int) -> np.ndarray:
    """Scores with variances .02 between systems, .03 between topics and .04 of the rest."""
    return (
        random.normal(0, sqrt(0.02), (trials, systems, 1))
        + random.normal(0, sqrt(0.03), (trials, 1, topics))
        + random.normal(0, sqrt(0.04), (trials, systems, topics))
    )


def test_intervals_cover_and_components_are_unbiased() -> None:
    """Feldt's interval of Eρ² is exact for normal data; that of Φ is an approximation, allowed a point more."""
    trials, systems, topics = 800, 15, 20
    found = [variance_components(scores) for scores in drawn(np.random.default_rng(5), trials, systems, topics)]
    band = 4 * sqrt(0.95 * 0.05 / trials)
    relative, absolute = 0.02 / (0.02 + 0.04 / topics), 0.02 / (0.02 + 0.07 / topics)
    of_differences = [generalisability(one) for one in found]
    of_scores = [dependability(one) for one in found]
    assert abs(np.mean([one.low <= relative <= one.high for one in of_differences]) - 0.95) <= band
    assert abs(np.mean([one.low <= absolute <= one.high for one in of_scores]) - 0.95) <= band + 0.01
    assert np.mean([one.systems_variance for one in found]) == pytest.approx(0.02, rel=0.06)
    assert np.mean([one.topics_variance for one in found]) == pytest.approx(0.03, rel=0.05)
    assert np.mean([one.residual_variance for one in found]) == pytest.approx(0.04, rel=0.02)


def test_order_and_scale_do_not_matter() -> None:
    random = np.random.default_rng(6)
    scores = random.beta(1, 2, (6, 30))
    expected = generalisability(variance_components(scores))
    shuffled = scores[random.permutation(6)][:, random.permutation(30)]
    for same in (shuffled, 3 * scores + 1, scores + random.normal(size=30)):
        assert generalisability(variance_components(same)) == pytest.approx(expected, rel=1e-9)


def test_systems_that_do_not_differ_need_infinitely_many_topics() -> None:
    found = Components(4, 10, 0.01, 0.5, 0.02)
    assert found.systems_variance == 0
    assert generalisability(found).value == 0
    assert topics_for_generalisability(found, 0.9).value == inf


def test_no_variance_at_all_is_not_known_and_no_noise_is_certain() -> None:
    same = variance_components(np.full((3, 4), 0.1))
    assert all(isnan(value) for value in (*generalisability(same), *topics_for_generalisability(same, 0.9)))
    shifted = variance_components(np.array([[0.1, 0.2, 0.7], [0.2, 0.3, 0.8], [0.3, 0.4, 0.9]]))
    assert generalisability(shifted).value == 1
    assert topics_for_generalisability(shifted, 0.99).value == 1


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        (np.zeros(5), "2 systems or more"),
        (np.zeros((1, 5)), "2 systems or more"),
        (np.zeros((5, 1)), "2 topics or more"),
        (np.array([[0.1, np.nan], [0.2, 0.3]]), "complete"),
    ],
)
def test_scores_that_cannot_be_analysed_are_refused(scores: np.ndarray, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        variance_components(scores)


@pytest.mark.parametrize("target", [0, 1, -0.5, float("nan")])
def test_a_target_is_a_share(target: float) -> None:
    with pytest.raises(UsageError, match="target must be between 0 and 1"):
        topics_for_generalisability(variance_components(BRENNAN), target)


@pytest.mark.skipif(not TREC8.is_file(), reason="the data folder with per-topic scores is not here")
def test_halves_of_the_topics_of_trec_8_agree_as_foretold() -> None:
    """Eρ² is the mean over all halves of 4 cov(one half, the other) / var(their sum), as Cronbach's α is."""
    scores = np.loadtxt(TREC8, delimiter=",", skiprows=1).T
    found = variance_components(scores)
    random = np.random.default_rng(9)
    total = scores.sum(axis=1).var(ddof=1)
    agreement = []
    for _ in range(500):
        half = random.permutation(50) < 25
        agreement.append(4 * np.cov(scores[:, half].sum(axis=1), scores[:, ~half].sum(axis=1))[0, 1] / total)
    assert np.mean(agreement) == pytest.approx(generalisability(found).value, abs=0.001)


def test_what_rounding_leaves_of_equal_scores_is_no_variance() -> None:
    """Large scores leave more of it than small ones, and one small score among them changes nothing."""
    equal = np.full((3, 4), 0.1) + np.array([0.0, 1e8, 2e8, 3e8]) + 0.2
    assert variance_components(equal).residual_square == 0
    assert variance_components(equal).systems_square == 0
