"""Compatibility is the best overlap with any ideal ranking; accuracy the area under a curve."""

from __future__ import annotations

from itertools import pairwise, permutations
from random import Random

import numpy as np
import pytest

from cranfield import evaluate
from cranfield.judged import relstring
from cranfield.measures import parse_measure


def overlap(one: list[str], other: list[str], p: float, depth: int) -> float:
    return sum(p ** (i - 1) * len(set(one[:i]) & set(other[:i])) / i for i in range(1, depth + 1))


@pytest.mark.parametrize("p", [0.5, 0.95])
def test_no_ideal_ranking_overlaps_more(p: float) -> None:
    for seed in range(30):
        random = Random(seed)
        names = list("abcdefgh")
        grades = {name: random.choice((0, 1, 1, 2, 2)) for name in random.sample(names, 6)} | {"z": 1}
        ranking = random.sample(names, random.randint(1, 8))
        wanted = [name for name, grade in grades.items() if grade > 0]
        ideals = [
            list(order)
            for order in permutations(wanted)
            if all(grades[one] >= grades[next_one] for one, next_one in pairwise(order))
        ]
        depth = max(len(ranking), len(wanted))
        best = max(overlap(ranking, ideal, p, depth) for ideal in ideals)
        run = {"1": {name: -float(i) for i, name in enumerate(ranking)}}
        scores = evaluate({"1": grades}, run, [f"Compat(p={p})", f"Compat(p={p}, normalize=False)"]).scores[0, :, 0]
        assert scores[0] == pytest.approx(best / overlap(ideals[0], ideals[0], p, depth), rel=1e-12)
        assert scores[1] == pytest.approx(best / sum(p**i for i in range(depth)), rel=1e-12)


def test_an_ideal_ranking_is_compatible_and_an_empty_one_is_not() -> None:
    values = parse_measure("Compat").per_topic(relstring("3221", "0-0/1", "/1", "00", "1221"))
    assert values[:4].tolist() == pytest.approx([1, 0, 0, 0])
    assert 0 < values[4] < 1


def test_accuracy_is_the_area_under_the_roc_curve() -> None:
    for seed in range(20):
        rng = np.random.default_rng(seed)
        relevant = rng.random(15) < 0.4
        relevant[:2] = True, False
        relevant = rng.permutation(relevant)
        steps = np.cumsum(relevant)[~relevant] / relevant.sum()  # the height of the curve at each step to the right
        ranking = relstring("".join("1" if hit else "0" for hit in relevant))
        assert parse_measure("Accuracy").per_topic(ranking)[0] == pytest.approx(steps.mean(), rel=1e-12)
