"""Whom do users prefer? Clicks on interleaved lists, counted by user: what was shown to one user is one opinion.

A user's impressions are alike, so testing each by itself finds preferences where there are none, in one of three
experiments without a difference. Here users are what varies, and a test of impressions is not offered.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan, nan, sqrt
from typing import NamedTuple

import numpy as np

from cranfield.errors import DataError, UsageError, plural, share
from cranfield.online.interleaving.impressions import Impression, InterleavingLog
from cranfield.online.interleaving.method import NOBODY
from cranfield.statistics.corrections import find_correction
from cranfield.statistics.moments import Moments
from cranfield.statistics.ratios import Ratio
from cranfield.statistics.significance import Floats, Integers, Sampling, all_pairs

BROKEN = 0.001  # a team share less likely than this is no chance
FEW = 30  # users


class Tally(NamedTuple):
    """Two rankers: impressions that each won, users who preferred each, and by how much the first is preferred.

    `delta` is (wins + ties / 2) / impressions - 1/2, from -1/2 to 1/2; `error` is clustered by user, `low` and `high`
    are the interval that goes with the decision, `boot_low` and `boot_high` one over users drawn anew. `p` decides:
    of a t test clustered by user, or of the sign test over users where `by_sign` says that nothing varied; `adjusted`
    is corrected for all pairs.
    """

    first: str
    second: str
    wins: int
    losses: int
    ties: int
    users_first: int
    users_second: int
    users_even: int
    delta: float
    error: float
    low: float
    high: float
    boot_low: float
    boot_high: float
    p: float
    sign_p: float
    adjusted: float
    by_sign: bool

    def winner(self, alpha: float) -> str | None:
        """Who is preferred, if that can be told."""
        if isnan(self.adjusted) or self.adjusted >= alpha or not self.delta:
            return None
        return self.first if self.delta > 0 else self.second


class TeamShare(NamedTuple):
    """Whose documents stood at a rank, how often, and how likely such shares are if all teams are drawn fairly."""

    rank: int
    counts: tuple[int, ...]
    p: float


class RankerStanding(NamedTuple):
    """A ranker among several: how many others it is ahead of, and its place with an interval over users drawn anew."""

    ranker: str
    ahead: float
    place: int
    best: int
    worst: int


class UserPreferences(NamedTuple):
    """What interleaved lists and their clicks say. `broken` says why no result is given, if so; `warnings` are
    sentences that a reader of the result must know.
    """

    method: str
    rankers: tuple[str, ...]
    impressions: int
    clicked: int
    users: int
    alpha: float
    pairs: tuple[Tally, ...]
    order: tuple[RankerStanding, ...]
    shares: tuple[TeamShare, ...]
    broken: str | None
    warnings: tuple[str, ...]

    @property
    def verdict(self) -> str:
        """The result in a sentence."""
        if self.broken:
            return f"Data broken: {self.broken}. No result is given."
        first, more = self.pairs[0], len(self.rankers) > 2
        if not more:
            winner = first.winner(self.alpha)
            if winner is None:
                return f"Cannot tell yet whether users prefer {first.first} or {first.second}."
            return f"Users prefer {winner}{self._size(first, winner)}."
        found = [(pair, winner) for pair in self.pairs if (winner := pair.winner(self.alpha))]
        if not found:
            return f"Cannot tell yet which of {plural(len(self.rankers), 'ranker')} users prefer."
        champion = [
            ranker for ranker in self.rankers if sum(winner == ranker for _, winner in found) == len(self.rankers) - 1
        ]
        told = f"Users prefer {champion[0]} to all others" if champion else "Users prefer nobody to all others"
        return f"{told}; {len(found)} of {plural(len(self.pairs), 'pair')} can be told apart."

    def _size(self, pair: Tally, winner: str) -> str:
        won = pair.delta + 0.5 if winner == pair.first else 0.5 - pair.delta
        other = pair.second if winner == pair.first else pair.first
        return f" to {other}: {share(won, 1)} of impressions with clicks go to it, ties as halves"


def preferences(log: InterleavingLog, *, alpha: float = 0.05, seed: int = 0, resamples: int = 1000) -> UserPreferences:
    """Whom users prefer, by user.

    Impressions without a click that counts say nothing and are left out, with their number. Of several rankers all
    pairs are tested, corrected by Holm's method.

    >>> from cranfield.online.interleaving.impressions import read_interleaving
    >>> preferences(read_interleaving("examples/shown.jsonl", "examples/clicked.jsonl")).verdict
    'Users prefer dense to bm25: 67.1% of impressions with clicks go to it, ties as halves.'
    """
    if not 0 < alpha < 1:
        raise UsageError(f"alpha must be between 0 and 1, not {alpha:g}")
    pairs = all_pairs(len(log.rankers))
    users, table = _by_user(log, pairs)
    shares = team_shares(log)
    broken = _broken(shares, log.rankers)
    clicked = int(table[:, :, :].sum()) // max(len(pairs), 1)
    told = () if broken else _tallies(log.rankers, pairs, table, alpha, Sampling(seed=seed, resamples=resamples))
    order = _order(log.rankers, pairs, table, Sampling(seed=seed, resamples=resamples)) if told else ()
    warnings = (*_warnings(log, users, clicked), *log.problems)
    return UserPreferences(
        str(log.method), log.rankers, len(log.impressions), clicked, users, alpha, told, order, shares, broken, warnings
    )


def _by_user(log: InterleavingLog, pairs: Integers) -> tuple[int, Floats]:
    """counts[user, pair, (wins, losses, ties)] of impressions with clicks; users without any are not there."""
    method = log.method.made()
    places: dict[str, int] = {}
    rows: list[list[list[int]]] = []
    for one in log.impressions:
        if not one.slots:
            continue
        try:
            credit = method.credit(one.shown, one.slots)
        except UsageError as error:
            raise DataError(f"query '{one.query}': {error}") from None
        if not _counts(one, len(credit)):
            continue
        user = places.setdefault(one.user, len(places))
        if user == len(rows):
            rows.append([[0, 0, 0] for _ in pairs])
        for pair, (first, second) in enumerate(pairs):
            lead = float(credit[first] - credit[second])
            rows[user][pair][2 if abs(lead) < 1e-9 else 0 if lead > 0 else 1] += 1
    return len(places), np.array(rows, dtype=np.float64).reshape(len(rows), len(pairs), 3)


def _counts(one: Impression, rankers: int) -> bool:
    """Whether a click of it could count for somebody: not if all clicked documents are nobody's."""
    return not one.shown.teams or any(one.shown.teams[slot] != NOBODY for slot in one.slots)


def _tallies(
    rankers: Sequence[str], pairs: Integers, table: Floats, alpha: float, sampling: Sampling
) -> tuple[Tally, ...]:
    from scipy.stats import binomtest
    from scipy.stats import t as student

    won, count = table[:, :, 0] + table[:, :, 2] / 2, table.sum(axis=2)
    bootstrapped = _bootstrapped(won, count, sampling)
    found = []
    for pair, (first, second) in enumerate(pairs):
        wins, losses, ties = (int(number) for number in table[:, pair].sum(axis=0))
        lead = table[:, pair, 0] - table[:, pair, 1]
        ahead, behind, users = int((lead > 0).sum()), int((lead < 0).sum()), len(lead)
        value = Ratio("won", "shown").of(Moments.of({"won": won[:, pair], "shown": count[:, pair]}))
        error = sqrt(value.variance) if value.variance > 1e-24 else 0.0 if users > 1 else nan
        sign_p = float(binomtest(ahead, ahead + behind).pvalue) if ahead + behind else 1.0
        by_sign = not error > 0
        p = sign_p if by_sign else float(2 * student.sf(abs(value.value - 0.5) / error, users - 1))
        low, high = np.quantile(bootstrapped[:, pair], [alpha / 2, 1 - alpha / 2]) - 0.5 if users else (nan, nan)
        names = rankers[first], rankers[second]
        counted = wins, losses, ties, ahead, behind, users - ahead - behind
        delta = value.value - 0.5
        found.append(Tally(*names, *counted, delta, error, nan, nan, float(low), float(high), p, sign_p, nan, by_sign))
    holm = find_correction("holm")
    adjusted = holm(np.array([tally.p for tally in found]))
    level = holm.level(alpha, len(found), int((adjusted < alpha).sum()))
    told = []
    for tally, corrected in zip(found, adjusted.tolist(), strict=True):
        margin = nan if tally.by_sign else float(student.isf(level / 2, len(table) - 1)) * tally.error
        told.append(tally._replace(adjusted=corrected, low=tally.delta - margin, high=tally.delta + margin))
    return tuple(told)


def _bootstrapped(won: Floats, count: Floats, sampling: Sampling) -> Floats:
    """The share that each pair's first ranker won, for users drawn anew; users alike are drawn at once."""
    if not len(won):
        return np.zeros((0, won.shape[1]))
    rows, times = np.unique(np.hstack([won, count[:, :1]]), axis=0, return_counts=True)
    generator = np.random.default_rng(sampling.seed)
    drawn = generator.multinomial(len(won), times / times.sum(), size=sampling.resamples)
    totals = drawn @ rows
    return np.asarray(totals[:, :-1] / totals[:, -1:])


def _order(rankers: Sequence[str], pairs: Integers, table: Floats, sampling: Sampling) -> tuple[RankerStanding, ...]:
    """Rankers by how many others they are ahead of (Copeland), each with its places among users drawn anew."""
    if len(rankers) < 3 or not len(table):
        return ()
    won, count = table[:, :, 0] + table[:, :, 2] / 2, table.sum(axis=2)
    observed = _copeland((won.sum(axis=0) / count.sum(axis=0))[None, :], pairs, len(rankers))
    drawn = _places(_copeland(_bootstrapped(won, count, sampling), pairs, len(rankers)))
    places = _places(observed)[0]
    low, high = np.quantile(drawn, [0.025, 0.975], axis=0, method="nearest")
    return tuple(
        RankerStanding(rankers[i], float(observed[0, i]), int(places[i]), int(low[i]), int(high[i]))
        for i in np.argsort(places, kind="stable")
    )


def _copeland(shares: Floats, pairs: Integers, rankers: int) -> Floats:
    scores = np.zeros((len(shares), rankers))
    for pair, (first, second) in enumerate(pairs):
        lead = np.sign(np.round(shares[:, pair] - 0.5, 12))
        scores[:, first] += (lead + 1) / 2
        scores[:, second] += (1 - lead) / 2
    return scores


def _places(scores: Floats) -> Floats:
    return np.asarray((scores[:, None, :] > scores[:, :, None]).sum(axis=2) + 1)


def team_shares(log: InterleavingLog) -> tuple[TeamShare, ...]:
    """Whose documents stand at each rank. What one user was shown of the same documents again is counted once: seeded
    lists come back as they were.
    """
    from scipy.stats import chisquare

    seen: set[tuple[str, frozenset[str]]] = set()
    counts: list[list[int]] = []
    for one in log.impressions:
        key = one.user, frozenset(one.shown.docs)
        if not one.shown.teams or key in seen:
            continue
        seen.add(key)
        for slot, team in enumerate(one.shown.teams):
            if slot == len(counts):
                counts.append([0] * len(log.rankers))
            if team != NOBODY:
                counts[slot][team] += 1
    found = []
    for slot, of_teams in enumerate(counts):
        p = float(chisquare(of_teams).pvalue) if sum(of_teams) else nan
        found.append(TeamShare(slot + 1, tuple(of_teams), p))
    return tuple(found)


def _broken(shares: Sequence[TeamShare], rankers: Sequence[str]) -> str | None:
    """Why teams cannot have been drawn fairly, if so: at some rank, corrected for the number of ranks."""
    known = [found for found in shares if not isnan(found.p)]
    worst = min(known, key=lambda found: found.p, default=None)
    if worst is None or worst.p * len(known) >= BROKEN:
        return None
    whole = sum(worst.counts)
    told = ", ".join(f"{name} {share(count / whole, 1)}" for name, count in zip(rankers, worst.counts, strict=True))
    return (
        f"teams are not drawn evenly at rank {worst.rank}: {told} of {whole:,} (p = {worst.p * len(known):.2g}, "
        f"corrected for {plural(len(known), 'rank')}). Either lists are not made as logged, or some were lost"
    )


def _warnings(log: InterleavingLog, users: int, clicked: int) -> tuple[str, ...]:
    told = []
    silent = len(log.impressions) - clicked
    if silent:
        told.append(
            f"{plural(silent, 'impression')} of {len(log.impressions):,} had no click that counts: they are left out"
        )
    if log.method.name == "balanced":
        told.append("balanced interleaving is biased: clicks at random prefer one ranker (`cranfield online audit`)")
    if users < FEW:
        told.append(f"{plural(users, 'user')} with clicks: below {FEW}, tests clustered by user are rough")
    whole = [one for one in log.impressions if all(one.shown.rankings)]
    same = [_shared_prefix(one) for one in whole]
    alike = sum(prefix >= len(one.shown.docs) for prefix, one in zip(same, whole, strict=True))
    if alike:
        told.append(
            f"{plural(alike, 'impression')} of {len(whole):,} had the same list from all rankers: "
            "clicks on them are noise"
        )
    on_top = sum(slot < prefix for prefix, one in zip(same, whole, strict=True) for slot in one.slots)
    clicks = sum(len(one.slots) for one in whole)
    if on_top:
        told.append(
            f"{share(on_top / clicks)} of {plural(clicks, 'click')} were above where the rankings begin to differ: "
            "they tell nothing of who is better"
        )
    return tuple(told)


def _shared_prefix(one: Impression) -> int:
    """How many documents all rankings begin with alike."""
    columns = zip(*one.shown.rankings, strict=False)
    return next((rank for rank, docs in enumerate(columns) if len(set(docs)) > 1), min(map(len, one.shown.rankings)))
