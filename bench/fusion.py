"""Times fusion in a fresh process: `python bench/fusion.py CONTENDER SHAPE`

Prints the seconds and the best scores of a few topics. ranx keeps every row as an entry of a compiled
dict, with a copy for every step, which takes more memory than a machine may have for ten runs of 6,980 × 1,000. So it
is timed on a tenth of the topics and its time is multiplied: fusion is done topic by topic.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

RUNS, DEPTH, CANDIDATES, DOCUMENTS = 10, 1000, 2000, 8_800_000
SHOWN = 3  # topics whose best score is printed, to be the same for all contenders
METHODS = {"rrf": None, "combsum": "min-max", "combmnz": "min-max"}
RANX_NAMES = {"rrf": "rrf", "combsum": "sum", "combmnz": "mnz"}
DATA = Path(__file__).parent / "data"
SHAPES = {"tenth": 698, "marco": 6980}  # topics


def lists(topics: int) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float64]]]:
    """For each run the documents of every topic and their scores, best first, no ties. A topic is always the same."""
    for run in range(RUNS):
        documents = np.empty((topics, DEPTH), dtype=np.int64)
        scores = np.empty((topics, DEPTH))
        for topic in range(topics):
            pool = np.random.default_rng((1, topic)).choice(DOCUMENTS, CANDIDATES, replace=False)
            random = np.random.default_rng((2, topic, run))
            documents[topic] = random.choice(pool, DEPTH, replace=False)
            scores[topic] = np.sort(random.gamma(2, 5, DEPTH))[::-1]
        yield documents, scores


def topic_ids(topics: int) -> list[str]:
    return [str(100_000 + 131 * topic) for topic in range(topics)]


def ours(method: str) -> Callable[[int], tuple[float, dict[str, float]]]:
    """Our runs are tables in memory."""

    def timed(topics: int) -> tuple[float, dict[str, float]]:
        from cranfield import fuse, read_run

        ids = topic_ids(topics)
        runs = [
            read_run((ids, documents, scores), name=f"run{i}") for i, (documents, scores) in enumerate(lists(topics))
        ]
        fuse([read_run({"1": {"a": 1.0}})] * 2, method)  # loads
        start = time.perf_counter()
        fused = fuse(runs, method, norm=METHODS[method])
        seconds = time.perf_counter() - start
        return seconds, {topic: max(fused.of(topic).values()) for topic in ids[:SHOWN]}

    return timed


def with_ranx(method: str) -> Callable[[int], tuple[float, dict[str, float]]]:
    """ranx's runs are in memory too, and it is compiled: it has fused the first topics before."""

    def timed(topics: int) -> tuple[float, dict[str, float]]:
        from ranx import Run, fuse

        def run_of(documents: Any, scores: Any) -> Any:
            rows = zip(topic_ids(len(documents)), documents.tolist(), scores.tolist(), strict=True)
            return Run({topic: dict(zip(map(str, found), values, strict=True)) for topic, found, values in rows})

        given = {"norm": METHODS[method], "method": RANX_NAMES[method], "params": {"k": 60} if method == "rrf" else {}}
        fuse([run_of(documents, scores) for documents, scores in lists(2)], **given)
        runs = [run_of(documents, scores) for documents, scores in lists(topics)]
        start = time.perf_counter()
        fused = fuse(runs, **given)
        seconds = time.perf_counter() - start
        best = {topic: max(fused.run[topic].values()) for topic in topic_ids(SHOWN)}
        return seconds * SHAPES["marco"] / topics, best

    return timed


def files(topics: int) -> list[str]:
    """The runs as files, written once."""
    folder = DATA / f"fusion-{topics}"
    if not folder.exists():
        unfinished = folder.with_suffix(".unfinished")
        unfinished.mkdir(parents=True, exist_ok=True)
        for run, (documents, scores) in enumerate(lists(topics)):
            with (unfinished / f"run{run}.trec").open("w") as out:
                for topic, found, values in zip(topic_ids(topics), documents.tolist(), scores.tolist(), strict=True):
                    rows = enumerate(zip(found, values, strict=True), start=1)
                    out.writelines(f"{topic} Q0 {d} {rank} {score:.17g} run{run}\n" for rank, (d, score) in rows)
        unfinished.rename(folder)
    return sorted(map(str, folder.iterdir()))


def ours_from_files(topics: int) -> tuple[float, dict[str, float]]:
    """The whole command, from files to a file."""
    given = files(topics)
    with tempfile.TemporaryDirectory() as folder:
        fused = f"{folder}/fused.run"
        start = time.perf_counter()
        command = [sys.executable, "-m", "cranfield", "fuse", *given, "-o", fused]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        seconds = time.perf_counter() - start
        return seconds, best_of_file(fused)


def ranx_from_files(topics: int) -> tuple[float, dict[str, float]]:
    """Reading, fusing and writing, after loading and compiling."""
    from ranx import Run, fuse

    given = files(topics)
    warm = [Run({"1": {"a": 1.0, "b": 0.5}}) for _ in range(2)]
    fuse(warm, norm=None, method="rrf", params={"k": 60})
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        runs = [Run.from_file(path, kind="trec") for path in given]
        fuse(runs, norm=None, method="rrf", params={"k": 60}).save(f"{folder}/fused.trec", kind="trec")
        seconds = time.perf_counter() - start
        return seconds, best_of_file(f"{folder}/fused.trec")


def best_of_file(path: str) -> dict[str, float]:
    from cranfield import read_run

    fused = read_run(path)
    return {topic: max(fused.of(topic).values()) for topic in topic_ids(SHOWN)}


CONTENDERS: dict[str, Callable[[int], tuple[float, dict[str, float]]]] = {
    **{f"ours, {method}": ours(method) for method in METHODS},
    **{f"ranx, {method}": with_ranx(method) for method in METHODS},
    "ours, files": ours_from_files,
    "ranx, files": ranx_from_files,
}


def main(contender: str, shape: str) -> None:
    seconds, best = CONTENDERS[contender](SHAPES[shape])
    print(json.dumps({"seconds": seconds, "means": best}))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
