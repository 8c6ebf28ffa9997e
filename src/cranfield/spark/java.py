"""The process of Java that a session of ours has: it ends with us, whatever ends us."""

from __future__ import annotations

import logging
import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING, Any, BinaryIO

if TYPE_CHECKING:
    from pyspark import SparkConf

_LAST_WORDS = 1.5  # seconds to take leave of the master: fewer than those after which a signal ends us at once


class Java:
    """A process of Java, and what a signal that came meanwhile has raised here.

    It is no part of our group of processes, whose signals end it in the middle of an answer, but is ended by us as soon
    as one is heard. Were it ended later, what puts Spark away after a call that was broken off would wait for its
    answer. That we are killed it sees by its standard input, which is a pipe of ours.
    """

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._interruption: BaseException | None = None

    def start(self, conf: SparkConf, said: BinaryIO) -> Any:
        """The gateway to it; what it has to say goes to a file. One that a session left here is taken, and stays."""
        from pyspark import SparkContext, java_gateway

        if SparkContext._gateway is not None:
            return SparkContext._gateway

        def started(*command: Any, **settings: Any) -> subprocess.Popen[bytes]:
            self._process = subprocess.Popen(*command, **settings)
            return self._process

        # The process is not told if starting is interrupted, and would stay behind then: so it is taken down here.
        vars(java_gateway)["Popen"] = started
        try:
            apart = {"stdout": said, "stderr": said, "start_new_session": True}
            return java_gateway.launch_gateway(conf, apart)  # type: ignore[no-untyped-call]
        finally:
            vars(java_gateway)["Popen"] = subprocess.Popen

    def end(self) -> None:
        """Ends it; a later session starts another."""
        from pyspark import SparkContext

        if self._process is None:
            return
        self._process.terminate()
        try:
            self._process.wait(_LAST_WORDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
        SparkContext._gateway = SparkContext._jvm = SparkContext._active_spark_context = None

    def kill(self) -> None:
        """Ends it at once, whatever it is doing."""
        if self._process is not None:
            self._process.kill()

    @contextmanager
    def heeding_signals(self) -> Iterator[None]:
        """Ends it on a signal that raises something here, which is what is raised then, not what comes of that."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        numbers = (signal.SIGINT, signal.SIGTERM)
        before = {number: signal.getsignal(number) for number in numbers}
        for number, handler in before.items():
            if callable(handler):
                signal.signal(number, self._heard(handler))
        try:
            with _quiet():
                yield
        except BaseException:
            if self._interruption is not None:
                raise self._interruption from None
            raise
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _heard(self, handler: Any) -> Any:
        def heard(number: int, frame: FrameType | None) -> None:
            try:
                handler(number, frame)
            except BaseException as raised:
                self._interruption = raised
                self.end()
                raise

        return heard

    @contextmanager
    def keeping_signals(self) -> Iterator[None]:
        """A context of Spark takes Ctrl-C for itself: it stays with whoever has it."""
        before = signal.getsignal(signal.SIGINT)
        try:
            yield
        finally:
            if threading.current_thread() is threading.main_thread():
                signal.signal(signal.SIGINT, before)


@contextmanager
def _quiet() -> Iterator[None]:
    """That Java has gone is told as an error; py4j writes pages about it to the log besides."""

    def is_told(record: logging.LogRecord) -> bool:
        return record.module not in ("java_gateway", "clientserver")

    root = logging.getLogger()
    root.addFilter(is_told)
    try:
        yield
    finally:
        root.removeFilter(is_told)
