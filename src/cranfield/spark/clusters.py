"""Sessions of Spark: the one that is there, or one that the command line starts."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from cranfield.errors import UsageError
from cranfield.libraries import library

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_UNITS = {"b": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}


def active_session() -> SparkSession:
    """The session that is active."""
    from pyspark.sql import SparkSession

    session = SparkSession.getActiveSession()
    if session is None:
        raise UsageError("no session of Spark is active: start one, by SparkSession.builder.getOrCreate()")
    return session


def piece_size(session: SparkSession) -> int:
    """How many bytes of a file a task reads, as Spark has it set.

    A size is a number with or without a unit: 134217728, 134217728b, 128MB.
    """
    said = str(session.conf.get("spark.sql.files.maxPartitionBytes")).strip().lower()
    digits = said.rstrip("bkmgt")
    unit = said[len(digits) :].removesuffix("b")[:1] or "b"
    return max(1, int(digits) * _UNITS[unit])


@contextmanager
def session_on(master: str) -> Iterator[SparkSession]:
    """A session on a master, spark://HOST:PORT or local[N], that ends with what is done in it."""
    library("pyspark", "--engine")
    from pyspark.errors import PySparkRuntimeError
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # tasks run by what has this package
    builder = SparkSession.builder.master(master).appName("cranfield")
    settings = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false", "spark.log.level": "ERROR"}
    for name, value in settings.items():
        builder = builder.config(name, value)
    try:
        session = builder.getOrCreate()
    except PySparkRuntimeError as error:
        raise UsageError(f"Spark does not start on {master}: {error}") from None
    try:
        yield session
    finally:
        session.stop()
