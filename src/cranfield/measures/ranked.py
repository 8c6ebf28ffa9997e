"""Binary measures of a ranking. r_i is the number of relevant documents in the top i, R the number there are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cranfield.exports import Late
from cranfield.judged import Floats, Judged
from cranfield.measures.arithmetic import f_beta, number_relevant, ratio, reciprocal_rank
from cranfield.measures.definition import Traits, Trec
from cranfield.measures.registry import measure
from cranfield.measures.tied import chance_of_one, expected_minimum, expected_precision, expected_reciprocal
from cranfield.notation import Value
from cranfield.registry import Parameter, is_number

if TYPE_CHECKING:
    from cranfield.measures import bounded, explained_ranked
else:  # most evaluations ask for neither
    bounded, explained_ranked = Late("cranfield.measures.bounded"), Late("cranfield.measures.explained_ranked")

TREC_CUTOFFS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)


@measure(
    Traits(exact_ties=True, bounds=bounded.of_precision, linear=True, cumulative=True),
    aliases=("Precision",),
    trec=Trec(at="P", cutoffs=TREC_CUTOFFS),
    explain=explained_ranked.precision,
)
def P(judged: Judged, *, rel: float = 1, cutoff: int) -> Floats:
    """Share of the first k documents that is relevant.

    A list shorter than k is taken as filled up with documents that are not relevant.

    Formula: r_k / k
    Known as: precision at k (of a list shorter than k some divide by its length: Satisfaction(of='returned')@k)
    Reference: Kent et al., "Machine literature searching VIII", American Documentation 6(2), 1955.

    >>> (P @ 5).per_topic(relstring("10101", "11"))
    array([0.6, 0.4])
    """
    return judged.total(judged.hits(rel) * judged.within(cutoff)) / cutoff


@measure(
    Traits(exact_ties=True, bounds=bounded.of_recall, denominator=number_relevant, cumulative=True),
    aliases=("Recall",),
    trec=Trec(at="recall", cutoffs=TREC_CUTOFFS),
    explain=explained_ranked.recall,
)
def R(judged: Judged, *, rel: float = 1, cutoff: int) -> Floats:
    """Share of the relevant documents that the first k contain.

    Formula: r_k / R
    Known as: recall at k
    Reference: Kent et al., "Machine literature searching VIII", American Documentation 6(2), 1955.

    >>> (R @ 3).per_topic(relstring("10101"))
    array([0.66666667])
    """
    return ratio(judged.total(judged.hits(rel) * judged.within(cutoff)), judged.n_relevant(rel))


@measure(Traits(exact_ties=True, bounds=bounded.of_f), explain=explained_ranked.f_measure)
def F(judged: Judged, *, rel: float = 1, beta: float = 1, cutoff: int) -> Floats:
    """Weighted harmonic mean of precision and recall at rank k.

    Formula: (1 + b²) P R / (b² P + R), with P and R at rank k
    Known as: F-measure; F-score; F1 (beta=1); F2 (beta=2); F0.5 (beta=0.5); balanced F-measure (beta=1); balanced
      F-score (beta=1); harmonic mean (of precision and recall)
    Reference: van Rijsbergen, Information Retrieval, 2nd edition, 1979, chapter 7.

    >>> (F @ 5).per_topic(relstring("10101"))
    array([0.75])
    """
    hits = judged.total(judged.hits(rel) * judged.within(cutoff))
    return f_beta(hits / cutoff, ratio(hits, judged.n_relevant(rel)), beta)


@measure(
    Traits(exact_ties=True, bounds=bounded.of_e),
    better="lower",
    b=Parameter(
        "0 looks at precision alone, large values at recall", "a number from 0", lambda v: is_number(v) and v >= 0
    ),
    explain=explained_ranked.e_measure,
)
def E(judged: Judged, *, rel: float = 1, b: float = 1, cutoff: int) -> Floats:
    """Van Rijsbergen's E at rank k, a loss: 0 is perfect, 1 is worst.

    Formula: 1 - (1 + b²) / (b² / R + 1 / P), with P and R at rank k
    Known as: E-measure
    Reference: van Rijsbergen, Information Retrieval, 2nd edition, 1979, chapter 7.

    >>> (E @ 5).per_topic(relstring("10101"))
    array([0.25])
    """
    hits = judged.total(judged.hits(rel) * judged.within(cutoff))
    return 1 - f_beta(hits / cutoff, ratio(hits, judged.n_relevant(rel)), b)


@measure(
    Traits(exact_ties=True, bounds=bounded.of_success, cumulative=True),
    trec=Trec(at="success", cutoffs=(1, 5, 10)),
    explain=explained_ranked.success,
)
def Success(judged: Judged, *, rel: float = 1, cutoff: int) -> Floats:
    """Whether the first k documents contain a relevant one.

    Formula: 1 if r_k > 0, otherwise 0
    Known as: hit rate
    Reference: trec_eval's success; "hit rate" elsewhere.

    >>> (Success @ 2).per_topic(relstring("001", "01"))
    array([0., 1.])
    """
    if judged.expected:
        return chance_of_one(judged, rel, cutoff)
    return (judged.total(judged.hits(rel, cutoff)) > 0).astype(np.float64)


def _averaged_over(*, over: str, cutoff: int | None, **_: Value) -> Traits:
    """What is true of AP: where a cutoff divides tied documents, their order tells how many relevant ones are seen."""
    if over == "seen":
        return Traits(exact_ties=cutoff is None)
    return Traits(exact_ties=True, bounds=bounded.of_ap, denominator=number_relevant, cumulative=True)


@measure(
    varied=_averaged_over,
    aliases=("MAP",),
    averages={"GMAP": ("geometric", "gm_map"), "HMAP": ("harmonic", None)},
    trec=Trec("map", at="map_cut", cutoffs=TREC_CUTOFFS),
    over=Parameter(
        "what the sum is divided by: all relevant documents there are, or those seen in the list down to the cutoff",
        "'all' or 'seen'",
        lambda v: isinstance(v, str) and v in ("all", "seen"),
    ),
    explain=explained_ranked.average_precision,
)
def AP(judged: Judged, *, rel: float = 1, over: str = "all", cutoff: int | None = None) -> Floats:
    """Mean, over the relevant documents, of the precision where each one is found.

    A relevant document that is not retrieved contributes zero. Averaged over topics it is MAP; GMAP and HMAP are its
    geometric and harmonic means. With a cutoff the sum stops there and is still divided by all R. With over='seen' it
    is divided by r_k: the average of the precisions at the relevant documents of the list, whatever the list lacks.

    Formula: (1 / R) Σ r_i / i over the ranks i of relevant documents
    Formula with over='seen': (1 / r_k) Σ r_i / i over the ranks i ≤ k of relevant documents, k the cutoff or the length
      of the list
    Known as: average precision; mean average precision (over topics); AveP; average precision at seen relevant
      documents (over='seen')
    Reference: Harman, "Overview of the second Text REtrieval Conference", 1993; GMAP: Robertson, "On GMAP and other
      transformations", CIKM 2006.

    >>> AP.per_topic(relstring("101", "101/1"))
    array([0.83333333, 0.55555556])
    >>> AP(over="seen").per_topic(relstring("101", "101/1"))
    array([0.83333333, 0.83333333])
    """
    hit = judged.hits(rel, cutoff)
    below = judged.n_relevant(rel) if over == "all" else judged.total(hit)
    if judged.expected:
        return ratio(judged.total(expected_precision(judged, judged.hits(rel), cutoff)), below)
    return ratio(judged.total(judged.running(hit) / judged.rank * hit), below)


@measure(
    Traits(exact_ties=True, bounds=bounded.of_reciprocal, cumulative=True),
    aliases=("MRR", "PFirst"),
    trec="recip_rank",
    explain=explained_ranked.reciprocal,
)
def RR(judged: Judged, *, rel: float = 1, cutoff: int | None = None) -> Floats:
    """One over the rank of the first relevant document; 0 if there is none by the cutoff.

    Averaged over topics it is MRR. Lectures also teach it as PFirst, the precision where the first relevant document
    is found, beside PLast.

    Formula: 1 / (rank of the first relevant document)
    Known as: reciprocal rank; mean reciprocal rank (over topics, with a threshold S RR@S, and where the rank must be
      below i RR@(i-1)); precision at the first relevant document
    Reference: Kantor and Voorhees, "The TREC-5 confusion track", Information Retrieval 2, 2000.

    >>> RR.per_topic(relstring("0010", "00"))
    array([0.33333333, 0.        ])
    """
    if judged.expected:
        return expected_reciprocal(judged, rel, cutoff)
    return reciprocal_rank(judged, rel, cutoff)


@measure(
    Traits(exact_ties=True, bounds=bounded.of_rprec, denominator=number_relevant, cumulative=True),
    aliases=("RPrec",),
    trec="Rprec",
    explain=explained_ranked.r_precision,
)
def Rprec(judged: Judged, *, rel: float = 1) -> Floats:
    """Precision at rank R, where R is the number of relevant documents: there precision and recall are equal.

    Formula: r_R / R
    Known as: R-precision (for precision at the last relevant document, which some call so, see PLast)
    Reference: Aslam, Yilmaz and Pavlu, "A geometric interpretation of R-precision", SIGIR 2005.

    >>> Rprec.per_topic(relstring("1001/1"))
    array([0.33333333])
    """
    relevant = judged.n_relevant(rel)
    return ratio(judged.total(judged.hits(rel) * judged.within(relevant[judged.topic])), relevant)


@measure(
    Traits(exact_ties=True, cumulative=True),
    aliases=("BPref",),
    averages={"GBpref": ("geometric", "gm_bpref")},
    trec="bpref",
    explain=explained_ranked.bpref,
)
def Bpref(judged: Judged, *, rel: float = 1) -> Floats:
    """How seldom judged non-relevant documents stand above relevant ones; unjudged documents do not count.

    Formula: (1 / R) Σ (1 - min(n_d, R) / min(N, R)) over retrieved relevant documents d, where n_d judged
      non-relevant documents stand above d and N are judged non-relevant in all
    Reference: Buckley and Voorhees, "Retrieval evaluation with incomplete information", SIGIR 2004, as trec_eval
      computes it since version 8.

    >>> Bpref.per_topic(relstring("1-01/00"))
    array([0.75])
    """
    relevant, nonrelevant = judged.n_relevant(rel), judged.n_nonrelevant(rel)
    hit = judged.hits(rel)
    most = relevant[judged.topic]
    bad = (judged.grade >= 0) & ~hit
    above = expected_minimum(judged, bad, most) if judged.expected else np.minimum(judged.running(bad), most)
    penalty = ratio(above, np.minimum(nonrelevant[judged.topic], most))
    return ratio(judged.total((1 - penalty) * hit), relevant)
