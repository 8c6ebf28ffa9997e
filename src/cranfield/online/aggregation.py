"""The one aggregation: a log becomes sums of each unit, and these become moments of each arm.

The queries and the sums of units are computed where the log is (`queries`), a pass for each kind of part; what comes
back has a row for each unit, of which NumPy makes moments here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from cranfield.errors import DataError, shorten
from cranfield.online.logs import Frame, Logs
from cranfield.online.metrics import Metric, QueryFacts, RatioOfSums
from cranfield.online.moments_files import SEGMENT, WHOLE, Aggregate, Excluded, MetricColumns, MomentsPart
from cranfield.online.queries import DAY, USED, arms_of, queries_of
from cranfield.statistics.moments import Moments
from cranfield.statistics.significance import Floats

if TYPE_CHECKING:
    from cranfield.online.trial import Trial

Strings: TypeAlias = "NDArray[np.object_]"
Told: TypeAlias = Callable[[Any], str]
IN_TWO_ARMS = "of a unit in two arms"
# Reasons that say what a unit is: who has one does not count as a unit without queries either.
_OF_UNITS = ("of an excluded unit", "of a bot", IN_TWO_ARMS, "of a heavy unit")
QUERIES = "queries"  # the column of how many queries a unit has, which is the denominator of many metrics
PRE = "pre: "  # before the names of covariates


def aggregate(logs: Logs, trial: Trial, *, parts: Sequence[str] = ("segments", "day", "exposure")) -> Aggregate:
    """Reduces a log to the moments that its trial needs, by arm; and by part: `segments`, `day` and `exposure` (days
    since a unit was first seen), each of which takes a pass over the log.

    Units are those of the assignments, if there are any: one without queries counts with nothing. The part by the day
    on which units were first seen costs nothing more, and so does `triggered`, if the log says which queries are.

    >>> from cranfield.online import read_logs, read_trial
    >>> found = aggregate(read_logs("examples"), read_trial("examples/experiment.toml"), parts=())
    >>> found.digest, sorted(found.of("triggered"))
    ('508af3c94c5d2ebb', ['complement', 'exposed'])
    """
    return _Aggregation(logs, trial).run(parts)


def units_of(logs: Logs, trial: Trial) -> UnitTable:
    """The units of a log with their sums, as `aggregate` has them before it makes moments of each arm.

    >>> from cranfield.online import read_logs, read_trial
    >>> units, metrics = units_of(read_logs("examples"), read_trial("examples/experiment.toml"))
    >>> len(units.arms), metrics[0].name
    (59, 'ctr')
    """
    aggregation = _Aggregation(logs, trial)
    units = aggregation.prepared(*aggregation.split(aggregation.collected([], with_excluded=True)))
    return UnitTable(units, aggregation.metric_columns())


def pooled_units(logs: Logs, trial: Trial) -> UnitTable:
    """The units of a log in which nothing was tried yet, all of them together: what an experiment is planned from.

    >>> from cranfield.online import read_logs, read_trial
    >>> units, _ = pooled_units(read_logs("examples"), read_trial("examples/experiment.toml"))
    >>> set(units.arms.tolist())
    {'bm25'}
    """
    import narwhals as nw

    names = [name for name in logs.columns("impressions") if name not in ("variant", "experiment")]
    shown = logs.impressions.select(*names).with_columns(nw.lit(trial.control).alias("variant"))
    aggregation = _Aggregation(replace(logs, impressions=shown, assignments=None), trial)
    units, excluded = aggregation.split(aggregation.collected([], with_excluded=True))
    aggregation.check_any(units, excluded)
    aggregation.cap(units)
    aggregation.add_covariates(units)
    return UnitTable(units, aggregation.metric_columns())


@dataclass(frozen=True)
class Units:
    """Units with their sums: `sums[column]` has a value for each; `first` is when it was first seen, or -1."""

    ids: Any  # an Arrow array
    arms: Strings
    sums: dict[str, Floats]
    first: NDArray[np.int64]
    triggered: NDArray[np.bool_] | None = None

    def moments(self, rows: NDArray[np.bool_]) -> Moments:
        """The moments of some of them."""
        return Moments.of({name: values[rows] for name, values in self.sums.items()})


class UnitTable(NamedTuple):
    """Units with their sums, and where each metric stands among these."""

    units: Units
    metrics: tuple[MetricColumns, ...]


class _Aggregation:
    def __init__(self, logs: Logs, trial: Trial) -> None:
        self.logs, self.trial = logs, trial
        self.facts = QueryFacts(frozenset(logs.columns("impressions")), frozenset(logs.columns("events")))
        self.metrics = trial.resolved()
        self.ratios = {name: metric.ratio(self.facts) for name, metric in self.metrics.items()}
        self.caps: dict[str, float] = {}
        self.capped: dict[str, int] = {}
        self.unknown: dict[str, int] = {}

    def run(self, parts: Sequence[str]) -> Aggregate:
        impressions = self.logs.columns("impressions")
        own = [name for name in self.trial.segments if name not in self.logs.columns("assignments")]
        missing = [name for name in own if name not in impressions]
        if missing:
            known = ", ".join(dict.fromkeys([*impressions, *self.logs.columns("assignments")]))
            raise DataError(
                f"the segment {missing[0]} is a column neither of impressions nor of assignments",
                remedy=f"They have: {known}.",
            )
        rows = self.collected([], with_excluded=True)
        used, excluded = self.split(rows)
        units = self.prepared(used, excluded)
        slices = [*self.sliced(WHOLE, units, np.full(len(units.arms), "", dtype=object))]
        slices += self.by_unit(units)
        if "segments" in parts:
            for name in self.trial.segments:
                slices += self.by_query(name, units) if name in own else self.by_assigned(name, units)
        for part in ("day", "exposure"):
            if part in parts:
                slices += self.by_query(part, units)
        counts = {name: int(rows.column(name).to_numpy().sum()) for name in ("@queries", "@events")}
        return Aggregate(
            experiment=self.trial.name,
            digest=self.trial.digest,
            unit=self.trial.unit,
            arms=tuple(self.trial.arms),
            metrics=self.metric_columns(),
            slices=tuple(slices),
            units=len(units.arms),
            queries=counts["@queries"] - sum(part.queries for part in excluded),
            events=counts["@events"] - sum(part.events for part in excluded),
            excluded=(*excluded, *self.unmatched(counts["@events"])),
            covariates=tuple(f"{PRE}{name}" for name in self.trial.covariates),
            capped=self.capped,
            unknown_covariates=self.unknown,
        )

    # -- where the log is --

    def frame(self, segments: Iterable[str] = ()) -> Frame:
        return queries_of(self.logs, self.trial, self.facts, segments)

    def collected(self, keys: Sequence[str], *, with_excluded: bool = False) -> Any:
        """A row for each unit, arm and reason or key, with the sums of all metrics, as an Arrow table."""
        import narwhals as nw

        named = [key for key in keys if key not in ("day", "exposure")]
        frame = self.frame(named)
        if not with_excluded:
            frame = frame.filter(nw.col("@reason") == USED)
        frame = _keyed(frame, keys)
        groups = ["@unit", "@arm", *(["@reason"] if with_excluded else []), *(f"@by {key}" for key in keys)]
        columns = {
            name: expression.cast(nw.Float64).fill_null(0.0).alias(name) for name, expression in self.columns().items()
        }
        trigger = self.has_trigger
        counted = [
            nw.lit(1).alias("@queries"),
            nw.col("@events").fill_null(0).alias("@events"),
            nw.col("ts").alias("@first"),
        ]
        if trigger:
            counted.append(nw.col("trigger").fill_null(False).cast(nw.Int64).alias("@triggered"))
        frame = frame.select(*groups, *columns.values(), *counted)
        sums = [nw.col(name).sum() for name in (*columns, "@queries", "@events", *(["@triggered"] if trigger else []))]
        return _arrow(frame.group_by(*groups).agg(*sums, nw.col("@first").min()))

    @property
    def has_trigger(self) -> bool:
        return "trigger" in self.logs.columns("impressions")

    def columns(self) -> dict[str, Any]:
        """Every column that is summed, by name."""
        found: dict[str, Any] = {QUERIES: self.facts.one}
        for name, ratio in self.ratios.items():
            found[f"{name}: numerator"] = ratio.numerator
            if not ratio.per_unit and ratio.denominator is not self.facts.one:
                found[f"{name}: denominator"] = ratio.denominator
            if ratio.censored is not None:
                found[f"{name}: censored"] = ratio.censored
        return found

    def metric_columns(self) -> tuple[MetricColumns, ...]:
        return tuple(self.columns_of(name, metric) for name, metric in self.metrics.items())

    def columns_of(self, name: str, metric: Metric) -> MetricColumns:
        ratio: RatioOfSums = self.ratios[name]
        below = None if ratio.per_unit else QUERIES if ratio.denominator is self.facts.one else f"{name}: denominator"
        censored = None if ratio.censored is None else f"{name}: censored"
        return MetricColumns(
            name, metric.better, metric.per, f"{name}: numerator", below, censored, self.caps.get(name)
        )

    # -- here --

    def split(self, rows: Any) -> tuple[Units, list[Excluded]]:
        """The units that count, and what does not, by reason."""
        known, reasons = _numbered(rows.column("@reason").combine_chunks())
        known = [*known, USED, IN_TWO_ARMS]
        counts = {name: rows.column(name).to_numpy() for name in ("@queries", "@events")}
        codes = _codes(rows.column("@unit"))
        used = reasons == known.index(USED)
        if self.logs.assignments is None:  # who is in two arms is seen only now
            twice = np.bincount(codes[used], minlength=codes.max(initial=-1) + 1) > 1
            reasons = np.where(used & twice[codes], known.index(IN_TWO_ARMS), reasons)
            used = reasons == known.index(USED)
        excluded = []
        for reason in sorted({known[number] for number in np.unique(reasons)} - {USED}):
            of = reasons == known.index(reason)
            queries, events = (int(counts[name][of].sum()) for name in ("@queries", "@events"))
            excluded.append(Excluded(reason, len(np.unique(codes[of])), queries, events))
        of_units = [number for number, reason in enumerate(known) if reason in _OF_UNITS]
        self.left_out = _chosen(rows.column("@unit"), np.isin(reasons, of_units))
        kept = rows.filter(_mask(used))
        sums = {name: kept.column(name).to_numpy().astype(np.float64) for name in self.columns()}
        triggered = kept.column("@triggered").to_numpy() > 0 if self.has_trigger else None
        arms = kept.column("@arm").to_numpy(zero_copy_only=False).astype(object)
        return Units(kept.column("@unit"), arms, sums, kept.column("@first").to_numpy(), triggered), excluded

    def prepared(self, units: Units, excluded: list[Excluded]) -> Units:
        """Units without queries added, numerators cut at their caps, covariates beside them."""
        units = self.with_assigned(units)
        counts = {arm: int(np.sum(units.arms == arm)) for arm in self.trial.arms}
        self.check_any(units, excluded)
        empty = [arm for arm, count in counts.items() if not count]
        if empty:
            raise DataError(f"no unit is in the arm {empty[0]}", source=self.logs.sources.get("impressions"))
        self.cap(units)
        self.add_covariates(units)
        return units

    def check_any(self, units: Units, excluded: Sequence[Excluded]) -> None:
        """Refuses a log of which nothing counts."""
        if not len(units.arms):
            told = "; ".join(f"{part.queries:,} queries {part.reason}" for part in excluded) or "it has no query"
            raise DataError(f"no unit of the log counts: {told}", source=self.logs.sources.get("impressions"))

    def with_assigned(self, units: Units) -> Units:
        """Units that were assigned and sent no query count too, with nothing."""
        if self.logs.assignments is None:
            return units
        import narwhals as nw

        columns = self.logs.columns("assignments")
        assigned = arms_of(self.logs, self.trial).filter(
            (nw.col("@first_arm") == nw.col("@last_arm")) & nw.col("@first_arm").is_in(list(self.trial.arms))
        )
        if "ts_first" in columns and self.trial.end is not None:
            end = round(self.trial.end.timestamp() * 1_000_000)
            assigned = assigned.filter((nw.col("@since") < end).fill_null(True))
        table = _arrow(assigned)
        ids = table.column("@assigned")
        known = ~_isin(ids, units.ids) & ~_isin(ids, self.left_out)
        known &= ~np.isin(_texts(ids), list(self.trial.exclusions.units))
        count = int(known.sum())
        import pyarrow as pa

        arms = table.column("@first_arm").to_numpy(zero_copy_only=False).astype(object)[known]
        more = ids.filter(_mask(known)).cast(units.ids.type)
        return Units(
            pa.chunked_array([*units.ids.chunks, *more.chunks], type=units.ids.type),
            np.concatenate([units.arms, arms]),
            {name: np.concatenate([values, np.zeros(count)]) for name, values in units.sums.items()},
            np.concatenate([units.first, np.full(count, -1)]),
            None if units.triggered is None else np.concatenate([units.triggered, np.zeros(count, dtype=np.bool_)]),
        )

    def cap(self, units: Units) -> None:
        """Cuts the numerators of units at the caps of the trial, found over all arms together."""
        for name, cap in self.trial.winsorise.items():
            column = f"{name}: numerator"
            values = units.sums[column]
            limit = cap.value if cap.value is not None else float(np.quantile(values, cap.quantile or 1.0))
            self.caps[name] = limit
            self.capped[name] = int(np.sum(values > limit))
            units.sums[column] = np.minimum(values, limit)

    def add_covariates(self, units: Units) -> None:
        """Adds what was known of units before: 0 where nothing is."""
        if not self.trial.covariates:
            return
        import narwhals as nw

        if self.logs.covariates is None:
            raise DataError(f"the trial has covariates ({', '.join(self.trial.covariates)}), the log has none")
        names = list(self.trial.covariates)
        chosen = self.logs.covariates.filter(nw.col("metric").is_in(names))
        summed = chosen.group_by("unit_id", "metric").agg(nw.col("value").cast(nw.Float64).sum())
        table = _arrow(summed)
        metric = table.column("metric").to_numpy(zero_copy_only=False)
        for name in names:
            of = _mask(metric == name)
            places = _places(units.ids, table.column("unit_id").filter(of))
            values = table.column("value").filter(of).to_numpy()
            if not len(values):
                raise DataError(
                    f"the covariate {name} is not in the table of covariates",
                    source=self.logs.sources.get("covariates"),
                )
            known = places >= 0
            units.sums[f"{PRE}{name}"] = np.where(known, values[np.maximum(places, 0)], 0.0)
            self.unknown[name] = int((~known).sum())

    # -- parts --

    def sliced(self, by: str, units: Units, values: Strings | NDArray[np.int64], told: Told = str) -> list[MomentsPart]:
        """The moments of each arm and value, as it is told; a value of None or below 0 belongs to no part."""
        known, numbers = _numbered(values)
        arms, places = _numbered(units.arms)
        parts = sorted(
            (told(value), number) for number, value in enumerate(known) if isinstance(value, str) or value >= 0
        )
        number_of = {arm: number for number, arm in enumerate(arms)}
        return [
            MomentsPart(by, name, arm, units.moments((numbers == number) & (places == number_of.get(arm, -1))))
            for name, number in parts
            for arm in self.trial.arms
        ]

    def by_unit(self, units: Units) -> list[MomentsPart]:
        """Parts that units themselves tell: the day on which they were first seen, and whether they were exposed."""
        slices = self.sliced("first day", units, units.first // DAY, _day)  # below 0 where they were never seen
        if units.triggered is not None and units.triggered.any():
            exposed = np.where(units.triggered, "exposed", "complement").astype(object)
            slices += self.sliced("triggered", units, exposed)
        return slices

    def by_assigned(self, segment: str, units: Units) -> list[MomentsPart]:
        """A segment that the assignments tell: every unit is in one, whatever it did."""
        import narwhals as nw

        assert self.logs.assignments is not None
        chosen = self.logs.assignments.group_by("unit_id").agg(nw.col(segment).cast(nw.String).min())
        table = _arrow(chosen)
        places = _places(units.ids, table.column("unit_id"))
        values = table.column(segment).to_numpy(zero_copy_only=False).astype(object)
        told: Strings = np.asarray(np.where(places >= 0, values[np.maximum(places, 0)], None), dtype=object)
        return self.sliced(f"{SEGMENT}{segment}", units, told)

    def by_query(self, key: str, units: Units) -> list[MomentsPart]:
        """A part that queries tell: a unit may be in several, with its queries there; caps and covariates stay."""
        rows = self.collected([key])
        rows = rows.filter(_mask(_isin(rows.column("@unit"), units.ids)))
        sums = {name: rows.column(name).to_numpy().astype(np.float64) for name in self.columns()}
        for name, limit in self.caps.items():
            sums[f"{name}: numerator"] = np.minimum(sums[f"{name}: numerator"], limit)
        places = _places(rows.column("@unit"), units.ids)
        for name in self.trial.covariates:
            sums[f"{PRE}{name}"] = units.sums[f"{PRE}{name}"][places]
        arms = rows.column("@arm").to_numpy(zero_copy_only=False).astype(object)
        part = Units(rows.column("@unit"), arms, sums, rows.column("@first").to_numpy())
        value = rows.column(f"@by {key}")
        if key in ("day", "exposure"):
            days = value.fill_null(-1).to_numpy().astype(np.int64)
            return self.sliced(key, part, days, _day if key == "day" else "{:04d}".format)
        return self.sliced(f"{SEGMENT}{key}", part, value.to_numpy(zero_copy_only=False).astype(object))

    def unmatched(self, matched: int) -> list[Excluded]:
        """Events that belong to no query of the log, or came too late."""
        import narwhals as nw

        count = int(_arrow(self.logs.events.select(nw.len().alias("n"))).column("n")[0].as_py())
        missing = count - matched
        reason = "events without a query, duplicates or late ones"
        return [Excluded(reason, 0, 0, missing)] if missing > 0 else []


def _keyed(frame: Frame, keys: Sequence[str]) -> Frame:
    """The frame with a column for each key by which it is grouped."""
    import narwhals as nw

    for key in keys:
        if key == "day":
            frame = frame.with_columns((nw.col("ts") // DAY).alias("@by day"))
        elif key == "exposure":
            first = frame.group_by("@unit").agg(nw.col("ts").min().alias("@seen")).rename({"@unit": "@who"})
            frame = frame.join(first, left_on="@unit", right_on="@who", how="left")
            frame = frame.with_columns(((nw.col("ts") - nw.col("@seen")) // DAY).alias("@by exposure"))
        else:
            frame = frame.with_columns(nw.col(key).cast(nw.String).alias(f"@by {key}"))
    return frame


def _day(number: int) -> str:
    return datetime.fromtimestamp(number * 86_400, UTC).date().isoformat()


def _arrow(frame: Frame) -> Any:
    """The rows of a lazy frame as an Arrow table; what an engine finds wrong with a file is told as ours."""
    try:
        return frame.collect(backend="pyarrow").to_native()
    except Exception as error:
        if type(error).__module__.partition(".")[0] not in ("duckdb", "_duckdb", "polars"):
            raise
        raise DataError(f"the log cannot be read: {shorten(' '.join(str(error).split()), 300)}") from None


def _mask(rows: NDArray[np.bool_]) -> Any:
    import pyarrow as pa

    return pa.array(rows)


def _codes(column: Any) -> NDArray[np.int64]:
    """A number for each value, the same for the same."""
    encoded = column.combine_chunks().dictionary_encode(null_encoding="encode")
    codes: NDArray[np.int64] = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    return codes


def _numbered(values: Any) -> tuple[list[Any], NDArray[np.int64]]:
    """The different values of an array, and for each row the number of its own, -1 where there is none."""
    import pyarrow as pa

    encoded = (pa.array(values) if isinstance(values, np.ndarray) else values).dictionary_encode()
    return encoded.dictionary.to_pylist(), encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)


def _chosen(column: Any, rows: NDArray[np.bool_]) -> Any:
    return column.filter(_mask(rows))


def _places(column: Any, among: Any) -> NDArray[np.int64]:
    """Where each value stands among others, or -1."""
    import pyarrow as pa
    import pyarrow.compute as pc

    others = among.cast(column.type)
    others = others.combine_chunks() if isinstance(others, pa.ChunkedArray) else others
    found = pc.fill_null(pc.index_in(column, value_set=others), -1)
    return np.asarray(found.to_numpy(), dtype=np.int64)


def _isin(column: Any, among: Any) -> NDArray[np.bool_]:
    return _places(column, among) >= 0


def _texts(column: Any) -> Strings:
    import pyarrow as pa

    return np.asarray(column.cast(pa.string()).to_numpy(zero_copy_only=False), dtype=object)
