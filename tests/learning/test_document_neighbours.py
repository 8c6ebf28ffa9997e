"""Neighbours: those that comparing all pairs gives, and scores averaged with theirs."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from cranfield.learning import Features, build_features, neighbours

DRAW = Random(8)
TEXTS = {f"d{i}": " ".join(f"w{int(DRAW.expovariate(0.05))}q" for _ in range(DRAW.randint(0, 30))) for i in range(60)}


def dense(features: Features, most: int) -> list[list[float]]:
    """The cosine of every pair, by the columns that at most so many documents have; -1 of a document with itself."""
    matrix = features.matrix.toarray()
    matrix[:, features.frequencies > most] = 0
    cosines = matrix @ matrix.T
    np.fill_diagonal(cosines, -1)
    return [[float(value) for value in row] for row in cosines]


@pytest.mark.parametrize("common", [4, 500])
def test_they_are_those_of_all_pairs(common: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(neighbours, "COMMON", common)
    features = build_features(TEXTS)
    made = features.neighbours
    for row, cosines in enumerate(dense(features, common)):
        wanted = sorted((-value, number) for number, value in enumerate(cosines) if value > 0)[: neighbours.NEIGHBOURS]
        assert made.cosines[row].tolist()[: len(wanted)] == pytest.approx([-value for value, _ in wanted], abs=1e-5)
        assert made.cosines[row].tolist()[len(wanted) :] == [0] * (neighbours.NEIGHBOURS - len(wanted))
        for number, cosine in zip(made.numbers[row].tolist(), made.cosines[row].tolist(), strict=True):
            assert number == row if cosine == 0 else cosine == pytest.approx(cosines[number], abs=1e-5)


def test_scores_are_averaged_by_squared_cosines() -> None:
    features = build_features(TEXTS)
    made = features.neighbours
    scores = np.random.default_rng(1).normal(size=len(TEXTS))
    smoothed = made.smoothed(scores)
    for row in range(len(TEXTS)):
        pairs = list(zip(made.numbers[row].tolist(), made.cosines[row].tolist(), strict=True))
        total = 0.25 * scores[row] + sum(cosine**2 * scores[number] for number, cosine in pairs)
        assert smoothed[row] == pytest.approx(total / (0.25 + sum(cosine**2 for _, cosine in pairs)), abs=1e-6)


@pytest.mark.parametrize("texts", [{"a": "ducks"}, {"a": ""}, {"a": "ducks", "b": "a car"}, {"a": "", "b": ""}])
def test_what_is_like_nothing_keeps_its_score(texts: dict[str, str]) -> None:
    made = build_features(texts).neighbours
    scores = np.arange(1.0, len(texts) + 1)
    assert made.smoothed(scores).tolist() == scores.tolist()


def test_a_score_spreads_to_what_is_like_it() -> None:
    made = build_features({"a": "ducks swim far", "b": "ducks swim fast", "c": "a red car", "d": "ducks"}).neighbours
    smoothed = made.smoothed(np.array([1.0, 0, 0, 0]))
    assert smoothed[0] > smoothed[1] > smoothed[3] > smoothed[2] == 0
