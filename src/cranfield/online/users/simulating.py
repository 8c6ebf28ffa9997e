"""Simulated users search: everything they see and do, block after block, from one seed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from cranfield.errors import UsageError, either
from cranfield.judged import Mask
from cranfield.online.assignment import assigned_arm
from cranfield.online.interleaving.method import find_interleaver
from cranfield.online.users.arrivals import DAY, Queries, arrivals, within_sessions
from cranfield.online.users.behaviours import ClickTable
from cranfield.online.users.browsing import Browsed, browse
from cranfield.online.users.hashed_chance import normal
from cranfield.online.users.pages import InterleavedPages, JudgedRankings, PageArrays, PagesByArm
from cranfield.online.users.user_models import Population, UserModel
from cranfield.statistics.significance import Floats, Integers

Design: TypeAlias = Literal["ab", "interleaving"]
AT_ONCE = 10_000  # users that are simulated together
_TASTE, _LEANING = 1, 2  # streams of chance that belong to a user
USUAL_USERS, USUAL_POPULATION = UserModel(), Population()
_BOT = ClickTable((0.5, 0.5), (0.0, 0.0))


class SearchedBlock(NamedTuple):
    """What a block of users did. Row by row: the query, when it was asked (seconds after the start), the arm of its
    user (-1 if there are none), the number of the list that was shown, what was done on it, and milliseconds waited.
    """

    queries: Queries
    asked: Floats
    arm: Integers
    shown: Integers
    browsed: Browsed
    latency: Floats


@dataclass(frozen=True, eq=False)
class UserSimulation:
    """Users of a population who search by a model, in an A/B test of two rankers or on interleaved lists.

    >>> from cranfield import read_qrels, read_run
    >>> runs = [read_run({"q": {"a": 2.0, "b": 1.0}}), read_run({"q": {"b": 2.0, "a": 1.0}})]
    >>> rankings = JudgedRankings.of(read_qrels({"q": {"a": 1}}), runs, ["old", "new"], depth=10)
    >>> block = next(UserSimulation(rankings, UserModel("perfect"), Population(users=100)).blocks())
    >>> int(block.browsed.clicked.sum()) == len(block.shown)
    True
    """

    rankings: JudgedRankings
    model: UserModel = USUAL_USERS
    population: Population = USUAL_POPULATION
    design: Design = "ab"
    method: str = "team-draft"

    def __post_init__(self) -> None:
        if self.design not in get_args(Design):
            raise UsageError(f"a design is {either(get_args(Design))}, not '{self.design}'")

    @cached_property
    def pages(self) -> PagesByArm | InterleavedPages:
        """The lists that can be shown."""
        if self.design == "ab":
            return PagesByArm(self.rankings, self.model.depth)
        method = find_interleaver(self.method)
        return InterleavedPages(self.rankings, self.model.depth, method, self.population.seed)

    @property
    def salt(self) -> str:
        """The salt by which users are assigned to arms."""
        return f"simulated-{self.population.seed}"

    @property
    def arms(self) -> dict[str, float]:
        """The weights of the arms, all the same."""
        return dict.fromkeys(self.rankings.names, 1.0)

    def blocks(self) -> Iterator[SearchedBlock]:
        """All users, so many at a time; the same seed gives the same."""
        for number, start in enumerate(range(0, self.population.users, AT_ONCE)):
            users = range(start, min(start + AT_ONCE, self.population.users))
            yield self._block(users, np.random.default_rng([self.population.seed, number]))

    def _block(self, users: range, rng: np.random.Generator) -> SearchedBlock:
        queries = arrivals(self.population, users, len(self.rankings.asked), rng)
        arm = self._arms(users)[queries.user - users.start]
        shown = self.pages.shown(queries.user, queries.topic, arm)
        browsed = self._browsed(queries, shown, rng)
        latency = rng.lognormal(np.log(120.0), 0.4, len(shown)).round(1)
        lengths = self.model.costs.query + latency / 1000 + browsed.seconds
        asked = queries.began + within_sessions(lengths, queries.opens)
        found = SearchedBlock(queries, asked, arm, shown, browsed, latency)
        return _chosen(found, asked < self.population.days * DAY)

    def _arms(self, users: range) -> Integers:
        if self.design != "ab":
            return np.full(len(users), -1)
        places = {arm: place for place, arm in enumerate(self.arms)}
        return np.array([places[str(assigned_arm(f"u{user}", self.salt, self.arms))] for user in users])

    def _browsed(self, queries: Queries, shown: Integers, rng: np.random.Generator) -> Browsed:
        lists = self.arrays()
        relevance = lists.relevance[shown]
        seed, model = self.population.seed, self.model
        effects = np.zeros_like(relevance)
        if model.taste:
            effects += model.taste * normal(seed, _TASTE, queries.user)[:, None]
        if model.leaning:
            effects += model.leaning * normal(seed, _LEANING, queries.user[:, None], lists.docs[shown])
        people = browse(model, model.table(self.rankings.top), relevance, effects, rng)
        if not queries.bot.any():
            return people
        machines = browse(_machine(model.depth), _BOT, relevance, np.zeros_like(relevance), rng)
        return Browsed(
            *(
                np.where(queries.bot[:, None] if of_bot.ndim > 1 else queries.bot, of_bot, own)
                for own, of_bot in zip(people, machines, strict=True)
            )
        )

    def arrays(self) -> PageArrays:
        """All lists so far."""
        return self._cache.of(self.pages)

    @cached_property
    def _cache(self) -> _ArrayCache:
        return _ArrayCache()


class _ArrayCache:
    """The arrays of lists, which are made for those that are new."""

    def __init__(self) -> None:
        self.known: PageArrays | None = None

    def of(self, pages: PagesByArm | InterleavedPages) -> PageArrays:
        start = 0 if self.known is None else len(self.known.docs)
        if self.known is None or start < len(pages.book.lists):
            added = pages.book.arrays(start)
            if self.known is not None:
                parts = zip(self.known, added, strict=True)
                added = PageArrays(*(np.concatenate(pair) for pair in parts))
            self.known = added
        return self.known


def _machine(depth: int) -> UserModel:
    from cranfield.online.users.user_models import ActionCosts

    costs = ActionCosts(query=0.5, snippet=0.1, irrelevant=0.5, relevant=0.5, spread=0.1)
    return UserModel("random", depth=depth, taste=0.0, costs=costs)


def _chosen(found: SearchedBlock, rows: Mask) -> SearchedBlock:
    """What was asked before the end; an experiment that is over logs nothing more."""
    if rows.all():
        return found
    queries = Queries(*(column[rows] for column in found.queries))  # type: ignore[arg-type]
    browsed = Browsed(*(column[rows] for column in found.browsed))  # type: ignore[arg-type]
    return SearchedBlock(queries, found.asked[rows], found.arm[rows], found.shown[rows], browsed, found.latency[rows])
