"""The tables of a log, and logs of others, as the lines that `read_page_views` makes pages of."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from cranfield.errors import DataError, UsageError, plural
from cranfield.evaluation.findings import Finding
from cranfield.online.page_views import LogLine

if TYPE_CHECKING:
    from cranfield.formats.given import File
    from cranfield.online.logs import Frame, Logs

_IMPRESSION = ("query_id", "ts", "user_id", "session_id", "query_text", "topic", "variant", "system", "docs")
_EVENT = ("query_id", "ts", "action", "doc_id", "rank", "dwell_s")
_AT_ONCE = 20_000  # rows that become objects together


def is_of_tables(files: Sequence[File]) -> bool:
    """Whether files are tables of a log rather than JSON lines: a folder, or one that is Parquet or CSV by its name.

    >>> is_of_tables(["impressions.parquet", "events.jsonl"]), is_of_tables(["clicks.jsonl"])
    (True, False)
    """
    from cranfield.online.engine import form_of

    paths = [os.fspath(file) for file in files if isinstance(file, str | os.PathLike)]
    return any(os.path.isdir(path) or form_of(path) in ("parquet", "csv") for path in paths)


def table_lines(files: Sequence[File], odd: list[Finding]) -> tuple[Iterator[LogLine], str]:
    """The rows of the tables of a log, in the order of time; `odd` gets what is to be told of them."""
    from cranfield.online.logs import logs_named, read_logs

    if not all(isinstance(file, str | os.PathLike) for file in files):
        raise UsageError("tables of a log are named by their files: give a folder, or files called impressions, events")
    paths = [os.fspath(file) for file in files if isinstance(file, str | os.PathLike)]
    logs = read_logs(logs_named(paths))
    if "docs" not in logs.columns("impressions"):
        known = ", ".join(logs.columns("impressions"))
        raise DataError(
            "the impressions have no column docs, which says what was shown",
            source=logs.sources["impressions"],
            remedy=f"They have: {known}.",
        )
    return _of_logs(logs, odd), ", ".join(dict.fromkeys(logs.sources[name] for name in ("impressions", "events")))


def _of_logs(logs: Logs, odd: list[Finding]) -> Iterator[LogLine]:
    arms = _arms(logs, odd)
    empty = 0
    for number, row in _rows(logs.impressions, logs.columns("impressions"), _IMPRESSION):
        if row.get("docs") is None:
            empty += 1
            continue
        if arms is not None and row.get("user_id") in arms:
            row["variant"] = arms[row["user_id"]]
        yield LogLine(logs.sources["impressions"], number, "", row)
    if empty:
        message = f"{plural(empty, 'impression')} without docs, left out"
        odd.append(Finding("no-docs", logs.sources["impressions"], message))
    for number, row in _rows(logs.events, logs.columns("events"), _EVENT):
        if row.get("action") is not None:
            yield LogLine(logs.sources["events"], number, "", row)


def _rows(frame: Frame, known: Sequence[str], wanted: Sequence[str]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Rows by time, and those of the same time by query, whatever their order in the file; times in seconds."""
    from cranfield.online.arrow_columns import arrow_table

    names = [name for name in wanted if name in known]
    order = [name for name in ("ts", "query_id", "action", "doc_id", "rank") if name in names]
    table = arrow_table(frame.select(*names).sort(*order))
    number = 0
    for batch in table.to_batches(max_chunksize=_AT_ONCE):
        for row in batch.to_pylist():
            number += 1
            if row.get("ts") is not None:
                row["ts"] /= 1_000_000
            yield number, {name: value for name, value in row.items() if value is not None and value != ""}


def _arms(logs: Logs, odd: list[Finding]) -> dict[Any, str] | None:
    """The arm of each unit by the assignments, if pages do not say it themselves; who is in two has none."""
    if logs.assignments is None or {"variant", "system"} & set(logs.columns("impressions")):
        return None
    from cranfield.online.arrow_columns import arrow_table

    table = arrow_table(logs.assignments.select("unit_id", "variant"))
    found: dict[Any, set[str]] = {}
    for unit, arm in zip(table.column("unit_id").to_pylist(), table.column("variant").to_pylist(), strict=True):
        found.setdefault(unit, set()).add(arm)
    twice = sum(len(arms) > 1 for arms in found.values())
    if twice:
        message = f"{plural(twice, 'unit')} in two arms: their pages are of no system"
        odd.append(Finding("two-arms", logs.sources["assignments"], message))
    return {unit: next(iter(arms)) for unit, arms in found.items() if len(arms) == 1}


def foreign_lines(format: str, files: Sequence[File], odd: list[Finding]) -> tuple[Iterator[LogLine], str]:
    """The rows of a log in a format of others; `odd` gets what was left out or guessed."""
    from cranfield.online.imports import LOG_FORMATS

    if not files or not all(isinstance(file, str | os.PathLike) for file in files):
        raise UsageError(f"a log in the format {format} is read from files: name one")
    paths = [os.fspath(file) for file in files if isinstance(file, str | os.PathLike)]
    return _of_format(LOG_FORMATS.find(format).name, paths, odd), ", ".join(dict.fromkeys(paths))


def _of_format(format: str, paths: Sequence[str], odd: list[Finding]) -> Iterator[LogLine]:
    from cranfield.online.imports import LOG_FORMATS, Notes, told

    notes, label = Notes(), ", ".join(dict.fromkeys(paths))
    for number, (_, values) in enumerate(LOG_FORMATS.find(format).function(paths, notes), start=1):
        row = {name: _seconds(value) for name, value in values.items() if value is not None and value != ""}
        yield LogLine(label, number, "", row)
    odd.extend(Finding("import", label, message, doubtful=False) for message in told(notes))


def _seconds(value: Any) -> Any:
    return value.timestamp() if isinstance(value, datetime) else value
