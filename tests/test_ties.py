"""Ties: the mean over all orders is compared with every order, one by one; best and worst with the extremes of them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations, product

import numpy as np
import pytest
from generate import Judgements, Rankings, all_variants

import cranfield
from cranfield import Measure, Policy, evaluate

# Groups of tied documents by topic; a letter is a document, its judgement below.
TOPICS = {
    "1": ["ab", "cde", "f"],
    "2": ["abcd", "e"],
    "3": ["x", "yz", "ab"],
    "4": ["abcde"],
    "5": ["a", "b", "c"],
}
GRADES: dict[str, float] = {"a": 1, "b": 0, "c": 2, "e": 3, "y": 0, "z": 1, "f": 0, "x": -1}
QRELS: Judgements = {topic: dict(GRADES) for topic in TOPICS} | {"6": {"a": 1}}
TIED: Rankings = {
    topic: {document: -float(number) for number, group in enumerate(groups) for document in group}
    for topic, groups in TOPICS.items()
}
VARIANTS = list(all_variants())
EXACT = [measure for measure in VARIANTS if measure.definition.exact_ties]
SAMPLED = [measure for measure in VARIANTS if not measure.definition.exact_ties][::4]  # drawing orders takes its time


def orders(groups: list[str]) -> Iterator[str]:
    """Every ranking that the groups allow."""
    return ("".join(map("".join, order)) for order in product(*map(permutations, groups)))


def untied(order: str) -> dict[str, float]:
    return {document: -float(rank) for rank, document in enumerate(order)}


def all_orders(policy: Policy) -> dict[str, np.ndarray[tuple[int, int], np.dtype[np.float64]]]:
    """For each topic the scores in every order: scores[order, measure]."""
    found = {}
    for topic, groups in TOPICS.items():
        runs = {str(i): {topic: untied(order)} for i, order in enumerate(orders(groups))}
        results = evaluate(QRELS, runs, VARIANTS, policy=policy)
        found[topic] = results.scores[:, :, results.topics.index(topic)]
    return found


PLAIN = all_orders(Policy())
CONDENSED = all_orders(Policy(judged_only=True))
CUT = all_orders(Policy(depth=3))


@pytest.mark.parametrize("measure", EXACT, ids=str)
def test_the_exact_mean_is_that_of_all_orders(measure: Measure) -> None:
    index = VARIANTS.index(measure)
    for policy, scores in ((Policy(ties="expected"), PLAIN), (Policy(ties="expected", judged_only=True), CONDENSED)):
        found = evaluate(QRELS, TIED, measure, policy=policy).per_topic()["run"]
        for topic, of_orders in scores.items():
            assert found[topic][str(measure)] == pytest.approx(of_orders[:, index].mean(), abs=1e-12), (topic, policy)
        assert found["6"][str(measure)] == evaluate(QRELS, TIED, measure).per_topic()["run"]["6"][str(measure)]


@pytest.mark.parametrize(("depth", "scores"), [(None, PLAIN), (3, CUT)], ids=["whole", "cut"])
def test_sampled_means_are_near_and_say_how_near(depth: int | None, scores: dict[str, np.ndarray]) -> None:
    wanted = SAMPLED if depth is None else VARIANTS[::5]
    policy = Policy(ties="expected", samples=600, seed=3, depth=depth)
    results = evaluate(QRELS, TIED, wanted, policy=policy)
    for measure in wanted:
        index = VARIANTS.index(measure)
        for topic, of_orders in scores.items():
            spread = of_orders[:, index].std()
            value = results.per_topic()["run"][topic][str(measure)]
            assert value == pytest.approx(of_orders[:, index].mean(), abs=5 * spread / 600**0.5 + 1e-12), (
                measure,
                topic,
            )
    said = {warning.code for warning in results.warnings}
    assert "sampled-ties" in said


def test_the_same_seed_gives_the_same_numbers_whatever_the_threads() -> None:
    runs = {"a": TIED, "b": {topic: TIED[topic] for topic in ("1", "2")}}
    one, two, other = (
        evaluate(QRELS, runs, VARIANTS, policy=Policy(ties="expected", seed=seed, samples=5), threads=threads).scores
        for seed, threads in ((1, 1), (1, 4), (2, 1))
    )
    assert one.tolist() == two.tolist()
    assert one.tolist() != other.tolist()


# Measures that grow when a better document moves up; others have no best order that grades decide.
MONOTONE = [
    m
    for m in VARIANTS
    if m.definition.name
    in (
        "P",
        "R",
        "F",
        "AP",
        "RR",
        "Rprec",
        "nDCG",
        "DCG",
        "CG",
        "RBP",
        "ERR",
        "Success",
        "IPrec",
        "Bpref",
        "InterpolatedAP",
    )
    and "gain={" not in str(m)
]


@pytest.mark.parametrize("measure", MONOTONE, ids=str)
def test_best_and_worst_are_the_best_and_the_worst_of_all_orders(measure: Measure) -> None:
    index = VARIANTS.index(measure)
    best, worst = (
        evaluate(QRELS, TIED, measure, policy=Policy(ties=ties)).per_topic()["run"] for ties in ("best", "worst")
    )
    for topic, of_orders in PLAIN.items():
        assert best[topic][str(measure)] == pytest.approx(of_orders[:, index].max(), abs=1e-12), topic
        assert worst[topic][str(measure)] == pytest.approx(of_orders[:, index].min(), abs=1e-12), topic


@pytest.mark.parametrize("ties", ["best", "worst", "expected", "file"])
def test_without_ties_every_policy_gives_the_same(ties: str) -> None:
    run = {topic: untied("".join(groups)) for topic, groups in TOPICS.items()}
    one, other = (evaluate(QRELS, run, VARIANTS, policy=Policy(ties=t)).scores for t in ("docid", ties))
    assert one.tolist() == other.tolist()


def test_a_constant_scorer_is_not_rewarded() -> None:
    run = {"q": {f"d{i}": 1.0 for i in range(100)}}
    results = evaluate({"q": {"d99": 1}}, run, ["RR", "P@1", "Success@10"], policy=Policy(ties="expected"))
    harmonic = sum(1 / rank for rank in range(1, 101)) / 100
    assert results.mean()["run"] == pytest.approx({"RR": harmonic, "P@1": 0.01, "Success@10": 0.1})


def test_expected_ties_cut_at_a_depth_are_left_to_evaluate() -> None:
    run, qrels = cranfield.read_run(TIED), cranfield.read_qrels(QRELS)
    with pytest.raises(cranfield.UsageError, match="`evaluate` draws orders"):
        cranfield.judge(run, qrels, Policy(ties="expected", depth=5))


def test_no_score_is_ever_missing() -> None:
    for ties in ("best", "worst", "expected"):
        scores = evaluate(QRELS, TIED, VARIANTS, policy=Policy(ties=ties, samples=5)).scores
        assert not np.isnan(scores).any()
