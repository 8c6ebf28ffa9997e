"""When users come and what they ask: sessions of users, queries of sessions, topics of queries."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cranfield.judged import Mask
from cranfield.online.users.user_models import Population
from cranfield.statistics.significance import Floats, Integers

DAY = 86_400
BOT_QUERIES = 30.0  # of a bot's session, on average; it has one every day
# How busy each hour of a day is: little at night, most at noon and in the evening.
HOURS = (1, 1, 1, 1, 1, 2, 3, 5, 8, 9, 9, 10, 10, 9, 9, 9, 8, 8, 9, 10, 9, 7, 4, 2)


class Queries(NamedTuple):
    """Queries in the order of their users and sessions: whose each is, the number of its session among those of the
    user and its own in the session, when the session began (seconds after the start), the topic, and whether a machine
    asks.
    """

    user: Integers
    session: Integers
    number: Integers
    began: Floats
    topic: Integers
    bot: Mask

    @property
    def opens(self) -> Mask:
        """Which are the first of their sessions."""
        return np.asarray(self.number == 0)


def arrivals(population: Population, users: range, topics: int, rng: np.random.Generator) -> Queries:
    """The queries of some of the users.

    >>> found = arrivals(Population(users=5), range(5), 3, np.random.default_rng(1))
    >>> sorted(set(found.user.tolist())), bool((found.topic < 3).all())
    ([0, 1, 2, 3, 4], True)
    """
    count = len(users)
    is_bot = rng.random(count) < population.bots
    sessions = np.where(is_bot, population.days, _sessions(population, count, rng))
    owner = np.repeat(np.arange(count), sessions)
    began = _times(population, len(owner), rng)
    by_day = np.arange(len(owner)) - np.repeat(np.cumsum(sessions) - sessions, sessions)
    began = np.where(is_bot[owner], by_day * DAY + began % DAY, began)
    order = np.lexsort((began, owner))  # a user's sessions one after the other
    began = began[order]
    mean = np.where(is_bot[owner], BOT_QUERIES, population.queries)
    queries = np.minimum(rng.geometric(1 / mean), 100)
    of_session = np.repeat(np.arange(len(owner)), queries)
    number = np.arange(len(of_session)) - np.repeat(np.cumsum(queries) - queries, queries)
    weights = 1 / np.arange(1, topics + 1) ** population.popularity
    topic = rng.choice(topics, size=len(of_session), p=weights / weights.sum())
    user = owner[of_session]
    return Queries(user + users.start, by_day[of_session], number, began[of_session], topic, is_bot[user])


def _sessions(population: Population, count: int, rng: np.random.Generator) -> Integers:
    most = population.most_sessions
    if population.activity == "geometric":
        return np.asarray(np.minimum(rng.geometric(1 / population.sessions, count), most))
    shares = zipf_shares(population.sessions, most)
    return np.asarray(rng.choice(most, size=count, p=shares) + 1)


def zipf_shares(mean: float, most: int) -> Floats:
    """Shares of users with 1, 2, … sessions that fall as a power of their number, with this mean.

    >>> shares = zipf_shares(3.0, 140)
    >>> round(float(shares @ np.arange(1, 141)), 6), bool((np.diff(shares) < 0).all())
    (3.0, True)
    """
    from scipy.optimize import brentq

    numbers = np.arange(1, most + 1, dtype=np.float64)

    def shares(exponent: float) -> Floats:
        powers = numbers**-exponent
        return np.asarray(powers / powers.sum())

    if mean <= 1 or most == 1:
        return np.asarray(np.eye(1, most)[0])
    exponent = brentq(lambda power: float(shares(power) @ numbers) - mean, -50.0, 50.0)
    return shares(float(exponent))


def _times(population: Population, count: int, rng: np.random.Generator) -> Floats:
    """Seconds after the start at which sessions begin: any day, at hours by how busy they are."""
    weights = np.array(HOURS, dtype=np.float64)
    day = rng.integers(0, population.days, count)
    hour = rng.choice(len(HOURS), size=count, p=weights / weights.sum())
    return np.asarray(day * DAY + hour * 3600 + rng.random(count) * 3600)


def within_sessions(lengths: Floats, opens: Mask) -> Floats:
    """Seconds from the beginning of each session to each of its queries, of how long each takes.

    >>> within_sessions(np.array([10.0, 5.0, 7.0, 1.0]), np.array([True, False, True, False]))
    array([ 0., 10.,  0.,  7.])
    """
    before = np.cumsum(lengths) - lengths
    starts = np.flatnonzero(opens)
    sizes: NDArray[np.int64] = np.diff(np.append(starts, len(lengths)))
    return np.asarray(before - np.repeat(before[starts], sizes))
