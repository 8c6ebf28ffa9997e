"""Rows of pictures as columns: what many rows and many pictures have in common is carried once."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import groupby

import numpy as np

from cranfield.judged import Floats
from cranfield.render.json_form import Json

Row = Mapping[str, Json]


class ScoreTable:
    """The scores that the page has anyway: scores[system, measure, topic] with the names by which rows call them."""

    def __init__(self, systems: Sequence[str], topics: Sequence[str], scores: Floats) -> None:
        self.systems = {name: number for number, name in enumerate(systems)}
        self.topics = {name: number for number, name in enumerate(topics)}
        self.scores = scores

    def measure_of(self, systems: Sequence[Json], topics: Sequence[Json], values: Sequence[Json]) -> int | None:
        """The number of the measure whose scores these are, exactly, of these systems on these topics; else None."""
        rows, columns = [self.systems.get(str(name)) for name in systems], [self.topics.get(str(t)) for t in topics]
        if None in rows or None in columns or not all(isinstance(value, float) for value in values):
            return None
        of_rows = self.scores[rows, :, columns]
        same = (of_rows == np.array(values, dtype=np.float64)[:, None]).all(axis=0)
        return int(np.argmax(same)) if same.any() else None


class Columns:
    """Lists that are carried once, and tables of rows made of them.

    >>> columns = Columns(ScoreTable(["a"], ["1", "2"], np.array([[[0.5, 0.25]]])))
    >>> rows = [{"system": "a", "topic": "1", "score": 0.5}, {"system": "a", "topic": "2", "score": 0.25}, {"x": 1}]
    >>> columns.table(rows)[0]["columns"]
    {'system': {'all': 'a'}, 'topic': {'list': 0}, 'score': {'scores': 0}}
    >>> columns.table(rows)[1], columns.lists
    ({'count': 1, 'columns': {'x': {'all': 1}}}, [['1', '2']])
    """

    def __init__(self, known: ScoreTable) -> None:
        self.lists: list[list[Json]] = []
        self._known = known
        self._numbers: dict[str, int] = {}

    def table(self, rows: Sequence[Row]) -> list[dict[str, Json]]:
        """Rows as parts, each with the rows that follow each other and have the same fields."""
        parts: list[dict[str, Json]] = []
        for names, group in groupby(rows, tuple):
            of_part = list(group)
            columns: dict[str, Json] = {name: self._column(name, of_part) for name in names}
            parts.append({"count": len(of_part), "columns": columns})
        return parts

    def _column(self, name: str, rows: Sequence[Row]) -> dict[str, Json]:
        values = [row[name] for row in rows]
        if all(value == values[0] and type(value) is type(values[0]) for value in values):
            return {"all": values[0]}
        if {"system", "topic"} <= rows[0].keys() and name not in ("system", "topic"):
            measure = self._known.measure_of([row["system"] for row in rows], [row["topic"] for row in rows], values)
            if measure is not None:
                return {"scores": measure}
        distinct = {value: number for number, value in enumerate(dict.fromkeys(values))} if _are_texts(values) else {}
        if distinct and 2 * len(distinct) <= len(values):
            return {"of": self._list(list(distinct)), "at": self._list([distinct[value] for value in values])}
        return {"list": self._list(values)}

    def _list(self, values: list[Json]) -> int:
        written = json.dumps(values)
        if written not in self._numbers:
            self._numbers[written] = len(self.lists)
            self.lists.append(values)
        return self._numbers[written]


def _are_texts(values: Sequence[Json]) -> bool:
    return all(isinstance(value, str) for value in values)
