"""`convert`: reads a run, judgements, topics, documents or a collection, and writes it in another format."""

from __future__ import annotations

import os
from typing import Any, Literal

from cranfield.errors import DataError, UsageError
from cranfield.formats import read_qrels, read_run
from cranfield.formats.output import Where
from cranfield.formats.sources import open_source
from cranfield.texts import Ids, read_documents, read_topics
from cranfield.texts.collection import Collection, read_collection
from cranfield.texts.datasets import is_dataset
from cranfield.texts.kinds import Content, kind_of
from cranfield.writing import write_collection, write_documents, write_qrels, write_run, write_topics


def convert(
    source: Any,
    where: Where,
    *,
    kind: Content | Literal["collection"] | None = None,
    from_format: str | None = None,
    to_format: str | None = None,
    lossy: bool = False,
    ids: Ids = "given",
) -> tuple[str, ...]:
    """Writes what a file holds in another format; gives what should be said about it, in sentences.

    >>> import io
    >>> convert(io.StringIO(".I 1\\n.W\\nducks\\n"), "-", kind="topics", to_format="csv")
    id,title
    1,ducks
    ()
    """
    is_path = isinstance(source, str | os.PathLike)
    whole = isinstance(source, Collection) or is_dataset(source) or (is_path and os.path.isdir(source))
    if whole or (is_path and os.fspath(source).endswith(".toml")):
        return _convert_collection(source, where, kind, to_format, lossy, ids)
    if kind is None and is_path:
        opened = open_source(source)
        kind = kind_of(opened.data, opened.label)
    if kind is None or kind == "collection":
        raise UsageError(f"{source}: run, qrels, topics or documents? Say so with --kind (kind= in Python)")
    if kind == "run":
        run = read_run(source, format=_table_format(from_format))
        return _notes(run.origin.notes) + write_run(run, where, format=to_format, lossy=lossy)
    if kind == "qrels":
        qrels = read_qrels(source, format=_table_format(from_format))
        return _notes(qrels.origin.notes) + write_qrels(qrels, where, format=to_format, lossy=lossy)
    if kind == "topics":
        topics = read_topics(source, format=from_format, ids=ids)
        return _notes(topics.notes) + write_topics(topics, where, format=to_format, lossy=lossy)
    documents = read_documents(source, format=from_format)
    return _notes(documents.notes) + write_documents(documents, where, format=to_format, lossy=lossy)


def _convert_collection(
    source: Any, where: Where, kind: str | None, to_format: str | None, lossy: bool, ids: Ids
) -> tuple[str, ...]:
    if isinstance(source, str | os.PathLike) and kind == "documents" and os.path.isdir(source):
        documents = read_documents(source)
        return _notes(documents.notes) + write_documents(documents, where, format=to_format, lossy=lossy)
    collection = read_collection(source, ids=ids)
    if kind in (None, "collection"):
        if not isinstance(where, str | os.PathLike) or to_format not in (None, "beir"):
            raise UsageError("a collection is written as a folder in BEIR's form; name a part of it with --kind")
        return _notes(collection.notes) + write_collection(collection, where, lossy=lossy)
    writers: dict[str, Any] = {"topics": write_topics, "qrels": write_qrels, "documents": write_documents}
    part = getattr(collection, kind, None) if kind in writers else None
    if kind is None or part is None:
        raise DataError(f"has no {kind}", source=str(source))
    told: tuple[str, ...] = writers[kind](part, where, format=to_format, lossy=lossy)
    return _notes(collection.notes) + told


def _table_format(name: str | None) -> str | None:
    """BEIR's judgements are TSV with a header."""
    return "tsv" if name == "beir" else name


def _notes(notes: tuple[tuple[str, str], ...]) -> tuple[str, ...]:
    return tuple(note for _, note in notes)
