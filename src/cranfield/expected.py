"""Scores under ties="expected": the mean over all orders of documents with equal scores.

A measure that is a sum over hits, or has a formula for its expectation (McSherry and Najork 2008), says so with
`exact_ties`. The others are evaluated on random orders, and how far the mean may be off is told with the result.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from cranfield.judged import Floats, Judged, trimmed
from cranfield.measures.registry import Measure
from cranfield.policy import Policy


def expected_scores(judged: Judged, measures: Sequence[Measure], policy: Policy) -> tuple[Floats, Floats]:
    """scores[measure, topic] of a whole ranking, and the standard error of each measure's mean: 0 where it is exact."""
    if np.all(judged.tie_size == 1):  # there is one order
        order = trimmed(judged, policy)
        return np.array([measure.per_topic(order) for measure in measures]), np.zeros(len(measures))
    scores = np.zeros((len(measures), len(judged.topics)))
    errors = np.zeros(len(measures))
    # A depth may cut through a tie group, which no formula here follows.
    exact = [policy.depth is None and measure.definition.exact_ties for measure in measures]
    if any(exact):
        orders = trimmed(replace(judged, expected=True), policy)
        for i, measure in enumerate(measures):
            if exact[i]:
                scores[i] = measure.per_topic(orders)
    sampled = [i for i, known in enumerate(exact) if not known]
    if sampled:
        rng = np.random.default_rng(policy.seed)
        draws = np.zeros((policy.samples, len(sampled), len(judged.topics)))
        for draw in draws:
            order = trimmed(judged.shuffled(rng), policy)
            draw[:] = [measures[i].per_topic(order) for i in sampled]
        scores[sampled] = draws.mean(axis=0)
        means = np.array([[measures[i].aggregate(row) for i, row in zip(sampled, draw, strict=True)] for draw in draws])
        errors[sampled] = means.std(axis=0, ddof=1) / np.sqrt(policy.samples)
    return scores, errors
