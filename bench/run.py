"""Times cranfield beside its peers, checks that all agree on the numbers, and prints Markdown: `make bench`

Every figure is the median over whole processes that take turns, so that a busy machine slows both sides alike. A whole
run also writes its sections of bench/results.md, those of other benchmarks stay; `--only` and `--quick` print only.
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

from timing import (
    Command,
    Report,
    Row,
    as_memory,
    as_time,
    keep_results,
    largest_difference,
    medians,
    run,
    table_line,
    take_turns,
)

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
        1.15,
        25,
        (command_line("small", "json"), script("pytrec_eval", "small")),
        at_most=True,
    ),
    in_process("250 × 1,000, dict of dicts", "pytrec_eval", "deep", "dicts", "dicts, pytrec_eval", 5, 9),
    in_process(
        "same, qrels prepared", "pytrec_eval, evaluator made", "deep", "prepared", "prepared, pytrec_eval", 5, 9
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


def timed_by(file: str, contender: str, shape: str) -> Command:
    """A contender of one of the files beside this one, which times itself."""
    return [sys.executable, str(BENCH / file), contender, shape]


def significance_row(
    workload: str, against: str, shape: str, ours: str, peer: str, bar: float, tolerance: float, at_most: bool = False
) -> Row:
    """Tests of significance, in process. p-values from random resamples agree to within a few standard errors."""
    commands = timed_by("significance.py", ours, shape), timed_by("significance.py", peer, shape)
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


def collection_row(workload: str, against: str, file: str, ours: tuple[str, str], peer: str, bar: float) -> Row:
    """Fusion and pooling, in process; a peer that takes long is timed on a tenth of the topics."""
    contender, shape = ours
    theirs = timed_by(file, peer, "tenth" if file == "fusion.py" else shape)
    return Row(workload, against, shape, timed_by(file, contender, shape), theirs, bar, 1)


COLLECTIONS = (
    collection_row("fusion, rrf", "ranx, compiled", "fusion.py", ("ours, rrf", "marco"), "ranx, rrf", 10),
    collection_row(
        "fusion, CombMNZ, min-max", "ranx, compiled", "fusion.py", ("ours, combmnz", "marco"), "ranx, combmnz", 10
    ),
    collection_row(
        "a tenth of it, rrf, files to file", "ranx, compiled", "fusion.py", ("ours, files", "tenth"), "ranx, files", 10
    ),
    collection_row("pooling to depth 100", "plain Python", "pooling.py", ("depth", "many"), "plain python", 2),
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
    collections = [row for row in COLLECTIONS if wanted("collections", row.workload, row.against)]
    scaling, digest, every = wanted("scaling"), wanted("digest"), wanted("every measure")
    shapes = {row.shape for row in rows} | ({"marco"} if digest else set()) | ({"deep"} if every else set())
    shapes |= (set(SCALES) if scaling else set()) | ({"many"} if collections else set())
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
        report.say("", f"The p-values of the first pairs differ by {difference:.0e} at most.", "", *limits(), "")
    if collections:
        report.say("## Fusion and pooling", "", *COLLECTIONS_NOTE, "")
        difference = table(collections)
        report.say("", f"Fused scores and sizes of pools differ by {difference:.0e} at most.", "", *pooling_times())
    if wanted("report", "page"):
        report.say("", "", *report_times())
    if options.only is None and not options.quick:
        keep_results(BENCH / "results.md", report.lines)


SIGNIFICANCE_NOTE = [
    "All pairs of 100 systems on 50 topics, and of 20 on 6,980; 100,000 resamples; in process. Peers are timed on few",
    "pairs, and where a pair takes a minute with fewer resamples, and their time is multiplied.",
]


COLLECTIONS_NOTE = [
    "Fusion of 10 runs of 6,980 × 1,000 in memory, ranx on a tenth of the topics and its time multiplied; pooling of",
    "100 runs of 50 × 1,000 from files.",
]


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
        measured = run(timed_by("significance.py", contender, "marco"))
        lines.append(f"| {name} | {as_time(measured.time)} | {as_memory(measured.memory)} |")
    return lines


def pooling_times() -> list[str]:
    """Ways to pool for which there is no peer."""
    lines = ["| 100 runs of 50 × 1,000, from files | time | peak memory |", "|---|--:|--:|"]
    for name in ("rrf", "move-to-front", "hedge", "maxmean", "thompson", "analysis"):
        measured = run(timed_by("pooling.py", name, "many"))
        lines.append(f"| {name} | {as_time(measured.time)} | {as_memory(measured.memory)} |")
    return lines


def report_times() -> list[str]:
    """The page of `cranfield report`, whole commands, files to file; each line has its bars."""
    subprocess.run([sys.executable, str(BENCH / "report.py")], check=True)
    texts = ["--questions", "topics.tsv", "--documents", "documents.jsonl"]
    lines = [
        "## The report",
        "",
        f"`cranfield report … -o page.html` with five measures, whole commands; {len(os.sched_getaffinity(0))} cores,",
        f"whose load before it was {os.getloadavg()[0]:.1f}.",
        "",
        "| systems × topics | time | peak memory | size |",
        "|---|--:|--:|--:|",
    ]
    for workload, shape, more, bars in (
        ("20 × 250", "wide", [], ("10 s", "", "3.5 MB")),
        ("same, with texts", "wide", texts, ("", "", "")),
        ("5 × 6,980", "tall", [], ("30 s", "1 GB", "")),
    ):
        time, memory, size = report_cost(DATA / f"report-{shape}", more)
        cells = (as_time(time), as_memory(memory), f"{size / 1e6:.2f} MB")
        barred = [f"{cell} (bar: {bar})" if bar else cell for cell, bar in zip(cells, bars, strict=True)]
        lines.append(f"| {' | '.join([workload, *barred])} |")
    return lines


def report_cost(folder: Path, more: list[str]) -> tuple[float, float, int]:
    """Seconds, bytes at the peak and bytes of the page."""
    files = [str(folder / "qrels"), *sorted(map(str, folder.glob("*.run")))]
    given = [str(folder / word) if not word.startswith("-") else word for word in more]
    measures = [part for name in MEASURES for part in ("-m", name)]
    page = folder / "page.html"
    program = str(Path(sys.executable).parent / "cranfield")
    measured = run([program, "report", *files, *measures, *given, "-o", str(page)])
    return measured.time, measured.memory, page.stat().st_size


if __name__ == "__main__":
    main()
