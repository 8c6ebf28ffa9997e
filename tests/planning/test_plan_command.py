"""`cranfield plan` and `cranfield split` as a person meets them, and the plan that the library gives."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

import cranfield
from cranfield import DataError, UsageError
from cranfield.cli import cli
from cranfield.evaluation.experiment import Experiment
from cranfield.planning import Aims, power_analysis, read_splits
from cranfield.planning.plan_tables import FORMATS, MOST_PAIRS
from cranfield.statistics.generalisability import dependability, generalisability, variance_components
from cranfield.statistics.power import detectable_effect, sd_interval, topics_needed
from places import EXAMPLES, ROOT

QRELS, BM25, DENSE = (str(EXAMPLES / name) for name in ("qrels.txt", "bm25.run", "dense.run"))


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, arguments)


def test_plan_from_data_is_the_formulas_on_the_scores() -> None:
    plan = cranfield.plan(
        Experiment(QRELS, [BM25, DENSE]), ["nDCG@10", "AP"], aims=Aims([0.05], power=0.9, comparisons=2)
    )
    results = cranfield.evaluate(QRELS, [BM25, DENSE], ["nDCG@10", "AP"])
    assert [one.measure for one in plan.measures] == ["nDCG@10", "AP"]
    for m, one in enumerate(plan.measures):
        scores = results.scores[:, m]
        gaps = scores[0] - scores[1]
        (pair,) = one.pairs
        assert (pair.a, pair.b) == ("bm25", "dense")
        assert pair.difference == pytest.approx(gaps.mean())
        assert pair.sd == pytest.approx(gaps.std(ddof=1))
        assert (pair.sd_low, pair.sd_high) == pytest.approx(sd_interval(pair.sd, 6))
        assert pair.detectable == pytest.approx(pair.sd * detectable_effect(6, power=0.9, alpha=0.025))
        assert pair.topics == (topics_needed(0.05 / pair.sd, power=0.9, alpha=0.025),)
        found = variance_components(scores)
        assert one.generalisability == generalisability(found)
        assert one.dependability == dependability(found)


def test_planned_topics_replace_the_present_ones() -> None:
    now, later = (
        cranfield.plan(Experiment(QRELS, [BM25, DENSE]), "AP", aims=Aims(topics=topics)) for topics in (None, 60)
    )
    assert (now.topics, now.planned, later.topics, later.planned) == (6, 6, 6, 60)
    assert later.measures[0].pairs[0].detectable < now.measures[0].pairs[0].detectable
    assert later.measures[0].generalisability.value > now.measures[0].generalisability.value
    assert later.measures[0].topics_for_generalisability == now.measures[0].topics_for_generalisability


def test_runs_that_never_differ_are_named_and_not_planned_for() -> None:
    plan = cranfield.plan(Experiment(QRELS, {"a": BM25, "b": BM25, "c": DENSE}), "AP")
    same = plan.measures[0].pairs[0]
    assert (same.a, same.b, same.sd, same.topics) == ("a", "b", 0, (None, None, None))
    assert {"identical-scores", "comparisons"} <= {warning.code for warning in plan.warnings}
    done = run("plan", QRELS, BM25, BM25, "-f", "json")
    assert done.exit_code == 0, done.output
    document = json.loads(done.stdout)
    assert document["measures"][0]["pairs"][0]["topics_needed"][0] == {"difference": 0.01, "topics": None}
    assert document["measures"][0]["generalisability"]["value"] is None


def test_plan_refuses_what_cannot_be_planned() -> None:
    with pytest.raises(UsageError, match="2 runs or more"):
        cranfield.plan(Experiment(QRELS, BM25), "AP")
    with pytest.raises(UsageError, match="GMAP is not a mean"):
        cranfield.plan(Experiment(QRELS, [BM25, DENSE]), "GMAP")
    with pytest.raises(UsageError, match="difference must be"):
        cranfield.plan(Experiment(QRELS, [BM25, DENSE]), "AP", aims=Aims(differences=[0.0]))
    with pytest.raises(DataError, match="1 topic: a standard deviation needs 2"):
        cranfield.plan(Experiment({"q": {"d": 1}}, {"a": {"q": {"d": 1.0}}, "b": {"q": {"e": 1.0}}}), "AP")
    runs = {"a": {"1": {"d": 1.0}}, "b": {"2": {"d": 1.0}}}
    with pytest.raises(UsageError, match="same topics"):
        cranfield.plan(Experiment({"1": {"d": 1}, "2": {"d": 1}}, runs, policy=cranfield.Policy(topics="run")), "AP")


@pytest.mark.parametrize("format", FORMATS)
def test_every_format_shows_every_number(format: str) -> None:
    plan = cranfield.plan(Experiment(QRELS, [BM25, DENSE]), "AP", aims=Aims(differences=[0.05]))
    done = run("plan", QRELS, BM25, DENSE, "--difference", "0.05", "-f", format)
    assert done.exit_code == 0, done.output
    (one,) = plan.measures
    pair = one.pairs[0]
    for value in (pair.difference, pair.sd, pair.sd_low, pair.sd_high, pair.detectable, *one.generalisability[:1]):
        assert f"{value:.4f}" in done.stdout or repr(value) in done.stdout, value
    for topics in (*pair.topics, *(int(estimate.value) for estimate in one.topics_for_generalisability)):
        assert str(topics) in done.stdout


def test_csv_is_a_row_a_number_with_full_precision() -> None:
    plan = cranfield.plan(Experiment(QRELS, [BM25, DENSE]), "AP")
    rows = list(csv.DictReader(io.StringIO(run("plan", QRELS, BM25, DENSE, "-f", "csv").stdout)))
    (sd,) = (row for row in rows if row["quantity"] == "sd")
    assert (float(sd["value"]), sd["a"], sd["b"], sd["at"]) == (plan.measures[0].pairs[0].sd, "bm25", "dense", "6")
    needed = {row["at"]: int(row["value"]) for row in rows if row["quantity"] == "topics for difference"}
    assert tuple(needed.values()) == plan.measures[0].pairs[0].topics
    assert list(needed) == ["0.01", "0.02", "0.05"]


def test_json_form_is_as_documented() -> None:
    document = json.loads(run("plan", QRELS, BM25, DENSE, "-f", "json").stdout)
    page = (ROOT / "docs" / "planning.md").read_text()
    assert document["schema"] == "cranfield.plan/1"
    assert all(entry["digest"] for entry in document["inputs"])
    for key in (*document, *document["measures"][0], *document["measures"][0]["pairs"][0]):
        assert f"`{key}`" in page, key
    numbers = json.loads(run("plan", "--effect", "0.3", "-f", "json").stdout)
    for key in (*numbers, *numbers["plans"][0]):
        assert f"`{key}`" in page, key
    splits = json.loads(run("split", QRELS).stdout)
    for key in (*splits, *splits["folds"][0]):
        assert f"`{key}`" in page, key


def test_many_pairs_are_summed_up_in_a_table_and_complete_in_csv() -> None:
    random = np.random.default_rng(1)
    qrels = {str(t): {"d": 1} for t in range(5)}

    def drawn() -> dict[str, dict[str, float]]:
        return {topic: {f"x{r}": 9.0 - r for r in range(random.integers(0, 5))} | {"d": 1.0} for topic in qrels}

    plan = cranfield.plan(
        Experiment(qrels, {f"run{n}": drawn() for n in range(12)}), "RR", aims=Aims(differences=[0.1])
    )
    pairs = plan.measures[0].pairs
    assert len(pairs) == 66 > MOST_PAIRS
    spreads = sorted(pair.sd for pair in pairs)
    text = str(plan)
    assert "of 66 pairs those with the least, the median and the largest sd" in text
    shown = [line.split()[3] for line in text.splitlines() if line.startswith("run")]
    assert shown == [f"{spreads[i]:.4f}" for i in (0, 33, -1)]
    assert FORMATS["csv"](plan).count(",detectable difference,") == 66


def test_numbers_on_the_command_line_are_those_of_the_library() -> None:
    done = run("plan", "--difference", "0.02", "--difference", "0.05", "--sd", "0.1", "--comparisons", "3", "-f", "csv")
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    expected = [power_analysis(difference=difference, sd=0.1, comparisons=3) for difference in (0.02, 0.05)]
    assert [int(row["topics"]) for row in rows] == [one.topics for one in expected]
    assert "0.4042" in run("plan", "--topics", "50").stdout
    assert "0.5477" in run("plan", "--effect", "0.3", "--topics", "50").stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "give an effect"),
        (["--difference", "0.02"], "standard deviation"),
        (["--effect", "0.3", "-m", "AP"], "-m is for plans from data"),
        (["--effect", "0.3", "--target", "0.9"], "--target is for plans from data"),
        (["--effect", "0.3", "--topics", "50", "--power", "0.8"], "two of them decide"),
        ([QRELS, BM25, DENSE, "--sd", "0.1"], "--sd is for plans from numbers"),
        ([QRELS, BM25, DENSE, "--design", "independent"], "--design is for plans from numbers"),
        ([QRELS, BM25], "2 runs or more"),
        ([QRELS], "no run given"),
        ([QRELS, BM25, DENSE, "--target", "1"], "target must be"),
        ([QRELS, BM25, DENSE, "--alpha", "0"], "alpha must be"),
        ([QRELS, BM25, DENSE, "--power", "0.01"], "power must be above alpha"),
    ],
)
def test_a_wrong_call_is_refused(arguments: list[str], message: str) -> None:
    done = run("plan", *arguments)
    assert isinstance(done.exception, UsageError)
    assert message in str(done.exception)


def test_split_command_writes_what_read_splits_reads(tmp_path: Path) -> None:
    printed = run("split", QRELS, "--folds", "3", "--seed", "1")
    assert printed.exit_code == 0
    target = tmp_path / "splits.json"
    done = run("split", QRELS, "--folds", "3", "--seed", "1", "-o", str(target))
    assert done.stdout == f"3 splits in {target}\n"
    assert target.read_text() == printed.stdout
    splits = read_splits(target, topics=[str(topic) for topic in range(1, 7)])
    assert splits == cranfield.split(QRELS, folds=3, seed=1)
    folder = run("split", QRELS, "--test-share", "0.5", "-o", str(tmp_path / "parts"))
    assert "1 split in" in folder.stdout
    assert len((tmp_path / "parts" / "test.txt").read_text().split()) == 3


def test_split_command_stratifies_by_the_mean_of_runs() -> None:
    done = run("split", QRELS, "--folds", "2", "--stratify", BM25, "--stratify", DENSE, "-m", "nDCG@10")
    assert done.exit_code == 0, done.output
    splits = read_splits(json.loads(done.stdout))
    assert splits.stratified == "nDCG@10"
    results = cranfield.evaluate(QRELS, [BM25, DENSE], "nDCG@10")
    order = [results.topics[t] for t in np.argsort(results.scores[:, 0].mean(axis=0))]
    for start in (0, 2, 4):  # of two neighbours in difficulty, one to each fold
        assert [len({*order[start : start + 2]} & {*fold.test}) for fold in splits.folds] == [1, 1]


def test_split_command_takes_folds_or_a_share() -> None:
    done = run("split", QRELS, "--folds", "2", "--test-share", "0.5")
    assert isinstance(done.exception, UsageError)
    assert len(json.loads(run("split", QRELS).stdout)["folds"]) == 5
    done = run("split", QRELS, "-m", "nDCG@10")
    assert isinstance(done.exception, UsageError)
    assert "--stratify" in str(done.exception)


@pytest.mark.parametrize("command", ["plan", "split"])
def test_help_loads_nothing_heavy(command: str) -> None:
    code = (
        "import sys; sys.argv = ['cranfield', sys.argv[1], '--help']\n"
        "from cranfield.cli import main\n"
        "try:\n    main()\nexcept SystemExit: pass\n"
        "sys.exit(bool({'numpy', 'scipy', 'json'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code, command], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "Examples" in done.stdout
