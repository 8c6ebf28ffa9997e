"""Nobody waits for ever: a master that does not answer, or executors that do not come, are an error after a time.

Nor does anybody read pages of Java: a job that fails is an error in words.
"""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING
from uuid import uuid4

from cranfield.errors import UsageError, shorten
from cranfield.spark.failures import failure

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LONGEST = 120.0  # seconds
SETTING = "CRANFIELD_SPARK_WAIT"
LONGER = f"{SETTING}=600 waits for ten minutes."


def longest_wait() -> float:
    """How many seconds are waited for a master to answer, and for executors to come."""
    said = os.environ.get(SETTING, "")
    try:
        seconds = float(said or LONGEST)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < float("inf"):
        raise UsageError(f"{SETTING}={shorten(said, 40)} is no number of seconds above 0")
    return seconds


def check_listening(master: str) -> None:
    """Refuses spark://HOST:PORT where nobody listens; of several, with commas between, one has to."""
    if not master.startswith("spark://"):
        return
    reason, longest = "", longest_wait()
    for address in master.removeprefix("spark://").split(","):
        host, _, port = address.rpartition(":")
        if not host or not port.isdigit() or int(port) > 65535:
            raise UsageError(f"'{shorten(master, 60)}' has no port: a master is spark://HOST:PORT")
        try:
            socket.create_connection((host.strip("[]"), int(port)), longest).close()
        except TimeoutError:
            reason = f"it did not answer within {longest:g} s"
        except OSError as error:
            reason = error.strerror or str(error)
        else:
            return
    raise UsageError(
        f"nobody listens at {shorten(master, 60)}: {reason}",
        "The master tells its address in its log and on its page: spark://HOST:7077 unless told otherwise.",
    )


@contextmanager
def attended(session: SparkSession) -> Iterator[None]:
    """Ends the jobs that are started inside, with an error, if they have had no executor for too long; tells why one
    fails for another reason."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    context, longest = session.sparkContext, longest_wait()
    is_local = str(context.master).startswith("local")
    tag, done, given_up = f"cranfield-{uuid4().hex}", threading.Event(), threading.Event()

    def watch() -> None:
        since = time.monotonic()
        while not done.wait(0.5) and not is_local:
            waiting = context.statusTracker().getActiveJobsIds() and not executor_count(session)
            if not waiting:
                since = time.monotonic()
            elif time.monotonic() - since > longest:
                given_up.set()
                context.cancelJobsWithTag(tag)
                return

    context.addJobTag(tag)
    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    except (Py4JError, PySparkException, ConnectionError, EOFError) as error:
        if given_up.is_set():
            raise UsageError(
                f"no executor came on {context.master} within {longest:g} s",
                "Look at the page of the master: are there workers, with free cores and as much memory as "
                f"spark.executor.memory asks for, and do executors start there? {LONGER}",
            ) from error
        raise failure(error) from error
    finally:
        done.set()
        watcher.join()
        with suppress(Py4JError, OSError):  # Java may have gone
            context.removeJobTag(tag)


def executor_count(session: SparkSession) -> int:
    """How many executors there are; the driver is told beside them."""
    return int(session.sparkContext._jsc.sc().getExecutorMemoryStatus().size()) - 1
