"""Times an evaluation on one machine beside Spark, local and on a standalone cluster: `.venv/bin/python bench/spark.py`

Every engine is a process of its own, by turns; the cluster (a master and two workers of one core on loopback) runs
meanwhile. Told are wall clock, CPU and peak memory of the command with all processes it starts (the workers of the
cluster with their executors, too). From all sizes but the largest the cost of a start and of a row is fitted, and what
that foretells of the largest is told beside what it took. `--keep` writes the section of bench/results.md. The tests'
environment has what this needs: the cluster is that of the tests.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "common"))

from formats import DATA, MEASURES, write
from timing import COMPILED, Report, as_memory, as_time, keep_results

from spark_cluster import Cluster, running_cluster

PAGE = os.sysconf("SC_PAGE_SIZE")
ENGINES = ("one machine", "local[2]", "cluster")
PLAIN = "plain.run"
FORMS = {"gzip": "one.run.gz", "zstd": "one.run.zst", "Parquet": "columns.parquet", "JSON lines": "lines.jsonl"}


class Use(NamedTuple):
    """What a command took, with all that it started."""

    wall: float
    cpu: float
    memory: float


class Watch:
    """CPU seconds and memory of all processes of some sessions, and of the sessions that these start, as for Java;
    looked at a few times a second: who ends is not forgotten. Memory that processes share counts in each."""

    def __init__(self, sessions: set[int]) -> None:
        self.sessions, self.seconds, self.memory, self.ended = sessions, dict[int, float](), 0.0, threading.Event()
        self.first = {process: seconds for process, seconds, _ in self.look()}
        self.thread = threading.Thread(target=self.watch)
        self.thread.start()

    def look(self) -> list[tuple[int, float, int]]:
        every = dict(_processes())
        count = 0
        while count != len(self.sessions):
            count = len(self.sessions)
            ours = {number for number, (_, session, *_) in every.items() if session in self.sessions}
            self.sessions |= {session for parent, session, *_ in every.values() if parent in ours}
        return [
            (number, cpu, memory) for number, (_, session, cpu, memory) in every.items() if session in self.sessions
        ]

    def watch(self) -> None:
        while not self.ended.wait(0.1):
            found = self.look()
            self.seconds.update({process: seconds for process, seconds, _ in found})
            self.memory = max(self.memory, float(sum(memory for *_, memory in found)))

    def end(self) -> tuple[float, float]:
        self.ended.set()
        self.thread.join()
        return sum(used - self.first.get(process, 0.0) for process, used in self.seconds.items()), self.memory


def _processes() -> Iterator[tuple[int, tuple[int, int, float, int]]]:
    """Of each process its number, that of its parent, its session, its CPU seconds and its memory."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            cpu = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
            yield int(entry.name), (int(fields[1]), int(fields[3]), cpu, int(fields[21]) * PAGE)


def timed(command: list[str], cluster: Cluster, workers: bool) -> tuple[Use, str]:
    began = time.perf_counter()
    with tempfile.TemporaryFile("w+") as printed:
        environment = COMPILED | cluster.environment
        process = subprocess.Popen(command, stdout=printed, env=environment, start_new_session=True)
        watch = Watch({process.pid, *(worker.pid for worker in cluster.workers if workers)})
        if process.wait():
            raise SystemExit(f"{command} failed")
        wall = time.perf_counter() - began
        use = Use(wall, *watch.end())
        printed.seek(0)
        return use, printed.read()


def measured(rows: int, turns: int, file: str = PLAIN) -> dict[str, Use]:
    """The quickest turn of each engine. They must print the same."""
    folder = DATA / f"formats-{rows}"
    write(folder, rows, [] if file == PLAIN else [file])
    (folder / file).read_bytes()  # into memory, for whoever comes first
    command = [sys.executable, "-m", "cranfield", "evaluate", str(folder / "qrels"), str(folder / file)]
    for measure in MEASURES:
        command += ["-m", measure]
    best: dict[str, Use] = {}
    printed = set()
    with tempfile.TemporaryDirectory() as temporary, running_cluster(Path(temporary)) as cluster:
        engine = {"one machine": [], "local[2]": ["--engine", "local[2]"], "cluster": ["--engine", cluster.master]}
        for _ in range(turns):
            for name in ENGINES:
                use, output = timed([*command, *engine[name]], cluster, name == "cluster")
                printed.add(output)
                best[name] = min(best.get(name, use), use)
    if len(printed) > 1:
        raise SystemExit("the engines print different scores")
    return best


def fitted(sizes: list[int], walls: list[float]) -> tuple[float, float]:
    """Seconds of a start and of a row, by least squares."""
    mean, middle = sum(sizes) / len(sizes), sum(walls) / len(walls)
    spread = sum((size - mean) ** 2 for size in sizes)
    row = sum((size - mean) * (wall - middle) for size, wall in zip(sizes, walls, strict=True)) / spread
    return middle - row * mean, row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[6_980_000, 20_000_000, 40_000_000, 70_000_000])
    parser.add_argument("--turns", type=int, default=2)
    parser.add_argument("--keep", action="store_true", help="write the section of bench/results.md")
    options = parser.parse_args()
    report, load, cores = Report(), os.getloadavg()[0], len(os.sched_getaffinity(0))
    report.say("## One machine beside Spark", "")
    report.say(
        f"`.venv/bin/python bench/spark.py`: `cranfield evaluate` with {len(MEASURES)} measures, whole commands,"
    )
    report.say(
        f"the quickest of {options.turns}; {cores} cores, whose load before it was {load:.1f}. All print the same.", ""
    )
    report.say("| rows | engine | time | CPU | peak memory of all processes |", "|--:|---|--:|--:|--:|")
    uses = []
    for rows in options.rows:
        uses.append(measured(rows, options.turns))
        for name, use in uses[-1].items():
            report.say(f"| {rows:,} | {name} | {as_time(use.wall)} | {as_time(use.cpu)} | {as_memory(use.memory)} |")
    if len(options.rows) > 2:
        report.say("", f"| engine | start | a row | foretold of {options.rows[-1]:,} rows | measured |")
        report.say("|---|--:|--:|--:|--:|")
        for name in ENGINES:
            start, row = fitted(options.rows[:-1], [use[name].wall for use in uses[:-1]])
            ahead, took = start + row * options.rows[-1], uses[-1][name].wall
            cells = [
                as_time(start),
                f"{1e9 * row:.0f} ns",
                as_time(ahead),
                f"{as_time(took)} ({took / ahead - 1:+.0%})",
            ]
            report.say(f"| {name} | {' | '.join(cells)} |")
    report.say("", "One file in other forms, which a cluster has read by one task: once each.", "")
    report.say(f"| rows | form | {' | '.join(ENGINES)} |", f"|--:|---|{'--:|' * len(ENGINES)}")
    for rows in dict.fromkeys([options.rows[0], options.rows[-1]]):
        for form, file in FORMS.items():
            of_form = measured(rows, 1, file)
            cells = [f"{as_time(use.wall)}, {as_memory(use.memory)}" for use in of_form.values()]
            report.say(f"| {rows:,} | {form} | {' | '.join(cells)} |")
    if options.keep:
        keep_results(Path(__file__).parent / "results.md", report.lines)


if __name__ == "__main__":
    main()
