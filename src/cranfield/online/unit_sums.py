"""The sums of units, computed where the log is: of every unit and arm, what the metrics of a trial add up."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from cranfield.online.arrow_columns import arrow_table
from cranfield.online.logs import Frame, Logs
from cranfield.online.metrics import Metric, QueryFacts, RatioOfSums
from cranfield.online.moments_files import MetricColumns
from cranfield.online.queries import DAY, USED, has_repeated_queries, queries_of
from cranfield.online.seen_events import SeenEvents, check_ranks, seen_events
from cranfield.online.unit_quantiles import arm_quantiles, at_or_below
from cranfield.online.units import QUERIES

if TYPE_CHECKING:
    from narwhals import Expr

    from cranfield.online.trial import Trial

EXPOSED, COMPLEMENT = "exposed", "complement"


@dataclass(frozen=True, eq=False)
class UnitSums:
    """What is summed of the queries of each unit for the metrics of a trial, and where each metric stands among it."""

    logs: Logs
    trial: Trial

    @cached_property
    def facts(self) -> QueryFacts:
        """What metrics ask of queries."""
        return QueryFacts(frozenset(self.logs.columns("impressions")), frozenset(self.logs.columns("events")))

    @cached_property
    def metrics(self) -> dict[str, Metric]:
        """The metrics of the trial, by how they are written."""
        return self.trial.resolved()

    @cached_property
    def ratios(self) -> dict[str, RatioOfSums]:
        """Numerators and denominators of the metrics."""
        return {name: metric.ratio(self.facts) for name, metric in self.metrics.items()}

    @cached_property
    def quantiles(self) -> dict[str, float]:
        """The metrics that are quantiles, and which."""
        return {name: ratio.quantile for name, ratio in self.ratios.items() if ratio.quantile is not None}

    @cached_property
    def limits(self) -> dict[str, dict[str, float]]:
        """The value of each such metric in each arm; it takes a pass of the queries of every arm."""
        if not self.quantiles:
            return {}
        shares = {name: dict.fromkeys(self.trial.arms, (share,)) for name, share in self.quantiles.items()}
        found = arm_quantiles(self, shares)
        return {name: {arm: float(values[0]) for arm, values in of.items()} for name, of in found.items()}

    @cached_property
    def seen(self) -> SeenEvents:
        """The events that the log has at all."""
        return seen_events(self.logs, ranks="rank" in self.facts.event_columns)

    @cached_property
    def repeated(self) -> bool:
        """Whether a query_id of the log stands in several rows."""
        return has_repeated_queries(self.logs)

    @cached_property
    def columns(self) -> dict[str, Expr]:
        """Every column that is summed, by name; of a quantile, how many values are at or below that of the arm."""
        found: dict[str, Expr] = {QUERIES: self.facts.one}
        for name, ratio in self.ratios.items():
            known = self.limits.get(name)
            found[f"{name}: numerator"] = ratio.numerator if known is None else at_or_below(ratio.numerator, known)
            if not ratio.per_unit and ratio.denominator is not self.facts.one:
                found[f"{name}: denominator"] = ratio.denominator
            if ratio.censored is not None:
                found[f"{name}: censored"] = ratio.censored
        return found

    def metric_columns(self, caps: Mapping[str, float]) -> tuple[MetricColumns, ...]:
        """Where each metric stands; `caps` are the values at which numerators of units are cut."""
        return tuple(self._columns_of(name, metric, caps.get(name)) for name, metric in self.metrics.items())

    def _columns_of(self, name: str, metric: Metric, cap: float | None) -> MetricColumns:
        ratio = self.ratios[name]
        below = None if ratio.per_unit else QUERIES if ratio.denominator is self.facts.one else f"{name}: denominator"
        censored = None if ratio.censored is None else f"{name}: censored"
        return MetricColumns(
            name, metric.better, metric.per, f"{name}: numerator", below, censored, cap, ratio.quantile
        )

    def queries(self, segments: Iterable[str] = ()) -> Frame:
        """A row for each query, with what metrics ask of it."""
        columns = self.columns  # asked first: they write down what they need
        assert columns
        check_ranks(self.logs, self.facts, self.seen)
        return queries_of(self.logs, self.trial, self.facts, segments, repeated=self.repeated)

    def collected(self, keys: Sequence[str] = (), *, with_excluded: bool = False) -> Any:
        """A row for each unit, arm and reason or key, with the sums of all metrics, as an Arrow table."""
        import narwhals as nw

        frame = self.queries([key for key in keys if key not in _KEYS])
        if not with_excluded:
            frame = frame.filter(nw.col("@reason") == USED)
        for key in keys:
            frame = (
                _KEYS[key](frame) if key in _KEYS else frame.with_columns(nw.col(key).cast(nw.String).alias(by(key)))
            )
        groups = ["@unit", "@arm", *(["@reason"] if with_excluded else []), *map(by, keys)]
        columns = {
            name: expression.cast(nw.Float64).fill_null(0.0).alias(name) for name, expression in self.columns.items()
        }
        counted = [nw.col("@events").fill_null(0.0).alias("@events"), nw.col("ts").alias("@first")]
        frame = frame.select(*groups, *columns.values(), *counted)
        sums = [nw.col(name).sum() for name in (*columns, "@events")]
        return arrow_table(frame.group_by(*groups).agg(*sums, nw.col("@first").min()))


def by(key: str) -> str:
    """The column that has the part of a key."""
    return f"@by {key}"


def _by_day(frame: Frame) -> Frame:
    import narwhals as nw

    return frame.with_columns((nw.col("ts") // DAY).alias(by("day")))


def _by_exposure(frame: Frame) -> Frame:
    """Days since a unit was first seen."""
    import narwhals as nw

    frame = _with_first(frame, frame)
    return frame.with_columns(((nw.col("ts") - nw.col("@seen")) // DAY).alias(by("exposure")))


def _by_trigger(frame: Frame) -> Frame:
    """Whether a query is one from the first on for which the arms' lists differ: what follows may follow from that."""
    import narwhals as nw

    frame = _with_first(frame, frame.filter(nw.col("trigger").fill_null(False)))
    since = (nw.col("ts") >= nw.col("@seen")).fill_null(False)
    return frame.with_columns(nw.when(since).then(nw.lit(EXPOSED)).otherwise(nw.lit(COMPLEMENT)).alias(by("triggered")))


def _with_first(frame: Frame, of: Frame) -> Frame:
    """The frame with when the first of some queries of each unit was, `@seen`; null where it has none."""
    import narwhals as nw

    first = of.group_by("@unit").agg(nw.col("ts").min().alias("@seen")).rename({"@unit": "@who"})
    return frame.join(first, left_on="@unit", right_on="@who", how="left")


_KEYS = {"day": _by_day, "exposure": _by_exposure, "triggered": _by_trigger}
