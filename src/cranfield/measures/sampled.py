"""Estimates from judgements of a sample: each judged document had a known chance to be judged.

A document that had the chance π stands for 1 / π of its like (Horvitz and Thompson, 1952). The judgements carry the
chances in the column `sampled`; where the pool was sampled stratum by stratum, `stratum` says where each document of
the pool belongs, and those that were not drawn have a negative grade. What is not in the pool is not relevant.
"""

from __future__ import annotations

import numpy as np

from cranfield import _core
from cranfield.errors import UsageError
from cranfield.judged import Floats, Integers, Judged, Mask
from cranfield.measures.arithmetic import ratio, within
from cranfield.measures.definition import Traits
from cranfield.measures.gain import Gain, discount, gains
from cranfield.measures.registry import measure
from cranfield.measures.tied import expected_precision
from cranfield.measures.trec import INFERRED_SMOOTHING
from cranfield.registry import Parameter

# How many ε are added to the judged documents above, one being added to the relevant ones among them.
SMOOTHING = {"sample_eval": 3, "infAP": 2}


@measure(Traits(needs="sampled", range=(0, float("inf")), exact_ties=True))
def statAP(judged: Judged, *, rel: float = 1, cutoff: int | None = None) -> Floats:
    """AP estimated from judged documents with the chance that each had to be judged.

    Both the precision at a relevant document and the number of relevant ones are estimated, and so is their mean; the
    value may be above 1. If every chance is 1 it is AP. It supposes that documents were drawn independently of each
    other: drawn without replacement from small strata, precision comes out a little low.

    Formula: Σ (1 + Σ_{j<i} 1 / π_j) / (rank_i π_i) / Σ 1 / π, the outer sum over the relevant documents judged and
      retrieved, the inner over those above, the last over all judged
    Reference: Aslam and Pavlu, "A practical sampling strategy for efficient retrieval evaluation", Northeastern
      University, 2007; the program statAP_MQ_eval of the TREC Million Query track.

    >>> import cranfield
    >>> sampled = cranfield.Reading(judgements="sampled")
    >>> qrels = cranfield.read_qrels({"q1": {"a": (1, 1.0), "b": (0, 0.5), "c": (1, 0.5)}}, reading=sampled)
    >>> run = cranfield.read_run({"q1": {"a": 4.0, "b": 3.0, "x": 2.0, "c": 1.0}})
    >>> statAP.per_topic(cranfield.judged.judge(run, qrels))  # (1/1 + 2 (1 + 1)/4) / (1 + 2)
    array([0.66666667])
    """
    if judged.expected:
        stands_for = ratio(judged.hits(rel), _chance(judged))
        return ratio(judged.total(expected_precision(judged, stands_for, cutoff)), _estimated_relevant(judged, rel))
    stands_for = ratio(judged.hits(rel, cutoff), _chance(judged))
    relevant_so_far = 1 + judged.running(stands_for) - stands_for
    return ratio(judged.total(relevant_so_far / judged.rank * stands_for), _estimated_relevant(judged, rel))


@measure(
    Traits(needs="sampled", range=(0, float("inf"))),
    smoothing=Parameter(
        "share of relevant documents among those of a stratum above: (a + ε) / (n + 3ε) in NIST's sample_eval.pl, "
        "(a + ε) / (n + 2ε) in infAP (Yilmaz and Aslam 2006; trec_eval); ε = 0.00001",
        "'sample_eval' or 'infAP'",
        lambda v: isinstance(v, str) and v in SMOOTHING,
    ),
)
def xinfAP(judged: Judged, *, rel: float = 1, smoothing: str = "sample_eval", cutoff: int | None = None) -> Floats:
    """AP inferred from a pool of which each stratum was sampled at a rate of its own: extended infAP.

    Precision at a relevant document is estimated from the judged ones above it, stratum by stratum. If all of the pool
    is judged it is AP but for ε; with one stratum and infAP's smoothing it is infAP. NIST's program, which calls it
    infAP, stops at a depth written into it: xinfAP@1000, or another.

    Formula: Σ (1 + Σ_s N_s (a_s + ε) / (n_s + 3ε)) / (rank_i π_i) / Σ 1 / π, where of the N_s documents of stratum s
      above rank i n_s are judged and a_s of them relevant; the outer sum is over the relevant documents judged and
      retrieved, the last over all judged, and π is the share of a stratum that is judged
    Reference: Yilmaz, Kanoulas and Aslam, "A simple and efficient sampling method for estimating AP and NDCG", SIGIR
      2008; NIST's sample_eval.pl.

    >>> import cranfield, io
    >>> lines = "q1 0 a 1 1", "q1 0 b 2 0", "q1 0 c 2 -1", "q1 0 d 2 1", "q1 0 e 2 -1"
    >>> sampled = cranfield.Reading(judgements="sampled")
    >>> qrels = cranfield.read_qrels(io.StringIO("\\n".join(lines)), reading=sampled)
    >>> run = cranfield.read_run({"q1": {"b": 5.0, "a": 4.0, "c": 3.0, "d": 2.0}})
    >>> xinfAP.per_topic(cranfield.judged.judge(run, qrels)).round(4)  # (1/2 + 2 (1 + 1)/4) / (1 + 2)
    array([0.5])
    """
    hit = judged.hits(rel, cutoff)
    above = np.zeros(len(judged.rank))
    for drawn, pooled in _by_stratum(judged):
        relevant, judged_above, all_above = (judged.running(x) - x for x in (drawn & hit, drawn, pooled))
        share = (relevant + INFERRED_SMOOTHING) / (judged_above + SMOOTHING[smoothing] * INFERRED_SMOOTHING)
        above += all_above * share
    precision = (1 + above) / judged.rank
    return ratio(judged.total(precision * ratio(hit, _chance(judged))), _estimated_relevant(judged, rel))


@measure(Traits(needs="sampled", range=(0, float("inf"))))
def infNDCG(judged: Judged, *, gain: Gain = "linear", cutoff: int | None = None) -> Floats:
    """nDCG inferred from a pool of which each stratum was sampled at a rate of its own.

    In each stratum the judged documents of the ranking stand for all of its documents there; the ideal ranking has as
    many documents of each gain as are estimated to exist, a half rounded up. If all of the pool is judged it is nDCG.
    NIST's program rounds so since October 2011, and stops at a depth written into it: infNDCG@1000, or another. Where
    the ideal ranking is longer than that, it adds a document of each grade that follows; here the ideal is cut.

    Formula: Σ_s (N_s / n_s) Σ g_i / log2(rank_i + 1) / DCG of the ideal ranking, where of the N_s documents of
      stratum s that are retrieved n_s are judged, and the inner sum is over these
    Reference: Yilmaz, Kanoulas and Aslam, "A simple and efficient sampling method for estimating AP and NDCG", SIGIR
      2008; NIST's sample_eval.pl.

    >>> import cranfield, io
    >>> lines = "q1 0 a 1 1", "q1 0 b 2 0", "q1 0 c 2 -1", "q1 0 d 2 1", "q1 0 e 2 -1"
    >>> sampled = cranfield.Reading(judgements="sampled")
    >>> qrels = cranfield.read_qrels(io.StringIO("\\n".join(lines)), reading=sampled)
    >>> run = cranfield.read_run({"q1": {"b": 5.0, "a": 4.0, "c": 3.0, "d": 2.0}})
    >>> infNDCG.per_topic(cranfield.judged.judge(run, qrels))  # (0.6309 + 3/2 0.4307) / (1 + 0.6309 + 0.5)
    array([0.59924293])
    """
    shown = within(judged.rank, cutoff)
    worth = gains(judged.grade, gain) / discount(judged.rank, None) * shown
    gained = np.zeros(len(judged.topics))
    for drawn, pooled in _by_stratum(judged):
        gained += ratio(judged.total(pooled * shown), judged.total(drawn * shown)) * judged.total(drawn * worth)
    return ratio(gained, _estimated_ideal(judged, gain, cutoff))


def _chance(judged: Judged) -> Floats:
    """For each hit the chance that it had to be judged."""
    chance: Floats = judged.pool.columns["sampled"][judged.row]
    return chance


def _estimated_relevant(judged: Judged, rel: float) -> Floats:
    pool = judged.pool
    return pool.once(
        ("estimated relevant", rel),
        lambda: pool.total(ratio(pool.grades >= max(rel, 0), pool.columns["sampled"])),
    )


def _by_stratum(judged: Judged) -> list[tuple[Mask, Mask]]:
    """For each number of a stratum: which hits were drawn from the stratum of that number, and which belong to it."""
    columns = judged.pool.columns
    if "stratum" not in columns:
        raise UsageError(
            "xinfAP and infNDCG need the strata of the pool: judgements of topic, iteration, document, stratum and "
            "grade, -1 for a document that was not drawn; statAP takes chances alone"
        )
    stratum: Integers = columns["stratum"][judged.row]
    drawn = judged.grade >= 0
    return [(drawn & (stratum == s), stratum == s) for s in range(stratum.max(initial=-1) + 1)]


def _estimated_ideal(judged: Judged, gain: Gain, cutoff: int | None) -> Floats:
    """DCG of as many documents of each gain as there are estimated to be, best first."""
    pool = judged.pool
    worth = gains(pool.grades, gain)
    positive = np.flatnonzero(worth > 0)
    order = positive[np.lexsort((-worth[positive], pool.topic[positive]))]
    topic, worth, stands_for = pool.topic[order], worth[order], 1 / pool.columns["sampled"][order]
    first = np.flatnonzero((np.diff(topic, prepend=-1) != 0) | (np.diff(worth, prepend=0.0) != 0))
    # Sums of fractions that make a half are a little less in binary.
    number = np.floor(np.add.reduceat(stands_for, first) + 0.5 + 1e-9) if len(first) else np.zeros(0)
    offsets = np.searchsorted(topic[first], np.arange(len(pool.topics) + 1)).astype(np.int64)
    last = _core.running_sum(offsets, number)
    ends = np.stack((last - number, last)).astype(np.int64)
    if cutoff is not None:
        ends = np.minimum(ends, cutoff)
    down_to = np.concatenate(([0.0], np.cumsum(1 / discount(np.arange(1, ends.max(initial=0) + 1), None))))
    return _core.segment_sum(offsets, worth[first] * (down_to[ends[1]] - down_to[ends[0]]))
