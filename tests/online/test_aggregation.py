"""One aggregation: the same numbers as by hand, on every engine, and everything that is left out counted."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cranfield.errors import DataError, UsageError
from cranfield.online import Aggregate, Trial, added, aggregate, all_metrics, read_logs, read_moments
from cranfield.online.metrics import METRICS
from cranfield.online.trial import Cap, Exclusions, OwnMetric
from cranfield.statistics.moments import Moments
from made_logs import OF_ITS_OWN, SLOW, MadeLog, made_log, slow_sums

ARMS = {"A": 1.0, "B": 1.0}
ALL = tuple(name for name in SLOW if name != "ctr")


def polars_frames(log: MadeLog) -> dict[str, Any]:
    import polars as pl

    return {name: pl.DataFrame(rows, infer_schema_length=None) for name, rows in log._asdict().items()}


def arrow_tables(log: MadeLog) -> dict[str, Any]:
    return {name: frame.to_arrow() for name, frame in polars_frames(log).items()}


def pandas_frames(log: MadeLog) -> dict[str, Any]:
    return {name: table.to_pandas() for name, table in arrow_tables(log).items()}


def lazy_frames(log: MadeLog) -> dict[str, Any]:
    return {name: frame.lazy() for name, frame in polars_frames(log).items()}


def written(form: str) -> Callable[[MadeLog, Path], str]:
    def write(log: MadeLog, folder: Path) -> str:
        for name, frame in polars_frames(log).items():
            if form == "parquet":
                frame.write_parquet(folder / f"{name}.parquet")
                continue
            rows = [
                {key: value.isoformat() if hasattr(value, "isoformat") else value for key, value in row.items()}
                for row in getattr(log, name)
            ]
            if form == "jsonl.gz":
                import gzip

                with gzip.open(folder / f"{name}.jsonl.gz", "wt") as file:
                    file.writelines(json.dumps(row) + "\n" for row in rows)
            else:
                import polars as pl

                flat = [{k: json.dumps(v) if isinstance(v, list) else v for k, v in row.items()} for row in rows]
                pl.DataFrame(flat, infer_schema_length=None).write_csv(folder / f"{name}.csv")
        return str(folder)

    return write


def trial(**more: Any) -> Trial:
    return Trial("t", ARMS, "ctr", **more)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_every_metric_is_what_it_is_by_hand(seed: int) -> None:
    log = made_log(seed)
    found = aggregate(read_logs(arrow_tables(log)), trial(secondary=ALL), parts=())
    for name in SLOW:
        columns = found.metric(name)
        for arm, sums in slow_sums(log, name).items():
            moments = found.whole[arm]
            assert moments.count == len(sums), name
            above, below = np.array(list(sums.values())).T
            assert moments.mean(columns.numerator) == pytest.approx(above.mean(), rel=1e-9, abs=1e-12), name
            assert moments.variance(columns.numerator) == pytest.approx(above.var(ddof=1), rel=1e-9, abs=1e-12), name
            if columns.denominator is not None:
                assert moments.mean(columns.denominator) == pytest.approx(below.mean(), rel=1e-9), name
                covariance = np.cov(above, below)[0, 1]
                assert moments.covariance(columns.numerator, columns.denominator) == pytest.approx(
                    covariance, rel=1e-9, abs=1e-12
                ), name


def test_there_is_a_slow_form_of_every_metric() -> None:
    assert {METRICS.find(name).name for name in (*SLOW, *OF_ITS_OWN)} == {metric.name for metric in all_metrics()}
    assert {metric.better for metric in all_metrics()} == {"more", "less", "neither"}
    for metric in all_metrics():
        assert "Formula: " in metric.help, metric.name


SOURCES: dict[str, Callable[[MadeLog, Path], Any]] = {
    "polars": lambda log, folder: polars_frames(log),
    "polars lazy": lambda log, folder: lazy_frames(log),
    "arrow": lambda log, folder: arrow_tables(log),
    "pandas": lambda log, folder: pandas_frames(log),
    "parquet": written("parquet"),
    "jsonl.gz": written("jsonl.gz"),
    "csv": written("csv"),
}


@pytest.mark.parametrize("kind", [name for name in SOURCES if name != "polars"])
def test_engines_and_formats_give_the_same(kind: str, tmp_path: Path) -> None:
    log = made_log(7)
    plan = trial(
        secondary=ALL,
        segments=("device", "market"),
        covariates=("before",),
        winsorise={"value_per_unit": Cap(quantile=0.9)},
        exclusions=Exclusions(queries_per_day=3, late_hours=24),
    )
    expected = aggregate(read_logs(SOURCES["polars"](log, tmp_path)), plan)
    found = aggregate(read_logs(SOURCES[kind](log, tmp_path)), plan)
    assert_same(expected, found)
    assert {part.by for part in found.slices} == {
        *("all", "first day", "triggered", "day", "exposure", "segment:device", "segment:market")
    }
    assert {part.reason for part in found.excluded} >= {"of a bot", "of a heavy unit", "before the assignment"}


def assert_same(first: Aggregate, second: Aggregate) -> None:
    assert first.excluded == second.excluded
    assert first.capped == second.capped
    assert (first.units, first.queries, first.events) == (second.units, second.queries, second.events)
    assert [part[:3] for part in first.slices] == [part[:3] for part in second.slices]
    for one, other in zip(first.slices, second.slices, strict=True):
        assert one.moments.names == other.moments.names
        assert one.moments.count == other.moments.count
        np.testing.assert_allclose(one.moments.means, other.moments.means, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(one.moments.products, other.moments.products, rtol=1e-9, atol=1e-6)


def test_order_of_rows_changes_nothing() -> None:
    log = made_log(4)
    turned = MadeLog(*(list(reversed(rows)) for rows in log))
    plan = trial(secondary=ALL)
    assert_same(aggregate(read_logs(arrow_tables(log)), plan), aggregate(read_logs(arrow_tables(turned)), plan))


def test_exposed_units_count_from_their_first_trigger_on_and_the_complement_is_all_else() -> None:
    import pyarrow as pa

    rows = [("q1", "u1", None), ("q2", "u1", None), ("q3", "u1", None), ("q4", "u2", None), ("q5", "u3", None)]
    given = small([*rows, ("q6", "u4", None)], [{"query_id": q, "action": "click"} for q in ("q1", "q3", "q4", "q6")])
    triggered = pa.array([False, True, None, True, False, False])
    given["impressions"] = given["impressions"].append_column("trigger", triggered).drop_columns("variant")
    arms = {"u1": "A", "u2": "B", "u3": "A", "u4": "B", "u5": "B"}
    given["assignments"] = pa.table({"unit_id": list(arms), "variant": list(arms.values())})
    for logs in (given, {name: _polars(table) for name, table in given.items()}):
        found = aggregate(read_logs(logs), trial(), parts=["triggered"]).of("triggered")
        sums = {
            (part, arm): (of.count, of.count * of.mean("queries"), of.count * of.mean("ctr: numerator"))
            for part, arms_of in found.items()
            for arm, of in arms_of.items()
        }
        assert sums == {
            ("exposed", "A"): (1, 2, 1),  # q2 and q3 of u1
            ("exposed", "B"): (1, 1, 1),
            ("complement", "A"): (2, 2, 1),  # q1 of u1, and u3
            ("complement", "B"): (2, 1, 1),  # u4, and u5 who never came
        }
    untouched = given | {"impressions": given["impressions"].drop_columns("trigger")}
    assert aggregate(read_logs(untouched), trial(), parts=["triggered"]).of("triggered") == {}


def _polars(table: Any) -> Any:
    import polars as pl

    return pl.from_arrow(table)


@pytest.mark.parametrize("turned", [False, True])
def test_a_query_that_stands_in_several_rows_counts_once(turned: bool) -> None:
    rows = [
        ("q1", "u1", "A"),
        ("q2", "u2", "B"),
        ("q1", "u1", "A"),
        ("q1", "u9", "B"),
        (None, "u1", "A"),
        (None, "u2", "B"),
    ]
    events = [{"query_id": "q1", "action": action, "ts": 1_793_600_005_000_000} for action in ("click", "cart", "cart")]
    given = small(rows[::-1] if turned else rows, events)
    given["impressions"] = given["impressions"].set_column(
        3, "ts", given["impressions"]["ts"].take([5, 4, 3, 2, 1, 0] if turned else list(range(6)))
    )
    own = {"carts": OwnMetric("count(cart)")}
    plan = trial(
        secondary=("carts", "time_to_click"), metrics=own, exclusions=Exclusions(queries_per_day=3, duplicates=False)
    )
    for logs in (given, {name: _polars(_stamped(table)) for name, table in given.items()}):
        found = aggregate(read_logs(logs), plan)
        assert (found.units, found.queries, found.events) == (2, 4, 3)
        assert [(part.reason, part.units, part.queries, part.events) for part in found.excluded] == [
            ("with a query_id that stood there before", 2, 2, 0)
        ]
        assert found.whole["A"].mean("queries") == 2
        assert found.whole["A"].mean("carts: numerator") == 2
        assert found.whole["A"].mean("time_to_click: numerator") == 305


def _stamped(table: Any) -> Any:
    """Times of events as dates, which frames need."""
    import pyarrow as pa

    at = table.schema.get_field_index("ts")
    return table.set_column(at, "ts", table["ts"].cast(pa.timestamp("us", tz="UTC")))


def test_a_query_may_be_in_several_experiments() -> None:
    given = small([("q1", "u1", "A"), ("q2", "u2", "B"), ("q1", "u1", "X"), ("q2", "u2", "Y")])
    import pyarrow as pa

    given["impressions"] = given["impressions"].append_column("experiment", pa.array(["t", "t", "other", "other"]))
    found = aggregate(read_logs(given), trial(), parts=())
    assert (found.units, found.queries) == (2, 2)
    assert {part.reason: part.queries for part in found.excluded} == {"of another experiment": 2}


def test_units_in_two_arms_of_the_impressions_are_left_out() -> None:
    rows = [
        ("q1", "u1", "A"),
        ("q2", "u1", "B"),
        ("q3", "u2", "A"),
        ("q4", "u3", "B"),
        ("q5", "u4", "C"),
        ("q6", None, "A"),
    ]
    found = aggregate(read_logs(small(rows)), trial(), parts=())
    assert {arm: moments.count for arm, moments in found.whole.items()} == {"A": 1, "B": 1}
    assert {part.reason: (part.units, part.queries) for part in found.excluded} == {
        "of a unit in two arms": (1, 2),
        "of an unknown arm": (1, 1),
        "without unit": (1, 1),
    }


def small(
    rows: Sequence[tuple[str | None, str | None, str | None]], events: list[dict[str, Any]] | None = None
) -> dict[str, Any]:
    """Arrow tables of a few queries, a second after each other."""
    import pyarrow as pa

    stamps = pa.array([1_793_600_000_000_000 + 1_000_000 * place for place in range(len(rows))])
    impressions = {
        "query_id": [row[0] for row in rows],
        "user_id": pa.array([row[1] for row in rows], pa.string()),
        "variant": pa.array([row[2] for row in rows], pa.string()),
        "ts": stamps.cast(pa.timestamp("us", tz="UTC")),
    }
    given = events if events is not None else [{"query_id": rows[0][0], "action": "click"}]
    return {"impressions": pa.table(impressions), "events": pa.Table.from_pylist(given)}


def test_events_are_counted_that_belong_to_nothing() -> None:
    events = [{"query_id": query, "action": "click"} for query in ("q1", "q2", "q9", "q9")]
    found = aggregate(read_logs(small([("q1", "u1", "A"), ("q2", "u2", "B")], events)), trial(), parts=())
    assert (found.units, found.queries, found.events) == (2, 2, 2)
    assert [(part.reason, part.events) for part in found.excluded] == [
        ("events without a query, duplicates or late ones", 2)
    ]


def test_duplicates_count_once_unless_the_trial_says_otherwise() -> None:
    events = [{"query_id": "q1", "action": "click", "doc_id": "d", "rank": 1}] * 3
    logs = read_logs(small([("q1", "u1", "A"), ("q2", "u2", "B")], events))
    once = trial(secondary=("clicks_per_query",))
    assert aggregate(logs, once, parts=()).whole["A"].mean("clicks_per_query: numerator") == 1
    all_of_them = trial(secondary=("clicks_per_query",), exclusions=Exclusions(duplicates=False))
    assert aggregate(logs, all_of_them, parts=()).whole["A"].mean("clicks_per_query: numerator") == 3


def test_events_with_ids_are_duplicates_by_these() -> None:
    events = [{"query_id": "q1", "action": "click", "event_id": name} for name in ("a", "a", "b", None, None)]
    logs = read_logs(small([("q1", "u1", "A"), ("q2", "u2", "B")], events))
    found = aggregate(logs, trial(secondary=("clicks_per_query",)), parts=())
    assert found.whole["A"].mean("clicks_per_query: numerator") == 4


def test_values_are_capped_at_a_quantile_of_all_arms_or_at_a_value() -> None:
    rows = [(f"q{n}", f"u{n}", "AB"[n % 2]) for n in range(20)]
    events = [{"query_id": f"q{n}", "action": "buy", "value": float(n)} for n in range(20)]
    for cap, limit in ((Cap(quantile=0.9), float(np.quantile(np.arange(20), 0.9))), (Cap(value=10.0), 10.0)):
        plan = trial(secondary=("value_per_unit",), winsorise={"value_per_unit": cap})
        found = aggregate(read_logs(small(rows, events)), plan, parts=())
        assert found.metric("value_per_unit").cap == limit
        assert found.capped == {"value_per_unit": int(np.sum(np.arange(20) > limit))}
        for arm, start in (("A", 0), ("B", 1)):
            expected = np.minimum(np.arange(start, 20, 2), limit).mean()
            assert found.whole[arm].mean("value_per_unit: numerator") == pytest.approx(expected)


def test_metrics_of_one_s_own_count_what_they_say() -> None:
    rows = [("q1", "u1", "A"), ("q2", "u2", "B"), ("q3", "u1", "A")]
    events = [
        {"query_id": "q1", "action": "cart", "value": 5.0},
        {"query_id": "q1", "action": "cart", "value": 7.0},
        {"query_id": "q3", "action": "click", "value": 2.0},
    ]
    own = {
        "carts": OwnMetric("count(cart)", "units"),
        "any": OwnMetric("any(cart)", "queries", "less"),
        "worth": OwnMetric("sum(value, cart)", "count(cart)"),
        "all": OwnMetric("sum(value)"),
    }
    found = aggregate(read_logs(small(rows, events)), trial(secondary=tuple(own), metrics=own), parts=())
    means = found.whole["A"].mean
    assert [means(f"{name}: numerator") for name in own] == [2, 1, 12, 14]
    assert means("worth: denominator") == 2
    assert [found.metric(name).denominator for name in own] == [None, "queries", "worth: denominator", "queries"]
    assert found.metric("any").better == "less"


@pytest.mark.parametrize(
    ("metric", "told"),
    [
        ("satisfied", "the metric satisfied needs the column dwell_s of the events, which they have not"),
        ("queries_per_session", "needs the column session_id of the impressions"),
        ("zero_results", "needs the column n_results of the impressions"),
        ("latency", "needs the column latency_ms of the impressions"),
    ],
)
def test_a_column_that_is_missing_is_named(metric: str, told: str) -> None:
    with pytest.raises(DataError, match=told):
        aggregate(read_logs(small([("q1", "u1", "A"), ("q2", "u2", "B")])), trial(secondary=(metric,)))


def test_a_log_of_which_nothing_counts_is_refused() -> None:
    with pytest.raises(DataError, match="no unit of the log counts: 1 queries of an unknown arm"):
        aggregate(read_logs(small([("q1", "u1", "C")])), trial())


def test_moments_are_read_as_they_were_written_and_can_be_added(tmp_path: Path) -> None:
    log = made_log(5)
    plan = trial(secondary=("value_per_unit", "abandonment"), segments=("device",))
    whole = aggregate(read_logs(arrow_tables(log)), plan)
    whole.save(str(tmp_path / "moments.json"))
    assert_same(whole, read_moments(str(tmp_path / "moments.json")))
    halves = [aggregate(read_logs(arrow_tables(of_users(log, rest))), plan) for rest in (0, 1)]
    together = added(halves)
    assert (together.units, together.queries) == (whole.units, whole.queries)
    for arm, moments in whole.whole.items():
        np.testing.assert_allclose(together.whole[arm].products, moments.products, rtol=1e-9, atol=1e-9)
    with pytest.raises(UsageError, match="cannot be added"):
        added([whole, aggregate(read_logs(arrow_tables(log)), trial())])


def of_users(log: MadeLog, rest: int) -> MadeLog:
    def mine(name: str) -> bool:
        return int(name[1:]) % 2 == rest

    queries = {row["query_id"] for row in log.impressions if mine(row["user_id"])}
    return MadeLog(
        [row for row in log.impressions if mine(row["user_id"])],
        [row for row in log.events if row["query_id"] in queries],
        [row for row in log.assignments if mine(row["unit_id"])],
        [row for row in log.covariates if mine(row["unit_id"])],
    )


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"schema": "other"}, "is no file of moments"),
        ({"arms": ["A", "B", "C"]}, "has not the moments by 'all' of every arm"),
        ({"arms": ["A"]}, "has moments of the arm 'B'"),
        ({"slices": []}, "has not the moments"),
        ({"digest": None}, None),
    ],
)
def test_files_of_moments_are_looked_at(change: dict[str, Any], told: str | None, tmp_path: Path) -> None:
    path = tmp_path / "moments.json"
    aggregate(read_logs(arrow_tables(made_log(5))), trial(), parts=()).save(str(path))
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    if told is None:
        read_moments(str(path))
    else:
        with pytest.raises(DataError, match=told):
            read_moments(str(path))


def test_a_warehouse_may_give_plain_sums(tmp_path: Path) -> None:
    path = tmp_path / "moments.json"
    found = aggregate(read_logs(arrow_tables(made_log(5))), trial(), parts=())
    found.save(str(path))
    document = json.loads(path.read_text())
    for part in document["slices"]:
        count, means = part["count"], np.array(part.pop("means"))
        part["sums"] = (means * count).tolist()
        part["products"] = (np.array(part["products"]) + count * np.outer(means, means)).tolist()
    path.write_text(json.dumps(document))
    for arm, moments in read_moments(str(path)).whole.items():
        expected: Moments = found.whole[arm]
        np.testing.assert_allclose(moments.products, expected.products, rtol=1e-9, atol=1e-9)
