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

# Short lists with holes: relevant documents above, between and below them, some not retrieved, two levels of grades.
RANKINGS = ("-1-0-", "1-2--/1", "--/21", "2-1-/0", "0--1/22", "---", "12/1", "-2-1", "1--", "-0-/1112")
HIGHEST = 2
VARIANTS = [
    m for m in all_variants() if m.definition.family in ("ranked", "sets", "gain", "interpolated", "user_models")
]
VARIANTS += [m for m in all_variants() if m.definition.name in ("NumRel", "NumRelRet", "NumQ", "NumRet")]


def every_guess(ranking: str) -> list[str]:
    """The ranking with each hole judged in every way."""
    holes = ranking.count("-")
    found = []
    for grades in product(range(HIGHEST + 1), repeat=holes):
        guess = iter(grades)
        found.append("".join(str(next(guess)) if c == "-" else c for c in ranking))
    return found


@pytest.mark.parametrize("measure", VARIANTS, ids=str)
def test_bounds_are_the_extremes_of_everything_possible(measure: Measure) -> None:
    # A topic of the highest grade keeps it the highest of the collection, whatever the others have.
    judged = relstring("2", *RANKINGS)
    lowest, highest = measure.bounds(judged)
    for i, ranking in enumerate(RANKINGS, start=1):
        values = measure.per_topic(relstring("2", *every_guess(ranking)))[1:]
        values = np.append(values, measure.per_topic(judged)[i])  # left unjudged, as it is
        assert lowest[i] == pytest.approx(values.min(), abs=1e-12), ranking
        assert highest[i] == pytest.approx(values.max(), abs=1e-12), ranking


@pytest.mark.parametrize("measure", list(all_variants()), ids=str)
def test_bounds_hold_the_value(measure: Measure) -> None:
    judged = relstring("2", *RANKINGS, "012", "")
    lowest, highest = measure.bounds(judged)
    value = measure.per_topic(judged)
    assert np.all(lowest <= value + 1e-12)
    assert np.all(value <= highest + 1e-12)


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
