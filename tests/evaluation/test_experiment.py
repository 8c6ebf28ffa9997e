"""The experiment: each thing is read and joined once, under one policy and one way to read, whatever is made of it."""

from __future__ import annotations

import copy
import io
import os
import pickle
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cranfield
from cranfield import DataError, Experiment, Policy, Reading, UsageError, judged
from cranfield.comparison.gate.rules import Rule, Thresholds
from cranfield.formats import sources
from cranfield.formats.format import Judging
from cranfield.formats.given import Given, GivenRuns
from cranfield.measures import parse_measure
from cranfield.plot.curves import by_cutoff
from cranfield.report.contents import gather

QRELS = {str(t): {"a": 1, "b": 0, "c": 1 if t % 2 else 0} for t in range(6)}
TIED = {str(t): {"b": 1.0, "a": 1.0, "c": 0.5} for t in range(6)}  # b stands first in the file, and by its id
RUNS = {"one": TIED, "other": {str(t): {"a": 2.0, "b": 1.0} for t in range(6)}}


def files(folder: Path, runs: dict[str, dict[str, dict[str, float]]] = RUNS) -> tuple[str, list[str]]:
    """The judgements and the runs as files, with commas between the columns."""
    (folder / "qrels.csv").write_text(
        "".join(["topic,document,grade\n", *(f"{t},{d},{g}\n" for t, docs in QRELS.items() for d, g in docs.items())])
    )
    paths = []
    for name, run in runs.items():
        path = folder / f"{name}.csv"
        rows = (f"{t},{d},{s}\n" for t, docs in run.items() for d, s in docs.items())
        path.write_text("".join(["topic,document,score\n", *rows]))
        paths.append(str(path))
    return str(folder / "qrels.csv"), paths


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The paths that are opened for reading, in order."""
    opened: list[str] = []
    open_source = sources.open_source

    def watched(source: Any, *arguments: Any, **named: Any) -> Any:
        opened.append(os.path.basename(str(source)))
        return open_source(source, *arguments, **named)

    monkeypatch.setattr("cranfield.formats.open_source", watched)
    return opened


class TestReadOnce:
    def test_a_report_reads_and_joins_each_thing_once(
        self, tmp_path: Path, reads: list[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        qrels, runs = files(tmp_path)
        joins: list[str] = []

        def watched(run: cranfield.Run, *arguments: Any, **named: Any) -> Any:
            joins.append(run.name)
            return judged.joined(run, *arguments, **named)

        monkeypatch.setattr("cranfield.evaluation.experiment.joined", watched)
        gather(Experiment(qrels, runs), ["AP", "nDCG@10"])
        assert sorted(reads) == ["one.csv", "other.csv", "qrels.csv"]
        assert sorted(joins) == ["one", "other"]

    def test_all_that_is_made_of_an_experiment_reads_it_once(self, tmp_path: Path, reads: list[str]) -> None:
        qrels, runs = files(tmp_path)
        experiment = Experiment(qrels, runs)
        experiment.evaluate("AP")
        cranfield.compare(experiment, "AP")
        cranfield.explain(experiment, "1", "AP")
        cranfield.diagnose(experiment, "RR")
        cranfield.check(experiment)
        by_cutoff(experiment, "P")
        experiment.evaluate("AP").plot.interpolated()
        assert sorted(reads) == ["one.csv", "other.csv", "qrels.csv"]

    def test_measures_of_another_kind_read_the_judgements_again_and_the_runs_not(
        self, tmp_path: Path, reads: list[str]
    ) -> None:
        (tmp_path / "qrels.txt").write_text("1 1 a 1\n1 2 b 1\n")
        (tmp_path / "a.run").write_text("1 Q0 a 1 2 t\n1 Q0 b 2 1 t\n")
        experiment = Experiment(tmp_path / "qrels.txt", tmp_path / "a.run")
        assert experiment.evaluate("StRecall@1")["StRecall@1"] == {"a": 0.5}
        experiment.evaluate("P@1")
        assert reads.count("a.run") == 1

    def test_rows_are_let_go_where_they_are_not_wanted(self, tmp_path: Path, reads: list[str]) -> None:
        qrels, runs = files(tmp_path)
        results = cranfield.evaluate(qrels, runs, "AP")
        assert sorted(reads) == ["one.csv", "other.csv", "qrels.csv"]
        assert not results.experiment.rows
        results.plot.interpolated()
        assert sorted(reads) == ["one.csv", "one.csv", "other.csv", "other.csv", "qrels.csv"]


class TestTies:
    def test_a_run_judged_for_one_rule_is_not_evaluated_under_another(self, tmp_path: Path) -> None:
        """It gave a wrong RR in silence: b before a by id, a before b in the file."""
        path = tmp_path / "a.run"
        path.write_text("1 Q0 a 1 1 t\n1 Q0 b 2 1 t\n")
        qrels = cranfield.read_qrels({"1": {"a": 1, "b": 0}})
        run = cranfield.read_run(path, judging=Judging(qrels.table, "docid"))
        assert cranfield.evaluate(qrels, run, "RR")["RR"] == {"a": 0.5}
        with pytest.raises(UsageError, match="judged with ties by document id, and its rows were not kept"):
            cranfield.evaluate(qrels, run, "RR", policy=Policy(ties="file"))
        assert cranfield.evaluate(qrels, path, "RR", policy=Policy(ties="file"))["RR"] == {"a": 1.0}

    def test_a_diagnosis_shows_documents_where_the_policy_has_them(self) -> None:
        """It said that no document moved, beside a difference of 0.5: it looked at the order of ids."""
        qrels = {t: {"a": 1} for t in "123"}
        first = {t: {"a": 1.0, "b": 1.0} for t in qrels}
        second = {t: {"b": 1.0, "a": 1.0} for t in qrels}
        experiment = Experiment(qrels, {"first": first, "second": second}, Policy(ties="file"))
        diagnosis = cranfield.diagnose(experiment, "RR", topics=["1"])
        assert diagnosis.difference == 0.5
        assert [(move.document, move.rank, move.other_rank) for move in diagnosis.moves] == [("a", 1, 2), ("b", 2, 1)]

    @pytest.mark.parametrize("policy", [Policy(depth=1), Policy(judged_only=True), Policy(ties="worst")], ids=str)
    def test_documents_are_those_that_measures_see(self, policy: Policy) -> None:
        run = {"1": {"x": 3.0, "a": 2.0, "b": 2.0, "c": 1.0}}
        experiment = Experiment({"1": {"a": 1, "b": 0, "c": 1}}, {"run": run}, policy)
        (table,) = experiment.tables()
        (documents,) = experiment.documents(table, ["1"], 10)
        seen = experiment.judged(table)
        grades = experiment.judgements().qrels.of("1")
        assert [grades[documents[rank - 1]] for rank in seen.rank] == seen.grade.tolist()
        assert len(documents) == seen.retrieved[0]


class TestFilesThatChange:
    @pytest.mark.parametrize("digest", [None, "sha256"])
    @pytest.mark.parametrize("changed", ["one.csv", "other.csv"])
    def test_a_picture_of_another_file_than_the_scores_is_refused(
        self, tmp_path: Path, digest: str | None, changed: str
    ) -> None:
        qrels, runs = files(tmp_path)
        results = cranfield.evaluate(qrels, runs, "AP", reading=Reading(digest=digest))
        text = (tmp_path / changed).read_text()
        (tmp_path / changed).write_text(text.replace("0,b,1.0", "0,b,0.1"))
        os.utime(tmp_path / changed, ns=(0, 0))  # a clock that is too coarse must not hide it
        with pytest.raises(DataError, match=f"{changed}: has changed since it was read for these results"):
            results.plot.interpolated()

    def test_a_file_that_was_only_touched_is_the_same_where_its_digest_is_known(self, tmp_path: Path) -> None:
        qrels, runs = files(tmp_path)
        results = cranfield.evaluate(qrels, runs, "AP", reading=Reading(digest="sha256"))
        os.utime(runs[0], ns=(0, 0))
        assert results.plot.interpolated().to_dict()

    def test_what_can_be_read_once_is_said(self) -> None:
        text = "".join(f"{t} Q0 {d} 1 {s} tag\n" for t, docs in TIED.items() for d, s in docs.items())
        once: list[Given] = [io.StringIO(text), TIED]
        results = cranfield.evaluate(QRELS, once, "AP")
        with pytest.raises(DataError, match="It can be read only once"):
            results.plot.interpolated()
        again: list[Given] = [io.StringIO(text), TIED]
        kept = Experiment(QRELS, again).evaluate("AP")
        assert kept.plot.interpolated().to_dict()

    def test_runs_from_memory_are_drawn_without_a_file(self) -> None:
        assert cranfield.evaluate(QRELS, RUNS, "AP").plot.interpolated().to_dict()


class TestOneWayToRead:
    READING = Reading(format="csv", columns={"document": "mine"})

    def oddly_named(self, folder: Path) -> Experiment:
        """Files whose names and columns tell nobody what they are."""
        qrels, runs = files(folder)
        paths = []
        for path in (qrels, *runs):
            text = Path(path).read_text().replace("document", "mine", 1)
            paths.append(str(Path(path).with_suffix(".dat")))
            Path(paths[-1]).write_text(text)
        return Experiment(paths[0], paths[1:], reading=self.READING)

    def test_a_picture_reads_as_the_evaluation_did(self, tmp_path: Path) -> None:
        """The format was forgotten on the way from evaluate to plot."""
        experiment = self.oddly_named(tmp_path)
        results = cranfield.evaluate(experiment.qrels, experiment.runs, "AP", reading=self.READING)
        assert results.plot.interpolated().to_dict()

    @pytest.mark.parametrize(
        "use",
        [
            lambda experiment: experiment.evaluate("AP"),
            lambda experiment: cranfield.compare(experiment, "AP"),
            lambda experiment: cranfield.diagnose(experiment, "RR"),
            lambda experiment: cranfield.explain(experiment, "1", "AP"),
            lambda experiment: cranfield.gate(experiment, Thresholds({"AP": Rule()})),
            lambda experiment: cranfield.check(experiment),
            lambda experiment: cranfield.plan(experiment, "AP"),
            lambda experiment: gather(experiment, "AP"),
            lambda experiment: by_cutoff(experiment, "P"),
            lambda experiment: cranfield.agreement.correlate_systems(experiment, ["AP", "RR"]),
            lambda experiment: experiment.evaluate("AP").plot.histogram(),
        ],
    )
    @pytest.mark.parametrize("rows", [True, False])
    def test_every_use_case_reads_as_it_is_told(
        self, tmp_path: Path, use: Callable[[Experiment], object], rows: bool
    ) -> None:
        experiment = replace(self.oddly_named(tmp_path), rows=rows)
        assert use(experiment) is not None
        with pytest.raises(DataError):
            use(replace(experiment, reading=Reading()))

    def test_inputs_say_what_they_were_read_for_and_as(self, tmp_path: Path) -> None:
        qrels, runs = files(tmp_path)
        known, lengths = {t: {"a": 1} for t in QRELS}, {"a": 10, "b": 20, "c": 30}
        results = Experiment(qrels, runs, known=known, lengths=lengths).evaluate(["AP", "TBG"])
        assert [(source.role, source.format) for source in results.inputs] == [
            ("judgements", "csv"),
            ("known", "memory"),
            ("lengths", "memory"),
            ("run", "csv"),
            ("run", "csv"),
        ]


SUBTOPICS = {t: {"a": {"s1": 1}, "b": {"s1": 0, "s2": 1}} for t in "12345"}
PAIR = {"one": {t: {"a": 2.0, "b": 1.0} for t in "12345"}, "other": {t: {"c": 2.0, "b": 1.0} for t in "12345"}}


class TestEveryKindOfJudgements:
    """Commands that took plain judgements alone take every kind, with what is beside them."""

    @pytest.mark.parametrize("measure", ["StRecall@1", "alpha_nDCG@2"])
    def test_subtopics(self, measure: str) -> None:
        experiment = Experiment(SUBTOPICS, PAIR)
        means = experiment.evaluate(measure)[measure]
        difference = means["one"] - means["other"]
        assert cranfield.compare(experiment, measure).panels[0].effects.mean[0] == pytest.approx(difference)
        assert cranfield.diagnose(experiment, measure).difference == pytest.approx(difference)
        assert cranfield.explain(experiment, "1", measure).accounts[0].value == pytest.approx(means["one"])
        report = gather(experiment, measure)
        assert report.results.mean()["one"][str(parse_measure(measure))] == pytest.approx(means["one"])
        verdict = cranfield.gate(experiment, Thresholds({measure: Rule(minimum=0.0)}))
        assert verdict.results.mean()["baseline"][str(parse_measure(measure))] == pytest.approx(means["one"])

    def test_lengths(self) -> None:
        qrels = {t: {"a": 1} for t in "12345"}
        experiment = Experiment(qrels, PAIR, lengths={"a": 100, "b": 50, "c": 5000})
        means = experiment.evaluate("TBG")["TBG"]
        assert cranfield.compare(experiment, "TBG").panels[0].means.tolist() == pytest.approx(list(means.values()))
        assert cranfield.diagnose(experiment, "TBG").difference == pytest.approx(means["one"] - means["other"])
        assert gather(experiment, "TBG").results["TBG"] == means

    def test_known_documents(self) -> None:
        qrels = {t: {"a": 1, "b": 1} for t in "12345"}
        experiment = Experiment(qrels, PAIR, known={t: {"a": 1} for t in qrels})
        means = experiment.evaluate("Novelty")["Novelty"]
        assert means == {"one": 0.5, "other": 1.0}
        assert cranfield.diagnose(experiment, "Novelty").difference == -0.5


class TestResults:
    def test_a_measure_by_its_name(self) -> None:
        results = cranfield.evaluate(QRELS, RUNS, ["AP", "P@1"])
        assert results["P@1"] == results["P_1"] == {run: means["P@1"] for run, means in results.mean().items()}
        with pytest.raises(UsageError, match="RR was not evaluated; there are AP, P@1"):
            results["RR"]

    def test_latex(self) -> None:
        results = cranfield.evaluate(QRELS, RUNS, "AP")
        assert results.to_latex().startswith("\\begin{table}")
        comparison = cranfield.compare(results.experiment, "AP")
        assert "\\begin{tabular}" in comparison.to_latex()

    def test_pandas(self) -> None:
        pytest.importorskip("pandas")
        comparison = cranfield.compare(Experiment(QRELS, RUNS), ["AP", "P@1"], tests=["t", "sign"])
        frame = comparison.to_pandas()
        pairs = list(comparison.rows())
        assert list(frame["difference"]) == [pair.difference for pair in pairs]
        assert list(frame["p_sign"]) == [pair.p["sign"] for pair in pairs]
        assert "p" not in frame


class TestTravel:
    def test_results_travel_whatever_they_were_made_of(self, tmp_path: Path) -> None:
        qrels, runs = files(tmp_path)
        text = "".join(f"{t} Q0 {d} 1 {s} tag\n" for t, docs in TIED.items() for d, s in docs.items())
        once: list[Given] = [io.StringIO(text), TIED]
        forms: tuple[GivenRuns, ...] = (runs, RUNS, once)
        for given in forms:
            results = cranfield.evaluate(qrels, given, "AP")
            again = pickle.loads(pickle.dumps(results))
            assert again.mean() == results.mean() == copy.deepcopy(results).mean()
        with pytest.raises(DataError):
            again.plot.interpolated()

    def test_files_are_read_again_elsewhere_and_are_the_same(self, tmp_path: Path) -> None:
        qrels, runs = files(tmp_path)
        again = pickle.loads(pickle.dumps(cranfield.evaluate(qrels, runs, "AP")))
        assert again.plot.interpolated().to_dict()
        Path(runs[0]).write_text(Path(runs[0]).read_text() + "5,z,0.1\n")
        with pytest.raises(DataError, match="has changed"):
            pickle.loads(pickle.dumps(again)).plot.interpolated()

    def test_an_experiment_is_shown_in_a_line(self) -> None:
        """By the names that results will have; a name that is too long loses its middle, where others are the same."""
        runs: list[Given] = ["a.run", {}]
        assert repr(Experiment("qrels.txt", runs)) == "<Experiment: qrels.txt, 2 runs: a, run2>"
        assert repr(Experiment({})) == "<Experiment: dict, 0 runs>"
        assert repr(Experiment({}, {"bm25": {"1": {"d": 1.0}}})) == "<Experiment: dict, 1 run: bm25>"
        assert repr(Experiment({}, {"dense": [{}, {}], "bm25": {}})) == "<Experiment: dict, 2 runs: dense, bm25>"
        mine = cranfield.read_run({"1": {"d": 1.0}}, name="mine")
        assert repr(Experiment({}, mine)) == "<Experiment: dict, 1 run: mine>"
        folder = "/home/ada/experiments/of/this/summer/"
        several: list[Given] = [f"{folder}1/bm25.run", f"{folder}2/bm25.run", f"{folder}bm25-stemmed.run"]
        told = repr(Experiment("q", several)).partition("runs: ")[2]
        assert (
            told == "/home/ada/experimen…is/summer/1/bm25.run, /home/ada/experimen…is/summer/2/bm25.run, bm25-stemmed>"
        )


class TestEvaluateOfAnExperiment:
    """`evaluate` takes an experiment in the place of its parts."""

    def test_it_is_the_experiment_s_own(self) -> None:
        experiment = Experiment({"1": {"a": 1, "b": 0}}, {"run": {"1": {"b": 2.0, "a": 1.0}}}, Policy(depth=1))
        for results in (cranfield.evaluate(experiment, ["RR", "P@1"]), cranfield.evaluate(experiment, measures="RR")):
            assert results.mean()["run"]["RR"] == 0  # a is cut off
            assert results.experiment is experiment
        bounded = cranfield.evaluate(Experiment({"1": {"a": 1}}, {"1": {"b": 1.0}}), "RR", bounds=True)
        assert bounded.upper is not None
        assert bounded.upper.tolist() == [[[1.0]]]

    @pytest.mark.parametrize(
        ("further", "told"),
        [
            ({}, "evaluate needs measures, such as "),
            ({"runs": "AP", "measures": "RR"}, "the experiment has its own runs: write evaluate(experiment, measures)"),
            ({"runs": "AP", "policy": Policy()}, "the experiment has its own policy: write"),
            ({"runs": "AP", "known": {}}, "the experiment has its own known: write"),
            ({"measures": "AP", "reading": Reading(format="csv")}, "the experiment has its own reading: write"),
        ],
    )
    def test_what_an_experiment_has_is_not_given_again(self, further: dict[str, Any], told: str) -> None:
        with pytest.raises(UsageError, match=re.escape(told)):
            cranfield.evaluate(Experiment({"1": {"a": 1}}, {"1": {"a": 1.0}}), **further)

    @pytest.mark.parametrize(
        ("given", "told"), [((), "runs and measures, such"), (({"1": {"a": 1.0}},), "measures, such")]
    )
    def test_without_an_experiment_runs_and_measures_are_needed(self, given: tuple[Any, ...], told: str) -> None:
        with pytest.raises(UsageError, match=f"evaluate needs {told}"):
            cranfield.evaluate({"1": {"a": 1}}, *given)


@pytest.mark.parametrize("threads", [1, 2])
def test_many_runs_are_judged_as_each_alone(threads: int) -> None:
    """Of many runs judgements are indexed once; of one run, topic by topic. Some runs have ties, some have none."""
    rng = np.random.default_rng(5)
    topics = [str(topic) for topic in range(40)]
    sizes = dict(zip(topics, rng.integers(1, 300, len(topics)).tolist(), strict=True))
    qrels = {topic: {f"d{d}": int(rng.integers(-1, 4)) for d in range(size)} for topic, size in sizes.items()}
    qrels["0"]["d0"] = 1

    def ranked(levels: int) -> dict[str, dict[str, float]]:
        picked = {topic: rng.permutation(2 * size)[: size + 1].tolist() for topic, size in sizes.items()}
        return {t: {f"d{d}": float(rng.integers(levels)) for d in docs} for t, docs in picked.items() if t != "7"}

    runs = {"tied": ranked(4), "hardly": ranked(1000), "not": ranked(10**15), "short": {"0": {"d0": 1.0}}}
    measures = ["AP", "nDCG", "RR", "P@5", "NumRelRet", "Bpref"]
    for ties in ("docid", "file", "expected", "worst"):
        policy, reading = Policy(ties=ties), Reading(threads=threads)
        together = Experiment(qrels, runs, policy, reading).evaluate(measures)
        for number, name in enumerate(together.runs):
            alone = Experiment(qrels, {name: runs[name]}, policy, reading, rows=False).evaluate(measures)
            assert alone.scores[0].tolist() == together.scores[number].tolist()
