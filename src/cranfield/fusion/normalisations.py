"""Normalisations: the scores of every list on a common scale. s is a score, n the number of documents in the list."""

from __future__ import annotations

import numpy as np

from cranfield.fusion.lists import Floats, Lists
from cranfield.fusion.method import normalisation

LEE = 'Lee, "Analyses of multiple evidence combination", SIGIR 1997'
MONTAGUE = 'Montague and Aslam, "Relevance score normalization for metasearch", CIKM 2001'
RENDA = 'Renda and Straccia, "Web metasearch: rank vs. score based rank aggregation methods", SAC 2003'


@normalisation("none", formula="s", reference="–")
def none(lists: Lists) -> Lists:
    """Scores as they are: only for runs that mean the same by them."""
    return lists


@normalisation("min-max", formula="(s - min) / (max - min)", reference=LEE, aliases=("min_max",))
def min_max(lists: Lists) -> Lists:
    """The best of every list gets 1 and the last 0. If all scores of a list are equal, all are the best and get 1."""
    return lists.scored(between(lists.score - lists.each(lists.worst), lists))


@normalisation(
    "min-max-inverted",
    formula="(max - s) / (max - min)",
    reference=LEE,
    aliases=("min_max_inverted",),
    keeps_ranks=False,
)
def min_max_inverted(lists: Lists) -> Lists:
    """For runs whose low scores are the good ones, such as distances. Where all are equal, all get 1."""
    return lists.scored(between(lists.each(lists.best) - lists.score, lists))


def between(distance: Floats, lists: Lists) -> Floats:
    """Distances from one end of each list as parts of the way to the other."""
    span = lists.best - lists.worst
    return np.where(lists.each(span) > 0, distance / lists.each(np.where(span > 0, span, 1.0)), 1.0)


@normalisation("max", formula="s / max", reference=LEE)
def maximum(lists: Lists) -> Lists:
    """The best of every list gets 1. It must have a score above 0: dividing by less would turn the order around."""
    lists.refuse(
        lists.best <= 0,
        "the highest score is not above 0, and the normalisation max divides by it",
        "Choose another normalisation, such as min-max.",
    )
    return lists.scored(lists.score / lists.each(lists.best))


@normalisation("sum", formula="(s - min) / Σ (s - min)", reference=MONTAGUE)
def shares(lists: Lists) -> Lists:
    """The last of every list gets 0, and all together 1. Where all scores of a list are equal, each gets 1 / n."""
    part = min_max(lists).score  # the unit of scores cancels out: in this one no sum is too large
    return lists.scored(part / lists.each(lists.in_list(part)))


@normalisation("z", formula="(s - mean) / standard deviation", reference=MONTAGUE, aliases=("zmuv",))
def z(lists: Lists) -> Lists:
    """Mean 0 and variance 1 in every list (divided by n). If all scores of a list are equal, all get 0."""
    part = min_max(lists).score  # in this unit no square is too large or too small
    away = part - lists.each(lists.in_list(part) / lists.length)
    deviation = np.sqrt(lists.in_list(away * away) / lists.length)
    return lists.scored(away / lists.each(np.where(lists.best > lists.worst, deviation, np.inf)))


@normalisation("rank", formula="1 - (i - 1) / n", reference=RENDA)
def rank(lists: Lists) -> Lists:
    """The best of every list gets 1, and then equal steps down to 1 / n, whatever the scores."""
    return lists.scored(1 - (lists.rank - 1) / lists.each(lists.length))


@normalisation(
    "borda",
    formula="1 - (i - 1) / c; if absent, 1/2 - (n - 1) / 2c, with c documents in all lists",
    reference=RENDA,
    keeps_ranks=False,
)
def borda(lists: Lists) -> Lists:
    """As rank, but a list also scores the documents it lacks: each gets the mean of the places left."""
    candidates = lists.candidates[lists.topic]
    placed = lists.scored(1 - (lists.rank - 1) / lists.each(candidates))
    return placed.filled(0.5 - (lists.length - 1) / (2 * candidates))
