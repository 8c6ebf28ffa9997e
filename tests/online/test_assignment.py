"""Assignment by hashes: even, independent between salts, and the same for ever."""

from __future__ import annotations

import pytest
from scipy.stats import chi2_contingency, chisquare, kstest

from cranfield.errors import UsageError
from cranfield.online import assigned_arm, place_of

UNITS = [f"user-{number}" for number in range(20_000)]


def test_places_are_even_and_do_not_change() -> None:
    places = [place_of(unit, "salt") for unit in UNITS]
    assert all(0 <= place < 1 for place in places)
    assert kstest(places, "uniform").pvalue > 0.001
    assert places[0] == 0.27952535389492383  # written down: whoever was assigned stays so in later versions


@pytest.mark.parametrize("arms", [{"a": 1.0, "b": 1.0}, {"a": 3.0, "b": 1.0, "c": 0.5}, {"a": 0.0, "b": 1.0}])
def test_arms_have_their_share(arms: dict[str, float]) -> None:
    drawn = [assigned_arm(unit, "salt", arms) for unit in UNITS]
    total = sum(arms.values())
    there = {arm: weight for arm, weight in arms.items() if weight}
    assert set(drawn) == set(there)
    if len(there) > 1:
        expected = [weight / total * len(UNITS) for weight in there.values()]
        assert chisquare([drawn.count(arm) for arm in there], expected).pvalue > 0.001


def test_layers_with_different_salts_are_independent() -> None:
    arms = {"a": 1.0, "b": 1.0}
    salts = ["one", "two", "one2", "three", "on", "e"]
    layers = [[assigned_arm(unit, salt, arms) for unit in UNITS] for salt in salts]
    for first in range(len(layers)):
        for second in range(first):
            table = [[0, 0], [0, 0]]
            for one, other in zip(layers[first], layers[second], strict=True):
                table["ab".index(str(one))]["ab".index(str(other))] += 1
            assert chi2_contingency(table).pvalue > 0.0001, (salts[first], salts[second])


def test_salt_and_unit_are_kept_apart() -> None:
    assert place_of("bc", "a") != place_of("c", "ab")
    assert place_of("1|x", "s") != place_of("x", "s|1")


def test_a_growing_share_moves_nobody() -> None:
    arms = {"a": 1.0, "b": 1.0}
    before = {unit: assigned_arm(unit, "salt", arms, share=0.2) for unit in UNITS}
    after = {unit: assigned_arm(unit, "salt", arms, share=0.6) for unit in UNITS}
    assert all(after[unit] == arm for unit, arm in before.items() if arm is not None)
    taking_part = [arm for arm in before.values() if arm is not None]
    assert (
        chisquare([len(taking_part), len(UNITS) - len(taking_part)], [0.2 * len(UNITS), 0.8 * len(UNITS)]).pvalue
        > 0.001
    )
    assert chisquare([taking_part.count("a"), taking_part.count("b")]).pvalue > 0.001  # the share says nothing of arms


def test_what_makes_no_sense_is_refused() -> None:
    with pytest.raises(UsageError, match="a salt is needed"):
        assigned_arm("u", "", {"a": 1})
    for arms in ({}, {"a": -1.0, "b": 1.0}, {"a": 0.0}, {"a": float("inf")}, {"a": float("nan")}):
        with pytest.raises(UsageError, match="weights of arms are numbers from 0"):
            assigned_arm("u", "s", arms)
    with pytest.raises(UsageError, match="share is a number from 0 to 1"):
        assigned_arm("u", "s", {"a": 1}, share=2)
