"""The format of SMART: a line `.I` with the id begins a record, a line `.T`, `.A`, `.B`, `.W` begins a field."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import pairwise

from cranfield.errors import DataError
from cranfield.texts.forms import (
    Found,
    Kind,
    Losses,
    Note,
    Piece,
    Records,
    Texts,
    columns_of,
    fault_at,
    line_numbers,
    text_format,
)
from cranfield.texts.texts import Topics

_RECORD = re.compile(r"^\.I(?:[ \t]+(.*))?$", re.MULTILINE)
_MARK = re.compile(r"^\.([A-Z])[ \t]*$\n?", re.MULTILINE)
_LIKE_A_MARK = re.compile(r"^\.(?:[A-Z][ \t]*$|I[ \t])", re.MULTILINE)
_DOCUMENT = {"T": "title", "A": "author", "B": "bibliography", "W": "text", "K": "keywords", "X": "references"}
_TOPIC = {"T": "title", "A": "author", "B": "bibliography", "W": "description", "N": "narrative", "K": "keywords"}
_ONE_TEXT = {**_TOPIC, "W": "title"}  # topics without .T: their only text is the query


def read(text: str, source: str, kind: Kind) -> Found:
    text = text.replace("\r\n", "\n")
    records = list(_RECORD.finditer(text))
    before = text[: records[0].start()] if records else text
    if before.strip():
        at = len(before) - len(before.lstrip())
        raise fault_at(
            text, at, "text before the first .I", source, "In SMART's format a line '.I id' begins a record."
        )
    if not records:
        raise DataError("has no record", source=source)
    ends = [record.start() for record in records[1:]] + [len(text)]
    bodies = [_parts(text[record.end() + 1 : end]) for record, end in zip(records, ends, strict=True)]
    names = _names(kind, any(mark == "T" for parts in bodies for mark, _ in parts))
    ids: list[str] = []
    rows: list[dict[str, str]] = []
    repeated = 0
    for record, parts in zip(records, bodies, strict=True):
        id = (record[1] or "").strip()
        if not id:
            raise fault_at(text, record.start(), "a record without an id", source, "Write it after .I: '.I 12'.")
        if parts and not parts[0][0]:
            raise fault_at(text, record.end() + 1, "text before the first field", source, "Begin it with a line '.W'.")
        row: dict[str, str] = {}
        for mark, content in parts:
            name = names.get(mark, mark.lower())
            repeated += name in row
            row[name] = f"{row[name]}\n{content}" if row.get(name) else content
        ids.append(id)
        rows.append(row)
    notes = [Note("repeated-fields", repeated, "field", "repeated in a record: joined")]
    lines = line_numbers(text, [record.start() for record in records])
    return Found(ids, columns_of(rows), lambda number: (source, lines[number]), notes)


def _parts(body: str) -> list[tuple[str, str]]:
    """The fields of a record: their letter and text, without the end of its last line; no letter before the first."""
    lead, *rest = _MARK.split(body)
    parts = [("", lead)] if lead.strip() else []
    return parts + [(mark, content.removesuffix("\n")) for mark, content in zip(rest[::2], rest[1::2], strict=True)]


def _names(kind: Kind, has_titles: bool) -> Mapping[str, str]:
    return _DOCUMENT if kind == "documents" else _TOPIC if has_titles else _ONE_TEXT


def write(texts: Texts, losses: Losses) -> Iterator[str]:
    is_topics = isinstance(texts, Topics)
    two_texts = any(texts.fields.get("description", ()))
    names = _names("topics" if is_topics else "documents", two_texts)
    mark_of = {name: mark for mark, name in names.items() if mark != "T" or not is_topics or two_texts}
    for id, fields in texts.rows():
        if "\n" in id or "\r" in id or id != id.strip():
            raise DataError(f"the id {id!r} cannot be written after .I", remedy="Choose another format, such as jsonl.")
        yield f".I {id}\n"
        for name, mark in sorted(mark_of.items(), key=lambda item: "TABNKXW".index(item[1])):
            text = fields.get(name, "")
            if text or mark == "W" or (mark == "T" and two_texts):
                yield f".{mark}\n{_held(text, id, losses)}"
        for name in fields:
            if name not in mark_of and fields[name]:
                losses.add(f"SMART's format has no field '{name}'", id)


def _held(text: str, id: str, losses: Losses) -> str:
    if "\r" in text:
        losses.add("carriage returns become ends of lines", id)
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if _LIKE_A_MARK.search(text):
        losses.add("a line that looks like the beginning of a field gets a blank before it", id)
        text = _LIKE_A_MARK.sub(lambda match: f" {match[0]}", text)
    return f"{text}\n" if text else ""


def recognise(head: str, kind: Kind) -> bool:
    first = _RECORD.search(head)
    return first is not None and not head[: first.start()].strip()


def before_last_record(text: str) -> int:
    """Where the last record, which may go on, begins."""
    return max((record.start() for record in _RECORD.finditer(text)), default=0)


def pieces(text: str) -> list[Piece]:
    """Each record from its .I to the next one."""
    starts = [record.start() for record in _RECORD.finditer(text)]
    return [Piece(start, end) for start, end in pairwise([*starts, len(text)])]


SMART = text_format(
    "smart",
    read,
    write,
    recognise=recognise,
    suffixes=(".qry", ".all", ".smart"),
    tried=10,
    records=Records(cut=before_last_record, pieces=pieces),
)
