"""Lists per second of every method of interleaving, beside a naive team draft that looks for documents in lists.

python bench/interleaving.py [--seconds 1]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial
from random import Random

from cranfield.online.interleaving import RankedQuery, Serving, all_interleavers, interleaved


def naive(rankings: list[list[str]], rng: Random, length: int) -> tuple[list[str], list[int]]:
    """As the textbook has it: every pick looks through the whole ranking, and through the list for each document."""
    docs: list[str] = []
    teams: list[int] = []
    while len(docs) < length:
        counts = [teams.count(0), teams.count(1)]
        team = int(counts[0] > counts[1] or (counts[0] == counts[1] and rng.random() < 0.5))
        docs.append(next(doc for doc in rankings[team] if doc not in docs))
        teams.append(team)
    return docs, teams


def rate(work: Callable[[], object], seconds: float) -> float:
    """How often it is done in a second of this process: the machine may have other things to do."""
    work()
    count, start = 0, time.process_time()
    while time.process_time() - start < seconds:
        work()
        count += 1
    return count / (time.process_time() - start)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=1.0, help="for each line")
    seconds = parser.parse_args().seconds
    rng = Random(1)
    print(f"{'lists per second':<28}{'10 of 10':>12}{'10 of 100':>12}{'10 of 1000':>12}{'1000 of 1000':>14}")
    rows: dict[str, Callable[[list[list[str]], int], object]] = {
        method.name: lambda rankings, length, method=method: interleaved(method, rankings, rng, length)  # type: ignore[misc]
        for method in all_interleavers()
    }
    rows["naive team draft"] = lambda rankings, length: naive(rankings, rng, length)
    team_draft = next(method for method in all_interleavers() if method.name == "team-draft")
    rows["team-draft as a log line"] = lambda rankings, length: Serving(team_draft, length).logged(
        RankedQuery("q", "u", tuple(map(tuple, rankings)))
    )
    for name, work in rows.items():
        cells = []
        for length, depth in ((10, 10), (10, 100), (10, 1000), (1000, 1000)):
            first = [f"d{i}" for i in range(depth)]
            second = sorted(first, key=lambda doc: int(doc[1:]) + rng.gauss(0, depth / 5))
            if name == "optimised" and length > 12:
                cells.append("–")
                continue
            found = rate(partial(work, [first, second], length), seconds)
            cells.append(f"{found:,.0f}")
        print(f"{name:<28}{cells[0]:>12}{cells[1]:>12}{cells[2]:>12}{cells[3]:>14}")


if __name__ == "__main__":
    main()
