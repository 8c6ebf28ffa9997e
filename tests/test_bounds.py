"""Bounds: compared with every way in which the unjudged documents could have been judged, one by one."""

from __future__ import annotations

from itertools import product
from random import Random

import numpy as np
import pytest
from generate import all_variants

import cranfield
from cranfield import Measure, parse_measure, relstring
from cranfield.measures.bounded import by_search

# Short lists with holes: relevant documents above, between and below them, some not retrieved, several grades.
RANKINGS = ("-1-0-", "1-2--/1", "--/21", "2-1-/0", "0--1/22", "---", "12/1", "-2-1", "1--", "-0-/1112")
HIGHEST = 3


def random_rankings(seed: int, count: int) -> list[str]:
    """Short rankings with one to three holes."""
    random = Random(seed)
    made: list[str] = []
    while len(made) < count:
        shown = "".join(random.choices("-0123", (5, 2, 2, 1, 1), k=random.randint(1, 7)))
        if 1 <= shown.count("-") <= 3:
            made.append(shown + "/" + "".join(random.choices("0123", k=random.randint(0, 4))))
    return made


def every_guess(ranking: str, highest: int = HIGHEST) -> list[str]:
    """The ranking with each hole judged in every way."""
    found = []
    for grades in product(range(highest + 1), repeat=ranking.count("-")):
        guess = iter(grades)
        found.append("".join(str(next(guess)) if c == "-" else c for c in ranking))
    return found


SHORT = [*RANKINGS, *random_rankings(5, 20)]
GUESSES = [every_guess(ranking) for ranking in SHORT]
# A topic of every grade keeps the levels those of the collection, whatever the others have.
OPEN = relstring("3210", *SHORT)
CLOSED = relstring("3210", *(guess for guesses in GUESSES for guess in guesses))


@pytest.mark.parametrize("measure", list(all_variants()), ids=str)
def test_bounds_are_the_extremes_of_everything_possible(measure: Measure) -> None:
    lowest, highest = (side[1:] for side in measure.bounds(OPEN))
    values, as_it_is = measure.per_topic(CLOSED)[1:], measure.per_topic(OPEN)[1:]
    ends = np.cumsum([len(guesses) for guesses in GUESSES])
    for i, (end, guesses) in enumerate(zip(ends, GUESSES, strict=True)):
        possible = np.append(values[end - len(guesses) : end], as_it_is[i])
        assert lowest[i] == pytest.approx(possible.min(), abs=1e-12), SHORT[i]
        assert highest[i] == pytest.approx(possible.max(), abs=1e-12), SHORT[i]


def test_bounds_of_measures_that_relevance_may_hurt_are_searched_for_in_longer_lists() -> None:
    """What the search finds on lists too long for every guess holds every guess of a sample."""
    random = Random(11)
    ranking = "".join(random.choices("-0123", (6, 2, 1, 1, 1), k=30))
    judged = relstring("3210", ranking)
    guesses = ["".join(random.choice("0123") if c == "-" else c for c in ranking) for _ in range(300)]
    for measure in all_variants():
        if measure.definition.may_hurt:
            lowest, highest = measure.bounds(judged)
            values = measure.per_topic(relstring("3210", *guesses))[1:]
            assert lowest[1] <= values.min() + 1e-9, measure
            assert highest[1] >= values.max() - 1e-9, measure


@pytest.mark.parametrize("measure", list(all_variants()), ids=str)
def test_bounds_hold_the_value(measure: Measure) -> None:
    judged = relstring("2", *RANKINGS, "012", "")
    lowest, highest = measure.bounds(judged)
    value = measure.per_topic(judged)
    assert np.all(lowest <= value + 1e-12)
    assert np.all(value <= highest + 1e-12)


def test_searched_bounds_are_told() -> None:
    results = cranfield.evaluate({"1": {"a": 1}}, {"1": {"b": 2.0, "a": 1.0}}, ["AP", "Compat"], bounds=True)
    assert [warning.message for warning in results.warnings if warning.code == "searched-bounds"] == [
        "bounds of Compat are the widest that a search found; in long lists wider ones may be possible"
    ]


def test_negative_grades_are_holes() -> None:
    qrels = {"1": {"a": 1, "b": -1}, "2": {"a": 1}}
    with_negative = cranfield.evaluate(
        qrels, {"1": {"b": 2.0, "a": 1.0}, "2": {"b": 2.0, "a": 1.0}}, ["AP", "nDCG", "Bpref"], bounds=True
    )
    assert with_negative.lower is not None
    assert with_negative.upper is not None
    assert with_negative.lower[0, :2, 0].tolist() == pytest.approx(with_negative.lower[0, :2, 1].tolist())
    assert with_negative.upper[0, :, 0].tolist() == pytest.approx(with_negative.upper[0, :, 1].tolist())


@pytest.mark.parametrize("name", ["IPrec@0.0", "IPrec@0.1", "IPrec@0.7", "IPrec@1.0", "InterpolatedAP"])
def test_bounds_of_interpolated_precision_on_longer_lists_are_those_of_the_search(name: str) -> None:
    random = Random(name)
    rankings = [
        "".join(random.choices("-012", (6, 2, 1, 1), k=random.randint(1, 60)))
        + "/"
        + "".join(random.choices("012", k=random.randint(0, 12)))
        for _ in range(60)
    ]
    measure, judged = parse_measure(name), relstring("1", *rankings)
    lowest, highest = measure.bounds(judged)
    by_trying = by_search(judged, measure.per_topic, 2)
    assert lowest.tolist() == pytest.approx(by_trying[0].tolist(), abs=1e-12)
    assert highest.tolist() == pytest.approx(by_trying[1].tolist(), abs=1e-12)
