"""Several runs at once: one of any kind, a list of them, or {name: run}; each under a name of its own."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, cast

from cranfield.errors import ArgumentError, UsageError
from cranfield.formats import distinct_names, read_run
from cranfield.formats.given import is_open, to_be_collected
from cranfield.formats.reading import DEFAULT, Reading
from cranfield.tables import Run, describe_type

if TYPE_CHECKING:
    from cranfield.formats.given import Given, GivenRuns, Nested


def named_runs(runs: GivenRuns) -> list[tuple[str | None, Given]]:
    """The runs one by one, with the names given to them: one run of any kind, a list of runs, or {name: run}."""
    if isinstance(runs, Mapping) and not _is_one_run(runs):
        named: list[tuple[str | None, Given]] = [(str(name), cast("Given", run)) for name, run in runs.items()]
    elif isinstance(runs, list) and not hasattr(next(iter(runs), None), "_fields"):
        named = [(None, run) for run in runs]
        if len(runs) > 1:
            named = [(None if _has_a_name(run) else f"run{i}", run) for i, run in enumerate(runs, start=1)]
    else:
        named = [(None, cast("Given", runs))]
    if not named:
        raise UsageError("no run given")
    return named


def read_runs(runs: GivenRuns, reading: Reading = DEFAULT) -> list[Run]:
    """The runs as tables, each under a name of its own.

    >>> [run.name for run in read_runs({"a": {"q1": {"d1": 1.0}}, "b": {"q1": {"d2": 1.0}}})]
    ['a', 'b']
    """
    return told_apart([read_run(run, name=name, reading=reading) for name, run in named_runs(runs)])


def told_apart(tables: list[Run]) -> list[Run]:
    """The same runs, no two of them under one name."""
    names = distinct_names([(table.name, table.origin.path) for table in tables])
    return [table if table.name == name else table.renamed(name) for table, name in zip(tables, names, strict=True)]


def _has_a_name(run: Given) -> bool:
    return isinstance(run, Run | str | os.PathLike) or is_open(run)


def is_ranked_run(runs: Mapping[str, Given | Sequence[Given]] | Nested) -> bool:
    """Whether this is {topic: [document, …]}, rather than runs under names, or files of one system under several seeds.

    >>> is_ranked_run({"q1": ["d2", "d1"]}), is_ranked_run({"dense": [{"q1": {"d1": 1.0}}]})
    (True, False)
    """
    first = next(iter(runs.values()), None)
    if not isinstance(first, list):
        return False
    return not any(isinstance(item, Run | Mapping | os.PathLike) or _is_path(item) or is_open(item) for item in first)


def _is_path(item: object) -> bool:
    return isinstance(item, str) and os.path.isfile(item)


def _is_one_run(runs: Mapping[str, Given | Sequence[Given]] | Nested) -> bool:
    """Whether this is {topic: {document: score}} or {topic: [document, …]} rather than {name: run}."""
    first = next(iter(runs.values()), None)
    if isinstance(first, Mapping):
        return not any(issubclass(kind, Mapping | list) for kind in {*map(type, first.values())})
    known = (
        isinstance(first, Run | str | os.PathLike | tuple)
        or hasattr(first, "read")
        or hasattr(first, "__arrow_c_stream__")
    )
    ranked = is_ranked_run(runs)
    if runs and not known and not ranked:
        raise ArgumentError(
            "expected {topic: {document: score}}, {topic: [document, …]} or {name: run}, but a value is "
            f"{'a list of runs' if isinstance(first, list) else describe_type(first)}",
            *to_be_collected(first),
        )
    return ranked or not runs
