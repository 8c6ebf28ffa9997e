"""Models of retrieval. To add one, write a function of an Index and decorate it with `@model`.

A model gives every posting (a term in a document) a weight, and every query term one; a document's score is the sum of
their products over the terms it shares with the query, and for some models a value of the document itself for every
word of the query. Documents that share no term with the query are not retrieved. Scores are rounded to nine decimals:
what lies beyond may differ between machines, and must decide neither over ranks nor over the bytes of a run.
"""

from __future__ import annotations

import hashlib
import inspect
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from cranfield.errors import UsageError
from cranfield.search.index import Index
from cranfield.search.okapi import Settings, bm25_weights
from cranfield.search.smart_weights import Scheme, document_weights, query_weights
from cranfield.search.tokens import NONE, Analysis

if TYPE_CHECKING:
    from cranfield.search.index import Floats, Integers

DECIMALS = 9


class Ranking(NamedTuple):
    """Documents by number, best first, with their scores."""

    documents: Integers
    scores: Floats


class System(Protocol):
    """What a model makes of an index: something that ranks documents for a query."""

    @property
    def index(self) -> Index:
        """What is searched."""

    def rank(self, query: str, depth: int) -> Ranking: ...


@dataclass(frozen=True, eq=False)
class Weighted:
    """A system whose scores are sums over the terms that query and document share."""

    index: Index
    weights: Floats  # of each posting
    of_query: Callable[[Integers, Floats], Floats] = lambda terms, counts: counts
    of_document: Floats | None = None  # added for each word of the query

    def __post_init__(self) -> None:
        if not (np.isfinite(self.weights).all() and (self.of_document is None or np.isfinite(self.of_document).all())):
            raise UsageError(
                "the weights of terms are beyond what numbers can hold: a parameter is too small or too great"
            )

    def rank(self, query: str, depth: int) -> Ranking:
        terms, counts = self.index.query(query)
        scores, found = np.zeros(len(self.index)), np.zeros(len(self.index), dtype=bool)
        for term, weight in zip(terms.tolist(), self.of_query(terms, counts).tolist(), strict=True):
            postings = self.index.postings(term)
            documents = self.index.documents[postings]  # each once
            scores[documents] += weight * self.weights[postings]
            found[documents] = True
        if self.of_document is not None:
            scores += counts.sum() * self.of_document
        return best(np.flatnonzero(found), scores[found], depth)


@dataclass(frozen=True, eq=False)
class Drawn:
    """A system that ranks all documents by chance, the same for the same seed and query."""

    index: Index
    seed: int

    def rank(self, query: str, depth: int) -> Ranking:
        digest = hashlib.blake2b(f"{self.seed} {query}".encode("utf-8", "surrogateescape"), digest_size=16).digest()
        scores = np.random.default_rng(int.from_bytes(digest)).random(len(self.index))
        return best(np.arange(len(self.index)), scores, depth)


def best(documents: Integers, scores: Floats, depth: int) -> Ranking:
    """The best documents by score descending, ties by number ascending.

    >>> best(np.array([0, 1, 2, 3]), np.array([1.0, 3.0, 1.0, 2.0]), 3)
    Ranking(documents=array([1, 3, 0]), scores=array([3., 2., 1.]))
    """
    scores = np.round(scores, DECIMALS) + 0.0  # no negative zero
    if len(scores) > depth:
        enough = scores >= -np.partition(-scores, depth - 1)[depth - 1]
        documents, scores = documents[enough], scores[enough]
    order = np.argsort(-scores, kind="stable")[:depth]
    return Ranking(documents[order], scores[order])


def as_rows(index: Index, rankings: Mapping[str, Ranking]) -> dict[str, dict[str, float]]:
    """Rankings by topic as {topic: {document: score}}; topics for which nothing was found are left out."""
    return {
        topic: dict(zip(map(index.ids.__getitem__, documents.tolist()), scores.tolist(), strict=True))
        for topic, (documents, scores) in rankings.items()
        if len(documents)
    }


class Model(NamedTuple):
    """A model: its name, what it is in a sentence, its parameters and their defaults, and what makes a system of it."""

    name: str
    summary: str
    parameters: Mapping[str, Any]
    make: Callable[..., System]

    def system(self, index: Index, parameters: Mapping[str, Any] | None = None) -> System:
        """The model on an index, with some parameters other than by default."""
        self.check_names(parameters or {})
        with np.errstate(all="ignore"):  # what comes of an overflow is told by Weighted
            return self.make(index, **(parameters or {}))

    def check(self, parameters: Mapping[str, Any]) -> None:
        """That the model takes these parameters: an error now, rather than after hours of indexing.

        >>> find_model("lm").check({"mu": 0.0})
        Traceback (most recent call last):
        cranfield.errors.UsageError: mu must be more than 0, not 0.0
        """
        one, none = np.ones(1), Analysis(NONE, NONE)
        self.system(Index(("",), {"": 0}, np.array([0, 1]), np.zeros(1, dtype=np.int64), one, none), parameters)

    def check_names(self, names: Iterable[str]) -> None:
        """That the model has parameters of these names."""
        unknown = [name for name in names if name not in self.parameters]
        if unknown:
            has = ", ".join(self.parameters)
            told = f"{self.name} has no parameter {', '.join(map(repr, unknown))}; it has {has}"
            raise UsageError(told.replace("lambda_", "lambda"))


MODELS: dict[str, Model] = {}


def model(function: Callable[..., System]) -> Callable[..., System]:
    """Registers a function as a model; its keyword arguments are the parameters."""
    parameters = {
        name: parameter.default
        for name, parameter in inspect.signature(function).parameters.items()
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY
    }
    summary = (inspect.getdoc(function) or "").split("\n")[0]
    MODELS[function.__name__] = Model(function.__name__, summary, parameters, function)
    return function


def find_model(name: str) -> Model:
    """The model of a name.

    >>> find_model("bm25").parameters
    {'k1': 1.2, 'b': 0.75, 'variant': 'lucene', 'delta': 0.5}
    """
    if name not in MODELS:
        raise UsageError(f"no model '{name}'; there are {', '.join(MODELS)}")
    return MODELS[name]


@model
def bm25(index: Index, *, k1: float = 1.2, b: float = 0.75, variant: str = "lucene", delta: float = 0.5) -> Weighted:
    """BM25 with its variants; `delta` is for bm25l and bm25+.

    A term that a document lacks counts nothing, as Lv & Zhai define bm25l and bm25+; in bm25s it counts as one of
    frequency 0. The idf of robertson is never below 0.

    Formula (lucene): Σ log(1 + (N − df + 0.5) / (df + 0.5)) · tf / (tf + k1 (1 − b + b |d| / avgdl))
    Reference: Robertson et al., "Okapi at TREC-3", 1994; Lv & Zhai, CIKM and SIGIR 2011; Kamphuis et al., ECIR 2020.
    """
    _check("k1", k1, k1 >= 0, "0 or more")
    _check("b", b, 0 <= b <= 1, "from 0 to 1")
    _check("delta", delta, delta >= 0, "0 or more")
    return Weighted(index, bm25_weights(index, variant, Settings(k1, b, delta)))


@model
def vsm(index: Index, *, weighting: str = "lnc.ltc", slope: float = 0.2) -> Weighted:
    """The vector space model with a weighting in SMART notation: of documents, then of queries.

    Each is three letters. Term frequency: n as it is, l logarithm, a augmented, b present or not, L logarithm over the
    average. Document frequency: n none, t idf, p probabilistic idf. Length: n none, c cosine, u pivoted unique terms
    (`slope`). Logarithms are natural.

    Reference: Salton & Buckley 1988; Singhal et al. 1996; Manning et al., "Introduction to information retrieval", 6.4.
    """
    _check("slope", slope, 0 <= slope <= 1, "from 0 to 1")
    of_documents, of_queries = Scheme.parse(weighting)
    return Weighted(
        index,
        document_weights(index, of_documents, slope),
        lambda terms, counts: query_weights(index, of_queries, slope, terms, counts),
    )


@model
def tfidf(index: Index, *, sublinear: bool = False) -> Weighted:
    """tf-idf with cosine, weighted as scikit-learn's TfidfVectorizer does by default.

    Formula: tf · (1 + ln((1 + N) / (1 + df))), both vectors of length 1; `sublinear` takes 1 + ln tf for tf
    """

    def weigh(counts: Floats) -> Floats:
        return 1 + np.log(counts) if sublinear else counts

    idf = 1 + np.log((1 + len(index)) / (1 + index.document_frequencies))
    weights = weigh(index.counts) * idf[index.terms]
    norms = np.sqrt(np.bincount(index.documents, weights=weights**2, minlength=len(index)))

    def of_query(terms: Integers, counts: Floats) -> Floats:
        vector: Floats = weigh(counts) * idf[terms]
        return vector / math.sqrt(math.fsum(vector**2) or 1)

    return Weighted(index, weights / norms[index.documents], of_query)


@model
def lm(index: Index, *, mu: float = 1000.0) -> Weighted:
    """The language model with Dirichlet smoothing: how likely the document's model makes the query.

    Formula: Σ c(t, q) ln(1 + tf / (μ p(t))) + |q| ln(μ / (|d| + μ)), p(t) being the term's share of the collection
    Reference: Zhai & Lafferty, "A study of smoothing methods for language models", TOIS 2004.
    """
    _check("mu", mu, mu > 0, "more than 0")
    share = index.collection_frequencies / index.counts.sum()
    return Weighted(
        index,
        np.log1p(index.counts / (mu * share[index.terms])),
        of_document=np.log(mu / (index.lengths + mu)),
    )


@model
def jm(index: Index, *, lambda_: float = 0.7) -> Weighted:
    """The language model with Jelinek-Mercer smoothing: a share `lambda` of the collection's model in the document's.

    Formula: Σ c(t, q) ln(1 + (1 − λ) tf / (λ |d| p(t)))
    Reference: Zhai & Lafferty, "A study of smoothing methods for language models", TOIS 2004.
    """
    _check("lambda", lambda_, 0 < lambda_ < 1, "between 0 and 1")
    share = index.collection_frequencies / index.counts.sum()
    in_document = index.counts / index.lengths[index.documents]
    return Weighted(index, np.log1p((1 - lambda_) * in_document / (lambda_ * share[index.terms])))


@model
def random(index: Index, *, seed: int = 0) -> Drawn:
    """Documents in a random order: what every system must beat."""
    return Drawn(index, seed)


def _check(name: str, value: float, right: bool, range: str) -> None:
    if not (right and math.isfinite(value)):
        raise UsageError(f"{name} must be {range}, not {value}")
