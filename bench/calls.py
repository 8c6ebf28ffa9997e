"""What it costs to call us, beside peers and by turns, as Markdown: `python bench/calls.py [PATTERN] [--keep]`

Start-up, dicts, frames that are in memory already, and hundreds of runs in one command. Peers are installed into the
same environment; trec_eval itself is timed where it is on the path or named by TREC_EVAL (the jar in the
sdist of pyserini has it, as trec_eval/trec_eval-linux-amd64). The machine should be quiet:
what two cores gain over one cannot be seen otherwise. CPU is the processor time of all cores together.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from statistics import median

from run import BENCH, DATA, IMPORT_NUMPY, MEASURES, command_line, in_process, script
from timing import (
    Command,
    Report,
    Row,
    as_memory,
    as_time,
    keep_results,
    largest_difference,
    run,
    table_line,
    take_turns,
)

RUNS = 1000
LAYOUTS = ("string", "large_string", "string_view", "polars", "pandas")


def start_up(quantity: str) -> Row:
    return Row(
        f"54 × 1,000, whole command, {quantity}",
        '`python -c "import numpy"`',
        "small",
        command_line("small"),
        IMPORT_NUMPY,
        1.15,
        41,
        (command_line("small", "json"), script("pytrec_eval", "small")),
        quantity,
        at_most=True,
    )


def trec_eval(program: str) -> Row:
    """trec_eval itself, with the same measures."""
    names = ("map", "ndcg_cut.10", "recip_rank", "P.10", "recall.1000")
    files = [str(DATA / "deep" / name) for name in ("qrels", "001.run")]
    peer = [program, *(part for name in names for part in ("-m", name)), *files]
    checks = (command_line("deep", "json"), script("pytrec_eval", "deep"))
    return Row("250 × 1,000, whole command", "trec_eval", "deep", command_line("deep"), peer, 2.5, 15, checks)


def rows() -> list[Row]:
    program = os.environ.get("TREC_EVAL") or shutil.which("trec_eval")
    checks = (command_line("deep", "json"),)
    in_python = script("pytrec_eval", "deep")
    return [
        start_up("cpu"),
        start_up("time"),
        *([] if program is None else [trec_eval(program)]),
        Row("250 × 1,000, whole command", "pytrec_eval script", "deep", command_line("deep"), in_python, 4, 15, checks),
        in_process("250 × 1,000, dict of dicts", "pytrec_eval", "deep", "dicts", "dicts, pytrec_eval", 5, 15),
        in_process(
            "same, qrels prepared", "pytrec_eval, evaluator made", "deep", "prepared", "prepared, pytrec_eval", 5, 15
        ),
        in_process("250 × 1,000, polars frame", "ir_measures, pandas", "deep", "polars", "pandas, ir_measures", 10, 5),
        in_process("250 × 1,000, pandas frame", "ir_measures, pandas", "deep", "pandas", "pandas, ir_measures", 10, 5),
    ]


def many(runs: int, threads: int) -> Command:
    """One command for many runs of 50 × 1,000: a hundred files under ten names each."""
    folder = DATA / "many-names"
    folder.mkdir(exist_ok=True)
    files = sorted((DATA / "many").glob("*.run"))
    for number in range(RUNS):
        name = folder / f"{number:04}.run"
        if not name.exists():
            name.symlink_to(files[number % len(files)].resolve())
    names = [str(folder / f"{number:04}.run") for number in range(runs)]
    measures = [part for name in MEASURES for part in ("-m", name)]
    program = command_line("many")[0]
    options = [*measures, "--threads", str(threads), "-f", "csv", "--quiet"]
    return [program, "evaluate", str(DATA / "many" / "qrels"), *names, *options]


def many_runs(repetitions: int) -> list[str]:
    """Two threads against one, and what ten times as many runs take."""
    lines = [
        "",
        "| runs of 50 × 1,000, one command | one thread | two threads | ratio (bar: 1.7×) | peak memory |",
        "|--:|--:|--:|--:|--:|",
    ]
    for count in (100, RUNS):
        one, two = take_turns(many(count, 1), many(count, 2), repetitions)
        times = [median(measured.time for measured in side) for side in (one, two)]
        peak = max(measured.memory for measured in two)
        cells = [f"{count:,}", *map(as_time, times), f"{times[0] / times[1]:.2f}×", as_memory(peak)]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def frames() -> list[str]:
    """What evaluating a frame and keeping its run take besides the frame itself."""
    lines = ["", "| frame | text | more while evaluating | more while its run is kept |", "|---|--:|--:|--:|"]
    for layout in LAYOUTS:
        done = subprocess.run(
            [sys.executable, str(BENCH / "frame_growth.py"), layout], capture_output=True, text=True, check=True
        )
        grown = json.loads(done.stdout)
        cells = [layout, *(as_memory(grown[name]) for name in ("text", "judged", "kept"))]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def main(pattern: str, keep: bool) -> None:
    def wanted(text: str) -> bool:
        return bool(re.search(pattern, text, re.IGNORECASE))

    chosen = [row for row in rows() if wanted(f"{row.workload} | {row.against}")]
    shapes = {"small", *(row.shape for row in chosen), *(["many"] if wanted("many runs") else [])}
    subprocess.run([sys.executable, str(BENCH / "make_data.py"), *sorted(shapes)], check=True)
    report = Report()
    report.say("## What it costs to call us", "", f"`python bench/calls.py`: {len(os.sched_getaffinity(0))} cores,")
    report.say(f"whose load before it was {os.getloadavg()[0]:.1f}; medians of processes that take turns.", "")
    report.say("| workload | ours | against | peer | ratio | bar | met |", "|---|--:|---|--:|--:|--:|---|")
    for row in chosen:
        ours, peer = take_turns(row.ours, row.peer, row.repetitions)
        largest_difference(row, [*ours, *peer, *map(run, row.check)])
        report.say(table_line(row, ours, peer))
    if wanted("frames"):
        report.say(*frames())
    if wanted("many runs"):
        report.say(*many_runs(3))
    if keep:
        keep_results(BENCH / "results.md", report.lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("pattern", nargs="?", default="", help="only rows whose text matches; also: frames, many runs")
    parser.add_argument("--keep", action="store_true", help="write the section of bench/results.md")
    main(**vars(parser.parse_args()))
