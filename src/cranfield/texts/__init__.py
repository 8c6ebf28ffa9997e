"""What is searched, and what is asked. One module a format; `read_documents` and `read_topics` choose."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, get_args

from cranfield.errors import DataError, UsageError, some
from cranfield.formats import stem, suffix_of
from cranfield.formats.sources import Source, open_source
from cranfield.texts import datasets, delimited, json_lines, sgml, smart, tabular, trec_topics
from cranfield.texts.base import Documents, Topics
from cranfield.texts.forms import Found, Kind, Notes, TextFormat, Texts, decoded, id_bytes, joined, no_duplicates
from cranfield.texts.kinds import head_of, kind_of

# In the order in which they are tried on a file's first characters; tags may stand in any text.
_BEFORE = (smart.SMART, delimited.CSV, delimited.TSV, json_lines.JSON_LINES, json_lines.BEIR)
FORMATS: Mapping[Kind, tuple[TextFormat, ...]] = {
    "documents": (*_BEFORE, sgml.TREC, delimited.MSMARCO),
    "topics": (*_BEFORE, trec_topics.TREC, delimited.MSMARCO),
}
PARQUET = "parquet"
Ids = Literal["given", "position", "number"]
_NOUN: Mapping[Kind, str] = {"documents": "document", "topics": "topic"}


def read_documents(source: Any, *, format: str | None = None, name: str | None = None) -> Documents:
    """Reads documents: from a file, from all files of a folder and those below it, from memory, from ir_datasets.

    Files are TREC SGML, SMART, BEIR or other JSON lines, MS MARCO TSV, CSV or TSV with a header, or Parquet, plain or
    compressed; `format` says which where the content does not. In memory: {id: text}, {id: {field: text}}, data
    frames, records. "ir_datasets:ID" takes them from ir_datasets, where it is installed.

    >>> import io
    >>> documents = read_documents(io.StringIO("<DOC><DOCNO> d1 </DOCNO><HL>Ducks</HL><TEXT>They swim.</TEXT></DOC>"))
    >>> documents.ids, documents.fields
    (('d1',), {'title': ['Ducks'], 'text': ['They swim.']})
    """
    if isinstance(source, Documents):
        return source
    found, label = _read(source, "documents", format)
    found.fields.setdefault("text", [""] * len(found.ids))
    documents = Documents(tuple(found.ids), found.fields, name or label, tuple(found.notes))
    empty = sum(not text.strip() for text in documents.text())
    return replace(documents, notes=(*documents.notes, *_empty(empty, "documents", "without a word")))


def read_topics(source: Any, *, format: str | None = None, name: str | None = None, ids: Ids = "given") -> Topics:
    """Reads topics: TREC topics, closed or not, XML topics, and everything that `read_documents` takes.

    `ids` says what their ids are: those given; their position, from 1, as the judgements of some old collections have
    it; or the number without zeros before it.

    >>> import io
    >>> topics = read_topics(io.StringIO("<top><num> Number: 051 <title> Topic: ducks <desc> Description: …</top>"))
    >>> topics.ids, topics.queries()
    (('051',), ['ducks'])
    >>> read_topics({"7": "ducks", "9": "geese"}, ids="position").ids
    ('1', '2')
    """
    if ids not in get_args(Ids):
        raise UsageError(f"ids are {', '.join(get_args(Ids))}, not '{ids}'")
    if isinstance(source, Topics):
        return renumbered(source, ids)
    found, label = _read(source, "topics", format)
    topics = Topics(tuple(found.ids), found.fields, name or label, tuple(found.notes))
    empty = sum(not text.strip() for text in topics.queries())
    topics = replace(topics, notes=(*topics.notes, *_empty(empty, "topics", "without a query")))
    return renumbered(topics, ids)


def renumbered(topics: Topics, ids: Ids) -> Topics:
    """The same topics under their positions, or under their numbers without zeros before them.

    >>> renumbered(Topics(("001", "004"), {"title": ["ducks", "geese"]}), "number").ids
    ('1', '4')
    """
    if ids == "position":
        return replace(topics, ids=tuple(str(i) for i in range(1, len(topics) + 1)))
    if ids == "number":
        return replace(topics, ids=tuple(id.lstrip("0") or "0" if id.isdecimal() else id for id in topics.ids))
    return topics


def _empty(count: int, kind: Kind, what: str) -> Notes:
    return [(f"empty-{kind}", f"{count:,} {kind if count > 1 else _NOUN[kind]} {what}")] if count else []


def _read(source: Any, kind: Kind, format: str | None) -> tuple[Found, str]:
    label = stem(source) if isinstance(source, str) else kind
    if datasets.is_dataset(source):
        label = source.partition(":")[2]
        found = tabular.read_memory(
            datasets.records(source, "docs" if kind == "documents" else "queries"), source, kind
        )
    elif isinstance(source, str | os.PathLike) and os.path.isdir(source):
        label = Path(source).name
        found = _read_folder(Path(source), kind, format)
    elif isinstance(source, str | os.PathLike) or hasattr(source, "read"):
        opened = open_source(source)
        label = stem(opened.label) if opened.path else kind
        found = _read_source(opened, kind, format)
    else:
        found = tabular.read_memory(source, f"the {kind}", kind)
    where = str(source) if isinstance(source, str | os.PathLike) else label
    if not found.ids:
        raise DataError(f"has no {_NOUN[kind]}", source=where)
    no_duplicates(found, _NOUN[kind], where)
    return found, label


def _read_source(opened: Source, kind: Kind, format: str | None) -> Found:
    if not len(opened.data):
        raise DataError("is empty", source=opened.label)
    if format == PARQUET or (format is None and opened.data[:4] == b"PAR1"):
        return tabular.read_parquet(opened.data, opened.label, kind)
    text, notes = decoded(opened.data, opened.label)
    chosen = _choose(text, opened.label, kind, format)
    if chosen is None:
        raise DataError(
            f"is in no known format of {kind}",
            source=opened.label,
            line=1,
            text=text.split("\n", 1)[0],
            remedy=f"Say which with format= (--from): {', '.join(names(kind))}.",
        )
    found = chosen.read(text, opened.label, kind)
    ids = [id_bytes(id) for id in found.ids] if notes else found.ids
    return found._replace(ids=ids, notes=notes + found.notes)


def names(kind: Kind) -> list[str]:
    """The names of the formats.

    >>> names("topics")
    ['smart', 'csv', 'tsv', 'jsonl', 'beir', 'trec', 'msmarco', 'parquet']
    """
    return [format.name for format in FORMATS[kind]] + [PARQUET]


def format_named(name: str, kind: Kind) -> TextFormat:
    """A format by its name."""
    for format in FORMATS[kind]:
        if format.name == name:
            return format
    raise UsageError(f"unknown format of {kind} '{name}'; known: {', '.join(names(kind))}")


def recognised(text: str, kind: Kind) -> TextFormat | None:
    """The format that a text's beginning gives away."""
    first = text.find("\n")
    head = text[: max(1 << 16, first)] if first >= 0 else text  # at least the first line
    return next((format for format in FORMATS[kind] if format.recognise(head, kind)), None)


def _choose(text: str, label: str, kind: Kind, format: str | None) -> TextFormat | None:
    if format is not None:
        return format_named(format, kind)
    suffix = suffix_of(label)
    return recognised(text, kind) or next((known for known in FORMATS[kind] if suffix in known.suffixes), None)


def _read_folder(folder: Path, kind: Kind, format: str | None) -> Found:
    """Every file below a folder, in the order of their paths; files that hold no documents are counted."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and not path.name.startswith("."))
    if not files:
        raise DataError("has no files", source=str(folder))
    parts: list[Found] = []
    without: list[str] = []
    for path in files:
        opened = open_source(path)
        if format is not None or kind_of(opened.data, str(path)) == kind or _fits(opened, kind):
            parts.append(_read_source(opened, kind, format))
        else:
            without.append(path.name)
    if not parts:
        raise DataError(f"no file in it is in a known format of {kind}", source=str(folder))
    found = joined(parts)
    if without:
        found.notes.append(("left-out", f"{len(without):,} files without {kind}, left out: {some(without)}"))
    return found


def _fits(opened: Source, kind: Kind) -> bool:
    """Whether a file that may be of one kind or another is in a format of this one."""
    if kind_of(opened.data, opened.label) is not None or not len(opened.data):
        return False
    return recognised(head_of(opened.data), kind) is not None


__all__ = ["Documents", "FORMATS", "Ids", "Texts", "Topics", "read_documents", "read_topics", "renumbered"]
