"""Probabilities of relevance: means are compared with every way in which relevance may come out, one by one."""

from __future__ import annotations

from itertools import product
from math import prod
from pathlib import Path
from random import Random

import numpy as np
import pytest

from commands import command_line
from cranfield import DataError, Measure, Policy, UsageError, evaluate
from cranfield.formats.reading import Reading
from cranfield.judged import relstring
from cranfield.measures import parse_measure
from generate import Judgements, Rankings, all_variants

CHANCES: Judgements = {
    "1": {"a": 0.5, "b": 0.2, "c": 0.9, "d": 0.2, "e": 1.0, "f": 0.0},
    "2": {"a": 0.1, "b": 0.3, "g": 0.7},
    "3": {"a": 1.0, "b": 0.0},
    "4": {"a": 0.25, "h": 0.25},
}
RUN: Rankings = {
    "1": {"b": 9, "x": 8, "a": 7, "f": 6, "d": 5, "y": 4, "e": 3},
    "2": {"g": 5, "x": 4, "a": 1},
    "3": {"b": 2, "a": 1},
}
# A topic with many ways, so that it has to be drawn.
MANY: Judgements = {"5": {f"d{i}": round(0.05 + 0.08 * i, 2) for i in range(11)} | {"sure": 1.0}}
LONG: Rankings = {"5": {f"d{i * 7 % 11}": -float(i) for i in range(9)} | {"sure": -3.5, "x": -5.5}}
VARIANTS = list(all_variants())
LINEAR = [measure for measure in VARIANTS if measure.traits.linear]


def expectation(
    chances: dict[str, float], scores: dict[str, float], measures: list[Measure], policy: Policy
) -> list[float]:
    """Every way as a topic of its own, weighted by how likely it is."""
    uncertain = [document for document, chance in chances.items() if 0 < chance < 1]
    qrels: Judgements = {"best": {"z": 1.0}}  # the highest grade is 1 even where nothing is relevant
    weights = [0.0]
    for number, bits in enumerate(product((0.0, 1.0), repeat=len(uncertain))):
        qrels[str(number)] = chances | dict(zip(uncertain, bits, strict=True))
        weights.append(prod(chances[d] if bit else 1 - chances[d] for d, bit in zip(uncertain, bits, strict=True)))
    run: Rankings = {"best": {"z": 1.0}} | ({topic: scores for topic in qrels if topic != "best"} if scores else {})
    results = evaluate(qrels, run, measures, policy=policy)
    order = [results.topics.index(topic) for topic in qrels]
    values: list[float] = (results.scores[0][:, order] @ np.array(weights)).tolist()
    return values


@pytest.mark.parametrize(
    "policy",
    [Policy(), Policy(judged_only=True), Policy(depth=3), Policy(ties="file")],
    ids=["", "judged", "cut", "file"],
)
def test_few_ways_are_gone_through_one_by_one(policy: Policy) -> None:
    chances = Policy(**vars(policy) | {"grades": "probabilities", "samples": 16})
    results = evaluate(CHANCES, RUN, VARIANTS, policy=chances)
    for t, topic in enumerate(results.topics):
        expected = expectation(CHANCES[topic], RUN.get(topic, {}), VARIANTS, policy)
        assert results.scores[0, :, t].tolist() == pytest.approx(expected, rel=1e-12, abs=1e-12), topic
    assert not {"sampled-relevance", "fractional-grades"} & {warning.code for warning in results.warnings}


def test_many_ways_are_exact_for_weighted_sums_and_near_for_the_rest() -> None:
    wanted = [parse_measure(name) for name in ("AP", "nDCG@5", "RR", "Rprec", "ERR", "R@5", "Bpref", "Ppref")]
    both = LINEAR + wanted
    expected = dict(zip(map(str, both), expectation(MANY["5"], LONG["5"], both, Policy()), strict=True))
    exact = evaluate(MANY, LONG, LINEAR, policy=Policy(grades="probabilities", samples=2))
    assert exact.mean()["run"] == pytest.approx({str(m): expected[str(m)] for m in LINEAR}, rel=1e-12, abs=1e-12)
    assert "sampled-relevance" not in {w.code for w in exact.warnings}
    drawn = evaluate(MANY, LONG, wanted, policy=Policy(grades="probabilities", samples=400, seed=1))
    told = [w.message for w in drawn.warnings if w.code == "sampled-relevance"]
    assert len(told) == len(wanted)
    for measure, message in zip(wanted, told, strict=True):
        error = float(message.rpartition(" ")[2])
        assert f"{measure} is a mean over 400 random draws of relevance" in message
        assert 0 < error < 0.03
        assert drawn.mean()["run"][str(measure)] == pytest.approx(expected[str(measure)], abs=5 * error)


def test_a_topic_with_few_ways_is_exact_beside_one_that_is_drawn() -> None:
    results = evaluate(CHANCES | MANY, RUN | LONG, "AP", policy=Policy(grades="probabilities", samples=64))
    expected = expectation(CHANCES["1"], RUN["1"], [parse_measure("AP")], Policy())
    assert results.per_topic()["run"]["1"]["AP"] == pytest.approx(expected[0], rel=1e-12)


def test_measures_say_that_they_are_weighted_sums_if_they_are() -> None:
    """A weighted sum of what is relevant has f(x) + f(y) = f(x or y) + f(x and y) for any two ways, others have not."""
    random = Random(3)
    ways = []
    for _ in range(60):
        one, other = ([random.random() < 0.5 for _ in range(24)] for _ in range(2))
        either, both = ([pair(a, b) for a, b in zip(one, other, strict=True)] for pair in (max, min))
        for way in (one, other, either, both):
            text = "".join("1" if relevant else "0" for relevant in way)
            ways.append(f"{text[:8]}-{text[8:15]}--/{text[15:]}")
    judged = relstring("1", *ways)
    by_name: dict[tuple[str, bool], list[bool]] = {}  # of some measures a parameter tells
    for measure in VARIANTS:
        x, y, x_or_y, x_and_y = measure.per_topic(judged)[1:].reshape(-1, 4).T
        is_sum = bool(np.allclose(x + y, x_or_y + x_and_y, rtol=1e-12, atol=1e-12))
        by_name.setdefault((measure.definition.name, measure.traits.linear), []).append(is_sum)
    assert {key for key, sums in by_name.items() if all(sums)} == {(m.definition.name, True) for m in LINEAR}


TIED: Rankings = {"1": {"d": 2, "b": 2, "x": 2, "c": 1, "e": 1}, "2": {"g": 3, "a": 2, "b": 1}}


@pytest.mark.parametrize("ways", [192, 191])
def test_ties_and_relevance_may_both_be_open(ways: int) -> None:
    """The first topic has 3! · 2 orders and 2^4 ways to be relevant; documents of one chance are not exchangeable."""
    policy = Policy(ties="expected", grades="probabilities", samples=ways)
    exact = [m for m in LINEAR if m.traits.exact_ties]
    others = [parse_measure(name) for name in ("AP", "nDCG@3", "ERR", "Wpref")]
    results = evaluate(CHANCES, TIED, exact + others, policy=policy)
    for topic in ("1", "2"):
        expected = expectation(CHANCES[topic], TIED[topic], exact + others, Policy(ties="expected", samples=600))
        found = results.scores[0, :, results.topics.index(topic)].tolist()
        assert found[: len(exact)] == pytest.approx(expected[: len(exact)], rel=1e-12, abs=1e-12)
        drawn = topic == "1" and ways < 192
        assert found[len(exact) :] == pytest.approx(expected[len(exact) :], abs=0.1 if drawn else 1e-12)
    told = [w.message for w in results.warnings if "random draws of relevance and order" in w.message]
    assert len(told) == (0 if ways == 192 else len(others) - 1), "down to the cutoff of nDCG@3 there are 3! · 2^4 ways"


def test_certain_probabilities_are_binary_judgements() -> None:
    qrels: Judgements = {"1": {"a": 1, "b": 0, "c": 1}, "2": {"a": 0}}
    run: Rankings = {"1": {"b": 2, "a": 1}, "2": {"a": 1}}
    one, other = (evaluate(qrels, run, VARIANTS, policy=Policy(grades=g)).scores for g in ("grades", "probabilities"))
    assert one.tolist() == other.tolist()


def test_every_run_meets_the_same_draws_whatever_the_threads() -> None:
    runs = {"a": LONG, "b": {"5": {d: -s for d, s in LONG["5"].items()}}, "c": LONG}
    one, again, other = (
        evaluate(
            MANY,
            runs,
            ["AP", "RR"],
            policy=Policy(grades="probabilities", samples=20, seed=s),
            reading=Reading(threads=t),
        ).scores
        for s, t in ((1, 1), (1, 3), (2, 1))
    )
    assert one.tolist() == again.tolist()
    assert one[0].tolist() == one[2].tolist()
    assert one.tolist() != other.tolist()


@pytest.mark.parametrize("chance", [1.5, -0.1, -1.0, 2.0])
def test_a_grade_that_is_no_probability_is_an_error_that_names_it(chance: float) -> None:
    with pytest.raises(DataError, match=f"topic 'q', document 'bad': {chance:g} is no probability"):
        evaluate({"q": {"a": 0.5, "bad": chance}}, {"q": {"a": 1.0}}, "AP", policy=Policy(grades="probabilities"))


def test_what_probabilities_do_not_have_is_refused() -> None:
    policy = Policy(grades="probabilities")
    with pytest.raises(UsageError, match="bounds are those of grades"):
        evaluate(CHANCES, RUN, "AP", policy=policy, bounds=True)
    with pytest.raises(UsageError, match="ratio of means"):
        evaluate(CHANCES, RUN, "AP(agg='ratio')", policy=policy)
    with pytest.raises(UsageError, match="preferences are judgements of another kind"):
        evaluate({"q": [("a", "b")]}, RUN, "AP", policy=policy, reading=Reading(judgements="preferences"))
    with pytest.raises(UsageError, match="grades must be one of grades, probabilities"):
        Policy(grades="chances")


def test_the_command_line_takes_probabilities(tmp_path: Path) -> None:
    (tmp_path / "p.qrels").write_text("q 0 a 0.5\nq 0 b 0.25\n")
    (tmp_path / "a.run").write_text("q Q0 a 1 2.0 t\nq Q0 b 2 1.0 t\n")
    words = "evaluate p.qrels a.run -m P@2 -m RR -f csv --grades probabilities"
    done = command_line(*words.split(), folder=tmp_path)
    assert done.stdout == "run,P@2,RR\na,0.375,0.5625\n"  # 1/2 + 1/2 × 1/4 × 1/2
    assert done.stderr == ""
