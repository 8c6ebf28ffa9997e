"""Writes the data of the benchmarks into bench/data, from a seed: `python bench/make_data.py marco deep …`

A shape that is there already is left alone.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np

DATA = Path(__file__).parent / "data"
SEED = 1
DEPTH = 1000  # rows a topic
DOCUMENTS = 8_800_000  # size of the collection that document ids come from
TIE_GAP = 16  # millionths between neighbouring scores: below 256, still distinct as the float32 that some tools keep


class Shape(NamedTuple):
    topics: int
    judged: int  # judgements a topic
    runs: int = 1


SHAPES = {
    "marco": Shape(6980, 1),
    "deep": Shape(250, 1200),
    "small": Shape(54, 300),
    "many": Shape(50, 1500, runs=100),
    "rows-1e5": Shape(100, 1),
    "rows-1e6": Shape(1_000, 1),
    "rows-1e7": Shape(10_000, 1),
}
LARGE = {"rows-7e7": Shape(70_000, 1), "rows-7e8": Shape(700_000, 1)}  # 2.7 and 27 GB: only where they are named


def write(name: str, shape: Shape) -> None:
    """One qrels file and its runs, moved into place when complete: an interrupted run leaves no half data behind."""
    rng = np.random.default_rng(SEED)
    unfinished, folder = DATA / f"{name}.unfinished", DATA / name
    unfinished.mkdir(parents=True, exist_ok=True)
    runs = [(unfinished / f"{number:03}.run").open("w") for number in range(1, shape.runs + 1)]
    with (unfinished / "qrels").open("w") as qrels:
        for topic in range(100_000, 100_000 + 131 * shape.topics, 131):
            candidates = rng.choice(DOCUMENTS, shape.judged + 2 * DEPTH, replace=False)
            judged, unjudged = candidates[: shape.judged], candidates[shape.judged :]
            qrels.write(qrels_lines(rng, topic, judged))
            for run in runs:
                hits = (
                    judged[: rng.random() < 0.9] if shape.judged == 1 else rng.choice(judged, shape.judged // 3, False)
                )
                others = rng.choice(unjudged, DEPTH - len(hits), replace=False)
                run.write(run_lines(rng, topic, rng.permutation(np.concatenate([hits, others]))))
    for run in runs:
        run.close()
    unfinished.rename(folder)


def qrels_lines(rng: np.random.Generator, topic: int, documents: np.ndarray) -> str:
    few = len(documents) == 1
    grades = [1] if few else rng.choice([0, 1, 2, 3], len(documents), p=[0.6, 0.2, 0.1, 0.1]).tolist()
    return "".join(f"{topic} 0 {d} {grade}\n" for d, grade in zip(documents.tolist(), grades, strict=True))


def run_lines(rng: np.random.Generator, topic: int, documents: np.ndarray) -> str:
    millionths = np.sort((rng.gamma(2, 5, len(documents)) * 1e6).astype(np.int64)) + TIE_GAP * np.arange(len(documents))
    scores = (5 + millionths[::-1] / 1e6).tolist()
    return "".join(
        f"{topic} Q0 {d} {rank} {score:.6f} bench\n"
        for rank, (d, score) in enumerate(zip(documents.tolist(), scores, strict=True), start=1)
    )


if __name__ == "__main__":
    for name in sys.argv[1:] or SHAPES:
        if not (DATA / name).exists():
            print(f"writing {DATA / name}", file=sys.stderr)
            write(name, (SHAPES | LARGE)[name])
