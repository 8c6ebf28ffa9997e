"""Times an evaluation on one machine beside Spark, local and on a standalone cluster: `python bench/spark.py RUN QRELS`

Every engine is a process of its own, by turns; the cluster (a master and two workers on loopback) runs meanwhile. Told
are wall clock, CPU of the command with all processes it starts (those of the cluster's workers too), and the load of the
machine: beside others only ratios of CPU mean something.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "common"))

from spark_cluster import Cluster, running_cluster

MEASURES = ("nDCG@10", "AP", "RR", "P@10", "R@1000")
TURNS = int(os.environ.get("TURNS", "2"))


def cpu_of(groups: set[int]) -> float:
    """CPU seconds that the processes of some groups, and those of theirs that have ended, have used."""
    ticks = 0
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[2]) in groups:
                ticks += sum(map(int, fields[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


def timed(command: list[str], cluster: Cluster) -> tuple[float, float, str]:
    groups = {process.pid for process in cluster.workers}
    before, began, workers = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter(), cpu_of(groups)
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=cluster.environment)
    wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    own = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return wall, own + max(0.0, cpu_of(groups) - workers), done.stdout


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
