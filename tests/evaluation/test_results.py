"""Results: one type whatever the arguments, every way out, and the policies that decide the numbers."""

from __future__ import annotations

import json
from collections.abc import Iterator

import numpy as np
import pytest

import cranfield
from cranfield import Policy
from cranfield.errors import DataError, UsageError
from cranfield.evaluation.result_tables import render
from cranfield.render.grid import Grid, as_latex

QRELS = {"1": {"a": 1, "b": 2, "c": 0}, "2": {"a": 1}, "3": {"z": 0}}
FULL = {"1": {"b": 3.0, "x": 2.0, "a": 1.0}, "2": {"x": 2.0, "a": 1.0}, "3": {"z": 1.0}}
PARTIAL = {"1": {"a": 1.0}}


@pytest.fixture
def results() -> cranfield.Results:
    return cranfield.evaluate(QRELS, {"full": FULL, "partial": PARTIAL}, ["AP", "RR", "NumRet"])


def test_ways_out_agree(results: cranfield.Results) -> None:
    rows = list(results.rows())
    assert len(rows) == 2 * 3 * 3
    assert [tuple(row) for row in results.to_pandas().itertuples(index=False)] == rows
    assert results.to_polars().rows() == rows
    assert [tuple(row.values()) for row in results.to_arrow().to_pylist()] == rows
    nested = results.per_topic()
    assert [nested[run][topic][measure] for run, topic, measure, _ in rows] == [score for *_, score in rows]
    assert results.to_dict()["runs"][0]["topics"] == nested["full"]
    assert json.loads(json.dumps(results.to_dict())) == results.to_dict()


def test_one_run_or_many_give_the_same_type() -> None:
    one = cranfield.evaluate(QRELS, FULL, "AP")
    many = cranfield.evaluate(QRELS, [FULL, FULL], ["AP"])
    assert type(one) is type(many) is cranfield.Results
    assert one.scores.shape == (1, 1, 3)
    assert many.scores.shape == (2, 1, 3)


def test_prints_as_text_and_html(results: cranfield.Results) -> None:
    assert str(results).splitlines()[0].split() == ["run", "AP", "RR", "NumRet"]
    assert repr(results).startswith("<Results: 2 runs, 3 measures, 3 topics>")
    assert "<table>" in results._repr_html_()
    assert results._repr_html_().count("<tr>") == 3


def test_html_latex_and_markdown_escape_names() -> None:
    text = cranfield.evaluate(QRELS, {"<b>_&|": FULL}, "AP")
    from cranfield.evaluation.result_tables import render

    assert "&lt;b&gt;_&amp;|" in render(text, "html")
    assert r"\textless{}b\textgreater{}\_\&\textbar{}" in render(text, "latex")
    assert r"&lt;b>\_&\|" in render(text, "markdown")


def test_scores_of_one_measure(results: cranfield.Results) -> None:
    assert results.of("AP", "full").tolist() == pytest.approx([5 / 6, 0.5, 0.0])
    with pytest.raises(UsageError, match="which run"):
        results.of("AP")
    with pytest.raises(UsageError, match="no run 'nope'"):
        results.of("AP", "nope")
    with pytest.raises(UsageError, match=r"P@5 was not evaluated"):
        results.of("P@5", "full")


def policies() -> Iterator[tuple[Policy, dict[str, float], int]]:
    ap_full, ap_partial = 5 / 6, 0.5  # topic 1; topic 2 is 0.5 for full
    yield Policy(), {"full": (ap_full + 0.5) / 3, "partial": ap_partial / 3}, 3
    yield Policy(topics="common"), {"full": ap_full, "partial": ap_partial}, 1
    yield Policy(topics="run"), {"full": (ap_full + 0.5) / 3, "partial": ap_partial}, 3
    yield Policy(empty_topics="drop"), {"full": (ap_full + 0.5) / 2, "partial": ap_partial / 2}, 2
    yield Policy(topics="run", empty_topics="drop"), {"full": (ap_full + 0.5) / 2, "partial": ap_partial}, 2
    yield Policy(depth=1), {"full": 0.5 / 3, "partial": ap_partial / 3}, 3
    yield Policy(judged_only=True), {"full": (1 + 1) / 3, "partial": ap_partial / 3}, 3


@pytest.mark.parametrize(("policy", "means", "topics"), list(policies()), ids=lambda value: str(value)[:60])
def test_policies(policy: Policy, means: dict[str, float], topics: int) -> None:
    results = cranfield.evaluate(QRELS, {"full": FULL, "partial": PARTIAL}, "AP", policy=policy)
    assert {run: values["AP"] for run, values in results.mean().items()} == pytest.approx(means)
    assert len(results.topics) == topics
    assert results.policy == policy
    assert results.to_dict()["policy"]["topics"] == policy.topics


def test_depth_cuts_before_unjudged_documents_are_taken_out() -> None:
    run = {"1": {"x": 3.0, "y": 2.0, "a": 1.0}}
    deep = cranfield.evaluate({"1": {"a": 1}}, run, ["RR", "NumRet"], policy=Policy(depth=2, judged_only=True))
    assert deep.mean() == {"run": {"RR": 0.0, "NumRet": 0.0}}
    all_of_it = cranfield.evaluate({"1": {"a": 1}}, run, ["RR", "NumRet"], policy=Policy(judged_only=True))
    assert all_of_it.mean() == {"run": {"RR": 1.0, "NumRet": 1.0}}


def test_ties_by_document_id_or_as_in_the_input() -> None:
    tied = {"1": {"a": 1.0, "b": 1.0, "c": 1.0}}
    qrels = {"1": {"a": 1}}
    assert cranfield.evaluate(qrels, tied, "RR").mean() == {"run": {"RR": pytest.approx(1 / 3)}}
    assert cranfield.evaluate(qrels, tied, "RR", policy=Policy(ties="file")).mean() == {"run": {"RR": 1.0}}
    backwards = {"1": dict(reversed(tied["1"].items()))}
    assert cranfield.evaluate(qrels, backwards, "RR").mean() == {"run": {"RR": pytest.approx(1 / 3)}}
    assert cranfield.evaluate(qrels, backwards, "RR", policy=Policy(ties="file")).mean()["run"]["RR"] == pytest.approx(
        1 / 3
    )


def test_tie_groups_reach_the_measures() -> None:
    qrels = cranfield.read_qrels({"1": {"a": 1, "c": 0, "d": 1}})
    run = cranfield.read_run({"1": {"z": 5.0, "a": 3.0, "b": 3.0, "c": 3.0, "d": 1.0}})
    judged = cranfield.judged.judge(run, qrels)
    assert judged.rank.tolist() == [2, 4, 5]
    assert judged.tie_first.tolist() == [2, 2, 5]
    assert judged.tie_size.tolist() == [3, 3, 1]
    condensed = judged.condensed()
    assert condensed.rank.tolist() == [1, 2, 3]
    assert condensed.tie_first.tolist() == [1, 1, 3]
    assert condensed.tie_size.tolist() == [2, 2, 1]


def test_warnings_name_what_they_are_about(results: cranfield.Results) -> None:
    found = {(warning.code, warning.source) for warning in results.warnings}
    assert ("no-relevant", "qrels") in found
    assert ("missing-topics", "partial") in found
    assert "2, 3" in next(w.message for w in results.warnings if w.code == "missing-topics")


@pytest.mark.parametrize(
    ("policy", "told"),
    [
        (Policy(), ["scored 0 for every run: 3", "scored 0: 2, 3"]),
        (Policy(topics="run"), ["scored 0 for every run: 3", "judged topics, left out: 2, 3"]),
        (Policy(topics="common"), ["scored 0 for every run: 3", "left out for every run: 2, 3"]),
        (Policy(empty_topics="drop"), ["document, left out: 3", "judged topic, scored 0: 2"]),
    ],
)
def test_warnings_say_what_the_policy_does_with_a_topic(policy: Policy, told: list[str]) -> None:
    results = cranfield.evaluate(QRELS, PARTIAL, "AP", policy=policy)
    found = [w.message for w in results.warnings if w.code in ("no-relevant", "missing-topics")]
    assert [message.endswith(end) for message, end in zip(found, told, strict=True)] == [True, True], found


def test_a_run_of_which_no_topic_is_left_is_an_error_and_not_a_mean_of_nothing() -> None:
    policy = Policy(topics="run", empty_topics="drop")
    runs = {"full": FULL, "bare": {"3": {"z": 1.0}}}
    with pytest.raises(DataError, match="bare: answers no topic with a relevant document"):
        cranfield.evaluate(QRELS, runs, "AP", policy=policy)


def test_bounds_reach_every_format() -> None:
    results = cranfield.evaluate(QRELS, FULL, ["AP", "AP(rel=2)"], bounds=True)
    lines = [json.loads(line) for line in render(results, "jsonl", per_topic=True).splitlines()]
    document = results.to_dict()["runs"][0]
    assert {line["topic"]: line["bounds"] for line in lines} == {**document["topic_bounds"], None: document["bounds"]}
    low, high = document["topic_bounds"]["1"]["AP"]
    assert 0 < low < high
    trec = [tuple(line.split()) for line in render(results, "trec", per_topic=True).splitlines()]
    assert {("map_low", "1", f"{low:.4f}"), ("map_high", "1", f"{high:.4f}"), ("AP(rel=2)_low", "2", "0.0000")} <= {
        *trec
    }
    assert [line[0] for line in trec[-6:]] == [
        "map",
        "map_low",
        "map_high",
        *(f"AP(rel=2){end}" for end in ("", "_low", "_high")),
    ]


def test_a_level_that_no_grade_reaches_is_said() -> None:
    results = cranfield.evaluate(QRELS, FULL, "AP(rel=3)")
    assert [w.code for w in results.warnings if w.code == "unreachable-grade"] == ["unreachable-grade"]


@pytest.mark.parametrize(
    ("qrels", "run", "message"),
    [
        ({"1": {"a": 0}}, {"1": {"a": 1.0}}, "nothing is relevant"),
        ({"1": {"a": 1}}, {"01": {"a": 1.0}}, "no topic in common"),
        ({}, {"1": {"a": 1.0}}, "has no rows"),
        ({"1": {"a": 1}}, {}, "no run given|has no rows"),
    ],
)
def test_numbers_that_would_mean_nothing_are_refused(
    qrels: dict[str, dict[str, float]], run: dict[str, dict[str, float]], message: str
) -> None:
    with pytest.raises((DataError, UsageError), match=message):
        cranfield.evaluate(qrels, run, "AP")


def test_counts_are_sums_and_other_measures_means(results: cranfield.Results) -> None:
    assert results.mean()["full"]["NumRet"] == 6.0
    assert np.array_equal(results.means[:, 0], results.scores[:, 0].mean(axis=1))


def test_same_measure_twice_counts_once() -> None:
    assert [str(m) for m in cranfield.evaluate(QRELS, FULL, ["AP", "map", "MAP", "P@5", "P_5"]).measures] == [
        "AP",
        "P@5",
    ]


def test_latex_takes_no_name_for_an_argument_of_a_line_break() -> None:
    rows = as_latex(Grid(["run", "AP"], [["[x]", "0.5"], ["*", "0.25"], ["a", "1"]])).splitlines()[6:9]
    assert rows == ["{}[x] & 0.5 \\\\", "{}* & 0.25 \\\\", "a & 1 \\\\"]
