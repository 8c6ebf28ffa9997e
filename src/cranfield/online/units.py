"""Units with their sums: which of them count, those that sent no query, caps, and what was known of them before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cranfield.errors import DataError
from cranfield.online.arrow_columns import (
    Flags,
    Numbers,
    Strings,
    arrow_table,
    chosen,
    codes,
    is_among,
    numbered,
    objects,
    places,
    texts,
)
from cranfield.online.moments_files import Excluded, MetricColumns
from cranfield.online.queries import USED, arms_of
from cranfield.online.unit_quantiles import Lines
from cranfield.statistics.moments import Moments
from cranfield.statistics.significance import Floats

if TYPE_CHECKING:
    from cranfield.online.logs import Logs
    from cranfield.online.trial import Trial

IN_TWO_ARMS = "of a unit in two arms"
# Reasons that say what a unit is: who has one does not count as a unit without queries either.
_OF_UNITS = ("of an excluded unit", "of a bot", IN_TWO_ARMS, "of a heavy unit")
QUERIES = "queries"  # the column of how many queries a unit has, which is the denominator of many metrics
COUNTED = (QUERIES, "@events")
PRE = "pre: "  # before the names of covariates


@dataclass(frozen=True)
class Units:
    """Units with their sums: `sums[column]` has a value for each; `first` is when it was first seen, or -1."""

    ids: Any  # an Arrow array
    arms: Strings
    sums: dict[str, Floats]
    first: Numbers

    def moments(self, rows: Flags) -> Moments:
        """The moments of some of them."""
        return Moments.of({name: values[rows] for name, values in self.sums.items()})


class UnitTable(NamedTuple):
    """Units with their sums, and where each metric stands among these."""

    units: Units
    metrics: tuple[MetricColumns, ...]


@dataclass(frozen=True)
class CountedUnits:
    """The units that count, what does not by reason, and which units are left out for what they are.

    `caps` are the values at which numerators are cut, `capped` how many units were; `unknown` how many have no value of
    a covariate; `lines` are the quantiles of arms, and `cut` has those for which there are too few units.
    """

    units: Units
    excluded: tuple[Excluded, ...]
    left_out: Any  # an Arrow array of ids
    caps: Mapping[str, float] = field(default_factory=dict)
    capped: Mapping[str, int] = field(default_factory=dict)
    unknown: Mapping[str, int] = field(default_factory=dict)
    lines: Lines = field(default_factory=dict)
    cut: tuple[str, ...] = ()


def counted_units(rows: Any, columns: Sequence[str], *, assigned: bool) -> CountedUnits:
    """The units of collected rows: those that count apart from what does not.

    Where no assignments say who is in which arm, that a unit is in two is seen only here.
    """
    known, reasons = numbered(rows.column("@reason").combine_chunks())
    known = [*known, USED, IN_TWO_ARMS]
    counts = {name: rows.column(name).to_numpy() for name in COUNTED}
    number = codes(rows.column("@unit"))
    used = reasons == known.index(USED)
    if not assigned:
        twice = np.bincount(number[used], minlength=number.max(initial=-1) + 1) > 1
        reasons = np.where(used & twice[number], known.index(IN_TWO_ARMS), reasons)
        used = reasons == known.index(USED)
    excluded = []
    for reason in sorted({known[each] for each in np.unique(reasons)} - {USED}):
        of = reasons == known.index(reason)
        queries, events = (int(counts[name][of].sum()) for name in COUNTED)
        excluded.append(Excluded(reason, len(np.unique(number[of])), queries, events))
    of_units = [place for place, reason in enumerate(known) if reason in _OF_UNITS]
    return CountedUnits(
        units_of_rows(chosen(rows, used), columns),
        tuple(excluded),
        chosen(rows.column("@unit"), np.isin(reasons, of_units)),
    )


def units_of_rows(rows: Any, columns: Sequence[str]) -> Units:
    """The units of collected rows, with some of their columns."""
    sums = {name: rows.column(name).to_numpy().astype(np.float64) for name in columns}
    return Units(rows.column("@unit"), objects(rows.column("@arm")), sums, rows.column("@first").to_numpy())


def check_any(found: CountedUnits, logs: Logs) -> None:
    """Refuses a log of which nothing counts."""
    if not len(found.units.arms):
        told = "; ".join(f"{part.queries:,} queries {part.reason}" for part in found.excluded) or "it has no query"
        raise DataError(f"no unit of the log counts: {told}", source=logs.sources.get("impressions"))


def with_assigned(found: CountedUnits, logs: Logs, trial: Trial) -> CountedUnits:
    """The same with the units that were assigned and sent no query: they count too, with nothing."""
    if logs.assignments is None:
        return found
    import narwhals as nw
    import pyarrow as pa

    assigned = arms_of(logs, trial).filter(
        (nw.col("@first_arm") == nw.col("@last_arm")) & nw.col("@first_arm").is_in(list(trial.arms))
    )
    if "ts_first" in logs.columns("assignments") and trial.end is not None:
        end = round(trial.end.timestamp() * 1_000_000)
        assigned = assigned.filter((nw.col("@since") < end).fill_null(True))
    table, units = arrow_table(assigned), found.units
    ids = table.column("@assigned")
    silent = ~is_among(ids, units.ids) & ~is_among(ids, found.left_out)
    silent &= ~np.isin(texts(ids), list(trial.exclusions.units))
    more = chosen(ids, silent).cast(units.ids.type)
    return replace(found, units=_joined(units, more, objects(table.column("@first_arm"))[silent], pa))


def _joined(units: Units, ids: Any, arms: Strings, pa: Any) -> Units:
    """Units and more of them, which were never seen."""
    count = len(arms)
    return Units(
        pa.chunked_array([*units.ids.chunks, *ids.chunks], type=units.ids.type),
        np.concatenate([units.arms, arms]),
        {name: np.concatenate([values, np.zeros(count)]) for name, values in units.sums.items()},
        np.concatenate([units.first, np.full(count, -1)]),
    )


def arms_in_log(logs: Logs, trial: Trial) -> tuple[str, tuple[str, ...]]:
    """The file that says who is in which arm, and the arms that it has."""
    import narwhals as nw

    if logs.assignments is None:
        table, frame = "impressions", logs.impressions.select(nw.col("variant").alias("@arm"))
    else:
        table, frame = "assignments", arms_of(logs, trial).select(nw.col("@first_arm").alias("@arm"))
    rows = arrow_table(frame.group_by("@arm").agg(nw.len().alias("@units")))
    names = sorted(str(arm) for arm in rows.column("@arm").to_pylist() if arm is not None)
    return logs.sources.get(table, table), tuple(names)


def with_caps(found: CountedUnits, trial: Trial) -> CountedUnits:
    """The numerators of units cut at the caps of the trial, which are found over all arms together."""
    caps, capped, sums = {}, {}, dict(found.units.sums)
    for name, cap in trial.winsorise.items():
        column = f"{name}: numerator"
        limit = cap.value if cap.value is not None else float(np.quantile(sums[column], cap.quantile or 1.0))
        caps[name], capped[name] = limit, int(np.sum(sums[column] > limit))
        sums[column] = np.minimum(sums[column], limit)
    return replace(found, units=replace(found.units, sums=sums), caps=caps, capped=capped)


def with_covariates(found: CountedUnits, logs: Logs, trial: Trial) -> CountedUnits:
    """The same with what was known of units before: 0 where nothing is."""
    if not trial.covariates:
        return found
    import narwhals as nw

    if logs.covariates is None:
        raise DataError(f"the trial has covariates ({', '.join(trial.covariates)}), the log has none")
    of_trial = logs.covariates.filter(nw.col("metric").is_in(list(trial.covariates)))
    table = arrow_table(of_trial.group_by("unit_id", "metric").agg(nw.col("value").cast(nw.Float64).sum()))
    metric = objects(table.column("metric"))
    sums, unknown = dict(found.units.sums), {}
    for name in trial.covariates:
        mine = chosen(table, metric == name)
        if not len(mine):
            raise DataError(
                f"the covariate {name} is not in the table of covariates", source=logs.sources.get("covariates")
            )
        place = places(found.units.ids, mine.column("unit_id"))
        values = mine.column("value").to_numpy()
        sums[f"{PRE}{name}"] = np.where(place >= 0, values[np.maximum(place, 0)], 0.0)
        unknown[name] = int((place < 0).sum())
    return replace(found, units=replace(found.units, sums=sums), unknown=unknown)
