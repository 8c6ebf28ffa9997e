"""A lecture's second figure: curves averaged over queries, and two systems whose curves cross.

Takes the folder to draw into; without one the picture goes to a temporary folder.
"""

import sys
import tempfile
from pathlib import Path

from cranfield import Experiment
from cranfield.plot.curves import interpolated
from cranfield.plot.lines import lines
from cranfield.plot.saving import save

folder = Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp())


def ranking(found_at: list[int]) -> dict[str, float]:
    """A ranking with relevant documents, r1, r2, …, at these ranks, and others in between."""
    at = {rank: f"r{number}" for number, rank in enumerate(found_at, start=1)}
    return {at.get(rank, f"n{rank}"): float(-rank) for rank in range(1, max(found_at) + 1)}


# The first query has three relevant documents, which system A finds at ranks 3, 8 and 15. The second has twenty, at
# ranks that give the precision of the lecture's table: 50 50 50 40 30 30 30 20 20 20 10.
relevant = {"q1": 3, "q2": 20}
qrels = {query: {f"r{number}": 1 for number in range(1, count + 1)} for query, count in relevant.items()}
second = [2, 4, 6, 8, 10, 15, 18, 27, 30, 34, 37, 40, 44, 70, 75, 80, 85, 90, 95, 200]
a = {"q1": ranking([3, 8, 15]), "q2": ranking(second)}
# System B is better at the top and worse further down.
b = {"q1": ranking([1, 10, 30]), "q2": ranking([1, 2, 4, 7, 12, 20, 30, 40, 52, 64, *range(80, 180, 10)])}
experiment = Experiment(qrels, {"A": a, "B": b})

by_query = interpolated(experiment, topics=["q1", "q2"])
average = interpolated(experiment)
print("recall ", " ".join(f"{level * 10:5d}" for level in range(11)))
for query in qrels:
    print(f"A on {query}", " ".join(f"{100 * precision:5.1f}" for _, precision in by_query.of("A", query)))
for system in ("A", "B"):
    print(f"{system} mean ", " ".join(f"{100 * precision:5.1f}" for _, precision in average.of(system)))

# Which system is better? The curves do not say: they cross. A measure that weighs recall against precision does.
crossings = [x for (x, one), (_, other) in zip(average.of("A"), average.of("B"), strict=True) if one > other]
print(f"A is above B from recall {min(crossings):.0%} on")
save(lines(average, y_domain=(0.0, 1.0)), str(folder / "average-curves.svg"))
print("drawn: average-curves.svg")
