"""Weights of BM25 and its variants: how rare a term is, times how much its frequency in a document says."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cranfield.errors import UsageError

if TYPE_CHECKING:
    from cranfield.search.index import Floats, Index, SomePostings


class Settings(NamedTuple):
    """k1: how soon repeating a term adds nothing more; b: how much length counts; delta: for bm25l and bm25+."""

    k1: float
    b: float
    delta: float


class Variant(NamedTuple):
    """The weight of terms that are in df of N documents, and of frequencies tf in documents of a relative length."""

    rarity: Callable[[Floats, int], Floats]
    frequency: Callable[[Floats, Floats, Settings], Floats]


def _odds(df: Floats, count: int) -> Floats:
    return (count - df + 0.5) / (df + 0.5)


def _saturated(tf: Floats, length: Floats, use: Settings) -> Floats:
    return tf / (tf + use.k1 * length)


def _scaled(tf: Floats, length: Floats, use: Settings) -> Floats:
    return (use.k1 + 1) * _saturated(tf, length, use)


def _shifted(tf: Floats, length: Floats, use: Settings) -> Floats:
    shifted = tf / length + use.delta
    return (use.k1 + 1) * shifted / (use.k1 + shifted)


def _raised(tf: Floats, length: Floats, use: Settings) -> Floats:
    return _scaled(tf, length, use) + use.delta


VARIANTS = {
    "robertson": Variant(lambda df, count: np.log(np.maximum(_odds(df, count), 1)), _saturated),
    "lucene": Variant(lambda df, count: np.log1p(_odds(df, count)), _saturated),
    "atire": Variant(lambda df, count: np.log(count / df), _scaled),
    "bm25l": Variant(lambda df, count: np.log((count + 1) / (df + 0.5)), _shifted),
    "bm25+": Variant(lambda df, count: np.log((count + 1) / df), _raised),
}


def bm25_weights(index: Index, variant: str, settings: Settings) -> Floats:
    """The weight of each posting.

    >>> from cranfield.search.index import build_index
    >>> from cranfield.texts.texts import Documents
    >>> index = build_index(Documents(("1", "2"), {"text": ["ducks ducks", "geese swim"]}))
    >>> bm25_weights(index, "lucene", Settings(k1=1.0, b=0.5, delta=0.0)).round(3)
    array([0.462, 0.347, 0.347])
    """
    if variant not in VARIANTS:
        raise UsageError(f"no variant '{variant}' of bm25; there are {', '.join(VARIANTS)}")
    lengths = 1 - settings.b + settings.b * index.lengths / index.lengths.mean()
    rarity = VARIANTS[variant].rarity(index.document_frequencies, len(index))
    frequency = VARIANTS[variant].frequency

    def weigh(some: SomePostings) -> Floats:
        return frequency(some.counts, lengths[some.documents], settings) * rarity[some.terms]

    return index.weighed(weigh)
