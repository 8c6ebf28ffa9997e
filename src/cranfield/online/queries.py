"""The queries of a log with all that metrics need of them: the first half of the aggregation, in Narwhals.

Every step is one that DuckDB, Polars and Spark all have, so that the same lines run on each.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from cranfield.errors import DataError
from cranfield.online.logs import Frame, Logs
from cranfield.online.metrics import EventFact, QueryFacts

if TYPE_CHECKING:
    from narwhals import Expr

    from cranfield.online.trial import Trial

DAY = 86_400_000_000  # microseconds
USED = ""  # in place of a reason to leave a query out
AFTER_END = "after the end"
REPEATED = "with a query_id that stood there before"
_INVARIANT = ("any", "least", "greatest")  # what a duplicate does not change


def has_repeated_queries(logs: Logs) -> bool:
    """Whether a query_id stands in several rows of the impressions: to look costs less than to be ready for it.

    A log without any query is refused.
    """
    import narwhals as nw

    from cranfield.online.arrow_columns import arrow_table

    ids = logs.impressions.select("query_id").drop_nulls()
    counted = arrow_table(ids.select(nw.col("query_id").n_unique().alias("ids"), nw.len().alias("rows")))
    [counts] = counted.to_pylist()
    if not counts["rows"]:
        raise DataError("has no query: there is no row with a query_id", source=logs.sources.get("impressions"))
    return bool(counts["ids"] < counts["rows"])


def queries_of(
    logs: Logs,
    trial: Trial,
    facts: QueryFacts,
    segments: Iterable[str] = (),
    *,
    repeated: bool = False,
    events: bool = True,
) -> Frame:
    """A row for each query: `@unit`, `@arm`, `@reason` why it does not count or nothing, `ts`, the facts asked for.

    Where query_ids may be `repeated`, the earliest row of each is the query, and the others do not count. Without
    `events` nothing is said of these.
    """
    import narwhals as nw

    known = logs.columns("impressions")
    if trial.unit not in known:
        raise DataError(
            f"the impressions have no column {trial.unit}, which is the unit of the trial",
            source=logs.sources.get("impressions"),
            remedy=f"They have: {', '.join(known)}.",
        )
    if logs.assignments is None and "variant" not in known:
        raise DataError(
            "nothing says who is in which arm: the impressions have no column variant, and there are no assignments",
            source=logs.sources.get("impressions"),
        )
    asked = {name for name in facts.wants if not name.startswith("@")}
    kept = {"query_id", "ts", *asked, *segments} | ({"variant", "experiment", "is_bot", "trigger"} & set(known))
    frame = logs.impressions.select(nw.col(trial.unit).alias("@unit"), *(nw.col(name) for name in sorted(kept)))
    frame, arm = _with_arm(frame, logs, trial)
    frame = frame.with_columns(arm.alias("@arm"))
    frame = _with_place(frame, trial, known, kept) if repeated else frame
    frame = _with_reason(frame, logs, trial, known)
    frame = _with_windows(frame, facts)
    return _with_events(frame, logs, trial, facts) if events else frame


def _with_place(frame: Frame, trial: Trial, known: list[str], kept: Iterable[str]) -> Frame:
    """Which of the rows with its query_id each one is, `@place`: 1 is the earliest, whatever the order of the table.

    Of a log with several experiments those of others are looked at apart: a query may be of several.
    """
    import narwhals as nw

    other = (nw.col("experiment") != trial.name).fill_null(False) if "experiment" in known else nw.lit(False)
    frame = frame.with_columns(other.alias("@elsewhere"))
    order = ["ts", "@unit", *sorted(set(kept) - {"ts", "query_id", "docs"})]
    place = nw.col("query_id").cum_count().over("query_id", "@elsewhere", order_by=order)
    return frame.with_columns(place.alias("@place"))


def _with_arm(frame: Frame, logs: Logs, trial: Trial) -> tuple[Frame, Expr]:
    """The arm from the assignments, where there are any: who was shown something is known only after the treatment."""
    import narwhals as nw

    if logs.assignments is None:
        return frame, nw.col("variant")
    return frame.join(arms_of(logs, trial), left_on="@unit", right_on="@assigned", how="left"), nw.col("@first_arm")


def arms_of(logs: Logs, trial: Trial) -> Frame:
    """A row for each unit assigned in this trial: `@assigned`, `@first_arm`, `@last_arm` (another one if it has two)
    and, if it is known, `@since`.
    """
    import narwhals as nw

    columns = logs.columns("assignments")
    table = logs.assignments
    assert table is not None
    if "experiment" in columns:
        table = table.filter((nw.col("experiment") == trial.name).fill_null(True))
    since = [nw.col("ts_first").min().alias("@since")] if "ts_first" in columns else []
    grouped = table.with_columns(nw.col("variant").alias("@variant")).group_by("unit_id")
    arms = grouped.agg(nw.col("variant").min().alias("@first_arm"), nw.col("@variant").max().alias("@last_arm"), *since)
    return arms.rename({"unit_id": "@assigned"})


def _with_reason(frame: Frame, logs: Logs, trial: Trial, known: list[str]) -> Frame:
    """Why a query does not count; the first reason that holds."""
    import narwhals as nw

    exclusions = trial.exclusions
    arm, unit = nw.col("@arm"), nw.col("@unit")
    reasons: list[tuple[str, Expr]] = []
    if "experiment" in known:
        reasons.append(("of another experiment", nw.col("experiment") != trial.name))
    once = frame
    if "@place" in frame.collect_schema().names():
        again = nw.col("@place") > 1
        reasons.append((REPEATED, again))
        once = frame.filter(~again)
    if trial.start is not None:
        reasons.append(("before the start", nw.col("ts") < _micros(trial.start.timestamp())))
    if trial.end is not None:
        reasons.append((AFTER_END, nw.col("ts") >= _micros(trial.end.timestamp())))
    reasons += [("without time", nw.col("ts").is_null()), ("without unit", unit.is_null())]
    if exclusions.units:
        reasons.append(("of an excluded unit", unit.cast(nw.String).is_in(list(exclusions.units))))
    if exclusions.bots and "is_bot" in known:
        reasons.append(("of a bot", nw.col("is_bot")))
    reasons += [("without arm", arm.is_null()), ("of an unknown arm", ~arm.is_in(list(trial.arms)))]
    if logs.assignments is not None:
        reasons.append(("of a unit in two arms", nw.col("@first_arm") != nw.col("@last_arm")))
        if "ts_first" in logs.columns("assignments"):
            reasons.append(("before the assignment", nw.col("ts") < nw.col("@since")))
    if exclusions.queries_per_day is not None:
        per_day = once.group_by("@unit", (nw.col("ts") // DAY).alias("@day")).agg(nw.len().alias("@queries"))
        heavy = per_day.group_by("@unit").agg(nw.col("@queries").max().alias("@most"))
        frame = frame.join(heavy.rename({"@unit": "@heavy"}), left_on="@unit", right_on="@heavy", how="left")
        reasons.append(("of a heavy unit", nw.col("@most") > exclusions.queries_per_day))
    reason: Expr = nw.lit(USED)
    for name, holds in reversed(reasons):
        reason = nw.when(holds.fill_null(False)).then(nw.lit(name)).otherwise(reason)
    return frame.with_columns(reason.alias("@reason"))


def _micros(seconds: float) -> int:
    return round(seconds * 1_000_000)


def _with_windows(frame: Frame, facts: QueryFacts) -> Frame:
    """What depends on other queries of the same unit or session; queries that do not count are looked at apart."""
    import narwhals as nw

    unit = ("@unit", "@reason")
    if "@session" in facts.wants:
        together = nw.col("query_id").count().over(*unit, "session_id")
        frame = frame.with_columns((nw.lit(1.0) / together).alias("@session"))
    if "@gap" in facts.wants:
        order = ("ts", "query_id")
        following = [nw.col("ts").shift(-1).over(*unit, order_by=order).alias("@next")]
        if "@other" in facts.wants:
            following.append(nw.col("query_text").shift(-1).over(*unit, order_by=order).alias("@next_text"))
        frame = frame.with_columns(*following)
        frame = frame.with_columns(((nw.col("@next") - nw.col("ts")) / 1_000_000).alias("@gap"))
        if "@other" in facts.wants:
            frame = frame.with_columns((nw.col("@next_text") != nw.col("query_text")).fill_null(True).alias("@other"))
    return frame


def _with_events(frame: Frame, logs: Logs, trial: Trial, facts: QueryFacts) -> Frame:
    """What happened after each query; null where nothing did."""
    import narwhals as nw

    late = trial.exclusions.late_hours
    needs_time = late is not None or any(fact.value == "@after" for fact in facts.events.values())
    events = logs.events
    columns = logs.columns("events")
    repeated = "@place" in frame.collect_schema().names()
    wanted = {"query_id", "action"} | _columns_of(facts)
    if trial.exclusions.duplicates and any(fact.how not in _INVARIANT for fact in facts.events.values()):
        alike: list[str] = [name for name in ("query_id", "ts", "action", "doc_id", "rank", "value") if name in columns]
        keys = ["event_id"] if "event_id" in columns else alike
        events = _without_duplicates(events, keys, [name for name in columns if name in {*wanted, *alike}])
    if needs_time:
        if "ts" not in columns:
            raise DataError(
                "the events have no column ts, which is needed to tell when they were",
                source=logs.sources.get("events"),
            )
        asked = frame.select("query_id", nw.col("ts").alias("@asked"))
        if repeated:
            asked = asked.group_by("query_id").agg(nw.col("@asked").min())
        events = events.join(asked, on="query_id", how="inner")
        events = events.with_columns(((nw.col("ts") - nw.col("@asked")) / 1_000_000).alias("@after"))
        if late is not None:
            events = events.filter((nw.col("@after") <= late * 3600).fill_null(True))
    frame = frame.join(_summed(events, facts), on="query_id", how="left")
    if not repeated:
        return frame
    counted = nw.when(nw.col("@reason") == REPEATED).then(nw.lit(0.0)).otherwise(nw.col("@events"))
    return frame.with_columns(counted.alias("@events"))  # events belong to the query once


def _columns_of(facts: QueryFacts) -> set[str]:
    named = {fact.value for fact in facts.events.values()} | {
        fact.least[0] for fact in facts.events.values() if fact.least is not None
    }
    placed = {"ts"} if any(fact.place or fact.value == "@after" for fact in facts.events.values()) else set()
    return {name for name in named if name and not name.startswith("@")} | placed


def _without_duplicates(events: Frame, keys: list[str], kept: list[str]) -> Frame:
    """One row for each event: of several with the same keys one, by least values, whatever their order."""
    import narwhals as nw

    others = [nw.col(name).min() for name in dict.fromkeys(kept) if name not in keys]
    if keys == ["event_id"]:  # those without an id are no duplicates of each other
        named = events.filter(~nw.col("event_id").is_null()).group_by("event_id").agg(*others)
        bare = events.filter(nw.col("event_id").is_null())
        names = [name for name in kept if name != "event_id"]
        return nw.concat([named.select(*names), bare.select(*names)], how="vertical")
    return events.group_by(*keys).agg(*others)


def _summed(events: Frame, facts: QueryFacts) -> Frame:
    """A row for each query that has events, with every fact of them."""
    import narwhals as nw

    columns, sums = [], []
    places = {fact.place for fact in facts.events.values()} - {None}
    if places:
        clicks = nw.when(nw.col("action") == "click").then(nw.col("ts"))
        events = events.with_columns(clicks.alias("@click_ts"))
        events = events.with_columns(
            nw.col("@click_ts").min().over("query_id").alias("@first"),
            nw.col("@click_ts").max().over("query_id").alias("@last"),
        )
    for fact in facts.events.values():
        columns.append(_value(fact).alias(fact.name))
        column = nw.col(fact.name)
        sums.append({"sum": column.sum, "any": column.max, "least": column.min, "greatest": column.max}[fact.how]())
    # Counts are floats, here and where units are added up: engines take whole ones for sums without an end, and longer.
    events = events.with_columns(*columns, nw.lit(1.0).alias("@event"))
    return events.group_by("query_id").agg(*sums, nw.col("@event").sum().alias("@events"))


def _value(fact: EventFact) -> Expr:
    """What an event adds to a fact, or null where it does not belong to it."""
    import narwhals as nw

    belongs: Expr = nw.lit(True) if fact.action is None else nw.col("action") == fact.action
    if fact.least is not None:
        belongs = belongs & (nw.col(fact.least[0]) >= fact.least[1])
    if fact.place is not None:
        belongs = belongs & (nw.col("ts") == nw.col("@first" if fact.place == "first" else "@last"))
    value = nw.lit(1.0) if not fact.value else nw.col(fact.value).cast(nw.Float64)
    return nw.when(belongs.fill_null(False)).then(value)
