"""Runs and judgements as text: numbers such that reading gives the same doubles, ranks in the order that counts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any, NamedTuple

from cranfield.formats import suffix_of
from cranfield.tables import Qrels, Run

Table = Run | Qrels


class TableFormat(NamedTuple):
    """How a format is written: the suffixes that call for it, what no id may contain, and the writer."""

    name: str
    suffixes: tuple[str, ...]
    unfit: re.Pattern[str]
    write: Callable[[Table, str], Iterator[str]]


_BLANKS = re.compile("[ \t\r\n\0]")
_TABS = re.compile("[\t\r\n\0]")
_LINES = re.compile("[\r\n\0]")
_NOTHING = re.compile(r"(?!)")


def number(value: float) -> str:
    """A number in the fewest digits that give it back; whole numbers without a point.

    >>> number(3.0), number(0.1), number(1e300), number(float("inf"))
    ('3', '0.1', '1e+300', 'inf')
    """
    return repr(value).removesuffix(".0")


def _trec(table: Table, tag: str) -> Iterator[str]:
    for topic, documents in table.to_dict().items():
        rows = zip(count(1), documents, map(number, documents.values()), strict=False)
        if isinstance(table, Run):
            yield "".join([f"{topic} Q0 {document} {rank} {value} {tag}\n" for rank, document, value in rows])
        else:
            yield "".join([f"{topic} 0 {document} {value}\n" for _, document, value in rows])


def _msmarco(table: Table, tag: str) -> Iterator[str]:
    for topic, documents in table.to_dict().items():
        if isinstance(table, Run):
            yield "".join([f"{topic}\t{document}\t{rank}\n" for rank, document in enumerate(documents, start=1)])
        else:
            yield "".join([f"{topic}\t0\t{document}\t{number(value)}\n" for document, value in documents.items()])


def _beir(table: Table, tag: str) -> Iterator[str]:
    yield "query-id\tcorpus-id\tscore\n"
    for topic, documents in table.to_dict().items():
        yield "".join([f"{topic}\t{document}\t{number(value)}\n" for document, value in documents.items()])


def _delimited(table: Table, tag: str, delimiter: str, held: Callable[[str], str]) -> Iterator[str]:
    yield delimiter.join(_names(table)) + "\n"
    for topic, documents in table.to_dict().items():
        start, end = held(topic) + delimiter, delimiter + held(tag) + "\n"
        rows = zip(count(1), map(held, documents), map(number, documents.values()), strict=False)
        if isinstance(table, Run):
            lines = [f"{start}{id}{delimiter}{rank}{delimiter}{value}{end}" for rank, id, value in rows]
        else:
            lines = [f"{start}{id}{delimiter}{value}\n" for _, id, value in rows]
        yield "".join(lines)


def _names(table: Table) -> tuple[str, ...]:
    return ("topic", "document", "rank", "score", "tag") if isinstance(table, Run) else ("topic", "document", "grade")


def _quoted(text: str) -> str:
    held = text.lstrip().startswith("#") or '"' in text or "," in text  # a # in quotes does not start a comment
    return '"' + text.replace('"', '""') + '"' if held else text


def _json_lines(table: Table, tag: str) -> Iterator[str]:
    encode = _encoder()
    end = f', "tag": {encode(tag)}}}\n'
    for topic, documents in table.to_dict().items():
        start = f'{{"topic": {encode(topic)}, "document": '
        rows = zip(count(1), map(encode, documents), map(encode, documents.values()), strict=False)
        if isinstance(table, Run):
            yield "".join([f'{start}{id}, "rank": {rank}, "score": {value}{end}' for rank, id, value in rows])
        else:
            yield "".join([f'{start}{id}, "grade": {value.removesuffix(".0")}}}\n' for _, id, value in rows])


def _json(table: Table, tag: str) -> Iterator[str]:
    encode = _encoder()
    opening = "{"
    for topic, documents in table.to_dict().items():
        yield f"{opening}{encode(topic)}: {encode(documents)}"
        opening = ",\n"
    yield "}\n"


def _encoder() -> Callable[[Any], str]:
    import json

    return json.JSONEncoder(ensure_ascii=False).encode


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


def format_of(path: str) -> str:
    """The format that the suffix of a run or of judgements calls for; TREC text if it calls for none.

    >>> format_of("fused.jsonl.gz"), format_of("fused.v2"), format_of("-")
    ('jsonl', 'trec', 'trec')
    """
    return next((format.name for format in FORMATS if suffix_of(path) in format.suffixes), "trec")
