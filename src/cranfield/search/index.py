"""The index: for each term the documents it is in and how often, counted once for every model."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from cranfield.errors import DataError, UsageError, plural
from cranfield.formats import touched
from cranfield.formats.output import whole_file
from cranfield.search.term_reader import TermReader, portions
from cranfield.search.tokens import Analysis
from cranfield.texts.texts import Documents

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats: TypeAlias = NDArray[np.float64]
    Integers: TypeAlias = NDArray[np.int64]
    Numbers: TypeAlias = NDArray[np.int32]

AT_ONCE = 1 << 20  # postings that something is computed of at once
SEARCHED = ("title", "text")  # what is searched unless fields are named: not authors, not where it appeared


class SomePostings(NamedTuple):
    """Postings one after another: of each its term, its document, and how often the one is in the other."""

    terms: Integers
    documents: Numbers
    counts: Floats


@dataclass(frozen=True, eq=False, repr=False)
class Index:
    """Documents as bags of terms.

    Documents are numbered by id descending as bytes, so that the lower number comes first where scores are equal: the
    order that all of cranfield takes for ties. The terms are numbered in their own order. A posting is a document with
    one of its terms; postings stand by term, then by document: those of term t from starts[t] to starts[t + 1]. They
    are most of an index, and kept in as few bytes as they need: what is computed of them is computed of some at a time.
    """

    ids: tuple[str, ...]
    vocabulary: Mapping[str, int]
    starts: Integers
    documents: Numbers  # of each posting
    occurrences: NDArray[np.unsignedinteger]  # of each posting: how often the term is in the document
    analysis: Analysis
    name: str = ""
    digest: str = ""  # of the texts, to know whether a saved index is still theirs
    fields: tuple[str, ...] = ()  # of the documents, that are searched

    @property
    def counts(self) -> Floats:
        """How often the term of each posting is in its document, as a formula takes it: a new array each time."""
        return self.occurrences.astype(np.float64)

    @property
    def terms(self) -> Integers:
        """The term of each posting: a new array each time."""
        return self._terms(slice(0, len(self.documents)))

    @cached_property
    def lengths(self) -> Floats:
        """How many words, without stop words, each document has."""
        return self.summed(lambda postings: postings.counts)

    @cached_property
    def distinct(self) -> Floats:
        """How many different terms each document has."""
        return self.summed(lambda postings: np.ones(len(postings.counts)))

    @cached_property
    def document_frequencies(self) -> Floats:
        """In how many documents each term is."""
        return np.diff(self.starts).astype(np.float64)

    @cached_property
    def collection_frequencies(self) -> Floats:
        """How often each term is in all documents together."""
        together: Floats = np.add.reduceat(self.occurrences, self.starts[:-1], dtype=np.float64)
        return together

    def blocks(self) -> Iterator[tuple[slice, SomePostings]]:
        """All postings, some at a time, and where they stand."""
        for first in range(0, len(self.documents), AT_ONCE):
            part = slice(first, min(first + AT_ONCE, len(self.documents)))
            counts = self.occurrences[part].astype(np.float64)
            yield part, SomePostings(self._terms(part), self.documents[part], counts)

    def weighed(self, weigh: Callable[[SomePostings], Floats]) -> Floats:
        """A weight for each posting.

        >>> index = build_index(Documents(("1", "2"), {"text": ["ducks swim", "geese and ducks, ducks"]}))
        >>> index.weighed(lambda postings: postings.counts / 2)
        array([1. , 0.5, 0.5, 0.5])
        """
        weights = np.empty(len(self.documents))
        for part, postings in self.blocks():
            weights[part] = weigh(postings)
        return weights

    def summed(self, weigh: Callable[[SomePostings], Floats]) -> Floats:
        """For each document the sum over its terms, in their order.

        >>> index = build_index(Documents(("1", "2"), {"text": ["ducks swim", "geese and ducks, ducks"]}))
        >>> index.summed(lambda postings: postings.counts**2)
        array([5., 2.])
        """
        sums = np.zeros(len(self.ids))
        for _, postings in self.blocks():
            np.add.at(sums, postings.documents, weigh(postings))
        return sums

    def _terms(self, part: slice) -> Integers:
        first, last = np.searchsorted(self.starts, (part.start, part.stop), side="right") - 1
        bounds = np.clip(self.starts[first : last + 2], part.start, part.stop)
        return np.repeat(np.arange(first, first + len(bounds) - 1), np.diff(bounds))

    def query(self, text: str) -> tuple[Integers, Floats]:
        """The terms of a query that some document has, by number, and how often each is in the query.

        >>> index = build_index(Documents(("1",), {"text": ["ducks swim"]}))
        >>> index.query("Ducks and a duck in Dublin")
        (array([0]), array([2.]))
        """
        known = [self.vocabulary[term] for term in self.analysis.terms(text) if term in self.vocabulary]
        terms, counts = np.unique(np.array(known, dtype=np.int64), return_counts=True)
        return terms, counts.astype(np.float64)

    def postings(self, term: int) -> slice:
        """Where the postings of a term stand."""
        return slice(self.starts[term], self.starts[term + 1])

    @property
    def size(self) -> int:
        """Bytes it takes in memory: its arrays, ids and terms."""
        arrays = self.starts.nbytes + self.documents.nbytes + self.occurrences.nbytes
        return arrays + sum(len(_bytes(text)) for texts in (self.ids, self.vocabulary) for text in texts)

    def save(self, path: str | os.PathLike[str]) -> int:
        """Writes it to a file and gives the size of that in bytes; `load_index` reads it."""
        settings = [self.name, self.analysis.stemmer, self.analysis.stop_words, self.digest]
        texts = {
            "ids": self.ids,
            "vocabulary": self.vocabulary,
            "settings": settings,
            "stopped": sorted(self.analysis.stopped or ()),
            "fields": self.fields,
        }
        unfit = next((text for parts in texts.values() for text in parts if "\0" in text), None)
        if unfit is not None:
            raise DataError(
                f"{unfit!r} has a NUL in it, which the file of an index parts words by",
                source=self.name or None,
                remedy="Search without saving the index, or give the document another id.",
            )
        packed = {name: np.frombuffer(_bytes("\0".join(parts)), dtype=np.uint8) for name, parts in texts.items()}
        arrays: dict[str, NDArray[Any]] = {
            "starts": self.starts,
            "documents": self.documents,
            "counts": self.occurrences,
        }
        with whole_file(path) as part, open(part, "wb") as file:
            np.savez(file, allow_pickle=False, **packed, **arrays)
        return Path(path).stat().st_size

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        return f"<Index {self.name!r}: {plural(len(self), 'document')}, {plural(len(self.vocabulary), 'term')}>"


def load_index(path: str | os.PathLike[str]) -> Index:
    """An index that `Index.save` wrote.

    >>> import tempfile
    >>> index = build_index(Documents(("1",), {"text": ["ducks swim"]}, "pond"))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = index.save(f"{folder}/pond.index")
    ...     load_index(f"{folder}/pond.index")
    <Index 'pond': 1 document, 2 terms>
    """
    import zipfile

    touched.reads(os.fspath(path))
    try:
        with np.load(path, allow_pickle=False) as stored:
            starts, documents, counts = (stored[name] for name in ("starts", "documents", "counts"))
            ids, terms, stopped, fields, settings = (
                stored[name].tobytes().decode("utf-8", "surrogateescape").split("\0")
                for name in ("ids", "vocabulary", "stopped", "fields", "settings")
            )
        name, stemmer, stop_words, digest = settings
        if len(starts) != len(terms) + 1 or starts[-1] != len(documents) or documents.max(initial=0) >= len(ids):
            raise ValueError("parts of an index that do not fit")
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror or error}", source=str(path)) from None
    except (TypeError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        raise DataError(
            "is not an index, or one of another version",
            source=str(path),
            remedy="`cranfield search --index` writes one where there is no file yet.",
        ) from None
    analysis = Analysis(stemmer, stop_words, frozenset(filter(None, stopped)))
    vocabulary = {term: number for number, term in enumerate(terms)}
    return Index(
        tuple(ids),
        vocabulary,
        starts,
        documents.astype(np.int32, copy=False),
        _narrow(counts),
        analysis,
        name,
        digest,
        tuple(fields),
    )


def build_index(
    documents: Documents,
    analysis: Analysis | None = None,
    *,
    fields: Sequence[str] = (),
    step: Callable[[], None] | None = None,
    threads: int | None = None,
) -> Index:
    """Counts the terms of every document. `fields` are those to search, by default title and text; `step`, if given, is
    called for each document. `threads` are all cores by default, and change nothing but the time it takes.

    >>> index = build_index(Documents(("1", "2"), {"text": ["ducks swim", "geese and ducks, ducks"]}))
    >>> index, index.document_frequencies, index.lengths
    (<Index '': 2 documents, 3 terms>, array([2., 1., 1.]), array([3., 2.]))
    """
    if not len(documents):
        raise DataError("has no documents", source=documents.name or None)
    analysis = analysis or Analysis()
    searched = tuple(fields or searched_fields(documents))
    reader = TermReader(analysis, threads)
    digest = hashlib.blake2b(digest_size=16)
    ids: list[str] = []
    for some_ids, texts in documents.blocks(*searched):
        ids += some_ids
        _digest(digest, some_ids, texts)
        for part in portions(texts):
            reader.count(part)
            if step is not None:
                for _ in part:
                    step()
    terms = reader.terms()
    if not terms:
        raise DataError("has no terms: every document is empty, or has stop words only", source=documents.name or None)
    order = sorted(range(len(ids)), key=lambda i: _bytes(ids[i]), reverse=True)
    starts, numbers, occurrences = reader.postings(np.array(order, dtype=np.uint32))
    return Index(
        tuple(ids[i] for i in order),
        {term: number for number, term in enumerate(terms)},
        starts,
        numbers,
        occurrences,
        analysis,
        documents.name,
        digest.hexdigest(),
        searched,
    )


def digest_of(documents: Documents, fields: Sequence[str]) -> str:
    """A digest of ids and texts.

    >>> ducks, geese = (Documents(("1",), {"text": [text]}) for text in ("ducks", "geese"))
    >>> digest_of(ducks, ["text"]) == digest_of(geese, ["text"])
    False
    """
    digest = hashlib.blake2b(digest_size=16)
    for ids, texts in documents.blocks(*fields):
        _digest(digest, ids, texts)
    return digest.hexdigest()


def _digest(digest: hashlib.blake2b, ids: Sequence[str], texts: Sequence[str]) -> None:
    together = "".join(f"{id}\n{len(text)}\n{text}\n" for id, text in zip(ids, texts, strict=True))
    try:
        digest.update(_bytes(together))
    except UnicodeEncodeError:  # JSON may have halves of characters that were never bytes
        digest.update(together.encode("utf-8", "surrogatepass"))


def _narrow(counts: NDArray[Any]) -> NDArray[np.unsignedinteger]:
    """Counts in as few bytes as they need."""
    most = int(counts.max(initial=1))
    return counts.astype(np.min_scalar_type(most), copy=False)


def searched_fields(documents: Documents) -> tuple[str, ...]:
    """The fields searched by default: title and text, or whichever of them there is.

    >>> searched_fields(Documents(("1",), {"author": ["Cleverdon, C."], "text": ["ducks swim"]}))
    ('text',)
    """
    present = tuple(field for field in SEARCHED if field in documents.fields)
    if not present:
        raise UsageError(f"which fields are to be searched? There are {', '.join(documents.fields)}")
    return present


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
