"""Rankings as they would be if somebody judged what nobody did: for bounds, which suppose it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from cranfield.judged import Floats, Integers, Judged, Pool


def filled(judged: Judged, guess: Floats) -> Judged:
    """The rankings with a grade for every unjudged document, in the pool as well; ties stay as far as they are known.

    Columns of the pool stay where every document retrieved is in it: of others there is nothing to put there.
    """
    open_ranks, pool = judged.unjudged, judged.pool
    known = judged.grade >= 0
    topic = np.concatenate((judged.topic[known], open_ranks.topic))
    rank = np.concatenate((judged.rank[known], open_ranks.rank))
    order = np.lexsort((rank, topic))
    # A document with a negative grade that was retrieved is open and in the pool: it must not count twice.
    kept = np.ones(len(pool.grades), dtype=bool)
    kept[judged.row[~known]] = False
    grades, owner = np.concatenate((pool.grades[kept], guess)), np.concatenate((pool.topic[kept], open_ranks.topic))
    best_first = np.lexsort((-grades, owner))
    place = np.empty(len(best_first), dtype=np.int64)
    place[best_first] = np.arange(len(best_first))
    before = (np.cumsum(kept) - 1)[judged.row[known]]
    row = place[np.concatenate((before, np.arange(np.count_nonzero(kept), len(grades))))]
    columns = {}
    if np.count_nonzero(~known) == len(guess):
        rows = np.concatenate((np.flatnonzero(kept), judged.row[~known]))[best_first]
        columns = {name: column[rows] for name, column in pool.columns.items()}
    tie_first, tie_size = _ties_by_rank(judged)
    standing = _starts(judged)[topic[order]] + rank[order] - 1
    offsets = _offsets(owner[best_first], len(pool.topics))
    return replace(
        judged,
        pool=Pool(pool.topics, offsets, grades[best_first], pool.max_grade, columns),
        offsets=_offsets(topic[order], len(pool.topics)),
        rank=rank[order],
        row=row[order],
        grade=np.concatenate((judged.grade[known], guess))[order],
        tie_first=tie_first[standing],
        tie_size=tie_size[standing],
    )


def _starts(judged: Judged) -> Integers:
    """Where each topic's list starts, if all lists stand one after the other; and where the last one ends."""
    return np.concatenate(([0], np.cumsum(judged.retrieved))).astype(np.int64)


def _ties_by_rank(judged: Judged) -> tuple[Integers, Integers]:
    """For every rank of every list the first of the ranks that share its score, and how many do.

    What is known of them are the groups in which something is judged, or pooled: others count as a document each.
    """
    starts = _starts(judged)
    every = np.repeat(np.arange(len(judged.topics)), judged.retrieved)
    tie_first = np.arange(starts[-1]) - starts[every] + 1
    tie_size = np.ones_like(tie_first)
    first = judged.group_starts
    size = judged.tie_size[first]
    place = np.arange(size.sum()) - np.repeat(np.cumsum(size) - size, size)
    standing = np.repeat(starts[judged.topic[first]] + judged.tie_first[first] - 1, size) + place
    tie_first[standing], tie_size[standing] = np.repeat(judged.tie_first[first], size), np.repeat(size, size)
    return tie_first, tie_size


def open_known(judged: Judged) -> Floats:
    """For each unjudged document retrieved 1 if the user knew it: only one that is in the pool can have been told."""
    starts, open_ranks, pooled = _starts(judged), judged.unjudged, judged.grade < 0
    known = np.zeros(starts[-1])
    known[starts[judged.topic[pooled]] + judged.rank[pooled] - 1] = judged.pool.columns["known"][judged.row[pooled]]
    of_open: Floats = known[starts[open_ranks.topic] + open_ranks.rank - 1]
    return of_open


def _offsets(topic: Integers, topics: int) -> Integers:
    return np.searchsorted(topic, np.arange(topics + 1)).astype(np.int64)
