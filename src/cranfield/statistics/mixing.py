"""Orderings of systems when it is left to chance whose judgements each topic has."""

from __future__ import annotations

import numpy as np

from cranfield.statistics.coefficients import Coefficient
from cranfield.statistics.orderings import DECIMALS
from cranfield.statistics.resampled import Estimate, percentile_estimate
from cranfield.statistics.significance import Floats, Sampling


def mixed_agreement(coefficient: Coefficient, scores: Floats, sampling: Sampling) -> Estimate:
    """A coefficient between orderings under two mixes of scores[judge, system, topic]: mean and middle 95% of pairs.

    Each mix draws a judge for every topic (Voorhees, "Variations in relevance judgments and the measurement of
    retrieval effectiveness", 2000).

    >>> from cranfield.statistics.coefficients import find_coefficient
    >>> scores = np.array([[[0.9, 0.8], [0.1, 0.2]], [[0.7, 0.9], [0.3, 0.2]]])
    >>> mixed_agreement(find_coefficient("kendall"), scores, Sampling(resamples=50))
    Estimate(value=1.0, low=1.0, high=1.0, undefined=0)
    """
    judges, _, topics = scores.shape
    drawn = np.random.default_rng(sampling.seed).integers(judges, size=(sampling.resamples, 2, topics))
    of_topic = np.moveaxis(scores, 2, 0)  # topic, judge, system
    mixes = np.round(of_topic[np.arange(topics), drawn].mean(axis=2), DECIMALS)
    values = np.array([coefficient(first, second) for first, second in mixes])
    defined = values[~np.isnan(values)]
    return percentile_estimate(float(defined.mean()) if len(defined) else float("nan"), values)
