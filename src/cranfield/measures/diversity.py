"""Diversity and novelty: judgements for each subtopic (aspect, intent) of a topic, and no reward for saying it twice.

A subtopic counts if some document is relevant to it; `rel` is the least grade of such a document, and above that grades
make no difference, as in ndeval. Judgements are of the kind `subtopics`: see `cranfield.formats.subtopics`. Under
ties=best and worst, documents are put in order by the highest grade they have for any subtopic.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from cranfield.judged import Floats, Judged, relstring
from cranfield.measures import explained_novelty
from cranfield.measures.arithmetic import ratio
from cranfield.measures.definition import SHARED, Traits
from cranfield.measures.diversified import Discount, ideal_gain, perfect_gain, run_gain, subtopic_count
from cranfield.measures.ranked import AP, P, Success
from cranfield.measures.registry import Measure, measure
from cranfield.registry import Parameter, is_number, is_whole

LOGARITHMIC, RECIPROCAL = Discount("logarithmic"), Discount("reciprocal")
ALPHA = Parameter(
    "what a subtopic's gain loses with each relevant document above: 0 nothing, 1 all of it",
    "a number from 0 to 1",
    lambda v: is_number(v) and 0 <= v <= 1,
)
BETA = Parameter(
    "patience: the chance to go on to the next document",
    "a number between 0 and 1",
    lambda v: is_number(v) and 0 < v < 1,
)
IDEAL = Parameter(
    "greedy: at each rank the document that gains most, of equal ones that with the greater id, as in ndeval; exact: "
    "the best order there is, searched for, and an error where a topic is too large for that",
    "'greedy' or 'exact'",
    lambda v: isinstance(v, str) and v in ("greedy", "exact"),
)
NORM = Parameter(
    "perfect: divided by what documents relevant to every subtopic would gain at all ranks (ndeval); none: as the "
    "papers define it",
    "'perfect' or 'none'",
    lambda v: isinstance(v, str) and v in ("perfect", "none"),
)
CUTOFF = Parameter(
    SHARED["cutoff"].help, "a whole number from 1 to 1,000,000", lambda v: is_whole(v) and bool(v <= 1_000_000)
)


@measure(Traits(needs="subtopics", exact_ties=True))
def StRecall(judged: Judged, *, rel: float = 1, cutoff: int | None = None) -> Floats:
    """Subtopic recall: the share of the subtopics to which some document down to the cutoff is relevant.

    Formula: |subtopics met at ranks i ≤ k| / |subtopics with a relevant document|
    Reference: Zhai, Cohen and Lafferty, "Beyond independent relevance: methods and evaluation metrics for subtopic
      retrieval", SIGIR 2003.

    >>> from cranfield.measures.diversity import covering
    >>> (StRecall @ 2).per_topic(covering("ab b c"))
    array([0.66666667])
    """
    depth = max(int(judged.retrieved.max(initial=0)), 1) if cutoff is None else cutoff
    return _mean_over_subtopics(judged, Success, rel=rel, cutoff=depth)


@measure(
    Traits(needs="subtopics", range=(0, float("inf"))),
    alpha=ALPHA,
    norm=NORM,
    cutoff=CUTOFF,
    aliases=("α_DCG",),
    explain=lambda trace, **parameters: explained_novelty.of_perfect(trace, LOGARITHMIC, **parameters),
)
def alpha_DCG(judged: Judged, *, alpha: float = 0.5, rel: float = 1, norm: str = "perfect", cutoff: int) -> Floats:
    """DCG in which each further relevant document of a subtopic gains less.

    ndeval does not divide at cutoff 1, where its values exceed 1; here all cutoffs are divided alike.

    Formula: Σ g_i / log2(i + 1) over ranks i ≤ k, divided by the same sum for g_i = M (1 - alpha)^(i-1); g_i = Σ
      (1 - alpha)^s_ij over the subtopics j of the document at i, s_ij relevant documents of j above, M subtopics
    Reference: Clarke et al., "Novelty and diversity in information retrieval evaluation", SIGIR 2008.

    >>> from cranfield.measures.diversity import covering
    >>> (alpha_DCG @ 2).per_topic(covering("ab b c"))
    array([0.58672918])
    >>> (alpha_DCG(norm="none") @ 2).per_topic(covering("ab b c"))
    array([2.31546488])
    """
    gained = run_gain(judged, rel, alpha, LOGARITHMIC, cutoff)
    return gained if norm == "none" else _of_perfect(judged, gained, rel, alpha, LOGARITHMIC, cutoff)


@measure(
    Traits(needs="subtopics", range=(0, float("inf"))),
    alpha=ALPHA,
    ideal=IDEAL,
    aliases=("α_nDCG",),
    explain=lambda trace, **parameters: explained_novelty.of_ideal(trace, LOGARITHMIC, **parameters),
)
def alpha_nDCG(
    judged: Judged, *, alpha: float = 0.5, rel: float = 1, ideal: str = "greedy", cutoff: int | None = None
) -> Floats:
    """alpha-DCG divided by that of an ideal ranking: the greedy one unless ideal='exact'.

    The best order may gain more than the greedy one: with that as the ideal, a run can score above 1.

    Formula: alpha-DCG@k / alpha-DCG@k of the ideal ranking of the judged documents
    Reference: Clarke et al., "Novelty and diversity in information retrieval evaluation", SIGIR 2008.

    >>> from cranfield.measures.diversity import covering
    >>> (alpha_nDCG @ 2).per_topic(covering("ab b c"))
    array([0.88009377])
    """
    return _of_ideal(judged, rel, alpha, LOGARITHMIC, cutoff, ideal)


@measure(
    Traits(needs="subtopics"),
    alpha=ALPHA,
    norm=NORM,
    cutoff=CUTOFF,
    explain=lambda trace, **parameters: explained_novelty.of_perfect(trace, RECIPROCAL, **parameters),
)
def ERR_IA(judged: Judged, *, alpha: float = 0.5, rel: float = 1, norm: str = "perfect", cutoff: int) -> Floats:
    """Expected reciprocal rank, intent-aware: the mean over subtopics of ERR, as a share of what a perfect list has.

    A relevant document satisfies with the chance alpha, whatever its grade. With norm='none' it is the mean of ERR
    itself. ndeval does not divide at cutoff 1, where its values exceed 1; here all cutoffs are divided alike.

    Formula: Σ g_i / i over ranks i ≤ k, divided by the same sum for g_i = M (1 - alpha)^(i-1), or alpha / M times it
      for norm='none'; g_i as for alpha-DCG, M subtopics
    Reference: Chapelle et al., "Expected reciprocal rank for graded relevance", CIKM 2009.

    >>> from cranfield.measures.diversity import covering
    >>> (ERR_IA @ 2).per_topic(covering("ab b c"))
    array([0.6])
    """
    gained = run_gain(judged, rel, alpha, RECIPROCAL, cutoff)
    if norm == "none":
        return ratio(alpha * gained, subtopic_count(judged.pool, rel))
    return _of_perfect(judged, gained, rel, alpha, RECIPROCAL, cutoff)


@measure(
    Traits(needs="subtopics", range=(0, float("inf"))),
    alpha=ALPHA,
    ideal=IDEAL,
    explain=lambda trace, **parameters: explained_novelty.of_ideal(trace, RECIPROCAL, **parameters),
)
def nERR_IA(
    judged: Judged, *, alpha: float = 0.5, rel: float = 1, ideal: str = "greedy", cutoff: int | None = None
) -> Floats:
    """ERR-IA divided by that of an ideal ranking: the greedy one unless ideal='exact'.

    The best order may gain more than the greedy one: with that as the ideal, a run can score above 1.

    Formula: ERR-IA@k / ERR-IA@k of the ideal ranking of the judged documents
    Reference: Chapelle et al., "Expected reciprocal rank for graded relevance", CIKM 2009; Clarke et al., "A
      comparative analysis of cascade measures for novelty and diversity", WSDM 2011.

    >>> from cranfield.measures.diversity import covering
    >>> (nERR_IA @ 2).per_topic(covering("ab b c"))
    array([0.9])
    """
    return _of_ideal(judged, rel, alpha, RECIPROCAL, cutoff, ideal)


@measure(
    Traits(needs="subtopics"),
    at=None,
    alpha=ALPHA,
    beta=BETA,
    explain=lambda trace, *, alpha, beta, rel: explained_novelty.novel(
        trace,
        rel,
        alpha,
        Discount("geometric", beta),
        None,
        float(subtopic_count(trace.judged.pool, rel)[0]) / (1 - (1 - alpha) * beta),
    ),
)
def NRBP(judged: Judged, *, alpha: float = 0.5, beta: float = 0.5, rel: float = 1) -> Floats:
    """Novelty- and rank-biased precision: a patient user's gain, as a share of that from a perfect endless list.

    Formula: (1 - (1 - alpha) beta) / M · Σ g_i beta^(i-1) over all ranks; g_i as for alpha-DCG, M subtopics
    Reference: Clarke, Kolla and Vechtomova, "An effectiveness measure for ambiguous and underspecified queries",
      ICTIR 2009.

    >>> from cranfield.measures.diversity import covering
    >>> NRBP.per_topic(covering("ab b c"))
    array([0.625])
    """
    gained = run_gain(judged, rel, alpha, Discount("geometric", beta), None)
    return ratio((1 - (1 - alpha) * beta) * gained, subtopic_count(judged.pool, rel))


@measure(
    Traits(needs="subtopics", range=(0, float("inf"))),
    at=None,
    alpha=ALPHA,
    beta=BETA,
    ideal=IDEAL,
    explain=lambda trace, *, beta, **parameters: explained_novelty.of_ideal(
        trace, Discount("geometric", beta), cutoff=None, **parameters
    ),
)
def nNRBP(judged: Judged, *, alpha: float = 0.5, beta: float = 0.5, rel: float = 1, ideal: str = "greedy") -> Floats:
    """NRBP divided by that of an ideal ranking: the greedy one unless ideal='exact'.

    The best order may gain more than the greedy one: with that as the ideal, a run can score above 1.

    Formula: NRBP / NRBP of the ideal ranking of the judged documents
    Reference: Clarke, Kolla and Vechtomova, "An effectiveness measure for ambiguous and underspecified queries",
      ICTIR 2009.

    >>> from cranfield.measures.diversity import covering
    >>> nNRBP.per_topic(covering("ab b c"))
    array([0.95238095])
    """
    return _of_ideal(judged, rel, alpha, Discount("geometric", beta), None, ideal)


@measure(Traits(needs="subtopics", exact_ties=True), aliases=("MAP_IA",))
def AP_IA(judged: Judged, *, rel: float = 1, cutoff: int | None = None) -> Floats:
    """Average precision, intent-aware: the mean of AP over subtopics, each with its own judgements.

    Formula: (1 / M) Σ AP_j over the M subtopics j with a relevant document
    Reference: Agrawal et al., "Diversifying search results", WSDM 2009.

    >>> from cranfield.measures.diversity import covering
    >>> AP_IA.per_topic(covering("ab b c"))
    array([0.77777778])
    """
    return _mean_over_subtopics(judged, AP, rel=rel, cutoff=cutoff)


@measure(Traits(needs="subtopics", exact_ties=True))
def P_IA(judged: Judged, *, rel: float = 1, cutoff: int) -> Floats:
    """Precision, intent-aware: the mean of P over subtopics, each with its own judgements.

    Formula: (1 / M) Σ P_j@k over the M subtopics j with a relevant document
    Reference: Agrawal et al., "Diversifying search results", WSDM 2009.

    >>> from cranfield.measures.diversity import covering
    >>> (P_IA @ 2).per_topic(covering("ab b c"))
    array([0.5])
    """
    return _mean_over_subtopics(judged, P, rel=rel, cutoff=cutoff)


def _mean_over_subtopics(judged: Judged, measure: Measure, *, rel: float, cutoff: int | None) -> Floats:
    """Mean of a measure that is 0 without a relevant document, over the subtopics that have one."""
    grades = judged.pool.columns["subtopics"].T
    scores = [measure.definition.function(judged.regraded(column), rel=rel, cutoff=cutoff) for column in grades]
    return ratio(np.sum(scores, axis=0), subtopic_count(judged.pool, rel))


def _of_perfect(judged: Judged, gained: Floats, rel: float, alpha: float, discount: Discount, cutoff: int) -> Floats:
    """A gain as a share of what a list of documents that are relevant to every subtopic has."""
    return ratio(gained, perfect_gain(judged.pool, rel, alpha, discount, cutoff))


def _of_ideal(judged: Judged, rel: float, alpha: float, discount: Discount, cutoff: int | None, way: str) -> Floats:
    return ratio(
        run_gain(judged, rel, alpha, discount, cutoff), ideal_gain(judged.pool, rel, alpha, discount, cutoff, way)
    )


def covering(ranking: str) -> Judged:
    """Writes a ranking of one topic by hand, for examples: of each document the letters of its subtopics.

    `0` is a document that is judged and relevant to none, `-` one that is not judged; after `/` follow documents
    that were not retrieved.

    >>> covering("ab - b 0 / c").pool.columns["subtopics"]
    array([[1., 1., 0.],
           [0., 1., 0.],
           [0., 0., 1.],
           [0., 0., 0.]])
    """
    documents = ranking.replace("/", " / ").split()
    judged = relstring("".join(document if document in "-0/" else "1" for document in documents))
    known = sorted((document for document in documents if document not in "-/"), key="0".__eq__)
    names = sorted(set(ranking) - set(" -0/"))
    grades = np.array([[float(name in document) for name in names] for document in known])
    return replace(judged, pool=replace(judged.pool, columns={"subtopics": grades}))
