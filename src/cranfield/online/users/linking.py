"""Offline to online: does a difference in a measure foretell the difference that users make?"""

from __future__ import annotations

from math import nan
from typing import NamedTuple

import numpy as np

from cranfield.errors import UsageError
from cranfield.judged import Mask
from cranfield.online.interleaving.method import find_interleaver
from cranfield.online.users.browsing import Browsed, browse
from cranfield.online.users.pages import InterleavedPages, JudgedRankings, PageArrays, PagesByArm
from cranfield.online.users.user_models import UserModel
from cranfield.online.users.user_sums import METRICS, PageCredit, page_values
from cranfield.statistics.significance import Floats, Integers, Sampling, all_pairs

PREFERENCE = "preference"


class MetricLink(NamedTuple):
    """How what users do follows the measure, for one online metric, over all pairs of systems.

    `correlation` is that of differences by topic, with no difference as its origin, so that it is the same whichever
    of a pair comes first; `slope` is the difference online for a difference of 1 offline; `agreeing` is the share of
    pairs whose means over topics differ in the same direction, of those that differ. Each has an interval over topics
    drawn anew.
    """

    metric: str
    correlation: float
    correlation_low: float
    correlation_high: float
    slope: float
    slope_low: float
    slope_high: float
    agreeing: float
    agreeing_low: float
    agreeing_high: float


class SystemLink(NamedTuple):
    """A system: the mean of the measure, and of what users do."""

    name: str
    offline: float
    online: tuple[float, ...]


class OfflineOnline(NamedTuple):
    """Links of all metrics, and what they are made of."""

    measure: str
    users: str
    method: str
    topics: int
    pairs: int
    impressions: int
    systems: tuple[SystemLink, ...]
    links: tuple[MetricLink, ...]

    @property
    def verdict(self) -> str:
        """The result in a sentence."""
        link = self.links[0]
        told = f"{link.correlation:.2f} ({link.correlation_low:.2f} to {link.correlation_high:.2f})"
        if link.correlation_low > 0:
            return f"A difference in {self.measure} foretells one in {link.metric}: by topic they correlate by {told}."
        if link.correlation_high < 0:
            return f"{link.metric} falls where {self.measure} rises: by topic they correlate by {told}."
        return f"Cannot tell whether {self.measure} foretells {link.metric}: by topic they correlate by {told}."


def link_offline(
    rankings: JudgedRankings,
    scores: Floats,
    measure: str,
    model: UserModel,
    *,
    impressions: int = 200,
    method: str = "team-draft",
    sampling: Sampling | None = None,
) -> OfflineOnline:
    """Holds the scores of systems (rows) on topics (columns) against what simulated users do on their lists, so many
    on each, and on lists of each pair interleaved.

    >>> from cranfield import read_qrels, read_run
    >>> runs = [read_run("examples/bm25.run"), read_run("examples/dense.run")]
    >>> rankings = JudgedRankings.of(read_qrels("examples/qrels.txt"), runs, ["bm25", "dense"], depth=10)
    >>> scores = np.array([[0.5] * 6, [0.6] * 6])
    >>> link_offline(rankings, scores, "nDCG@10", UserModel()).pairs
    1
    """
    systems, topics = scores.shape
    if systems < 2:
        raise UsageError("two systems or more are needed: differences are what is held against each other")
    if topics != len(rankings.asked) or systems != len(rankings.names):
        raise UsageError("there must be a score for every system and every topic that is asked")
    drawing = sampling or Sampling(resamples=1000)
    rng = np.random.default_rng(drawing.seed)
    values = _by_system(rankings, model, impressions, rng)
    pairs = all_pairs(systems)
    offline = scores[pairs[:, 1]] - scores[pairs[:, 0]]
    online = {name: values[name][pairs[:, 1]] - values[name][pairs[:, 0]] for name in METRICS}
    online[PREFERENCE] = np.stack(
        [_preference(rankings, pair, model, impressions, method, rng) for pair in pairs.tolist()]
    )
    weights = np.vstack([np.ones(topics), rng.multinomial(topics, np.full(topics, 1 / topics), drawing.resamples)])
    links = tuple(_linked(name, offline, differences, weights) for name, differences in online.items())
    told = tuple(
        SystemLink(name, float(scores[row].mean()), tuple(float(values[metric][row].mean()) for metric in METRICS))
        for row, name in enumerate(rankings.names)
    )
    return OfflineOnline(measure, model.behaviour, method, topics, len(pairs), impressions, told, links)


def _effects(model: UserModel, shape: tuple[int, ...], rng: np.random.Generator) -> Floats:
    """Every impression is of another user."""
    effects = model.taste * rng.standard_normal((shape[0], 1)) + np.zeros(shape)
    return effects + model.leaning * rng.standard_normal(shape) if model.leaning else effects


def _by_system(
    rankings: JudgedRankings, model: UserModel, impressions: int, rng: np.random.Generator
) -> dict[str, Floats]:
    """The mean of each metric on the list of each system (row) for each topic (column)."""
    pages = PagesByArm(rankings, model.depth)
    found: dict[str, Floats] = {}
    lists = np.repeat(np.arange(len(pages.book.lists)), impressions)
    browsed = _browsed(pages.book.arrays(), lists, model, rankings.top, rng)
    for name, of_pages in page_values(browsed).items():
        means = of_pages.reshape(len(rankings.asked), len(rankings.names), impressions).mean(axis=2)
        found[name] = means.T
    return found


def _browsed(arrays: PageArrays, lists: Integers, model: UserModel, top: float, rng: np.random.Generator) -> Browsed:
    relevance = arrays.relevance[lists]
    return browse(model, model.table(top), relevance, _effects(model, relevance.shape, rng), rng)


def _preference(
    rankings: JudgedRankings,
    pair: list[int],
    model: UserModel,
    impressions: int,
    method: str,
    rng: np.random.Generator,
) -> Floats:
    """Delta of the second system over the first, for each topic; 0 where no click counts."""
    asked = tuple(one._replace(rankings=tuple(one.rankings[place] for place in pair)) for one in rankings.asked)
    both = JudgedRankings(tuple(rankings.names[place] for place in pair), asked, rankings.relevance, rankings.top)
    users = np.tile(np.arange(impressions), len(asked))
    topics = np.repeat(np.arange(len(asked)), impressions)
    pages = InterleavedPages(both, model.depth, find_interleaver(method), int(rng.integers(2**31)))
    shown = pages.shown(users, topics, np.zeros_like(users))
    browsed = _browsed(pages.book.arrays(), shown, model, rankings.top, rng)
    leads = PageCredit(method, pages.book).leads(shown, browsed.clicked)
    counted: Mask = leads != 2
    total = np.bincount(topics, counted, minlength=len(asked))
    ahead = np.bincount(topics, np.where(counted, -leads, 0) / 2, minlength=len(asked))
    return np.asarray(np.divide(ahead, total, out=np.zeros(len(asked)), where=total > 0))


def _linked(metric: str, offline: Floats, online: Floats, weights: Floats) -> MetricLink:
    """The link of one metric, with intervals; differences have a row for each pair and a column for each topic."""
    xx, xy, yy = (np.sum(product, axis=0) for product in (offline**2, offline * online, online**2))
    sums = weights @ np.stack([xx, xy, yy], axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        correlation = sums[:, 1] / np.sqrt(sums[:, 0] * sums[:, 2])
        slope = sums[:, 1] / sums[:, 0]
        signs = [np.sign(np.round(weights @ part.T, 12)) for part in (offline, online)]
        differ = (signs[0] != 0) & (signs[1] != 0)
        agreeing = np.sum(differ & (signs[0] == signs[1]), axis=1) / np.sum(differ, axis=1)
    parts = [(float(values[0]), *_middle(values[1:])) for values in (correlation, slope, agreeing)]
    return MetricLink(metric, *parts[0], *parts[1], *parts[2])


def _middle(values: Floats) -> tuple[float, float]:
    known = values[~np.isnan(values)]
    if not len(known):
        return nan, nan
    low, high = np.quantile(known, [0.025, 0.975])
    return float(low), float(high)
