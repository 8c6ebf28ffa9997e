"""Models in which users go down the page from its top, and stop where they like."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cranfield._core import chain_counts
from cranfield.judged import Floats
from cranfield.online.clicks.click_models import Behaviour, ClickTraining, Convergence, Prior, arrays, click_model
from cranfield.online.clicks.climbing import climb
from cranfield.registry import Parameter, is_number
from cranfield.tables import thread_count


class _Chain(NamedTuple):
    attraction: Floats
    satisfaction: Floats
    onward: float
    examined: Floats


@click_model(title="cascade model", several=False, aliases=("cascade",))
def CM(training: ClickTraining) -> Behaviour:
    """Users go down the page, click the first document that attracts them, and leave.

    It has no chance for a second click: pages are taken down to their first one. The estimate is a closed form, the
    share of clicks among the times a document stood no lower than the first click.

    Formula: P(C_r | no click above) = α(q, d_r); P(C_r | a click above) = 0
    Reference: Craswell, Zoeter, Taylor and Ramsey, "An experimental comparison of click position-bias models", 2008.
    """
    log, weight = training.log, training.weight
    size = np.diff(log.offsets)
    first, page = size.copy(), np.repeat(np.arange(log.pages), size)
    np.minimum.at(first, page[log.clicked], log.rank[log.clicked])
    seen = log.rank <= first[page]
    examined = log.per_pair(seen, weight)
    attraction = training.prior.estimate(log.per_pair(log.clicked & seen, weight), examined)
    return Behaviour(attraction, np.ones(len(examined)), examined, Convergence())


@click_model(title="simplified dynamic Bayesian network", satisfies=True)
def SDBN(training: ClickTraining) -> Behaviour:
    """Users go down the page until one of the documents that they click satisfies them.

    Whoever clicked is taken to have been satisfied by the last click, and to have looked at nothing below it; whoever
    did not, to have looked at all. So there is a closed form: attraction is clicks among the times a document stood no
    lower than the last click, satisfaction is last clicks among clicks. That is not what makes clicks likeliest under
    gamma = 1, where users may leave a page unsatisfied at its end: DBN(gamma=1) is.

    Formula: DBN with γ = 1
    Reference: Chapelle and Zhang, "A dynamic Bayesian network click model for web search ranking", 2009.
    """
    log, weight, prior = training.log, training.weight, training.prior
    size = np.diff(log.offsets)
    last = np.where(log.last_click < 0, size, log.last_click)[np.repeat(np.arange(log.pages), size)]
    clicks = log.per_pair(log.clicked, weight)
    examined = log.per_pair(log.rank <= last, weight)
    satisfied = log.per_pair(log.clicked & (log.rank == last), weight)
    return Behaviour(prior.estimate(clicks, examined), prior.estimate(satisfied, clicks), examined, Convergence())


@click_model(
    title="dynamic Bayesian network",
    satisfies=True,
    gamma=Parameter(
        "chance to go on where not satisfied; None estimates it",
        "None or a number above 0, up to 1",
        lambda value: value is None or (is_number(value) and 0 < value <= 1),
    ),
)
def DBN(training: ClickTraining, *, gamma: float | None = None) -> Behaviour:
    """Users go down the page, click what attracts them, leave if a click satisfies them, and may give up at any rank.

    A document is worth its attraction times its satisfaction: the chance to be clicked where it is examined, and then
    to end the search.

    Formula: P(C_r | E_r) = α(q, d_r); P(S_r | C_r) = σ(q, d_r); P(E_{r+1} | E_r, not S_r) = γ, else 0; E_1 = 1
    Reference: Chapelle and Zhang, "A dynamic Bayesian network click model for web search ranking", 2009.
    """
    return _climbed(training, gamma, by_rank=False)


@click_model(title="dependent click model")
def DCM(training: ClickTraining) -> Behaviour:
    """Users go down the page, click what attracts them, and after a click go on with a chance that is that of its rank.

    Formula: P(C_r | E_r) = α(q, d_r); P(E_{r+1} | C_r) = λ_r; P(E_{r+1} | E_r, no click) = 1; E_1 = 1
    Reference: Guo, Liu and Wang, "Efficient multiple-click models in web search", 2009.
    """
    return _climbed(training, 1.0, by_rank=True)


def _climbed(training: ClickTraining, gamma: float | None, *, by_rank: bool) -> Behaviour:
    """A chain by expectation and maximisation; satisfaction is that of pairs or that of ranks."""
    log, weight, prior = training.log, training.weight, training.prior
    clicks = log.per_pair(log.clicked, weight)
    trials = log.per_rank(log.clicked, weight) if by_rank else clicks
    given, threads = arrays(log, weight), thread_count(training.threads)

    def step(now: _Chain) -> tuple[_Chain, float]:
        examined, satisfied, onward, choices, objective = chain_counts(
            *given, now.attraction, now.satisfaction, by_rank, now.onward, threads
        )
        objective += prior.log_density(now.attraction) + prior.log_density(now.satisfaction)
        going = now.onward
        if gamma is None:
            objective += prior.log_density(np.array([now.onward]))
            going = float(prior.estimate(np.array([onward]), np.array([choices]))[0])
        following = _Chain(prior.estimate(clicks, examined), prior.estimate(satisfied, trials), going, examined)
        return following, objective

    reached, convergence = climb(_start(training, gamma, by_rank=by_rank), step, training)
    return Behaviour(
        attraction=reached.attraction,
        satisfaction=reached.satisfaction,
        examined=reached.examined,
        convergence=convergence,
        onward=reached.onward,
        by_rank=by_rank,
    )


def _start(training: ClickTraining, gamma: float | None, *, by_rank: bool) -> _Chain:
    """Where to begin: a fit that is there already, or the closed form, kept off 0 and 1, which no step would leave."""
    known = training.start
    if known is not None:
        return _Chain(known.attraction, known.satisfaction, known.onward, known.examined)
    simple = SDBN(training._replace(prior=Prior(max(training.prior.yes, 0.5), max(training.prior.no, 0.5))))
    satisfaction = np.full(training.log.ranks, 0.5) if by_rank else simple.satisfaction
    return _Chain(simple.attraction, satisfaction, 0.9 if gamma is None else gamma, simple.examined)
