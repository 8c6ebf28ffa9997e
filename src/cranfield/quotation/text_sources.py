"""Where the texts are from that a result shows, read so that of a large collection only those are kept."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeAlias

from cranfield.errors import ArgumentError, DataError, shorten
from cranfield.formats import stem
from cranfield.formats.reading import Reading
from cranfield.texts import Ids, UnknownFormatError, read_documents, read_topics
from cranfield.texts.blockwise import NotInBlocksError
from cranfield.texts.choosing import names
from cranfield.texts.collection import Collection, GivenCollection, Parts, parts_of
from cranfield.texts.forms import GivenTexts
from cranfield.texts.streaming import stream
from cranfield.texts.texts import Topics


@dataclass(frozen=True, kw_only=True)
class TextSource:
    """A collection, or topics and documents by themselves, which replace those of the collection.

    `ids` says what topics are called, as in `read_topics`.

    >>> TextSource(collection="examples/pond.toml").opened().name
    'pond'
    """

    collection: GivenCollection | None = None
    topics: GivenTexts | None = None
    documents: Sequence[GivenTexts] = ()
    ids: Ids = "given"

    @cached_property
    def listed(self) -> Parts:
        """Where the parts of the collection are, and what it says besides; nothing of them is read."""
        if self.collection is None:
            return Parts()
        if isinstance(self.collection, Collection):
            own = self.collection
            return Parts(documents=own.documents, topics=own.topics, name=own.name, facts=own.facts)
        return parts_of(self.collection)[0]

    @property
    def has_texts(self) -> bool:
        """Whether there are topics or documents: a collection's file may list neither, and say only what grades are."""
        opened = self.opened()
        return opened.topics is not None or bool(opened.documents)

    def opened(self) -> OpenTexts:
        """What there is of it; nothing is read before it is asked for."""
        listed = self.listed
        own_topics, own_documents = self.topics is not None, bool(self.documents)
        topics = self.topics if own_topics else listed.topics
        documents = self.documents if own_documents else () if listed.documents is None else (listed.documents,)
        named = (source for source in (topics, *documents) if isinstance(source, str | os.PathLike))
        return OpenTexts(
            name=listed.name or " and ".join(dict.fromkeys(stem(os.fspath(source)) for source in named)) or "the texts",
            topics=topics,
            documents=tuple(documents),
            ids=self.ids if own_topics or self.ids != "given" else listed.ids,
            topic_format=None if own_topics else listed.formats.get("topics"),
            document_format=None if own_documents else listed.formats.get("documents"),
        )


GivenTextSource: TypeAlias = "TextSource | GivenCollection"


def text_source(given: GivenTextSource) -> TextSource:
    """What a caller gave, whatever it is.

    >>> text_source("examples/pond.toml").collection
    'examples/pond.toml'
    """
    if isinstance(given, TextSource):
        return given
    if not isinstance(given, Collection | str | os.PathLike):
        message = "a folder, a TOML file, a dataset, a Collection or a TextSource"
        raise ArgumentError(f"a collection is {message}, not {shorten(repr(given), 60)}")
    return TextSource(collection=given)


class DocumentText(NamedTuple):
    """A document as it is read: its title, if it has one, and its text."""

    id: str
    title: str
    text: str


class OpenTexts(NamedTuple):
    """Where topics and documents are, each None or nothing where they are not there, and how to read them."""

    name: str
    topics: GivenTexts | None
    documents: tuple[GivenTexts, ...]
    ids: Ids
    topic_format: str | None
    document_format: str | None

    def read_topics(self) -> Topics | None:
        """All topics: there are few of them, whatever the size of the collection."""
        if self.topics is None:
            return None
        try:
            return read_topics(self.topics, reading=Reading(format=self.topic_format), ids=self.ids)
        except UnknownFormatError as error:
            raise DataError(
                error.message,
                source=error.source,
                line=error.line,
                text=error.text,
                remedy="Are these questions? If so, the file of a collection can name their format: [formats] "
                f"topics = …, with one of {', '.join(names('topics'))}.",
            ) from None

    def read_documents(self) -> Iterator[DocumentText]:
        """Every document, one by one; some may come twice where a file turns out not to be readable block by block."""
        for source in self.documents:
            for ids, columns in _blocks(source, self.document_format):
                yield from texts_of(ids, columns)


def texts_of(ids: Sequence[str], columns: Mapping[str, Sequence[str]]) -> Iterator[DocumentText]:
    """The documents of a block.

    >>> next(texts_of(["d1"], {"title": ["Ducks"], "abstract": ["They swim."]}))
    DocumentText(id='d1', title='Ducks', text='They swim.')
    """
    titles = columns.get("title")
    texts = columns.get("text")
    others = [texts for name, texts in columns.items() if name not in ("title", "text")]
    for place, id in enumerate(ids):
        text = texts[place] if texts else ""
        if not text.strip():  # some collections have their words in fields of other names
            text = "\n\n".join(column[place] for column in others if column[place].strip())
        yield DocumentText(id, titles[place] if titles else "", text)


_Columns: TypeAlias = "tuple[Sequence[str], dict[str, Sequence[str]]]"


def _blocks(source: GivenTexts, format: str | None) -> Iterator[_Columns]:
    """Ids and fields, some at a time: of a large file, a folder or a dataset never all of it."""
    try:
        streamed = stream(source, format)
        if streamed is not None:
            for block in streamed.parts():
                yield block.ids, dict(block.fields)
            return
    except NotInBlocksError:
        pass
    documents = read_documents(source, reading=Reading(format=format))
    yield documents.ids, dict(documents.fields)
