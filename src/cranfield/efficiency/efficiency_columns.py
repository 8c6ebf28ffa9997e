"""Figures of efficiency as columns beside measures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cranfield.efficiency.resources import FIGURES
from cranfield.records import NamedTuple

Figures = Mapping[str, Sequence[float | None]]
UNKNOWN = "–"


class Unit(NamedTuple):
    """How a unit is shown to people: under which name, divided by what, with how many decimals."""

    name: str
    size: float
    decimals: int


UNITS = {"ms": Unit("ms", 1, 3), "s": Unit("s", 1, 2), "/s": Unit("/s", 1, 0), "bytes": Unit("MB", 1e6, 3)}


def header(name: str) -> str:
    """What stands above a column that people read.

    >>> header("p99"), header("index")
    ('p99 ms', 'index MB')
    """
    return f"{name} {UNITS[FIGURES[name].unit].name}"


def exact_header(name: str) -> str:
    """What stands above a column for machines, which has the numbers as they were measured.

    >>> exact_header("p99"), exact_header("index")
    ('p99 ms', 'index bytes')
    """
    return f"{name} {FIGURES[name].unit}"


def shown(name: str, value: float | None) -> str:
    """A figure as people read it.

    >>> shown("p99", 1.23456), shown("index", 1234567.0), shown("p99", None)
    ('1.235', '1.235', '–')
    """
    if value is None:
        return UNKNOWN
    unit = UNITS[FIGURES[name].unit]
    return f"{value / unit.size:,.{unit.decimals}f}"


def cells(figures: Figures, run: int) -> list[str]:
    """A run's figures as people read them.

    >>> cells({"p99": (4.0, None)}, 0)
    ['4.000']
    """
    return [shown(name, values[run]) for name, values in figures.items()]


def exact(figures: Figures, run: int) -> dict[str, float | None]:
    """A run's figures as they were measured.

    >>> exact({"p99": (4.0, None)}, 1)
    {'p99': None}
    """
    return {name: values[run] for name, values in figures.items()}
