"""Weights of terms in SMART notation: three letters for documents, three for queries, as lnc.ltc."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cranfield.errors import UsageError

if TYPE_CHECKING:
    from cranfield.search.index import Floats, Index, Integers

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
    return _weights(index, scheme, slope, index.terms, index.counts, index.documents)


def query_weights(index: Index, scheme: Scheme, slope: float, terms: Integers, counts: Floats) -> Floats:
    """The weight of each term of a query."""
    return _weights(index, scheme, slope, terms, counts, np.zeros(len(terms), dtype=np.int64))


def _weights(index: Index, scheme: Scheme, slope: float, terms: Integers, counts: Floats, text: Integers) -> Floats:
    """Weights of terms in texts, of which `text` has the number."""
    weights: Floats = _frequency(scheme.frequency, counts, text)
    weights = weights * _inverse(scheme.document_frequency, index)[terms]
    if scheme.normalisation == "c":
        lengths = np.sqrt(np.bincount(text, weights=weights**2))
        weights = weights / np.where(lengths > 0, lengths, 1)[text]
    elif scheme.normalisation == "u":
        pivot = index.distinct.mean()
        weights = weights / ((1 - slope) * pivot + slope * np.bincount(text))[text]
    return weights


def _frequency(letter: str, counts: Floats, text: Integers) -> Floats:
    if letter == "l":
        return 1 + np.log(counts)
    if letter == "a":
        highest: Floats = np.zeros(text.max(initial=-1) + 1)
        np.maximum.at(highest, text, counts)
        augmented: Floats = 0.5 + 0.5 * counts / highest[text]
        return augmented
    if letter == "b":
        return np.ones_like(counts)
    if letter == "L":
        average = np.bincount(text, weights=counts) / np.maximum(np.bincount(text), 1)
        over_average: Floats = (1 + np.log(counts)) / (1 + np.log(average[text]))
        return over_average
    return counts


def _inverse(letter: str, index: Index) -> Floats:
    count, frequencies = len(index), index.document_frequencies
    if letter == "t":
        return np.log(count / frequencies)
    if letter == "p":
        return np.log(np.maximum((count - frequencies) / frequencies, 1))
    return np.ones(len(frequencies))
