"""What evaluation costs, part by part, and whether that foretells a larger size: the figures of docs/scale.md.

`python bench/scale.py FOLDER` makes runs of many shapes in the folder (some gigabytes, seeded; what is there is left
alone), times whole commands on one thread and on all cores, fits the cost of a row, a judgement, a topic and a score,
and then times a shape four times as large as the largest of them beside what the fit foretells.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from random import Random
from typing import NamedTuple

from timing import Command, Measured, as_memory, as_time, keep_results, run

SEED = 17
MEASURES = ("AP", "nDCG@10", "RR", "P@10", "R@1000", "nDCG", "Rprec", "Bpref", "ERR@20", "RBP", "P@5", "Success@10")
PARTS = ("start", "a row", "a judgement", "a topic", "a score (topic × measure)")


class Shape(NamedTuple):
    """A run and its judgements; how many measures are asked for."""

    topics: int
    depth: int
    judged: int
    measures: int

    @property
    def parts(self) -> list[float]:
        """How often each of PARTS is paid."""
        scores = self.topics * self.measures
        return [1, self.topics * self.depth, self.topics * self.judged, self.topics, scores]

    @property
    def name(self) -> str:
        return f"{self.topics}-{self.depth}-{self.judged}"

    @property
    def told(self) -> str:
        rows = self.topics * self.depth
        return (
            f"{rows:,} rows, {self.topics * self.judged:,} judgements, {self.topics:,} topics, {self.measures} measures"
        )


FITTED = (
    Shape(50, 100, 10, 1),
    Shape(1_000, 1_000, 1, 1),
    Shape(1_000, 1_000, 1, 12),
    Shape(1_000, 1_000, 1_000, 5),
    Shape(10_000, 100, 20, 1),
    Shape(10_000, 100, 20, 12),
    Shape(5_000, 1_000, 50, 5),
    Shape(10_000, 1_000, 1, 5),
    Shape(10_000, 1_000, 200, 5),
)
FORETOLD = Shape(40_000, 1_000, 100, 8)


def write(folder: Path, shape: Shape) -> tuple[Path, Path]:
    """The judgements and the run of a shape: where they are, made if they are not there."""
    qrels, rows = folder / f"{shape.name}.qrels", folder / f"{shape.name}.run"
    if rows.exists():
        return qrels, rows
    random = Random(SEED)
    scores = [f"{40 - 39 * place / shape.depth:.5f}" for place in range(shape.depth)]
    unfinished = rows.with_suffix(".unfinished")
    with qrels.open("w") as judgements, unfinished.open("w") as ranking:
        for topic in range(1_000_000, 1_000_000 + shape.topics):
            documents = random.sample(range(8_800_000), shape.depth + shape.judged)
            judged = documents[shape.depth - shape.judged // 2 - 1 :][: shape.judged]  # half of them are found
            judgements.writelines(f"{topic} 0 {d} {i % 3}\n" for i, d in enumerate(judged, start=1))
            ranking.writelines(
                f"{topic} Q0 {d} {rank} {score} scale\n"
                for rank, (d, score) in enumerate(zip(documents, scores, strict=False), start=1)
            )
    unfinished.rename(rows)
    return qrels, rows


def command(folder: Path, shape: Shape, threads: int) -> Command:
    files = [str(file) for file in write(folder, shape)]
    measures = [part for name in MEASURES[: shape.measures] for part in ("-m", name)]
    program = str(Path(sys.executable).parent / "cranfield")
    return [program, "evaluate", *files, *measures, "--threads", str(threads), "-f", "table"]


def best(command: Command, repetitions: int) -> Measured:
    """The quickest of some: what is to be known is the work, not what else the machine had to do."""
    return min((run(command) for _ in range(repetitions)), key=lambda measured: measured.time)


def fitted(values: list[float]) -> list[float]:
    """The cost of each part, none below nothing, such that relative errors are small."""
    import numpy as np  # after all was measured: see timing.py
    from scipy.optimize import nnls

    parts = np.array([shape.parts for shape in FITTED])
    scale = parts.max(axis=0)
    cost, _ = nnls(parts / scale / np.array(values)[:, None], np.ones(len(values)))
    return [float(value) for value in cost / scale]


def foretold(cost: list[float], shape: Shape) -> float:
    return sum(price * often for price, often in zip(cost, shape.parts, strict=True))


def lines_of(folder: Path, repetitions: int) -> list[str]:
    cores = len(os.sched_getaffinity(0))
    threads = sorted({1, cores})
    load = os.getloadavg()[0]
    measured = [[best(command(folder, shape, count), repetitions) for shape in FITTED] for count in threads]
    larger = [best(command(folder, FORETOLD, count), min(3, repetitions)) for count in threads]
    lines = [
        "## What a row costs, and what that foretells",
        "",
        f"`python bench/scale.py FOLDER`: commands of `cranfield evaluate`, the best of {repetitions}; {cores} cores,",
        f"whose load before it was {load:.1f}. Fitted to {len(FITTED)} shapes of 5,000 to 10 million rows; foretold is",
        f"the time of {FORETOLD.told}.",
        "",
        f"| threads | {' | '.join(PARTS)} | largest error of the fit | foretold | measured |",
        f"|--:|{'--:|' * (len(PARTS) + 3)}",
    ]
    for count, fits, large in zip(threads, measured, larger, strict=True):
        times = [one.time for one in fits]
        cost = fitted(times)
        error = max(abs(foretold(cost, shape) / time - 1) for shape, time in zip(FITTED, times, strict=True))
        ahead = foretold(cost, FORETOLD)
        prices = [as_time(cost[0]), *(f"{1e9 * price:.3g} ns" for price in cost[1:])]
        ends = [f"{error:.0%}", as_time(ahead), f"{as_time(large.time)} ({large.time / ahead - 1:+.0%})"]
        lines.append(f"| {' | '.join([str(count), *prices, *ends])} |")
    cost = fitted([one.memory for one in measured[-1]])
    ahead, peak = foretold(cost, FORETOLD), larger[-1].memory
    prices = [as_memory(cost[0]), *(f"{price:.3g} B" for price in cost[1:])]
    return [
        *lines,
        "",
        f"| peak memory | {' | '.join(PARTS)} | foretold | measured |",
        f"|---|{'--:|' * (len(PARTS) + 2)}",
        f"| {cores} threads | {' | '.join([*prices, as_memory(ahead), as_memory(peak)])} ({peak / ahead - 1:+.0%}) |",
    ]


def main() -> None:
    """Prints the tables; with --keep they become a section of bench/results.md."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--keep", action="store_true")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    for shape in (*FITTED, FORETOLD):
        write(given.folder, shape)
    lines = lines_of(given.folder, given.repetitions)
    print("\n".join(lines))
    if given.keep:
        keep_results(Path(__file__).parent / "results.md", lines)


if __name__ == "__main__":
    main()
