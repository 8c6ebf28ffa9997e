"""The cluster itself: a worker dies in the middle of a job; the command line starts a session, or takes one."""

from __future__ import annotations

import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import cranfield
from commands import command_line, command_process
from cranfield import UsageError, spark
from cranfield.errors import LibraryError
from places import EXAMPLES
from spark_cluster import Cluster, executors, pieces_of, running_cluster, wait_for_executors

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PARTS, TOPICS = 16, 10
QRELS = {str(topic): {f"d{number}": number % 3 for number in range(8)} for topic in range(PARTS * TOPICS)}
RUN = {
    str(topic): {f"d{number}": float((7 * number + topic) % 11) for number in range(topic % 12 + 1)}
    for topic in range(PARTS * TOPICS)
}


def slow_rows(run: dict[str, dict[str, float]]) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """Takes its time to give the rows of the topics of each part."""

    def rows(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        for batch in batches:
            for part in batch.column(0).to_pylist():
                time.sleep(0.3)
                topics = [str(topic) for topic in range(part * TOPICS, (part + 1) * TOPICS)]
                columns = zip(*((topic, *pair) for topic in topics for pair in run[topic].items()), strict=True)
                yield pa.record_batch([pa.array(list(column)) for column in columns], ["topic", "document", "score"])

    return rows


def test_a_worker_dies_in_the_middle(session: SparkSession, cluster: Cluster) -> None:
    """kill -9 of a worker and its executor while tasks are done and others are not: the scores are the same."""
    frame = session.range(0, PARTS, 1, PARTS).mapInArrow(slow_rows(RUN), "topic string, document string, score double")
    tracker = session.sparkContext.statusTracker()
    killed: list[tuple[int, int]] = []

    def kill_soon() -> None:
        while not killed:
            for stage in tracker.getActiveStageIds():
                info = tracker.getStageInfo(stage)
                if info is not None and info.numTasks >= PARTS and 2 <= info.numCompletedTasks <= PARTS - 4:
                    cluster.kill_worker(0)
                    killed.append((info.numCompletedTasks, executors(session)))
                    return
            time.sleep(0.02)

    killer = threading.Thread(target=kill_soon, daemon=True)
    killer.start()
    found = {tuple(row) for row in spark.evaluate(QRELS, frame, ["AP", "nDCG@5"]).collect()}
    killer.join(60)
    assert killed
    assert found == set(cranfield.evaluate(QRELS, RUN, ["AP", "nDCG@5"]).rows())
    assert executors(session) == 1
    cluster.add_worker()  # for whoever comes next
    wait_for_executors(session, 2)


ASKED = ("-m", "AP", "-m", "nDCG@10", "-q")


def test_the_command_line_on_a_cluster(session: SparkSession, cluster: Cluster, tmp_path: Path) -> None:
    """What is printed, warnings too, is what one machine prints, whole or in pieces; and so is what is refused."""
    bad = tmp_path / "bad.run"
    bad.write_text((EXAMPLES / "bm25.run").read_text() + "6 Q0 d3\n")
    files = [EXAMPLES / "qrels.txt", EXAMPLES / "bm25.run", EXAMPLES / "dense.run"]
    lines = (
        [*files, *ASKED],
        [*files, "-f", "json", "--ties", "expected", "--bounds"][:-1],
        [*files, "--sort", "AP", "--topics", "common"],
        [*files, "--digest", "sha256", "-f", "json"],
        [files[0], bad],
        [files[0], tmp_path / "none.run"],
        [files[0], files[0]],
    )
    for line in lines:
        expected = command_line("evaluate", *line)
        for size in (400, 1 << 20):
            with pieces_of(session, size):
                assert command_line("evaluate", *line, "--engine", cluster.master) == expected


def test_libraries_that_spark_needs(
    session: SparkSession, cluster: Cluster, monkeypatch: pytest.MonkeyPatch, recwarn: pytest.WarningsRecorder
) -> None:
    """What is missing or too old is told in a line; that PySpark does not know the newest pandas is not."""
    import pandas

    line: list[str | Path] = ["evaluate", EXAMPLES / "qrels.txt", EXAMPLES / "bm25.run", "--engine", cluster.master]
    monkeypatch.setattr(pandas, "__version__", "99.0.0")
    warnings.simplefilter("always")
    assert command_line(*line).exit == 0
    spark.evaluate(EXAMPLES / "qrels.txt", EXAMPLES / "bm25.run", "AP")
    assert [str(told.message) for told in recwarn if "pandas" in str(told.message)] == []
    monkeypatch.setattr(pandas, "__version__", "1.5.3")
    told = command_line(*line)
    assert (told.exit, told.stderr.count("\n")) == (2, 1)
    assert told.stderr.startswith("cranfield: --engine: Pandas >= ")
    assert told.stderr.endswith(": pip install --upgrade 'cranfield[spark]'\n")
    for name in ("pandas", "pyarrow", "pyspark"):
        with monkeypatch.context() as missing:
            missing.setitem(sys.modules, name, None)
            expected = f"needs {name}, which is not installed: pip install 'cranfield[spark]'"
            assert command_line(*line) == ("", f"cranfield: --engine {expected}\n", 2)
            with pytest.raises(LibraryError) as error:
                spark.evaluate(QRELS, [], "AP")
            assert str(error.value) == f"cranfield.spark {expected}"


def test_yarn_needs_a_configuration(monkeypatch: pytest.MonkeyPatch) -> None:
    """It has no address: what is missing is told, and not that Java is."""
    from cranfield.spark.clusters import _check_hadoop

    monkeypatch.setenv("HADOOP_CONF_DIR", "/etc/hadoop")
    _check_hadoop("yarn")
    monkeypatch.delenv("HADOOP_CONF_DIR")
    monkeypatch.delenv("YARN_CONF_DIR", raising=False)
    with pytest.raises(UsageError) as told:
        _check_hadoop("yarn")
    assert str(told.value).splitlines() == [
        "yarn is found by the configuration of Hadoop, and neither HADOOP_CONF_DIR nor YARN_CONF_DIR is set",
        "    Set one of them to the folder in which yarn-site.xml is.",
    ]


def test_the_command_line_alone(cluster: Cluster) -> None:
    """In a process of its own, which starts a session and says nothing of it."""
    assert cluster.workers  # there is what it takes
    files = [EXAMPLES / "qrels.txt", EXAMPLES / "bm25.run"]
    done = command_process("evaluate", *files, *ASKED, "--engine", "local[2]")
    assert (done.exit, done.stdout) == (0, command_line("evaluate", *files, *ASKED).stdout)
    assert done.stderr == command_line("evaluate", *files, *ASKED).stderr


def test_a_master_without_workers(cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits for ever: after the stated time it is told what was waited for, and where to look."""
    assert cluster.workers  # there is what it takes
    monkeypatch.setenv("CRANFIELD_SPARK_WAIT", "15")
    with running_cluster(tmp_path, workers=0) as alone:
        files = [EXAMPLES / "qrels.txt", EXAMPLES / "bm25.run"]
        done = command_process("evaluate", *files, "--engine", alone.master)
    assert (done.exit, done.stdout) == (2, "")
    assert f"no executor came on {alone.master} within 15 s" in done.stderr
    assert "are there workers, with free cores and as much memory as spark.executor.memory asks for" in done.stderr
    assert "CRANFIELD_SPARK_WAIT=600 waits for ten minutes" in done.stderr
