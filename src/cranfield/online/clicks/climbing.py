"""Expectation and maximisation: steps that never lower what is maximised."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np

from cranfield.online.clicks.click_models import ClickTraining, Convergence

State = TypeVar("State")


def climb(
    start: State, step: Callable[[State], tuple[State, float]], training: ClickTraining
) -> tuple[State, Convergence]:
    """Steps from `start` until the objective rises no more; `step` gives the next state and the objective of this one.

    The state that is given back is the one of the last objective.

    >>> from cranfield.online.clicks.impressions import Impression, click_log
    >>> log = click_log([Impression("q", ["a"])])
    >>> training = ClickTraining(log, np.ones(1), tolerance=0.01)
    >>> halved, convergence = climb(1.0, lambda x: (x / 2, -x), training)
    >>> halved, convergence.steps, convergence.converged
    (0.0078125, 7, True)
    """
    pages = max(float(training.weight.sum()), 1.0)
    state, objectives = start, list[float]()
    for _ in range(training.most + 1):
        following, objective = step(state)
        objectives.append(objective)
        rise = objective - objectives[-2] if len(objectives) > 1 else np.inf
        # Where the prior is 0, parameters may be 0 or 1 and the first objective without bound.
        if not rise >= training.tolerance * pages:
            return state, Convergence(tuple(objectives), True)
        state, last = following, state
    return last, Convergence(tuple(objectives), False)
