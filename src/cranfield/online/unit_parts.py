"""The moments of arms in parts of a log: of all units, by segment, day, exposure, and where the arms' lists differ."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, TypeAlias

import numpy as np

from cranfield.errors import DataError
from cranfield.online.arrow_columns import Numbers, Strings, arrow_table, chosen, is_among, numbered, objects, places
from cranfield.online.logs import Logs
from cranfield.online.moments_files import SEGMENT, WHOLE, MomentsPart
from cranfield.online.queries import DAY
from cranfield.online.unit_quantiles import on_lines
from cranfield.online.unit_sums import COMPLEMENT, EXPOSED, UnitSums, by
from cranfield.online.units import PRE, CountedUnits, Units, units_of_rows

Told: TypeAlias = Callable[[Any], str]


@dataclass(frozen=True, eq=False)
class UnitParts:
    """Makes parts of the units that count; `log` is where sums by part of the queries are computed."""

    log: UnitSums
    found: CountedUnits

    @property
    def units(self) -> Units:
        """All units that count."""
        return self.found.units

    def whole(self) -> list[MomentsPart]:
        """All units; and by the day on which each was first seen, which units themselves tell."""
        all_of_them = self._sliced(WHOLE, self.units, np.full(len(self.units.arms), "", dtype=object))
        # The first day is below 0 of units that were never seen.
        return all_of_them + self._sliced("first day", self.units, self.units.first // DAY, _day)

    def by_segment(self, name: str) -> list[MomentsPart]:
        """A segment that the assignments tell, or the impressions."""
        if name not in self.log.logs.columns("assignments"):
            return self.by_query(name)
        import narwhals as nw

        assignments = self.log.logs.assignments
        assert assignments is not None
        table = arrow_table(assignments.group_by("unit_id").agg(nw.col(name).cast(nw.String).min()))
        place = places(self.units.ids, table.column("unit_id"))
        nothing: Strings = np.full(len(place), None, dtype=object)
        told: Strings = np.where(place >= 0, objects(table.column(name))[np.maximum(place, 0)], nothing)
        return self._sliced(f"{SEGMENT}{name}", self.units, told)

    def by_query(self, key: str) -> list[MomentsPart]:
        """A part that queries tell: a unit may be in several, with its queries there; caps and covariates stay."""
        rows = self._collected(key)
        value = rows.column(by(key))
        if key in ("day", "exposure"):
            days = value.fill_null(-1).to_numpy().astype(np.int64)
            return self._sliced(key, self._part(rows), days, _day if key == "day" else "{:04d}".format)
        return self._sliced(f"{SEGMENT}{key}", self._part(rows), objects(value))

    def by_trigger(self) -> list[MomentsPart]:
        """Units from their first query on for which the arms' lists differ; and the complement: queries before that,
        and units without such a query, with all they did or with nothing.
        """
        if "trigger" not in self.log.logs.columns("impressions"):
            return []
        rows = self._collected("triggered")
        value = objects(rows.column(by("triggered")))
        if not np.any(value == EXPOSED):
            return []
        part, silent = self._part(rows), self.units.first < 0
        both = Units(
            part.ids,  # of those with queries: moments need none
            np.concatenate([part.arms, self.units.arms[silent]]),
            {name: np.concatenate([sums, self.units.sums[name][silent]]) for name, sums in part.sums.items()},
            np.concatenate([part.first, self.units.first[silent]]),
        )
        told = np.concatenate([value, np.full(int(silent.sum()), COMPLEMENT, dtype=object)])
        return self._sliced("triggered", both, told)

    def _collected(self, key: str) -> Any:
        rows = self.log.collected([key])
        return chosen(rows, is_among(rows.column("@unit"), self.units.ids))

    def _part(self, rows: Any) -> Units:
        part = units_of_rows(rows, list(self.log.columns))
        part = replace(part, sums=on_lines(part.sums, part.arms, self.found.lines))
        place = places(part.ids, self.units.ids)
        for name, limit in self.found.caps.items():
            part.sums[f"{name}: numerator"] = np.minimum(part.sums[f"{name}: numerator"], limit)
        for name in self.log.trial.covariates:
            part.sums[f"{PRE}{name}"] = self.units.sums[f"{PRE}{name}"][place]
        return part

    def _sliced(self, part: str, units: Units, values: Strings | Numbers, told: Told = str) -> list[MomentsPart]:
        """The moments of each arm and value, as it is told; a value of None or below 0 belongs to no part."""
        known, numbers = numbered(values)
        arms, arm_of = numbered(units.arms)
        named = sorted(
            (told(value), number) for number, value in enumerate(known) if isinstance(value, str) or value >= 0
        )
        number_of = {arm: number for number, arm in enumerate(arms)}
        return [
            MomentsPart(part, name, arm, units.moments((numbers == number) & (arm_of == number_of.get(arm, -1))))
            for name, number in named
            for arm in self.log.trial.arms
        ]


def check_segments(logs: Logs, segments: tuple[str, ...]) -> None:
    """Refuses a segment that no column has."""
    known = list(dict.fromkeys([*logs.columns("impressions"), *logs.columns("assignments")]))
    missing = [name for name in segments if name not in known]
    if missing:
        raise DataError(
            f"the segment {missing[0]} is a column neither of impressions nor of assignments",
            remedy=f"They have: {', '.join(known)}.",
        )


def _day(number: int) -> str:
    return datetime.fromtimestamp(number * 86_400, UTC).date().isoformat()
