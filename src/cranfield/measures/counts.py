"""Counts: how much was retrieved, judged and found."""

from __future__ import annotations

import numpy as np

from cranfield.judged import Floats
from cranfield.judged import Judged as JudgedRun
from cranfield.measures import bounded, explained, explained_ranked
from cranfield.measures.arithmetic import ratio
from cranfield.measures.definition import Traits, Trec
from cranfield.measures.registry import measure


@measure(
    Traits(
        agg="sum", range=(1, 1), exact_ties=True, bounds=lambda judged: (np.ones(len(judged.topics)),) * 2, linear=True
    ),
    trec="num_q",
    better="neither",
    explain=lambda trace: explained.Working(trace.within(0), because="every topic counts as one"),
)
def NumQ(judged: JudgedRun) -> Floats:
    """Number of topics.

    Formula: 1 for each topic, summed
    Reference: trec_eval's num_q.

    >>> NumQ.per_topic(relstring("10", "01/1"))
    array([1., 1.])
    """
    return np.ones(len(judged.topics))


@measure(
    Traits(
        agg="sum",
        range=(0, float("inf")),
        exact_ties=True,
        bounds=lambda judged: (judged.retrieved * 1.0,) * 2,
        linear=True,
    ),
    trec="num_ret",
    better="neither",
    explain=lambda trace: explained.share(trace, trace.within(None), 1),
)
def NumRet(judged: JudgedRun) -> Floats:
    """Number of documents retrieved.

    Formula: n
    Reference: trec_eval's num_ret.

    >>> NumRet.per_topic(relstring("10-1/1"))
    array([4.])
    """
    return judged.retrieved.astype(np.float64)


@measure(
    Traits(agg="sum", range=(0, float("inf")), exact_ties=True, bounds=bounded.of_relevant, linear=True),
    trec="num_rel",
    better="neither",
    explain=lambda trace, *, rel: explained.Working(trace.relevant(rel), ("R",)),
)
def NumRel(judged: JudgedRun, *, rel: float = 1) -> Floats:
    """Number of relevant documents, retrieved or not.

    Formula: R
    Reference: trec_eval's num_rel.

    >>> NumRel.per_topic(relstring("10-1/1"))
    array([3.])
    """
    return judged.n_relevant(rel)


@measure(
    Traits(agg="sum", range=(0, float("inf")), exact_ties=True, bounds=bounded.of_found, linear=True),
    trec="num_rel_ret",
    explain=explained_ranked.found,
)
def NumRelRet(judged: JudgedRun, *, rel: float = 1, cutoff: int | None = None) -> Floats:
    """Number of relevant documents retrieved.

    Formula: r_n
    Reference: trec_eval's num_rel_ret.

    >>> NumRelRet.per_topic(relstring("10-1/1"))
    array([2.])
    """
    return judged.total(judged.hits(rel) * judged.within(cutoff))


@measure(
    Traits(exact_ties=True, linear=True),
    better="neither",
    explain=lambda trace, *, cutoff: explained.share(
        trace, ~np.isnan(trace.grade) & trace.within(cutoff), trace.within(cutoff).sum()
    ),
)
def Judged(judged: JudgedRun, *, cutoff: int | None = None) -> Floats:
    """Share of the documents down to the cutoff that are judged.

    A list shorter than the cutoff is measured by its own length; negative grades mark documents that were pooled but
    not judged.

    Formula: (number of judged documents in the top k) / min(k, n)
    Reference: Judged@k as reported with MS MARCO and TREC Deep Learning; see Sakai, "Alternatives to bpref", SIGIR
      2007, for why it matters.

    >>> (Judged @ 4).per_topic(relstring("10-1", "1-"))
    array([0.75, 0.5 ])
    """
    depth = judged.retrieved if cutoff is None else np.minimum(judged.retrieved, cutoff)
    return ratio(judged.total(judged.hits(0) * judged.within(cutoff)), depth)


@measure(
    Traits(exact_ties=True, linear=True),
    trec=Trec(at="unj", cutoffs=(5, 10, 20)),
    better="neither",
    explain=lambda trace, *, cutoff: explained.share(trace, np.isnan(trace.grade) & trace.within(cutoff), cutoff),
)
def Unjudged(judged: JudgedRun, *, cutoff: int) -> Floats:
    """Share of the first k ranks that hold an unjudged document.

    Ranks below the end of a shorter list hold none.

    Formula: (number of unjudged documents in the top k) / k
    Reference: trec_eval's unj.

    >>> (Unjudged @ 4).per_topic(relstring("10-1", "1-"))
    array([0.25, 0.25])
    """
    return (np.minimum(judged.retrieved, cutoff) - judged.total(judged.hits(0) * judged.within(cutoff))) / cutoff


@measure(
    Traits(agg="sum", range=(0, float("inf")), exact_ties=True, linear=True),
    trec="num_nonrel_judged_ret",
    better="neither",  # otherwise who retrieves nothing would be the best
    explain=lambda trace, *, rel: explained.share(trace, ~np.isnan(trace.grade) & ~trace.relevant(rel), 1),
)
def NumNonrelRet(judged: JudgedRun, *, rel: float = 1) -> Floats:
    """Number of documents retrieved that are judged and not relevant.

    Formula: number of retrieved documents with a judgement, less those that are relevant
    Reference: trec_eval's num_nonrel_judged_ret.

    >>> NumNonrelRet.per_topic(relstring("10-1/0"))
    array([1.])
    """
    return judged.total((judged.grade >= 0) & ~judged.hits(rel))
