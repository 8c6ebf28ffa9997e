"""Which of a comparison's tables and columns are shown: those that were named, or what a paper has room for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from cranfield.errors import UsageError, some
from cranfield.render.grid import Grid

UNCORRECTED = ", uncorrected"  # after the head of p-values that nothing corrects


class Part(NamedTuple):
    """A table under a title, with what must be said below it; `paper` is how many of its columns a paper shows."""

    title: str
    grid: Grid
    below: tuple[str, ...] = ()
    paper: int | None = None


def for_paper(parts: Sequence[Part]) -> list[Part]:
    """The tables that a paper shows if nothing else is asked for: means, and what options asked for."""
    kept = (part if part.paper is None else _with(part, range(part.paper)) for part in parts)
    return [part for part in kept if len(part.grid.header) > part.grid.labels]


def only(parts: Sequence[Part], columns: Sequence[str]) -> list[Part]:
    """The columns of these names, in this order, and the tables that have any of them.

    >>> means, pairs = Grid(["run", "AP", "RR"], []), Grid(["pair", "difference", "95% interval", "p (t)"], [])
    >>> [part.grid.header for part in only([Part("", means), Part("AP", pairs)], ["RR", "interval"])]
    [['run', 'RR'], ['pair', '95% interval']]
    >>> only([Part("", means)], ["R"])
    Traceback (most recent call last):
    cranfield.errors.UsageError: there is no column 'R' to show; there are AP, RR
    """
    headers = list(dict.fromkeys(name for part in parts for name in part.grid.header[part.grid.labels :]))
    for column in columns:
        if not any(_is_called(header, column) for header in headers):
            raise UsageError(f"there is no column '{column}' to show; there are {some(headers, len(headers))}")
    kept = (_with(part, _places(part.grid, columns)) for part in parts)
    return [part for part in kept if len(part.grid.header) > part.grid.labels]


def _places(grid: Grid, columns: Sequence[str]) -> list[int]:
    """The numbers of a table's columns, counted without those that hold names."""
    headers = grid.header[grid.labels :]
    return list(dict.fromkeys(i for column in columns for i, text in enumerate(headers) if _is_called(text, column)))


def _is_called(header: str, name: str) -> bool:
    """Whether a column goes by a name: its own, or that without the level of an interval, the name of a test or what
    is said of it. An adjusted p is a p too: nobody who asks for p is left with those that nothing corrects.

    >>> [name for name in ("p", "p (t)", "adjusted p") if _is_called("p (t), uncorrected", name)]
    ['p', 'p (t)']
    >>> _is_called("adjusted p", "p")
    True
    """
    plain = header.removesuffix(UNCORRECTED)
    return name in (header, plain, plain.split(" (")[0], plain.split("% ")[-1], plain.removeprefix("adjusted "))


def _with(part: Part, columns: Sequence[int]) -> Part:
    return part._replace(grid=part.grid.only([part.grid.labels + i for i in columns]))
