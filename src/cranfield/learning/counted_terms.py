"""What is counted in documents before it is weighed: hashes of words and of pairs, and how often each is there.

They are many: beyond some size they are kept in a file, and what must be known of all of them is found a range of
hashes at a time.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Self, TypeAlias

import numpy as np

from cranfield.search.term_reader import TermReader, portions
from cranfield.search.tokens import Analysis

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Weights: TypeAlias = NDArray[np.float32]
    Integers: TypeAlias = NDArray[np.int64]
    Hashes: TypeAlias = NDArray[np.uint32]

PAIR = np.uint32(1 << 31)  # the bit that pairs have and words have not
HELD = 1 << 27  # bytes of hashes, and of counts, that stay in memory
SORTED_AT_ONCE = 1 << 24  # hashes
READ_AT_ONCE = 1 << 22


def hashed_terms(analysis: Analysis, text: str) -> tuple[Hashes, Weights]:
    """The hashes of the words and of the pairs of words of a text in rising order, and of each 1 + ln of how often it
    is there.

    >>> hashes, weights = hashed_terms(Analysis(), "Ducks and a duck")
    >>> hashes < PAIR, weights.round(2)
    (array([ True, False]), array([1.69, 1.  ], dtype=float32))
    """
    _, hashes, counts = TermReader(analysis, threads=1).hashed([text])
    return hashes, _logarithms(counts)


class CountedTerms:
    """The hashes of documents one after another, within `with`.

    >>> with CountedTerms(Analysis()) as counted:
    ...     counted.add(["d1", "d2"], ["Ducks swim", "The ducks swim, and more"])
    ...     hashes, frequencies = counted.telling()
    >>> frequencies.tolist()
    [2, 2, 2]
    """

    def __init__(self, analysis: Analysis) -> None:
        self.ids: list[str] = []
        self._reader = TermReader(analysis)
        self._sizes: list[Integers] = []
        self._hashes = _Spooled(np.uint32)
        self._counts = _Spooled(np.float32)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._hashes.close()
        self._counts.close()

    def add(self, ids: Sequence[str], texts: Sequence[str]) -> None:
        """Adds documents."""
        self.ids += ids
        for portion in portions(texts):
            starts, hashes, counts = self._reader.hashed(portion)
            self._sizes.append(np.diff(starts))
            self._hashes.write(hashes)
            self._counts.write(_logarithms(counts))

    def telling(self) -> tuple[Hashes, NDArray[np.int32]]:
        """The hashes of all words, and of pairs that more than one document has, in rising order; and how many
        documents have each.
        """
        parts = max(1, -(-self._hashes.size // SORTED_AT_ONCE))
        bounds = np.linspace(0, 1 << 32, parts + 1).astype(np.uint64)
        found = [self._telling(int(low), int(high)) for low, high in pairwise(bounds)]
        hashes, frequencies = zip(*found, strict=True)
        return np.concatenate(hashes), np.concatenate(frequencies)

    def blocks(self, documents: int) -> Iterator[tuple[Integers, Hashes, Weights]]:
        """So many documents at a time: where each begins and the last ends, their hashes, and of each 1 + ln of how
        often it is there.
        """
        sizes = np.concatenate(self._sizes)
        at = 0
        for first in range(0, len(sizes), documents):
            starts = np.concatenate(([0], np.cumsum(sizes[first : first + documents])))
            part = slice(at, at + int(starts[-1]))
            yield starts, self._hashes.read(part), self._counts.read(part)
            at = part.stop

    def _telling(self, low: int, high: int) -> tuple[Hashes, NDArray[np.int32]]:
        """Of the hashes from low to high."""
        held = []
        for first in range(0, self._hashes.size, READ_AT_ONCE):
            some = self._hashes.read(slice(first, first + READ_AT_ONCE))
            held.append(some[(some >= low) & (some <= high - 1)])
        in_order = np.sort(np.concatenate(held)) if held else np.zeros(0, np.uint32)
        firsts = np.flatnonzero(np.concatenate(([True], in_order[1:] != in_order[:-1]))[: len(in_order)])
        hashes, frequencies = in_order[firsts], np.diff(firsts, append=len(in_order)).astype(np.int32)
        telling = (hashes < PAIR) | (frequencies > 1)
        return hashes[telling], frequencies[telling]


class _Spooled:
    """Numbers of one kind, one after another; in memory as long as they are few."""

    def __init__(self, kind: type[np.generic]) -> None:
        self.size = 0
        self._kind = np.dtype(kind)
        self._file = tempfile.SpooledTemporaryFile(max_size=HELD)  # noqa: SIM115 - closed with those who hold it

    def write(self, values: NDArray[Any]) -> None:
        self._file.seek(self.size * self._kind.itemsize)
        self._file.write(values.data)
        self.size += len(values)

    def read(self, part: slice) -> NDArray[Any]:
        self._file.seek(part.start * self._kind.itemsize)
        return np.frombuffer(self._file.read((part.stop - part.start) * self._kind.itemsize), self._kind)

    def close(self) -> None:
        self._file.close()


def _logarithms(counts: NDArray[np.uint32]) -> Weights:
    """1 + ln of each; most are 1 and 2, so that those there can be are computed once."""
    table: Weights = (1 + np.log(np.arange(1, int(counts.max(initial=1)) + 1))).astype(np.float32)
    return table[counts - 1]
