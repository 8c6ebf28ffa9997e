"""Indexing and searching beside bm25s and tantivy, as whole processes that take turns: a table in Markdown.

    python bench/search.py [--sizes 10000 100000] [--million] [--rounds 3] [--peers bm25s tantivy]

Each reads the same JSON lines, makes words, stems them (Snowball's English), leaves out Lucene's stop words, indexes
200 words a document, answers 50 questions 1,000 deep with BM25 (k1 = 1.2, b = 0.75) and writes a run. Processor time is
that of all threads, and says more than seconds where the machine has other work. How many of the ten best documents of
a question a tool has in common with ours tells whether it did the same work. The peers are found in the environment
that runs this: pip install bm25s PyStemmer tantivy.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import NamedTuple

DATA = Path(__file__).parent / "data"
PEERS = Path(__file__).parent / "peers"
WORDS, TOPICS, DEPTH = 500_000, 50, 1000
SEED = 17
AT_ONCE = 5_000  # documents that are drawn at once
ENDINGS = ("", "s", "ing", "ed", "ation", "er", "ly", "ness")


class Cost(NamedTuple):
    """What a process took."""

    seconds: float
    processor: float
    memory: int  # bytes at the peak


def word(number: int) -> str:
    """A word for each number, no two the same, many of which have a stem in common."""
    stem, ending = divmod(number, len(ENDINGS))
    letters = ""
    for consonants, vowels in (("bdfgklmnprstvz", "aeiou"),) * 4:
        stem, consonant = divmod(stem, len(consonants))
        stem, vowel = divmod(stem, len(vowels))
        letters += consonants[consonant] + vowels[vowel]
        if not stem:
            break
    return letters + "n" + ENDINGS[ending]


def collection(documents: int) -> Path:
    """A folder with documents and topics, made once: words as frequent as in any language, 100 to 300 a document."""
    folder = DATA / f"search-{documents}"
    if folder.exists():
        return folder
    import numpy as np

    rng = np.random.default_rng([SEED, documents])
    words = np.array([word(number) for number in range(WORDS)], dtype=object)
    chances = np.cumsum(1 / (np.arange(WORDS) + 2.7))
    chances /= chances[-1]
    unfinished = folder.with_suffix(".unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(parents=True)
    with (unfinished / "corpus.jsonl").open("w") as file:
        for first in range(0, documents, AT_ONCE):
            lengths = rng.integers(100, 301, min(AT_ONCE, documents - first))
            drawn = words[np.searchsorted(chances, rng.random(int(lengths.sum())))]
            for number, part in enumerate(np.split(drawn, np.cumsum(lengths)[:-1]), start=first):
                file.write(f'{{"_id": "d{number}", "title": "", "text": "{" ".join(part.tolist())}"}}\n')
    with (unfinished / "queries.jsonl").open("w") as file:
        for topic in range(TOPICS):
            asked = " ".join(words[rng.integers(100, 50_000, 3)].tolist())
            file.write(json.dumps({"_id": str(topic), "text": asked}) + "\n")
    unfinished.rename(folder)
    return folder


def command(tool: str, folder: Path, run: Path) -> list[str]:
    if tool == "cranfield":
        words = [sys.executable, "-m", "cranfield", "search", str(folder), "-o", str(run)]
        return [*words, "--stop-words", "lucene", "--repeats", "1", "--warm-up", "0", "--depth", str(DEPTH)]
    return [sys.executable, str(PEERS / f"search_with_{tool}.py"), str(folder), str(run), str(DEPTH)]


def measured(words: list[str]) -> Cost:
    """Runs a process to its end. Nothing heavy is imported here: Linux counts it towards the other's peak."""
    start = time.perf_counter()
    with tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=errors)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            errors.seek(0)
            sys.exit(f"{' '.join(words)}: exit code {process.returncode}\n{errors.read()}")
    return Cost(time.perf_counter() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024)


def best_ten(run: Path) -> dict[str, set[str]]:
    best: dict[str, set[str]] = {}
    with run.open() as file:
        for line in file:
            topic, _, document, rank, _, _ = line.split()
            if int(rank) <= 10:
                best.setdefault(topic, set()).add(document)
    return best


def in_common(ours: Path, other: Path) -> float:
    mine, theirs = best_ten(ours), best_ten(other)
    return sum(len(found & theirs.get(topic, set())) / len(found) for topic, found in mine.items()) / len(mine)


def table(documents: int, tools: list[str], rounds: int) -> list[str]:
    """A line a tool, the medians of some rounds, in each of which every tool has its turn."""
    folder = collection(documents)
    costs: dict[str, list[Cost]] = {tool: [] for tool in tools}
    with tempfile.TemporaryDirectory() as place:
        runs = {tool: Path(place) / f"{tool}.run" for tool in tools}
        for _ in range(rounds):
            for tool in tools:
                costs[tool].append(measured(command(tool, folder, runs[tool])))
        shared = {tool: in_common(runs[tools[0]], runs[tool]) for tool in tools}
    lines = []
    for tool in tools:
        seconds, processor, memory = (median(values) for values in zip(*costs[tool], strict=True))
        cells = f"{documents:,} | {tool} | {seconds:.1f} s | {processor:.1f} s | {memory / 2**20:,.0f} MiB"
        lines.append(f"| {cells} | {shared[tool]:.0%} |")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000], help="how many documents")
    parser.add_argument("--million", action="store_true", help="a million documents too, once")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--peers", nargs="*", default=["bm25s", "tantivy"], choices=["bm25s", "tantivy"])
    given = parser.parse_args()
    print("| documents | tool | time | processor time | peak memory | ten best as ours |\n|--:|---|--:|--:|--:|--:|")
    for documents in [*given.sizes, *([1_000_000] if given.million else [])]:
        rounds = 1 if documents >= 1_000_000 else given.rounds
        print("\n".join(table(documents, ["cranfield", *given.peers], rounds)), flush=True)


if __name__ == "__main__":
    main()
