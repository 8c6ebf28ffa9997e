"""What a log of an earlier time tells of an experiment to come: how units vary, and how many come in how many weeks.

Units that come back are not counted again: twice the time gives fewer than twice the units, and their sums have another
variance. So both are taken from the log, for one week, two weeks and so on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from math import isnan, log, sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cranfield.errors import DataError
from cranfield.online.aggregation import pooled_units
from cranfield.online.analysis.estimates import ratio_of
from cranfield.online.arrow_columns import arrow_table
from cranfield.online.units import PRE, UnitTable
from cranfield.statistics.moments import Moments
from cranfield.statistics.significance import Floats

if TYPE_CHECKING:
    from cranfield.online.logs import Logs
    from cranfield.online.trial import Trial

MOST_WEEKS = 26  # that are looked ahead


class SeenPeriod(NamedTuple):
    """So many days of a log: the units seen in them, and what the metric's value and spread over units are.

    `sd` is that of what a unit adds to the metric: over the root of the units it is the metric's standard error.
    `told` says that the log has these days; others are drawn on from it.
    """

    days: int
    units: int
    value: float
    sd: float
    told: bool = True


@dataclass(frozen=True)
class PrePeriod:
    """What is known beforehand of a metric: its value and spread by weeks, and what earlier behaviour explains of it.

    `explained` is the share of the variance, and `explained_by` says what does it. `growth` is the power of time by
    which units grew in the second half of the log: 1 if nobody came back, 0 if nobody came anew.
    """

    metric: str
    periods: tuple[SeenPeriod, ...]
    explained: float = 0.0
    explained_by: str = ""
    growth: float = 1.0

    def after(self, weeks: int) -> SeenPeriod:
        """The units of so many weeks: of the log, or drawn on by how it grew.

        >>> PrePeriod("ctr", (SeenPeriod(7, 100, 0.4, 0.5),), growth=0.5).after(4).units
        200
        """
        for period in self.periods:
            if period.days == 7 * weeks:
                return period
        last = self.periods[-1]
        units = round(last.units * (7 * weeks / last.days) ** self.growth)
        return last._replace(days=7 * weeks, units=units, told=False)


def pre_period(logs: Logs, trial: Trial) -> PrePeriod:
    """What a log of an earlier time tells of the trial's primary metric; the trial's own times do not count.

    >>> from cranfield.online import read_logs, read_trial
    >>> before = pre_period(read_logs("examples"), read_trial("examples/experiment.toml"))
    >>> [(period.days, period.units) for period in before.periods]
    [(7, 31)]
    """
    start, days = _span(logs)
    weeks = range(1, days // 7 + 1)
    known = logs.covariates is not None and trial.covariates
    caps = {name: cap for name, cap in trial.winsorise.items() if name == trial.primary}
    plan = replace(
        trial,
        covariates=trial.covariates if known else (),
        segments=(),
        guardrails=(),
        secondary=(),
        winsorise=caps,
    )
    spans = [7 * week for week in weeks] or [days]
    tables = [pooled_units(logs, _within(plan, start, timedelta(days=span))) for span in spans]
    periods = tuple(_period(table, trial.primary, span) for table, span in zip(tables, spans, strict=True))
    if known:
        explained, by = _explained(tables[-1], trial), f"the covariates {', '.join(trial.covariates)}"
    elif days >= 14:
        half = timedelta(days=days // 2)
        explained, by = _of_halves(logs, plan, start, half), "what units did in the first half of the log"
    else:
        explained, by = 0.0, ""
    grown = _growth(tables[-1], start, spans[-1])
    return PrePeriod(trial.primary, periods, explained, by if explained else "", grown)


def _growth(table: UnitTable, start: datetime, days: int) -> float:
    """The power of time by which the units of a log grew over its second half."""
    middle = (start + timedelta(days=days / 2)).timestamp() * 1e6
    early, units = int((table.units.first < middle).sum()), len(table.units.first)
    return float(np.clip(log(units / early) / log(2), 0.0, 1.0)) if early else 1.0


def _span(logs: Logs) -> tuple[datetime, int]:
    """The first day of a log, and how many days it has."""
    import narwhals as nw

    ends = logs.impressions.select(nw.col("ts").min().alias("first"), nw.col("ts").max().alias("last"))
    first, last = (arrow_table(ends).column(name)[0].as_py() for name in ("first", "last"))
    if first is None or last is None:
        raise DataError("has no query with a time", source=logs.sources.get("impressions"))
    day = 86_400_000_000
    begins = datetime.fromtimestamp(first // day * 86_400, UTC)
    return begins, int(last // day - first // day + 1)


def _within(trial: Trial, start: datetime, length: timedelta) -> Trial:
    return replace(trial, start=start, end=start + length)


def _period(table: UnitTable, metric: str, days: int) -> SeenPeriod:
    columns = next(each for each in table.metrics if each.name == metric)
    everyone = np.ones(len(table.units.arms), dtype=np.bool_)
    value = ratio_of(columns).of(table.units.moments(everyone))
    sd = sqrt(value.variance * value.units) if not isnan(value.variance) else float("nan")
    return SeenPeriod(days, value.units, value.value, sd)


def _explained(table: UnitTable, trial: Trial) -> float:
    """The share of the variance of the metric that the covariates explain."""
    known = np.stack([table.units.sums[f"{PRE}{name}"] for name in trial.covariates], axis=1)
    return _share(_added(table, trial.primary), known)


def _added(table: UnitTable, metric: str) -> Floats:
    """What each unit adds to the metric."""
    columns = next(each for each in table.metrics if each.name == metric)
    sums: Mapping[str, Floats] = table.units.sums
    return ratio_of(columns).linearised(sums, Moments.of(sums))


def _share(values: Floats, known: Floats) -> float:
    centred = known - known.mean(axis=0)
    around = values - values.mean()
    total = float(around @ around)
    if total == 0 or len(values) <= centred.shape[1] + 2:
        return 0.0
    fitted = centred @ np.linalg.lstsq(centred, around, rcond=None)[0]
    return float(np.clip(fitted @ fitted / total, 0.0, 0.999))


def _of_halves(logs: Logs, plan: Trial, start: datetime, half: timedelta) -> float:
    """What the first half of the log explains of the metric of the same units in the second."""
    first = pooled_units(logs, _within(plan, start, half))
    second = pooled_units(logs, _within(plan, start + half, half))
    columns = next(each for each in first.metrics if each.name == plan.primary)
    names = [name for name in (columns.numerator, columns.denominator) if name is not None]
    place = {unit: row for row, unit in enumerate(first.units.ids.to_pylist())}
    rows = np.array([place.get(unit, -1) for unit in second.units.ids.to_pylist()])
    before = np.stack([np.where(rows >= 0, first.units.sums[name][rows], 0.0) for name in names], axis=1)
    return _share(_added(second, plan.primary), before)
