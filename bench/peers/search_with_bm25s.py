"""bm25s: reads JSON lines, indexes, answers and writes a run: `python search_with_bm25s.py FOLDER RUN DEPTH`"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import bm25s
import Stemmer


def texts(path: Path) -> tuple[list[str], list[str]]:
    with path.open() as file:
        rows = [json.loads(line) for line in file]
    return [row["_id"] for row in rows], [row["text"] for row in rows]


def main(folder: str, run: str, depth: int) -> None:
    ids, documents = texts(Path(folder) / "corpus.jsonl")
    topics, questions = texts(Path(folder) / "queries.jsonl")
    stemmer = Stemmer.Stemmer("english")
    tokens = bm25s.tokenize(documents, stopwords="en", stemmer=stemmer, show_progress=False)
    del documents
    index = bm25s.BM25(method="lucene", k1=1.2, b=0.75)
    index.index(tokens, show_progress=False)
    asked = bm25s.tokenize(questions, stopwords="en", stemmer=stemmer, show_progress=False)
    found, scores = index.retrieve(asked, k=min(depth, len(ids)), show_progress=False, n_threads=os.cpu_count() or 1)
    with open(run, "w") as file:
        for topic, numbers, values in zip(topics, found.tolist(), scores.tolist(), strict=True):
            for rank, (number, value) in enumerate(zip(numbers, values, strict=True), start=1):
                if value > 0:
                    file.write(f"{topic} Q0 {ids[number]} {rank} {value:.9g} bm25s\n")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
