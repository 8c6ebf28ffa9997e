"""Measures of the retrieved set, without regard to rank."""

from __future__ import annotations

from cranfield.judged import Floats, Judged
from cranfield.measures.arithmetic import f_beta, ratio
from cranfield.measures.registry import measure


@measure(trec="set_P")
def SetP(judged: Judged, *, rel: float = 1) -> Floats:
    """Share of the retrieved documents that is relevant.

    Formula: r_n / n
    Reference: Kent et al., "Machine literature searching VIII", American Documentation 6(2), 1955.

    >>> SetP.per_topic(relstring("10-1/1"))
    array([0.5])
    """
    return ratio(judged.total(judged.hits(rel)), judged.retrieved)


@measure(trec="set_recall")
def SetR(judged: Judged, *, rel: float = 1) -> Floats:
    """Share of the relevant documents that is retrieved.

    Formula: r_n / R
    Reference: Kent et al., "Machine literature searching VIII", American Documentation 6(2), 1955.

    >>> SetR.per_topic(relstring("10-1/1"))
    array([0.66666667])
    """
    return ratio(judged.total(judged.hits(rel)), judged.n_relevant(rel))


@measure(trec="set_F")
def SetF(judged: Judged, *, rel: float = 1, beta: float = 1) -> Floats:
    """Weighted harmonic mean of the retrieved set's precision and recall.

    beta is that of the textbooks: recall counts beta times as much as precision. trec_eval's set_F.x has x = beta².

    Formula: (1 + b²) P R / (b² P + R)
    Reference: van Rijsbergen, Information Retrieval, 2nd edition, 1979, chapter 7.

    >>> SetF.per_topic(relstring("10-1/1"))
    array([0.57142857])
    """
    found = judged.total(judged.hits(rel))
    return f_beta(ratio(found, judged.retrieved), ratio(found, judged.n_relevant(rel)), beta)
