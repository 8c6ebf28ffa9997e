"""Times cranfield beside its peers, checks that all agree on the numbers, and prints Markdown: `make bench`

Every figure is the median over whole processes that take turns, so that a busy machine slows both sides alike. A whole
run also writes bench/results.md; `--only` and `--quick` print only.
"""

# This file imports nothing heavy: Linux counts the memory of the process that starts another towards the other's peak.
from __future__ import annotations

import argparse
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
import time
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import NamedTuple

BENCH = Path(__file__).parent
DATA = BENCH / "data"
MEASURES = ("AP", "nDCG@10", "RR", "P@10", "R@1000")
PACKAGES = (
    "cranfield",
    "numpy",
    "scipy",
    "pytrec_eval-terrier",
    "ir_measures",
    "ranx",
    "numba",
    "pandas",
    "polars",
    "pyarrow",
)
TOLERANCE = 1e-6  # float32 scores and other orders of summation stay far below; a wrong rule does not

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
    quantity: str = "time"  # or "memory"
    at_most: bool = False  # the bar is for ours/peer, to stay below; otherwise for peer/ours, to reach
    tolerance: float = TOLERANCE


class Measured(NamedTuple):
    time: float  # seconds
    memory: float  # bytes at the peak
    means: dict[str, float]


def command_line(shape: str, form: str = "table") -> Command:
    """Our command line, as a user types it."""
    files = [str(DATA / shape / "qrels"), str(DATA / shape / "001.run")]
    measures = [part for name in MEASURES for part in ("-m", name)]
    return [str(Path(sys.executable).parent / "cranfield"), "evaluate", *files, *measures, "-f", form]


def script(name: str, shape: str) -> Command:
    files = [str(DATA / shape / file) for file in ("qrels", "001.run")]
    return [sys.executable, str(BENCH / "peers" / f"with_{name}.py"), *files]


def inside(contender: str, shape: str) -> Command:
    return [sys.executable, str(BENCH / "inside.py"), contender, str(DATA / shape), str(DATA / "small")]


def whole_processes(
    workload: str, against: str, shape: str, peer: Command, bar: float, repetitions: int, quantity: str = "time"
) -> Row:
    return Row(
        workload,
        against,
        shape,
        command_line(shape),
        peer,
        bar,
        repetitions,
        (command_line(shape, "json"),),
        quantity,
        quantity == "memory",
    )


def in_process(workload: str, against: str, shape: str, ours: str, peer: str, bar: float, repetitions: int) -> Row:
    return Row(workload, against, shape, inside(ours, shape), inside(peer, shape), bar, repetitions)


IMPORT_NUMPY = [sys.executable, "-c", "import numpy"]
PYTREC_EVAL = "pytrec_eval script"
ROWS = (
    whole_processes("6,980 × 1,000, command line", PYTREC_EVAL, "marco", script("pytrec_eval", "marco"), 20, 3),
    whole_processes("same", "ir_measures script", "marco", script("ir_measures", "marco"), 35, 3),
    whole_processes("same", "ranx script, compiled before", "marco", script("ranx", "marco"), 60, 3),
    whole_processes("250 × 1,000, command line", PYTREC_EVAL, "deep", script("pytrec_eval", "deep"), 4, 9),
    Row(
        "54 × 1,000, whole command",
        '`python -c "import numpy"`',
        "small",
        command_line("small"),
        IMPORT_NUMPY,
        1.6,
        25,
        (command_line("small", "json"), script("pytrec_eval", "small")),
        at_most=True,
    ),
    in_process("250 × 1,000, dict of dicts", "pytrec_eval", "deep", "dicts", "dicts, pytrec_eval", 3, 9),
    in_process(
        "same, qrels prepared", "pytrec_eval, evaluator made", "deep", "prepared", "prepared, pytrec_eval", 3, 9
    ),
    in_process("250 × 1,000, polars frame", "ir_measures, pandas", "deep", "polars", "pandas, ir_measures", 10, 5),
    in_process("250 × 1,000, pandas frame", "ir_measures, pandas", "deep", "pandas", "pandas, ir_measures", 10, 5),
    in_process("100 runs of 50 × 1,000, one call", "100 single calls", "many", "one call", "single calls", 2, 5),
    whole_processes(
        "6,980 × 1,000, peak memory", PYTREC_EVAL, "marco", script("pytrec_eval", "marco"), 0.5, 1, "memory"
    ),
)
ALL_TREC = Row(
    "6,980 × 1,000, `trec_eval -m all_trec`",
    "`evaluate`, five measures",
    "marco",
    [command_line("marco")[0], "trec_eval", "-m", "all_trec", *command_line("marco")[2:4]],
    command_line("marco"),
    1.5,
    7,
    (command_line("marco", "json"), script("pytrec_eval", "marco")),
    at_most=True,
)


def significance(contender: str, shape: str) -> Command:
    return [sys.executable, str(BENCH / "significance.py"), contender, shape]


def significance_row(
    workload: str, against: str, shape: str, ours: str, peer: str, bar: float, tolerance: float, at_most: bool = False
) -> Row:
    """Tests of significance, in process. p-values from random resamples agree to within a few standard errors."""
    commands = significance(ours, shape), significance(peer, shape)
    return Row(
        workload, against, shape, *commands, bar, 3 if shape == "trec" else 1, at_most=at_most, tolerance=tolerance
    )


SIGNIFICANCE = (
    significance_row(
        "4,950 pairs, 50 topics, sign flips",
        "scipy.stats.permutation_test, 3 pairs",
        "trec",
        "drawn",
        "scipy",
        500,
        0.02,
    ),
    significance_row("same", "ranx, 6 pairs", "trec", "drawn", "ranx", 200, 0.02),
    significance_row("same, every flip", "sign flips at random", "trec", "exact", "drawn", 10, 0.01, at_most=True),
    significance_row(
        "same, randomised Tukey", "NumPy, 2,000 resamples", "trec", "randomised-tukey", "tukey, numpy", 5, 0.06
    ),
    significance_row(
        "190 pairs, 6,980 topics, sign flips", "scipy, 3 pairs, 2,000 resamples", "marco", "drawn", "scipy", 500, 0.06
    ),
    significance_row("same", "ranx, 6 pairs, 2,000 resamples", "marco", "drawn", "ranx", 200, 0.06),
)
SCALES = {"rows-1e5": 100_000, "rows-1e6": 1_000_000, "rows-1e7": 10_000_000}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", metavar="PATTERN", help="only rows whose text matches; also: scaling, digest")
    parser.add_argument("--quick", action="store_true", help="fewer repetitions")
    options = parser.parse_args()

    def wanted(*text: str) -> bool:
        return options.only is None or bool(re.search(options.only, " | ".join(text), re.IGNORECASE))

    def repetitions(full: int) -> int:
        return max(1, full // 5) if options.quick else full

    rows = [row for row in (*ROWS, ALL_TREC) if wanted(row.workload, row.against, row.shape)]
    tests = [row for row in SIGNIFICANCE if wanted("significance", row.workload, row.against)]
    scaling, digest, every = wanted("scaling"), wanted("digest"), wanted("every measure")
    shapes = {row.shape for row in rows} | ({"marco"} if digest else set()) | ({"deep"} if every else set())
    shapes |= set(SCALES) if scaling else set()
    subprocess.run([sys.executable, str(BENCH / "make_data.py"), "small", *sorted(shapes)], check=True)

    report = Report()
    report.say("# Speed and memory", "", *machine(), "")

    def table(rows: list[Row]) -> float:
        """Measures the rows and says how far the tools' numbers are apart at most."""
        report.say("| workload | ours | against | peer | ratio | bar | met |", "|---|--:|---|--:|--:|--:|---|")
        differences = []
        for row in rows:
            if "ranx" in row.against:
                run(script("ranx", "small"))  # compiles, and keeps what it compiled
            ours, peer = take_turns(row.ours, row.peer, repetitions(row.repetitions))
            checks = [run(command) for command in row.check]
            differences.append(largest_difference(row, [*ours, *peer, *checks]))
            report.say(table_line(row, ours, peer))
        return max(differences)

    if rows:
        difference = table(rows)
        report.say("", f"All tools agree on {', '.join(MEASURES)}: they differ by {difference:.0e} at most.", "")
    if scaling:
        report.say("| rows | whole command | a row | read and judge, in process | a row |", "|--:|--:|--:|--:|--:|")
        for shape, count in SCALES.items():
            report.say(scaling_line(shape, count, repetitions(5)))
        report.say("")
    if digest:
        report.say(digest_line(repetitions(11)), "")
    if every:
        report.say(every_measure_line(repetitions(5)), "")
    if tests:
        report.say("## Tests of significance", "", *SIGNIFICANCE_NOTE, "")
        difference = table(tests)
        report.say("", f"The p-values of the first pairs differ by {difference:.0e} at most.", "", *limits())
    if options.only is None and not options.quick:
        (BENCH / "results.md").write_text("\n".join(report.lines))


SIGNIFICANCE_NOTE = [
    "All pairs of 100 systems on 50 topics, and of 20 on 6,980; 100,000 resamples; in process. Peers are timed on few",
    "pairs, and where a pair takes a minute with fewer resamples, and their time is multiplied.",
]


class Report:
    """Lines of Markdown, shown as they come."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def say(self, *lines: str) -> None:
        self.lines += lines
        print("\n".join(lines), flush=True)


def machine() -> list[str]:
    cores = len(os.sched_getaffinity(0))
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30
    packages = ", ".join(f"{package} {version(package)}" for package in PACKAGES)
    return [
        f"{cores} cores ({platform.machine()}), {memory:.0f} GiB of memory, Python {platform.python_version()};",
        f"{packages}.",
        "",
        f"Measures: {', '.join(MEASURES)}. Medians over processes that take turns; files are in the page cache.",
    ]


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


def scaling_line(shape: str, rows: int, repetitions: int) -> str:
    whole, inner = medians(*take_turns(command_line(shape), inside("read and judge", shape), repetitions))
    cells = (
        f"{rows:,}",
        as_time(whole),
        f"{whole / rows * 1e9:.0f} ns",
        as_time(inner),
        f"{inner / rows * 1e9:.0f} ns",
    )
    return f"| {' | '.join(cells)} |"


def digest_line(repetitions: int) -> str:
    with_digest, without = medians(*take_turns(command_line("marco", "json"), command_line("marco"), repetitions))
    return (
        f"Digest of the inputs, 6,980 × 1,000: {as_time(with_digest)} with it (`-f json`), {as_time(without)} without "
        f"(`-f table`): {with_digest / without - 1:+.1%}."
    )


def every_measure_line(repetitions: int) -> str:
    every, five = medians(*take_turns(inside("every measure", "deep"), inside("five measures", "deep"), repetitions))
    return (
        f"Every measure that needs grades alone, at its defaults, 250 × 1,000, in process: {as_time(every)}, against "
        f"{as_time(five)} for the five: {as_time(every - five)} more (bar: 1.5 s)."
    )


def limits() -> list[str]:
    """Bars of tests of significance that no peer sets."""
    tests = {"sign flips": "drawn", "randomised Tukey": "randomised-tukey", "maxT": "maxt", "t": "t"}
    lines = ["| 190 pairs, 6,980 topics | time | peak memory (bar: 1,024 MiB) |", "|---|--:|--:|"]
    for name, contender in tests.items():
        measured = run(significance(contender, "marco"))
        lines.append(f"| {name} | {as_time(measured.time)} | {as_memory(measured.memory)} |")
    return lines


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
        process = subprocess.Popen(command, stdout=out, stderr=errors)
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
    return Measured(printed.get("seconds", seconds), usage.ru_maxrss * 1024, means)


def as_time(seconds: float) -> str:
    return f"{seconds:.2f} s" if seconds >= 1 else f"{seconds * 1000:.0f} ms"


def as_memory(size: float) -> str:
    return f"{size / 2**20:,.0f} MiB"


if __name__ == "__main__":
    main()
