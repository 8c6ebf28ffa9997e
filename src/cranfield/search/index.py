"""The index: for each term the documents it is in and how often, counted once for every model."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from cranfield.errors import DataError, UsageError, plural
from cranfield.formats import touched
from cranfield.formats.output import whole_file
from cranfield.search.tokens import Analysis, library
from cranfield.texts.texts import Documents

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats: TypeAlias = NDArray[np.float64]
    Integers: TypeAlias = NDArray[np.int64]

SEARCHED = ("title", "text")  # what is searched unless fields are named: not authors, not where it appeared


@dataclass(frozen=True, eq=False, repr=False)
class Index:
    """Documents as bags of terms.

    Documents are numbered by id descending as bytes, so that the lower number comes first where scores are equal: the
    order that all of cranfield takes for ties. The terms are numbered in their own order. A posting is a document with
    one of its terms; postings stand by term, then by document: those of term t from starts[t] to starts[t + 1].
    """

    ids: tuple[str, ...]
    vocabulary: Mapping[str, int]
    starts: Integers
    documents: Integers  # of each posting
    counts: Floats  # of each posting: how often the term is in the document
    analysis: Analysis
    name: str = ""
    digest: str = ""  # of the texts, to know whether a saved index is still theirs
    fields: tuple[str, ...] = ()  # of the documents, that are searched

    @cached_property
    def terms(self) -> Integers:
        """The term of each posting."""
        return np.repeat(np.arange(len(self.vocabulary)), np.diff(self.starts))

    @cached_property
    def lengths(self) -> Floats:
        """How many words, without stop words, each document has."""
        return np.bincount(self.documents, weights=self.counts, minlength=len(self.ids)).astype(np.float64)

    @cached_property
    def distinct(self) -> Floats:
        """How many different terms each document has."""
        return np.bincount(self.documents, minlength=len(self.ids)).astype(np.float64)

    @cached_property
    def document_frequencies(self) -> Floats:
        """In how many documents each term is."""
        return np.diff(self.starts).astype(np.float64)

    @cached_property
    def collection_frequencies(self) -> Floats:
        """How often each term is in all documents together."""
        return np.bincount(self.terms, weights=self.counts, minlength=len(self.vocabulary)).astype(np.float64)

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
        arrays = self.starts.nbytes + self.documents.nbytes + self.counts.nbytes
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
        packed = {name: np.frombuffer(_bytes("\0".join(parts)), dtype=np.uint8) for name, parts in texts.items()}
        arrays = {"starts": self.starts, "documents": self.documents, "counts": self.counts}
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
            arrays = {name: stored[name] for name in ("starts", "documents", "counts")}
            ids, terms, stopped, fields, settings = (
                stored[name].tobytes().decode("utf-8", "surrogateescape").split("\0")
                for name in ("ids", "vocabulary", "stopped", "fields", "settings")
            )
        name, stemmer, stop_words, digest = settings
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
    return Index(tuple(ids), vocabulary, **arrays, analysis=analysis, name=name, digest=digest, fields=tuple(fields))


def build_index(
    documents: Documents,
    analysis: Analysis | None = None,
    *,
    fields: Sequence[str] = (),
    step: Callable[[], None] | None = None,
) -> Index:
    """Counts the terms of every document. `fields` are those to search, by default title and text; `step`, if given, is
    called after each document.

    >>> index = build_index(Documents(("1", "2"), {"text": ["ducks swim", "geese and ducks, ducks"]}))
    >>> index, index.document_frequencies, index.lengths
    (<Index '': 2 documents, 3 terms>, array([2., 1., 1.]), array([3., 2.]))
    """
    if not len(documents):
        raise DataError("has no documents", source=documents.name or None)
    analysis = analysis or Analysis()
    order = sorted(range(len(documents)), key=lambda i: _bytes(documents.ids[i]), reverse=True)
    searched = tuple(fields or searched_fields(documents))
    texts = documents.text(*searched)
    vectorizer = library("sklearn.feature_extraction.text").CountVectorizer(analyzer=analysis.terms)
    try:
        counts = vectorizer.fit_transform(_counted((texts[i] for i in order), step)).tocsc()
    except ValueError as error:
        if "empty vocabulary" not in str(error):
            raise
        raise DataError(
            "has no terms: every document is empty, or has stop words only", source=documents.name or None
        ) from None
    counts.sort_indices()
    return Index(
        tuple(documents.ids[i] for i in order),
        dict(sorted(vectorizer.vocabulary_.items(), key=lambda item: item[1])),
        counts.indptr.astype(np.int64),
        counts.indices.astype(np.int64),
        counts.data.astype(np.float64),
        analysis,
        documents.name,
        digest_of(documents.ids, texts),
        searched,
    )


def digest_of(ids: Sequence[str], texts: Sequence[str]) -> str:
    """A digest of ids and texts.

    >>> digest_of(["1"], ["ducks"]) == digest_of(["1"], ["geese"])
    False
    """
    digest = hashlib.blake2b(digest_size=16)
    for id, text in zip(ids, texts, strict=True):
        digest.update(_bytes(f"{id}\n{len(text)}\n{text}\n"))
    return digest.hexdigest()


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


def _counted(texts: Iterable[str], step: Callable[[], None] | None) -> Iterator[str]:
    for text in texts:
        yield text
        if step is not None:
            step()
