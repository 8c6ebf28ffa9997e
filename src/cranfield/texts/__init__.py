"""What is searched, and what is asked. One module a format; `read_documents` and `read_topics` choose."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal, cast, get_args

from cranfield.errors import DataError, UsageError, some
from cranfield.exports import TYPE_CHECKING, exported
from cranfield.formats import datasets, stem
from cranfield.formats.given import File, Given, is_file
from cranfield.formats.reading import DEFAULT, Reading
from cranfield.formats.sources import Source, nothing_in_it, open_source
from cranfield.texts import tabular
from cranfield.texts.blockwise import NotInBlocksError, blocks, is_large
from cranfield.texts.choosing import PARQUET, choose, format_named, names, recognised
from cranfield.texts.content import head_of, kind_of
from cranfield.texts.forms import (
    Found,
    GivenTexts,
    Kind,
    Note,
    Texts,
    decoded,
    id_bytes,
    joined,
    no_duplicates,
    refuse_packed,
)
from cranfield.texts.peeking import beginning, is_index
from cranfield.texts.texts import Documents, Topics

if TYPE_CHECKING:
    from cranfield.texts.collection import Collection as Collection
    from cranfield.texts.collection import read_collection as read_collection
    from cranfield.texts.conversion import convert as convert
    from cranfield.texts.document_store import DocumentStore as DocumentStore
    from cranfield.texts.document_store import StoredDocument as StoredDocument
    from cranfield.texts.writing import write_collection as write_collection
    from cranfield.texts.writing import write_documents as write_documents
    from cranfield.texts.writing import write_topics as write_topics

PUBLIC = {
    "collection": "Collection read_collection",
    "conversion": "convert",
    "document_store": "DocumentStore StoredDocument",
    "writing": "write_collection write_documents write_topics",
}
__getattr__, __dir__ = exported(__name__, PUBLIC)
Ids = Literal["given", "position", "number"]
_NOUN: Mapping[Kind, str] = {"documents": "document", "topics": "topic"}


class UnknownFormatError(DataError):
    """A file of texts is in no format that is known; doors that have no option for it say so in their own words."""


def read_documents(source: GivenTexts, *, reading: Reading = DEFAULT, name: str | None = None) -> Documents:
    """Reads documents: from a file, from all files of a folder and those below it, from memory, from ir_datasets.

    Files are TREC SGML, SMART, BEIR or other JSON lines, MS MARCO TSV, CSV or TSV with a header, or Parquet, plain or
    compressed; the format of `reading` says which where the content does not. In memory: {id: text}, {id: {field:
    text}}, data frames, records. "ir_datasets:ID" takes them from ir_datasets, where it is installed.

    >>> import io
    >>> documents = read_documents(io.StringIO("<DOC><DOCNO> d1 </DOCNO><HL>Ducks</HL><TEXT>They swim.</TEXT></DOC>"))
    >>> documents.ids, documents.fields
    (('d1',), {'title': ['Ducks'], 'text': ['They swim.']})
    """
    if isinstance(source, Documents):
        return source
    texts, label = _read(cast("Given", source), "documents", _format(reading, "documents"))
    texts.fields.setdefault("text", [""] * len(texts.ids))
    documents = Documents(tuple(texts.ids), texts.fields, name or label)
    empty = Note("empty-documents", documents.empty(), "document", "without a word")
    return replace(documents, notes=_told(texts, empty))


def read_topics(
    source: GivenTexts, *, reading: Reading = DEFAULT, name: str | None = None, ids: Ids = "given"
) -> Topics:
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
    texts, label = _read(cast("Given", source), "topics", _format(reading, "topics"))
    topics = Topics(tuple(texts.ids), texts.fields, name or label)
    empty = sum(not text.strip() for text in topics.queries())
    topics = replace(topics, notes=_told(texts, Note("empty-topics", empty, "topic", "without a query")))
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


def _told(texts: Found, *more: Note) -> tuple[tuple[str, str], ...]:
    return tuple((note.code, note.told()) for note in (*texts.notes, *more) if note.times)


def _format(reading: Reading, kind: Kind) -> str | None:
    if reading.columns or reading.judgements is not None:
        raise UsageError(f"{kind} have no columns or kinds to be told: of how to read, only the format is for them")
    return reading.format


def _read(source: Given, kind: Kind, format: str | None) -> tuple[Found, str]:
    label = stem(source) if isinstance(source, str) else kind
    if datasets.is_dataset(source):
        label = source.partition(":")[2]
        texts = tabular.read_memory(
            datasets.records(source, "docs" if kind == "documents" else "queries"), source, kind
        )
    elif isinstance(source, str | os.PathLike) and os.path.isdir(source):
        label = Path(source).name
        texts = _read_folder(Path(source), kind, format)
    elif is_file(source):
        texts, label = read_file(source, kind, format)
    else:
        texts = tabular.read_memory(source, f"the {kind}", kind)
    where = str(source) if isinstance(source, str | os.PathLike) else label
    if not texts.ids:
        raise DataError(f"has no {_NOUN[kind]}", source=where)
    no_duplicates(texts, _NOUN[kind])
    return texts, label


def read_file(source: File, kind: Kind, format: str | None) -> tuple[Found, str]:
    """What is in a file, and what to call it."""
    if kind == "documents" and is_large(source):
        try:
            return joined(blocks(os.fspath(source), format)), stem(os.fspath(source))
        except NotInBlocksError:
            pass
    opened = open_source(source)
    return _read_source(opened, kind, format), stem(opened.label) if opened.path else kind


def _read_source(opened: Source, kind: Kind, format: str | None) -> Found:
    if not len(opened.data):
        raise nothing_in_it(opened.label, once=opened.path in (None, "-"))
    if format == PARQUET or (format is None and opened.data[:4] == b"PAR1"):
        return tabular.read_parquet(opened.data, opened.label, kind)
    text, notes = decoded(opened.data, opened.label)
    chosen = choose(text, opened.label, kind, format)
    if chosen is None:
        raise UnknownFormatError(
            f"is in no known format of {kind}",
            source=opened.label,
            line=1,
            text=text.split("\n", 1)[0],
            remedy=f"Say which with format= (--from): {', '.join(names(kind))}.",
        )
    texts = chosen.read(text, opened.label, kind)
    ids = [id_bytes(id) for id in texts.ids] if notes else texts.ids
    return texts._replace(ids=ids, notes=notes + texts.notes)


def _read_folder(folder: Path, kind: Kind, format: str | None) -> Found:
    """Every file below a folder, in the order of their paths; files that hold no documents are counted."""
    others: list[str] = []
    texts = joined(read_file(path, kind, format)[0] for path in fitting_files(folder, kind, format, others))
    return texts._replace(notes=[*texts.notes, *left_out(others, kind)])


def fitting_files(folder: Path, kind: Kind, format: str | None, others: list[str]) -> Iterator[Path]:
    """The files below a folder that hold documents or topics; the names of the others are added to a list."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and not path.name.startswith("."))
    if not files:
        raise DataError("has no files", source=str(folder))
    for path in files:
        if not is_index(path) and (format is not None or _holds(path, kind)):
            yield path
        else:
            others.append(path.name)
    if len(others) == len(files):
        raise DataError(f"no file in it is in a known format of {kind}", source=str(folder))


def left_out(others: Sequence[str], kind: Kind) -> list[Note]:
    return [Note("left-out", len(others), "file", f"without {kind}, left out: {some(others)}")]


def _holds(path: Path, kind: Kind) -> bool:
    """Whether a file is of this kind; one that may be of any, if it is in a format of this one."""
    data = beginning(str(path))
    refuse_packed(data, str(path))
    known_kind = kind_of(data, str(path))
    return known_kind == kind or (known_kind is None and len(data) > 0 and recognised(head_of(data), kind) is not None)


__all__ = [
    "PARQUET",
    "Documents",
    "Ids",
    "Texts",
    "Topics",
    "format_named",
    "names",
    "read_documents",
    "read_topics",
    "renumbered",
]
