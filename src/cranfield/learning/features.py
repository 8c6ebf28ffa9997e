"""Documents as a learner sees them: the weights of their terms, computed once and kept in files that are mapped.

A term's column is a hash of it, so that no vocabulary is kept and a question is read without one. Weights are
(1 + ln tf) · (ln((1 + N) / (1 + df)) + 1), scaled so that each document has length 1. Words are those of
`cranfield search`: on 56 topics of the classic collection, stemmed and without stop words, they needed fewer judgements
than plain words with pairs of words did.
"""

from __future__ import annotations

import json
import os
from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias
from zlib import crc32

import numpy as np

from cranfield.errors import DataError, plural
from cranfield.formats import touched
from cranfield.formats.output import whole_file
from cranfield.learning.neighbours import Neighbours, find_neighbours
from cranfield.search.index import searched_fields
from cranfield.search.tokens import Analysis
from cranfield.texts.texts import Documents

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy.sparse import csr_matrix

    Weights: TypeAlias = NDArray[np.float32]
    Integers: TypeAlias = NDArray[np.int64]

VERSION = 2
COLUMNS = 1 << 20  # four times the words of a large collection: few share a column
ARRAYS = ("ids", "starts", "columns", "weights", "frequencies", "near", "cosines")
SETTINGS = "features.json"


@dataclass(frozen=True, eq=False, repr=False)
class Features:
    """The weights of the terms of every document: those of document i stand from starts[i] to starts[i + 1].

    >>> features = build_features({"d1": "Ducks swim.", "d2": "Geese and ducks", "d3": ""})
    >>> features, features.ids
    (<Features: 3 documents>, ('d1', 'd2', 'd3'))
    """

    ids: tuple[str, ...]
    starts: Integers
    columns: NDArray[np.int32]
    weights: Weights
    frequencies: NDArray[np.int32]  # in how many documents the terms of each column are
    analysis: Analysis
    neighbours: Neighbours

    @cached_property
    def rows(self) -> Mapping[str, int]:
        """The number of each document."""
        return {id: number for number, id in enumerate(self.ids)}

    @cached_property
    def matrix(self) -> csr_matrix:
        """matrix[document, column], on the arrays as they are."""
        return _matrix(self.weights, self.columns, self.starts)

    def of_text(self, text: str) -> csr_matrix:
        """A text that is no document, such as a question, as a row of the same columns.

        >>> features = build_features({"d1": "Ducks swim.", "d2": "Geese and ducks"})
        >>> (features.matrix @ features.of_text("a swimming duck").T).toarray().ravel() > 0.5
        array([ True, False])
        """
        from scipy.sparse import csr_matrix

        columns, counts = _counted(self.analysis.terms(text))
        known = self.frequencies[columns] > 0  # what no document has tells nothing, and would only make it shorter
        columns, counts = columns[known], counts[known]
        weights = _weighted(counts, np.array([0, len(columns)]), _rarity(self.frequencies, len(self.ids))[columns])
        return csr_matrix((weights, columns, [0, len(columns)]), shape=(1, COLUMNS))

    def save(self, folder: str | os.PathLike[str]) -> int:
        """Writes it into a folder, from where `open_features` maps it; gives its size in bytes.

        What says that all of it is there is taken away first and written last.
        """
        place = Path(folder)
        place.mkdir(parents=True, exist_ok=True)
        (place / SETTINGS).unlink(missing_ok=True)
        ids = np.frombuffer("\0".join(self.ids).encode("utf-8", "surrogateescape"), dtype=np.uint8)
        arrays: dict[str, NDArray[Any]] = {
            "ids": ids,
            "starts": self.starts,
            "columns": self.columns,
            "weights": self.weights,
            "frequencies": self.frequencies,
            "near": self.neighbours.numbers,
            "cosines": self.neighbours.cosines,
        }
        for name, values in arrays.items():
            with whole_file(place / f"{name}.npy") as part, open(part, "wb") as file:
                np.save(file, values, allow_pickle=False)
        settings = {
            "version": VERSION,
            "documents": len(self.ids),
            "sizes": {name: len(values) for name, values in arrays.items()},
            "stemmer": self.analysis.stemmer,
            "stop_words": self.analysis.stop_words,
            "stopped": sorted(self.analysis.stopped or ()),
        }
        with whole_file(place / SETTINGS) as part, open(part, "w", encoding="utf-8") as text:
            json.dump(settings, text)
        return sum(path.stat().st_size for path in place.iterdir() if path.name != SETTINGS)

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        return f"<Features: {plural(len(self), 'document')}>"

    def __deepcopy__(self, memo: object) -> Features:
        return self  # never changed, and too large to have twice


GivenDocuments: TypeAlias = "Documents | Mapping[str, str] | Iterable[tuple[str, str]]"


def build_features(documents: GivenDocuments, analysis: Analysis | None = None) -> Features:
    """Weighs the terms of documents: those of a collection (title and text), {id: text}, or pairs one after another.

    >>> build_features([("d1", "ducks swim"), ("d2", "ducks and geese")]).frequencies.sum()
    np.int64(4)
    """
    analysis = analysis or Analysis()
    ids: list[str] = []
    starts, columns, counts = array("q", [0]), array("i"), array("f")
    frequencies = np.zeros(COLUMNS, dtype=np.int32)
    for id, text in _pairs(documents):
        ids.append(id)
        of_document, often = _counted(analysis.terms(text))
        columns.frombytes(of_document.tobytes())
        counts.frombytes(often.tobytes())
        starts.append(len(columns))
        frequencies[of_document] += 1
    if not ids:
        raise DataError("there are no documents to learn from")
    if len(set(ids)) < len(ids):
        twice = next(id for number, id in enumerate(ids) if id in ids[:number])
        raise DataError(f"document '{twice}' is there twice")
    at = np.frombuffer(starts, dtype=np.int64)
    column = np.frombuffer(columns, dtype=np.int32)
    weights = _weighted(np.frombuffer(counts, dtype=np.float32), at, _rarity(frequencies, len(ids))[column])
    neighbours = find_neighbours(_matrix(weights, column, at), frequencies)
    return Features(tuple(ids), at, column, weights, frequencies, analysis, neighbours)


def open_features(folder: str | os.PathLike[str]) -> Features:
    """What `Features.save` wrote, mapped: it is open at once, and memory holds what is looked at.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = build_features({"d1": "ducks swim"}).save(folder)
    ...     open_features(folder)
    <Features: 1 document>
    """
    place = Path(folder)
    try:
        touched.reads(str(place / SETTINGS))
        settings = json.loads((place / SETTINGS).read_text(encoding="utf-8"))
        arrays = {name: np.load(place / f"{name}.npy", mmap_mode="r", allow_pickle=False) for name in ARRAYS}
        whole = settings["version"] == VERSION and all(
            len(values) == settings["sizes"][name] for name, values in arrays.items()
        )
        analysis = Analysis(settings["stemmer"], settings["stop_words"], frozenset(settings["stopped"]))
        count = settings["documents"]
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror or error}", source=error.filename or str(place)) from None
    except (TypeError, ValueError, KeyError, EOFError):
        whole = False
    if not whole:
        remedy = "Build them anew from the collection."
        raise DataError("are not features of documents, or of another version", source=str(place), remedy=remedy)
    ids = tuple(arrays.pop("ids").tobytes().decode("utf-8", "surrogateescape").split("\0")[:count])
    neighbours = Neighbours(arrays.pop("near"), arrays.pop("cosines"))
    return Features(ids, **arrays, analysis=analysis, neighbours=neighbours)


def _pairs(documents: GivenDocuments) -> Iterable[tuple[str, str]]:
    if isinstance(documents, Documents):
        return zip(documents.ids, documents.text(*searched_fields(documents)), strict=True)
    return documents.items() if isinstance(documents, Mapping) else documents


def _matrix(weights: Weights, columns: NDArray[np.int32], starts: Integers) -> csr_matrix:
    """The arrays as they are: nothing is copied."""
    from scipy.sparse import csr_matrix

    return csr_matrix((weights, columns, starts), shape=(len(starts) - 1, COLUMNS), copy=False)


def _counted(terms: Sequence[str]) -> tuple[NDArray[np.int32], Weights]:
    """The columns of terms in rising order, and how often each is there."""
    hashed = [crc32(term.encode("utf-8", "surrogateescape")) & (COLUMNS - 1) for term in terms]
    columns, counts = np.unique(np.array(hashed, dtype=np.int32), return_counts=True)
    return columns, counts.astype(np.float32)


def _rarity(frequencies: NDArray[np.int32], count: int) -> Weights:
    """How much the terms of each column tell: the more, the fewer documents have them."""
    rarity: Weights = (np.log((1 + count) / (1.0 + frequencies)) + 1).astype(np.float32)
    return rarity


def _weighted(counts: Weights, starts: Integers, rarity: Weights) -> Weights:
    """Weights of counted terms; a document without terms has none."""
    weights: Weights = (1 + np.log(counts)) * rarity
    squares = np.concatenate(([0.0], np.cumsum(weights.astype(np.float64) ** 2)))
    lengths = np.sqrt(np.diff(squares[starts]))
    scale = np.repeat(np.where(lengths > 0, lengths, 1), np.diff(starts))
    scaled: Weights = (weights / scale).astype(np.float32)
    return scaled
