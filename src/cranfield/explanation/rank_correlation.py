"""How rank correlation arises: two rankings of the same items, differences of ranks, pairs in and out of order."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isnan
from typing import NamedTuple, TypeAlias

import numpy as np

from cranfield.errors import UsageError, plural, some
from cranfield.evaluation.experiment import Experiment
from cranfield.evaluation.findings import Finding
from cranfield.evaluation.printed import PrintedInNotebooks
from cranfield.explanation.accounts import check_topic
from cranfield.judged import Floats
from cranfield.measures.explained import number, quotient, summed
from cranfield.policy import Policy
from cranfield.statistics.coefficients import Coefficient, find_coefficient

COEFFICIENTS = ("spearman", "kendall", "tau_ap")
R1, R2 = "R1", "R2"
GivenRanking: TypeAlias = "Mapping[str, float] | Sequence[str]"  # {item: rank}, or items, the best first


class RankedItem(NamedTuple):
    """An item of both rankings: its ranks, and of the items below it in the first those also below in the second."""

    name: str
    first: float
    second: float
    concordant: int
    discordant: int

    @property
    def difference(self) -> float:
        return self.first - self.second


class WorkedCoefficient(NamedTuple):
    """A coefficient with the formula and the numbers put in; NaN where it is undefined."""

    name: str
    title: str
    formula: str
    value: float
    steps: tuple[str, ...]
    because: str = ""

    @property
    def parts(self) -> tuple[str, ...]:
        """What is written between the equals signs."""
        return (self.name, *self.steps, "undefined" if isnan(self.value) else f"{self.value:.4f}")

    @property
    def text(self) -> str:
        """The formula with the numbers put in."""
        return " = ".join(self.parts) + (f" ({self.because})" if self.because else "")


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class RankCorrelation(PrintedInNotebooks):
    """Two rankings of the same items, in the order of the first, and coefficients of how far they agree."""

    first: str
    second: str
    items: tuple[RankedItem, ...]
    coefficients: tuple[WorkedCoefficient, ...]
    notes: tuple[str, ...]
    shown: int | None = None
    warnings: tuple[Finding, ...] = ()

    def _rendered(self, format: str) -> str:
        from cranfield.explanation.rank_correlation_tables import render

        return render(self, format)


def explain_correlation(
    first: GivenRanking, second: GivenRanking, *, names: Iterable[str] = (R1, R2), shown: int | None = None
) -> RankCorrelation:
    """Explains how far two rankings agree: {item: rank}, where 1 is the best, or lists of items, the best first.

    Coefficients are over the items of both, ranked anew among themselves; equal ranks share the mean of their places.
    `shown` is how many items the table shows; by default all.

    >>> correlation = explain_correlation(["d1", "d2", "d3"], {"d1": 1, "d2": 3, "d3": 2})
    >>> [(item.name, item.difference) for item in correlation.items]
    [('d1', 0.0), ('d2', -1.0), ('d3', 1.0)]
    >>> print(correlation.coefficients[0].text)
    spearman = 1 − 6 · 2 / (3 · (3² − 1)) = 1 − 12 / 24 = 0.5000
    """
    ours, theirs = _ranks(first), _ranks(second)
    both = [item for item in ours if item in theirs]
    if len(both) < 2:
        raise UsageError(f"{plural(len(both), 'document')} in both rankings, and it takes two to have an order")
    x, y = (_mean_ranks(np.array([ranks[item] for item in both])) for ranks in (ours, theirs))
    places = np.lexsort((y, x))
    items = _items([both[i] for i in places], x[places], y[places])
    left, right = names
    return RankCorrelation(
        first=left,
        second=right,
        items=items,
        coefficients=tuple(_worked(find_coefficient(name), items) for name in COEFFICIENTS),
        notes=tuple(_notes(ours, theirs, (left, right), items)),
        shown=shown,
    )


def explain_agreement(experiment: Experiment, topic: str, *, shown: int | None = None) -> RankCorrelation:
    """Explains how far two runs agree on one topic: the rank correlation of the documents that both retrieved.

    Documents of equal score share a rank, as in `cranfield.agreement`: no order of ties is taken for an opinion.

    >>> experiment = Experiment({"1": {"d1": 1}}, {"a": {"1": ["d1", "d2", "d3"]}, "b": {"1": ["d3", "d2", "d1"]}})
    >>> explain_agreement(experiment, "1").coefficients[1].text
    'kendall = (0 − 3) / 3 = −3 / 3 = -1.0000'
    """
    tables = experiment.tables()
    if len(tables) != 2:
        raise UsageError(f"rank correlation is between two runs, not {len(tables)}")
    if replace(experiment.policy, topic_set=None) != Policy():
        raise UsageError("rank correlation is of the documents as they are scored: no policy on rankings applies to it")
    check_topic(topic, experiment)
    first, second = (_ranks_by_score(table.of(topic)) for table in tables)
    agreement = explain_correlation(first, second, names=experiment.names, shown=shown)
    return replace(agreement, warnings=tuple(experiment.restriction()))


def _ranks_by_score(scores: Mapping[str, float]) -> dict[str, float]:
    """Ranks from 1 for the highest score; equal scores share the mean of their places."""
    ranks = _mean_ranks(-np.array(list(scores.values()), dtype=np.float64))
    return dict(zip(scores, ranks.tolist(), strict=True))


def _ranks(given: GivenRanking) -> Mapping[str, float]:
    if isinstance(given, Mapping):
        return given
    repeated = [item for item, count in Counter(given).items() if count > 1]
    if repeated:
        raise UsageError(f"a ranking has a document once, not {some(repeated)} twice")
    return {item: float(rank) for rank, item in enumerate(given, start=1)}


def _mean_ranks(values: Floats) -> Floats:
    """Places from 1, the mean of them for equal values."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    ranks: Floats = (last - (counts - 1) / 2)[inverse]
    return ranks


def _items(names: Sequence[str], x: Floats, y: Floats) -> tuple[RankedItem, ...]:
    return tuple(
        RankedItem(
            name,
            float(x[i]),
            float(y[i]),
            int(np.sum((x > x[i]) & (y > y[i]))),
            int(np.sum((x > x[i]) & (y < y[i]))),
        )
        for i, name in enumerate(names)
    )


def _worked(coefficient: Coefficient, items: Sequence[RankedItem]) -> WorkedCoefficient:
    """The coefficient's own value, and how it comes out of ranks; scores are ranks turned round."""
    x, y = np.array([item.first for item in items]), np.array([item.second for item in items])
    value = coefficient(-x, -y)
    formula, steps = WORKINGS[coefficient.name](items, x, y)
    if not isnan(value):
        return WorkedCoefficient(coefficient.name, coefficient.title, formula, value, steps)
    all_tied = len({*x.tolist()}) == 1 or len({*y.tolist()}) == 1
    why = "all of one ranking share a rank" if all_tied else "where ranks are shared it has no rule; tau_ap_b has one"
    return WorkedCoefficient(coefficient.name, coefficient.title, formula, value, (), why)


def _spearman(items: Sequence[RankedItem], x: Floats, y: Floats) -> tuple[str, tuple[str, ...]]:
    n = len(items)
    if len({*x.tolist()}) == n == len({*y.tolist()}):
        squares = float(np.sum((x - y) ** 2))
        steps = (
            f"1 − 6 · {number(squares)} / ({n} · ({n}² − 1))",
            f"1 − {number(6 * squares)} / {number(n * (n * n - 1))}",
        )
        return "1 − 6 Σ d² / (n (n² − 1))", steps
    a, b = x - x.mean(), y - y.mean()
    sums = [number(float(np.sum(product))) for product in (a * b, a * a, b * b)]
    formula = "with shared ranks, their correlation: Σ a b / √(Σ a² Σ b²), where a and b are ranks less their mean"
    return formula, (f"{sums[0]} / √({sums[1]} · {sums[2]})",)


def _kendall(items: Sequence[RankedItem], x: Floats, y: Floats) -> tuple[str, tuple[str, ...]]:
    n = len(items)
    pairs = n * (n - 1) // 2
    concordant, discordant = sum(item.concordant for item in items), sum(item.discordant for item in items)
    untied = [pairs - _tied_pairs(ranks) for ranks in (x, y)]
    difference = f"{concordant} − {discordant}"
    if untied == [pairs, pairs]:
        steps = (quotient(difference, pairs), f"{number(concordant - discordant)} / {pairs}")
        return "(C − D) / (n (n − 1) / 2), C pairs in the same order, D in opposite ones", steps
    formula = "(C − D) / √(pairs not tied in the first · pairs not tied in the second)"
    return formula, (f"({difference}) / √({untied[0]} · {untied[1]})",)


def _tied_pairs(ranks: Floats) -> int:
    counts = np.unique(ranks, return_counts=True)[1]
    return int(np.sum(counts * (counts - 1)) // 2)


def _tau_ap(items: Sequence[RankedItem], x: Floats, y: Floats) -> tuple[str, tuple[str, ...]]:
    n = len(items)
    down = sorted(items, key=lambda item: item.second)
    seen: list[float] = []
    above = []
    for item in down:
        above.append(bisect_left(seen, item.first))
        insort(seen, item.first)
    terms = [f"{above[i]}/{i}" for i in range(1, n)]
    total = sum(above[i] / i for i in range(1, n))
    steps = (
        f"2 / {n - 1} · ({summed(terms)}) − 1" if n > 2 else f"2 / 1 · {terms[0]} − 1",
        f"2 / {n - 1} · {number(total)} − 1",
    )
    return "2 / (n − 1) Σ C(i) / (i − 1) − 1 down the second, C(i) those above i that the first has above it too", steps


WORKINGS = {"spearman": _spearman, "kendall": _kendall, "tau_ap": _tau_ap}


def _notes(
    ours: Mapping[str, float], theirs: Mapping[str, float], names: tuple[str, str], items: Sequence[RankedItem]
) -> list[str]:
    notes = []
    for name, ranks, others in ((names[0], ours, theirs), (names[1], theirs, ours)):
        alone = [item for item in ranks if item not in others]
        if alone:
            notes.append(f"Only in {name}, and left out: {some(alone)}.")
    given = all(ours[item.name] == item.first and theirs[item.name] == item.second for item in items)
    if not given:
        notes.append(f"Ranks are counted anew among the {len(items)} documents of both; equal ones share their mean.")
    return notes
