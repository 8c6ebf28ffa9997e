"""A run that memory cannot hold, read from the disk: `python bench/from_disk.py [--keep]`

What 10 and 70 million rows take in memory says what a row costs, reading past the cache what the disk gives; whichever
is slower foretells what 700 million rows take, of which nothing is in memory. It makes files of 31 GB, which stay in
bench/data.
"""

from __future__ import annotations

import argparse
import mmap
import os
import subprocess
import sys
import time
from pathlib import Path

from run import BENCH, DATA, command_line
from timing import Measured, Report, as_memory, as_time, keep_results, run

ROWS = {"rows-1e7": 10_000_000, "rows-7e7": 70_000_000, "rows-7e8": 700_000_000}
SAMPLE = 1 << 32  # bytes by which the disk is measured
PIECE = 1 << 24


def forget(file: Path) -> None:
    """Nothing of a file stays in the system's cache."""
    with file.open("rb") as opened:
        os.fsync(opened.fileno())
        os.posix_fadvise(opened.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def disk_rate(file: Path) -> float:
    """Bytes a second of a file past the cache, from one end to the other."""
    opened = os.open(file, os.O_RDONLY | os.O_DIRECT)
    memory = mmap.mmap(-1, PIECE)  # begins at a page, as the disk wants it
    start, done = time.perf_counter(), 0
    while done < SAMPLE and (read := os.preadv(opened, [memory], done)):
        done += read
    seconds = time.perf_counter() - start
    os.close(opened)
    return done / seconds


def best(shape: str, *, cold: bool = False) -> Measured:
    """The quickest of two: what is to be known is the work, not what else the machine had to do."""
    measured = []
    for _ in range(2):
        if cold:
            forget(DATA / shape / "001.run")
        measured.append(run(command_line(shape)))
    return min(measured, key=lambda one: one.time)


def main(keep: bool) -> None:
    subprocess.run([sys.executable, str(BENCH / "make_data.py"), *ROWS], check=True)
    small, large, largest = ROWS
    file = DATA / largest / "001.run"
    load = os.getloadavg()[0]
    run(command_line(large))  # into memory
    in_memory = {shape: best(shape) for shape in (small, large)}
    rate = disk_rate(file)
    measured = best(largest, cold=True)

    row = (in_memory[large].time - in_memory[small].time) / (ROWS[large] - ROWS[small])
    start = in_memory[small].time - row * ROWS[small]
    by_processor, by_disk = start + row * ROWS[largest], start + file.stat().st_size / rate
    foretold = max(by_processor, by_disk)
    report = Report()
    report.say("## 700,000,000 rows from the disk", "")
    report.say(
        f"`python bench/from_disk.py`: {len(os.sched_getaffinity(0))} cores, whose load before it was {load:.1f};"
    )
    report.say(
        f"{file.stat().st_size / 1e9:.1f} GB of TREC text, nothing of it in memory, the better of two. The disk gives"
    )
    report.say(f"{rate / 1e9:.2f} GB a second past the cache, to whoever reads from one end to the other.", "")
    report.say("| rows | where | time | CPU | peak memory |", "|--:|---|--:|--:|--:|")
    for shape, one in (*in_memory.items(), (largest, measured)):
        where = "disk" if shape == largest else "memory"
        cells = [f"{ROWS[shape]:,}", where, as_time(one.time), as_time(one.cpu), as_memory(one.memory)]
        report.say(f"| {' | '.join(cells)} |")
    report.say("", f"Foretold by the first two: {as_time(by_processor)} of both cores, {as_time(by_disk)} of the disk;")
    report.say(f"measured beside the longer of these: {measured.time / foretold - 1:+.0%}.")
    if keep:
        keep_results(BENCH / "results.md", report.lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--keep", action="store_true", help="write the section of bench/results.md")
    main(**vars(parser.parse_args()))
