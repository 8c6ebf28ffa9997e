"""How far a score could be off because of retrieved documents that nobody judged.

Each of them might have any grade in use: those of the judgements, and those that the measure itself names. Unjudged
documents that were not retrieved are taken as not relevant. A relevant document helps where it is counted and hurts
where it only adds to R, so the extremes lie at some number m of relevant ones: for the highest score the m that stand
highest, for the lowest the m that stand lowest, because moving a relevant document up never hurts. Each function gives
the lowest and the highest value that a measure can have, exactly, for every topic; it takes the measure's
own parameters.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cranfield import _core
from cranfield.errors import UsageError
from cranfield.judged import Floats, Integers, Judged, Mask, Unjudged
from cranfield.measures.arithmetic import f_beta, ratio, reciprocal_rank, within
from cranfield.measures.filled import filled
from cranfield.notation import Value

Bounds = tuple[Floats, Floats]
MOST_WORK = 300_000_000
FEW_WAYS = 1000  # to judge the unjudged documents of a topic, all of which are tried
CLIMBS = 3


def found_within(judged: Judged, rel: float, cutoff: int | None) -> tuple[Floats, Floats, Floats]:
    """For each topic: relevant documents down to the cutoff, unjudged ones down to it, and unjudged ones below."""
    open_ranks = judged.unjudged
    above = open_ranks.total(within(open_ranks.rank, cutoff))
    return judged.total(judged.hits(rel, cutoff)), above, open_ranks.counts - above


def of_precision(judged: Judged, *, rel: float, cutoff: int) -> Bounds:
    hits, above, _ = found_within(judged, rel, cutoff)
    return hits / cutoff, (hits + above) / cutoff


def of_recall(judged: Judged, *, rel: float, cutoff: int | None = None) -> Bounds:
    hits, above, below = found_within(judged, rel, cutoff)
    relevant = judged.n_relevant(rel)
    return ratio(hits, relevant + below), ratio(hits + above, relevant + above)


def of_f(judged: Judged, *, rel: float, beta: float, cutoff: int | None = None) -> Bounds:
    hits, above, below = found_within(judged, rel, cutoff)
    relevant, length = judged.n_relevant(rel), judged.retrieved if cutoff is None else cutoff
    lowest = f_beta(ratio(hits, length), ratio(hits, relevant + below), beta)
    return lowest, f_beta(ratio(hits + above, length), ratio(hits + above, relevant + above), beta)


def of_e(judged: Judged, *, rel: float, b: float, cutoff: int) -> Bounds:
    lowest, highest = of_f(judged, rel=rel, beta=b, cutoff=cutoff)
    return 1 - highest, 1 - lowest


def of_set_precision(judged: Judged, *, rel: float) -> Bounds:
    hits, above, _ = found_within(judged, rel, None)
    return ratio(hits, judged.retrieved), ratio(hits + above, judged.retrieved)


def of_success(judged: Judged, *, rel: float, cutoff: int) -> Bounds:
    hits, above, _ = found_within(judged, rel, cutoff)
    return (hits > 0).astype(np.float64), (hits + above > 0).astype(np.float64)


def of_found(judged: Judged, *, rel: float, cutoff: int | None) -> Bounds:
    hits, above, _ = found_within(judged, rel, cutoff)
    return hits, hits + above


def of_relevant(judged: Judged, *, rel: float) -> Bounds:
    return judged.n_relevant(rel), judged.n_relevant(rel) + judged.unjudged.counts


def of_reciprocal(judged: Judged, *, rel: float, cutoff: int | None) -> Bounds:
    known = reciprocal_rank(judged, rel, cutoff)
    open_ranks = judged.unjudged
    first = open_ranks.total((open_ranks.place == 1) * within(open_ranks.rank, cutoff) / open_ranks.rank)
    return known, np.maximum(known, first)


class _Relevant:
    """The relevant documents above and below each unjudged one."""

    def __init__(self, judged: Judged, rel: float, cutoff: int | None) -> None:
        hit = judged.hits(rel, cutoff)
        width = int(judged.retrieved.max(initial=0)) + 2
        self.keys = judged.topic[hit] * width + judged.rank[hit]
        self.offsets = np.searchsorted(self.keys, np.arange(len(judged.topics) + 1) * width).astype(np.int64)
        self.width = width
        self.inverse = _core.running_sum(self.offsets, 1.0 / judged.rank[hit])
        self.all_inverse = _core.segment_sum(self.offsets, 1.0 / judged.rank[hit])

    def above(self, topic: Integers, rank: Integers) -> Integers:
        """How many stand at the rank or above."""
        wanted = topic * self.width + np.minimum(rank, self.width - 1)
        number: Integers = np.searchsorted(self.keys, wanted, "right") - self.offsets[topic]
        return number

    def inverse_below(self, topic: Integers, rank: Integers) -> Floats:
        """Sum of 1 / rank over those that stand below."""
        above = self.above(topic, rank)
        before = np.zeros(len(topic))
        some = above > 0
        before[some] = self.inverse[(self.offsets[topic] + above - 1)[some]]
        below: Floats = self.all_inverse[topic] - before
        return below


def _least(open_ranks: Unjudged, x: Floats, start: Floats) -> Floats:
    out = start.copy()
    np.minimum.at(out, open_ranks.topic, x)
    return out


def _largest(open_ranks: Unjudged, x: Floats, start: Floats) -> Floats:
    return -_least(open_ranks, -x, -start)


def _from_below(open_ranks: Unjudged) -> Integers:
    """The order that goes through each topic from the lowest rank up."""
    ends = open_ranks.offsets[open_ranks.topic + 1]
    return ends - open_ranks.place


def of_ap(judged: Judged, *, rel: float, cutoff: int | None, **_: Value) -> Bounds:
    open_ranks, relevant = judged.unjudged, judged.n_relevant(rel)
    counted = within(open_ranks.rank, cutoff)
    known = _Relevant(judged, rel, cutoff)
    hit = judged.hits(rel, cutoff)
    total = judged.total(judged.running(hit) / judged.rank * hit)
    above = known.above(open_ranks.topic, open_ranks.rank)
    pushed = known.inverse_below(open_ranks.topic, open_ranks.rank)  # what it adds to those below it

    place = open_ranks.place
    gained = open_ranks.running(counted * ((above + place) / open_ranks.rank + pushed))
    useful = np.where(counted > 0, ratio(total[open_ranks.topic] + gained, relevant[open_ranks.topic] + place), 0.0)
    highest = _largest(open_ranks, useful, ratio(total, relevant))

    order = _from_below(open_ranks)
    inverse = counted / open_ranks.rank
    below = open_ranks.running(inverse[order]) - inverse[order]
    alone = (counted * ((above + 1) / open_ranks.rank + pushed))[order]
    gained = open_ranks.running(alone + (counted > 0)[order] * below)
    harmful = ratio(total[open_ranks.topic] + gained, relevant[open_ranks.topic] + place)
    return _least(open_ranks, harmful, ratio(total, relevant)), highest


def of_rprec(judged: Judged, *, rel: float) -> Bounds:
    open_ranks, relevant = judged.unjudged, judged.n_relevant(rel)
    known = _Relevant(judged, rel, None)
    topic, place = open_ranks.topic, open_ranks.place
    more = (relevant[topic] + place).astype(np.int64)  # R with m of them
    keys = topic * known.width + open_ranks.rank
    reached = topic * known.width + np.minimum(more, known.width - 1)
    reach = np.searchsorted(keys, reached, "right") - open_ranks.offsets[topic]
    hits = known.above(topic, more)
    plain = ratio(judged.total(judged.hits(rel) & (judged.rank <= relevant[judged.topic])), relevant)
    highest = _largest(open_ranks, (hits + np.minimum(reach, place)) / more, plain)
    low = np.maximum(reach - (open_ranks.counts[topic] - place), 0)
    return _least(open_ranks, (hits + low) / more, plain), highest


def of_ratio_to_ideal(
    judged: Judged, base: Floats, worth: Floats, counted: Mask, most: float, weight: Floats
) -> Bounds:
    """DCG over ideal DCG, where an unjudged document may have any gain up to `most`.

    `base` is DCG, `worth` the gains of the pool, of which the ideal has those `counted`, and the unjudged documents
    retrieved; `weight` is what a gain at rank 1, 2, … is multiplied by. Ideal DCG is a
    sum over levels of gain, (g_l - g_(l+1)) D(documents at level l or above), D the sum of the first weights; and so
    is what unjudged documents add to DCG. For a given ratio the best number at each level is therefore found on its
    own, and the best ratio by Dinkelbach's iteration. The lowest value has the m lowest ones at the highest gain.
    """
    open_ranks = judged.unjudged
    topic, place, topics = open_ranks.topic, open_ranks.place, len(judged.topics)
    levels = np.unique(np.append(worth[worth > 0], most))[::-1]
    steps = levels - np.append(levels[1:], 0.0)
    at_or_above = [judged.pool.total(counted & (worth >= level)).astype(np.int64) for level in levels]
    sums = np.concatenate(([0.0], np.cumsum(weight)))
    gained = open_ranks.running(weight[open_ranks.rank - 1])

    def ideal(extra: list[Integers]) -> Floats:
        parts = (step * sums[n + m] for step, n, m in zip(steps, at_or_above, extra, strict=True))
        return sum(parts, np.zeros(topics))

    plain = ratio(base, ideal([np.zeros(topics, dtype=np.int64)] * len(levels)))
    best = plain
    for _ in range(100):
        numbers, total = [], base.copy()
        for step, count in zip(steps, at_or_above, strict=True):
            value = gained - best[topic] * sums[count[topic] + place]
            reached = np.flatnonzero(value == _largest(open_ranks, value, -best * sums[count])[topic])
            number, gain = np.zeros(topics, dtype=np.int64), np.zeros(topics)
            number[topic[reached]], gain[topic[reached]] = place[reached], gained[reached]
            numbers.append(number)
            total += step * gain
        better = np.maximum(best, ratio(total, ideal(numbers)))
        if np.array_equal(better, best):
            break
        best = better

    lost = open_ranks.running(weight[open_ranks.rank - 1][_from_below(open_ranks)])
    parts = (step * sums[n[topic] + place] for step, n in zip(steps, at_or_above, strict=True))
    worst = ratio(base[topic] + most * lost, sum(parts, np.zeros(len(place))))
    return _least(open_ranks, worst, plain), best


def of_growing(judged: Judged, evaluate: Callable[[Judged], Floats], most: float) -> Bounds:
    """A measure without a part of the whole pool in it: what is more relevant can only help."""
    return evaluate(judged), evaluate(filled(judged, np.full(len(judged.unjudged.rank), most)))


def by_search(judged: Judged, evaluate: Callable[[Judged], Floats], most: float) -> Bounds:
    """All other measures: evaluated with the m highest and with the m lowest unjudged documents relevant, for every m.

    The rest counts as judged and not relevant. Losses have their extremes at the other end, so both are looked at.
    """
    open_ranks = judged.unjudged
    longest = int(open_ranks.counts.max(initial=0))
    if longest * len(open_ranks.rank) > MOST_WORK:
        raise UsageError(
            "bounds of this measure are searched for, and the lists are too long for that: cut them (depth)"
        )
    lowest = highest = evaluate(judged)
    place, count = open_ranks.place, open_ranks.counts[open_ranks.topic]
    for m in range(longest + 1):
        for relevant in (place <= m, place > count - m):
            value = evaluate(filled(judged, np.where(relevant, most, 0.0)))
            lowest, highest = np.minimum(lowest, value), np.maximum(highest, value)
    return lowest, highest


def by_climbing(judged: Judged, evaluate: Callable[[Judged], Floats], levels: Floats) -> Bounds:
    """A measure that more relevance may hurt as well as help: the widest bounds that a search finds.

    Every way to judge is tried where there are few. Otherwise the m highest or the m lowest unjudged documents get each
    of the grades, then one document at a time another grade for as long as that widens the bounds: what is found is
    possible, but wider bounds may be too.
    """
    open_ranks = judged.unjudged
    place, count = open_ranks.place, open_ranks.counts[open_ranks.topic]
    longest = int(open_ranks.counts.max(initial=0))
    if 4 * longest * len(levels) * len(open_ranks.rank) > MOST_WORK:
        raise UsageError(
            "bounds of this measure are searched for, and the lists are too long for that: cut them (depth)"
        )
    best = np.tile(evaluate(judged), (2, 1))  # the lowest, and the highest as a loss
    best[1] *= -1
    guesses = np.zeros((2, len(open_ranks.rank)))

    def improved(guess: Floats) -> bool:
        value = evaluate(filled(judged, guess))
        better = np.array([value, -value]) < best - 1e-12
        for side in (0, 1):
            best[side] = np.where(better[side], (value, -value)[side], best[side])
            guesses[side] = np.where(better[side][open_ranks.topic], guess, guesses[side])
        return bool(better.any())

    few = len(levels) ** open_ranks.counts <= FEW_WAYS
    for number in range(len(levels) ** int(open_ranks.counts[few].max(initial=0))):
        digits = number // len(levels) ** np.minimum(place - 1, 30) % len(levels)
        improved(np.where(few[open_ranks.topic], levels[digits], 0.0))
    if few.all():
        return best[0], -best[1]
    for level in levels[1:]:
        for m in range(longest + 1):
            improved(np.where(place <= m, level, 0.0))
            improved(np.where(place > count - m, level, 0.0))
    for side in (0, 1):
        for _ in range(CLIMBS):
            steps = [
                improved(np.where(place == k, level, guesses[side])) for k in range(1, longest + 1) for level in levels
            ]
            if not any(steps):
                break
    return best[0], -best[1]
