"""What simulated users add up to, without a log on disk: sums of metrics in an A/B test, wins on interleaved lists."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from cranfield.judged import Mask
from cranfield.online.interleaving.method import NOBODY, find_interleaver
from cranfield.online.users.browsing import Browsed
from cranfield.online.users.pages import PageBook
from cranfield.online.users.simulating import UserSimulation
from cranfield.statistics.significance import Floats, Integers

SATISFIED = 30.0  # seconds of reading
METRICS = ("ctr", "satisfied", "rr_first")  # as `online analyse` has them


class UserSums(NamedTuple):
    """Users of an A/B test: the arm of each, its queries, and the sum of each metric over them."""

    arm: Integers
    queries: Floats
    sums: dict[str, Floats]


class UserVotes(NamedTuple):
    """Users of interleaved lists: queries, and of those with clicks that count how many each ranker won, or neither."""

    queries: Floats
    wins: Floats
    losses: Floats
    ties: Floats

    @property
    def counted(self) -> Floats:
        """Impressions with clicks that count."""
        return np.asarray(self.wins + self.losses + self.ties)


def page_values(browsed: Browsed) -> dict[str, Floats]:
    """Each metric of each page: a click, a click that was read for 30 seconds, the reciprocal rank of the first click.

    Users of the simulation go down the page, so that the first click is the highest.
    """
    clicked = browsed.clicked
    any_click = clicked.any(axis=1)
    first = np.asarray(np.where(any_click, 1 / (clicked.argmax(axis=1) + 1), 0.0), dtype=np.float64)
    satisfied = (clicked & (browsed.dwell.round(2) >= SATISFIED)).any(axis=1)
    shares = (np.asarray(share, dtype=np.float64) for share in (any_click, satisfied))
    return dict(zip(METRICS, (*shares, first), strict=True))


def sums_of_users(simulation: UserSimulation) -> UserSums:
    """The sums of all users of an A/B test; bots are left out, as an analysis does."""
    arms, queries, sums = [], [], {name: list[Floats]() for name in METRICS}
    for block in simulation.blocks():
        people = ~block.queries.bot
        _, first, place = np.unique(block.queries.user[people], return_index=True, return_inverse=True)
        arms.append(block.arm[people][first])
        queries.append(np.bincount(place).astype(np.float64))
        for name, values in page_values(block.browsed).items():
            sums[name].append(np.asarray(np.bincount(place, values[people]), dtype=np.float64))
    joined = {name: np.concatenate(parts) for name, parts in sums.items()}
    return UserSums(np.concatenate(arms), np.concatenate(queries), joined)


def votes_of_users(simulation: UserSimulation) -> UserVotes:
    """Wins, losses and ties of the first ranker, by user, as the method gives credit."""
    parts = []
    credit = PageCredit(simulation.method, simulation.pages.book)
    for block in simulation.blocks():
        people = ~block.queries.bot
        _, place = np.unique(block.queries.user[people], return_inverse=True)
        lead = credit.leads(block.shown[people], block.browsed.clicked[people])
        counts = [np.bincount(place, lead == side, minlength=int(place.max(initial=-1)) + 1) for side in (1, -1, 0)]
        parts.append(np.stack([np.bincount(place).astype(np.float64), *counts]))
    return UserVotes(*np.concatenate(parts, axis=1))


class PageCredit:
    """Who wins pages with clicks: the credit of a list with the same clicks is computed once."""

    def __init__(self, method: str, book: PageBook) -> None:
        self.book, self.method = book, find_interleaver(method).made()
        self.known: dict[tuple[int, int], int] = {}

    def leads(self, shown: Integers, clicked: Mask) -> Integers:
        """1 where the first ranker is ahead, -1 where the second is, 0 for ties, 2 where no click counts."""
        bits = clicked @ (1 << np.arange(clicked.shape[1], dtype=np.int64))
        pairs, back = np.unique(np.stack([shown, bits], axis=1), axis=0, return_inverse=True)
        leads = np.array([self._lead(number, clicks) for number, clicks in pairs.tolist()])
        return np.asarray(leads[back.ravel()])

    def _lead(self, number: int, clicks: int) -> int:
        key = number, clicks
        if key not in self.known:
            shown = self.book.lists[number]
            slots = [slot for slot in range(len(shown.docs)) if clicks >> slot & 1]
            self.known[key] = self._credited(shown.teams, self.method.credit(shown, slots), slots) if slots else 2
        return self.known[key]

    def _credited(self, teams: Sequence[int], credit: Sequence[object], slots: Sequence[int]) -> int:
        if teams and all(teams[slot] == NOBODY for slot in slots):
            return 2
        lead = float(credit[0]) - float(credit[1])  # type: ignore[arg-type]
        return 0 if abs(lead) < 1e-9 else 1 if lead > 0 else -1
