"""Runs and judgements as text: numbers such that reading gives the same doubles, ranks by the order in which they count."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from cranfield.tables import Qrels, Run

Table = Run | Qrels


class TableFormat(NamedTuple):
    """How a format is written: the suffixes that call for it, what no id may contain, and the writer."""

    name: str
    suffixes: tuple[str, ...]
    unfit: re.Pattern[str]
    write: Callable[[Table, str], Iterator[str]]


# The first character of a file may not be a byte-order mark, which readers drop.
_BLANKS = re.compile("[ \t\r\n\0]|^\ufeff|^$")
_TABS = re.compile("[\t\r\n\0]|^\ufeff|^$")
_LINES = re.compile("[\r\n\0]|^\ufeff|^$")
_NOTHING = re.compile("^$")


def number(value: float) -> str:
    """A number in the fewest digits that give it back; whole numbers without a point.

    >>> number(3.0), number(0.1), number(1e300), number(float("inf"))
    ('3', '0.1', '1e+300', 'inf')
    """
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 and str(value) != "-0.0" else repr(value)


def _trec(table: Table, tag: str) -> Iterator[str]:
    for topic, documents in table.to_dict().items():
        if isinstance(table, Run):
            rows = enumerate(documents.items(), start=1)
            yield "".join(f"{topic} Q0 {document} {rank} {number(value)} {tag}\n" for rank, (document, value) in rows)
        else:
            yield "".join(f"{topic} 0 {document} {number(value)}\n" for document, value in documents.items())


def _msmarco(table: Table, tag: str) -> Iterator[str]:
    for topic, documents in table.to_dict().items():
        if isinstance(table, Run):
            yield "".join(f"{topic}\t{document}\t{rank}\n" for rank, document in enumerate(documents, start=1))
        else:
            yield "".join(f"{topic}\t0\t{document}\t{number(value)}\n" for document, value in documents.items())


def _beir(table: Table, tag: str) -> Iterator[str]:
    yield "query-id\tcorpus-id\tscore\n"
    for topic, documents in table.to_dict().items():
        yield "".join(f"{topic}\t{document}\t{number(value)}\n" for document, value in documents.items())


def _delimited(table: Table, tag: str, delimiter: str, held: Callable[[str], str]) -> Iterator[str]:
    yield delimiter.join(_names(table)) + "\n"
    tag = held(tag)
    for topic, documents in table.to_dict().items():
        shown = held(topic)
        for rank, (document, value) in enumerate(documents.items(), start=1):
            row = (shown, held(document), str(rank), number(value), tag)
            yield delimiter.join(row if isinstance(table, Run) else (row[0], row[1], row[3])) + "\n"


def _names(table: Table) -> tuple[str, ...]:
    return ("topic", "document", "rank", "score", "tag") if isinstance(table, Run) else ("topic", "document", "grade")


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"' if re.search(r'[",]|^\s|\s$', text) else text


def _json_lines(table: Table, tag: str) -> Iterator[str]:
    import json

    names = _names(table)
    for topic, documents in table.to_dict().items():
        for rank, (document, value) in enumerate(documents.items(), start=1):
            row = (topic, document, rank, value, tag) if isinstance(table, Run) else (topic, document, _whole(value))
            yield json.dumps(dict(zip(names, row, strict=True)), ensure_ascii=False) + "\n"


def _json(table: Table, tag: str) -> Iterator[str]:
    import json

    opening = "{"
    for topic, documents in table.to_dict().items():
        held = {document: _whole(value) for document, value in documents.items()}
        yield f"{opening}{json.dumps(topic, ensure_ascii=False)}: {json.dumps(held, ensure_ascii=False)}"
        opening = ",\n"
    yield "}\n"


def _whole(value: float) -> float | int:
    return int(value) if value.is_integer() and abs(value) < 1e15 and str(value) != "-0.0" else value


def columns(table: Table, tag: str) -> dict[str, list[Any]]:
    """Topic, document and number as columns, for Parquet; of runs also rank and tag."""
    rows = [
        (topic, document, rank, value, tag) if isinstance(table, Run) else (topic, document, value)
        for topic, documents in table.to_dict().items()
        for rank, (document, value) in enumerate(documents.items(), start=1)
    ]
    return {name: list(column) for name, column in zip(_names(table), zip(*rows, strict=True), strict=True)}


def _no_text(table: Table, tag: str) -> Iterator[str]:
    raise TypeError("Parquet is not text: its writer takes columns")


FORMATS: tuple[TableFormat, ...] = (
    TableFormat("trec", (".run", ".qrels", ".trec", ".txt", ".res", ".qrel"), _BLANKS, _trec),
    TableFormat("msmarco", (), _BLANKS, _msmarco),
    TableFormat("csv", (".csv",), _LINES, lambda table, tag: _delimited(table, tag, ",", _quoted)),
    TableFormat("tsv", (".tsv",), _TABS, lambda table, tag: _delimited(table, tag, "\t", str)),
    TableFormat("beir", (), _TABS, _beir),
    TableFormat("jsonl", (".jsonl", ".ndjson"), _NOTHING, _json_lines),
    TableFormat("json", (".json",), _NOTHING, _json),
    TableFormat("parquet", (".parquet",), _NOTHING, _no_text),
)
