"""What runs cost: from a table, or from what was measured."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from cranfield.efficiency.metadata import costs_of
from cranfield.efficiency.resources import FIGURES
from cranfield.errors import DataError, shorten
from cranfield.formats.attributes import read_attributes
from cranfield.numerals import decimal


class Costs(NamedTuple):
    """A number for each run, and what it is called."""

    label: str
    of: dict[str, float]


def measured_costs(runs: Sequence[str], cost: str) -> Costs:
    """From what `cranfield search` measured."""
    costs = costs_of(runs, cost)  # which knows the costs there are
    return Costs(FIGURES[cost].title, costs)


def read_costs(path: str) -> Costs:
    """From CSV or TSV with a header: the run first, then its cost, which is called as its column."""
    table = read_attributes(path, of="run")
    label = next(iter(next(iter(table.values()))))
    costs: dict[str, float] = {}
    for run, values in table.items():
        cost = decimal(values[label])
        if cost is None:
            problem = f"column '{label}': '{shorten(values[label], 60)}' of {run} is not a number that can be drawn"
            raise DataError(problem, source=path, remedy="Leave the run out.")
        costs[run] = cost
    return Costs(label, costs)
