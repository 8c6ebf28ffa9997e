"""Sessions of Spark: the one that is there, or one that the command line starts."""

from __future__ import annotations

import os
import re
import sys
import tempfile
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, BinaryIO

from cranfield.errors import LibraryError, UsageError, shorten
from cranfield.libraries import library
from cranfield.spark.java import Java
from cranfield.spark.run_sources import Cutting
from cranfield.spark.waiting import LONGER, check_listening, longest_wait

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_MASTER = re.compile(r"local(\[.+\])?|(spark|k8s)://.+|yarn")
_UNITS = {"b": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}


@contextmanager
def spark_libraries(purpose: str) -> Iterator[None]:
    """Where the libraries of Spark are used: one that is missing or too old is told in a line.

    PySpark asks for pandas wherever Arrow is used, and warns of a new one, though nothing of it is used here.
    """
    for name in ("pyspark", "pyarrow", "pandas"):
        library(name, purpose, "spark")
    from pyspark.errors import PySparkImportError
    from pyspark.sql.pandas.utils import require_minimum_pandas_version, require_minimum_pyarrow_version

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
        try:
            require_minimum_pandas_version()
            require_minimum_pyarrow_version()
        except PySparkImportError as error:
            reason = str(error).partition("\n")[0].removeprefix(f"[{error.getCondition()}]").strip()
            raise LibraryError(f"{purpose}: {reason.rstrip('.')}: pip install --upgrade 'cranfield[spark]'") from None
        yield


def active_session() -> SparkSession:
    """The session that is active."""
    from pyspark.sql import SparkSession

    session = SparkSession.getActiveSession()
    if session is None:
        raise UsageError("no session of Spark is active: start one, by SparkSession.builder.getOrCreate()")
    return session


def cutting_of(session: SparkSession) -> Cutting:
    """How many bytes of a file a task reads, as Spark has it set, and how many cores there are.

    A size is a number with or without a unit: 134217728, 134217728b, 128MB.
    """
    said = str(session.conf.get("spark.sql.files.maxPartitionBytes")).strip().lower()
    digits = said.rstrip("bkmgt")
    unit = said[len(digits) :].removesuffix("b")[:1] or "b"
    return Cutting(max(1, int(digits) * _UNITS[unit]), session.sparkContext.defaultParallelism)


@contextmanager
def session_on(master: str) -> Iterator[SparkSession]:
    """A session on a master, spark://HOST:PORT or local[N], that ends with what is done in it. One that is active there
    already is taken, and stays."""
    if not _MASTER.fullmatch(master):
        raise UsageError(f"'{shorten(master, 60)}' is no master of Spark: take local[*] or spark://HOST:PORT")
    with spark_libraries("--engine"):
        from pyspark.sql import SparkSession

        active = SparkSession.getActiveSession()
        if active is None:
            _check_hadoop(master)
            check_listening(master)
            with _started(master) as session:
                yield session
        elif active.sparkContext.master == master:
            yield active
        else:
            other = active.sparkContext.master
            raise UsageError(f"a session on {other} is active: stop it before one on {master} starts")


def _check_hadoop(master: str) -> None:
    """YARN is found by a configuration, not by an address."""
    if master == "yarn" and not (os.environ.get("HADOOP_CONF_DIR") or os.environ.get("YARN_CONF_DIR")):
        raise UsageError(
            "yarn is found by the configuration of Hadoop, and neither HADOOP_CONF_DIR nor YARN_CONF_DIR is set",
            "Set one of them to the folder in which yarn-site.xml is.",
        )


@contextmanager
def _started(master: str) -> Iterator[SparkSession]:
    from py4j.protocol import Py4JError
    from pyspark import SparkConf, SparkContext
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # tasks run by the Python that has this package
    settings = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false", "spark.log.level": "ERROR"}
    conf = SparkConf().setMaster(master).setAppName("cranfield").setAll(list(settings.items()))
    java, late = Java(), threading.Event()
    with tempfile.TemporaryFile() as said, java.heeding_signals():
        # What Java has to say is for those who run the cluster, unless it does not start.
        try:
            gateway = java.start(conf, said)
            with _in_time(java, master, late), java.keeping_signals():
                session = SparkSession(SparkContext(conf=conf, gateway=gateway))
                assert session.sparkContext.defaultParallelism  # which one that no master has taken does not tell
        except (PySparkException, Py4JError, OSError) as error:
            refusal = _not_started(master, error, said, is_late=late.is_set())
            java.end()
            raise refusal from None
        except BaseException:
            java.end()
            raise
        try:
            yield session
        finally:
            with suppress(Py4JError, OSError), warnings.catch_warnings():  # Java may have gone, which is warned of
                warnings.simplefilter("ignore", RuntimeWarning)
                session.stop()
            java.end()


@contextmanager
def _in_time(java: Java, master: str, late: threading.Event) -> Iterator[None]:
    """Ends Java if it has not found the master after a time: Spark itself asks for a minute, or for ever."""

    def give_up() -> None:
        late.set()
        java.kill()

    timer = threading.Timer(longest_wait(), give_up)
    if not master.startswith("local"):
        timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _not_started(master: str, error: Exception, said: BinaryIO, *, is_late: bool = False) -> UsageError:
    said.seek(0)
    text = said.read().decode("utf-8", "replace")
    if is_late or "All masters are unresponsive" in text + str(error):
        return UsageError(
            f"{shorten(master, 60)} is no master of Spark, or one that does not answer: somebody listens there, and "
            "takes no application",
            "Is it the port of a page? The master tells its address in its log and on its page: spark://HOST:7077 "
            f"unless told otherwise. It must be of the version of Spark that is installed here. {LONGER}",
        )
    lines = [line for line in text.splitlines() if "Error" in line or "xception" in line]
    reason = lines[-1].strip() if lines else str(error).partition("\n")[0]
    return UsageError(
        f"Spark does not start on {master}: {shorten(reason, 300)}",
        "It needs Java 17 or newer (Debian: apt-get install default-jre-headless), and a master that answers.",
    )
