"""Measures of the retrieved set, without regard to rank."""

from __future__ import annotations

import numpy as np

from cranfield.judged import Floats, Judged
from cranfield.measures import bounded, explained, explained_ranked
from cranfield.measures.arithmetic import f_beta, number_relevant, ratio
from cranfield.measures.definition import Traits
from cranfield.measures.registry import measure
from cranfield.registry import Parameter, is_number


def _worth(of: str) -> Parameter:
    return Parameter(f"worth of {of}", "a number", is_number)


@measure(
    Traits(exact_ties=True, bounds=bounded.of_set_precision, linear=True),
    trec="set_P",
    explain=explained_ranked.set_precision,
)
def SetP(judged: Judged, *, rel: float = 1) -> Floats:
    """Share of the retrieved documents that is relevant.

    Formula: r_n / n
    Known as: precision (of the whole answer)
    Reference: Kent et al., "Machine literature searching VIII", American Documentation 6(2), 1955.

    >>> SetP.per_topic(relstring("10-1/1"))
    array([0.5])
    """
    return ratio(judged.total(judged.hits(rel)), judged.retrieved)


@measure(
    Traits(exact_ties=True, bounds=bounded.of_recall, denominator=number_relevant),
    trec="set_recall",
    explain=explained_ranked.recall,
)
def SetR(judged: Judged, *, rel: float = 1) -> Floats:
    """Share of the relevant documents that is retrieved.

    Formula: r_n / R
    Known as: recall (of the whole answer)
    Reference: Kent et al., "Machine literature searching VIII", American Documentation 6(2), 1955.

    >>> SetR.per_topic(relstring("10-1/1"))
    array([0.66666667])
    """
    return ratio(judged.total(judged.hits(rel)), judged.n_relevant(rel))


@measure(Traits(exact_ties=True, bounds=bounded.of_f), trec="set_F", explain=explained_ranked.f_measure)
def SetF(judged: Judged, *, rel: float = 1, beta: float = 1) -> Floats:
    """Weighted harmonic mean of the retrieved set's precision and recall.

    beta is that of the textbooks: recall counts beta times as much as precision. trec_eval's set_F.x has x = beta².

    Formula: (1 + b²) P R / (b² P + R)
    Known as: F-measure; F-score; harmonic mean (of precision and recall)
    Reference: van Rijsbergen, Information Retrieval, 2nd edition, 1979, chapter 7.

    >>> SetF.per_topic(relstring("10-1/1"))
    array([0.57142857])
    """
    hits = judged.total(judged.hits(rel))
    return f_beta(ratio(hits, judged.retrieved), ratio(hits, judged.n_relevant(rel)), beta)


@measure(Traits(exact_ties=True), trec="set_relative_P", explain=explained_ranked.relative_precision)
def SetRelP(judged: Judged, *, rel: float = 1) -> Floats:
    """Precision of the retrieved set as a share of the highest that is possible for its size.

    Formula: r_n / min(n, R)
    Reference: trec_eval's set_relative_P.

    >>> SetRelP.per_topic(relstring("10-1/1"))
    array([0.66666667])
    """
    return ratio(judged.total(judged.hits(rel)), np.minimum(judged.retrieved, judged.n_relevant(rel)))


@measure(Traits(exact_ties=True), trec="set_map", explain=lambda trace, *, rel: explained_set_ap(trace, rel))
def SetAP(judged: Judged, *, rel: float = 1) -> Floats:
    """AP of the retrieved set as if its relevant documents were spread evenly: precision times recall.

    Formula: r_n² / (n R)
    Reference: trec_eval's set_map (unranked average precision).

    >>> SetAP.per_topic(relstring("10-1/1"))
    array([0.33333333])
    """
    hits = judged.total(judged.hits(rel))
    return ratio(hits * hits, judged.retrieved * judged.n_relevant(rel))


@measure(
    Traits(range=(-float("inf"), float("inf")), exact_ties=True, linear=True),
    trec="utility",
    a=_worth("a relevant document that is retrieved"),
    b=_worth("a document that is retrieved and not relevant"),
    c=_worth("a relevant document that is not retrieved"),
    d=_worth("a document that is neither"),
    documents=Parameter("number of documents in the collection, for d", "a number", is_number),
    explain=lambda trace, **parameters: explained_utility(trace, **parameters),
)
def Utility(
    judged: Judged,
    *,
    rel: float = 1,
    a: float = 1,
    b: float = -1,
    c: float = 0,
    d: float = 0,
    documents: float = 0,
) -> Floats:
    """Linear utility of the retrieved set: each document of the collection has a worth by what became of it.

    Formula: a r_n + b (n - r_n) + c (R - r_n) + d (documents + r_n - n - R)
    Reference: Hull, "The TREC-6 filtering track: description and analysis", TREC-6, 1997; trec_eval's utility.

    >>> Utility(a=2).per_topic(relstring("10-1/1"))
    array([2.])
    """
    hits, size, relevant = judged.total(judged.hits(rel)), judged.retrieved, judged.n_relevant(rel)
    return a * hits + b * (size - hits) + c * (relevant - hits) + d * (documents + hits - size - relevant)


@measure(
    Traits(exact_ties=True),
    aliases=("T11SU",),
    a=Parameter("worth of a relevant document that is retrieved", "a number above 0", lambda x: is_number(x) and x > 0),
    b=Parameter("worth of one that is not relevant", "a number, at most 0", lambda x: is_number(x) and x <= 0),
    least=Parameter(
        "utility, as a share of the highest, that counts as 0", "a number below 0", lambda x: is_number(x) and x < 0
    ),
    explain=lambda trace, **parameters: explained_scaled_utility(trace, **parameters),
)
def ScaledUtility(judged: Judged, *, rel: float = 1, a: float = 2, b: float = -1, least: float = -0.5) -> Floats:
    """Linear utility of the retrieved set as a share of the highest, cut off below and brought to 0 … 1: T11SU.

    Whoever retrieves nothing for a topic scores 1/3 with the usual worths, more than who retrieves mostly what is not
    relevant. Without a relevant document there is no highest utility: such a topic scores 0.

    Formula: (max(U / (a R), m) - m) / (1 - m) with U = a r_n + b (n - r_n)
    Reference: Robertson and Soboroff, "The TREC 2002 filtering track report", TREC 2002.

    >>> ScaledUtility.per_topic(relstring("10-1/1", "/1", "0000/1"))
    array([0.55555556, 0.33333333, 0.        ])
    """
    hits, relevant = judged.total(judged.hits(rel)), judged.n_relevant(rel)
    utility = ratio(a * hits + b * (judged.retrieved - hits), a * relevant)
    return np.where(relevant > 0, (np.maximum(utility, least) - least) / (1 - least), 0.0)


def explained_set_ap(trace: explained.Trace, rel: float) -> explained.Working:
    counts, relevant = trace.relevant(rel), trace.n_relevant(rel)
    hits = int(counts.sum())
    because = explained.nothing_below(relevant * trace.length)
    return explained.Working(counts, (f"{hits}² / ({trace.length} · {relevant})",), because=because)


def explained_utility(
    trace: explained.Trace, *, rel: float, a: float, b: float, c: float, d: float, documents: float
) -> explained.Working:
    """Every document has its worth: those retrieved contribute it, and so they add up to the value if c = d = 0."""
    counts = trace.relevant(rel)
    hits, size, relevant = int(counts.sum()), trace.length, trace.n_relevant(rel)
    parts = ((a, hits), (b, size - hits), (c, relevant - hits), (d, documents + hits - size - relevant))
    steps = " + ".join(f"{explained.bracketed_sign(worth)}·{explained.number(n)}" for worth, n in parts if worth)
    contribution = np.where(counts, float(a), float(b)) if c == d == 0 else None
    return explained.Working(counts, (steps or "0",), contribution)


def explained_scaled_utility(
    trace: explained.Trace, *, rel: float, a: float, b: float, least: float
) -> explained.Working:
    counts, relevant = trace.relevant(rel), trace.n_relevant(rel)
    hits, worth, floor = int(counts.sum()), explained.number, explained.bracketed_sign(least)
    if not relevant:
        return explained.Working(counts, because=explained.nothing_below(0))
    share = f"({worth(a)}·{hits} + {explained.bracketed_sign(b)}·{trace.length - hits}) / ({worth(a)}·{relevant})"
    return explained.Working(counts, (f"(max({share}, {worth(least)}) − {floor}) / (1 − {floor})",))
