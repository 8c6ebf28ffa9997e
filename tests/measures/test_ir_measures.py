"""Every measure that ir_measures has, in many forms: taken under its name, with its value wherever that is right.

Where it is not, DIFFERENCES says which values are left out of the comparison, and CASES shows each by an example; the
reasons are in docs/decisions/ir_measures.md. Faults of cwl_eval and pyndeval that do not show in names and default
quantities are in test_user_models.py and test_diversity.py.
"""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from random import Random
from typing import Any, NamedTuple

import pytest

from cranfield import Measure, evaluate
from cranfield.measures import parse_measure
from generate import UNTIED, Collection, collections
from places import ROOT

ir_measures = pytest.importorskip("ir_measures")
for module in ("pytrec_eval", "cwl.cwl_eval", "pyndeval"):
    pytest.importorskip(module, reason="a provider of ir_measures is not installed")

RECORD = ROOT / "docs" / "decisions" / "ir_measures.md"
# ranx compiles itself for half a minute, and has nothing that others lack but nDCG(dcg='exp-log2') without a cutoff.
PROVIDERS = [provider for provider in ir_measures.DefaultPipeline.providers if provider.NAME != "ranx"]
# What to set parameters to, by name: a parameter that is not here must be added.
VALUES: dict[str, tuple[Any, ...]] = {
    "cutoff": (1, 10),
    "rel": (2,),
    "judged_only": (True,),
    "p": (0.5,),
    "T": (2.0,),
    "min_rel": (1,),
    "max_rel": (2,),
    "beta": (0.4,),
    "alpha": (0.3,),
    "dcg": ("exp-log2",),
    "gains": ({1: 3, 2: 9},),
    "recall": (0.0, 0.1, 0.5, 1.0),
    "relative": (True,),
    "normalize": (False,),
}
GDEVAL_DECIMALS = 5.1e-6


def with_positive_scores(made: Collection) -> Collection:
    """Compat goes wrong below 0; the order of the documents stays."""
    return replace(made, run={topic: {d: s + 16 for d, s in scores.items()} for topic, scores in made.run.items()})


# No two scores of a topic are equal: the providers break ties in three ways.
COLLECTIONS = [with_positive_scores(made) for made in collections(1, UNTIED)]


class Difference(NamedTuple):
    """Measures, by a regular expression, that have other values than ours, and which."""

    measures: str
    instead: Callable[[Measure], Measure] = lambda ours: ours  # the measure of ours that it is
    where: Callable[[Collection, str], bool] = lambda made, topic: False  # topics that are not compared
    undefined: bool = False  # no value, or NaN, where ours is 0
    fails: bool = False  # an exception on some or all data


DIFFERENCES = (
    Difference(r"SetF\(beta=.*", instead=lambda ours: ours(beta=math.sqrt(ours.parameters["beta"]))),
    Difference(r"ERR@.*", instead=lambda ours: ours(max_grade=4)),
    Difference(r"Judged.*", where=lambda made, topic: any(grade < 0 for grade in made.qrels[topic].values())),
    Difference(r"NumQ|NumRel", where=lambda made, topic: topic not in made.run),
    Difference(r"IPrec\(judged_only=True\)@0.0", undefined=True),
    Difference(r"Accuracy.*", undefined=True, fails=True),
    Difference(r"(ERR_IA|alpha_DCG)@1", instead=lambda ours: parse_measure("alpha_DCG(norm='none')@1")),
    Difference(r"nNRBP.*", undefined=True),
    Difference(r"(n?ERR_IA|alpha_n?DCG|AP_IA|P_IA)\(judged_only=True\).*", fails=True),
    Difference(r"(n?ERR_IA|alpha_n?DCG|P_IA|StRecall)(\([^@]*)?", fails=True),  # without a cutoff
)


def variants(measure: Any) -> Iterator[Any]:
    """A measure with what it must have, and then with each other parameter, cut and not."""
    known = measure.SUPPORTED_PARAMS
    complete = [measure]
    for name in [name for name, info in known.items() if info.required]:
        complete = [one(**{name: value}) for one in complete for value in VALUES[name]]
    optional = [(name, value) for name, info in known.items() if not info.required for value in VALUES[name]]
    changed = [one(**{name: value}) for one in complete for name, value in optional if known[name].validate(value)]
    cut = [one @ 10 for one in changed if "cutoff" in known and "cutoff" not in one.params]
    yield from {str(one): one for one in (*complete, *changed, *cut)}.values()


def provider_of(measure: Any) -> Any:
    """Who computes a measure when ir_measures is asked for it; None if nobody does."""
    return next((one for one in PROVIDERS if one.is_available() and one.supports(measure)), None)


def in_subtopics(made: Collection) -> dict[str, dict[str, dict[str, float]]]:
    """The judgements with each document's grade for some subtopics of its topic."""
    random = Random(made.name)
    return {
        topic: {d: dict.fromkeys(random.sample("1234", random.randint(1, 3)), grade) for d, grade in of_topic.items()}
        for topic, of_topic in made.qrels.items()
    }


def by_ir_measures(measure: Any, qrels: Any, run: Any) -> dict[str, float]:
    """{topic: value}, and NaN for a topic without one."""
    judgements = [
        ir_measures.Qrel(topic, document, int(grade), subtopic)
        for topic, of_topic in qrels.items()
        for document, grades in of_topic.items()
        for subtopic, grade in (grades.items() if isinstance(grades, dict) else [("0", grades)])
    ]
    answered = {topic: scores for topic, scores in run.items() if topic in qrels}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = {x.query_id: float(x.value) for x in provider_of(measure).iter_calc([measure], judgements, answered)}
    return {topic: found.get(topic, float("nan")) for topic in qrels}


def by_cranfield(measure: Measure, qrels: Any, run: Any) -> dict[str, float]:
    (scores,) = evaluate(qrels, run, measure).per_topic().values()
    return {topic: values[str(measure)] for topic, values in scores.items()}


REGISTRY: dict[str, Any] = ir_measures.measures.registry


@pytest.mark.parametrize("name", REGISTRY)
def test_every_name_is_taken(name: str) -> None:
    assert parse_measure(name) == parse_measure(str(REGISTRY[name]))
    for measure in variants(REGISTRY[name]):
        assert parse_measure(str(measure)).parameters.keys() >= measure.params.keys() & {"rel", "cutoff", "judged_only"}


@pytest.mark.parametrize("measure", dict.fromkeys(REGISTRY.values()), ids=str)
def test_every_measure_agrees_where_it_is_right(measure: Any) -> None:
    for one in variants(measure):
        provider = provider_of(one)
        if provider is not None:
            compare(one, parse_measure(str(one)), GDEVAL_DECIMALS if provider.NAME == "gdeval" else 1e-9)


def test_few_measures_have_no_provider_to_compare_with() -> None:
    """gdeval is a Perl script: without Perl there is no provider for more."""
    without = {str(one) for measure in REGISTRY.values() for one in variants(measure) if provider_of(one) is None}
    if ir_measures.gdeval.is_available():
        known = {"ERR", "nDCG(dcg='exp-log2')", "NumRel(rel=2)", "RR(judged_only=True)@10", "RBP", "RBP(p=0.5)"}
        assert without == known | {"RBP@1", "RBP@10", "RBP(p=0.5)@10", "RBP(rel=2)@10"}


def compare(measure: Any, ours: Measure, tolerance: float) -> None:
    found = [one for one in DIFFERENCES if re.fullmatch(one.measures, str(measure))]
    difference = found[0] if found else Difference("")
    shown = False
    for made in COLLECTIONS:
        qrels = in_subtopics(made) if ours.definition.needs == "subtopics" else made.qrels
        try:
            theirs = by_ir_measures(measure, qrels, made.run)
        except Exception:
            assert difference.fails, measure
            shown = True
            continue
        plain, expected = (by_cranfield(one, qrels, made.run) for one in (ours, difference.instead(ours)))
        for topic, value in theirs.items():
            close = pytest.approx(value, rel=tolerance, abs=tolerance)
            if math.isnan(value):
                assert difference.undefined, (measure, made, topic)
                assert plain[topic] == 0, (measure, made, topic)
            elif not difference.where(made, topic):
                assert expected[topic] == close, (measure, made, topic)
            shown |= plain[topic] != close
    assert shown == bool(found), f"{measure}: {'no difference any more' if found else 'a difference'}"


NAN = float("nan")
ONE = {"1": {"a": 1}}
TWO_SUBTOPICS = {"1": {"a": {"s": 1, "t": 1}, "b": {"s": 0}}}
# A measure, judgements, a run, the value of ir_measures or the exception it raises, and ours, all of topic 1.
CASES: dict[str, tuple[str, Any, Any, float | type[Exception], float]] = {
    "beta is not squared": ("SetF(beta=2.0)", ONE, {"1": {"a": 2.0, "x": 1.0}}, 3 / 4, 5 / 6),
    "the highest grade is 4": ("ERR@10", ONE, {"1": {"a": 1.0}}, 1 / 16, 1 / 2),
    "a negative grade is a judgement": ("Judged", {"1": {"a": 1, "b": -1}}, {"1": {"a": 2.0, "b": 1.0}}, 1, 1 / 2),
    "a topic without an answer has no relevant document": ("NumRel", ONE | {"2": {"a": 1}}, {"2": {"a": 1.0}}, 0, 1),
    "a topic without an answer is none": ("NumQ", ONE | {"2": {"a": 1}}, {"2": {"a": 1.0}}, 0, 1),
    "two of three documents are 0.7": ("IPrec@0.7", {"1": {"a": 1, "b": 1, "c": 1}}, {"1": {"a": 2.0, "b": 1.0}}, 1, 0),
    "an empty list divides by 0": ("IPrec(judged_only=True)@0.0", ONE, {"1": {"x": 1.0}}, NAN, 0),
    "nothing relevant is no value": ("Accuracy", ONE, {"1": {"x": 1.0}}, NAN, 0),
    "nothing but relevant divides by 0": ("Accuracy", ONE, {"1": {"a": 1.0}}, ZeroDivisionError, 1),
    "below 0 an ideal document is overtaken by others": (
        *("Compat(p=0.5)", {"1": {"a": 1, "b": 1}}, {"1": {"a": -1.0}}),
        *((0 + 0.5 / 2) / (1 + 0.5), (1 + 0.5 / 2) / (1 + 0.5)),
    ),
    "cutoff 1 is not divided (alpha_DCG)": ("alpha_DCG@1", TWO_SUBTOPICS, {"1": {"a": 1.0}}, 2, 1),
    "cutoff 1 is not divided (ERR_IA)": ("ERR_IA@1", TWO_SUBTOPICS, {"1": {"a": 1.0}}, 2, 1),
    "nothing by nothing": ("nNRBP", {"1": {"a": {"s": 0}}, "2": {"a": {"s": 1}}}, {"1": {"a": 1.0}}, NAN, 0),
    "judged_only of subtopics": ("P_IA(judged_only=True)@1", TWO_SUBTOPICS, {"1": {"x": 2.0, "a": 1.0}}, TypeError, 1),
    "no cutoff of subtopics": ("StRecall", TWO_SUBTOPICS, {"1": {"a": 1.0}}, ValueError, 1),
}


@pytest.mark.parametrize("case", CASES)
def test_where_ir_measures_is_not_right(case: str) -> None:
    name, qrels, run, theirs, ours = CASES[case]
    measure = ir_measures.parse_measure(name)
    assert by_cranfield(parse_measure(name), qrels, run)["1"] == pytest.approx(ours, rel=1e-12)
    if provider_of(measure) is None:
        pytest.skip("ir_measures cannot run gdeval without Perl")
    if isinstance(theirs, type):
        with pytest.raises(theirs):
            by_ir_measures(measure, qrels, run)
    else:
        assert by_ir_measures(measure, qrels, run)["1"] == pytest.approx(theirs, rel=1e-12, nan_ok=True)


# The document that each provider puts first of a and b, which have the same score; a stands first in the input.
FIRST_OF_TIES = {
    "pytrec_eval": ("P@1", "b"),
    "gdeval": ("ERR@1", "b"),
    "msmarco": ("RR@1", "a"),
    "judged": ("Judged@1", "a"),
    "compat": ("Compat", "a"),
    "pyndeval": ("P_IA@1", "a"),
    "cwl_eval": ("RBP(rel=1)", "a"),
    "accuracy": ("Accuracy", "a"),
}
AS_IN_THE_INPUT = ("cwl_eval", "accuracy")


@pytest.mark.parametrize("provider", FIRST_OF_TIES)
def test_providers_break_ties_in_three_ways(provider: str) -> None:
    """Ids descending as trec_eval, ids ascending, or as they stand in the input; ours is always the first."""
    name, first = FIRST_OF_TIES[provider]
    measure = ir_measures.parse_measure(name)
    if provider_of(measure) is None:
        pytest.skip("ir_measures cannot run gdeval without Perl")
    assert provider == provider_of(measure).NAME
    other = "b" if first == "a" else "a"
    untied = by_ir_measures(measure, {"1": {first: 1}}, {"1": {first: 2.0, other: 1.0}})
    assert by_ir_measures(measure, {"1": {first: 1}}, {"1": {"a": 1.0, "b": 1.0}}) == untied
    backwards = by_ir_measures(measure, {"1": {first: 1}}, {"1": {"b": 1.0, "a": 1.0}})
    assert (backwards != untied) == (provider in AS_IN_THE_INPUT)
    qrels: Any = {"1": {"b": {"0": 1}}} if provider == "pyndeval" else {"1": {"b": 1}}
    ours = [by_cranfield(parse_measure(name), qrels, {"1": {"a": 1.0, "b": score}}) for score in (1.0, 2.0)]
    assert ours[0] == ours[1]


def test_one_run_has_two_reciprocal_ranks_there_and_one_here() -> None:
    qrels, run = {"1": {"b": 1}}, {"1": {"a": 1.0, "b": 1.0}}
    theirs = [by_ir_measures(ir_measures.parse_measure(name), qrels, run)["1"] for name in ("RR", "RR@10")]
    assert theirs == [1.0, 0.5]
    assert [by_cranfield(parse_measure(name), qrels, run)["1"] for name in ("RR", "RR@10")] == [1.0, 1.0]


def test_every_difference_is_in_the_decision_record() -> None:
    text = RECORD.read_text()
    for name, *_ in CASES.values():
        assert f"`{re.split('[(@]', name)[0]}" in text, name
    for provider, (name, _) in FIRST_OF_TIES.items():
        assert provider in text, name
