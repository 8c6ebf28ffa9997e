"""`build_store`: the documents of any collection in one file, from which each can be had by its id at once."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from cranfield.errors import DataError
from cranfield.formats.reading import Reading
from cranfield.quotation.text_sources import GivenTextSource, OpenTexts, text_source, texts_of
from cranfield.search.collection_search import Steps, Watch, unwatched
from cranfield.texts import read_documents
from cranfield.texts.blockwise import NotInBlocksError
from cranfield.texts.document_store import DocumentStore, DocumentTwiceError, StoredDocument, StoreWriter
from cranfield.texts.forms import Found, GivenTexts, Note, Place, merged, not_in_text, second_time
from cranfield.texts.markup import looks_like_html
from cranfield.texts.streaming import stream
from cranfield.texts.texts import Documents

_MAIN = ("title", "text")


def build_store(source: GivenTextSource, path: str | os.PathLike[str], *, watch: Watch = unwatched) -> DocumentStore:
    """Writes the documents of a collection into one file, block by block, and opens it.

    The same documents in the same order give the same file. A document without a word is kept and counted in the notes;
    an id that comes twice is an error. Fields besides title and text are kept under their names.

    >>> import tempfile
    >>> build_store("examples/pond.toml", f"{tempfile.mkdtemp()}/pond.store")
    <DocumentStore 'pond': 12 documents>
    """
    opened = text_source(source).opened()
    if not opened.documents:
        raise DataError("has no documents", source=opened.name, remedy="Name them: documents= of a TextSource.")
    at_once: set[int] = set()  # the sources of which only reading all of it tells what it means
    while True:
        try:
            with watch("documents", 0) as counter, StoreWriter(path, opened.name) as writer:
                _write(writer, opened, at_once, counter)
            return DocumentStore(path)
        except _NotInBlocks as fault:
            at_once.add(fault.number)
        except DocumentTwiceError as fault:
            raise _second_time(opened, at_once, fault) from None


class _NotInBlocks(Exception):  # noqa: N818 - it never leaves this module
    def __init__(self, number: int) -> None:
        self.number = number


def _write(writer: StoreWriter, opened: OpenTexts, at_once: set[int], counter: Steps) -> None:
    notes: list[Note] = []
    empty = 0

    def documents(block: Found) -> Iterator[StoredDocument]:
        nonlocal empty
        others = {name: texts for name, texts in block.fields.items() if name not in _MAIN}
        own = block.fields.get("text")
        for place, (id, title, text) in enumerate(texts_of(block.ids, block.fields)):
            empty += not (title.strip() or text.strip())
            is_text = own is not None and bool(own[place].strip())
            fields = {name: texts[place] for name, texts in others.items() if texts[place]} if is_text else {}
            yield StoredDocument(id, title, text, looks_like_html(text), fields)
            counter.step()

    for number, source in enumerate(opened.documents):
        for block in _blocks(source, opened.document_format, number, number in at_once):
            writer.add(documents(block.found))
            notes += block.found.notes
            writer.notes += block.told
    notes = merged([*notes, Note("empty-documents", empty, "document", "without a word")])
    writer.notes += [(note.code, note.told()) for note in notes if note.times]


class _Block(NamedTuple):
    """Some of the documents, and what has been told of them already."""

    found: Found
    told: Sequence[tuple[str, str]] = ()


def _blocks(source: GivenTexts, format: str | None, number: int, at_once: bool) -> Iterator[_Block]:
    try:
        streamed = None if at_once else stream(source, format)
        if streamed is not None:
            for block in streamed.parts():
                if any(map(not_in_text, block.ids)):
                    raise NotInBlocksError
                yield _Block(block)
            return
    except NotInBlocksError:
        raise _NotInBlocks(number) from None
    read = read_documents(source, reading=Reading(format=format))
    columns = {name: list(texts) for name, texts in read.fields.items()}
    place = (str(source) if isinstance(source, str | os.PathLike) else read.name, None)
    told = [(code, sentence) for code, sentence in read.notes if code != "empty-documents"]
    yield _Block(Found(list(read.ids), columns, lambda _: place, []), told)


def _second_time(opened: OpenTexts, at_once: set[int], fault: DocumentTwiceError) -> DataError:
    """Where the two stand; that is not known before everything is written, and is looked for only then."""
    first: Place | None = None
    for number, source in enumerate(opened.documents):
        if not isinstance(source, str | os.PathLike | Documents):  # it may be possible to read it only once
            return fault
        for found, _ in _blocks(source, opened.document_format, number, number in at_once):
            for place, id in enumerate(found.ids):
                if id == fault.id and first is not None:
                    return second_time(id, "document", found.place(place), first)
                first = found.place(place) if id == fault.id else first
    return fault
