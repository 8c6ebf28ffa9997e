"""What the tasks of a job share: the rows that travel, what a task needs to know, and what it tells.

What is wrong with an input is no exception of a task, of which a job would show the first to fail: it is a row of the
outcome, and which is told is decided where all are known.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from cranfield._core import TextLayout
from cranfield.errors import DataError, DuplicateError
from cranfield.formats.reading import Reading
from cranfield.formats.trec_text import RANKS, RUN
from cranfield.judged import Integers, Pool
from cranfield.measures.registry import Measure
from cranfield.policy import Policy
from cranfield.spark.judged_parts import NO_ROWS, NO_TOPICS, RowCounts, RunPart
from cranfield.tables import Origin, Qrels

if TYPE_CHECKING:
    import pyarrow

    Batches = Iterator[pyarrow.RecordBatch]
    Work = Callable[[Batches], Batches]

# What is shuffled: lines of text as they stand in a file, or rows of a frame. Judgements are rows of the run "", which
# sorts first.
ROWS = "run string, topic binary, place bigint, text binary, document binary, value double, rank int"
OUTCOME = "run string, topic string, measure string, score double, answered boolean, told binary"
NAMES = tuple(column.split()[0] for column in ROWS.split(", "))
UNREADABLE = -1  # the place of what a worker has to say of a file that it cannot read
JUDGEMENTS = ""
LAYOUTS: Mapping[str, TextLayout] = {"trec": RUN, "msmarco": RANKS}  # formats whose lines begin with the topic


@dataclass(frozen=True)
class Job:
    """What a task needs besides rows. With measures it scores; without any it sends what is judged.

    `kinds` says of each run what its rows are: text of a format, or those of a frame, with a score or a rank.
    """

    qrels: Qrels | None  # none: judgements come with the rows
    pool: Pool
    policy: Policy
    reading: Reading
    measures: tuple[Measure, ...]
    kinds: Mapping[str, str]

    def __post_init__(self) -> None:
        object.__setattr__(self, "reading", replace(self.reading, progress=None))  # whoever watches stays here

    @cached_property
    def number_of(self) -> dict[bytes, int]:
        """The numbers of the judged topics."""
        return {topic.encode("utf-8", "surrogateescape"): number for number, topic in enumerate(self.pool.topics)}

    @cached_property
    def judged_topics(self) -> frozenset[str]:
        """The judged topics, for whoever asks of each of a run's."""
        return frozenset(self.pool.topics)


class Fault(NamedTuple):
    """That something is wrong with a run; and what, by the parts of the error, unless its files must be asked."""

    run: str
    topic: bytes = b""
    error: Mapping[str, Any] | None = None
    is_duplicate: bool = False

    @classmethod
    def of(cls, run: str, error: DataError, topic: bytes = b"") -> Fault:
        names = ("message", "source", "line", "text", "remedy", "option")
        return cls(run, topic, {name: getattr(error, name) for name in names}, isinstance(error, DuplicateError))

    def under(self, given: str, path: str) -> Fault:
        """The same of a file by the name under which it was given, not by the path under which a worker read it."""
        source = str((self.error or {}).get("source") or "")
        if not source.startswith(path):
            return self
        return self._replace(error={**(self.error or {}), "source": given + source.removeprefix(path)})

    def as_error(self) -> DataError:
        """The error, as it was raised where it was found."""
        return (DuplicateError if self.is_duplicate else DataError)(**(self.error or {"message": "is not readable"}))


class TaskReport(NamedTuple):
    """What a task has to tell besides scores: a fault, or a part of a run, or what is known of the rows of one.

    `topics` has a number for each topic that was judged there: that of a judged one, and of a piece of a file, which
    may have rows of a topic that another piece has too, one below zero for each other (`judged_parts.stand_in`).
    """

    run: str
    fault: Fault | None = None
    part: RunPart | None = None
    rows: RowCounts = NO_ROWS
    origin: Origin | None = None  # of a file that was read whole
    topics: Integers = NO_TOPICS


def told(what: TaskReport) -> pyarrow.RecordBatch:
    """What a task tells, as a row of the outcome."""
    import pyarrow as pa

    types = (pa.string(), pa.string(), pa.string(), pa.float64(), pa.bool_(), pa.binary())
    values = (what.run, None, None, None, None, pickle.dumps(what))
    arrays = [pa.array([value], type) for value, type in zip(values, types, strict=True)]
    return pa.record_batch(arrays, names=[column.split()[0] for column in OUTCOME.split(", ")])
