"""Plans of studies: what is promised to be balanced is, and what is not is said."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.power import TTestIndPower, TTestPower

from cranfield.errors import UsageError
from cranfield.studies import graeco_latin_square, plan_study, williams_squares

NAMES = [f"S{n}" for n in range(9)]
TOPICS = [f"t{n}" for n in range(40)]


@pytest.mark.parametrize("systems", range(2, 13))
def test_williams_balances_places_and_neighbours(systems: int) -> None:
    rows = williams_squares(systems)
    assert len(rows) == (2 * systems if systems % 2 else systems)
    assert all(sorted(row) == list(range(systems)) for row in rows)
    places = Counter((place, system) for row in rows for place, system in enumerate(row))
    neighbours = Counter(pair for row in rows for pair in itertools.pairwise(row))
    assert len(places) == systems**2
    assert len(neighbours) == systems * (systems - 1)
    assert len(set(places.values())) == len(set(neighbours.values())) == 1


@pytest.mark.parametrize("order", [3, 4, 5, 7, 8, 9, 15, 16])
def test_graeco_latin_squares_meet_once(order: int) -> None:
    ones, others = graeco_latin_square(order)
    for square in (ones, others):
        assert all(sorted(line) == list(range(order)) for line in (*square, *zip(*square, strict=True)))
    met = {(a, b) for one, other in zip(ones, others, strict=True) for a, b in zip(one, other, strict=True)}
    assert len(met) == order**2


@pytest.mark.parametrize(("order", "why"), [(2, "there is none"), (6, "there is none"), (10, "none is known here")])
def test_squares_that_there_are_not_are_told(order: int, why: str) -> None:
    with pytest.raises(UsageError, match=f"of {order} systems: {why}; take the design williams"):
        graeco_latin_square(order)


@pytest.mark.parametrize("systems", range(2, 9))
def test_a_whole_plan_is_even_in_everything(systems: int) -> None:
    plan = plan_study(NAMES[:systems], TOPICS[: 2 * systems], participants=2 * systems, seed=3)
    assert plan.cycle == 2 * systems
    assert [balance.what for balance in plan.balances if not balance.even] == []
    assert plan.warnings == ()
    met = Counter((turn.system, topic) for turn in plan.assignments for topic in turn.topics)
    assert set(met.values()) == {2}
    assert len(met) == systems * 2 * systems


@pytest.mark.parametrize("participants", [1, 5, 7, 12])
@pytest.mark.parametrize("design", ["williams", "graeco-latin"])
def test_nobody_has_a_topic_or_a_system_twice(participants: int, design: str) -> None:
    plan = plan_study(NAMES[:3], TOPICS[:8], participants=participants, design=design)
    by_participant: dict[str, list[str]] = {}
    for turn in plan.assignments:
        assert len(turn.topics) == 2
        by_participant.setdefault(turn.participant, []).extend((turn.system, *turn.topics))
    assert len(by_participant) == participants
    for things in by_participant.values():
        assert len(set(things)) == len(things) == 9


def test_the_seed_decides_all() -> None:
    def turns(seed: int) -> object:
        return plan_study(NAMES[:4], TOPICS[:8], participants=8, seed=seed).assignments

    assert turns(1) == turns(1)
    assert turns(1) != turns(2)


def test_what_is_uneven_is_said_with_figures() -> None:
    plan = plan_study(["A", "B", "C"], TOPICS[:7], participants=4)
    shown = {balance.what: (balance.least, balance.most) for balance in plan.balances}
    assert shown["a system is used"] == (4, 4)
    assert shown["a system is in a place"] == (1, 2)
    unfinished, left = plan.warnings
    assert unfinished.message.startswith("4 participants, no multiple of 6: uneven is how often a system is in a place")
    assert unfinished.message.endswith("6 would be a whole plan")
    assert left.message.startswith("1 topic of 7 left over, which nobody has: t")
    assert plan_study(["A", "B", "C"], participants=9).warnings[0].message.endswith("6 or 12 would be a whole plan")


def test_fewer_systems_for_each() -> None:
    plan = plan_study(NAMES[:4], participants=8, systems_each=2)
    assert Counter(turn.participant for turn in plan.assignments).most_common()[0][1] == 2
    shown = {balance.what: (balance.least, balance.most) for balance in plan.balances}
    assert shown["a system is used"] == (4, 4)
    assert shown["a participant uses two systems"] == (0, 2)
    assert "uneven even in a whole plan" in plan.warnings[0].message


def test_fewer_topics_for_each() -> None:
    plan = plan_study(["A", "B"], TOPICS[:8], participants=4, topics_each=1)
    assert {len(turn.topics) for turn in plan.assignments} == {1}
    assert "6 topics of 8 left over" in plan.warnings[0].message


def chance(effect: float, freedom: float, errors: float, level: float) -> float:
    """That a t test finds an effect which is so many standard errors, by SciPy's noncentral t."""
    edge = stats.t.ppf(1 - level / 2, freedom)
    return float(stats.nct.sf(edge, freedom, effect * errors) + stats.nct.cdf(-edge, freedom, effect * errors))


@pytest.mark.parametrize(("systems", "participants"), [(2, 4), (2, 12), (2, 60), (3, 6), (5, 20)])
def test_what_a_plan_could_find_is_found_with_a_chance_of_80_percent(systems: int, participants: int) -> None:
    plan = plan_study(NAMES[:systems], participants=participants, sd=12.5)
    (row,) = plan.findable
    pairs = systems * (systems - 1) // 2
    assert (row.over, row.number, row.paired) == ("participants", participants, True)
    assert chance(row.effect, participants - 1, np.sqrt(participants), 0.05 / pairs) == pytest.approx(0.8, abs=1e-6)
    solved = TTestPower().solve_power(nobs=participants, alpha=0.05 / pairs, power=0.8)
    assert row.effect == pytest.approx(solved, rel=1e-3)
    assert row.difference == pytest.approx(12.5 * row.effect)
    shown = str(plan)
    assert f"participants {participants:7} {row.effect:7.2f} {row.difference:11.2f}" in shown
    level = "0.05" if pairs == 1 else f"0.05 / {pairs} pairs"
    assert f"that a paired t test at {level} finds with a chance of 80%; in standard deviations, over" in shown
    assert "over participants, of differences between two systems" in shown
    assert "in points of the scale, if the standard deviation is 12.5" in shown


def test_participants_of_its_own_for_each_system_are_independent_samples() -> None:
    plan = plan_study(NAMES[:2], TOPICS[:8], participants=24, systems_each=1)
    people, topics = plan.findable
    assert (people.over, people.number, people.paired, people.difference) == ("participants", 12, False, None)
    assert chance(people.effect, 22, np.sqrt(6), 0.05) == pytest.approx(0.8, abs=1e-6)
    assert people.effect == pytest.approx(TTestIndPower().solve_power(nobs1=12, alpha=0.05, power=0.8), rel=1e-3)
    assert "that a t test at 0.05 finds" in str(plan)
    assert "of scores, as each system has participants of its own" in str(plan)
    assert (topics.over, topics.number, topics.paired) == ("topics", 8, True)
    assert chance(topics.effect, 7, np.sqrt(8), 0.05) == pytest.approx(0.8, abs=1e-6)


def test_topics_count_where_systems_share_them() -> None:
    whole = plan_study(NAMES[:2], TOPICS[:6], participants=4, sd=10)
    assert [(row.over, row.number, row.difference is None) for row in whole.findable] == [
        ("participants", 4, False),
        ("topics", 6, True),
    ]
    assert "and may need a larger difference than either" in str(whole)
    alone = plan_study(NAMES[:2], TOPICS[:6], participants=1)
    assert alone.findable == ()
    assert "What it could find" not in str(alone)
    assert "topics: the same" not in str(plan_study(NAMES[:2], participants=4))


def test_a_plan_that_finds_nothing_is_told() -> None:
    def told(participants: int, systems_each: int | None = None) -> str | None:
        warnings = plan_study(NAMES[:4], participants=participants, systems_each=systems_each).warnings
        return next((finding.message for finding in warnings if finding.code == "too-few-participants"), None)

    both = "fewer than two participants have both of two systems: a t test could find no difference"
    assert told(participants=1) == told(participants=8, systems_each=2) == both
    one = "fewer than two participants have a system: a t test could find no difference"
    assert told(participants=4, systems_each=1) == one
    assert told(participants=2) is told(participants=8, systems_each=1) is None


def test_what_cannot_be_computed_is_no_error() -> None:
    plan = plan_study([f"S{n}" for n in range(1000)], participants=2)
    assert np.isnan(plan.findable[0].effect)
    assert "–: for so few, at so small a level, it cannot be computed" in str(plan)
    assert "cannot be computed" not in str(plan_study(NAMES[:2], participants=2))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"systems": ["A"]}, "at least two systems"),
        ({"systems": ["A", "A"]}, "system A is given twice"),
        ({"topics": ["1", "1"]}, "topic 1 is given twice"),
        ({"topics": ["1"]}, "1 topic for 2 systems: nobody has a topic twice, so that there must be at least 2"),
        ({"topics": ["1", "2"], "topics_each": 2}, "each system with 2 needs at least 4"),
        ({"topics_each": 2}, "name the topics"),
        ({"participants": 0}, "at least one participant, not 0"),
        ({"sd": 0}, "the standard deviation is a finite number above 0, not 0"),
        ({"sd": float("inf")}, "the standard deviation is a finite number above 0, not inf"),
        ({"design": "latin"}, "a design is williams or graeco-latin, not 'latin'"),
        ({"systems_each": 3}, "uses from 1 to 2 systems, not 3"),
        ({"participants": 600_000}, "600,000 participants would be given more than 1,000,000"),
    ],
)
def test_what_makes_no_plan_is_told(change: dict[str, object], message: str) -> None:
    given: dict[str, object] = {"systems": ["A", "B"], "topics": [], "participants": 4} | change
    with pytest.raises(UsageError) as error:
        plan_study(**given)  # type: ignore[arg-type]
    assert message in str(error.value)
