"""trec_eval's lines, to the character."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from cranfield.judged import Floats
from cranfield.trec_eval.arguments import CalculationError, Options
from cranfield.trec_eval.names import TrecMeasure

LINE = "{:<22}\t{}\t{}\n"
FRACTION = "%6.4f"


class PrintedColumn(NamedTuple):
    """One printed name with its values for the topics that are evaluated, in trec_eval's order, and for all of them."""

    entry: TrecMeasure
    name: str
    values: Floats = np.zeros(0)
    total: float | None = None
    texts: Sequence[str] = ()


class Table(NamedTuple):
    """Everything that may be printed: up to the topic at which trec_eval stops, if it does, and then no summary."""

    topics: list[str]
    columns: list[PrintedColumn]
    run_name: str
    n_topics: int
    stopped: CalculationError | None = None


def rendered(table: Table, options: Options) -> str:
    """The whole output."""
    per_topic = _per_topic(table, options) if options.per_topic else ()
    summary = _summary(table, options) if options.summary and table.stopped is None else ()
    return "".join((*per_topic, *summary))


def _per_topic(table: Table, options: Options) -> Iterator[str]:
    shown = [column for column in table.columns if column.entry.summary in ("mean", "sum", "per topic")]
    if not shown:
        return
    # One template for all topics: formatting line by line would take most of the time.
    template = "".join(_line(column, "\0", _form(column.entry, options), options) for column in shown)
    lists = [column.texts or _printable(column, options) for column in shown]
    for topic, values in zip(table.topics, zip(*lists, strict=True), strict=True):
        yield template.replace("\0", topic.replace("%", "%%")) % values


def _summary(table: Table, options: Options) -> Iterator[str]:
    for column in table.columns:
        summary = column.entry.summary
        if summary == "text":
            yield LINE.format(column.name, "all", table.run_name)
        elif summary == "topics":
            yield _line(column, "all", _form(column.entry, options) % table.n_topics, options)
        elif column.total is not None:
            value = int(column.total) if _whole(column.entry, options) else column.total
            yield _line(column, "all", _form(column.entry, options) % value, options)


def _line(column: PrintedColumn, topic: str, value: str, options: Options) -> str:
    prefix = "Z" if options.zscores is not None and column.entry.summary != "per topic" else ""
    return prefix + LINE.format(column.name, topic, value)


def _whole(entry: TrecMeasure, options: Options) -> bool:
    return (entry.is_count or entry.summary == "topics") and options.zscores is None


def _form(entry: TrecMeasure, options: Options) -> str:
    if entry.summary == "per topic":
        return "'%s'"
    return "%d" if _whole(entry, options) else FRACTION


def _printable(column: PrintedColumn, options: Options) -> list[float]:
    values = column.values.astype(np.int64) if _whole(column.entry, options) else column.values
    listed: list[float] = values.tolist()
    return listed
