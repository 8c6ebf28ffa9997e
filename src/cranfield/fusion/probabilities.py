"""Methods that learn from judgements how likely a run's documents are to be relevant, by rank or part of the list."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cranfield.errors import UsageError
from cranfield.fusion.lists import Floats, Integers, Lists
from cranfield.fusion.method import Learning, are_numbers, method
from cranfield.judged import Judged
from cranfield.measures import AP
from cranfield.notation import Value
from cranfield.registry import Parameter, is_number, is_whole

ASLAM = 'Aslam and Montague, "Models for metasearch", SIGIR 2001'
LILLIS_2006 = 'Lillis, Toolan, Collier and Dunnion, "ProbFuse: a probabilistic approach to data fusion", SIGIR 2006'
LILLIS_2008 = 'Lillis and others, "Extending probabilistic data fusion using sliding windows", ECIR 2008'
LILLIS_2010 = 'Lillis and others, "Estimating probabilities for effective data fusion", SIGIR 2010'
SHOKOUHI = 'Shokouhi, "Segmentation of search engine results for effective data-fusion", ECIR 2007'

RELEVANT = 1  # the least grade of a relevant document
LEVELS = np.array([0, 5, 10, 15, 20, 30, 100, 200, 500, 1000])  # where the levels of Bayes-fuse end
SURE = 0.999  # the largest probability that Bayes-fuse believes, and 1 minus the least
SEGMENTS = np.concatenate(([0], np.cumsum(10 * 2 ** np.arange(10) - 5)))  # where those of SegFuse end: 5, 20, 55, 130 …

PROBABILITIES = Parameter(
    "for each run, the chance of relevance at each rank or in each segment",
    "lists of numbers",
    are_numbers,
    for_each_run=True,
)


def hit_ranks(judged: Judged) -> Integers:
    """The ranks at which a relevant document stands, over all topics."""
    return judged.rank[judged.hits(RELEVANT)]


def at_positions(judged: Judged, **_: Value) -> Floats:
    """For each rank, the share of lists reaching it that have a relevant document there."""
    deepest = int(judged.retrieved.max(initial=0))
    relevant = np.bincount(hit_ranks(judged) - 1, minlength=deepest)
    reaching = len(judged.retrieved) - np.searchsorted(np.sort(judged.retrieved), np.arange(1, deepest + 1))
    return relevant / np.maximum(reaching, 1)


def padded(table: Sequence[Sequence[float]], beyond: float = 0.0) -> Floats:
    """The numbers of each run as a row; rows that end early, and all of them in one more column, have `beyond`."""
    rows = np.full((len(table), max(len(numbers) for numbers in table) + 1), beyond)
    for run, numbers in enumerate(table):
        rows[run, : len(numbers)] = numbers
    return rows


def looked_up(lists: Lists, rows: Floats, place: Integers) -> Floats:
    """For each row of the lists what its run has at a place from 0; the last column where there is no such place."""
    numbers: Floats = rows[lists.each(lists.run), np.minimum(place, rows.shape[1] - 1)]
    return numbers


@method(
    "posfuse",
    title="PosFuse",
    formula="Σ P(i), the chance of relevance at rank i of the run",
    reference=LILLIS_2010,
    looks_at="ranks",
    learning=Learning("probabilities", at_positions),
    probabilities=PROBABILITIES,
)
def pos_fuse(lists: Lists, *, probabilities: Sequence[Sequence[float]]) -> Floats:
    """The chance of relevance at the ranks where the document stands, added up. Ranks never seen in training give 0."""
    return lists.total(looked_up(lists, padded(probabilities), lists.rank - 1))


@method(
    "slidefuse",
    title="SlideFuse",
    formula="Σ mean of P(j) for j from i - w to i + w, within the list",
    reference=LILLIS_2008,
    looks_at="ranks",
    learning=Learning("probabilities", at_positions),
    w=Parameter(
        "ranks on either side of the window",
        "a whole number from 1",
        lambda value: is_whole(value) and value < 2**31,
        grid=(5, 1, 2, 3, 4, 6, 8, 10, 15, 20),
    ),
    probabilities=PROBABILITIES,
)
def slide_fuse(lists: Lists, *, w: int = 5, probabilities: Sequence[Sequence[float]]) -> Floats:
    """PosFuse with the mean over a window of ranks, which smooths what few topics show."""
    up_to = np.cumsum(padded(probabilities), axis=1)
    before = np.concatenate((np.zeros((len(up_to), 1)), up_to), axis=1)
    first = np.maximum(lists.rank - 1 - w, 0)
    end = np.minimum(lists.rank + w, lists.each(lists.length))
    total = looked_up(lists, before, end) - looked_up(lists, before, first)
    return lists.total(total / (end - first))


def in_equal_segments(judged: Judged, *, segments: int, **_: Value) -> Floats:
    """For each of the segments a list is cut into, the mean share of relevant documents in it, over the topics."""
    size = np.maximum(-(-judged.retrieved // segments), 1)
    hit = judged.hits(RELEVANT)
    topic = judged.topic[hit]
    relevant = np.zeros((len(judged.topics), segments))
    np.add.at(relevant, (topic, (judged.rank[hit] - 1) // size[topic]), 1)
    number = np.arange(segments)
    filled = np.clip(judged.retrieved[:, None] - number * size[:, None], 0, size[:, None])
    share: Floats = (relevant / np.maximum(filled, 1)).mean(axis=0)
    return share


@method(
    "probfuse",
    title="ProbFuse",
    formula="Σ P(g) / g, g the segment (of x equal ones) in which the document stands",
    reference=LILLIS_2006,
    looks_at="ranks",
    learning=Learning("probabilities", in_equal_segments),
    segments=Parameter(
        "into how many a list is cut",
        "a whole number from 1",
        lambda value: is_whole(value) and value < 2**31,
        grid=(25, 5, 10, 15, 20, 30, 40, 50, 75, 100),
    ),
    probabilities=PROBABILITIES,
)
def prob_fuse(lists: Lists, *, segments: int = 25, probabilities: Sequence[Sequence[float]]) -> Floats:
    """The chance of relevance in the segments where the document stands, each divided by the segment's number."""
    if any(len(chances) != segments for chances in probabilities):
        raise UsageError(f"probfuse: probabilities must have an entry for each of the {segments} segments")
    size = -(-lists.length // segments)
    segment = (lists.rank - 1) // lists.each(size)
    return lists.total(looked_up(lists, padded(probabilities), segment) / (segment + 1))


def in_growing_segments(judged: Judged, **_: Value) -> Floats:
    """For each segment of SegFuse the relevant documents in it over its size, mean over the topics."""
    segment = np.searchsorted(SEGMENTS, hit_ranks(judged)) - 1
    within = segment[segment < len(SEGMENTS) - 1]
    relevant = np.bincount(within, minlength=len(SEGMENTS) - 1)
    return relevant / np.diff(SEGMENTS) / len(judged.topics)


@method(
    "segfuse",
    title="SegFuse",
    formula="Σ P(g) (s + 1), g the segment in which the document stands; segment g has 10 · 2^(g-1) - 5 ranks",
    reference=SHOKOUHI,
    looks_at="both",
    learning=Learning("probabilities", in_growing_segments),
    probabilities=PROBABILITIES,
)
def seg_fuse(lists: Lists, *, probabilities: Sequence[Sequence[float]]) -> Floats:
    """The chance of relevance in the segments where the document stands, each times its normalised score plus 1."""
    segment = np.searchsorted(SEGMENTS, lists.rank) - 1
    return lists.total(looked_up(lists, padded(probabilities), segment) * (lists.score + 1))


def log_odds(judged: Judged, **_: Value) -> Floats:
    """For each level of ranks, the logarithm of the odds that a document there is relevant."""
    level = np.searchsorted(LEVELS, hit_ranks(judged)) - 1
    relevant = np.bincount(level[level < len(LEVELS) - 1], minlength=len(LEVELS) - 1)
    precision = relevant / np.diff(LEVELS) / len(judged.topics)
    return odds_of(precision)


def odds_of(precision: Floats) -> Floats:
    """The logarithm of the odds; certainty is not believed.

    >>> odds_of(np.array([0.5, 0.0])).round(3).tolist()
    [0.0, -6.907]
    """
    believed = np.clip(precision, 1 - SURE, SURE)
    return np.asarray(np.log(believed / (1 - believed)))


@method(
    "bayesfuse",
    title="Bayes-fuse",
    formula="Σ log(P / (1 - P)), P the precision at the level of ranks; lists that lack the document have P = 0.001",
    reference=ASLAM,
    looks_at="ranks",
    learning=Learning("log_odds", log_odds),
    aliases=("bayes",),
    log_odds=Parameter(
        "for each run, the log odds of relevance at ranks 1-5, 6-10, -15, -20, -30, -100, -200, -500 and -1000",
        "lists of numbers",
        are_numbers,
        for_each_run=True,
    ),
)
def bayes_fuse(lists: Lists, *, log_odds: Sequence[Sequence[float]]) -> Floats:
    """The log odds of relevance, added up as if the runs were independent. Below rank 1000 is like absent."""
    absent = float(odds_of(np.zeros(1))[0])
    odds = looked_up(lists, padded(log_odds, absent), np.searchsorted(LEVELS, lists.rank) - 1)
    return lists.total_or(odds, np.full(len(lists.run), absent))


def mean_average_precision(judged: Judged, **_: Value) -> Floats:
    """The mean of AP over the topics."""
    return np.array(AP.per_topic(judged).mean())


@method(
    "mapfuse",
    title="MAPFuse",
    formula="Σ MAP / i, the run's MAP in training",
    reference=LILLIS_2010,
    looks_at="ranks",
    learning=Learning("maps", mean_average_precision),
    maps=Parameter("each run's mean average precision", "numbers", is_number, for_each_run=True),
)
def map_fuse(lists: Lists, *, maps: Sequence[float]) -> Floats:
    """Reciprocal ranks, each times how good its run was in training."""
    return lists.total(lists.each(np.asarray(maps, dtype=np.float64)[lists.run]) / lists.rank)
