"""Logs: what was shown to users, what they did, who was in which arm, and what was known of them before."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from cranfield.errors import DataError, UsageError, either, plural
from cranfield.libraries import library
from cranfield.online import engine
from cranfield.online.log_tables import NEEDED, TABLES, renamed

# What Narwhals makes of a relation or a frame; lazy where that is. It is generic in the native type.
Frame: TypeAlias = Any


@dataclass(frozen=True, eq=False)
class Logs:
    """The tables of a log, as frames of Narwhals with the columns of `log_tables`: nothing is read until asked for.

    Times are whole microseconds since 1970 in UTC.

    Those of files, Arrow and pandas are relations of DuckDB, `connection`; those of Polars stay what they are. `raw`
    are the relations or frames before their columns were made what they have to be, for `check`. `sources` says where
    each table came from.
    """

    impressions: Frame
    events: Frame
    assignments: Frame | None = None
    covariates: Frame | None = None
    sources: Mapping[str, str] = field(default_factory=dict)
    connection: Any = None
    raw: Mapping[str, Any] = field(default_factory=dict)

    def tables(self) -> dict[str, Frame]:
        """The tables that there are, by name."""
        found = {name: getattr(self, name) for name in TABLES}
        return {name: frame for name, frame in found.items() if frame is not None}

    def columns(self, table: str) -> list[str]:
        """The columns of a table; none where there is no such table."""
        frame = getattr(self, table)
        return [] if frame is None else list(frame.collect_schema().names())

    def in_duckdb(self) -> Logs:
        """The same with every table a relation of DuckDB: Polars frames are handed over through Arrow."""
        if self.connection is not None:
            return self
        arrow = {name: _collected(frame).to_arrow() for name, frame in self.raw.items()}
        return replace(read_logs(arrow), sources=self.sources)


def read_logs(source: Any, *, threads: int | None = None) -> Logs:
    """Logs from a folder that has `impressions` and `events`, and perhaps `assignments` and `covariates`; or of these
    names each with a file, a list of files, or a frame (Polars, Arrow, pandas).

    A table in a folder is a file such as `events.parquet`, `events.jsonl.gz` or `events.csv`, several that begin with
    its name and a hyphen (`events-1.parquet`), or a folder of such files (`events/`).

    >>> logs = read_logs("examples")
    >>> logs.columns("assignments")
    ['unit_id', 'variant', 'ts_first', 'device']
    """
    given = _in_folder(os.fspath(source)) if isinstance(source, str | os.PathLike) else dict(source)
    for name in given:
        if name not in TABLES:
            raise UsageError(f"there is no table '{name}': a log has {', '.join(TABLES)}")
    for name in NEEDED:
        if name not in given:
            raise _without(name, given, source)
    kinds = {_library(value) for value in given.values()}
    if kinds in ({"polars"}, {"pyspark"}):  # what is asked of these frames is computed where they are
        frames = _alike({name: _conformed_frame(frame, name) for name, frame in given.items()})
        return Logs(**frames, sources=_sources(given), raw=given)
    connection = engine.connected(threads)
    raw = {name: _relation(connection, value, name) for name, value in given.items()}
    labels = _sources(given)
    made = {name: engine.conformed(connection, relation, name, labels[name]) for name, relation in raw.items()}
    import narwhals as nw

    frames = _alike({name: nw.from_native(relation) for name, relation in made.items()})
    return Logs(**frames, sources=labels, connection=connection, raw=raw)


def _without(table: str, given: Mapping[str, Any], source: Any) -> DataError:
    """A table is missing: which, and what to name."""
    if isinstance(source, str | os.PathLike):
        return DataError(f"has no {table}", source=os.fspath(source), remedy=f"It needs a file {_called(table)}.")
    there = f"the log has {' and '.join(given) or 'nothing'} and no {table}"
    remedy = f"Name a file {_called(table)} too, or the folder that has all of them."
    return DataError(there, source=next(iter(_sources(given).values()), "the log"), remedy=remedy)


def _called(table: str) -> str:
    return f"{table}.parquet, {table}.jsonl or {table}.csv"


def _in_folder(folder: str) -> dict[str, Any]:
    """The files of each table in a folder."""
    if not os.path.isdir(folder):
        raise DataError(
            "is no folder with the tables of a log", source=folder, remedy=f"It has {', '.join(TABLES)}, a file each."
        )
    found: dict[str, Any] = {}
    names = sorted(os.listdir(folder))
    for table in TABLES:
        inside = os.path.join(folder, table)
        if os.path.isdir(inside):
            files = [os.path.join(inside, name) for name in sorted(os.listdir(inside)) if engine.form_of(name)]
        else:
            mine = [name for name in names if name.partition(".")[0] == table or name.startswith(f"{table}-")]
            files = [os.path.join(folder, name) for name in mine if engine.form_of(name)]
            forms = sorted({str(engine.form_of(name)) for name in files})
            if len(forms) > 1:
                raise DataError(
                    f"has the {table} in several forms, {' and '.join(forms)}: which are meant?", source=folder
                )
        if files:
            found[table] = files
    return found


def logs_named(paths: Sequence[str]) -> Any:
    """What `read_logs` takes of the names on a command line: a folder, or files by the table that each is of.

    >>> logs_named(["examples"]), logs_named(["examples/events.jsonl"])
    ('examples', {'events': ['examples/events.jsonl']})
    """
    is_folder = len(paths) == 1 and (os.path.isdir(paths[0]) or not engine.form_of(paths[0]))
    return paths[0] if is_folder else tables_of(paths)


def tables_of(files: Sequence[str]) -> dict[str, list[str]]:
    """Files by the table that each is of, which their names begin with.

    >>> tables_of(["logs/events-1.parquet", "logs/events-2.parquet", "impressions.csv"])
    {'events': ['logs/events-1.parquet', 'logs/events-2.parquet'], 'impressions': ['impressions.csv']}
    """
    found: dict[str, list[str]] = {}
    for path in files:
        table = re.split(r"[.-]", os.path.basename(path))[0]
        if table not in TABLES:
            raise UsageError(
                f"{path}: of which table is it? Call it {either(TABLES)}, with .parquet, .jsonl or .csv after it"
            )
        found.setdefault(table, []).append(path)
    return found


def _relation(connection: Any, given: Any, table: str) -> Any:
    """A relation of files or of a frame."""
    if isinstance(given, str | os.PathLike):
        given = [os.fspath(given)]
    if isinstance(given, list | tuple):
        paths = [os.fspath(path) for path in given]
        missing = [path for path in paths if not os.path.isfile(path)]
        if missing or not paths:
            raise DataError("there is no such file", source=missing[0] if missing else f"the {table}")
        return engine.scanned(connection, paths)
    if not hasattr(given, "__arrow_c_stream__"):
        raise UsageError(f"the {table} are a file, a list of files or a frame, not {type(given).__name__}")
    return connection.from_arrow(library("pyarrow", "a frame").table(given))


def _library(value: Any) -> str:
    return type(value).__module__.partition(".")[0]


def _collected(frame: Any) -> Any:
    return frame.collect() if hasattr(frame, "collect") else frame


def _sources(given: Mapping[str, Any]) -> dict[str, str]:
    labels = {}
    for name, value in given.items():
        files = [value] if isinstance(value, str | os.PathLike) else value
        if isinstance(files, list | tuple) and files:
            more = f" and {plural(len(files) - 1, 'more file')}" if len(files) > 1 else ""
            labels[name] = f"{os.fspath(files[0])}{more}"
        else:
            labels[name] = f"{name} ({type(value).__module__.partition('.')[0]})"
    return labels


def _conformed_frame(frame: Any, table: str) -> Frame:
    """A frame of Polars or Spark under our names; its columns must be of the right types already."""
    import narwhals as nw

    lazy = nw.from_native(frame).lazy()
    ours = lazy.rename(renamed(table, lazy.collect_schema().names(), f"the {table}"))
    changes = []
    for name, kind in ours.collect_schema().items():
        column = TABLES[table].get(name)
        if column is None or column.kind != "time":
            continue
        if not isinstance(kind, nw.Datetime):
            other = {"pyspark": f"to_timestamp({name!r})"}
            how = other.get(_library(frame), f"pl.col({name!r}).str.to_datetime(time_zone='UTC')")
            remedy = f"Convert it, as by {how}."
            raise DataError(f"{name} is {kind}, not a date with a time", source=f"the {table}", remedy=remedy)
        changes.append(name)
    if _library(frame) == "pyspark":
        return nw.from_native(_in_microseconds(ours.to_native(), changes))
    return ours.with_columns(*(nw.col(name).dt.timestamp("us") for name in changes)) if changes else ours


def _in_microseconds(frame: Any, names: Sequence[str]) -> Any:
    """Times of a frame of Spark as whole numbers, which Narwhals has for others; one without a zone is UTC."""
    from pyspark.sql import functions

    for name in names:
        quoted = "`" + name.replace("`", "``") + "`"
        if frame.schema[name].dataType.typeName() == "timestamp_ntz":
            micros = f"timestampdiff(MICROSECOND, timestamp_ntz'1970-01-01 00:00:00', {quoted})"
        else:
            micros = f"unix_micros({quoted})"
        frame = frame.withColumn(name, functions.expr(micros))
    return frame


def _alike(frames: dict[str, Frame]) -> dict[str, Frame]:
    """Ids that are numbers in one table and texts in another become texts."""
    import narwhals as nw

    kinds = {name: frame.collect_schema() for name, frame in frames.items()}

    def texts(places: list[tuple[str, str]]) -> None:
        there = [(table, name) for table, name in places if table in frames and name in kinds[table]]
        if len({kinds[table][name] for table, name in there}) > 1:
            for table, name in there:
                frames[table] = frames[table].with_columns(nw.col(name).cast(nw.String))

    frames = dict(frames)
    texts([("impressions", "query_id"), ("events", "query_id")])
    texts([("impressions", "user_id"), ("assignments", "unit_id"), ("covariates", "unit_id")])
    return frames
