"""Distances between originals and reproductions: hand-worked figures, slow definitions, coverage of the intervals."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest

from cranfield import DataError, UsageError, evaluate
from cranfield.agreement import Overlap, reproduction
from cranfield.evaluation.experiment import Experiment
from cranfield.statistics.reproducibility import (
    Effect,
    delta_relative_improvement,
    effect_ratio,
    kendall_tau_union,
    nrmse,
    reproduction_of_effect,
    reproduction_of_scores,
    rmse,
    share_of_sign_changes,
)
from cranfield.statistics.significance import Floats, Sampling

BASELINE, ADVANCED = np.array([0.2, 0.3, 0.1, 0.4]), np.array([0.4, 0.3, 0.2, 0.6])
BASELINE_AGAIN, ADVANCED_AGAIN = np.array([0.1, 0.3, 0.2, 0.2]), np.array([0.2, 0.3, 0.2, 0.4])


def test_hand_worked_figures() -> None:
    """Improvements of 0.125 on 0.25 and of 0.075 on 0.2."""
    original, again = Effect(BASELINE, ADVANCED), Effect(BASELINE_AGAIN, ADVANCED_AGAIN)
    assert effect_ratio(original, again) == pytest.approx(0.6)
    assert delta_relative_improvement(original, again) == pytest.approx(0.5 - 0.375)
    assert rmse(BASELINE, BASELINE_AGAIN) == pytest.approx(math.sqrt((0.01 + 0 + 0.01 + 0.04) / 4))
    worst = math.sqrt((0.8**2 + 0.7**2 + 0.9**2 + 0.6**2) / 4)
    assert nrmse(BASELINE, BASELINE_AGAIN) == pytest.approx(math.sqrt(0.015) / worst)


def test_perfect_reproduction() -> None:
    original = Effect(BASELINE, ADVANCED)
    assert rmse(BASELINE, BASELINE) == nrmse(BASELINE, BASELINE) == 0
    assert effect_ratio(original, original) == 1
    assert delta_relative_improvement(original, original) == 0


def test_nothing_is_further_off_than_one() -> None:
    generator = np.random.default_rng(0)
    for _ in range(50):
        original = generator.random(10)
        assert nrmse(original, (original < 0.5).astype(float)) == pytest.approx(1)
        assert 0 <= nrmse(original, generator.random(10)) <= 1
    assert math.isnan(nrmse(np.array([0.5, 3.0]), np.array([0.5, 1.0])))


def test_no_effect_has_no_ratio() -> None:
    nothing = Effect(np.array([0.0, 0.0]), np.array([0.0, 0.0]))
    assert math.isnan(effect_ratio(nothing, nothing))
    assert math.isnan(delta_relative_improvement(nothing, nothing))


def slow_union(original: list[str], reproduced: list[str]) -> float:
    union = [*original, *(d for d in reproduced if d not in original)]
    pairs = list(combinations(range(len(original)), 2))
    numbers = [union.index(d) for d in reproduced]
    return sum(1 if numbers[i] < numbers[j] else -1 for i, j in pairs) / len(pairs)


def test_kendall_tau_union() -> None:
    assert kendall_tau_union(["d1", "d2", "d3"], ["d1", "d2", "d4"]) == 1
    assert kendall_tau_union(["d1", "d2", "d3"], ["d3", "d2", "d1"]) == -1
    assert kendall_tau_union(["d1", "d2", "d3", "d9"], ["d2", "d1", "d3"], depth=3) == pytest.approx(1 / 3)
    assert math.isnan(kendall_tau_union(["d1"], ["d1"]))
    generator = np.random.default_rng(1)
    for _ in range(40):
        original, reproduced = (generator.permutation([f"d{i}" for i in range(12)])[:6].tolist() for _ in range(2))
        found = kendall_tau_union(original, reproduced)
        assert found == pytest.approx(slow_union(original, reproduced))
        spelt = dict(
            zip((f"d{i}" for i in range(12)), generator.permutation(list("zyxwvutsrqpo")).tolist(), strict=True)
        )
        assert kendall_tau_union([spelt[d] for d in original], [spelt[d] for d in reproduced]) == found


def simulated(generator: np.random.Generator, topics: int) -> tuple[Effect, Effect]:
    """An improvement of 0.1 on 0.4, reproduced as one of 0.05 on 0.4; topics are as difficult on both sides."""
    difficulty = generator.normal(0, 0.1, topics)

    def scores(mean: float) -> Floats:
        drawn: Floats = mean + difficulty + generator.normal(0, 0.08, topics)
        return drawn

    return Effect(scores(0.4), scores(0.5)), Effect(scores(0.4), scores(0.45))


def test_intervals_hold_the_truth_as_often_as_they_say() -> None:
    """Nominal 95 %, 150 samples of 50 topics: within four standard errors, and a point for percentile intervals."""
    generator = np.random.default_rng(2)
    truth = {"effect ratio": 0.5, "delta relative improvement": 0.25 - 0.125}
    held = dict.fromkeys(truth, 0)
    for number in range(150):
        found = reproduction_of_effect(*simulated(generator, 50), Sampling(number, 149), same_topics=True)
        for name, value in truth.items():
            held[name] += found[name].low <= value <= found[name].high
    for name, count in held.items():
        assert 0.95 - 0.01 - 4 * math.sqrt(0.95 * 0.05 / 150) <= count / 150, name


def test_independent_topics_have_wider_intervals() -> None:
    original, again = simulated(np.random.default_rng(3), 40)
    same = reproduction_of_effect(original, original, Sampling(0, 200), same_topics=True)["effect ratio"]
    assert (same.low, same.high) == pytest.approx((1, 1))
    other = reproduction_of_effect(original, original, Sampling(0, 200), same_topics=False)["effect ratio"]
    assert other.low < 1 < other.high
    fewer = Effect(again.baseline[:30], again.advanced[:30])
    assert reproduction_of_effect(original, fewer, Sampling(0, 50), same_topics=False)["effect ratio"].low > -1


def test_same_seed_same_interval() -> None:
    original, again = simulated(np.random.default_rng(4), 20)
    one, same, other = (
        reproduction_of_scores(original.baseline, again.baseline, Sampling(seed, 50)) for seed in (1, 1, 2)
    )
    assert one == same
    assert one != other
    with pytest.raises(UsageError, match="different topics"):
        reproduction_of_scores(original.baseline, again.baseline[1:], Sampling())


def test_effects_that_turn_round_are_noticed() -> None:
    clear = Effect(np.full(20, 0.3), np.full(20, 0.5))
    assert share_of_sign_changes(clear, Sampling(0, 100)) == 0
    generator = np.random.default_rng(5)
    noise = Effect(generator.random(20), generator.random(20))
    assert share_of_sign_changes(noise, Sampling(0, 400)) > 0.05


# The whole, from runs

QRELS = {f"q{t}": {"d1": 1, "d2": 1} for t in range(8)}


def run(*tops: str) -> dict[str, dict[str, float]]:
    """Each topic's list starts with one of the documents given, in turn."""
    rest = ["x", "d1", "y", "d2", "z"]
    return {
        topic: {d: -float(rank) for rank, d in enumerate(dict.fromkeys([tops[t % len(tops)], *rest]))}
        for t, topic in enumerate(QRELS)
    }


def test_reproduction_of_two_runs() -> None:
    originals, copies = {"old": run("x"), "new": run("d1", "d2")}, {"old2": run("x", "y"), "new2": run("d1")}
    found = reproduction(Experiment(QRELS, originals), copies, ["AP", "RR"], sampling=Sampling(0, 50))
    scores = evaluate(QRELS, originals | copies, ["AP", "RR"])
    for measure in ("AP", "RR"):
        old, new, old2, new2 = (scores.of(measure, name) for name in ("old", "new", "old2", "new2"))
        assert found.of("old", measure, "RMSE")["value"] == rmse(old, old2)
        assert found.of("new", measure, "nRMSE")["value"] == nrmse(new, new2)
        ratio = found.of("new on old", measure, "effect ratio")
        assert ratio["value"] == effect_ratio(Effect(old, new), Effect(old2, new2))
        assert ratio["perfect"] == 1
        delta = found.of("new on old", measure, "delta relative improvement")
        assert delta["value"] == delta_relative_improvement(Effect(old, new), Effect(old2, new2))
    assert found.of("new", "–", "overlap@10")["value"] == 1
    assert found.of("new", "–", "RBO(p=0.9)")["value"] < 1
    assert "old: reproduced by old2" in found.notes


def test_a_perfect_copy() -> None:
    found = reproduction(Experiment(QRELS, run("d1", "y")), run("d1", "y"), "AP", sampling=Sampling(0, 20))
    for row in found.rows:
        value, low, high, perfect = row.values
        assert (value, low, high) == pytest.approx((perfect,) * 3), row.names


def test_another_collection() -> None:
    others = {f"t{i}": {"d1": 1} for i in range(5)}
    base, better = ({t: {"x": 2.0 - flip, "d1": 1.5} for t in others} for flip in (0, 1))
    originals, copies = {"old": run("x"), "new": run("d1")}, {"old2": base, "new2": better}
    found = reproduction(Experiment(QRELS, originals), copies, "RR", other_qrels=others, sampling=Sampling(0, 20))
    assert [row.names[2] for row in found.rows] == ["effect ratio", "delta relative improvement"]
    assert found.of("new on old", "RR", "effect ratio")["value"] == pytest.approx(1)
    with pytest.raises(UsageError, match="only an improvement"):
        reproduction(Experiment(QRELS, run("x")), base, "RR", other_qrels=others)


def test_doubts_are_named() -> None:
    originals, copies = {"old": run("x", "d1"), "new": run("d1", "x")}, {"old2": run("x"), "new2": run("d1")}
    found = reproduction(Experiment(QRELS, originals), copies, "RR", overlap=Overlap(p=0.95), sampling=Sampling(0, 100))
    codes = {warning.code for warning in found.warnings if warning.doubtful}
    assert {"unsure-effect", "large-residual"} <= codes
    assert math.isnan(found.of("new on old", "RR", "effect ratio")["value"])


def test_wrong_requests() -> None:
    with pytest.raises(UsageError, match="2 originals and 1 reproduction"):
        reproduction(Experiment(QRELS, {"a": run("x"), "b": run("d1")}), {"c": run("x")}, "AP")
    with pytest.raises(UsageError, match="arithmetic means"):
        reproduction(Experiment(QRELS, run("x")), run("x"), "NumRelRet")
    with pytest.raises(DataError, match="no topic in common"):
        reproduction(Experiment(QRELS, run("x")), {"other": {"d1": 1.0}}, "AP")
