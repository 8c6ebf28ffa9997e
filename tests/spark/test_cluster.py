"""The cluster itself: a worker dies in the middle of a job; the command line starts a session, or takes one."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import cranfield
from commands import command_line, command_process
from cranfield import spark
from places import EXAMPLES
from spark_cluster import Cluster, executors, pieces_of, wait_for_executors

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


def test_the_command_line_alone(cluster: Cluster) -> None:
    """In a process of its own, which starts a session and says nothing of it."""
    assert cluster.workers  # there is what it takes
    files = [EXAMPLES / "qrels.txt", EXAMPLES / "bm25.run"]
    done = command_process("evaluate", *files, *ASKED, "--engine", "local[2]")
    assert (done.exit, done.stdout) == (0, command_line("evaluate", *files, *ASKED).stdout)
    assert done.stderr == command_line("evaluate", *files, *ASKED).stderr
