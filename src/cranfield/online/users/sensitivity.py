"""How many users does a design need to find the better of two rankers? An A/B test and interleaving side by side."""

from __future__ import annotations

from dataclasses import replace
from math import inf, nan, sqrt
from typing import NamedTuple

import numpy as np

from cranfield.errors import UsageError
from cranfield.online.users.pages import check_two
from cranfield.online.users.simulating import UserSimulation
from cranfield.online.users.user_sums import METRICS, sums_of_users, votes_of_users
from cranfield.statistics.arms import critical_value
from cranfield.statistics.significance import Floats, Sampling

PREFERENCE = "preference"


class NeededUsers(NamedTuple):
    """A design with what it looks at: the effect of the second ranker, and how many users find it, with an interval
    over users drawn anew; `times` is how many times as many as interleaving needs.

    `impressions` are those of so many users. `high` is endless where the effect may as well be none or the other way
    round.
    """

    design: str
    metric: str
    effect: float
    error: float
    users: float
    low: float
    high: float
    impressions: float
    times: float
    times_low: float
    times_high: float

    @property
    def is_clear(self) -> bool:
        """Whether the simulated users were enough to say that there is an effect (5 %)."""
        return abs(self.effect) > 1.96 * self.error


class Rehearsal(NamedTuple):
    """What each design needs; `power` and `alpha` are those of one two-sided test, `simulated` the users of each."""

    names: tuple[str, ...]
    method: str
    power: float
    alpha: float
    simulated: int
    needed: tuple[NeededUsers, ...]

    @property
    def verdict(self) -> str:
        """The result in a sentence or two."""
        shown, best = self.needed[-1], min(self.needed[:-1], key=lambda one: one.users)
        if not shown.is_clear or not best.is_clear:
            return f"Cannot tell: {self.simulated:,} simulated users do not show a difference in both designs."
        winner, other = (self.names[int(one.effect > 0)] for one in (shown, best))
        if winner != other:
            return f"Interleaving prefers {winner}, an A/B test by {best.metric} {other}: they do not measure the same."
        size = f"{best.times:.3g} times as many users ({best.times_low:.3g} to {best.times_high:.3g}) as interleaving"
        if best.times_low <= 1 <= best.times_high:
            return (
                f"Both find {winner}. It cannot be told which needs fewer users: an A/B test by {best.metric} {size}."
            )
        return f"Both find {winner}. An A/B test, at best by {best.metric}, needs {size}."


def rehearse(
    simulation: UserSimulation, *, power: float = 0.8, alpha: float = 0.05, sampling: Sampling | None = None
) -> Rehearsal:
    """Simulates the same users in an A/B test and on interleaved lists, and says how many either would need.

    Users are what varies, as in the analysis: the numbers follow from effect and variance between users, by the delta
    method.

    >>> from cranfield import read_qrels, read_run
    >>> from cranfield.online.users import JudgedRankings, Population, UserModel
    >>> runs = [read_run("examples/bm25.run"), read_run("examples/dense.run")]
    >>> rankings = JudgedRankings.of(read_qrels("examples/qrels.txt"), runs, ["bm25", "dense"], depth=10)
    >>> found = rehearse(UserSimulation(rankings, UserModel(), Population(users=2000)))
    >>> [one.metric for one in found.needed]
    ['ctr', 'satisfied', 'rr_first', 'preference']
    """
    check_two(simulation.rankings.names)
    if not 0 < alpha < 1 or not 0 < power < 1:
        raise UsageError(f"power and alpha are between 0 and 1, not {power:g} and {alpha:g}")
    drawing = sampling or Sampling(resamples=1000)
    shift = (critical_value(inf, 1 - alpha / 2) + critical_value(inf, power)) ** 2
    rng = np.random.default_rng(drawing.seed)
    users = sums_of_users(replace(simulation, design="ab"))
    votes = votes_of_users(replace(simulation, design="interleaving"))
    arms = [users.arm == arm for arm in range(2)]
    weights = [_weights(rng, int(arm.sum()), drawing.resamples) for arm in arms]
    found: list[tuple[str, _Sized, float]] = []
    for name in METRICS:
        parts = [
            _ratio(users.sums[name][arm], users.queries[arm], weight) for arm, weight in zip(arms, weights, strict=True)
        ]
        effect, variance = parts[1].value - parts[0].value, 2 * (parts[0].variance + parts[1].variance)
        found.append((name, _Sized(effect, variance, shift), float(users.queries.mean())))
    drawn = _weights(rng, len(votes.queries), drawing.resamples)
    won = _ratio((votes.losses - votes.wins) / 2, votes.counted, drawn)
    found.append((PREFERENCE, _Sized(won.value, won.variance, shift), float(votes.queries.mean())))
    base = found[-1][1].users
    needed = tuple(_needed(name, sized, queries, base, len(votes.queries)) for name, sized, queries in found)
    names, method = simulation.rankings.names, simulation.method
    return Rehearsal(names, method, power, alpha, simulation.population.users, needed)


class _Ratios(NamedTuple):
    """A ratio over users and the variance of what a user adds to it: of all users first, then of each resample."""

    value: Floats
    variance: Floats


class _Sized:
    """Users needed for an effect with this variance a user: of all users first, then of each resample."""

    def __init__(self, effect: Floats, variance: Floats, shift: float) -> None:
        self.effect, self.variance = effect, variance
        with np.errstate(divide="ignore", invalid="ignore"):
            self.users = np.where(effect != 0, shift * variance / effect**2, inf)
        # Where a resample has the effect on the other side, no number of users finds the one that was seen.
        self.users[1:][np.sign(effect[1:]) != np.sign(effect[0])] = inf


def _weights(rng: np.random.Generator, users: int, resamples: int) -> Floats:
    """How often each user counts: once, and then in each resample as often as it is drawn (Poisson)."""
    if not users:
        raise UsageError("an arm has no users: simulate more")
    return np.vstack([np.ones(users), rng.poisson(1.0, (resamples, users))])


def _ratio(above: Floats, below: Floats, weights: Floats) -> _Ratios:
    columns = np.stack([np.ones_like(above), above, below, above * above, above * below, below * below], axis=1)
    count, c, n, cc, cn, nn = (weights @ columns).T
    with np.errstate(divide="ignore", invalid="ignore"):
        value = c / n
        squares = cc - 2 * value * cn + value**2 * nn
        return _Ratios(value, squares / (count - 1) / (n / count) ** 2)


def _needed(name: str, sized: _Sized, queries: float, base: Floats, simulated: int) -> NeededUsers:
    users = sized.users
    low, high = _quantiles(users[1:])
    with np.errstate(divide="ignore", invalid="ignore"):
        times = np.where(np.isinf(users) & np.isinf(base), nan, users / base)
    times_low, times_high = _quantiles(times[1:])
    design = "interleaving" if name == PREFERENCE else "A/B test"
    error = sqrt(float(sized.variance[0]) / simulated)
    size = float(users[0])
    effect = float(sized.effect[0])
    return NeededUsers(
        design, name, effect, error, size, low, high, size * queries, float(times[0]), times_low, times_high
    )


def _quantiles(values: Floats) -> tuple[float, float]:
    """The middle 95 %, by the values themselves: between a number and an endless one there is none."""
    known = np.sort(values[~np.isnan(values)])
    if not len(known):
        return nan, nan
    places = np.quantile(np.arange(len(known)), [0.025, 0.975], method="nearest").astype(int)
    return float(known[places[0]]), float(known[places[1]])
