"""Rows of pictures as columns: what many rows and many pictures have in common is carried once."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import NamedTuple, TypeAlias

import numpy as np

from cranfield.render.json_form import Json
from cranfield.statistics.effects import Effects
from cranfield.statistics.significance import Floats, Integers

Row: TypeAlias = Mapping[str, Json]
Found: TypeAlias = dict[str, Json] | None  # where a column is to be had from; None where it is not
CALLED = {"gain": "difference", "value": "adjusted_p"}  # what pictures call it: what it is of a pair
MINUS = " − "  # between the names of a pair


class PairFigures(NamedTuple):
    """What a measure says of system i and system j, by [i, j]: either way round, NaN where nothing."""

    difference: Floats
    low: Floats
    high: Floats
    adjusted_p: Floats

    @classmethod
    def of(cls, pairs: Integers, systems: int, effects: Effects, adjusted: Floats) -> PairFigures:
        """Those of the pairs that were compared, each also turned round."""

        def square(straight: Floats, turned: Floats) -> Floats:
            made = np.full((systems, systems), np.nan)
            made[pairs[:, 0], pairs[:, 1]] = straight
            made[pairs[:, 1], pairs[:, 0]] = turned
            return made

        return cls(
            square(effects.mean, -effects.mean),
            square(effects.low, -effects.high),
            square(effects.high, -effects.low),
            square(adjusted, adjusted),
        )


class KnownNumbers:
    """The numbers that the page has anyway: scores[system, measure, topic], and of each measure its pairs; with the
    names by which rows call systems and topics.
    """

    def __init__(
        self, systems: Sequence[str], topics: Sequence[str], scores: Floats, pairs: Sequence[PairFigures] = ()
    ) -> None:
        self._systems = {name: number for number, name in enumerate(systems)}
        self._topics = {name: number for number, name in enumerate(topics)}
        self._scores, self._pairs = scores, pairs

    def column(self, name: str, values: Sequence[Json], rows: Sequence[Row]) -> Found:
        """Where the page has these values of these rows already, exactly; None where it has not."""
        if "system" not in rows[0] or not all(isinstance(value, float) for value in values):
            return None
        numbers = np.array(values, dtype=np.float64)
        systems = self._places(rows, "system", self._systems)
        topics, others = self._places(rows, "topic", self._topics), self._places(rows, "other", self._systems)
        if systems is not None and topics is not None:
            same = (self._scores[systems, :, topics] == numbers[:, None]).all(axis=0)
            return {"scores": int(np.argmax(same))} if same.any() else None
        if systems is not None and others is not None:
            return self._pair_column(CALLED.get(name, name), (systems, others), numbers)
        return None

    def _pair_column(self, figure: str, at: tuple[Integers, Integers], numbers: Floats) -> Found:
        for measure, figures in enumerate(self._pairs if figure in PairFigures._fields else ()):
            held = getattr(figures, figure)[at]
            for sign in (1, -1):
                if (sign * held == numbers).all():
                    return {"pairs": measure, "figure": figure, "sign": sign}
        return None

    @staticmethod
    def _places(rows: Sequence[Row], field: str, numbers: Mapping[str, int]) -> Integers | None:
        """The number of what each row names in a field; None where one names something else, or nothing."""
        places = [numbers.get(str(row.get(field))) for row in rows]
        return None if None in places else np.array(places, dtype=np.int64)


class ColumnPool:
    """Lists that are carried once, and tables of rows made of them.

    >>> columns = ColumnPool(KnownNumbers(["a"], ["1", "2"], np.array([[[0.5, 0.25]]])))
    >>> rows = [{"system": "a", "topic": "1", "score": 0.5}, {"system": "a", "topic": "2", "score": 0.25}, {"x": 1}]
    >>> columns.table(rows)[0]["columns"]
    {'system': {'all': 'a'}, 'topic': {'list': 0}, 'score': {'scores': 0}}
    >>> columns.table(rows)[1], columns.lists
    ({'count': 1, 'columns': {'x': {'all': 1}}}, [['1', '2']])
    """

    def __init__(self, known: KnownNumbers) -> None:
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
        known = self._known.column(name, values, rows)
        if known is not None:
            return known
        if name == "pair" and all(
            value == f"{row['system']}{MINUS}{row['other']}" for value, row in zip(values, rows, strict=True)
        ):
            return {"joined": MINUS}
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
