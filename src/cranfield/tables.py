"""Runs and judgements as immutable tables, put in order and validated once, when they are read."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from cranfield.errors import DataError, UsageError, plural
from cranfield.libraries import library
from cranfield.numerals import whole
from cranfield.records import NamedTuple, dataclass
from cranfield.travel import Luggage, Stream, Travelling, counted, packed, with_columns

if TYPE_CHECKING:
    import pyarrow
    from numpy.typing import NDArray

    from cranfield._core import Table

MOST_THREADS = 1024
AnyTable = TypeVar("AnyTable", bound="_Judgeable")
Item = TypeVar("Item")
Made = TypeVar("Made")


def thread_count(threads: int | None = None) -> int:
    """How many threads to use: as asked for, or CRANFIELD_THREADS, or every core this process may run on.

    >>> thread_count(3)
    3
    """
    if threads is None:
        wanted = os.environ.get("CRANFIELD_THREADS", "")
        available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        threads = whole(wanted) if wanted else available
        if threads is None or threads < 0:
            raise UsageError(f"CRANFIELD_THREADS must be a whole number, not {wanted!r}")
        return max(1, min(threads, MOST_THREADS))
    if isinstance(threads, bool) or not hasattr(threads, "__index__") or threads < 1:
        raise UsageError(f"threads must be a whole number from 1, or None for every core, not {threads!r}")
    return min(int(threads), MOST_THREADS)


def side_by_side(work: Callable[[Item], Made], items: Sequence[Item], threads: int) -> list[Made]:
    """What `work` makes of each item, in order, a few at a time."""
    if threads == 1 or len(items) < 2:
        return [work(item) for item in items]
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(min(threads, len(items))) as executor:
        return list(executor.map(work, items))


class Origin(NamedTuple):
    """Where a table came from, for provenance and for messages."""

    name: str
    path: str | None = None
    digest: str | None = None
    tag: str = ""
    notes: tuple[tuple[str, str], ...] = ()
    format: str = "memory"


@dataclass(frozen=True, eq=False, repr=False)
class _Judgeable(Travelling):
    """What runs and judgements share: topics, and for each its documents with a number, best first."""

    table: Table
    origin: Origin
    _value: ClassVar[str]

    @property
    def name(self) -> str:
        return self.origin.name

    @property
    def topics(self) -> list[str]:
        """Topic ids: by number where all are numbers, otherwise as bytes."""
        return self.table.topics()

    def renamed(self: AnyTable, name: str) -> AnyTable:
        """The same table under another name."""
        return replace(self, origin=self.origin._replace(name=name))

    def of(self, topic: str) -> dict[str, float]:
        """The documents of one topic with their numbers, best first; empty if the topic is not there."""
        return self.to_dict([topic]).get(topic, {})

    def to_dict(self, topics: list[str] | None = None) -> dict[str, dict[str, float]]:
        """All of it, or some topics, as a dict of dicts, best first."""
        wanted = None if topics is None else set(topics)
        values = self.table.values()
        out: dict[str, dict[str, float]] = {}
        start = 0
        for topic, count in zip(self.topics, self.table.counts().tolist(), strict=True):
            if wanted is None or topic in wanted:
                documents = self.table.documents(topic.encode("utf-8", "surrogateescape"))
                out[topic] = dict(zip(documents, values[start : start + count].tolist(), strict=True))
            start += count
        return out

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The rows for any library that takes Arrow, best first, tied ones as they stood in the input: see `travel`."""
        return self.table.arrow_stream(self._value, packed(self.table, self._value, self._luggage()))

    def to_arrow(self) -> pyarrow.Table:
        """A table of pyarrow with the columns topic, document, and score or grade; `read_run` and `read_qrels` take it.

        >>> import cranfield
        >>> table = cranfield.read_run({"q1": {"d1": 0.5, "d2": 2.0}}, name="mine").to_arrow()
        >>> table.column("document").to_pylist(), cranfield.read_run(table).name
        (['d2', 'd1'], 'mine')
        """
        library("pyarrow", "to_arrow")
        import pyarrow as pa

        return pa.table(self)

    def _luggage(self) -> Luggage:
        counts = counted(self.table.collapsed()), counted(self.table.rank_disagreements())
        return Luggage(self.origin, {}, (), *counts)

    def check(self) -> None:
        if self.table.is_run is not (self._value == "score") or not isinstance(self.origin, Origin):
            raise DataError("the table or the origin is that of something else")

    def __len__(self) -> int:
        return self.table.row_count

    def __repr__(self) -> str:
        kind = type(self).__name__
        return f"<{kind} {self.name!r}: {plural(len(self), 'row')}, {plural(len(self.topics), 'topic')}>"


class Run(_Judgeable):
    """What one system retrieved: for each topic, documents by score descending, ties by id descending.

    >>> import cranfield
    >>> run = cranfield.read_run({"q1": {"d1": 0.5, "d2": 2.0, "d3": 0.5}})
    >>> run.of("q1")
    {'d2': 2.0, 'd3': 0.5, 'd1': 0.5}
    """

    _value = "score"


@dataclass(frozen=True, eq=False, repr=False)
class Qrels(_Judgeable):
    """Relevance judgements: for each topic, documents by grade descending.

    `columns` is what else is known of each judged document, by name: arrays with an entry for each row of the table.
    Where such an entry is a list (a grade for each subtopic, or of each judge), `groups` has for each topic what the
    places of that list are called.

    >>> import cranfield
    >>> cranfield.read_qrels({"q1": {"d1": 0, "d2": 2}}).of("q1")
    {'d2': 2.0, 'd1': 0.0}
    """

    columns: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    _value = "grade"

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The rows as `Run` gives them, and beside them the columns."""
        rows = super().__arrow_c_stream__()
        return with_columns(Stream(rows), self.columns).__arrow_c_stream__() if self.columns else rows

    def _luggage(self) -> Luggage:
        return super()._luggage()._replace(groups=dict(self.groups), columns=tuple(self.columns))

    def check(self) -> None:
        super().check()
        if any(len(column) != len(self) for column in self.columns.values()):
            raise DataError("a column has not an entry for each row")


def describe_type(value: Any) -> str:
    """A value's type as a person would write it.

    >>> describe_type({}), describe_type(None)
    ('dict', 'None')
    """
    return "None" if value is None else type(value).__qualname__
