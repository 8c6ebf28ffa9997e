"""`cranfield correlate` and its functions: on the examples, on the Cranfield collection, and on odd inputs."""

from __future__ import annotations

import csv
import io
import json
import math
import re
import subprocess
import sys
from pathlib import Path
from typing import Protocol, cast

import numpy as np
import pytest

import cranfield
from cranfield import DataError, UsageError, correlate
from cranfield.agreement import Correlation, Overlap, correlate_halves, correlate_systems
from cranfield.agreement.rankings.correlation_tables import FORMATS
from cranfield.cli import main
from cranfield.cli.correlate import APPLIES, QUESTIONS, command
from cranfield.evaluation.experiment import Experiment
from cranfield.policy import Policy
from cranfield.statistics.coefficients import all_coefficients, find_coefficient
from cranfield.statistics.overlap import TIE_TREATMENTS, TiedRanking, Ties, rank_biased_overlap
from cranfield.statistics.significance import Sampling
from places import COLLECTION, EXAMPLES

needs_collection = pytest.mark.skipif(not COLLECTION.is_dir(), reason="the data folder with the collection is not here")
BM25, DENSE, QRELS = (str(EXAMPLES / name) for name in ("bm25.run", "dense.run", "qrels.txt"))
FEW = Sampling(seed=1, resamples=50)
Table = dict[str, dict[str, float]]


class Shell(Protocol):
    def __call__(self, *arguments: str) -> tuple[int, str, str]: ...


@pytest.fixture
def shell(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Shell:
    """Runs `cranfield correlate` in the folder with the example files; gives exit code, output and errors."""

    def run(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.chdir(EXAMPLES)
        monkeypatch.setattr(sys, "argv", ["cranfield", "correlate", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        printed = capsys.readouterr()
        return int(ended.value.code or 0), printed.out, printed.err

    return run


def codes(found: Correlation) -> set[str]:
    return {warning.code for warning in found.warnings}


def ranked(*documents: str) -> dict[str, float]:
    return {document: -float(rank) for rank, document in enumerate(documents)}


# Two runs


def read(path: str) -> Table:
    """A run without the package's readers."""
    table: Table = {}
    for line in Path(path).read_text().splitlines():
        topic, _, document, _, score, _ = line.split()
        table.setdefault(topic, {})[document] = float(score)
    return table


def test_two_runs_topic_by_topic() -> None:
    found = correlate(BM25, DENSE, ["spearman", "kendall", "tau_ap"], overlap=Overlap(p=0.8))
    first, second = read(BM25), read(DENSE)
    assert [row.names for row in found.rows] == [(topic,) for topic in first]
    for topic in first:
        x, y = first[topic], second[topic]
        both = sorted(set(x) & set(y))
        row = found.of(topic)
        assert (row["in both"], row["first only"], row["second only"]) == (
            len(both),
            len(set(x) - set(y)),
            len(set(y) - set(x)),
        )
        for name in ("spearman", "kendall", "tau_ap"):
            assert row[name] == pytest.approx(find_coefficient(name)([x[d] for d in both], [y[d] for d in both]))
        tops = [set(sorted(run, key=lambda d: -run[d])[:10]) for run in (x, y)]
        assert row["overlap@10"] == len(tops[0] & tops[1]) / 10
        assert row["Jaccard@10"] == len(tops[0] & tops[1]) / len(tops[0] | tops[1])
        ours, theirs = (TiedRanking.of_scores(list(run), list(run.values())) for run in (x, y))
        overlap = rank_biased_overlap(ours, theirs, p=0.8)
        assert (row["RBO"], row["RBO low"], row["RBO high"]) == pytest.approx(tuple(overlap))
    for i, name in enumerate(found.columns):
        assert found.mean()[name] == pytest.approx(np.mean([row.values[i] for row in found.rows]))


def test_a_run_agrees_with_itself() -> None:
    treatments: tuple[Ties, ...] = ("w", "b")
    for ties in treatments:
        found = correlate(BM25, BM25, overlap=Overlap(ties=ties)).mean()
        assert [found[name] for name in ("spearman", "kendall", "tau_ap_b", "overlap@10", "RBO")] == pytest.approx(
            [1] * 5
        )


def test_topics_and_documents_that_are_not_shared_are_named() -> None:
    first = {"q1": ranked("a", "b", "c"), "q2": ranked("a"), "q3": ranked("a", "b")}
    second = {"q1": ranked("b", "a", "x"), "q3": ranked("x", "y", "z"), "q4": ranked("a")}
    found = correlate(first, second, "kendall")
    assert [row.names for row in found.rows] == [("q1",), ("q3",)]
    messages = [str(warning) for warning in found.warnings]
    assert any("run1: 1 topic that the other run lacks, left out: q2" in message for message in messages)
    assert any("run2: 1 topic that the other run lacks, left out: q4" in message for message in messages)
    assert any("kendall is undefined for 1 topic" in message and "q3" in message for message in messages)
    assert math.isnan(found.of("q3")["kendall"])
    assert found.mean()["kendall"] == found.of("q1")["kendall"] == -1
    assert found.of("q1")["in both"] == 2
    assert (found.of("q3")["first only"], found.of("q3")["second only"]) == (2, 3)
    assert "few-shared-documents" in codes(found)
    with pytest.raises(DataError, match="no topic in common"):
        correlate(first, {"1": ranked("a")})


def test_short_lists_are_warned_about_and_long_ones_are_not() -> None:
    deep = {"q": ranked(*(f"d{i}" for i in range(200)))}
    assert "large-residual" not in codes(correlate(deep, deep))
    shallow = correlate(deep, deep, depth=5)
    assert "large-residual" in codes(shallow)
    assert shallow.of("q")["in both"] == 5
    assert "large-residual" not in codes(correlate(deep, deep, depth=5, overlap=Overlap(p=0.5)))


def test_notes_say_what_a_reader_must_know() -> None:
    tied = {"q": {"a": 2.0, "b": 1.0, "c": 1.0}}
    found = correlate({"q": ranked("a", "b", "c")}, tied, ["kendall", "tau_ap", "tau_ap_a"], overlap=Overlap(ties="a"))
    notes = "\n".join(found.notes)
    assert "tau_ap: run1 is the truth, run2 is judged by it from the top down" in notes
    assert "kendall: both sides count alike" in notes
    assert "the first 10 ranks carry 86% of the weight" in notes
    assert "ties in 0 and 1 of 1 topic" in notes
    assert f"RBO-a: {TIE_TREATMENTS['a']}" in notes
    assert math.isnan(found.of("q")["tau_ap"])
    assert not math.isnan(found.of("q")["tau_ap_a"])


def test_contradicting_ranks_are_warned_about() -> None:
    lines = "q Q0 a 2 9 t\nq Q0 b 1 8 t\n"
    found = correlate(io.StringIO(lines), {"q": ranked("a", "b")})
    assert "rank-disagreement" in codes(found)


def test_wrong_requests_of_two_runs() -> None:
    for message, overlap in (("p must be", Overlap(p=1.5)), ("ties must be", Overlap(ties=cast(Ties, "x")))):
        with pytest.raises(UsageError, match=message):
            correlate(BM25, DENSE, overlap=overlap)
    with pytest.raises(UsageError, match="depth must be"):
        correlate(BM25, DENSE, depth=0)
    with pytest.raises(UsageError, match="unknown coefficient"):
        correlate(BM25, DENSE, "pearson")
    with pytest.raises(UsageError, match="no coefficient given"):
        correlate(BM25, DENSE, [])
    with pytest.raises(UsageError, match="no row 99"):
        correlate(BM25, DENSE).of("99")


# Orderings of systems


def systems(count: int = 6, topics: int = 12, seed: int = 0) -> tuple[Table, dict[str, Table]]:
    """Judgements, and systems that find the relevant documents the better the higher their number."""
    generator = np.random.default_rng(seed)
    qrels = {f"q{t:02}": {f"d{i}": int(i < 5) for i in range(20)} for t in range(topics)}
    runs = {
        f"s{number}": {
            topic: {d: grade * number / count + float(generator.normal()) for d, grade in grades.items()}
            for topic, grades in qrels.items()
        }
        for number in range(count)
    }
    return {topic: {d: float(grade) for d, grade in grades.items()} for topic, grades in qrels.items()}, runs


def test_orderings_under_each_pair_of_measures() -> None:
    qrels, runs = systems()
    found = correlate_systems(Experiment(qrels, runs), ["AP", "RR", "P@5"], all_names(), sampling=FEW)
    means = cranfield.evaluate(qrels, runs, ["AP", "RR", "P@5"]).means.round(12)
    names = ["AP", "RR", "P@5"]
    for i, j in ((0, 1), (0, 2), (1, 2)):
        for each in all_coefficients():
            row = found.of(names[i], names[j], each.name)
            assert row["value"] == pytest.approx(each(means[:, i], means[:, j]), nan_ok=True)
            assert math.isnan(row["low"]) or -1 <= row["low"] <= row["high"] <= 1
    assert len(found.rows) == 3 * len(all_coefficients())
    assert "tau_ap: the first ordering is the truth, the second is judged by it from the top down" in found.notes
    assert any("50 resamples" in note and "seed 1" in note for note in found.notes)
    best = np.argsort(-means[:, 0])
    assert f"AP: {', '.join(f's{number}' for number in best)}" in found.notes
    assert "few-systems" not in codes(found)


def all_names() -> list[str]:
    return [each.name for each in all_coefficients()]


def test_a_measure_with_an_average_of_its_own_orders_by_it() -> None:
    qrels, runs = systems()
    found = correlate_systems(Experiment(qrels, runs), ["AP", "AP(agg='geometric')"], "spearman", sampling=FEW)
    means = cranfield.evaluate(qrels, runs, ["AP", "AP(agg='geometric')"]).means
    assert found.rows[0].values[0] == pytest.approx(find_coefficient("spearman")(means[:, 0], means[:, 1]))


def test_two_sets_of_judgements_over_the_topics_of_both() -> None:
    qrels, runs = systems()
    others = {topic: {d: 1 - grade for d, grade in grades.items()} for topic, grades in list(qrels.items())[2:]}
    others["q99"] = {"d1": 1.0}
    found = correlate_systems(Experiment(qrels, runs), "AP", "kendall", other_qrels=others, sampling=FEW)
    shared = {topic: qrels[topic] for topic in qrels if topic in others}
    means = [cranfield.evaluate(q, runs, "AP").means[:, 0] for q in (shared, {t: others[t] for t in shared})]
    (row,) = found.rows
    assert row.values[0] == pytest.approx(find_coefficient("kendall")(*means))
    assert row.values[0] < 0
    messages = " ".join(str(warning) for warning in found.warnings if warning.code == "unshared-topics")
    assert "q00, q01" in messages
    assert "q99" in messages
    same = correlate_systems(Experiment(qrels, runs), "AP", "kendall", other_qrels=qrels, sampling=FEW)
    assert same.rows[0].values == pytest.approx((1, 1, 1))
    with pytest.raises(DataError, match="no topic in common"):
        correlate_systems(Experiment(qrels, runs), "AP", other_qrels={"zz": {"d1": 1}})


def test_two_sets_of_topics() -> None:
    qrels, runs = systems()
    half = list(qrels)[:5]
    scores = cranfield.evaluate(qrels, runs, "AP").scores[:, 0]
    expected = find_coefficient("kendall")(scores[:, :5].mean(axis=1), scores[:, 5:].mean(axis=1))
    one = correlate_systems(Experiment(qrels, runs), "AP", "kendall", topic_sets=[half], sampling=FEW)
    assert one.rows[0].names == ("AP set 1 (5 topics)", "AP set 2 (7 topics)", "kendall")
    two = correlate_systems(Experiment(qrels, runs), "AP", "kendall", topic_sets=[half, list(qrels)[5:]], sampling=FEW)
    assert one.rows == two.rows
    assert one.rows[0].values[0] == pytest.approx(expected)
    odd = correlate_systems(
        Experiment(qrels, runs), "AP", "kendall", topic_sets=[[*half, "q98"], half[:2]], sampling=FEW
    )
    assert {"unknown-topics", "shared-topics"} <= codes(odd)
    with pytest.raises(DataError, match="no topic of set 1"):
        correlate_systems(Experiment(qrels, runs), "AP", topic_sets=[["nope"]])
    with pytest.raises(DataError, match="no topic of set 2"):
        correlate_systems(Experiment(qrels, runs), "AP", topic_sets=[list(qrels)])


def test_halves() -> None:
    qrels, runs = systems()
    found = correlate_halves(Experiment(qrels, runs), ["AP", "RR"], ["kendall", "tau_ap"], sampling=FEW)
    assert [row.names for row in found.rows] == [
        ("AP", "kendall"), ("AP", "tau_ap"), ("RR", "kendall"), ("RR", "tau_ap"),
    ]  # fmt: skip
    for row in found.rows:
        mean, deviation, low, high = row.values
        assert -1 <= low <= mean <= high <= 1
        assert deviation >= 0
    again = correlate_halves(Experiment(qrels, runs), ["AP", "RR"], ["kendall", "tau_ap"], sampling=FEW)
    assert found.rows == again.rows
    assert any("50 random splits of 12 topics into 6 and 6, seed 1" in note for note in found.notes)


def test_ties_of_systems_are_warned_about() -> None:
    qrels, runs = systems()
    runs["copy"] = runs["s3"]
    found = correlate_systems(Experiment(qrels, runs), ["AP", "RR"], ["kendall", "tau_ap"], sampling=FEW)
    assert math.isnan(found.of("AP", "RR", "tau_ap")["value"])
    assert not math.isnan(found.of("AP", "RR", "kendall")["value"])
    assert "undefined-coefficient" in codes(found)


def test_wrong_requests_of_systems() -> None:
    qrels, runs = systems(topics=4)
    wrong: list[tuple[str, dict[str, object]]] = [
        ("nothing to agree with", {}),
        ("not both at once", {"other_qrels": qrels, "topic_sets": [["q01"]]}),
        ("not 3", {"topic_sets": [["q01"], ["q02"], ["q03"]]}),
    ]
    for message, options in wrong:
        with pytest.raises(UsageError, match=message):
            correlate_systems(Experiment(qrels, runs), "AP", **options)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="choose topics=qrels"):
        correlate_systems(Experiment(qrels, runs, Policy(topics="run")), "AP", topic_sets=[["q01"]])
    with pytest.raises(UsageError, match="at least two runs"):
        correlate_systems(Experiment(qrels, runs["s1"]), ["AP", "RR"])
    few = correlate_systems(Experiment(qrels, {"a": runs["s1"], "b": runs["s2"]}), ["AP", "RR"], sampling=FEW)
    assert "few-systems" in codes(few)


# The command line


@pytest.mark.parametrize("format", FORMATS)
def test_every_format_shows_every_number(format: str, shell: Shell) -> None:
    found = correlate(BM25, DENSE)
    assert found.means is not None
    for options, values in (([], found.means), (["-q"], found.rows[0].values)):
        code, text, _ = shell("bm25.run", "dense.run", "-f", format, *options)
        assert code == 0
        numbers = [float(number) for number in re.findall(r"(?<![\w.@=])-?\d+\.\d+", text)]
        for value in values[3:]:
            assert any(abs(number - value) < 5.1e-5 for number in numbers), value


def test_csv_has_full_precision_a_row_a_topic_and_the_mean(shell: Shell) -> None:
    _, text, _ = shell("bm25.run", "dense.run", "-q", "-f", "csv")
    rows = list(csv.DictReader(io.StringIO(text)))
    found = correlate(BM25, DENSE)
    assert [row["topic"] for row in rows] == [*(row.names[0] for row in found.rows), "all"]
    expected = [*(found.of(row["topic"])["RBO"] for row in rows[:-1]), found.mean()["RBO"]]
    assert [float(row["RBO"]) for row in rows] == expected
    _, text, _ = shell("bm25.run", "dense.run", "-f", "csv")
    (mean,) = csv.DictReader(io.StringIO(text))
    assert (mean["topic"], float(mean["kendall"])) == ("all", found.mean()["kendall"])


def test_json_form(shell: Shell) -> None:
    asked = [
        "--qrels",
        "qrels.txt",
        "-m",
        "AP",
        "-m",
        "RR",
        "bm25.run",
        "dense.run",
        "--seed",
        "4",
        "--resamples",
        "20",
    ]
    _, text, _ = shell(*asked, "-f", "json")
    document = json.loads(text)
    keys = ["schema", "version", "kind", "settings", "labels", "columns", "rows", "mean", "notes", "warnings"]
    assert list(document) == keys
    assert (document["schema"], document["kind"], document["mean"]) == ("cranfield.correlate/1", "systems", None)
    assert (
        document
        == correlate_systems(Experiment(QRELS, [BM25, DENSE]), ["AP", "RR"], sampling=Sampling(4, 20)).to_dict()
    )
    _, text, _ = shell("bm25.run", "dense.run", "-f", "json", "-q")
    assert json.loads(text) == correlate(BM25, DENSE).to_dict()
    _, text, _ = shell("bm25.run", "dense.run", "-f", "json")
    assert json.loads(text)["rows"] == []


def test_the_program_itself() -> None:
    line = [sys.executable, "-m", "cranfield", "correlate", "bm25.run", "dense.run"]
    done = subprocess.run(line, capture_output=True, text=True, cwd=EXAMPLES, check=True)
    assert done.stdout.startswith("topic")
    assert "first: bm25; second: dense" in done.stdout
    assert "cranfield: warning: bm25 and dense: more documents are in one list only" in done.stderr


def test_undefined_numbers_are_null_in_json_and_a_dash_in_a_table(tmp_path: Path, shell: Shell) -> None:
    (tmp_path / "one.run").write_text("1 Q0 a 1 2 t\n")
    (tmp_path / "other.run").write_text("1 Q0 b 1 2 t\n")
    files = [str(tmp_path / name) for name in ("one.run", "other.run")]
    assert json.loads(shell(*files, "-f", "json")[1])["mean"]["kendall"] is None
    assert "–" in shell(*files)[1]
    assert "nan" not in shell(*files, "-f", "csv")[1]


def test_topic_sets_come_from_files(tmp_path: Path, shell: Shell) -> None:
    (tmp_path / "topics.txt").write_text("1\n2\n3\n")
    given = ["--qrels", "qrels.txt", "-m", "AP", "bm25.run", "dense.run", "--resamples", "20"]
    assert "set 1 (3 topics)" in shell(*given, "--topic-set", str(tmp_path / "topics.txt"))[1]
    (tmp_path / "empty.txt").write_text("\n")
    assert shell(*given, "--topic-set", str(tmp_path / "empty.txt"))[0] == 3
    assert shell(*given, "--topic-set", str(tmp_path / "missing.txt"))[0] == 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("bm25.run", "two runs"),
        ("bm25.run dense.run bm25.run", "two runs"),
        ("bm25.run dense.run -m AP", "-m does not apply"),
        ("bm25.run dense.run --halves 5", "--halves does not apply"),
        ("bm25.run dense.run --seed 5", "--seed does not apply"),
        ("bm25.run dense.run -c tau", "unknown coefficient 'tau'"),
        ("bm25.run dense.run -p 0", "p must be"),
        ("--qrels qrels.txt bm25.run dense.run -p 0.8", "-p does not apply"),
        ("--qrels qrels.txt bm25.run dense.run -q", "-q does not apply"),
        ("--qrels qrels.txt bm25.run -m AP --reproduced dense.run -c kendall", "-c does not apply"),
        ("--qrels qrels.txt -m AP bm25.run dense.run", "nothing to agree with"),
        ("--qrels qrels.txt --qrels qrels.txt --qrels qrels.txt -m AP bm25.run dense.run", "at most twice"),
        ("--qrels qrels.txt --qrels qrels.txt -m AP bm25.run dense.run --halves 3", "at most once"),
    ],
)
def test_wrong_usage(arguments: str, message: str, shell: Shell) -> None:
    code, out, errors = shell(*arguments.split())
    assert (code, out) == (2, "")
    assert message in errors


def test_options_are_about_known_questions_and_treatments() -> None:
    names = {option.name for option in command.params}
    assert set(APPLIES) <= names
    assert {question for questions in APPLIES.values() for question in questions} == set(QUESTIONS)
    (ties,) = (option for option in command.params if option.name == "ties")
    assert tuple(getattr(ties.type, "choices", ())) == tuple(TIE_TREATMENTS)


def test_list_explains_every_coefficient(shell: Shell) -> None:
    _, listing, _ = shell("--list")
    for each in all_coefficients():
        assert f"{each.name}: {each.title}. {each.says}" in listing


def test_help_loads_nothing_heavy() -> None:
    code = (
        "import sys; sys.argv = ['cranfield', 'correlate', '--help']\n"
        "from cranfield.cli import main\n"
        "try:\n    main()\nexcept SystemExit: pass\n"
        "sys.exit(str({'numpy', 'scipy', 'rich', 'json'} & set(sys.modules) or ''))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stderr.strip() == ""
    assert "cranfield correlate" in done.stdout


# A real collection


@needs_collection
def test_cranfield_runs() -> None:
    paths = [COLLECTION / "runs" / f"{name}.run.gz" for name in ("bm25", "vsm-logtf-coarse", "random")]
    agreement = {path.name: correlate(paths[0], path).mean() for path in paths}
    for name in ("RBO", "overlap@10"):
        values = [agreement[path.name][name] for path in paths]
        assert values[0] == pytest.approx(1)
        assert values == sorted(values, reverse=True), name
    coarse = correlate(paths[0], paths[1], "tau_ap_a")
    assert any("ties in" in note and "225 of 225 topics" in note for note in coarse.notes)


@needs_collection
def test_orderings_of_the_cranfield_runs() -> None:
    runs = sorted((COLLECTION / "runs").glob("*.gz"))
    qrels = COLLECTION / "cranfield.qrels"
    found = correlate_systems(Experiment(qrels, list(runs)), ["AP", "nDCG@10"], "kendall", sampling=FEW)
    means = cranfield.evaluate(qrels, list(runs), ["AP", "nDCG@10"]).means
    value, low, high = found.rows[0].values
    assert value == pytest.approx(find_coefficient("kendall")(means[:, 0], means[:, 1]))
    assert low <= value <= high
    halves = correlate_halves(Experiment(qrels, list(runs)), "AP", "kendall", sampling=FEW)
    assert halves.rows[0].values[0] > 0.7


def test_a_correlation_prints_its_table() -> None:
    a = {"q1": {"d1": 2.0, "d2": 1.0}, "q2": {"d1": 2.0, "d2": 1.0}}
    found = correlate(a, a, coefficients="kendall")
    printed = str(found)
    assert [line.split()[0] for line in printed.splitlines() if line][:3] == ["topic", "q1", "q2"]
    assert not printed.endswith("\n")
    assert repr(found) == f"<Correlation of runs: 2 rows>\n{printed}"
