"""Means over all orders of tied documents, where a measure is not simply a sum over hits.

f is the first rank of a tie group, s its size, g how many of its documents are relevant. After McSherry and Najork,
"Computing information retrieval performance measures efficiently in the presence of tied scores", ECIR 2008; the means
of Bpref, BinG, Rpref and statAP are our own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from cranfield.judged import Floats, Judged, Mask


def expected_precision(judged: Judged, worth: Floats | Mask, cutoff: int | None) -> Floats:
    """For each hit its worth times the mean of the precision at its rank, or 0 where that is below the cutoff.

    Precision counts what is worth something above the hit, and the hit itself as 1. At rank i of a group with r above
    it, a hit of worth w has r + 1 + (i - f)(g - w)/(s - 1) above or at it, in the mean, where g is the worth of the
    group: precision is A/i + B, summed with harmonic numbers.
    """
    first, size = judged.tie_first, judged.tie_size
    above = judged.above_group(worth)
    step = (judged.in_group(worth) - worth) / np.maximum(size - 1, 1)
    constant = above + 1 - step * first
    last = first + size - 1 if cutoff is None else np.minimum(first + size - 1, cutoff)
    last = np.maximum(last, first - 1)
    harmonic = np.concatenate(([0.0], np.cumsum(1 / np.arange(1, last.max(initial=0) + 1))))
    mean: Floats = (constant * (harmonic[last] - harmonic[first - 1]) + step * (last - first + 1)) / size
    alone = size == 1
    mean[alone] = (above[alone] + 1) / judged.rank[alone] * (last >= first)[alone]
    return mean * worth


def _relevant_groups(judged: Judged, rel: float) -> Iterator[tuple[int, int, int, int]]:
    """Topic, f, s and g of each group with a relevant document, from the top."""
    hit = judged.hits(rel)
    relevant = judged.in_group(hit)
    for i in judged.group_starts:
        if relevant[i]:
            yield int(judged.topic[i]), int(judged.tie_first[i]), int(judged.tie_size[i]), int(relevant[i])


def _none_in_first(size: int, relevant: int) -> Floats:
    """The chance that the first 0, 1, … s documents of a group hold none of its g relevant ones."""
    left = np.arange(size, 0, -1.0)
    return np.concatenate(([1.0], np.cumprod(np.maximum(left - relevant, 0) / left)))


def expected_reciprocal(judged: Judged, rel: float, cutoff: int | None) -> Floats:
    """Mean of one over the first relevant rank: it is decided in the first group that has a relevant document."""
    scores = np.zeros(len(judged.topics))
    decided = np.zeros(len(judged.topics), dtype=bool)
    for topic, first, size, relevant in _relevant_groups(judged, rel):
        if decided[topic]:
            continue
        decided[topic] = True
        ranks = np.arange(first, first + size)
        chance = -np.diff(_none_in_first(size, relevant))
        seen = chance if cutoff is None else chance * (ranks <= cutoff)
        scores[topic] = 1 / first * (cutoff is None or first <= cutoff) if size == 1 else np.sum(seen / ranks)
    return scores


def chance_of_one(judged: Judged, rel: float, cutoff: int) -> Floats:
    """The chance that a relevant document stands at the cutoff or above."""
    none = np.ones(len(judged.topics))
    for topic, first, size, relevant in _relevant_groups(judged, rel):
        none[topic] *= _none_in_first(size, relevant)[min(max(cutoff - first + 1, 0), size)]
    return 1 - none


def expected_minimum(judged: Judged, x: Mask, most: Floats) -> Floats:
    """For each hit that is not x itself, the mean of min(number of x above it, most).

    Among the n hits of its group that are x, a document is equally likely to have 0, 1, … n above it.
    """
    above, tied = judged.above_group(x), judged.in_group(x)
    below_most = np.clip(most - above, 0, tied + 1)
    total = below_most * above + below_most * (below_most - 1) / 2 + (tied + 1 - below_most) * most
    mean: Floats = total / (tied + 1)
    return mean


def expected_by_others(judged: Judged, hit: Mask, value: Callable[[Floats], Floats]) -> Floats:
    """For each hit the mean of a function of the number of documents above it that are not hits, judged or not.

    Among the n such documents of its group, it is equally likely to have 0, 1, … n above it.
    """
    above = judged.tie_first - 1 - judged.above_group(hit)
    tied = judged.tie_size - judged.in_group(hit)
    most = np.where(hit, above + tied, 0).astype(np.int64)
    up_to = np.concatenate(([0.0], np.cumsum(value(np.arange(most.max(initial=0) + 1.0)))))
    mean: Floats = (up_to[most + 1] - up_to[np.where(hit, above, 0).astype(np.int64)]) / np.where(hit, tied + 1, 1)
    # A sum that is taken apart again is not quite what it was.
    alone = hit & (tied == 0)
    mean[alone] = value(above[alone].astype(np.float64))
    return mean * hit


def chance_above(judged: Judged, cutoff: int | None) -> Floats:
    """For each hit, the chance that it stands at the cutoff or above and above a certain other one of its group."""
    size = judged.tie_size.astype(np.float64)
    down_to = size if cutoff is None else np.clip(cutoff - judged.tie_first + 1.0, 0.0, size)
    # Its rank in the group is i with the chance 1 / s, and then s - i of the s - 1 others stand below.
    chance: Floats = down_to * (2 * size - down_to - 1) / (2 * size * np.maximum(size - 1, 1))
    return chance
