"""Measures that are trec_eval's own, or that it alone still computes."""

from __future__ import annotations

import numpy as np

from cranfield import _core
from cranfield.judged import Floats, Integers, Judged
from cranfield.measures import explained, explained_gains, explained_ranked
from cranfield.measures.arithmetic import ratio, within
from cranfield.measures.definition import Traits, Trec
from cranfield.measures.gain import Gain, dcg, discounted, gains, ideal_dcg, ideal_gains
from cranfield.measures.ranked import TREC_CUTOFFS
from cranfield.measures.registry import measure
from cranfield.measures.tied import expected_by_others
from cranfield.registry import Parameter, is_number

INFERRED_SMOOTHING = 1e-5


@measure(
    trec="infAP",
    explain=lambda trace, *, rel: explained.averaged(
        trace, trace.spread(inferred_precision(trace.judged, rel)), trace.n_relevant(rel)
    ),
)
def infAP(judged: Judged, *, rel: float = 1) -> Floats:
    """AP estimated from a pool of which only a sample is judged; a negative grade marks a pooled, unjudged document.

    Precision at a relevant document is estimated from the judged ones above it; what is not in the pool counts as not
    relevant. Where all that is pooled is judged it is AP.

    Formula: (1 / R) Σ 1/k + ((k-1)/k) (pooled above / (k-1)) ((a + ε) / (a + b + 2ε)) over the ranks k of relevant
      documents, with a relevant and b non-relevant ones above, ε = 0.00001; 1 at rank 1
    Reference: Yilmaz and Aslam, "Estimating average precision with incomplete and imperfect judgments", CIKM 2006.

    >>> infAP.per_topic(relstring("101", "1-01"))
    array([0.83333333, 0.75      ])
    """
    return ratio(judged.total(inferred_precision(judged, rel)), judged.n_relevant(rel))


def inferred_precision(judged: Judged, rel: float) -> Floats:
    """For each relevant hit, the precision at its rank, estimated; 0 for other hits."""
    hit = judged.hits(rel)
    relevant_above = judged.running(hit) - hit
    nonrelevant = (judged.grade >= 0) & ~hit
    nonrelevant_above = judged.running(nonrelevant) - nonrelevant
    pooled_above = judged.running(np.ones(len(judged.rank))) - 1
    share = (relevant_above + INFERRED_SMOOTHING) / (relevant_above + nonrelevant_above + 2 * INFERRED_SMOOTHING)
    return hit * (1 + pooled_above * share) / judged.rank


@measure(
    Traits(exact_ties=True),
    at="multiple",
    trec=Trec(at="Rprec_mult", cutoffs=tuple(i / 5 for i in range(1, 11))),
    multiple=Parameter("how many times R to look at", "a number above 0", lambda v: is_number(v) and v > 0),
    explain=lambda trace, *, rel, multiple: explained_ranked.precision(
        trace, rel=rel, cutoff=int(multiple_of_relevant(trace.judged, rel, multiple)[0])
    ),
)
def RprecMult(judged: Judged, *, rel: float = 1, multiple: float) -> Floats:
    """Precision at a multiple of R, the number of relevant documents.

    Formula: r_C / C, with C = c R rounded up
    Reference: trec_eval's Rprec_mult.

    >>> (RprecMult @ 0.5).per_topic(relstring("1001/1"))
    array([0.5])
    """
    return precision_at(judged, rel, multiple_of_relevant(judged, rel, multiple))


def multiple_of_relevant(judged: Judged, rel: float, multiple: float) -> Floats:
    """c R rounded up; 0.2 * 15 is a little above 3 in binary."""
    depth: Floats = np.ceil(multiple * judged.n_relevant(rel) - 1e-9)
    return depth


@measure(
    Traits(exact_ties=True),
    trec=Trec(at="relative_P", cutoffs=TREC_CUTOFFS),
    explain=explained_ranked.relative_precision,
)
def RelP(judged: Judged, *, rel: float = 1, cutoff: int) -> Floats:
    """Precision at k as a share of the highest that is possible there.

    Formula: r_k / min(k, R)
    Reference: trec_eval's relative_P.

    >>> (RelP @ 5).per_topic(relstring("1001000/1"))
    array([0.66666667])
    """
    return ratio(judged.total(judged.hits(rel) * judged.within(cutoff)), np.minimum(judged.n_relevant(rel), cutoff))


@measure(
    Traits(exact_ties=True),
    trec="binG",
    explain=lambda trace, *, rel: explained.averaged(
        trace, trace.spread(binary_gain(trace.judged, rel)), trace.n_relevant(rel)
    ),
)
def BinG(judged: Judged, *, rel: float = 1) -> Floats:
    """G for binary relevance: a relevant document counts less the more others stand above it.

    Formula: (1 / R) Σ 1 / log2(2 + number of documents above that are not relevant) over relevant documents
    Reference: trec_eval's binG (Buckley, 2008).

    >>> BinG.per_topic(relstring("1001"))
    array([0.75])
    """
    return ratio(judged.total(binary_gain(judged, rel)), judged.n_relevant(rel))


def binary_gain(judged: Judged, rel: float) -> Floats:
    """For each relevant hit, 1 / log2(2 + number of documents above that are not relevant); 0 for other hits."""
    hit = judged.hits(rel)
    if judged.expected:
        return expected_by_others(judged, hit, lambda others: 1 / np.log2(2 + others))
    others_above = judged.rank - judged.running(hit)
    gained: Floats = hit / np.log2(2 + others_above * hit)
    return gained


@measure(Traits(range=(-float("inf"), 1), may_hurt=True), trec="G")
def G(judged: Judged, *, gain: Gain = "linear") -> Floats:
    """Gain discounted by what the ideal ranking would have gained more by that rank, not by the rank itself.

    Formula: Σ g_i / log2(2 + cost_i - Σ_{j≤i} g_j) / Σ ideal gains, where cost_i = Σ_{j≤i} max(1, ideal gain j)
    Reference: trec_eval's G (Buckley, 2008).

    >>> G.per_topic(relstring("1001"))
    array([0.75])
    """
    pool = judged.pool
    worth = gains(judged.grade, gain)
    ideal = ideal_gains(judged.pool, gain)
    cost = _core.running_sum(pool.offsets, np.where(ideal > 0, np.maximum(ideal, 1.0), 0.0))
    positive = pool.total(ideal > 0)[judged.topic]
    place = np.minimum(judged.rank, positive)
    cost_here = np.zeros(len(worth))
    counted = np.flatnonzero(place > 0)
    cost_here[counted] = cost[(pool.offsets[judged.topic] + place.astype(np.int64) - 1)[counted]]
    behind = cost_here + judged.rank - place - judged.running(worth)
    # Gains of documents that are not judged can lead beyond the ideal, where the formula has no value: they count 0.
    discount = np.log2(np.where((worth != 0) & (behind > -2), 2 + behind, 1.0))
    return ratio(judged.total(ratio(worth, discount)), pool.total(ideal))


@measure(Traits(range=(-float("inf"), 1), may_hurt=True), trec="ndcg_rel")
def nDCGRel(judged: Judged, *, gain: Gain = "linear") -> Floats:
    """nDCG at the rank of each document with a gain, averaged; those not retrieved take nDCG of the whole list.

    Formula: mean of DCG@i / ideal DCG@i over the documents with a positive gain, i the rank of each
    Reference: trec_eval's ndcg_rel (Buckley, 2008).

    >>> nDCGRel.per_topic(relstring("1001"))
    array([0.93860766])
    """
    worth = gains(judged.grade, gain)
    gained = judged.running(discounted(worth, judged.rank, None, None))
    at_rank = ratio(gained, ideal_at(judged, gain, judged.rank, judged.topic)) * (worth > 0)
    wanted, retrieved = judged.pool.total(ideal_gains(judged.pool, gain) > 0), judged.total(worth > 0)
    whole = ratio(dcg(judged, gain, None, None), ideal_dcg(judged, gain, None, None))
    return ratio(judged.total(at_rank) + (wanted - retrieved) * whole, wanted)


@measure(Traits(range=(-float("inf"), 1), exact_ties=True, may_hurt=True), trec="Rndcg")
def RnDCG(judged: Judged, *, gain: Gain = "linear") -> Floats:
    """nDCG at each rank where the ideal ranking comes to the end of a gain, and of the whole list, averaged.

    With five documents of grade 2 and ten of grade 1 these are ranks 5, 15 and the last one. The whole list counts
    where it goes at least two ranks beyond the ideal's positive gains.

    Formula: mean of DCG@i / ideal DCG@i over the ranks i at which the ideal gain falls, and the last
    Reference: trec_eval's Rndcg (Buckley, 2008).

    >>> RnDCG.per_topic(relstring("12001"))
    array([0.68946897])
    """
    pool = judged.pool
    ideal = ideal_gains(judged.pool, gain)
    topic = np.repeat(np.arange(len(pool.topics)), np.diff(pool.offsets))
    falls = ideal > 0
    falls[:-1] &= (ideal[1:] < ideal[:-1]) | (topic[1:] != topic[:-1])
    ends = np.flatnonzero(falls)
    values = np.zeros(len(ideal))
    gained = dcg_at(judged, gain, pool.place[ends], topic[ends])
    values[ends] = ratio(gained, ideal_at(judged, gain, pool.place[ends], topic[ends]))
    goes_on = judged.retrieved >= pool.total(ideal > 0) + 2
    whole = ratio(dcg(judged, gain, None, None), ideal_dcg(judged, gain, None, None)) * goes_on
    any_gain = pool.total(ideal > 0) > 0
    return ratio(pool.total(values) + whole, pool.total(falls) + (goes_on & any_gain))


@measure(Traits(range=(-float("inf"), float("inf"))), trec="yaap", explain=explained_ranked.log_odds)
def Yaap(judged: Judged, *, rel: float = 1) -> Floats:
    """Log-odds of average precision: values over topics come closer to a normal distribution than those of AP.

    Formula: ln((1 + S) / (1 + R - S)), where S = R AP
    Reference: Robertson, "On GMAP and other transformations", CIKM 2006; trec_eval's yaap.

    >>> Yaap.per_topic(relstring("11", "01"))
    array([1.09861229, 0.        ])
    """
    hit = judged.hits(rel)
    precisions = judged.total(judged.running(hit) / judged.rank * hit)
    out: Floats = np.log((1 + precisions) / (1 + judged.n_relevant(rel) - precisions))
    return out


@measure(
    Traits(exact_ties=True, linear=True),
    trec="rbp",
    max_grade=Parameter(
        "the grade worth 1; None takes the highest of the judgements",
        "None or a number above 0",
        lambda v: v is None or (is_number(v) and v > 0),
    ),
    explain=explained_gains.graded_rank_biased,
)
def GradedRBP(judged: Judged, *, p: float = 0.9, max_grade: float | None = None, cutoff: int | None = None) -> Floats:
    """Rank-biased precision with grades: a document counts as its share of the highest grade.

    This is trec_eval's RBP: as deep as the list goes, with p = 0.9. RBP_CWL is cwl_eval's, whose user stops at rank
    1000 at the latest, and has what belongs to a user model; RBP counts every relevant document alike.

    Grades of at most 1 count as they are. trec_eval 10.0 scales by variables that it never sets, so its own figures
    on grades above 1 depend on what else is computed.

    Formula: (1 - p) Σ g_i p^(i - 1), with g = grade / max(1, max_grade)
    Reference: Moffat and Zobel, "Rank-biased precision for measurement of retrieval effectiveness", TOIS 27(1), 2008.

    >>> GradedRBP(p=0.5).per_topic(relstring("201"))
    array([0.5625])
    """
    highest = judged.pool.max_grade if max_grade is None else max_grade
    worth = np.clip(judged.grade, 0.0, highest) / max(1.0, highest)
    return rank_biased(judged, worth, p, cutoff)


@measure(
    Traits(exact_ties=True, linear=True),
    trec="rbp_resid",
    better="neither",
    explain=explained_gains.rank_biased_residual,
)
def RBPResidual(judged: Judged, *, p: float = 0.9, cutoff: int | None = None) -> Floats:
    """How much rank-biased precision could still rise if all that is unjudged were relevant.

    What lies below the end of the list is unjudged too.

    Formula: 1 - (1 - p) Σ p^(i - 1) over the ranks i of judged documents
    Reference: Moffat and Zobel, "Rank-biased precision for measurement of retrieval effectiveness", TOIS 27(1), 2008.

    >>> RBPResidual(p=0.5).per_topic(relstring("1-0"))
    array([0.375])
    """
    return 1 - rank_biased(judged, judged.hits(0).astype(np.float64), p, cutoff)


def rank_biased(judged: Judged, worth: Floats, p: float, cutoff: int | None = None) -> Floats:
    """What a user gains down to the cutoff who goes on with probability p."""
    level, shared = judged.levelled(worth)
    return level.total(shared * within(level.rank, cutoff) * (1 - p) * p ** (level.rank - 1.0))


def precision_at(judged: Judged, rel: float, depth: Floats) -> Floats:
    """Precision at a rank of each topic's own; 0 at rank 0."""
    return ratio(judged.total(judged.hits(rel) * judged.within(depth[judged.topic])), depth)


def ideal_at(judged: Judged, gain: Gain, rank: Integers, topic: Integers) -> Floats:
    """DCG of the ideal ranking of some topics, each down to a rank."""
    pool = judged.pool
    totals = _core.running_sum(pool.offsets, discounted(ideal_gains(judged.pool, gain), pool.place, None, None))
    last = np.minimum(rank, np.diff(pool.offsets)[topic])
    return totals[pool.offsets[topic] + last - 1]


def dcg_at(judged: Judged, gain: Gain, rank: Integers, topic: Integers) -> Floats:
    """DCG of some topics, each down to a rank."""
    level, worth = judged.levelled(gains(judged.grade, gain))
    totals = level.running(discounted(worth, level.rank, None, None))
    # Hits are in order of topic and rank, so the last one down to a rank is found by bisection.
    longest = max(int(level.rank.max(initial=0)), int(rank.max(initial=0))) + 1
    last = np.searchsorted(level.topic * longest + level.rank, topic * longest + rank, side="right")
    gained = np.concatenate((totals, [0.0]))[last - 1]
    return np.where(last > level.offsets[topic], gained, 0.0)
