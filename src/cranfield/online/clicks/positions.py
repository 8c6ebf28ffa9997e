"""Models in which every rank is examined or not, whatever is clicked above."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cranfield._core import position_counts
from cranfield.judged import Floats
from cranfield.online.clicks.click_models import Behaviour, ClickTraining, arrays, click_model
from cranfield.online.clicks.climbing import climb
from cranfield.tables import thread_count


class _Positions(NamedTuple):
    attraction: Floats
    examination: Floats
    examined: Floats


@click_model(title="position-based model")
def PBM(training: ClickTraining) -> Behaviour:
    """Users examine each rank with a chance of its own, and click what they examine and what attracts them.

    Rank 1 is always examined: examination twice as high and attraction half as high would tell the same of clicks.

    Formula: P(C_r) = θ_r α(q, d_r), θ_1 = 1
    Reference: Richardson, Dominowska and Ragno, "Predicting clicks", WWW 2007.
    """
    log, weight, prior = training.log, training.weight, training.prior
    every = np.ones(len(log.pair), dtype=bool)
    clicks, shown = log.per_pair(log.clicked, weight), log.per_rank(every, weight)
    given, threads = arrays(log, weight), thread_count(training.threads)

    def step(now: _Positions) -> tuple[_Positions, float]:
        examined, at_rank, likelihood = position_counts(*given, now.attraction, now.examination, threads)
        examination = prior.estimate(at_rank, shown)
        examination[:1] = 1.0
        objective = likelihood + prior.log_density(now.attraction) + prior.log_density(now.examination[1:])
        return _Positions(prior.estimate(clicks, examined), examination, examined), objective

    seen = log.per_pair(every, weight)
    start = _Positions(prior.estimate(clicks, seen), np.linspace(1.0, 0.5, log.ranks), seen)
    if training.start is not None and training.start.examination is not None:
        start = _Positions(training.start.attraction, training.start.examination, training.start.examined)
    reached, convergence = climb(start, step, training)
    return Behaviour(
        attraction=reached.attraction,
        satisfaction=np.zeros(len(clicks)),
        examined=reached.examined,
        convergence=convergence,
        examination=reached.examination,
    )
