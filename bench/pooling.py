"""Times pooling in a fresh process: `python bench/pooling.py CONTENDER SHAPE`

The shape is a folder of bench/data: `many` has 100 runs of 50 × 1,000. Prints the seconds from files to the pool,
loading of libraries left out, and how many documents were chosen. The peer is the script that people write: dicts and
sets, line by line.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

DEPTH = 100
BUDGET = 500  # judgements a topic of the methods that learn


def runs_in(folder: Path) -> list[str]:
    return sorted(map(str, folder.glob("*.run")))


def pooled(method: str, budget: int | None = None) -> Callable[[Path], int]:
    """From files to the text of the pool."""

    def make(folder: Path) -> int:
        from cranfield.pooling.files import pool_text
        from cranfield.pooling.making import make_pool

        made = make_pool(runs_in(folder), method, depth=DEPTH, budget=budget)
        assert pool_text(made)
        return len(made)

    return make


def replayed(method: str) -> Callable[[Path], int]:
    """From files to what a method that learns would have found."""

    def make(folder: Path) -> int:
        from cranfield.evaluation.experiment import Experiment
        from cranfield.pooling.simulation import simulate

        made = simulate(Experiment(str(folder / "qrels"), runs_in(folder)), [method], [BUDGET], depth=DEPTH)
        return made.rows[0].relevant

    return make


def analysed(folder: Path) -> int:
    """From files to every run left out, one at a time."""
    from cranfield.evaluation.experiment import Experiment
    from cranfield.pooling.analysis import analyse

    return len(analyse(Experiment(str(folder / "qrels"), runs_in(folder)), depth=DEPTH).left_out)


def plain_python(folder: Path) -> int:
    """The union of the first documents by score, as a script of a dozen lines has it."""
    pool: dict[str, set[str]] = {}
    for path in runs_in(folder):
        scores: dict[str, list[tuple[float, str]]] = {}
        for line in Path(path).read_text().splitlines():
            topic, _, document, _, score, _ = line.split()
            scores.setdefault(topic, []).append((float(score), document))
        for topic, found in scores.items():
            pool.setdefault(topic, set()).update(document for _, document in sorted(found, reverse=True)[:DEPTH])
    return sum(map(len, pool.values()))


CONTENDERS: dict[str, Callable[[Path], int]] = {
    "depth": pooled("depth"),
    "plain python": plain_python,
    "rrf": pooled("rrf", BUDGET),
    "rbp": pooled("rbp", BUDGET),
    "move-to-front": replayed("move-to-front"),
    "hedge": replayed("hedge"),
    "maxmean": replayed("maxmean"),
    "thompson": replayed("thompson"),
    "analysis": analysed,
}


def main(contender: str, folder: Path) -> None:
    import cranfield.pooling.analysis
    import cranfield.pooling.simulation  # noqa: F401  loading is not what is timed

    start = time.perf_counter()
    documents = CONTENDERS[contender](folder)
    print(json.dumps({"seconds": time.perf_counter() - start, "means": {"documents": documents}}))


if __name__ == "__main__":
    main(sys.argv[1], Path(__file__).parent / "data" / sys.argv[2])
