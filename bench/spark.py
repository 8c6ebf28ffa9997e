"""Times an evaluation on one machine beside Spark, local and on a standalone cluster: `python bench/spark.py RUN QRELS`

Every engine is a process of its own, by turns; the cluster (a master and two workers on loopback) runs meanwhile. Told
are wall clock, CPU of the command with all processes it starts (the cluster's workers too), and the load of the
machine: beside others only ratios of CPU mean something.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "common"))

from spark_cluster import Cluster, running_cluster

MEASURES = ("nDCG@10", "AP", "RR", "P@10", "R@1000")
TURNS = int(os.environ.get("TURNS", "2"))


class Watch:
    """CPU seconds of all processes of some sessions, looked at a few times a second: who ends is not forgotten."""

    def __init__(self, sessions: set[int]) -> None:
        self.sessions, self.seconds, self.ended = sessions, dict[int, float](), threading.Event()
        self.first = dict(self.look())
        self.thread = threading.Thread(target=self.watch)
        self.thread.start()

    def look(self) -> Iterator[tuple[int, float]]:
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                try:
                    fields = (entry / "stat").read_text().rpartition(")")[2].split()
                except OSError:
                    continue
                if int(fields[3]) in self.sessions:
                    yield int(entry.name), (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def watch(self) -> None:
        while not self.ended.wait(0.2):
            self.seconds.update(self.look())

    def end(self) -> float:
        self.ended.set()
        self.thread.join()
        return sum(used - self.first.get(process, 0.0) for process, used in self.seconds.items())


def timed(command: list[str], cluster: Cluster) -> tuple[float, float, str]:
    began = time.perf_counter()
    with tempfile.TemporaryFile("w+") as printed:
        process = subprocess.Popen(command, stdout=printed, env=cluster.environment, start_new_session=True)
        watch = Watch({process.pid, *(worker.pid for worker in cluster.workers)})
        if process.wait():
            raise SystemExit(f"{command} failed")
        wall, cpu = time.perf_counter() - began, watch.end()
        printed.seek(0)
        return wall, cpu, printed.read()


def main(run: str, qrels: str) -> None:
    command = [sys.executable, "-m", "cranfield", "evaluate", qrels, run]
    for measure in MEASURES:
        command += ["-m", measure]
    with tempfile.TemporaryDirectory() as folder, running_cluster(Path(folder)) as cluster:
        engines = {"one machine": [], "local[2]": ["--engine", "local[2]"], "cluster": ["--engine", cluster.master]}
        print(f"{os.path.getsize(run):,} bytes; load {os.getloadavg()[0]:.1f}")
        printed = set()
        for turn in range(1, TURNS + 1):
            for name, options in engines.items():
                wall, cpu, output = timed([*command, *options], cluster)
                printed.add(output)
                print(f"turn {turn}  {name:12} wall {wall:7.1f} s  CPU {cpu:7.1f} s  load {os.getloadavg()[0]:.1f}")
        print("the same output" if len(printed) == 1 else "OUTPUTS DIFFER")


if __name__ == "__main__":
    main(*sys.argv[1:])
