"""Logs of searches that are frames of Spark are aggregated where they are, and come to what one machine has."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest

from cranfield import DataError
from cranfield.online import Trial, aggregate, all_metrics, read_logs
from cranfield.online.trial import Cap, Exclusions
from made_logs import made_log
from places import ROOT

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PLAN = Trial(
    "t",
    {"A": 1.0, "B": 1.0},
    "ctr",
    secondary=tuple(metric.name for metric in all_metrics() if metric.name != "ctr"),
    segments=("device",),
    covariates=("before",),
    winsorise={"value_per_unit": Cap(quantile=0.9)},
    exclusions=Exclusions(queries_per_day=3, late_hours=24),
)


def test_frames_of_spark_give_the_same(session: SparkSession) -> None:
    tables = {
        name: pl.DataFrame(rows, infer_schema_length=None).to_arrow() for name, rows in made_log(7)._asdict().items()
    }
    expected = aggregate(read_logs(tables), PLAN, parts=("segments",))
    frames = {name: session.createDataFrame(table).repartition(3) for name, table in tables.items()}
    found = aggregate(read_logs(frames), PLAN, parts=("segments",))
    assert (found.units, found.queries, found.events) == (expected.units, expected.queries, expected.events)
    assert (found.excluded, found.capped) == (expected.excluded, expected.capped)
    assert [part[:3] for part in found.slices] == [part[:3] for part in expected.slices]
    for one, other in zip(found.slices, expected.slices, strict=True):
        assert (one.moments.count, one.moments.names) == (other.moments.count, other.moments.names)
        np.testing.assert_allclose(one.moments.means, other.moments.means, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(one.moments.products, other.moments.products, rtol=1e-9, atol=1e-9)


def test_times_that_are_text(session: SparkSession) -> None:
    """They are refused with what docs/online.md says to do, after which they are what one machine reads."""
    from pyspark.sql import functions

    page = (ROOT / "docs" / "online.md").read_text(encoding="utf-8")
    assert 'frame.withColumn("ts", functions.to_timestamp("ts"))' in page
    logs = {
        name: pl.DataFrame(rows, infer_schema_length=None).to_arrow() for name, rows in made_log(7)._asdict().items()
    }
    frames = {name: session.createDataFrame(logs[name]) for name in ("impressions", "events")}
    texts = {name: frame.withColumn("ts", frame["ts"].cast("string")) for name, frame in frames.items()}
    with pytest.raises(DataError, match=r"Convert it, as by to_timestamp\('ts'\)"):
        read_logs(texts)
    converted = {name: frame.withColumn("ts", functions.to_timestamp("ts")) for name, frame in texts.items()}
    times = [
        sorted(row["ts"] for row in read_logs(given).events.to_native().select("ts").collect())
        for given in (frames, converted)
    ]
    assert times[0] == times[1]
