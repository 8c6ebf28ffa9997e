"""A lecture's third figure: the precision histogram, two algorithms over ten queries, query by query.

Takes the folder to draw into; without one the picture goes to a temporary folder.
"""

import sys
import tempfile
from pathlib import Path

import cranfield
from cranfield.plot.saving import save

folder = Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp())

# By query: relevant documents there are, and the ranks where A and B find them. R-precision is the share of relevant
# documents among the first R. The first two queries of A are the lecture's: 2 of 5, and 1 of 3.
queries: dict[str, tuple[int, list[int], list[int]]] = {
    "1": (5, [1, 3, 6, 10, 15], [2, 7, 9]),
    "2": (3, [3, 6, 10], [5, 9, 12]),
    "3": (4, [1, 2, 3, 9], [1, 6, 8, 10]),
    "4": (2, [4, 7], [1, 2]),
    "5": (6, [1, 2, 4, 5, 8, 11], [2, 3, 7, 12]),
    "6": (4, [2, 5, 9], [1, 3, 4, 8]),
    "7": (5, [1, 2, 3, 4, 12], [1, 2, 6]),
    "8": (3, [1, 8], [1, 5, 6]),
    "9": (4, [1, 3, 4], [2, 9]),
    "10": (2, [1, 2], [3, 4]),
}


def run(system: int) -> dict[str, dict[str, float]]:
    """Fifteen documents a query; the relevant ones, r1, r2, …, where this system finds them."""
    made = {}
    for query, found in queries.items():
        at = {rank: f"r{number}" for number, rank in enumerate(found[1 + system], start=1)}
        made[query] = {at.get(rank, f"n{rank}"): float(-rank) for rank in range(1, 16)}
    return made


qrels = {query: {f"r{number}": 1 for number in range(1, found[0] + 1)} for query, found in queries.items()}
results = cranfield.evaluate(qrels, {"A": run(0), "B": run(1)}, "Rprec")
difference = results.of("Rprec", "A") - results.of("Rprec", "B")
for query, one in zip(results.topics, difference, strict=True):
    bar = "█" * round(abs(one) * 20)
    print(f"query {query:>2}  {one:+.2f}  {bar if one < 0 else '':>20}|{bar if one > 0 else ''}")
print(f"A is better on {(difference > 0).sum()}, B on {(difference < 0).sum()} of {len(difference)} queries")

# In the order of the queries, as in the lecture; sorted, as by default, is easier to read when there are many.
save(results.plot.histogram(sort=False), str(folder / "precision-histogram.svg"))
print("drawn: precision-histogram.svg")
