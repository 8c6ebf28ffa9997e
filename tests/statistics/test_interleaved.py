"""Preferences by user: reference values, SciPy and statsmodels, and the error of counting impressions."""

from __future__ import annotations

from math import isnan

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from cranfield.errors import UsageError
from cranfield.statistics.interleaved import delta, preference, sign_test, win_share
from cranfield.statistics.significance import Integers
from simulate import band


def test_reference_values() -> None:
    assert delta(400, 250, 350) == pytest.approx(0.025, abs=1e-15)
    assert sign_test(60, 40) == pytest.approx(0.05688793, abs=1e-8)
    assert sign_test(540, 460) == pytest.approx(0.01244415, abs=1e-8)
    assert win_share(60, 40)[1:] == pytest.approx((0.4972092, 0.6967052), abs=1e-7)
    assert win_share(60, 40, method="wilson")[1:] == pytest.approx((0.5020026, 0.6905987), abs=1e-7)


@pytest.mark.parametrize(("wins", "losses"), [(0, 7), (7, 0), (1, 1), (3, 11), (250, 201), (0, 1)])
def test_others_say_the_same(wins: int, losses: int) -> None:
    assert sign_test(wins, losses) == pytest.approx(stats.binomtest(wins, wins + losses).pvalue)
    for ours, theirs in (("exact", "beta"), ("wilson", "wilson")):
        found = win_share(wins, losses, confidence=0.9, method=ours)  # type: ignore[arg-type]
        expected = proportion_confint(wins, wins + losses, alpha=0.1, method=theirs)
        assert found[1:] == pytest.approx(expected, abs=1e-9)
        mirrored = win_share(losses, wins, confidence=0.9, method=ours)  # type: ignore[arg-type]
        assert mirrored[1:] == pytest.approx((1 - found.high, 1 - found.low))


def experiments(sets: int, taste: float) -> list[tuple[Integers, Integers]]:
    """Wins and losses of 400 users with eight impressions on average and a taste of their own; no side is better."""
    random = np.random.default_rng(61)
    drawn = []
    for _ in range(sets):
        impressions = random.geometric(1 / 8, 400)
        wins = random.binomial(impressions, 1 / (1 + np.exp(-taste * random.standard_normal(400))))
        drawn.append((wins, impressions - wins))
    return drawn


def test_users_are_counted_and_not_impressions() -> None:
    sets = 800
    by_user, by_majority, by_impression = 0, 0, 0
    for wins, losses in experiments(sets, taste=1.0):
        found = preference(wins, np.zeros(400), losses)
        by_user += found.effect.p < 0.05
        by_majority += found.sign_p < 0.05
        by_impression += sign_test(found.wins, found.losses) < 0.05
    assert by_user / sets == pytest.approx(0.05, abs=band(0.05, sets))
    assert by_majority / sets <= 0.05 + band(0.05, sets)
    assert by_impression / sets == pytest.approx(0.302, abs=band(0.302, sets))


def test_without_taste_both_are_right() -> None:
    sets = 500
    found = [sign_test(int(wins.sum()), int(losses.sum())) < 0.05 for wins, losses in experiments(sets, taste=0.0)]
    assert np.mean(found) <= 0.05 + band(0.05, sets)


def test_preference_is_delta_and_turns_around() -> None:
    random = np.random.default_rng(1)
    wins, ties, losses = random.poisson(2, (3, 60))
    found, turned = preference(wins, ties, losses), preference(losses, ties, wins)
    assert found.effect.value == pytest.approx(delta(wins.sum(), ties.sum(), losses.sum()))
    assert (turned.effect.low, turned.effect.high) == pytest.approx((-found.effect.high, -found.effect.low))
    assert (turned.users_won, turned.users_lost) == (found.users_lost, found.users_won)
    assert (turned.effect.p, turned.sign_p) == pytest.approx((found.effect.p, found.sign_p))
    assert found.ties == ties.sum()


def test_degenerate_preferences() -> None:
    nobody = preference([], [], [])
    assert isnan(nobody.effect.p)
    assert nobody.sign_p == 1
    assert isnan(preference([0, 0], [0, 0], [0, 0]).effect.value)
    assert isnan(preference([3], [1], [0]).effect.p)
    all_tied = preference([0] * 20, [3] * 20, [0] * 20)
    assert (all_tied.effect.value, all_tied.effect.p) == (0, 1)
    all_won = preference([1] * 20, [0] * 20, [0] * 20)
    assert all_won.effect.value == 0.5
    assert all_won.effect.p == pytest.approx(2**-19)
    assert all_won.sign_p == pytest.approx(2**-19)
    assert isnan(delta(0, 0, 0))
    assert sign_test(0, 0) == 1
    assert win_share(0, 0)[1:] == (0, 1)


@pytest.mark.parametrize("bad", [[1.5, 2], [-1, 2], [float("nan"), 2], [[1, 2]]])
def test_counts_that_are_none_are_refused(bad: list[float]) -> None:
    with pytest.raises(UsageError, match="whole numbers, 0 or more"):
        preference(bad, [0, 0], [0, 0])


def test_other_nonsense_is_refused() -> None:
    with pytest.raises(UsageError, match="a value for each user"):
        preference([1], [0, 0], [0, 0])
    with pytest.raises(UsageError, match="0 or more"):
        sign_test(-1, 2)
    with pytest.raises(UsageError, match="0 or more"):
        win_share(-1, 2)
    with pytest.raises(UsageError, match="exact or wilson"):
        win_share(1, 2, method="wald")  # type: ignore[arg-type]
