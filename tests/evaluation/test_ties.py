"""Ties: the mean over all orders is compared with every order, one by one; best and worst with the extremes of them."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from functools import cache
from itertools import permutations, product
from random import Random
from typing import Any

import numpy as np
import pytest

import cranfield
from cranfield import Policy, evaluate
from cranfield.formats.reading import Reading
from cranfield.judged import relstring
from cranfield.measures import all_measures, parse_measure
from cranfield.measures.order_minded import has_extremes
from generate import Judgements, Rankings, all_variants, cut_inside, variants
from places import ROOT

# Groups of tied documents by topic; a letter is a document, its judgement below.
TOPICS = {
    "1": ["ab", "cde", "f"],
    "2": ["abcd", "e"],
    "3": ["x", "yz", "ab"],
    "4": ["bcea"],
    "5": ["a", "b", "c"],
    "7": ["uabz", "ec"],
}
GRADES: dict[str, float] = {"a": 1, "b": 0, "c": 2, "e": 3, "y": 0, "z": 1, "f": 0, "x": -1}
QRELS: Judgements = {topic: dict(GRADES) for topic in TOPICS} | {"6": {"a": 1}}
TIED: Rankings = {
    topic: {document: -float(number) for number, group in enumerate(groups) for document in group}
    for topic, groups in TOPICS.items()
}
FORMS = list(cut_inside(all_variants()))
BY_FORMULA = [measure for measure in FORMS if measure.traits.exact_ties]
WAYS = 24  # of the topics whose ties have the most orders that differ


def orders(groups: list[str]) -> Iterator[str]:
    """Every ranking that the groups allow."""
    return ("".join(map("".join, order)) for order in product(*map(permutations, groups)))


def untied(order: str) -> dict[str, float]:
    return {document: -float(rank) for rank, document in enumerate(order)}


Orders = dict[str, np.ndarray[tuple[int, int], np.dtype[np.float64]]]


POLICIES = {"whole": Policy(), "condensed": Policy(judged_only=True), "cut": Policy(depth=3)}


@cache
def all_orders(name: str) -> Orders:
    """For each topic the scores in every order under a policy: scores[order, measure]."""
    found = {}
    for topic, groups in TOPICS.items():
        runs = {str(i): {topic: untied(order)} for i, order in enumerate(orders(groups))}
        results = evaluate(QRELS, runs, FORMS, policy=POLICIES[name])
        found[topic] = results.scores[:, :, results.topics.index(topic)]
    return found


def check_means(results: cranfield.Results, of_orders: Orders) -> None:
    places = [FORMS.index(measure) for measure in results.measures]
    for topic, scores in of_orders.items():
        found = results.scores[0, :, results.topics.index(topic)]
        for measure, value, mean in zip(results.measures, found, scores[:, places].mean(axis=0), strict=True):
            assert value == pytest.approx(mean, rel=1e-12, abs=1e-12), (measure, topic)


@pytest.mark.parametrize("name", ["whole", "condensed"])
def test_the_mean_by_formula_is_that_of_all_orders(name: str) -> None:
    policy, of_orders = POLICIES[name], all_orders(name)
    # Two draws are too few for every order of any topic here: what is right is right by its formula.
    expected = Policy(**vars(policy) | {"ties": "expected", "samples": 2})
    results = evaluate(QRELS, TIED, BY_FORMULA, policy=expected)
    check_means(results, of_orders)
    without_ties = evaluate(QRELS, TIED, BY_FORMULA, policy=policy)
    sixth = results.topics.index("6")
    assert results.scores[0, :, sixth].tolist() == without_ties.scores[0, :, sixth].tolist()
    assert "sampled-ties" not in {warning.code for warning in results.warnings}


@pytest.mark.parametrize("name", POLICIES)
def test_the_mean_over_few_orders_is_that_of_all_of_them(name: str) -> None:
    """Every measure, with a formula or without."""
    policy, of_orders = POLICIES[name], all_orders(name)
    results = evaluate(QRELS, TIED, FORMS, policy=Policy(**vars(policy) | {"ties": "expected", "samples": WAYS}))
    check_means(results, of_orders)
    assert "sampled-ties" not in {warning.code for warning in results.warnings}


def test_sampled_means_are_near_and_say_how_near() -> None:
    """One order more than there are draws, and a topic is drawn; the others stay exact."""
    tied = {"4": ["abcde"], "7": TOPICS["7"]}
    wanted = [measure for measure in all_variants() if not measure.traits.exact_ties][::3]
    run = {topic: {d: -float(i) for i, group in enumerate(groups) for d in group} for topic, groups in tied.items()}
    results = evaluate(QRELS, run, wanted, policy=Policy(ties="expected", samples=119, seed=3))
    check_means(results, {"7": all_orders("whole")["7"]})
    told = {w.message.partition(" is a mean over ")[0]: w.message for w in results.warnings if w.code == "sampled-ties"}
    every = evaluate(QRELS, {order: {"4": untied(order)} for order in orders(tied["4"])}, wanted)
    fourth = results.topics.index("4")
    for i, (measure, value) in enumerate(zip(wanted, results.scores[0, :, fourth], strict=True)):
        of_orders = every.scores[:, i, fourth]
        error = of_orders.std() / 119**0.5
        assert value == pytest.approx(of_orders.mean(), abs=5 * error + 1e-12), measure
        if error < 1e-12:
            assert str(measure) not in told
            continue
        assert "over 119 random orders of ties: standard error " in told[str(measure)]
        said = float(told[str(measure)].rpartition(" ")[2])
        assert said == pytest.approx(error / len(results.topics), rel=0.6), "of the mean over topics"


def test_equal_documents_are_exchangeable() -> None:
    """Eleven documents, of which seven are not judged: 11! / (7! 3!) orders differ if three are of one grade."""
    grades: dict[str, float] = {"a": 1, "b": 0, "c": 0, "d": 0}
    tied: Rankings = {"q": dict.fromkeys("abcdefghijk", 1.0)}
    for more, ways in (({}, 1320), ({"b": 1.0}, 1980), ({"b": 1.0, "c": 1.0, "d": 1.0}, 330)):
        found = [
            evaluate({"q": grades | more}, tied, "ERR", policy=Policy(ties="expected", samples=samples)).warnings
            for samples in (ways - 1, ways)
        ]
        drawn = ["sampled-ties" in {warning.code for warning in warnings} for warnings in found]
        assert drawn == [True, False], more


def test_ties_below_what_a_measure_looks_at_need_no_draws() -> None:
    run: Rankings = {"q": {"a": 9.0, "b": 9.0, "c": 8.0} | {f"d{i}": 1.0 for i in range(60)}}
    qrels: Judgements = {"q": {"a": 1.0, "b": 2.0, "c": 1.0} | {f"d{i}": float(i % 4) for i in range(20)}}
    names = ["ERR@3", "RR_CWL@2", "Wpref@1"]
    runs = {"ab": run, "ba": {"q": run["q"] | {"b": 9.5}}, "other": {"q": run["q"] | {"a": 9.5}}}
    one, other = (evaluate(qrels, runs[name], names).scores[0, :, 0] for name in ("ba", "other"))
    for policy in (Policy(ties="expected", samples=2), Policy(ties="expected", samples=2, depth=5)):
        results = evaluate(qrels, run, names, policy=policy)
        assert results.scores[0, :, 0] == pytest.approx((one + other) / 2, rel=1e-12)
        assert "sampled-ties" not in {warning.code for warning in results.warnings}
    deeper = evaluate(qrels, run, ["ERR@4", "ERR"], policy=Policy(ties="expected", samples=20))
    assert [w.code for w in deeper.warnings].count("sampled-ties") == 2


@pytest.mark.parametrize("name", ["ERR", "Wpref", "RR_CWL", "P", "DCG"])
def test_the_cutoff_of_condensed_lists_is_none_of_the_rankings_own(name: str) -> None:
    """Two unjudged documents stand above: what is third in the condensed list is fifth, and tied."""
    measure = parse_measure(f"{name}(judged_only=True)@3")
    groups, qrels = ["u", "v", "b", "ac", "exd"], {"q": dict(GRADES)}
    runs = {order: {"q": untied(order)} for order in orders(groups)}
    tied: Rankings = {"q": {document: -float(i) for i, group in enumerate(groups) for document in group}}
    found = evaluate(qrels, tied, measure, policy=Policy(ties="expected", samples=WAYS)).scores[0, 0, 0]
    assert found == pytest.approx(evaluate(qrels, runs, measure).scores.mean(), rel=1e-12)


def test_a_formula_holds_where_the_depth_is_below_the_cutoff() -> None:
    run: Rankings = {"q": {f"d{i}": 1.0 for i in range(60)}}
    qrels: Judgements = {"q": {f"d{i}": i % 4 for i in range(20)}}
    names = ["nDCG@5", "P@5", "AP@5", "GradedRBP@5"]
    deep, cut = (evaluate(qrels, run, names, policy=Policy(ties="expected", depth=d)) for d in (None, 5))
    assert deep.scores.tolist() == cut.scores.tolist()
    assert "sampled-ties" not in {warning.code for warning in cut.warnings}
    too_shallow = evaluate(qrels, run, names, policy=Policy(ties="expected", depth=4))
    assert [w.code for w in too_shallow.warnings].count("sampled-ties") == len(names)


STRATA = "".join(
    f"q 0 {document} {1 + (document in 'bez')} {grade}\n"
    for document, grade in {"a": 1, "b": 0, "c": 2, "e": 1, "y": -1, "z": -1, "m": 2}.items()
)
KINDS: dict[str, dict[str, Any]] = {
    "subtopics": {
        "qrels": {"q": {"a": {"1": 1, "2": 1}, "b": {"1": 0}, "c": {"2": 2}, "e": {"1": 1, "3": 2}, "m": {"3": 1}}}
    },
    "sampled": {"judgements": "sampled"},
    "known": {"qrels": {"q": {"a": 1, "b": 1, "c": 0, "e": 2, "m": 1}}, "known": {"q": {"a": 1, "c": 1, "m": 1}}},
    "lengths": {
        "qrels": {"q": {"a": 1, "b": 0, "c": 2, "e": 1}},
        "lengths": {"a": 500, "b": 90, "c": 500, "e": 2000, "u": 90, "v": 3000},
    },
    "preferences": {
        "qrels": {"q": [("a", "b"), ("c", "b"), ("e", "a"), ("b", "e"), ("m", "a"), ("a", "u")]},
        "judgements": "preferences",
    },
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("groups", [["a", "bue"], ["abue", "c"], ["ub", "avc", "e"]], ids="-".join)
def test_measures_that_need_more_than_grades_are_exact_too(kind: str, groups: list[str]) -> None:
    """Documents of one grade that differ in anything else are not exchangeable."""
    given = KINDS[kind]

    def scores(runs: Any, policy: Policy) -> cranfield.Results:
        qrels = given.get("qrels") or io.StringIO(STRATA)
        beside = {name: value for name, value in given.items() if name not in ("qrels", "judgements")}
        return evaluate(
            qrels, runs, wanted, policy=policy, reading=Reading(judgements=given.get("judgements")), **beside
        )

    needing = [m for m in all_measures() if (m.definition.needs or m.definition.family) == kind]
    wanted = list(cut_inside(form for measure in needing for form in variants(measure)))
    if kind == "known":
        wanted.append(parse_measure("RelativeRecall(expected='known')@2"))
    every = scores({str(i): {"q": untied(order)} for i, order in enumerate(orders(groups))}, Policy())
    tied: Rankings = {"q": {document: -float(i) for i, group in enumerate(groups) for document in group}}
    by_formula = [measure.traits.exact_ties for measure in wanted]
    for samples, checked in ((2, by_formula), (100, [True] * len(wanted))):
        found = scores(tied, Policy(ties="expected", samples=samples))
        for i, measure in enumerate(wanted):
            if checked[i]:
                mean = every.scores[:, i, 0].mean()
                assert found.scores[0, i, 0] == pytest.approx(mean, rel=1e-12, abs=1e-12), measure


def test_sums_over_documents_have_a_formula() -> None:
    """If two exchanges of documents have the same effect together as each by itself, wherever they are made, a score
    is a sum of what each document has at its rank, and its mean over all orders follows from the ranks alone."""
    random = Random(8)
    rankings = []
    for _ in range(40):
        shown = random.choices("-0123", k=9)
        i, j, k, m = random.sample(range(9), 4)
        one, other = list(shown), list(shown)
        one[i], one[j], other[k], other[m] = shown[j], shown[i], shown[m], shown[k]
        both = list(one)
        both[k], both[m] = shown[m], shown[k]
        rankings += ["".join(ranking) + "/012" for ranking in (shown, one, other, both)]
    judged = relstring("3", *rankings)
    is_sum: dict[str, bool] = {}
    for form in FORMS:
        none, one_made, other_made, both_made = form.per_topic(judged)[1:].reshape(-1, 4).T
        here = np.allclose(none + both_made, one_made + other_made, rtol=1e-12, atol=1e-12)
        is_sum[form.definition.name] = is_sum.get(form.definition.name, True) and here
    by_formula = {measure.definition.name for measure in BY_FORMULA}
    assert {name for name, here in is_sum.items() if here} <= by_formula
    assert by_formula - {name for name, here in is_sum.items() if here} == {
        *("Success", "AP", "RR", "Bpref", "BinG", "Rpref", "ESL")  # formulas of their own
    }


def test_a_ranking_of_means_is_refused_by_measures_without_a_formula() -> None:
    run, qrels = cranfield.read_run(TIED), cranfield.read_qrels(QRELS)
    judged = cranfield.judged.judge(run, qrels, Policy(ties="expected"))
    assert parse_measure("AP").per_topic(judged)[0] > 0
    with pytest.raises(cranfield.UsageError, match=r"ERR has no formula .* `evaluate` goes through orders or draws"):
        parse_measure("ERR").per_topic(judged)


def test_the_same_seed_gives_the_same_numbers_whatever_the_threads() -> None:
    wanted = list(all_variants())
    runs = {"a": TIED, "b": {topic: TIED[topic] for topic in ("1", "2")}}
    one, two, other = (
        evaluate(
            QRELS, runs, wanted, policy=Policy(ties="expected", seed=seed, samples=5), reading=Reading(threads=threads)
        ).scores
        for seed, threads in ((1, 1), (1, 4), (2, 1))
    )
    assert one.tolist() == two.tolist()
    assert one.tolist() != other.tolist()


DECISION = (ROOT / "docs" / "decisions" / "ties.md").read_text()


def test_best_and_worst_are_the_extremes_of_all_orders_but_for_what_the_documentation_names() -> None:
    """Better grades first give the highest value, of a loss the lowest."""
    best, worst = (evaluate(QRELS, TIED, FORMS, policy=Policy(ties=ties)) for ties in ("best", "worst"))
    plain = all_orders("whole")
    place = [best.topics.index(topic) for topic in plain]
    first, last = (results.scores[0][:, place] for results in (best, worst))
    highest, lowest = (np.array([side(scores, axis=0) for scores in plain.values()]).T for side in (np.max, np.min))

    def same(i: int, one: np.ndarray[Any, Any], other: np.ndarray[Any, Any]) -> bool:
        return bool(np.allclose(one[i], other[i], rtol=1e-12, atol=1e-12))

    gains = [same(i, first, highest) and same(i, last, lowest) for i in range(len(FORMS))]
    losses = [same(i, first, lowest) and same(i, last, highest) for i in range(len(FORMS))]
    exceptions = DECISION.partition("does not hold for")[2].partition("\n\nThe default")[0]
    named = set(re.findall(r"`(\w+)`", exceptions))
    assert "tables of gains that do not grow" in exceptions
    assert "of='residual'" in exceptions
    unlike = {
        form.definition.name
        for form, gain, loss in zip(FORMS, gains, losses, strict=True)
        if not gain and not loss and "gain={" not in str(form) and form.parameters.get("of") != "residual"
    }
    assert unlike == named
    mirrored = {
        form.definition.name
        for form, gain, loss in zip(FORMS, gains, losses, strict=True)
        if loss and not gain and "gain={" not in str(form) and form.parameters.get("of") != "ED"
    }
    assert mirrored - named == {"E", "Frustration"}


@pytest.mark.parametrize("name", POLICIES)
def test_measures_whose_extremes_best_and_worst_are_not_are_known(name: str) -> None:
    policy, of_orders = POLICIES[name], all_orders(name)
    first, last = (evaluate(QRELS, TIED, FORMS, policy=Policy(**vars(policy) | {"ties": t})) for t in ("best", "worst"))
    place = [first.topics.index(topic) for topic in of_orders]
    pair = [results.scores[0][:, place] for results in (first, last)]
    ends = [np.array([side(scores, axis=0) for scores in of_orders.values()]).T for side in (np.max, np.min)]
    unlike = [
        form
        for i, form in enumerate(FORMS)
        if not any(all(np.allclose(pair[k][i], ends[k ^ turned][i]) for k in (0, 1)) for turned in (0, 1))
    ]
    assert {str(form) for form in unlike if has_extremes(form, policy.depth)} == set()
    assert all(
        has_extremes(parse_measure(m), policy.depth) for m in ("AP", "nDCG@3", "P@10", "RR", "E@5", "Frustration")
    )


@pytest.mark.parametrize(
    ("names", "policy", "told"),
    [
        ("nDCG(ideal='retrieved') AP", Policy(ties="best", depth=3), ("first", "nDCG(ideal='retrieved')")),
        ("AP(over='seen') AP", Policy(ties="worst", depth=3), ("last", "AP(over='seen')")),
        ("BPM(of='ETU')@3 Judged@2", Policy(ties="best"), ("first", "BPM(of='ETU')@3")),
        ("nDCG(ideal='retrieved') AP(over='seen') AP", Policy(ties="best"), None),
        ("nDCG AP P@2 E@2", Policy(ties="worst", depth=3), None),
        ("nDCG(ideal='retrieved')", Policy(depth=3), None),
    ],
)
def test_what_is_no_extreme_is_told(names: str, policy: Policy, told: tuple[str, str] | None) -> None:
    message = (
        ""
        if told is None
        else (
            f"better grades {told[0]} give {told[1]} the score of a possible order of ties, which need not be the "
            "highest or the lowest of all orders"
        )
    )
    results = evaluate(QRELS, TIED, names.split(), policy=policy)
    said = [f for f in results.warnings if f.code == "ties" and "possible order" in f.message]
    assert [(f.message, f.doubtful) for f in said] == ([(message, True)] if told else [])
    alone = evaluate({"1": GRADES}, {"1": untied("abc")}, names.split(), policy=policy)
    assert not [f for f in alone.warnings if f.code == "ties"], "there is no tie"


def test_relevant_documents_stand_before_unjudged_ones_and_these_before_the_others() -> None:
    tied: Rankings = {"q": dict.fromkeys("abcu", 1.0)}
    qrels: Judgements = {"q": {"a": 1, "b": 0, "c": 2}}
    names = ["RR", "RR(rel=2)", "RR(rel=0.5)", "Judged@2", "Judged@3"]
    best, worst = (evaluate(qrels, tied, names, policy=Policy(ties=t)).scores[0, :, 0] for t in ("best", "worst"))
    assert best.tolist() == [1, 1, 1, 1, 2 / 3]  # c a u b
    assert worst.tolist() == [1 / 3, 1 / 4, 1 / 3, 1 / 2, 2 / 3]  # b u a c


@pytest.mark.parametrize("ties", ["best", "worst", "expected", "file"])
def test_without_ties_every_policy_gives_the_same(ties: str) -> None:
    run = {topic: untied("".join(groups)) for topic, groups in TOPICS.items()}
    one, other = (evaluate(QRELS, run, FORMS, policy=Policy(ties=t)).scores for t in ("docid", ties))
    assert one.tolist() == other.tolist()


def test_a_constant_scorer_is_not_rewarded() -> None:
    run = {"q": {f"d{i}": 1.0 for i in range(100)}}
    results = evaluate({"q": {"d99": 1}}, run, ["RR", "P@1", "Success@10"], policy=Policy(ties="expected"))
    harmonic = sum(1 / rank for rank in range(1, 101)) / 100
    assert results.mean()["run"] == pytest.approx({"RR": harmonic, "P@1": 0.01, "Success@10": 0.1})


def test_expected_ties_cut_at_a_depth_are_left_to_evaluate() -> None:
    run, qrels = cranfield.read_run(TIED), cranfield.read_qrels(QRELS)
    with pytest.raises(cranfield.UsageError, match="`evaluate` draws orders"):
        cranfield.judged.judge(run, qrels, Policy(ties="expected", depth=5))


def test_no_score_is_ever_missing() -> None:
    for ties in ("best", "worst", "expected"):
        scores = evaluate(QRELS, TIED, FORMS, policy=Policy(ties=ties, samples=5)).scores
        assert not np.isnan(scores).any()
