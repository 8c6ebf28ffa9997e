"""Documents as a learner sees them: the weights of their terms, computed once and kept in files that are mapped.

Terms are words, as `cranfield search` has them (stemmed, no stop words), and pairs of words that follow each other.
Weights are (1 + ln tf) · (ln((1 + N) / (1 + df)) + 1), scaled so that each document has length 1, as in ASReview. Pairs
that only one document has are left out after that: they tell nothing of others, and what they do to the classifier can
be computed from the length that lacks (`alone`). A term is known by a hash of it, so that no vocabulary is kept.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from cranfield._core import row_products
from cranfield.errors import DataError, plural
from cranfield.formats import touched
from cranfield.formats.output import whole_file
from cranfield.learning.counted_terms import CountedTerms, hashed_terms
from cranfield.learning.neighbours import Neighbours, find_neighbours
from cranfield.search.index import searched_fields
from cranfield.search.tokens import Analysis
from cranfield.texts.texts import Documents

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy.sparse import csr_matrix

    Weights: TypeAlias = NDArray[np.float32]
    Integers: TypeAlias = NDArray[np.int64]
    Hashes: TypeAlias = NDArray[np.uint32]

VERSION = 2
AT_ONCE = 10_000  # documents weighed at once: more take memory, and no less time
READ_AT_ONCE = 2_000
ARRAYS = ("ids", "starts", "columns", "weights", "hashes", "frequencies", "near", "cosines")
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
    hashes: Hashes  # of the term of each column, rising
    frequencies: NDArray[np.int32]  # in how many documents it is
    analysis: Analysis
    neighbours: Neighbours

    @cached_property
    def rows(self) -> Mapping[str, int]:
        """The number of each document."""
        return {id: number for number, id in enumerate(self.ids)}

    @cached_property
    def numbers(self) -> Integers:
        """The numbers of all documents."""
        return np.arange(len(self.ids))

    @cached_property
    def matrix(self) -> csr_matrix:
        """matrix[document, column], on the arrays as they are."""
        return _matrix(self.weights, self.columns, self.starts, len(self.hashes))

    def products(self, weights: Weights, numbers: Integers | None = None) -> NDArray[np.float64]:
        """What documents have of these weights, one for each column: all of them, or those with these numbers.

        Other threads go on meanwhile, and nothing of the documents is copied.

        >>> features = build_features({"d1": "ducks swim", "d2": "geese"})
        >>> features.products(features.of_text("duck").toarray().ravel(), np.array([1, 0])).round(2)
        array([0.  , 0.58])
        """
        return row_products(self.starts, self.columns, self.weights, weights, numbers, 1).astype(np.float64)

    def of_text(self, text: str) -> csr_matrix:
        """A text that is no document, such as a question, as a row of the same columns.

        >>> features = build_features({"d1": "Ducks swim.", "d2": "Geese and ducks"})
        >>> (features.matrix @ features.of_text("a swimming duck").T).toarray().ravel() > 0.5
        array([ True, False])
        """
        from scipy.sparse import csr_matrix

        asked, counts = hashed_terms(self.analysis, text)
        first, last = (np.searchsorted(self.hashes, asked, side) for side in ("left", "right"))
        known = first < last  # what no document has tells nothing, and would only make it shorter
        columns, counts = first[known], counts[known]
        weights = counts * _rarity(self.frequencies[columns], len(self.ids))
        row = weights / _lengths(weights, np.array([0, len(columns)]))
        return csr_matrix((row.astype(np.float32), columns, [0, len(columns)]), shape=(1, len(self.hashes)))

    def save(self, folder: str | os.PathLike[str]) -> int:
        """Writes it into a folder, from where `open_features` maps it; gives its size in bytes.

        What says that all of it is there is taken away first and written last.
        """
        place = Path(folder)
        _unfinished(place)
        ids = np.frombuffer("\0".join(self.ids).encode("utf-8", "surrogateescape"), dtype=np.uint8)
        arrays: dict[str, NDArray[Any]] = {
            "ids": ids,
            "starts": self.starts,
            "columns": self.columns,
            "weights": self.weights,
            "hashes": self.hashes,
            "frequencies": self.frequencies,
            "near": self.neighbours.numbers,
            "cosines": self.neighbours.cosines,
        }
        for name, values in arrays.items():
            if isinstance(values, np.memmap) and Path(str(values.filename)) == (place / f"{name}.npy").resolve():
                values.flush()  # it was made there
                continue
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


def build_features(
    documents: GivenDocuments, analysis: Analysis | None = None, *, folder: str | os.PathLike[str] | None = None
) -> Features:
    """Weighs the terms of documents: those of a collection (title and text), {id: text}, or pairs one after another.

    With a `folder` they are written there while they are made, as `Features.save` would write them, and mapped: memory
    does not follow the number of documents.

    >>> build_features([("d1", "ducks swim"), ("d2", "ducks and geese")]).frequencies.sum()
    np.int64(4)
    """
    analysis = analysis or Analysis()
    with CountedTerms(analysis) as counted:
        for ids, texts in _batches(documents):
            counted.add(ids, texts)
        if not counted.ids:
            raise DataError("there are no documents to learn from")
        if len(set(counted.ids)) < len(counted.ids):
            seen: set[str] = set()
            twice = next(id for id in counted.ids if id in seen or seen.add(id))  # type: ignore[func-returns-value]
            raise DataError(f"document '{twice}' is there twice")
        place = None if folder is None else Path(folder)
        if place is not None:
            _unfinished(place)
        made = _weighed(counted, place)
    near = find_neighbours(made["starts"], made["columns"], made["weights"], made["frequencies"])
    features = Features(tuple(counted.ids), **made, analysis=analysis, neighbours=near)
    if folder is None:
        return features
    features.save(folder)
    return open_features(folder)


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


def _batches(documents: GivenDocuments) -> Iterator[tuple[Sequence[str], Sequence[str]]]:
    """Ids and texts, some at a time."""
    if isinstance(documents, Documents):
        yield from documents.blocks(*searched_fields(documents))
        return
    pairs = iter(documents.items() if isinstance(documents, Mapping) else documents)
    while batch := list(islice(pairs, READ_AT_ONCE)):
        ids, texts = zip(*batch, strict=True)
        yield ids, texts


def _unfinished(place: Path) -> None:
    """A folder that is to be written into; what says that all of it is there is taken away."""
    place.mkdir(parents=True, exist_ok=True)
    (place / SETTINGS).unlink(missing_ok=True)


def _matrix(weights: Weights, columns: NDArray[np.int32], starts: Integers, width: int) -> csr_matrix:
    """The arrays as they are: nothing is copied."""
    from scipy.sparse import csr_matrix

    return csr_matrix((weights, columns, starts), shape=(len(starts) - 1, width), copy=False)


def _weighed(counted: CountedTerms, place: Path | None) -> dict[str, NDArray[Any]]:
    """The weights of the terms of documents by columns, without the pairs that only one document has."""
    terms, frequencies = counted.telling()
    count = len(counted.ids)
    rarity, of_one = _rarity(frequencies, count), _rarity(np.ones(1, np.int32), count)
    size = int(frequencies.sum(dtype=np.int64))
    columns: NDArray[np.int32] = _new_array(place, "columns", np.int32, size)
    weights: Weights = _new_array(place, "weights", np.float32, size)
    sizes, filled = [np.zeros(1, np.int64)], 0
    for at, hashes, often in counted.blocks(AT_ONCE):
        found = np.searchsorted(terms, hashes)
        found[found == len(terms)] = 0
        kept = terms[found] == hashes
        weighed = often * np.where(kept, rarity[found], of_one)
        weighed /= np.repeat(_lengths(weighed, at), np.diff(at))
        sizes.append(np.diff(np.concatenate(([0], np.cumsum(kept)))[at]))
        part = slice(filled, filled + int(sizes[-1].sum()))
        columns[part], weights[part] = found[kept], weighed[kept]
        filled = part.stop
    return {
        "starts": np.cumsum(np.concatenate(sizes)),
        "columns": columns,
        "weights": weights,
        "hashes": terms,
        "frequencies": frequencies,
    }


def _new_array(place: Path | None, name: str, kind: type, size: int) -> NDArray[Any]:
    if place is None:
        return np.empty(size, kind)
    return np.lib.format.open_memmap(place / f"{name}.npy", "w+", kind, (size,))


def _rarity(frequencies: NDArray[np.int32], count: int) -> Weights:
    """How much terms tell that are in so many of all documents: the more, the fewer have them."""
    rarity: Weights = (np.log((1 + count) / (1.0 + frequencies)) + 1).astype(np.float32)
    return rarity


def _lengths(weights: Weights, starts: Integers) -> Weights:
    """The length of each document; 1 of one without terms."""
    squares = np.concatenate(([0.0], np.cumsum(weights.astype(np.float64) ** 2)))
    lengths: Weights = np.sqrt(np.diff(squares[starts])).astype(np.float32)
    return np.where(lengths > 0, lengths, np.float32(1))
