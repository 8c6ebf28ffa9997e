"""Risk against a baseline: slow versions straight from the papers, known cases, properties."""

from __future__ import annotations

from itertools import pairwise
from math import isnan, sqrt
from statistics import NormalDist, mean, stdev

import numpy as np
import pytest
from scipy import stats

from cranfield import UsageError
from cranfield.statistics.risk import geo_risk, risk, t_risk, u_risk, z_risk


def weighed_differences(system: list[float], baseline: list[float], alpha: float) -> list[float]:
    pairs = zip(system, baseline, strict=True)
    return [s - b if s > b else (1 + alpha) * (s - b) if s < b else 0.0 for s, b in pairs]


def slow_u_risk(system: list[float], baseline: list[float], alpha: float) -> float:
    """Rewards less (1 + alpha) times the losses, over the number of topics."""
    wins = sum(s - b for s, b in zip(system, baseline, strict=True) if s > b)
    losses = sum(b - s for s, b in zip(system, baseline, strict=True) if s < b)
    return (wins - (1 + alpha) * losses) / len(system)


def slow_t_risk(system: list[float], baseline: list[float], alpha: float) -> float:
    deltas = weighed_differences(system, baseline, alpha)
    return mean(deltas) / (stdev(deltas) / sqrt(len(deltas)))


def slow_z_risk(scores: list[list[float]], system: int, alpha: float) -> float:
    grand = sum(map(sum, scores))
    total = 0.0
    for topic in range(len(scores[0])):
        expected = sum(scores[system]) * sum(row[topic] for row in scores) / grand
        z = (scores[system][topic] - expected) / sqrt(expected) if expected else 0.0
        total += z if z >= 0 else (1 + alpha) * z
    return total


def slow_geo_risk(scores: list[list[float]], system: int, alpha: float) -> float:
    topics = len(scores[0])
    return sqrt(sum(scores[system]) / topics * NormalDist().cdf(slow_z_risk(scores, system, alpha) / topics))


@pytest.mark.parametrize("alpha", [0, 0.5, 1, 5, 10])
@pytest.mark.parametrize("seed", range(4))
def test_measures_are_their_definitions(alpha: float, seed: int) -> None:
    random = np.random.default_rng(seed)
    scores = random.beta(0.7, 1.9, (5, 12)).round(seed + 1)  # rounded: topics on which systems are equal
    scores[:, 3] = 0  # and one that nobody can answer
    rows = scores.tolist()
    found = risk(scores, 2, alpha=alpha)
    for system, row in enumerate(rows):
        assert found.urisk[system] == pytest.approx(slow_u_risk(row, rows[2], alpha), abs=1e-12)
        assert found.zrisk[system] == pytest.approx(slow_z_risk(rows, system, alpha), abs=1e-12)
        assert found.georisk[system] == pytest.approx(slow_geo_risk(rows, system, alpha), abs=1e-12)
        if system != 2:
            assert found.trisk[system] == pytest.approx(slow_t_risk(row, rows[2], alpha), abs=1e-12)
    assert found.urisk[2] == 0
    assert isnan(found.trisk[2])


def test_without_alpha_the_risk_is_the_difference_and_its_t_test() -> None:
    random = np.random.default_rng(11)
    baseline, system = random.beta(1, 2, (2, 30))
    t, p = t_risk(system[None], baseline, alpha=0)
    expected = stats.ttest_rel(system, baseline)
    assert u_risk(system[None], baseline, alpha=0)[0] == pytest.approx((system - baseline).mean())
    assert (t[0], p[0]) == pytest.approx((expected.statistic, expected.pvalue))


def test_a_known_case() -> None:
    """Won .3 and .2, lost .1: with alpha 1 the loss counts .2."""
    scores = np.array([[0.2, 0.5, 0.4], [0.5, 0.4, 0.6]])
    assert u_risk(scores[1:], scores[0], alpha=1)[0] == pytest.approx((0.3 - 0.2 + 0.2) / 3)
    assert t_risk(scores[1:], scores[0], alpha=1)[0][0] == pytest.approx(sqrt(3) * 0.1 / stdev([0.3, -0.2, 0.2]))
    # expected of the first: 1.1 (.7, .9, 1.0) / 2.6
    z = [(x - e) / sqrt(e) for x, e in zip(scores[0], [0.77 / 2.6, 0.99 / 2.6, 1.1 / 2.6], strict=True)]
    assert z_risk(scores, alpha=1)[0] == pytest.approx(z[1] + 2 * (z[0] + z[2]))


def test_more_alpha_is_never_better_and_losses_alone_are_scaled() -> None:
    random = np.random.default_rng(12)
    scores = random.beta(1, 2, (6, 20))
    alphas = (0, 1, 2, 5)
    for values in ([u_risk(scores, scores[0], alpha=a) for a in alphas], [geo_risk(scores, alpha=a) for a in alphas]):
        assert all((after <= before + 1e-15).all() for before, after in pairwise(values))
    worse = scores[0] - 0.01
    assert u_risk(worse[None], scores[0], alpha=4)[0] == pytest.approx(-0.05)


def test_order_of_topics_and_of_systems_does_not_matter() -> None:
    random = np.random.default_rng(13)
    scores = random.beta(1, 2, (5, 15))
    topics, systems = random.permutation(15), random.permutation(5)
    expected, found = geo_risk(scores), geo_risk(scores[systems][:, topics])
    assert found == pytest.approx(expected[systems])


def test_equal_systems_have_no_risk() -> None:
    scores = np.tile([0.2, 0.4, 0.9], (3, 1))
    assert z_risk(scores) == pytest.approx(np.zeros(3), abs=1e-12)
    assert geo_risk(scores) == pytest.approx(np.full(3, sqrt(0.5 * 0.5)))
    assert geo_risk(np.zeros((2, 3))).tolist() == [0, 0]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: risk(np.zeros((2, 3)), 2), "no system number 2"),
        (lambda: risk(np.zeros(3), 0), "scores\\[system, topic\\]"),
        (lambda: risk(np.full((2, 3), np.nan), 0), "complete"),
        (lambda: geo_risk(np.array([[0.1, -0.1]])), "negative"),
        (lambda: u_risk(np.zeros((2, 3)), np.zeros(2)), "one for each of 3 topics"),
        (lambda: u_risk(np.zeros((2, 3)), np.zeros(3), alpha=-1), "alpha must be"),
        (lambda: t_risk(np.zeros((2, 1)), np.zeros(1)), "2 topics or more"),
    ],
)
def test_what_makes_no_sense_is_refused(call: object, message: str) -> None:
    assert callable(call)
    with pytest.raises(UsageError, match=message):
        call()
