"""Texts to terms, many at a time: in the core, by all threads, each different word stemmed once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from cranfield._core import TermCounter
from cranfield.search.tokens import Analysis, marks, word_pattern
from cranfield.tables import thread_count

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


PORTION = 1 << 24  # characters of texts that are read at once


def portions(texts: Sequence[str]) -> Iterator[Sequence[str]]:
    """Texts in portions whose words fit into memory beside everything else, however long texts are.

    >>> [len(portion) for portion in portions(["ducks", "-" * PORTION, "geese"])]
    [2, 1]
    """
    first = held = 0
    for place, text in enumerate(texts):
        held += len(text)
        if held >= PORTION:
            yield texts[first : place + 1]
            first, held = place + 1, 0
    if first < len(texts):
        yield texts[first:]


class TermReader:
    """Reads texts, some at a time, and counts or hashes the terms that `Analysis.terms` would give.

    >>> reader = TermReader(Analysis())
    >>> reader.count(["Ducks swim.", "Geese and ducks, ducks"])
    >>> reader.terms(), len(reader)
    (['duck', 'gees', 'swim'], 2)
    """

    def __init__(self, analysis: Analysis, threads: int | None = None) -> None:
        stopped = [word for word in analysis.stopped or () if word_pattern().fullmatch(word)]  # no other is ever met
        self._analysis = analysis
        self._counter = TermCounter([ord(mark) for mark in marks()], stopped, thread_count(threads))

    def count(self, texts: Sequence[str]) -> None:
        """Adds documents with these texts."""
        self._read(texts)
        self._counter.count()

    def hashed(self, texts: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.uint32], NDArray[np.uint32]]:
        """For each of these texts where its part of the other arrays begins; the hashes of its terms and of pairs of
        them that follow each other, in rising order; and how often each is there.

        The hash of a term is its CRC-32 without the highest bit, that of a pair the CRC-32 of both with a blank
        between them, and with that bit.
        """
        self._read(texts)
        return self._counter.hashed()

    def terms(self) -> list[str]:
        """All terms met so far, in their own order."""
        return self._counter.terms()

    def postings(
        self, order: NDArray[np.uint32]
    ) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.unsignedinteger]]:
        """For each term, in their order, where its postings begin; the documents of postings, which have their places
        in `order` as numbers; and how often the term is in each. The documents are forgotten then.
        """
        return self._counter.inverted(order)

    def _read(self, texts: Sequence[str]) -> None:
        self._counter.name(self._analysis.stems(self._counter.read(list(texts))))

    def __len__(self) -> int:
        return self._counter.documents
