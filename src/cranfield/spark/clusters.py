"""Sessions of Spark: the one that is there, or one that the command line starts."""

from __future__ import annotations

import os
import re
import sys
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, BinaryIO

from cranfield.errors import UsageError, shorten
from cranfield.libraries import library

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_MASTER = re.compile(r"local(\[.+\])?|(spark|k8s)://.+|yarn")
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
    """A session on a master, spark://HOST:PORT or local[N], that ends with what is done in it. One that is active there
    already is taken, and stays."""
    if not _MASTER.fullmatch(master):
        raise UsageError(f"'{shorten(master, 60)}' is no master of Spark: take local[*] or spark://HOST:PORT")
    library("pyspark", "--engine")
    from pyspark.sql import SparkSession

    active = SparkSession.getActiveSession()
    if active is None:
        with _started(master) as session:
            yield session
    elif active.sparkContext.master == master:
        yield active
    else:
        raise UsageError(f"a session on {active.sparkContext.master} is active: stop it before one on {master} starts")


@contextmanager
def _started(master: str) -> Iterator[SparkSession]:
    from py4j.protocol import Py4JError
    from pyspark import SparkConf, SparkContext
    from pyspark.errors import PySparkException
    from pyspark.java_gateway import launch_gateway
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # tasks run by the Python that has this package
    settings = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false", "spark.log.level": "ERROR"}
    conf = SparkConf().setMaster(master).setAppName("cranfield").setAll(list(settings.items()))
    with tempfile.TemporaryFile() as said, warnings.catch_warnings():
        # What Java has to say is for those who run the cluster, unless it does not start.
        warnings.simplefilter("ignore", FutureWarning)
        try:
            gateway = launch_gateway(conf, {"stdout": said, "stderr": said})  # type: ignore[no-untyped-call]
            context = SparkContext(conf=conf, gateway=gateway)
        except (PySparkException, Py4JError, OSError) as error:
            raise _not_started(master, error, said) from None
        try:
            yield SparkSession(context)
        finally:
            context.stop()


def _not_started(master: str, error: Exception, said: BinaryIO) -> UsageError:
    said.seek(0)
    lines = [
        line for line in said.read().decode("utf-8", "replace").splitlines() if "Error" in line or "xception" in line
    ]
    reason = lines[-1].strip() if lines else str(error).partition("\n")[0]
    return UsageError(
        f"Spark does not start on {master}: {shorten(reason, 300)}",
        "It needs Java 17 or newer (Debian: apt-get install default-jre-headless), and a master that answers.",
    )
