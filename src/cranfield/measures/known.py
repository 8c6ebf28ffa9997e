"""Measures of what the user knew before: R are the relevant documents, A those retrieved, K those known.

Which documents were known is told by a second judgement file: those that it gives a grade above 0. A known document
that the judgements do not have, or not as relevant, is not counted.
"""

from __future__ import annotations

from itertools import product

import numpy as np

from cranfield.judged import Floats, Judged, Mask
from cranfield.measures import bounded, explained
from cranfield.measures.arithmetic import ratio, within
from cranfield.measures.definition import Traits
from cranfield.measures.filled import open_known
from cranfield.measures.registry import measure


@measure(
    Traits(
        exact_ties=True,
        needs="known",
        every_document=True,
        bounds=lambda judged, **parameters: bounds_of_coverage(judged, **parameters),
        denominator=lambda judged, *, rel, cutoff: known_relevant(judged, rel),
    ),
    explain=lambda trace, *, rel, cutoff: explained.share(
        trace, trace.relevant(rel, cutoff) & _known(trace), float(known_relevant(trace.judged, rel)[0])
    ),
)
def Coverage(judged: Judged, *, rel: float = 1, cutoff: int | None = None) -> Floats:
    """Coverage ratio: share of the relevant documents known to the user that is retrieved.

    A high one says that the system finds what the user expects to see. A topic of which the user knew no relevant
    document scores 0, as recall does without relevant documents.

    Formula: |R ∩ A ∩ K| / |R ∩ K|
    Known as: coverage ratio
    Reference: Korfhage, Information Storage and Retrieval, 1997; Baeza-Yates and Ribeiro-Neto, Modern Information
      Retrieval, 1999, chapter 3.

    >>> import cranfield
    >>> qrels, run = {"q1": {"d1": 1, "d2": 1, "d3": 1}}, {"q1": {"d1": 3.0, "d3": 2.0}}
    >>> cranfield.evaluate(qrels, run, "Coverage", known={"q1": {"d1": 1, "d2": 1}}).mean()
    {'run': {'Coverage': 0.5}}
    """
    known = judged.pool.columns["known"][judged.row]
    return ratio(judged.total((judged.hits(rel) & known) * judged.within(cutoff)), known_relevant(judged, rel))


@measure(
    Traits(
        needs="known",
        every_document=True,
        bounds=lambda judged, **parameters: bounds_of_novelty(judged, **parameters),
    ),
    explain=lambda trace, *, rel, cutoff: explained.share(
        trace, trace.relevant(rel, cutoff) & ~_known(trace), float(trace.relevant(rel, cutoff).sum())
    ),
)
def Novelty(judged: Judged, *, rel: float = 1, cutoff: int | None = None) -> Floats:
    """Novelty ratio: share of the relevant documents retrieved that is new to the user.

    A high one says that the system reveals relevant documents the user did not know. Where nothing relevant is
    retrieved nothing new is, and the value is 0.

    Formula: |(R ∩ A) - K| / |R ∩ A|
    Known as: novelty ratio
    Reference: Korfhage, Information Storage and Retrieval, 1997; Baeza-Yates and Ribeiro-Neto, Modern Information
      Retrieval, 1999, chapter 3.

    >>> import cranfield
    >>> qrels, run = {"q1": {"d1": 1, "d2": 1, "d3": 1}}, {"q1": {"d1": 3.0, "d3": 2.0}}
    >>> cranfield.evaluate(qrels, run, "Novelty", known={"q1": {"d1": 1, "d2": 1}}).mean()
    {'run': {'Novelty': 0.5}}
    """
    hits, new = _found_and_new(judged, rel, cutoff)
    return ratio(new, hits)


def known_relevant(judged: Judged, rel: float) -> Floats:
    """For each topic, how many relevant documents the user knew."""
    pool = judged.pool
    return pool.once(("known", rel), lambda: pool.total((pool.grades >= max(rel, 0)) & pool.columns["known"]))


def _known(trace: explained.Trace) -> Mask:
    """Which ranks hold a document that the user knew."""
    known: Mask = trace.spread(trace.judged.pool.columns["known"][trace.judged.row]) > 0
    return known


def _found_and_new(judged: Judged, rel: float, cutoff: int | None) -> tuple[Floats, Floats]:
    hit, known = judged.hits(rel, cutoff), judged.pool.columns["known"][judged.row]
    return judged.total(hit), judged.total(hit & ~known)


def open_documents(judged: Judged, cutoff: int | None) -> tuple[Floats, Floats, Floats]:
    """For each topic the unjudged documents retrieved: new ones down to the cutoff, known ones, known ones below it."""
    open_ranks, known = judged.unjudged, open_known(judged)
    above = within(open_ranks.rank, cutoff)
    return open_ranks.total(above * (1 - known)), open_ranks.total(above * known), open_ranks.total((1 - above) * known)


def bounds_of_coverage(judged: Judged, *, rel: float, cutoff: int | None) -> bounded.Bounds:
    """What was known is known; whether it is relevant is open."""
    hits, new = _found_and_new(judged, rel, cutoff)
    _, above, below = open_documents(judged, cutoff)
    known = known_relevant(judged, rel)
    return ratio(hits - new, known + below), ratio(hits - new + above, known + above)


def bounds_of_novelty(judged: Judged, *, rel: float, cutoff: int | None) -> bounded.Bounds:
    """Lowest if of the unjudged documents those known are relevant, highest if the new ones are."""
    hits, new = _found_and_new(judged, rel, cutoff)
    open_new, already_known, _ = open_documents(judged, cutoff)
    return ratio(new, hits + already_known), ratio(new + open_new, hits + open_new)


def bounds_of_share_of_known(judged: Judged, *, rel: float, cutoff: int | None) -> bounded.Bounds:
    """Those of |R ∩ A| / |R ∩ K|, between the extremes of how many of each kind of unjudged documents are relevant.

    Each more of a kind moves the ratio the same way as the last one, once something is divided by: so none, one and
    all of them are tried.
    """
    hits, known = judged.total(judged.hits(rel, cutoff)), known_relevant(judged, rel)
    kinds = open_documents(judged, cutoff)
    numbers = [[np.minimum(number, most) for number in (0.0, 1.0, most)] for most in kinds]
    values = [ratio(hits + new + above, known + above + below) for new, above, below in product(*numbers)]
    return np.min(values, axis=0), np.max(values, axis=0)
