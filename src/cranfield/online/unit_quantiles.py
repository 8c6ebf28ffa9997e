"""Metrics that are quantiles: what the arms have of them, and what each unit adds to that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from cranfield.online.arrow_columns import Strings, arrow_table
from cranfield.online.logs import Frame
from cranfield.online.metrics import QueryFacts
from cranfield.online.queries import USED, queries_of
from cranfield.statistics.clustered_quantiles import OuterShares, QuantileLine, outer_shares, quantile_line
from cranfield.statistics.significance import Floats

if TYPE_CHECKING:
    from narwhals import Expr

    from cranfield.online.unit_sums import UnitSums
    from cranfield.online.units import CountedUnits

# By metric and arm.
Lines: TypeAlias = Mapping[str, Mapping[str, QuantileLine]]
_ROUNDING = 1e-9  # of a quantile: values that are it by another rounding are at it


def arm_quantiles(sums: UnitSums, shares: Mapping[str, Mapping[str, Sequence[float]]]) -> dict[str, dict[str, Floats]]:
    """For each metric and arm the quantiles at some shares, over all queries that count; NaN where there are none."""
    import narwhals as nw

    frame = _values(sums)
    found: dict[str, dict[str, Floats]] = {name: {} for name in shares}
    for arm in sums.trial.arms:
        wanted = [(name, place, share) for name, of in shares.items() for place, share in enumerate(of[arm])]
        chosen = [nw.col(name).quantile(share, "linear").alias(f"{place} {name}") for name, place, share in wanted]
        table = arrow_table(frame.filter(nw.col("@arm") == arm).select(*chosen))
        for name, of in shares.items():
            values = [table.column(f"{place} {name}")[0].as_py() for place in range(len(of[arm]))]
            found[name][arm] = np.array([np.nan if value is None else value for value in values], dtype=np.float64)
    return found


def _values(sums: UnitSums) -> Frame:
    """A row for each query that counts: its arm, and the value of each metric that is a quantile."""
    import narwhals as nw

    logs, trial = sums.logs, sums.trial
    facts = QueryFacts(sums.facts.impressions, sums.facts.event_columns)
    values = {name: sums.metrics[name].ratio(facts).numerator for name in sums.quantiles}
    frame = queries_of(logs, trial, facts, repeated=sums.repeated, events=bool(facts.events))
    frame = frame.filter(nw.col("@reason") == USED)
    if logs.assignments is None:  # who is in two arms does not count
        ends = frame.group_by("@unit").agg(nw.col("@arm").min().alias("@least"), nw.col("@arm").max().alias("@most"))
        one = ends.filter(nw.col("@least") == nw.col("@most")).select(nw.col("@unit").alias("@who"))
        frame = frame.join(one, left_on="@unit", right_on="@who", how="inner")
    return frame.select("@arm", *(value.cast(nw.Float64).alias(name) for name, value in values.items()))


def at_or_below(value: Expr, limits: Mapping[str, float]) -> Expr:
    """Whether a value is at or below the limit of its arm."""
    import narwhals as nw

    limit: Expr = nw.lit(float("-inf"))
    for arm, at in limits.items():
        if not np.isnan(at):
            limit = nw.when(nw.col("@arm") == arm).then(nw.lit(at + _ROUNDING * abs(at))).otherwise(limit)
    return (value <= limit).fill_null(False)


def with_quantiles(found: CountedUnits, sums: UnitSums) -> CountedUnits:
    """Units whose counts at or below the quantile of their arm have become what they add to it."""
    if not sums.quantiles:
        return found
    units, around = found.units, dict[str, dict[str, OuterShares]]()
    for name, quantile in sums.quantiles.items():
        below, count = (units.sums[f"{name}: {which}"] for which in ("numerator", "denominator"))
        around[name] = {
            arm: outer_shares(quantile, below[units.arms == arm], count[units.arms == arm]) for arm in sums.trial.arms
        }
    ends = arm_quantiles(sums, {name: {arm: at[1:3] for arm, at in of.items()} for name, of in around.items()})
    lines = {
        name: {arm: quantile_line(sums.limits[name][arm], at, *ends[name][arm]) for arm, at in of.items()}
        for name, of in around.items()
    }
    cut = tuple(name for name, of in around.items() if any(at.cut for at in of.values()))
    return replace(found, units=replace(units, sums=on_lines(units.sums, units.arms, lines)), lines=lines, cut=cut)


def on_lines(sums: Mapping[str, Floats], arms: Strings, lines: Lines) -> dict[str, Floats]:
    """The sums of units with what they add to quantiles in place of their counts."""
    made = dict(sums)
    for name, of in lines.items():
        above, below = f"{name}: numerator", f"{name}: denominator"
        for arm, line in of.items():
            mine = arms == arm
            made[above] = np.where(mine, line.summed(made[above], made[below]), made[above])
    return made
