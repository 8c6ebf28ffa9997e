"""What fails on a cluster is told in a sentence or two, never in pages of Java; and Java ends when we do."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from http.server import HTTPServer, SimpleHTTPRequestHandler
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any

import pytest

from commands import command_process
from cranfield import UsageError, spark
from cranfield.spark.failures import failure
from needed import needs, needs_module
from places import EXAMPLES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FILES = [EXAMPLES / "qrels.txt", EXAMPLES / "bm25.run"]
LOST = (
    "org.apache.spark.SparkException: Job aborted due to stage failure: Task 0 in stage 0.0 failed 4 times, most "
    "recent failure: Lost task 0.3 in stage 0.0 (TID 3) (host executor 1): ExecutorLostFailure (executor 1 exited "
    "caused by one of the running tasks) Reason: Command exited with code 137"
)
CRANFIELD = [sys.executable, "-c", "from cranfield.cli import entry; entry()"]


@pytest.fixture(autouse=True)
def tools() -> None:
    needs("java", package="default-jre-headless")
    needs_module("pyspark")


def refusal(master: str) -> list[str]:
    done = command_process("evaluate", *FILES, "--engine", master)
    assert (done.exit, done.stdout) == (2, "")
    assert "Traceback" not in done.stderr
    return done.stderr.splitlines()


def script(path: Path, *lines: str) -> str:
    path.write_text("\n".join(["#!/bin/sh", *lines, ""]))
    path.chmod(0o755)
    return str(path)


def test_a_port_that_is_no_master(monkeypatch: pytest.MonkeyPatch) -> None:
    """Such as the page of one: somebody listens there, who does not know the language of Spark."""
    monkeypatch.setenv("CRANFIELD_SPARK_WAIT", "5")
    server = HTTPServer(("127.0.0.1", 0), SimpleHTTPRequestHandler)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        master = f"spark://127.0.0.1:{server.server_port}"
        first, where = refusal(master)
    finally:
        server.shutdown()
        server.server_close()
    assert first.startswith(f"cranfield: {master} is no master of Spark, or one that does not answer: ")
    assert "Is it the port of a page?" in where
    assert where.endswith("CRANFIELD_SPARK_WAIT=600 waits for ten minutes.")


def test_workers_without_their_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYSPARK_PYTHON", "/nonexist")
    first, remedy = refusal("local[1]")
    assert first.startswith('cranfield: the job on Spark failed: java.io.IOException: Cannot run program "/nonexist"')
    assert "PYSPARK_PYTHON, in the environment of whoever starts the job" in remedy


def test_workers_without_cranfield(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bare = script(tmp_path / "python", f'exec {sys.executable} -S "$@"')  # without what is installed
    monkeypatch.setenv("PYSPARK_PYTHON", bare)
    first, remedy = refusal("local[1]")
    assert first.startswith("cranfield: the job on Spark failed: ModuleNotFoundError: No module named 'cranfield")
    assert "Install cranfield with the extra spark on every worker" in remedy
    assert "PYSPARK_PYTHON" in remedy


def test_the_cause_stays(session: SparkSession) -> None:
    """A frame of the user that fails: what Python said, and in Python all that Spark said."""
    from pyspark.errors import PySparkException

    def broken(batches: Iterator[Any]) -> Iterator[Any]:
        raise ValueError("no such index")

    frame = session.range(1).mapInArrow(broken, "topic string, document string, score double")
    with pytest.raises(UsageError) as told:
        spark.evaluate({"1": {"d1": 1}}, frame, "AP")
    assert str(told.value).splitlines() == [
        "the job on Spark failed: ValueError: no such index",
        "    The page of the master leads to the logs of executors, where all of it is.",
    ]
    assert isinstance(told.value.__cause__, PySparkException)


@pytest.mark.parametrize(
    ("said", "line", "remedy"),
    [
        ("AttributeError: Can't get attribute 'Job' on <module 'x'>", "AttributeError: Can't", "the same version of"),
        (
            "Job aborted: Lost task 0: java.lang.OutOfMemoryError: heap",
            "java.lang.OutOfMemoryError",
            "too little",
        ),
        (f"An error occurred while calling o5.x.\n: {LOST}\nDriver stacktrace:\n\tat a.b", "executor 1", "too little"),
        ("[NO_TABLE] There is no table.\n'Relation [x]", "[NO_TABLE] There is no table.", "The page of the master"),
        ("", "it does not say why", "The page of the master"),
    ],
)
def test_what_is_told_of_others(said: str, line: str, remedy: str) -> None:
    told = str(failure(Exception(said))).splitlines()
    assert len(told) == 2
    assert line in told[0]
    assert remedy in told[1]


def is_there(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_signals(tmp_path: Path, number: signal.Signals) -> None:
    """While a job runs: one line, the exit code of the signal, and no Java is left."""
    started = tmp_path / "java.pid"
    slow = script(tmp_path / "python", f"echo $PPID > {started}.new && mv {started}.new {started}", "sleep 6", "exit 1")
    process = subprocess.Popen(
        [*CRANFIELD, "evaluate", *map(str, FILES), "--engine", "local[1]"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=os.environ | {"PYSPARK_PYTHON": slow},
        start_new_session=True,
    )
    while not started.exists():
        assert process.poll() is None
        time.sleep(0.05)
    java = int(started.read_text())
    os.killpg(process.pid, number)
    said = process.communicate()[0].decode()
    if number == signal.SIGKILL:
        assert (process.returncode, said) == (-number, "")
    else:
        assert said == "cranfield: interrupted, nothing half written is left\n"
        assert process.returncode == 128 + number
    until = time.monotonic() + 120  # that something is broken, not how fast it is
    while is_there(java):
        assert time.monotonic() < until, "Java is still there"
        time.sleep(0.1)
