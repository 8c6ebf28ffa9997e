"""Time-biased gain and U-measure: the papers' formulas rank by rank, cwl_eval, and every way to judge the rest."""

from __future__ import annotations

import gzip
import io
import json
import math
from collections.abc import Mapping
from itertools import permutations, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import cranfield
from cranfield import DataError, Policy, UsageError, evaluate, measures
from cranfield.cli import cli
from cranfield.formats.lengths import read_lengths
from cranfield.measures import parse_measure
from generate import Collection, Rankings, collections, ranking
from places import EXAMPLES

COLLECTIONS = collections(2)
NAMES = [
    *("TBG", "TBG@10", "TBG(rel=2)", "TBG(half_life=60)", "TBG(click=0.9, click_other=0.1, save=0.5)"),
    *("TBG(summary=0, opened=2.5, word=0.1)@20", "U", "U@10", "U(L=3000)", "U(snippet=50, read=1)"),
    *("U(gain='exp')@5", "U(gain={1: 3, 2: 9})", "U(gain={-1: 5})"),
]


def lengths_for(made: Collection) -> dict[str, float]:
    documents = sorted({document for scores in made.run.values() for document in scores})
    return {document: float(7 * i % 1900) for i, document in enumerate(documents)}


def TBG(grades: list[float | None], lengths: list[float], **given: Any) -> float:
    """Smucker and Clarke's sum, document by document."""
    clock = gained = 0.0
    for rank, (grade, length) in enumerate(zip(grades, lengths, strict=True), start=1):
        relevant = grade is not None and grade >= given["rel"]
        if relevant and rank <= (given["cutoff"] or rank):
            gained += given["click"] * given["save"] * math.exp(-clock * math.log(2) / given["half_life"])
        chance = given["click"] if relevant else given["click_other"]
        clock += given["summary"] + chance * (given["word"] * length + given["opened"])
    return gained


def worth(grade: float, gain: Any) -> float:
    """As everywhere: a negative grade is worth nothing, unless a table of gains says otherwise."""
    plain = max(grade, 0)
    return {"linear": plain, "exp": 2**plain - 1}[gain] if isinstance(gain, str) else dict(gain).get(grade, plain)


def U(grades: list[float | None], lengths: list[float], **given: Any) -> float:
    """Sakai and Dou's sum over the text that is read: a snippet, then a part of the document if it is relevant."""
    position = total = 0.0
    for rank, (grade, length) in enumerate(zip(grades, lengths, strict=True), start=1):
        position += given["snippet"]
        if grade is not None:
            position += given["read"] * length * (grade > 0)
            if rank <= (given["cutoff"] or rank):
                total += worth(grade, given["gain"]) * max(0.0, 1 - position / given["L"])
    return total


def reference(name: str, documents: list[str], judged: Mapping[str, float], lengths: Mapping[str, float]) -> float:
    measure = parse_measure(name)
    formula = {"TBG": TBG, "U": U}[measure.definition.name]
    return formula([judged.get(d) for d in documents], [lengths[d] for d in documents], **measure.parameters)


@pytest.mark.parametrize("made", COLLECTIONS, ids=str)
def test_agree_with_the_formulas_rank_by_rank(made: Collection) -> None:
    lengths = lengths_for(made)
    scores = evaluate(made.qrels, made.run, [*NAMES, "AP"], lengths=lengths).per_topic()["run"]
    for topic, values in scores.items():
        for name in NAMES:
            documents = ranking(made.run.get(topic, {}))
            expected = reference(name, documents, made.qrels[topic], lengths)
            assert values[str(parse_measure(name))] == pytest.approx(expected, rel=1e-12, abs=1e-12), (topic, name)
    assert any(value > 0 for values in scores.values() for value in values.values())


@pytest.mark.parametrize("made", COLLECTIONS, ids=str)
@pytest.mark.parametrize(
    "policy", [Policy(judged_only=True), Policy(depth=4), Policy(depth=9, judged_only=True)], ids=str
)
def test_condensed_and_cut_lists_take_no_time_for_what_is_not_in_them(made: Collection, policy: Policy) -> None:
    lengths = lengths_for(made)
    scores = evaluate(made.qrels, made.run, ["TBG", "U(L=3000)"], lengths=lengths, policy=policy).per_topic()["run"]
    for topic, values in scores.items():
        documents = ranking(made.run.get(topic, {}))[: policy.depth]
        if policy.judged_only:
            documents = [document for document in documents if made.qrels[topic].get(document, -1) >= 0]
        for name, value in values.items():
            expected = reference(name, documents, made.qrels[topic], lengths)
            assert value == pytest.approx(expected, rel=1e-12, abs=1e-12)


def test_the_parameter_of_a_measure_condenses_as_the_policy_does() -> None:
    made = COLLECTIONS[0]
    lengths = lengths_for(made)
    whole = evaluate(made.qrels, made.run, "TBG(judged_only=True)", lengths=lengths)
    policy = evaluate(made.qrels, made.run, "TBG", lengths=lengths, policy=Policy(judged_only=True))
    assert whole.scores.tolist() == policy.scores.tolist()


def test_agrees_with_cwl_eval() -> None:
    """Its TBG takes the seconds of each document as costs, and gives the sum of the gains as the total utility."""
    tbg = pytest.importorskip("cwl.ruler.measures.cwl_tbg", reason="cwl-eval is not installed")
    rankings = pytest.importorskip("cwl.ruler.ranking")
    for made in COLLECTIONS:
        lengths = lengths_for(made)
        scores = evaluate(made.qrels, made.run, "TBG", lengths=lengths).per_topic()["run"]
        for topic, found in made.run.items():
            if topic not in made.qrels:
                continue
            documents = ranking(found)
            relevant = [made.qrels[topic].get(document, 0) >= 1 for document in documents]
            seconds = [
                4.4 + (0.64 if hit else 0.39) * (7.8 + 0.018 * lengths[document])
                for document, hit in zip(documents, relevant, strict=True)
            ]
            model, shown = tbg.TBGCWLMetric(224), rankings.Ranking("1", np.array(relevant, float), np.array(seconds))
            weights = model.w_vector(shown)
            total = float(np.sum(weights * shown.get_gain_vector())) / weights[0]
            assert scores[topic]["TBG"] == pytest.approx(0.64 * 0.77 * total, rel=1e-9)


def test_one_document_by_hand() -> None:
    """TBG: found at once, 0.64 · 0.77. U: a snippet and a fifth of 1000 characters read of 132000."""
    found = evaluate({"1": {"a": 1}}, {"1": {"a": 1.0}}, ["TBG", "U"], lengths={"a": 1000}).mean()["run"]
    assert found == pytest.approx({"TBG": 0.4928, "U": 1 - 400 / 132000})
    below = evaluate({"1": {"a": 1}}, {"1": {"x": 2.0, "a": 1.0}}, "TBG", lengths={"a": 1, "x": 1000}).mean()["run"]
    assert below["TBG"] == pytest.approx(0.4928 * 2 ** (-(4.4 + 0.39 * 25.8) / 224))


def test_documents_of_equal_score_are_read_in_every_order() -> None:
    """Unjudged documents of other lengths stand among the tied ones: each order has its own clock."""
    qrels, lengths = {"1": {"a": 1, "b": 0, "c": 2}}, {"a": 900.0, "b": 40.0, "c": 2000.0, "x": 3000.0, "y": 10.0}
    tied: Rankings = {"1": dict.fromkeys("abxyc", 1.0)}
    names = ["TBG", "U(L=3000)"]
    values = {
        name: [reference(name, list(order), qrels["1"], lengths) for order in permutations("abxyc")] for name in names
    }
    best, worst = (
        evaluate(qrels, tied, names, lengths=lengths, policy=Policy(ties=ties)).mean()["run"]
        for ties in ("best", "worst")
    )
    for name in names:
        assert best[name] > worst[name]
        for scores in (best, worst):
            assert min(abs(scores[name] - value) for value in values[name]) < 1e-12, "it is that of one of the orders"
    for samples in (119, 120):  # all orders differ, and 120 are no more than the draws
        expected = evaluate(qrels, tied, names, lengths=lengths, policy=Policy(ties="expected", samples=samples))
        for name, score in expected.mean()["run"].items():
            error = 0 if samples == 120 else np.std(values[name]) / samples**0.5
            assert score == pytest.approx(np.mean(values[name]), abs=5 * error + 1e-12)
            drawn = any(w.code == "sampled-ties" and name in w.message for w in expected.warnings)
            assert drawn == (samples < 120)


@pytest.mark.parametrize("ranked", ["uavbw", "auvc", "uvw", "cuav", "abcd"])
@pytest.mark.parametrize("name", ["TBG", "TBG@3", "TBG(half_life=5)", "U(L=2000)", "U@2"])
def test_bounds_hold_every_way_to_judge_the_rest(ranked: str, name: str) -> None:
    """Those of TBG are reached; those of U need not be."""
    grades: dict[str, float] = {"a": 1, "b": 2, "c": 0, "d": 1}
    lengths = {document: 130.0 * (i + 1) for i, document in enumerate("wcubavd")}
    run = {"1": {document: -float(i) for i, document in enumerate(ranked)}, "2": {"b": 1.0}}
    results = evaluate({"1": grades, "2": {"b": 2.0}}, run, name, lengths=lengths, bounds=True)
    holes = [document for document in ranked if document in "uvw"]
    values = [
        reference(name, list(ranked), grades | dict(zip(holes, guess, strict=True)), lengths)
        for guess in product((0, 1, 2), repeat=len(holes))
    ]
    assert results.lower is not None
    assert results.upper is not None
    low, high = results.lower[0, 0, 0], results.upper[0, 0, 0]
    assert low <= min(values) + 1e-12
    assert high >= max(values) - 1e-12
    if name.startswith("TBG") or not holes:
        assert (low, high) == pytest.approx((min(values), max(values)))


def test_a_long_document_that_proves_relevant_may_use_up_the_users_reading() -> None:
    given: dict[str, Any] = {"lengths": {"u": 1000, "a": 10}, "bounds": True}
    results = evaluate({"1": {"a": 1}}, {"1": {"u": 2.0, "a": 1.0}}, "U(L=1000, read=1, snippet=1)", **given)
    assert results.scores[0, 0, 0] == pytest.approx(1 - 12 / 1000)
    assert results.lower is not None
    assert results.lower[0, 0, 0] == 0, "if it is relevant it is read first, and there is no more to come"


def test_other_measures_are_as_without_lengths() -> None:
    for made in COLLECTIONS:
        names = ["AP", "nDCG@10", "Judged@10", "NumRet", "Bpref", "TBG", "ERR"]
        for policy in (Policy(), Policy(ties="best"), Policy(judged_only=True)):
            beside = evaluate(made.qrels, made.run, names, lengths=lengths_for(made), policy=policy)
            alone = evaluate(made.qrels, made.run, [name for name in names if name != "TBG"], policy=policy)
            assert beside.measures == tuple(map(parse_measure, names))
            assert np.delete(beside.scores, 5, axis=1).tolist() == alone.scores.tolist()
            more = [finding for finding in beside.warnings if finding not in alone.warnings]
            assert [finding for finding in more if "TBG" not in finding.message] == []


def test_a_document_without_a_length_is_named() -> None:
    run = {"1": {"a": 2.0, "x": 1.0}, "9": {"not judged": 1.0}}
    with pytest.raises(DataError, match="retrieved 1 documents without a length: x"):
        evaluate({"1": {"a": 1}}, run, "TBG", lengths={"a": 10})
    assert evaluate({"1": {"a": 1, "m": 1}}, {"1": {"a": 1.0}}, "TBG", lengths={"a": 10}).mean()["run"]["TBG"] > 0


def test_lengths_are_asked_for() -> None:
    with pytest.raises(UsageError, match=r"TBG needs the lengths .*--lengths FILE"):
        evaluate({"1": {"a": 1}}, {"1": {"a": 1.0}}, "TBG")
    with pytest.raises(UsageError, match="U needs the lengths"):
        measures.U.per_topic(cranfield.judged.relstring("1"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("d1\tmany\n", r"1: the length of document 'd1' is many: it must be a number from 0"),
        ("d1 5\nd2 -1\n", r"2: the length of document 'd2' is -1"),
        ("d1 nan\n", "'d1' is nan"),
        ("d1 1e999\n", "'d1' is 1e999"),
        ("d1 1_000\n", "'d1' is 1_000"),
        ("d1\n", "1: 1 fields where a document and its length are expected"),
        ("q1 d1 5\n", "1: 3 fields where"),
        ("d1 5\nd1 6\n", "2: document 'd1' is given a second length"),
        ('{"d1": 5, "d1": 6}', "'d1' appears twice"),
        ('{"d1": null}', "'d1' is None"),
        ('{"d1": true}', "'d1' is bool"),
        ('{"d1": {"d2": 5}}', "'d1' is dict"),
        ('{"d1": ', "not JSON"),
        ("\n\n", "has no lengths"),
        ("docno\tlength\n", "has no lengths"),
    ],
)
def test_lengths_that_are_none_are_refused(text: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        read_lengths(io.StringIO(text))


def test_lengths_come_in_several_forms(tmp_path: Path) -> None:
    expected = {"d1": 5.0, "d 2": 2.5}
    forms = {
        "a.tsv": "d1\t5\nd 2\t2.5\n",
        "b.tsv": "docid\tlength\r\nd1\t5\r\nd 2\t2.5\r\n\r\nd1\t5.0\r\n",
        "c.json": json.dumps(expected),
    }
    for name, text in forms.items():
        (tmp_path / name).write_text(text)
        assert read_lengths(tmp_path / name).of == expected
        (tmp_path / f"{name}.gz").write_bytes(gzip.compress(text.encode()))
        assert read_lengths(str(tmp_path / f"{name}.gz")).of == expected
    assert read_lengths({"d1": np.int64(5), "d 2": 2.5}).of == expected
    with pytest.raises(TypeError, match=r"expected a file or \{document: length\}, not int"):
        read_lengths(5)  # type: ignore[arg-type]


@pytest.mark.parametrize("number", [1, 2])
def test_the_command_reads_lengths(tmp_path: Path, number: int) -> None:
    examples = EXAMPLES
    runs = [examples / "bm25.run", examples / "dense.run"][:number]
    documents = {line.split()[2] for run in runs for line in run.read_text().splitlines()}
    lengths = {document: 100 + 10 * int(document[1:]) for document in sorted(documents)}
    file = tmp_path / "lengths.tsv"
    file.write_text("".join(f"{document}\t{length}\n" for document, length in lengths.items()))
    asked = ["-m", "nDCG@10", "-m", "TBG", "-m", "U", "-f", "json", "--lengths", str(file)]
    called = CliRunner().invoke(cli, ["evaluate", str(examples / "qrels.txt"), *map(str, runs), *asked])
    assert called.exit_code == 0, called.output
    document = json.loads(called.stdout)
    again = evaluate(examples / "qrels.txt", list(runs), ["nDCG@10", "TBG", "U"], lengths=lengths)
    assert [run["mean"] for run in document["runs"]] == list(again.mean().values())
    given = next(entry for entry in document["inputs"] if entry["name"] == "lengths")
    assert (given["path"], given["rows"]) == (str(file), len(lengths))
    assert given["digest"].startswith("xxh3_128:")
