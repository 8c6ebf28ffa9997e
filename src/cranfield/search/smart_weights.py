"""Weights of terms in SMART notation: three letters for documents, three for queries, as lnc.ltc."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cranfield.errors import UsageError

if TYPE_CHECKING:
    from cranfield.search.index import Floats, Index, Integers, SomePostings

FREQUENCY, DOCUMENT_FREQUENCY, NORMALISATION = "nlabL", "ntp", "ncu"


class Scheme(NamedTuple):
    """What is done with term frequencies, with document frequencies, and with lengths: a letter each."""

    frequency: str
    document_frequency: str
    normalisation: str

    @staticmethod
    def parse(text: str) -> tuple[Scheme, Scheme]:
        """The schemes of documents and of queries.

        >>> Scheme.parse("lnc.ltc")[1]
        Scheme(frequency='l', document_frequency='t', normalisation='c')
        """
        halves = text.split(".")
        known = (FREQUENCY, DOCUMENT_FREQUENCY, NORMALISATION)
        for half in halves:
            if len(half) != 3 or any(letter not in letters for letter, letters in zip(half, known, strict=True)):
                halves = []
        if len(halves) != 2:
            raise UsageError(
                f"'{text}' is not a weighting in SMART notation: three letters for documents, a dot, three for queries "
                f"(lnc.ltc); the first of {FREQUENCY}, the second of {DOCUMENT_FREQUENCY}, the third of {NORMALISATION}"
            )
        return Scheme(*halves[0]), Scheme(*halves[1])


def document_weights(index: Index, scheme: Scheme, slope: float) -> Floats:
    """The weight of each posting.

    >>> from cranfield.search.index import build_index
    >>> from cranfield.texts.texts import Documents
    >>> index = build_index(Documents(("1",), {"text": ["ducks ducks geese"]}))
    >>> document_weights(index, Scheme("n", "n", "c"), 0.2).round(3)
    array([0.894, 0.447])
    """
    inverse, means = _inverse(scheme.document_frequency, index), _document_means(scheme.frequency, index)

    def weigh(some: SomePostings) -> Floats:
        return _frequency(scheme.frequency, some.counts, means[some.documents]) * inverse[some.terms]

    if scheme.normalisation == "n":
        return index.weighed(weigh)
    if scheme.normalisation == "c":
        lengths = _nonzero(np.sqrt(index.summed(lambda some: weigh(some) ** 2)))
    else:
        lengths = (1 - slope) * index.distinct.mean() + slope * index.distinct
    return index.weighed(lambda some: weigh(some) / lengths[some.documents])


def query_weights(index: Index, scheme: Scheme, slope: float, terms: Integers, counts: Floats) -> Floats:
    """The weight of each term of a query."""
    mean = {"a": counts.max(initial=0), "L": counts.sum() / max(len(counts), 1)}.get(scheme.frequency, 1.0)
    weights = _frequency(scheme.frequency, counts, np.full(len(counts), mean))
    weights = weights * _inverse(scheme.document_frequency, index)[terms]
    if scheme.normalisation == "c":
        return weights / _nonzero(np.sqrt(np.bincount(np.zeros(len(terms), dtype=np.int64), weights=weights**2)))
    length = (1 - slope) * float(index.distinct.mean()) + slope * len(terms) if scheme.normalisation == "u" else 1.0
    return weights / length


def _document_means(letter: str, index: Index) -> Floats:
    """What the frequencies of each document are held against: the greatest for a, their mean for L."""
    if letter == "a":
        highest = np.zeros(len(index))
        for _, some in index.blocks():
            np.maximum.at(highest, some.documents, some.counts)
        return highest
    return index.lengths / np.maximum(index.distinct, 1) if letter == "L" else np.ones(len(index))


def _frequency(letter: str, counts: Floats, means: Floats) -> Floats:
    if letter == "l":
        return 1 + np.log(counts)
    if letter == "a":
        augmented: Floats = 0.5 + 0.5 * counts / means
        return augmented
    if letter == "b":
        return np.ones_like(counts)
    if letter == "L":
        over_average: Floats = (1 + np.log(counts)) / (1 + np.log(means))
        return over_average
    return counts


def _nonzero(lengths: Floats) -> Floats:
    return np.where(lengths > 0, lengths, 1)


def _inverse(letter: str, index: Index) -> Floats:
    count, frequencies = len(index), index.document_frequencies
    if letter == "t":
        return np.log(count / frequencies)
    if letter == "p":
        return np.log(np.maximum((count - frequencies) / frequencies, 1))
    return np.ones(len(frequencies))
