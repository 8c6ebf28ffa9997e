"""How scores arise: values, sums and suppositions against evaluations of their own, lectures' examples as text."""

from __future__ import annotations

import io
import itertools
import json
import math
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from commands import command_line
from cranfield import DataError, Measure, Policy, UsageError, evaluate, read_qrels, read_run
from cranfield.evaluation.experiment import Experiment, needed_kind
from cranfield.explanation.accounts import explain
from cranfield.explanation.explanation import Account, Explanation
from cranfield.explanation.explanation_tables import FORMATS, render
from cranfield.formats.reading import Reading
from cranfield.judged import judge
from cranfield.measures import all_measures
from cranfield.measures.explained import Working, number
from cranfield.render.terminal import Terminal, written_for
from cranfield.texts.collection import read_collection
from generate import AT, Collection, all_variants, collections, graded, ranking, tied, variants
from lectures import GRADES_Q1, GRADES_Q2, Q1, Q2, TEN_RELEVANT, ranked, relevant
from places import EXAMPLES

KEPT = Path(__file__).with_name("explained.txt")
PLAIN = [one @ AT[one.definition.at or ""] if one.definition.required else one for one in all_measures()]
PLAIN = [measure for measure in PLAIN if measure.definition.needs is None]


def account(grades: str, measure: str, *, missed: str = "", **given: Any) -> Account:
    """The account of a ranking given by its grades in order, - for an unjudged document."""
    documents = [f"d{rank}" for rank in range(1, len(grades) + 1)]
    judged = {d: float(g) for d, g in zip(documents, grades, strict=True) if g != "-"}
    judged |= {f"m{i}": float(g) for i, g in enumerate(missed)}
    return explain(Experiment({"1": judged}, {"1": ranked(documents)}), "1", measure, **given).accounts[0]


# Examples worked in lecture notes; their figures are checked in test_lectures, here what is written of them.
LECTURES = [
    ("10101", "P@3", "P@3 = 2 / 3 = 0.6667"),
    ("10101", "R@3", "R@3 = 2 / 3 = 0.6667"),
    ("10101", "F@2", "F@2 = 2 · 1/2 · 1/3 / (1/2 + 1/3) = 0.3333 / 0.8333 = 0.4000 (P = 1/2 = 0.5, R = 1/3 = 0.3333)"),
    ("10101", "AP", "AP = (1/1 + 2/3 + 3/5) / 3 = 2.2667 / 3 = 0.7556"),
    ("00001", "RR", "RR = 1 / 5 = 0.2000"),
    ("0000", "RR", "RR = 0.0000 (no relevant document is found)"),
    ("32301", "CG@5", "CG@5 = 3 + 2 + 3 + 1 = 9.0000"),
    ("32301", "DCG@5", "DCG@5 = 3/log2 2 + 2/log2 3 + 3/log2 4 + 1/log2 6 = 6.1487"),
    (
        "32301",
        "nDCG@5",
        "nDCG@5 = DCG / ideal DCG = (3/log2 2 + 2/log2 3 + 3/log2 4 + 1/log2 6) / "
        "(3/log2 2 + 3/log2 3 + 2/log2 4 + 1/log2 5) = 6.1487 / 6.3235 = 0.9724",
    ),
    (
        "323012",
        "DCG(gain='exp')",
        "DCG(gain='exp') = 7/log2 2 + 3/log2 3 + 7/log2 4 + 1/log2 6 + 3/log2 7 = 13.8483",
    ),
    (
        "101003000200003",
        "DCG(base=2)",
        "DCG(base=2) = 1 + 1/log2 3 + 3/log2 6 + 2/log2 10 + 3/log2 15 = 4.1614",
    ),
    (
        "001000010000001",
        "InterpolatedAP(points=10)",
        "InterpolatedAP(points=10) = (0.3333 + 0.3333 + 0.3333 + 0.25 + 0.25 + … + 0.2 + 0.2) / 10 = 2.55 / 10 "
        "= 0.2550",
    ),
    ("001000010000001", "IPrec@0.5", "IPrec@0.5 = max of 2/8, 3/15 = 0.2500"),
    ("10101", "RBP(p=0.5)", "RBP(p=0.5) = 0.5 · (0.5^0 + 0.5^2 + 0.5^4) = 0.5 · 1.3125 = 0.6562"),
    ("10101", "Rprec", "Rprec = 2 / 3 = 0.6667"),
    ("201", "ERR(max_grade=2)", "ERR(max_grade=2) = 1/1 · 0.75 + 1/3 · 0.25 · 0.25 = 0.7708"),
    ("1-010", "Bpref", "Bpref = ((1 − 0/2) + (1 − 1/2)) / 2 = 1.5 / 2 = 0.7500"),
]


@pytest.mark.parametrize(("grades", "measure", "text"), LECTURES, ids=lambda value: str(value)[:20])
def test_lecture_examples_are_written_as_on_a_board(grades: str, measure: str, text: str) -> None:
    assert account(grades, measure).text == text


# Rankings by their grades, and relevant documents that they miss: something of all, nothing found, nothing to find, all
# found, nobody has judged, and nothing else.
SITUATIONS = [("2-0103-1", "13"), ("000", "2"), ("00", ""), ("121", ""), ("--", "1"), ("1", ""), ("0", "")]


def table(found: Account) -> Iterator[str]:
    """The measure's own columns, which documents count, and what they contribute."""
    for place, name in enumerate(found.columns):
        values = (line.values[place] for line in found.lines)
        yield f"    {name}: {', '.join('–' if one is None else f'{one:.6g}' for one in values)}"
    counting = "".join("x" if line.counts else "." for line in found.lines)
    parts = (line.contribution for line in found.lines)
    yield f"    {counting} {', '.join('–' if one is None else f'{one:.6g}' for one in parts)}"


def explanations() -> str:
    """What is written of every measure that needs grades alone, on every situation; of the others, of one."""
    lines = []
    for measure in PLAIN:
        for form in dict.fromkeys([measure, *(measure @ 3 for _ in "1" if measure.definition.at == "cutoff")]):
            for grades, missed in SITUATIONS:
                found = account(grades, str(form), missed=missed)
                lines += [f"{grades} and {missed or 'none'} missed: {found.text}", *table(found)]
    for measure in (one for one in all_measures() if one.definition.needs is not None):
        source, given = NEEDED[measure.definition.needs or ""]
        qrels = read_qrels(
            io.StringIO(source) if isinstance(source, str) else source,
            reading=Reading(judgements=needed_kind([measure])),
        )
        for found in explain(
            Experiment(qrels, {"1": ranked(["d1", "d2", "d3", "d4", "d5"])}, **given), "1", variants(measure)
        ).accounts:
            lines += [f"with what it needs: {found.text}", *table(found)]
    return "\n".join(lines) + "\n"


def test_what_is_written_of_every_measure_is_as_kept() -> None:
    kept = KEPT.read_text(encoding="utf-8").splitlines()
    assert explanations().splitlines() == kept, "if this is meant: make record, and read the diff"


def test_average_precision_of_the_lectures_rankings() -> None:
    found = explain(Experiment({"1": relevant(TEN_RELEVANT)}, {"1": ranked(Q1)}), "1", "AP").accounts[0]
    assert found.text == "AP = (1/1 + 2/3 + 3/6 + 4/10 + 5/15) / 10 = 2.9 / 10 = 0.2900"
    hits = [line for line in found.lines if line.counts]
    assert [line.document for line in hits] == ["d123", "d56", "d9", "d25", "d3"]
    assert [round(line.precision, 4) for line in hits] == [1, 0.6667, 0.5, 0.4, 0.3333]
    assert [line.recall for line in hits] == pytest.approx([0.1, 0.2, 0.3, 0.4, 0.5])
    assert {one.document for one in found.missed} == set(TEN_RELEVANT) - set(Q1)


def column(found: Account, name: str) -> list[float]:
    place = found.columns.index(name)
    return [round(line.values[place] or 0.0, 3) for line in found.lines]


def test_gains_and_their_ideals_stand_beside_each_other() -> None:
    found = account("32301", "nDCG@5")
    assert column(found, "DCG") == [3, 4.262, 5.762, 5.762, 6.149]
    assert column(found, "ideal gain") == [3, 3, 2, 1, 0]
    assert column(found, "ideal DCG") == [3, 4.893, 5.893, 6.323, 6.323]
    qrels, run = {"1": GRADES_Q1, "2": GRADES_Q2}, {"1": ranked(Q1), "2": ranked(Q2)}
    first, second = (explain(Experiment(qrels, run), topic, "nDCG(base=2)@15").accounts[0] for topic in ("1", "2"))
    assert column(first, "DCG")[5:] == [2.791, 2.791, 2.791, 2.791, 3.394, 3.394, 3.394, 3.394, 3.394, 4.161]
    assert column(first, "ideal DCG")[:10] == [3, 6, 7.893, 8.893, 9.754, 10.528, 10.884, 11.217, 11.533, 11.834]
    assert column(second, "DCG")[-1] == 2.363
    assert column(explain(Experiment(qrels, run), "1", "CG@15").accounts[0], "CG")[-6:] == [7, 7, 7, 7, 7, 10]


@pytest.mark.parametrize("made", collections(1), ids=repr)
def test_contributions_add_up_to_what_evaluate_gives(made: Collection) -> None:
    judged = judge(read_run(made.run), read_qrels(made.qrels))
    topics = range(2)
    for measure in all_variants():
        whole = measure.per_topic(judged)
        for topic in topics:
            trace = measure.trace(judged.select(np.array([topic])))
            working = measure.working(trace)
            assert trace.value == whole[topic], measure
            assert len(working.counts) == trace.length
            assert all(len(values) == trace.length for values in working.columns.values()), measure
            if working.contribution is not None:
                close = pytest.approx(trace.value, rel=1e-12, abs=1e-12)
                assert math.fsum(working.contribution.tolist()) == close, measure
                assert not np.any(working.contribution[~working.counts]) or measure.name == "Utility", measure
            check_steps(measure, working, trace.value)


def check_steps(measure: Measure, working: Working, value: float) -> None:
    """What is written is calculated again, to the digits written."""
    for step in working.steps:
        text = step.replace("²", "**2").replace("^", "**").replace("·", "*").replace("−", "-")
        text = re.sub(r"max of (.*)", r"max(\1, 0)", text)
        text = re.sub(r"log([\d.]*) (\d+)", r"(log(\2) / log(\1))", re.sub(r"\bln\(", "log(", text))
        if "…" in text or re.search(r"[A-Za-zΣ]", text.replace("log", "").replace("max", "").replace("e-", "")):
            continue
        if re.search(r"/ (0|\(.* 0\))$", text):
            assert value == 0
            continue
        assert eval(text, {"log": math.log, "max": max}) == pytest.approx(value, rel=5e-3, abs=5e-3), (measure, step)


def test_most_measures_explain_themselves() -> None:
    """Those without a word of their own fall back on what documents are worth: they are few."""
    silent = [measure.name for measure in PLAIN if measure.definition.explain is None]
    assert len(silent) <= 5, silent


def scores(qrels: dict[str, dict[str, float]], made: Collection, topic: str, **given: Any) -> dict[Measure, float]:
    results = evaluate(qrels, made.run, PLAIN, **given)
    place = results.topics.index(topic)
    return dict(zip(results.measures, results.scores[0, :, place].tolist(), strict=True))


@pytest.mark.parametrize("whole", [graded(1), tied(1)], ids=repr)
def test_values_bounds_and_suppositions_are_those_of_evaluations(whole: Collection) -> None:
    made = Collection(whole.name, dict(list(whole.qrels.items())[:2]), whole.run)
    topic = next(iter(made.qrels))
    found = explain(Experiment(made.qrels, made.run), topic, PLAIN, shown=6)
    plain = scores(made.qrels, made, topic)
    bounds = evaluate(made.qrels, made.run, PLAIN, bounds=True)
    place = bounds.topics.index(topic)
    assert bounds.lower is not None
    assert bounds.upper is not None
    for i, one in enumerate(found.accounts):
        assert one.value == plain[one.measure]
        assert one.bounds == (bounds.lower[0, i, place], bounds.upper[0, i, place]), one.measure
    documents = [line.document for line in found.accounts[0].lines]
    assert documents == ranking(made.run[topic])[:6]
    for rank, document in enumerate(documents):
        grade = made.qrels[topic].get(document)
        supposed = max(max(made.qrels[topic].values()), 1.0) if grade is None else 0.0
        other = scores({**made.qrels, topic: {**made.qrels[topic], document: supposed}}, made, topic)
        for one in found.accounts:
            line = one.lines[rank]
            assert line.grade == grade
            if grade is None:
                assert line.if_relevant == pytest.approx(other[one.measure], rel=1e-12, abs=1e-12), one.measure
                assert line.worth is None
            elif grade > 0 and not one.adds_up:
                assert line.worth == pytest.approx(one.value - other[one.measure], abs=1e-12), one.measure


def test_bounds_are_claimed_only_where_the_table_does_not_refute_them() -> None:
    """Compat is highest if an unjudged document has the topic's grade: above that it would be the ideal's first."""
    qrels = {"1": {"d1": 2, "d2": 2}, "2": {"d1": 4}}
    run = {"1": ranked(["d1", "x", "d2"])}
    refuted, held = (explain(Experiment(qrels, run), "1", name, shown=3) for name in ("Compat", "nDCG"))
    (one,) = refuted.accounts
    assert one.bounds is not None
    judged = evaluate({**qrels, "1": {**qrels["1"], "x": 2}}, run, "Compat").scores[0, 0, 0]
    assert one.lines[1].if_relevant == judged
    if judged > one.bounds[1] + 1e-9:  # until the search looks at grades in between
        assert one.outside_bounds == (judged,)
        assert f"do not hold: the last column has {judged:.4f} outside of them" in render(refuted, "table")
        assert "Whatever unjudged" not in render(refuted, "table")
    assert not held.accounts[0].outside_bounds
    assert "Whatever unjudged documents retrieved may be, up to grade 4, nDCG is between" in render(held, "table")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (-2.0, "−2"),
        (999_999_999_999.0, "999999999999"),
        (1e12, "1e+12"),
        (-3e12, "−3e+12"),
        (2e11 + 0.5, "200000000000.5"),
        (2e12 + 0.5, "2e+12"),
        (0.001, "0.001"),
        (0.0009999, "0.001"),
        (0.00099, "0.00099"),
        (0.12345, "0.1235"),
        (-0.5, "−0.5"),
    ],
)
def test_numbers_are_written_as_on_a_board(value: float, text: str) -> None:
    assert number(value) == text


def test_sums_are_shortened_and_their_total_is_exact() -> None:
    found = account("1" * 30, "AP")
    assert found.text == "AP = (1/1 + 2/2 + 3/3 + 4/4 + 5/5 + … + 29/29 + 30/30) / 30 = 30 / 30 = 1.0000"
    assert [line.rank for line in found.lines] == list(range(1, 31))


def test_ranks_far_down_are_shown_if_they_count() -> None:
    grades = "1" + "0" * 30 + "1" + "0" * 5 + "1" * 30
    found = account(grades, "AP")
    ranks = [line.rank for line in found.lines]
    assert ranks[:20] == list(range(1, 21))
    assert ranks[20:22] == [32, 38]
    assert len(ranks) == 40
    assert found.below.ranks == len(grades) - 40
    assert found.below.counting == 11
    assert found.below.contribution is not None
    assert found.lines[-1].total is not None
    assert found.lines[-1].total + found.below.contribution == pytest.approx(found.value)
    text = render(explain_one(grades, "AP"), "table")
    assert "⋮" in text
    assert f"Not shown: {found.below.ranks} documents, of which 11 count, together adding" in text
    assert [line.rank for line in account(grades, "AP", shown=3).lines] == [1, 2, 3]
    assert len(account(grades, "P@5").lines) == 5


def explain_one(grades: str, measure: str) -> Explanation:
    documents = [f"d{rank}" for rank in range(1, len(grades) + 1)]
    judged = {d: float(g) for d, g in zip(documents, grades, strict=True) if g != "-"}
    return explain(Experiment({"1": judged}, {"1": ranked(documents)}), "1", measure)


@pytest.mark.parametrize("ties", ["docid", "file", "best", "worst"])
def test_ties_stand_as_the_policy_has_them(ties: str) -> None:
    made = tied(2)
    for topic in made.qrels:
        found = explain(
            Experiment(made.qrels, made.run, policy=Policy(ties=ties)),
            topic,
            ["AP", "nDCG", "ESL(wanted=2)"],
            shown=100,
        )
        results = evaluate(made.qrels, made.run, ["AP", "nDCG", "ESL(wanted=2)"], policy=Policy(ties=ties))
        place = results.topics.index(topic)
        assert [one.value for one in found.accounts] == results.scores[0, :, place].tolist()
        shown = [(line.document, line.grade) for line in found.accounts[0].lines]
        run, qrels = made.run[topic], made.qrels[topic]
        assert sorted(d for d, _ in shown) == sorted(run)
        assert [run[document] for document, _ in shown] == sorted(run.values(), reverse=True)
        assert all(qrels.get(document) == grade for document, grade in shown)
        order = {"docid": ranking(run), "file": sorted(run, key=lambda d: -run[d])}.get(ties)
        if order is not None:
            assert [document for document, _ in shown] == order
        sign = 1 if ties == "best" else -1
        for (one, grade), (other, below) in itertools.pairwise(shown):
            if order is None and run[one] == run[other] and grade is not None and below is not None:
                assert sign * grade >= sign * below


def test_depth_and_condensed_lists() -> None:
    qrels, run = {"1": {"d1": 1, "d4": 1, "d5": 0, "d6": 1}}, {"1": ranked(["d1", "d2", "d3", "d4", "d5", "d6"])}
    cut = explain(Experiment(qrels, run, policy=Policy(depth=5)), "1", "AP").accounts[0]
    assert cut.text == "AP = (1/1 + 2/4) / 3 = 1.5 / 3 = 0.5000"
    assert [line.document for line in cut.lines] == ["d1", "d2", "d3", "d4"]
    assert cut.retrieved == 5
    for name, policy in (("AP", Policy(judged_only=True)), ("AP(judged_only=True)", Policy())):
        one = explain(Experiment(qrels, run, policy=policy), "1", name).accounts[0]
        assert one.text == f"{name} = (1/1 + 2/2 + 3/4) / 3 = 2.75 / 3 = 0.9167"
        assert [line.document for line in one.lines] == ["d1", "d4", "d5", "d6"]


def test_negative_grades_are_no_judgements() -> None:
    qrels, run = {"1": {"d1": 1, "d2": -1, "d3": 1}}, {"1": ranked(["d1", "d2", "d4", "d3"])}
    found = explain(Experiment(qrels, run), "1", ["AP", "Judged"]).accounts[0]
    assert [line.grade for line in found.lines] == [1, None, None, 1]
    assert found.lines[1].if_relevant == pytest.approx((1 + 1 + 3 / 4) / 3)


STRATA = "1 0 d1 1 2\n1 0 d2 2 -1\n1 0 d3 2 1\n1 0 d4 2 0\n"
NEEDED: dict[str, tuple[Any, dict[str, Any]]] = {
    "known": ({"1": {"d1": 2, "d3": 1, "d4": 0}}, {"known": {"1": {"d1": 1}}}),
    "lengths": ({"1": {"d1": 2, "d3": 1, "d4": 0}}, {"lengths": {f"d{i}": 100 * i for i in range(1, 6)}}),
    "sampled": (STRATA, {}),
    "subtopics": ({"1": {"d1": {"a": 1, "b": 2}, "d3": {"b": 1}, "d9": {"a": 1}, "d4": {"a": 0}}}, {}),
}


@pytest.mark.parametrize(
    "measure", [one for one in all_measures() if one.definition.needs is not None], ids=lambda one: one.name
)
def test_measures_that_need_more_get_it_or_say_so(measure: Measure) -> None:
    source, given = NEEDED[measure.definition.needs or ""]
    qrels = read_qrels(
        io.StringIO(source) if isinstance(source, str) else source, reading=Reading(judgements=needed_kind([measure]))
    )
    run = {"1": ranked(["d1", "d2", "d3", "d4", "d5"])}
    wanted = variants(measure)
    explanation = explain(Experiment(qrels, run, **given), "1", wanted)
    values = evaluate(qrels, run, wanted, **given).scores[0, :, 0]
    for one, value in zip(explanation.accounts, values.tolist(), strict=True):
        assert one.value == value
        assert one.lines[0].document == "d1"
        if one.adds_up:
            total = (one.lines[-1].total or 0.0) + (one.below.contribution or 0.0)
            assert total == pytest.approx(one.value, rel=1e-12), one.measure
    first = explanation.accounts[0]
    assert first.value > 0
    assert first.adds_up or any(line.worth for line in first.lines)
    assert all(render(explanation, format) for format in FORMATS)
    with pytest.raises((UsageError, DataError)):
        explain(Experiment(read_qrels({"1": {"d1": 1}}), run), "1", wanted)


def test_a_topic_without_an_answer_or_a_relevant_document() -> None:
    qrels: dict[str, dict[str, float]] = {"1": {"d1": 1}, "2": {"d1": 0}}
    found = explain(Experiment(qrels, {"2": {"d1": 1.0}}), "1", PLAIN)
    assert all(not one.lines and "no answer of run" in one.notes[0] for one in found.accounts)
    assert "There is no answer of run for this topic." in render(found, "table")
    empty = explain(Experiment(qrels, {"2": {"d1": 1.0}}), "2", PLAIN)
    expected = evaluate(qrels, {"2": {"d1": 1.0}}, PLAIN).scores[0, :, 1]
    assert [one.value for one in empty.accounts] == expected.tolist()
    assert "0 / 0" in empty.accounts[[str(one) for one in PLAIN].index("AP")].text


def test_two_runs_side_by_side() -> None:
    qrels = {"1": {"d1": 2, "d2": 1, "d3": 0}}
    runs = {"a": {"1": ranked(["d1", "d2", "d9"])}, "b": {"1": ranked(["d3", "d1", "d8", "d2"])}}
    found = explain(Experiment(qrels, runs), "1", ["AP", "F@4"])
    assert [(one.measure.name, one.run) for one in found.accounts] == [("AP", "a"), ("AP", "b"), ("F", "a"), ("F", "b")]
    pair, without_sums = found.pairs
    assert [(one.move.document, one.move.change) for one in pair.documents] == [
        ("d1", "up"),
        ("d2", "up"),
        ("d3", "left"),
        ("d8", "left"),
    ]
    gained = sum((one.contribution or 0) - (one.other_contribution or 0) for one in pair.documents)
    assert gained == pytest.approx(pair.difference) == 1 - (1 / 2 + 2 / 4) / 2
    assert all(one.contribution is None for one in without_sums.documents)
    text = render(found, "table")
    assert "AP: a − b = 1.0000 − 0.5000 = +0.5000" in text
    assert "↑ 2" in text
    drawing = render(found, "html")
    assert drawing.count("<path") == 4
    assert "→" not in drawing.split("<svg")[1].split("</svg>")[0]


class Tags(HTMLParser):
    """Checks that every tag is closed, and gathers what a page may not have."""

    VOID = ("circle", "path")

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()
        self.linked: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open.append(tag)
        self.seen.add(tag)
        self.linked += [name for name, _ in attrs if name in ("href", "src", "onclick")]

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_formats_of_an_explanation() -> None:
    qrels = {"1": {"d<1>": 2, "d|2": 1}}
    runs = {"a": {"1": ranked(["d<1>", "x", "d|2"])}, "b": {"1": ranked(["d|2", "d<1>"])}}
    found = explain(Experiment(qrels, runs), "1", ["nDCG@3", "F@3"])
    page = render(found, "html")
    tags = Tags()
    tags.feed(page)
    assert not tags.open
    assert not tags.linked
    assert {"section", "style", "table", "svg"} <= tags.seen
    assert "script" not in tags.seen
    assert "http" not in page
    assert "d&lt;1&gt;" in page
    assert "<1>" not in page
    assert render(found, "markdown").count("```") == 8
    assert "d\\|2" in render(found, "markdown")
    document = json.loads(render(found, "json"))
    assert document["schema"] == "cranfield.explain/1"
    assert document["topic"] == "1"
    assert len(document["pairs"]) == 2
    first = document["accounts"][0]
    assert first["value"] == found.accounts[0].value
    assert first["steps"][0] == "DCG / ideal DCG"
    assert first["lines"][1]["grade"] is None
    assert first["lines"][0]["values"]["gain"] == 2
    assert str(found) == render(found, "table").rstrip("\n")
    assert found._repr_html_() == page


def test_the_command_explains_and_refuses() -> None:
    paths = [EXAMPLES / "qrels.txt", EXAMPLES / "bm25.run"]
    done = command_line("explain", *paths, "--topic", "2", "-m", "nDCG@5", "-m", "AP", "--shown", "4")
    assert done.exit == 0
    assert done.stdout.startswith("nDCG@5 of bm25 on topic 2: 0.7324\n")
    shown = re.findall(r"^(nDCG@5|AP) of bm25 on topic 2: ([\d.]+)$", done.stdout, flags=re.MULTILINE)
    expected = evaluate(str(paths[0]), str(paths[1]), ["nDCG@5", "AP"]).per_topic()["bm25"]
    assert [value for _, value in shown] == [f"{value:.4f}" for value in expected["2"].values()]
    side = command_line("explain", *paths, EXAMPLES / "dense.run", "--topic", "2", "-m", "AP", "-f", "markdown")
    assert side.exit == 0
    assert "## AP: bm25 − dense = " in side.stdout
    assert "of one topic" not in command_line("explain", *paths, "-m", "AP").stderr
    unknown = command_line("explain", *paths, "--topic", "22", "-m", "AP")
    assert unknown.exit == 2
    assert "no topic '22' in the judgements; the nearest are 2" in unknown.stderr
    other = command_line("explain", *paths, "--topic", "first")
    assert other.exit == 2
    assert "no topic 'first' in the judgements; there are 1, 2" in other.stderr
    assert command_line("explain", *paths, "--topic", "1", "-m", "nope").exit == 2
    assert command_line("explain", *paths, "--topic", "1", "-m", "Coverage").exit == 2
    refused = command_line("explain", *paths, "--topic", "1", "--ties", "expected")
    assert refused.exit == 2
    assert "the mean over many rankings" in refused.stderr


def test_what_has_no_one_ranking_is_refused() -> None:
    qrels, run = {"1": {"d1": 1.0}}, {"1": {"d1": 1.0}}
    for policy in (Policy(ties="expected"), Policy(grades="probabilities"), Policy(judges="mean")):
        with pytest.raises(UsageError, match=r"explain|mean"):
            explain(Experiment(qrels, run, policy=policy), "1", "AP")
    with pytest.raises(UsageError, match="one run, or two side by side, not 3"):
        explain(Experiment(qrels, {"a": run, "b": run, "c": run}), "1", "AP")


if __name__ == "__main__":
    KEPT.write_text(explanations(), encoding="utf-8")


def test_a_mean_of_one_topic_hints_at_the_topic(tmp_path: Path) -> None:
    (tmp_path / "qrels").write_text("1 0 a 1\n")
    (tmp_path / "run").write_text("1 Q0 a 1 1 run\n")
    done = command_line("explain", tmp_path / "qrels", tmp_path / "run", "-m", "AP", "-m", "RR")
    hint = "cranfield: note: explain: the mean is of one topic; --topic 1 shows how its score arises, rank by rank\n"
    assert done.stderr.count(hint) == 1
    assert "AP of run: 1.0000\n" in done.stdout


def of_pond() -> Explanation:
    pond = Experiment(str(EXAMPLES / "pond.qrels"), {"1": {"d12": 3.0, "d02": 2.0}})
    return explain(pond, "1", "AP", shown=2, collection=EXAMPLES / "pond.toml")


def test_words_of_the_question_are_in_bold_where_the_terminal_has_it() -> None:
    with written_for(Terminal(width=50, colours=True)):
        shown = render(of_pond(), "table")
    assert "    \x1b[1mDucks\x1b[0m spread oil from a gland near the tail\n" in shown
    assert "\x1b[1md12 (grade 0) Why feathers stay dry\x1b[0m\n" in shown
    plain = re.sub(r"\x1b\[\d+m", "", shown)
    with written_for(Terminal(width=50)):
        assert render(of_pond(), "table") == plain


def test_documents_that_are_missed_or_not_judged_are_called_so() -> None:
    shown = render(of_pond(), "table")
    assert "d02 (not judged) What ducks eat\n" in shown
    assert "d01 (grade 2, not retrieved) Ducks on the water\n" in shown


def test_who_points_at_a_document_of_two_runs_reads_its_title() -> None:
    runs = {"a": {"1": {"d12": 3.0, "d02": 2.0, "x": 1.0}}, "b": {"1": {"d02": 2.0}}}
    pond = Experiment(str(EXAMPLES / "pond.qrels"), runs)
    told = {"d12": "d12: Why feathers stay dry", "d02": "d02: What ducks eat", "x": "x"}
    for collection, titles in ((EXAMPLES / "pond.toml", told), (None, {document: document for document in told})):
        shown = render(explain(pond, "1", "AP", shown=3, collection=collection), "html")
        (drawing,) = re.findall("<svg.*?</svg>", shown, re.DOTALL)
        entries = [*titles.values(), titles["d02"], titles["d02"]]  # it is in both runs, with a line between
        assert sorted(re.findall("<title>(.*?)</title>", drawing)) == sorted(entries)


def test_texts_are_text_in_every_form() -> None:
    hostile = "duck </section><script>x</script> \x1b[2J *b* | _c_ \u202e end"
    texts = read_collection(
        topics={"1": {"title": hostile, "description": hostile}},
        documents={"d1": {"title": hostile, "text": hostile}},
    )
    explanation = explain(Experiment({"1": {"d1": 1}}, {"1": {"d1": 1.0}}), "1", "AP", collection=texts)
    for format in FORMATS:
        shown = render(explanation, format)
        assert "\x1b" not in shown
        assert "\u202e" not in shown
        assert format in ("table", "json") or "<script" not in shown
    assert "<mark>duck</mark>" in render(explanation, "html")
    assert "**duck**" in render(explanation, "markdown")
