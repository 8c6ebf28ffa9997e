"""Expected scores: the mean over what is not known, of the order of ties and of relevance.

Under ties="expected" every order of documents with equal scores is equally likely; under grades="probabilities" each
grade is the chance that a document is relevant, independent of the others. A measure that has a formula for the first
says so with `exact_ties`, one that is a weighted sum of what is relevant with `linear`; and a topic that could have
come out in no more ways than there are draws is gone through way by way (`tie_orders.py` has those of ties). Everything
else is drawn at random, the same draws of relevance for every run, and how far the mean may be off is told with the
result.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby

import numpy as np

from cranfield.evaluation.tie_orders import TieOrders
from cranfield.judged import Floats, Integers, Judged, Mask, Pool, arranged, trimmed
from cranfield.measures.registry import Measure
from cranfield.policy import Policy

EVERY_RANK = 2**62


def expected_scores(judged: Judged, measures: Sequence[Measure], policy: Policy) -> tuple[Floats, Floats]:
    """scores[measure, topic] of a whole ranking, and the standard error of each measure's mean: 0 where it is exact."""
    tied = policy.ties == "expected" and bool(np.any(judged.tie_size > 1))
    chances = judged.pool.grades
    uncertain = (chances > 0) & (chances < 1) & (policy.grades == "probabilities")
    scores, errors = np.zeros((len(measures), len(judged.topics))), np.zeros(len(measures))
    # A depth may cut through a tie group, which no formula here follows; but not where a measure looks less deep.
    deepest = EVERY_RANK if policy.depth is None else policy.depth
    reaches = [_reach(measure, policy) for measure in measures]
    by_formula = [
        (not tied or (measure.traits.exact_ties and (policy.depth is None or reach <= deepest)))
        and (not uncertain.any() or measure.traits.linear)
        for measure, reach in zip(measures, reaches, strict=True)
    ]
    exact = [i for i, known in enumerate(by_formula) if known]
    if exact:
        whole = replace(policy, depth=None)
        order = trimmed(replace(judged, expected=True), whole) if tied else arranged(judged, policy)
        wanted = [measures[i] for i in exact]
        scores[exact] = _by_likelihood(order, wanted) if uncertain.any() else _scores(_certain(order, policy), wanted)
    rest = sorted((min(reach, deepest), i) for i, reach in enumerate(reaches) if not by_formula[i])
    for reach, alike in groupby(rest, key=lambda pair: pair[0]):
        some = [i for _, i in alike]
        orders = TieOrders(judged, reach, uncertain, policy.samples) if tied else None
        scores[some], errors[some] = _by_drawing(judged, [measures[i] for i in some], policy, uncertain, orders)
    return scores, errors


def _reach(measure: Measure, policy: Policy) -> int:
    """The last rank that a measure looks at; in condensed lists that is none of the ranking's own."""
    if policy.judged_only or measure.parameters["judged_only"]:
        return EVERY_RANK
    return EVERY_RANK if measure.reach is None else measure.reach


def _scores(judged: Judged, measures: Sequence[Measure]) -> Floats:
    return np.array([measure.per_topic(judged) for measure in measures])


def _certain(judged: Judged, policy: Policy) -> Judged:
    """Grades that are chances of 0 and 1 alone are judgements; the highest grade is 1 even if nothing has it."""
    if policy.grades != "probabilities":
        return judged
    return replace(judged, pool=replace(judged.pool, max_grade=1.0))


def _by_likelihood(judged: Judged, measures: Sequence[Measure]) -> Floats:
    """Exact for a weighted sum of what is relevant: its mean depends on each chance alone.

    So documents may as well be relevant together, from the likeliest down: as many ways as a topic has different
    chances, each as likely as the step from its last chance to the next.
    """
    pool, topics = judged.pool, len(judged.topics)
    # The pool has the likeliest first, so it stays in order whichever of them are relevant.
    is_new = (np.diff(pool.grades, prepend=np.nan) != 0) | (pool.place == 1)
    level = np.cumsum(is_new) - np.concatenate(([0], np.cumsum(is_new)))[pool.offsets[pool.topic]]  # from 1
    chance = np.zeros((level.max(initial=0) + 2, topics))
    chance[0] = 1.0
    chance[level, pool.topic] = np.maximum(pool.grades, 0.0)  # a negative one says that nobody judged
    total = np.zeros((len(measures), topics))
    for last, step in enumerate(-np.diff(chance, axis=0)):
        if step.any():
            relevant = np.where(pool.grades < 0, pool.grades, level <= last)
            known = replace(pool, grades=relevant, max_grade=1.0)
            total += step * _scores(replace(judged, pool=known, grade=relevant[judged.row]), measures)
    return total


def _by_drawing(
    judged: Judged, measures: Sequence[Measure], policy: Policy, uncertain: Mask, orders: TieOrders | None
) -> tuple[Floats, Floats]:
    """Means over draws, and their standard errors; topics that have no more ways than there are draws are exact."""
    arrangements = np.ones(len(judged.topics)) if orders is None else orders.ways
    ways = arrangements * 2.0 ** np.minimum(judged.pool.total(uncertain), 1000)  # no double holds many more
    few = ways <= policy.samples
    turns = np.where(few, arrangements, 1).astype(np.int64)
    draws = np.zeros((policy.samples, len(measures), len(judged.topics)))
    scores = np.zeros(draws.shape[1:])
    rng = np.random.default_rng(policy.seed)
    worlds = _worlds(judged.pool, policy, uncertain, few, turns)
    for number, (draw, (relevant, likely)) in enumerate(zip(draws, worlds, strict=True)):
        order = arranged(judged, policy) if orders is None else orders.draw(number, rng, few)
        drawn = _certain(order.regraded(relevant) if uncertain.any() else order, policy)
        draw[:] = _scores(drawn if orders is None else trimmed(drawn, policy), measures)
        scores += likely / turns * (number < ways) * draw
        if few.all() and number + 1 >= ways.max(initial=1.0):
            return scores, np.zeros(len(measures))
    scores = np.where(few, scores, draws.mean(axis=0))
    below = [measure.denominators(judged) for measure in measures]
    means = [
        # The mean of an area under a curve of ratios is that of its points, and so is its error.
        [
            0.0 if measure.points else measure.aggregate(row, under)
            for measure, row, under in zip(measures, np.where(few, scores, draw), below, strict=True)
        ]
        for draw in draws
    ]
    errors = np.std(means, axis=0, ddof=1) / np.sqrt(policy.samples)
    return scores, np.where(np.ptp(means, axis=0) == 0, 0.0, errors)  # rounding is no error of sampling


def _worlds(pool: Pool, policy: Policy, uncertain: Mask, few: Mask, turns: Integers) -> Iterator[tuple[Floats, Floats]]:
    """What is relevant: in topics with few ways, every one of them and how likely it is; in others, what chance draws.

    The ways of a topic are numbered, and the digits of the number say which of its uncertain documents are relevant;
    each of them comes as many times in turn as the topic's ties have orders.
    """
    rng = np.random.default_rng((policy.seed, 1))  # not that of the orders, so that these are the same for every run
    before = np.concatenate(([0], np.cumsum(uncertain)))
    digit = np.clip(before[:-1] - before[pool.offsets[pool.topic]], 0, 62)
    for number in range(policy.samples):
        random = rng.random(len(pool.grades)) < pool.grades
        relevant = np.where(few[pool.topic], (number // turns[pool.topic] >> digit) & 1, random)
        chance = np.where(relevant, pool.grades, 1 - pool.grades)
        likely = np.ones(len(pool.topics))
        np.multiply.at(likely, pool.topic[uncertain], chance[uncertain])
        yield np.where(uncertain, relevant, pool.grades), likely
