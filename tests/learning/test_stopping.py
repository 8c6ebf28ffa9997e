"""Stop rules: what each says in words, when it is met, and the target test against its formula."""

from __future__ import annotations

from math import comb, floor
from random import Random

import pytest

from cranfield import UsageError
from cranfield.learning import StopRule, estimate_recall, stop_rules
from cranfield.learning.stopping import missed_target


def rules(judged: list[bool], total: int = 1000, **more: object) -> dict[str, StopRule]:
    return {rule.rule: rule for rule in stop_rules(judged, total, **more)}  # type: ignore[arg-type]


def slow_p(judged: list[bool], total: int, target: float) -> float:
    """The formula of Callaghan and Müller-Hansen, urn by urn in whole numbers."""
    found = sum(judged)
    least = 1.0
    for last in range(1, len(judged) + 1):
        seen = sum(judged[-last:])
        urn = total - (len(judged) - last)
        there = floor(round(found / target + 1 - (found - seen), 9))
        if there - seen > urn - last:
            return 0.0
        chance = sum(comb(there, x) * comb(urn - there, last - x) for x in range(seen + 1)) / comb(urn, last)
        least = min(least, chance)
    return least


@pytest.mark.parametrize("seed", range(12))
def test_the_target_test_is_that_of_the_paper(seed: int) -> None:
    random = Random(f"target {seed}")
    total = random.choice([60, 100, 300])
    judged = [random.random() < 0.6 / (1 + place / 10) for place in range(random.randint(1, total))]
    for target in (0.7, 0.8, 0.95):
        assert missed_target(judged, total, target) == pytest.approx(slow_p(judged, total, target), rel=1e-9, abs=1e-12)


def test_recall_exactly_at_the_target_is_not_missed() -> None:
    """19 of 20 are 95%: to miss it there must be 21, two more, in an urn of 81 of which 61 were drawn."""
    assert missed_target([True] * 19 + [False] * 61, 100, 0.95) == pytest.approx(20 * 19 / (81 * 80))


def test_a_target_that_cannot_be_missed() -> None:
    assert missed_target([True] * 10, 10) == 0
    assert missed_target([False] * 10, 10) == 0
    assert missed_target([], 10) == 1


def test_missing_the_target_is_seldom_overlooked() -> None:
    """Documents in random order, recall below the target: p < 5% in at most 5% of 400 sittings, and three standard
    errors more.
    """
    random = Random("overlooked")
    wrong = 0
    for _ in range(400):
        order = [True] * 40 + [False] * 160
        random.shuffle(order)
        judged = order[:170]
        wrong += sum(judged) / 40 < 0.95 and missed_target(judged, 200) < 0.05
    assert wrong / 400 <= 0.05 + 3 * (0.05 * 0.95 / 400) ** 0.5


@pytest.mark.parametrize(
    ("judged", "met", "says"),
    [
        ([], False, "none is judged; the rule asks for 3"),
        ([True], False, "the last document was relevant; the rule asks for 3"),
        ([True, False], False, "the last document was not relevant; the rule asks for 3"),
        ([True, False, False], False, "the last 2 documents were not relevant; the rule asks for 3"),
        ([True, False, False, False], True, "the last 3 documents were not relevant; the rule asks for 3"),
        ([False] * 4, True, "the last 4 documents were not relevant; the rule asks for 3"),
    ],
)
def test_documents_in_a_row(judged: list[bool], met: bool, says: str) -> None:
    rule = rules(judged, consecutive=3)["consecutive"]
    assert (rule.met, rule.says) == (met, says)


def test_the_target_test_in_words() -> None:
    rule = rules([True] * 19 + [False] * 61, 100)["target test"]
    assert (rule.met, rule.says) == (False, "recall below 95% has p = 0.059; the rule asks for less than 0.05")
    rule = rules([True] * 19 + [False] * 61, 100, target=0.8, level=0.9)["target test"]
    assert (rule.met, rule.says) == (True, "recall below 80% has p < 0.001; the rule asks for less than 0.1")
    rule = rules([False] * 96, 100)["target test"]
    assert rule.says == "none relevant was found, and that there is one has p = 0.040; the rule asks for less than 0.05"


def test_the_sample_in_words() -> None:
    assert rules([True])["sample"].met is None
    estimate = estimate_recall(total=200, asked=100, asked_relevant=50, sampled=90, sampled_relevant=0)
    rule = rules([True] * 50 + [False] * 50, 200, estimate=estimate)["sample"]
    assert rule.met is True
    assert rule.value == estimate.low
    assert rule.says == f"{estimate.says}; the rule asks for 95% at the lower end"
    poor = estimate_recall(total=200, asked=100, asked_relevant=50, sampled=20, sampled_relevant=0)
    assert rules([True] * 50, 200, estimate=poor)["sample"].met is False
    none = estimate_recall(total=200, asked=100, asked_relevant=50, sampled=0, sampled_relevant=0)
    rule = rules([True], 200, estimate=none)["sample"]
    assert (rule.met, rule.says) == (None, "no document is sampled yet: nothing can be said of what is missed")


def test_the_budget_counts_samples_too() -> None:
    assert rules([True, False])["budget"].says == "no budget is set; 2 of 1,000 documents are judged"
    assert rules([True, False])["budget"].met is None
    estimate = estimate_recall(total=1000, asked=2, asked_relevant=1, sampled=3, sampled_relevant=0)
    for budget, met in ((5, True), (6, False)):
        rule = rules([True, False], budget=budget, estimate=estimate)["budget"]
        assert (rule.met, rule.says) == (met, f"the budget is {budget} documents; 5 are judged")
    assert rules([True], budget=1)["budget"].says == "the budget is 1 document; 1 is judged"


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"total": 1}, "2 documents are judged, but there are only 1"),
        ({"target": 1.0}, "the recall to reach is between 0 and 1, not 1.0"),
        ({"level": 0}, "the level of confidence is between 0 and 1, not 0"),
        ({"consecutive": 0}, "documents in a row must be a whole number from 1, not 0"),
        ({"budget": 0}, "the budget must be a whole number from 1, not 0"),
    ],
)
def test_what_cannot_be_is_refused(wrong: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        rules([True, False], **({"total": 100} | wrong))  # type: ignore[arg-type]
