"""DuckDB, in the process: it reads files of logs, Arrow tables and pandas frames. Polars frames need none of it."""

from __future__ import annotations

import atexit
import os
import tempfile
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from cranfield.errors import DataError, UsageError, shorten
from cranfield.formats import touched
from cranfield.libraries import library
from cranfield.online.log_tables import TABLES, LogColumn, renamed

if TYPE_CHECKING:
    from types import ModuleType

MEMORY = "1500MB"  # beyond which DuckDB writes to temporary files
MEMORY_VARIABLE = "CRANFIELD_ONLINE_MEMORY"
SUFFIXES = {".parquet": "parquet", ".jsonl": "json", ".ndjson": "json", ".json": "json", ".csv": "csv", ".tsv": "csv"}
PACKED = (".gz", ".zst")
_EPOCH = (  # numbers for times are seconds, or parts of them: which, their size tells
    "CASE WHEN abs({0}) < 1e11 THEN {0} * 1e6 WHEN abs({0}) < 1e14 THEN {0} * 1e3 WHEN abs({0}) < 1e17 THEN {0} "
    "ELSE {0} / 1e3 END"
)


def duckdb() -> ModuleType:
    """DuckDB; if it is not installed, an error says how to get it."""
    return library("duckdb", "reading logs")


def connected(threads: int | None = None) -> Any:
    """A connection to an empty database in memory, which loads nothing from elsewhere.

    >>> connected().sql("SELECT 1 + 1").fetchall()
    [(2,)]
    """
    config: dict[str, Any] = {
        "memory_limit": os.environ.get(MEMORY_VARIABLE, MEMORY),
        "temp_directory": tempfile.gettempdir(),
        "preserve_insertion_order": False,
        "autoinstall_known_extensions": False,
    }
    if threads is not None:
        config["threads"] = threads
    connection = duckdb().connect(":memory:", config=config)
    connection.execute("SET enable_progress_bar = false")
    connection.execute("SET TimeZone = 'UTC'")  # a time without a zone is taken for UTC, wherever this runs
    return connection


@atexit.register
def _let_go() -> None:
    """Narwhals keeps DuckDB's types beyond their library's end, which DuckDB reports on standard error as a leak."""
    import sys

    module = sys.modules.get("narwhals._namespace")
    clear = getattr(getattr(module, "_builtin_namespace", None), "cache_clear", None)
    if clear is not None:
        clear()


def quoted(name: str) -> str:
    """A name as SQL has it.

    >>> print(quoted('a "b'))
    "a ""b"
    """
    return '"' + name.replace('"', '""') + '"'


def form_of(path: str) -> str | None:
    """The form of a file by its name: parquet, json or csv; None of another.

    >>> form_of("events.jsonl.gz"), form_of("events.parquet"), form_of("events.txt")
    ('json', 'parquet', None)
    """
    stem, suffix = os.path.splitext(path)
    if suffix.lower() in PACKED:
        suffix = os.path.splitext(stem)[1]
    return SUFFIXES.get(suffix.lower())


def scanned(connection: Any, paths: Sequence[str]) -> Any:
    """The rows of files as they are, a relation; text stays text where Parquet has no types of its own."""
    for path in paths:
        if any(mark in path for mark in "*?["):
            raise UsageError(f"{shorten(path)}: a file whose name has *, ? or [ cannot be read: call it otherwise")
        touched.reads(path)
    forms = {form_of(path) for path in paths}
    if len(forms) > 1 or None in forms:
        known = ", ".join(SUFFIXES)
        raise DataError(f"is no file of a log: its name ends in {known}, or that and .gz or .zst", source=paths[0])
    form = forms.pop()
    if not any(os.path.getsize(path) for path in paths):
        names = ", not even the names of columns" if form == "csv" else ""
        raise DataError(f"is empty: it has nothing{names}", source=paths[0])
    try:
        if form == "parquet":
            return connection.read_parquet(list(paths), union_by_name=True)
        if form == "csv":
            return connection.read_csv(list(paths), header=True, all_varchar=True, union_by_name=True)
        return _read_json(connection, list(paths))
    except duckdb().Error as error:
        raise DataError(f"cannot be read: {_first_line(error)}", source=paths[0]) from None


def _read_json(connection: Any, paths: list[str]) -> Any:
    """JSON objects, a line each. Times stay texts: whether they have a zone is seen in these alone."""
    relation = connection.read_json(paths, format="auto", union_by_name=True)
    kinds = dict(zip(relation.columns, map(str, relation.types), strict=True))
    texts = {name: _as_text(kind) for name, kind in kinds.items()}
    return connection.read_json(paths, format="auto", columns=texts)


def _as_text(kind: str) -> str:
    """The type to read JSON as: texts that look like times or are beside numbers stay what they are."""
    if kind.endswith("[]"):
        return f"{_as_text(kind[:-2])}[]"
    return "VARCHAR" if kind.startswith(("TIMESTAMP", "DATE", "TIME", "UUID", "JSON")) else kind


def _first_line(error: Exception) -> str:
    return shorten(" ".join(str(error).split("\n\n")[0].split()), 300)


def conformed(connection: Any, relation: Any, table: str, source: str) -> Any:
    """The same rows with our names and types; what cannot be taken for its type becomes null, which `check` counts."""
    names = renamed(table, list(relation.columns), source)
    chosen = []
    for name, kind in zip(relation.columns, map(str, relation.types), strict=True):
        ours = names.get(name, name)
        column = TABLES[table].get(ours)
        chosen.append(f"{quoted(name) if column is None else cast(quoted(name), kind, column)} AS {quoted(ours)}")
    return relation.project(", ".join(chosen))


def cast(name: str, kind: str, column: LogColumn) -> str:
    """SQL that makes of a column what it has to be, or null."""
    if column.kind == "id":
        return name if kind in ("VARCHAR", "BIGINT", "INTEGER", "UBIGINT", "UINTEGER") else f"{name}::VARCHAR"
    if column.kind == "text":
        return f"{name}::VARCHAR"
    if column.kind == "time":
        return _time(name, kind)
    if column.kind in ("texts", "numbers"):
        wanted = "VARCHAR[]" if column.kind == "texts" else "DOUBLE[]"
        if kind != "VARCHAR":
            return f"TRY_CAST({name} AS {wanted})"
        parts = f"string_split_regex(trim({name}), '\\s+')"
        return (
            f"CASE WHEN trim({name}) = '' THEN []::{wanted} WHEN trim({name}) LIKE '[%' "
            f"THEN TRY_CAST({name} AS {wanted}) ELSE TRY_CAST({parts} AS {wanted}) END"
        )
    wanted = {"whole": "BIGINT", "number": "DOUBLE", "flag": "BOOLEAN"}[column.kind]
    return name if kind == wanted else f"TRY_CAST({name} AS {wanted})"


def _time(name: str, kind: str) -> str:
    """Microseconds since 1970 in UTC: whole numbers mean the same to every engine."""
    if kind.startswith(("TIMESTAMP", "DATE")):
        return f"epoch_us({name})"
    if kind == "VARCHAR":  # one with a zone is turned into UTC, one without is taken for UTC
        number = f"TRY_CAST({name} AS DOUBLE)"
        time = f"epoch_us(TRY_CAST({name} AS TIMESTAMPTZ))"
        return f"CASE WHEN {number} IS NULL THEN {time} ELSE CAST({_EPOCH.format(number)} AS BIGINT) END"
    number = f"CAST({name} AS DOUBLE)" if kind in ("DOUBLE", "FLOAT") else f"CAST({name} AS HUGEINT)"
    return f"CAST({_EPOCH.format(number)} AS BIGINT)"
