"""Logs of others made ours: to add a format, decorate a function that reads files and gives rows of our tables."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from cranfield.errors import DataError, UsageError, either, plural
from cranfield.formats import touched
from cranfield.formats.output import whole_file
from cranfield.libraries import library
from cranfield.online.log_folders import log_folder
from cranfield.online.log_tables import TABLES
from cranfield.registry import Entry, Registry

WRITTEN = ("parquet", "jsonl")
AT_ONCE = 50_000  # rows that are written together


class LogRow(NamedTuple):
    """A row of one of our tables."""

    table: str
    values: dict[str, Any]


class Notes(Counter[str]):
    """What was found on the way, each with how often: what is left out or taken for something is said here."""


Reads: TypeAlias = Callable[[Sequence[str], Notes], Iterator[LogRow]]


class LogFormat(Entry[Reads]):
    """A format of logs; the function gives the rows of files."""


LOG_FORMATS: Registry[LogFormat] = Registry(
    "format of logs", group="cranfield.logs", package="cranfield.online", decorator="log_format"
)


def log_format(name: str) -> Callable[[Reads], Reads]:
    """Registers a function as a format of logs.

    >>> callable(log_format("ours"))
    True
    """

    def register(function: Reads) -> Reads:
        LOG_FORMATS.add(LogFormat(name=name, function=function))
        return function

    return register


class Imported(NamedTuple):
    """What was written: the files, how many rows each has, and what is to be said of the way there."""

    files: dict[str, int]
    notes: tuple[str, ...]


def import_logs(format: str, files: Sequence[str], folder: str, *, to: str = "parquet") -> Imported:
    """Reads logs in a format of others and writes `impressions` and `events` into a folder, as Parquet or JSON lines.

    >>> import tempfile
    >>> import_logs("yandex", ["examples/yandex.tsv"], tempfile.mkdtemp()).notes
    ('2 sessions: their times are taken for seconds, their users for sessions',)
    """
    if not files:
        raise UsageError("there is no file to read")
    if to not in WRITTEN:
        raise UsageError(f"a log is written to {either(WRITTEN)}, not '{to}'")
    read = LOG_FORMATS.find(format).function
    notes = Notes()
    for file in files:
        touched.reads(file)  # before anything is made where one of them may stand
    counts: Counter[str] = Counter()
    with ExitStack() as open_files:
        places = open_files.enter_context(log_folder(folder, [f"{name}.{to}" for name in ("impressions", "events")]))
        kind = _ParquetWriter if to == "parquet" else _LineWriter
        writers = {name: kind(open_files, place, name) for name, place in places.items()}
        for row in read(files, notes):
            writers[row.table].add(row.values)
            counts[row.table] += 1
        if not counts["impressions"]:
            raise DataError(f"has no query that can be read as {format}", source=files[0])
        for writer in writers.values():
            writer.flush()
    return Imported({place: counts[name] for name, place in places.items()}, told(notes))


def told(notes: Notes) -> tuple[str, ...]:
    """Notes in words, each with how often.

    >>> told(Notes({"click: before the first query of its session, left out": 2}))
    ('2 clicks: before the first query of its session, left out',)
    """
    parted = [(what.partition(": "), count) for what, count in notes.items()]
    return tuple(f"{plural(count, noun)}: {said}" for (noun, _, said), count in parted)


class _LineWriter:
    """A file of JSON objects, a line each."""

    def __init__(self, open_files: ExitStack, path: str, table: str) -> None:
        self.temporary = open_files.enter_context(whole_file(path))
        self.file = open_files.enter_context(Path(self.temporary).open("x", encoding="utf-8"))  # noqa: SIM115 - it is in one

    def add(self, row: dict[str, Any]) -> None:
        plain = {name: value.isoformat() if isinstance(value, datetime) else value for name, value in row.items()}
        self.file.write(json.dumps(plain) + "\n")

    def flush(self) -> None:
        self.file.flush()


class _ParquetWriter:
    """A Parquet file that is written a part at a time; it has the columns that the format gives."""

    def __init__(self, open_files: ExitStack, path: str, table: str) -> None:
        library("pyarrow", "writing logs")
        self.open_files, self.table = open_files, table
        self.temporary = open_files.enter_context(whole_file(path))
        self.rows: list[dict[str, Any]] = []
        self.writer: Any = None

    def add(self, row: dict[str, Any]) -> None:
        self.rows.append(row)
        if len(self.rows) >= AT_ONCE:
            self.flush()

    def flush(self) -> None:
        import pyarrow as pa
        from pyarrow import parquet

        if self.writer is None:
            required = [name for name, column in TABLES[self.table].items() if column.required]
            self.schema = _schema(self.table, self.rows[0] if self.rows else required)
            opened = parquet.ParquetWriter(self.temporary, self.schema, compression="zstd")
            self.writer = self.open_files.enter_context(opened)
        if self.rows:
            columns = {name: [row.get(name) for row in self.rows] for name in self.schema.names}
            self.writer.write_table(pa.table(columns, schema=self.schema))
            self.rows = []


def _schema(table: str, names: Iterable[str]) -> Any:
    import pyarrow as pa

    kinds = {
        "id": pa.string(),
        "text": pa.string(),
        "time": pa.timestamp("us", tz="UTC"),
        "whole": pa.int64(),
        "number": pa.float64(),
        "flag": pa.bool_(),
        "texts": pa.list_(pa.string()),
        "numbers": pa.list_(pa.float64()),
    }
    return pa.schema([(name, kinds[TABLES[table][name].kind]) for name in names])


def moment(value: Any, notes: Notes) -> datetime | None:
    """A time in UTC of a text or a number of seconds or milliseconds; None of another, which is noted.

    >>> notes = Notes()
    >>> moment("2026-11-02T10:00:00+01:00", notes).isoformat(), moment(1793613600000, notes).isoformat()
    ('2026-11-02T09:00:00+00:00', '2026-11-02T10:00:00+00:00')
    """
    try:
        if isinstance(value, int | float) and not isinstance(value, bool):
            return datetime.fromtimestamp(value / 1000 if abs(value) > 1e11 else value, UTC)
        time = datetime.fromisoformat(str(value).strip())
    except (ValueError, OverflowError, OSError):
        notes["time: not a date with a time, left empty"] += 1
        return None
    if time.tzinfo is None:
        notes["time: without a zone, taken for UTC"] += 1
        return time.replace(tzinfo=UTC)
    return time.astimezone(UTC)


def whole_number(value: Any, notes: Notes, what: str) -> int | None:
    """A whole number, or None of what is none, which is noted."""
    try:
        number = float(value)
        if number == int(number):
            return int(number)
    except (TypeError, ValueError, OverflowError):
        pass
    notes[f"{what}: not a whole number, left empty"] += 1
    return None
