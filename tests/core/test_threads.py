"""How the work is spread over threads changes no digit: not of a score, not of a message."""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
from pathlib import Path
from random import Random
from typing import Any

import pytest
from click.testing import CliRunner

from cranfield import Policy, UsageError, evaluate, read_qrels, read_run
from cranfield.cli import cli
from cranfield.formats.format import Judging
from cranfield.formats.reading import Reading
from cranfield.judged import judge
from generate import all_variants, collections

THREADS = [1, 2, 3, 8]
CHUNK = 512 * 1024  # the least size of the pieces into which a reader cuts a file
TOPICS, DEPTH = 90, 800
MEASURES = list(all_variants())


def write_collection(folder: Path, order: str) -> tuple[Path, Path]:
    """Judgements, and a run of several pieces with ties, in the order of topics or with their lines mixed."""
    random = Random(7)
    documents = [f"document-{number:06}" for number in range(5000)]
    judgements, rows = [], []
    for topic in range(1, TOPICS + 1):
        retrieved = random.sample(documents, DEPTH)
        for rank, document in enumerate(retrieved, start=1):
            rows.append(f"{topic} Q0 {document} {rank} {(DEPTH - rank) // 3 / 8} mixed\n")
        judged = random.sample(retrieved, 40) + random.sample(documents, 40)
        judgements += [f"{topic} 0 {document} {random.choice([0, 0, 1, 2, 3])}\n" for document in dict.fromkeys(judged)]
    if order == "interleaved":
        random.shuffle(rows)
        random.shuffle(judgements)
    qrels, run = folder / f"{order}.qrels", folder / f"{order}.run"
    qrels.write_text("".join(judgements))
    run.write_text("".join(rows))
    return qrels, run


@pytest.fixture(scope="module", params=["by topic", "interleaved"])
def files(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return write_collection(tmp_path_factory.mktemp("threads"), request.param)


def document(qrels: Any, runs: Any, threads: int | None, **policy: Any) -> dict[str, Any]:
    """Everything that an evaluation says."""
    return evaluate(
        qrels, runs, MEASURES, policy=Policy(**policy), reading=Reading(threads=threads, digest="xxh3_128")
    ).to_dict()


def test_the_file_is_read_in_several_pieces(files: tuple[Path, Path]) -> None:
    _, run = files
    assert run.stat().st_size > 4 * CHUNK


@pytest.mark.parametrize("threads", THREADS[1:])
@pytest.mark.parametrize("policy", [{}, {"ties": "file"}, {"judged_only": True, "depth": 100}], ids=str)
def test_results_do_not_depend_on_the_number_of_threads(
    files: tuple[Path, Path], threads: int, policy: dict[str, Any]
) -> None:
    assert document(*files, threads, **policy) == document(*files, 1, **policy)


def test_results_do_not_depend_on_the_order_of_the_lines(tmp_path: Path) -> None:
    by_topic, interleaved = (write_collection(tmp_path, order) for order in ("by topic", "interleaved"))
    one, other = (evaluate(*files, MEASURES, reading=Reading(threads=3)) for files in (by_topic, interleaved))
    assert one.topics == other.topics
    assert one.scores.tolist() == other.scores.tolist()
    assert one.means.tolist() == other.means.tolist()


def test_output_of_the_command_line_does_not_depend_on_the_number_of_threads(files: tuple[Path, Path]) -> None:
    outputs = set()
    for threads in THREADS:
        command = ["evaluate", *map(str, files), "-q", "-f", "json", "--threads", str(threads)]
        result = CliRunner().invoke(cli, [*command, "-m", "nDCG@10", "-m", "AP", "-m", "Bpref", "-m", "InterpolatedAP"])
        assert result.exit_code == 0, result.output
        assert len(json.loads(result.stdout)["runs"][0]["topics"]) == TOPICS
        outputs.add((result.stdout, result.stderr))
    assert len(outputs) == 1


def test_several_runs_in_one_call_are_each_evaluated_as_if_alone(files: tuple[Path, Path], tmp_path: Path) -> None:
    qrels, run = files
    lines = run.read_text().splitlines(keepends=True)
    parts = {"all": run}
    for number in range(1, 5):
        parts[f"part{number}"] = tmp_path / f"part{number}.run"
        parts[f"part{number}"].write_text("".join(lines[number - 1 :: number + 1]))
    alone = {name: document(qrels, {name: path}, 1) for name, path in parts.items()}
    for threads in (1, 3):
        together = document(qrels, parts, threads)
        assert together["runs"] == [alone[name]["runs"][0] for name in parts]
        assert together["inputs"][1:] == [alone[name]["inputs"][1] for name in parts]
        told = [warning for name in parts for warning in alone[name]["warnings"] if warning["source"] == name]
        assert [warning for warning in together["warnings"] if warning["source"] in parts] == told


def test_several_runs_from_memory_are_each_evaluated_as_if_alone() -> None:
    for made in collections(1):
        runs = {f"run{number}": dict(list(made.run.items())[number:]) for number in range(3)}
        together = evaluate(made.qrels, runs, MEASURES)
        assert together.runs == tuple(runs)
        for name, run in runs.items():
            alone = evaluate(made.qrels, {name: run}, MEASURES)
            assert together.per_topic()[name] == alone.per_topic()[name]
            assert together.mean()[name] == alone.mean()[name]


@pytest.mark.parametrize("policy", [{}, {"ties": "file"}], ids=str)
def test_judging_while_reading_equals_reading_and_then_judging(
    files: tuple[Path, Path], policy: dict[str, Any]
) -> None:
    """`evaluate` forgets a topic's rows once they are judged; a run read beforehand keeps them all."""
    qrels, run = files
    at_once, afterwards = (evaluate(qrels, r, MEASURES, policy=Policy(**policy)) for r in (run, read_run(run)))
    assert at_once.scores.tolist() == afterwards.scores.tolist()
    assert at_once.warnings == afterwards.warnings


def test_a_run_read_to_be_judged_has_no_rows_to_show(files: tuple[Path, Path]) -> None:
    qrels, path = files
    judgements = read_qrels(qrels)
    run = read_run(path, judging=Judging(judgements.table, "docid"))
    assert len(run) == TOPICS * DEPTH
    if path.name == "by topic.run":
        with pytest.raises(ValueError, match="its rows are gone"):
            run.to_dict()
        with pytest.raises(UsageError, match="by topic: the run was read to be judged against other judgements"):
            judge(run, read_qrels(qrels))


TIED = {f"q{number}": {"a": 1.0, "b": 1.0} for number in range(5)}  # by id b stands first, in the file a
JUDGED = {topic: {"a": 1} for topic in TIED}


@pytest.fixture
def tied_run(tmp_path: Path) -> Path:
    path = tmp_path / "tied.run"
    path.write_text("".join(f"{topic} Q0 {document} 1 1 x\n" for topic, found in TIED.items() for document in found))
    return path


@pytest.mark.parametrize(
    ("ties", "other", "told"),
    [
        (
            "docid",
            "file",
            "tied: the run was read to be judged with ties by document id, and its rows were not kept: to judge it "
            'with ties as in the file read it again, without judging= or with judging=Judging(…, "file")',
        ),
        (
            "file",
            "docid",
            "tied: the run was read to be judged with ties as in the file, and its rows were not kept: to judge it "
            'with ties by document id read it again, without judging= or with judging=Judging(…, "docid")',
        ),
    ],
)
def test_a_run_judged_under_one_tie_rule_is_not_scored_under_another(
    tied_run: Path, ties: str, other: str, told: str
) -> None:
    qrels = read_qrels(JUDGED)
    run = read_run(tied_run, judging=Judging(qrels.table, ties))
    reciprocal = {"docid": 0.5, "file": 1.0}
    assert evaluate(qrels, run, "RR", policy=Policy(ties=ties)).mean()["tied"]["RR"] == reciprocal[ties]
    with pytest.raises(UsageError) as refused:
        evaluate(qrels, run, "RR", policy=Policy(ties=other))
    assert str(refused.value) == told
    for rule in ("best", "worst", "expected"):  # for these it makes no difference how tied documents stand
        if ties == "docid":
            expected = evaluate(JUDGED, TIED, "RR", policy=Policy(ties=rule)).mean()["run"]["RR"]
            assert evaluate(qrels, run, "RR", policy=Policy(ties=rule)).mean()["tied"]["RR"] == expected
        else:
            with pytest.raises(UsageError, match="with ties by document id read it again"):
                evaluate(qrels, run, "RR", policy=Policy(ties=rule))
    kept = evaluate(qrels, read_run(tied_run), "RR", policy=Policy(ties=other))
    assert kept.mean()["tied"]["RR"] == reciprocal[other]


def test_what_a_run_was_judged_against_lives_as_long_as_the_run(tied_run: Path) -> None:
    table = read_qrels(JUDGED).table
    references = sys.getrefcount(table)
    run = read_run(tied_run, judging=Judging(table, "docid"))
    assert sys.getrefcount(table) == references + 1
    del run
    gc.collect()
    assert sys.getrefcount(table) == references


def test_judgements_that_are_gone_are_not_mistaken_for_new_ones(tied_run: Path) -> None:
    """New judgements may stand in memory where those stood that the run was judged against."""
    run = read_run(tied_run, judging=Judging(read_qrels(JUDGED).table, "docid"))
    gc.collect()
    for _ in range(20):
        others = read_qrels({topic: {"b": 1} for topic in TIED})
        with pytest.raises(UsageError, match="other judgements"):
            judge(run, others)
        del others


FEW_THREADS = """
import json, resource, sys, threading
from cranfield import evaluate
from cranfield.formats.reading import Reading

def startable():
    stop, started = threading.Event(), []
    try:
        while len(started) < 7:
            thread = threading.Thread(target=stop.wait)
            thread.start()
            started.append(thread)
    except RuntimeError:
        pass
    stop.set()
    for thread in started:
        thread.join()
    return len(started)

import numpy  # what takes memory is there before it is counted
in_use = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
stacks = int(sys.argv[3])
resource.setrlimit(resource.RLIMIT_AS, (in_use + (stacks + 1) * (1 << 31) - (1 << 30),) * 2)
before = startable()
results = evaluate(*sys.argv[1:3], ["AP", "nDCG@10", "RR"], reading=Reading(threads=8))
print(json.dumps([before, results.to_dict()]))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="limits memory as Linux does")
def test_threads_that_cannot_start_leave_the_work_to_those_that_can(files: tuple[Path, Path]) -> None:
    """Stacks of 2 GB in little memory: no second thread, or a few of the eight."""
    import resource

    def large_stacks() -> None:
        resource.setrlimit(resource.RLIMIT_STACK, (1 << 31, resource.getrlimit(resource.RLIMIT_STACK)[1]))

    unlimited = json.loads(json.dumps(evaluate(*files, ["AP", "nDCG@10", "RR"]).to_dict()))
    for stacks in (0, 3):
        done = subprocess.run(
            [sys.executable, "-c", FEW_THREADS, *map(str, files), str(stacks)],
            preexec_fn=large_stacks,
            env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, "")
        assert json.loads(done.stdout) == [stacks, unlimited]
