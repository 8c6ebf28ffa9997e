"""`convert`: reads a run, judgements, topics, documents or a collection, and writes it in another format."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast

from cranfield.errors import DataError, UsageError
from cranfield.formats import read_qrels, read_run, suffix_of
from cranfield.formats.datasets import is_dataset
from cranfield.formats.output import Where
from cranfield.formats.reading import DEFAULT, Reading
from cranfield.formats.writers import writable
from cranfield.texts import PARQUET, Ids, read_documents, read_topics
from cranfield.texts.blockwise import NotInBlocksError
from cranfield.texts.collection import TOML, Collection, read_collection
from cranfield.texts.content import Content
from cranfield.texts.forms import FORMATS
from cranfield.texts.peeking import peek
from cranfield.texts.streaming import MoreFieldsError, stream, widened
from cranfield.texts.writing import write_collection, write_documents, write_qrels, write_run, write_topics

if TYPE_CHECKING:
    from cranfield.formats.given import Given
    from cranfield.texts.collection import GivenCollection
    from cranfield.texts.forms import GivenTexts

Kind = Content | Literal["collection"]


def convert(
    source: GivenTexts | Collection,
    where: Where,
    *,
    kind: Kind | None = None,
    reading: Reading = DEFAULT,
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
    text_format = reading.format
    path = source if isinstance(source, str | os.PathLike) else None
    if isinstance(source, Collection) or (path is not None and _is_collection(path)):
        if kind == "documents" and path is not None and _is_without_list(path):
            return _convert_documents(path, where, text_format, to_format, lossy)
        if text_format is not None:
            raise UsageError("--from (a reading's format) is that of a file, or of the documents in a folder")
        if reading.labels:
            raise UsageError(f"--labels (a reading's labels) are for a file; a collection has them in {TOML}: [labels]")
        return _convert_collection(cast("GivenCollection", source), where, kind, to_format, lossy, ids)
    part = cast("Given", source)
    if kind is None and path is not None:
        part, kind = peek(path)
    if kind is None or kind == "collection":
        raise UsageError(f"{source}: run, qrels, topics or documents? Say so with --kind (kind= in Python)")
    if kind == "run":
        run = read_run(part, reading=reading)
        return _notes(run.origin.notes) + write_run(run, where, format=to_format, lossy=lossy)
    if kind == "qrels":
        qrels = read_qrels(part, reading=reading)
        return _notes(qrels.origin.notes) + write_qrels(qrels, where, format=to_format, lossy=lossy)
    if kind == "topics":
        topics = read_topics(part, reading=Reading(format=text_format), ids=ids)
        return _notes(topics.notes) + write_topics(topics, where, format=to_format, lossy=lossy)
    return _convert_documents(part, where, text_format, to_format, lossy)


def _is_collection(path: str | os.PathLike[str]) -> bool:
    """Whether all parts of a collection are there: a folder, a list of them, or a dataset."""
    return is_dataset(path) or os.path.isdir(path) or os.fspath(path).endswith(".toml")


def _is_without_list(path: str | os.PathLike[str]) -> bool:
    """Whether it is a dataset, or a folder in which nothing says which files are the documents."""
    return is_dataset(path) or (os.path.isdir(path) and not os.path.isfile(Path(path) / TOML))


def _convert_documents(
    source: GivenTexts, where: Where, from_format: str | None, to_format: str | None, lossy: bool
) -> tuple[str, ...]:
    notes = _in_blocks(source, where, from_format, to_format, lossy)
    if notes is not None:
        return notes
    documents = read_documents(source, reading=Reading(format=from_format))
    return _notes(documents.notes) + write_documents(documents, where, format=to_format, lossy=lossy)


def _in_blocks(
    source: GivenTexts, where: Where, from_format: str | None, to_format: str | None, lossy: bool
) -> tuple[str, ...] | None:
    """What converting tells, without ever holding everything in memory; None where that cannot be done."""
    if to_format == PARQUET or (isinstance(where, str | os.PathLike) and suffix_of(os.fspath(where)) == ".parquet"):
        return None
    try:
        documents = stream(source, from_format)
        if documents is None:
            return None
        try:
            lost = write_documents(documents, where, format=to_format, lossy=lossy)
        except MoreFieldsError:
            documents = widened(documents)
            lost = write_documents(documents, where, format=to_format, lossy=lossy)
    except NotInBlocksError:
        return None
    return tuple(note.told() for note in documents.met if note.times) + lost


def _convert_collection(
    source: GivenCollection, where: Where, kind: Kind | None, to_format: str | None, lossy: bool, ids: Ids
) -> tuple[str, ...]:
    if kind == "run":
        raise UsageError(f"{source} is a collection, and collections have no runs")
    if kind is None or kind == "collection":
        if not isinstance(where, str | os.PathLike) or to_format not in (None, "beir") or not _is_folder(where):
            raise UsageError(
                "a collection is written as a folder in BEIR's form; to write a part of it, name it: --kind documents, "
                "topics or qrels (kind= in Python)"
            )
        if isinstance(source, str | os.PathLike) and os.path.isdir(where) and os.path.samefile(source, where):
            raise UsageError(f"{os.fspath(where)} is the collection itself: name another folder to write it to")
        collection = read_collection(source, ids=ids)
        return _all_notes(collection) + write_collection(collection, where, lossy=lossy)
    # judgements tell whether they mean other ids than the topics have
    collection = read_collection(source, ids=ids, only=("topics", "qrels") if kind == "topics" else (kind,))
    if kind == "topics" and collection.topics is not None:
        lost = write_topics(collection.topics, where, format=to_format, lossy=lossy)
    elif kind == "qrels" and collection.qrels is not None:
        lost = write_qrels(collection.qrels, where, format=to_format, lossy=lossy)
    elif kind == "documents" and collection.documents is not None:
        lost = write_documents(collection.documents, where, format=to_format, lossy=lossy)
    else:
        raise DataError(f"has no {kind}", source=str(source))
    return _all_notes(collection) + lost


def _is_folder(where: str | os.PathLike[str]) -> bool:
    """Whether a path is that of a folder, or may become one: 'out.csv' and '-' are meant for a file."""
    path = os.fspath(where)
    written = [format.writer.suffixes for format in writable() if format.writer]
    suffixes = [*written, *(format.suffixes for format in FORMATS["documents"].values())]
    return os.path.isdir(path) or (path != "-" and not any(suffix_of(path) in of_format for of_format in suffixes))


def _all_notes(collection: Collection) -> tuple[str, ...]:
    parts = [part for part in (collection.documents, collection.topics) if part is not None]
    judged = () if collection.qrels is None else collection.qrels.origin.notes
    return _notes(collection.notes) + tuple(note for part in parts for note in _notes(part.notes)) + _notes(judged)


def _notes(notes: tuple[tuple[str, str], ...]) -> tuple[str, ...]:
    return tuple(note for _, note in notes)
