"""How things are timed beside each other: whole processes that take turns, and a line of Markdown for each pair.

Nothing heavy is imported here: Linux counts the memory of the process that starts another towards the other's peak.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import NamedTuple

TOLERANCE = 1e-6  # float32 scores and other orders of summation stay far below; a wrong rule does not

# Where it is set, every process that is timed would compile our whole package anew, and no peer's.
COMPILED = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}

Command = list[str]


class Row(NamedTuple):
    """One line of the table: two commands, and how far apart they should be."""

    workload: str
    against: str
    shape: str
    ours: Command
    peer: Command
    bar: float
    repetitions: int
    check: tuple[Command, ...] = ()  # commands that print the same numbers, for a side that prints none
    quantity: str = "time"  # or "memory", or "cpu": seconds of all cores together
    at_most: bool = False  # the bar is for ours/peer, to stay below; otherwise for peer/ours, to reach
    tolerance: float = TOLERANCE


class Measured(NamedTuple):
    time: float  # seconds
    memory: float  # bytes at the peak
    means: dict[str, float]
    cpu: float = 0.0  # seconds of all cores, the system's among them


class Report:
    """Lines of Markdown, shown as they come."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def say(self, *lines: str) -> None:
        self.lines += lines
        print("\n".join(lines), flush=True)


def largest_difference(row: Row, measured: list[Measured]) -> float:
    """How far the tools' numbers are apart; too far ends everything: the speed of a wrong number is of no interest."""
    first, *others = [one.means for one in measured if one.means]
    for other in others:
        if first.keys() != other.keys():
            sys.exit(f"{row.workload}, {row.against}: not the same measures: {sorted(first)} and {sorted(other)}")
    difference, name = max((abs(first[name] - other[name]), name) for other in others for name in first)
    if not difference <= row.tolerance:
        sys.exit(f"{row.workload}, {row.against}: {name} differs by {difference}")
    return difference


def table_line(row: Row, ours: list[Measured], peer: list[Measured]) -> str:
    mine, theirs = (median(getattr(one, row.quantity) for one in side) for side in (ours, peer))
    ratio = mine / theirs if row.at_most else theirs / mine
    met = ratio <= row.bar if row.at_most else ratio >= row.bar
    bar = f"≤ {row.bar:g}×" if row.at_most else f"≥ {row.bar:g}×"
    show = as_memory if row.quantity == "memory" else as_time
    cells = (row.workload, show(mine), row.against, show(theirs), f"{ratio:.2f}×", bar, "yes" if met else "**no**")
    return f"| {' | '.join(cells)} |"


def take_turns(one: Command, other: Command, repetitions: int) -> tuple[list[Measured], list[Measured]]:
    """Runs both, again and again; beside a slow peer, ours more often, so that one busy moment does not decide."""
    ours: list[Measured] = []
    peers: list[Measured] = []
    for _ in range(repetitions):
        ours += [run(one) for _ in range(3 if repetitions <= 3 else 1)]
        peers.append(run(other))
    return ours, peers


def medians(*sides: list[Measured]) -> list[float]:
    return [median(one.time for one in side) for side in sides]


def run(command: Command) -> Measured:
    """Runs a process to its end. A process that prints its own "seconds" is believed: it left loading out."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as errors:
        start = time.perf_counter()
        process = subprocess.Popen(command, stdout=out, stderr=errors, env=COMPILED)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        errors.seek(0)
        text = out.read()
        if process.returncode != 0:
            sys.exit(f"{' '.join(command)}: exit code {process.returncode}\n{errors.read()}")
    printed = json.loads(text) if text.startswith("{") else {}
    means = printed["runs"][0]["mean"] if "runs" in printed else printed.get("means", {})
    cpu = usage.ru_utime + usage.ru_stime
    return Measured(printed.get("seconds", seconds), usage.ru_maxrss * 1024, means, cpu)


def keep_results(file: Path, lines: list[str]) -> None:
    """Writes sections of Markdown into a file: those that it has under the same heading are replaced, others stay."""
    new = _sections("\n".join(lines))
    old = _sections(file.read_text()) if file.exists() else {}
    file.write_text("\n\n".join((old | new).values()) + "\n")


def _sections(text: str) -> dict[str, str]:
    """Sections by their headings, each with its heading."""
    parts = re.split(r"(?m)^(?=##? )", text)
    return {part.partition("\n")[0]: part.strip("\n") for part in parts if part.strip()}


def as_time(seconds: float) -> str:
    return f"{seconds:.2f} s" if seconds >= 1 else f"{seconds * 1000:.0f} ms"


def as_memory(size: float) -> str:
    return f"{size / 2**20:,.0f} MiB"
