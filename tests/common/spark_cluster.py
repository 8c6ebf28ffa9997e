"""A real cluster of Spark on this machine: a master, two workers and their executors, each a process of its own.

It is started by the `spark-class` that pyspark brings, and serves all tests of one process: a session belongs to it.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from needed import needs, needs_module

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

HOST = "127.0.0.1"
QUICK = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xshare:auto"  # jobs of tests are too short for a better compiler


@dataclass
class Cluster:
    """Processes of a cluster, and the session on it."""

    master: str
    folder: Path
    environment: dict[str, str]
    spark_class: str
    master_process: subprocess.Popen[bytes]
    workers: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def add_worker(self) -> None:
        """Starts one more worker, of one core."""
        folder = self.folder / f"worker{len(self.workers)}"
        options = ["--host", HOST, "--cores", "1", "--memory", "2g", "--webui-port", "0", "-d", str(folder)]
        worker = "org.apache.spark.deploy.worker.Worker"
        self.workers.append(self._start(self.spark_class, worker, *options, self.master))

    def kill_worker(self, number: int) -> None:
        """Ends a worker with everything that it has started, as a machine does that loses its power."""
        os.killpg(self.workers[number].pid, signal.SIGKILL)
        self.workers[number].wait()

    def _start(self, *command: str) -> subprocess.Popen[bytes]:
        return started(*command, environment=self.environment, log=self.folder / "log.txt")

    def stop(self) -> None:
        for process in (*self.workers, self.master_process):
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


def started(*command: str, environment: dict[str, str], log: Path) -> subprocess.Popen[bytes]:
    with open(log, "ab") as file:
        return subprocess.Popen(command, env=environment, stdout=file, stderr=file, start_new_session=True)


@contextmanager
def running_cluster(folder: Path, workers: int = 2) -> Iterator[Cluster]:
    """A master and some workers, until they are left."""
    needs("java", package="default-jre-headless")
    home = Path(str(needs_module("pyspark").__file__)).parent
    spark_class = str(home / "bin" / "spark-class")
    environment = os.environ | {
        "SPARK_HOME": str(home),
        "SPARK_DAEMON_JAVA_OPTS": QUICK,
        "SPARK_DAEMON_MEMORY": "256m",
        "SPARK_LOCAL_IP": HOST,
        "PYSPARK_PYTHON": sys.executable,
    }
    port = free_port()
    options = ["--host", HOST, "--port", str(port), "--webui-port", "0"]
    master = "org.apache.spark.deploy.master.Master"
    process = started(spark_class, master, *options, environment=environment, log=folder / "log.txt")
    cluster = Cluster(f"spark://{HOST}:{port}", folder, environment, spark_class, process)
    try:
        wait_for_port(port)
        for _ in range(workers):
            cluster.add_worker()
        yield cluster
    finally:
        cluster.stop()


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind((HOST, 0))
        return int(listener.getsockname()[1])


def wait_for_port(port: int) -> None:
    """Until somebody listens there. Nothing is timed but that something is broken."""
    until = time.monotonic() + 120
    while time.monotonic() < until:
        with socket.socket() as caller:
            if caller.connect_ex((HOST, port)) == 0:
                return
        time.sleep(0.1)
    pytest.fail(f"nobody listens at {HOST}:{port}")


@contextmanager
def running_session(cluster: Cluster) -> Iterator[SparkSession]:
    """A session on a cluster, with both of its workers at hand."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = HOST
    settings = {
        "spark.driver.host": HOST,
        "spark.driver.extraJavaOptions": QUICK,
        "spark.executor.extraJavaOptions": QUICK,
        "spark.driver.memory": "512m",
        "spark.executor.memory": "512m",
        "spark.log.level": "ERROR",
        "spark.sql.shuffle.partitions": "3",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.session.timeZone": "UTC",
    }
    builder = SparkSession.builder.master(cluster.master).appName("tests")
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    try:
        wait_for_executors(session, 2)
        yield session
    finally:
        session.stop()


def executors(session: SparkSession) -> int:
    """How many there are; the driver is told beside them."""
    return int(session.sparkContext._jsc.sc().getExecutorMemoryStatus().size()) - 1


def wait_for_executors(session: SparkSession, number: int) -> None:
    until = time.monotonic() + 120
    while executors(session) < number:
        assert time.monotonic() < until, "no executor has come"
        time.sleep(0.1)


@contextmanager
def pieces_of(session: SparkSession, size: int) -> Iterator[None]:
    """Files are read in pieces of so many bytes."""
    name = "spark.sql.files.maxPartitionBytes"
    before = session.conf.get(name)
    session.conf.set(name, str(size))
    try:
        yield
    finally:
        session.conf.set(name, str(before))
