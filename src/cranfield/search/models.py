"""Models of retrieval. To add one, write a function of an Index and decorate it with `@model`.

A model gives every posting (a term in a document) a weight, and every query term one; a document's score is the sum of
their products over the terms it shares with the query, and for some models a value of the document itself for every
word of the query. Documents that share no term with the query are not retrieved.

The command line takes its options from here: NumPy is loaded inside of the functions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from cranfield.notation import Value
from cranfield.registry import Entry, Parameter, Registry, described, is_number

if TYPE_CHECKING:
    from cranfield.search.index import Floats, Index, Integers, SomePostings
    from cranfield.search.systems import Drawn, System, Weighted


class Model(Entry[Callable[..., "System"]]):
    """A model: the function makes a system of an index."""

    def system(self, index: Index, parameters: Mapping[str, Value] | None = None) -> System:
        """The model on an index, with some parameters other than by default."""
        import numpy as np

        self.check_values(parameters or {})
        with np.errstate(all="ignore"):  # what comes of an overflow is told by Weighted
            return self.function(index, **(parameters or {}))

    def check(self, parameters: Mapping[str, Value]) -> None:
        """That the model takes these parameters: an error now, rather than after hours of indexing.

        >>> find_model("lm").check({"mu": 0.0})
        Traceback (most recent call last):
        cranfield.errors.UsageError: mu must be more than 0, not 0.0
        """
        import numpy as np

        from cranfield.search.index import Index
        from cranfield.search.tokens import NONE, Analysis

        document, once = np.zeros(1, dtype=np.int32), np.ones(1, dtype=np.uint8)
        self.system(Index(("",), {"": 0}, np.array([0, 1]), document, once, Analysis(NONE, NONE)), parameters)

    def refusal(self, name: str, value: Value) -> str:
        return super().refusal(name, value).removeprefix(f"{self.name}: ")


MODELS: Registry[Model] = Registry(
    "model",
    group="cranfield.models",
    package="cranfield.search",
    decorator="model",
    unknown="no {noun} '{name}'; there are {names}",
)


def model(**parameters: Parameter) -> Callable[[Callable[..., System]], Callable[..., System]]:
    """Registers a function as a model under its own name; its keyword arguments are the parameters."""

    def register(function: Callable[..., System]) -> Callable[..., System]:
        known = described(function, "model", parameters)
        MODELS.add(Model(name=function.__name__, function=function, parameters=known))
        return function

    return register


def find_model(text: str) -> Model:
    """The model of a name, with the parameters that are given to it.

    >>> find_model("bm25").defaults
    {'k1': 1.2, 'b': 0.75, 'variant': 'lucene', 'delta': 0.5}
    >>> find_model("jm(lambda=0.4)").given
    (('lambda_', 0.4),)
    """
    return MODELS.find(text)


def _from_zero(help: str) -> Parameter:
    return Parameter(help, "0 or more", lambda value: is_number(value) and value >= 0)


def _share(help: str) -> Parameter:
    return Parameter(help, "from 0 to 1", lambda value: is_number(value) and 0 <= value <= 1)


def _text(help: str) -> Parameter:
    """What the text may be is told by what reads it."""
    return Parameter(help, "text", lambda value: isinstance(value, str))


@model(
    k1=_from_zero("how much each repetition of a term adds; with 0, nothing"),
    b=_share("how much the length of documents counts, from 0 to 1"),
    delta=_from_zero("the least that a term counts in long documents, for bm25l and bm25+"),
    variant=_text("robertson, lucene, atire, bm25l or bm25+"),
)
def bm25(index: Index, *, k1: float = 1.2, b: float = 0.75, variant: str = "lucene", delta: float = 0.5) -> Weighted:
    """BM25 with its variants; `delta` is for bm25l and bm25+.

    A term that a document lacks counts nothing, as Lv & Zhai define bm25l and bm25+; in bm25s it counts as one of
    frequency 0. The idf of robertson is never below 0.

    Formula (lucene): Σ log(1 + (N − df + 0.5) / (df + 0.5)) · tf / (tf + k1 (1 − b + b |d| / avgdl))
    Reference: Robertson et al., "Okapi at TREC-3", 1994; Lv & Zhai, CIKM and SIGIR 2011; Kamphuis et al., ECIR 2020.
    """
    from cranfield.search.okapi import Settings, bm25_weights
    from cranfield.search.systems import Weighted

    return Weighted(index, bm25_weights(index, variant, Settings(k1, b, delta)))


@model(
    weighting=_text("weights of documents and queries in SMART notation, as lnc.ltc"),
    slope=_share("slope of the pivoted normalisation u"),
)
def vsm(index: Index, *, weighting: str = "lnc.ltc", slope: float = 0.2) -> Weighted:
    """The vector space model with a weighting in SMART notation: of documents, then of queries.

    Each is three letters. Term frequency: n as it is, l logarithm, a augmented, b present or not, L logarithm over the
    average. Document frequency: n none, t idf, p probabilistic idf. Length: n none, c cosine, u pivoted unique terms
    (`slope`). Logarithms are natural.

    Reference: Salton & Buckley 1988; Singhal et al. 1996; Manning et al., "Introduction to information retrieval", 6.4.
    """
    from cranfield.search.smart_weights import Scheme, document_weights, query_weights
    from cranfield.search.systems import Weighted

    of_documents, of_queries = Scheme.parse(weighting)
    return Weighted(
        index,
        document_weights(index, of_documents, slope),
        lambda terms, counts: query_weights(index, of_queries, slope, terms, counts),
    )


@model(
    sublinear=Parameter(
        "true for the logarithm of term frequencies", "true or false", lambda value: isinstance(value, bool)
    )
)
def tfidf(index: Index, *, sublinear: bool = False) -> Weighted:
    """tf-idf with cosine, weighted as scikit-learn's TfidfVectorizer does by default.

    Formula: tf · (1 + ln((1 + N) / (1 + df))), both vectors of length 1; `sublinear` takes 1 + ln tf for tf
    """
    import numpy as np

    from cranfield.search.systems import Weighted

    def weigh(counts: Floats) -> Floats:
        return 1 + np.log(counts) if sublinear else counts

    idf = 1 + np.log((1 + len(index)) / (1 + index.document_frequencies))
    norms = np.sqrt(index.summed(lambda some: (weigh(some.counts) * idf[some.terms]) ** 2))
    weights = index.weighed(lambda some: weigh(some.counts) * idf[some.terms] / norms[some.documents])

    def of_query(terms: Integers, counts: Floats) -> Floats:
        vector: Floats = weigh(counts) * idf[terms]
        return vector / math.sqrt(math.fsum(vector**2) or 1)

    return Weighted(index, weights, of_query)


@model(
    mu=Parameter(
        "how much the whole collection counts beside the document (Dirichlet)",
        "more than 0",
        lambda value: is_number(value) and value > 0,
    )
)
def lm(index: Index, *, mu: float = 1000.0) -> Weighted:
    """The language model with Dirichlet smoothing: how likely the document's model makes the query.

    Formula: Σ c(t, q) ln(1 + tf / (μ p(t))) + |q| ln(μ / (|d| + μ)), p(t) being the term's share of the collection
    Reference: Zhai & Lafferty, "A study of smoothing methods for language models", TOIS 2004.
    """
    import numpy as np

    from cranfield.search.systems import Weighted

    share = index.collection_frequencies / index.lengths.sum()
    return Weighted(
        index,
        index.weighed(lambda some: np.log1p(some.counts / (mu * share[some.terms]))),
        of_document=np.log(mu / (index.lengths + mu)),
    )


@model(
    lambda_=Parameter(
        "share of the whole collection beside the document, from 0 to 1 (Jelinek-Mercer)",
        "between 0 and 1",
        lambda value: is_number(value) and 0 < value < 1,
    )
)
def jm(index: Index, *, lambda_: float = 0.7) -> Weighted:
    """The language model with Jelinek-Mercer smoothing: a share `lambda` of the collection's model in the document's.

    Formula: Σ c(t, q) ln(1 + (1 − λ) tf / (λ |d| p(t)))
    Reference: Zhai & Lafferty, "A study of smoothing methods for language models", TOIS 2004.
    """
    import numpy as np

    from cranfield.search.systems import Weighted

    share = index.collection_frequencies / index.lengths.sum()

    def weigh(some: SomePostings) -> Floats:
        in_document = some.counts / index.lengths[some.documents]
        weights: Floats = np.log1p((1 - lambda_) * in_document / (lambda_ * share[some.terms]))
        return weights

    return Weighted(index, index.weighed(weigh))


@model(seed=Parameter("draws another order", "a whole number", lambda value: isinstance(value, int)))
def random(index: Index, *, seed: int = 0) -> Drawn:
    """Documents in a random order: what every system must beat."""
    from cranfield.search.systems import Drawn

    return Drawn(index, seed)
