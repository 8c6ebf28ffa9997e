"""Writes what reports are timed on into bench/data, from a seed: `python bench/report.py wide tall`

`wide` has 20 systems on 250 topics, `tall` 5 on 6,980, each 100 documents deep; a topic has 40 judgements, and `wide`
the texts of all documents. A shape that is there already is left alone.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np

DATA = Path(__file__).parent / "data"
SEED = 14
DEPTH, JUDGED, CANDIDATES = 100, 40, 300  # documents a topic
WORDS, LENGTH = 2000, 120  # words that there are, and of a text


class Shape(NamedTuple):
    systems: int
    topics: int
    documents: int
    texts: bool = False


SHAPES = {"wide": Shape(20, 250, 20_000, texts=True), "tall": Shape(5, 6980, 500_000)}


def write(folder: Path, shape: Shape) -> None:
    """Systems see the grade of a document through noise, the later ones more of it."""
    rng = np.random.default_rng(SEED)
    folder.mkdir(parents=True)
    runs = [(folder / f"system-{number:02}.run").open("w") for number in range(1, shape.systems + 1)]
    with (folder / "qrels").open("w") as qrels:
        for topic in range(1, shape.topics + 1):
            documents = rng.choice(shape.documents, CANDIDATES, replace=False)
            grades = np.zeros(CANDIDATES)
            grades[:JUDGED] = rng.choice([0, 1, 2, 3], JUDGED, p=[0.6, 0.2, 0.1, 0.1])
            qrels.writelines(f"{topic} 0 d{documents[i]} {grades[i]:.0f}\n" for i in range(JUDGED))
            for number, run in enumerate(runs):
                scores = grades * (1 - number / (2 * shape.systems)) + rng.normal(0, 1, CANDIDATES)
                best = np.argsort(-scores)[:DEPTH]
                run.writelines(f"{topic} Q0 d{documents[i]} 0 {scores[i]:.6f} r\n" for i in best)
    for run in runs:
        run.close()
    if shape.texts:
        write_texts(rng, folder, shape)


def write_texts(rng: np.random.Generator, folder: Path, shape: Shape) -> None:
    """Words of which some are frequent, as in any language."""
    words = np.array([f"w{number}" for number in range(WORDS)])

    def text(length: int) -> str:
        return " ".join(words[np.minimum(rng.zipf(1.3, length) - 1, WORDS - 1)])

    with (folder / "topics.tsv").open("w") as topics:
        topics.write("id\ttitle\n")
        topics.writelines(f"{topic}\t{text(6)}\n" for topic in range(1, shape.topics + 1))
    with (folder / "documents.jsonl").open("w") as documents:
        for number in range(shape.documents):
            documents.write(json.dumps({"id": f"d{number}", "title": text(6), "text": text(LENGTH)}) + "\n")


if __name__ == "__main__":
    for name in sys.argv[1:] or SHAPES:
        folder, unfinished = DATA / f"report-{name}", DATA / f"report-{name}.unfinished"
        if not folder.exists():
            print(f"writing {folder}", file=sys.stderr)
            write(unfinished, SHAPES[name])
            unfinished.rename(folder)
