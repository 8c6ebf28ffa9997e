"""What a comparison found: for each measure the systems' means, and each pair's difference with the evidence for it.

A measure on one collection is a panel. The p-values of all panels and pairs are one family and are corrected together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isclose
from string import ascii_lowercase
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cranfield.errors import UsageError, plural
from cranfield.evaluation.experiment import Input
from cranfield.evaluation.findings import Finding
from cranfield.evaluation.printed import PrintedInNotebooks
from cranfield.libraries import library
from cranfield.measures.registry import Measure
from cranfield.policy import Policy
from cranfield.statistics.corrections import Correction
from cranfield.statistics.deciding import FEW_CHANGED, RANDOMISATION, Decision
from cranfield.statistics.effects import Effects
from cranfield.statistics.intervals import Ends
from cranfield.statistics.risk import Risk
from cranfield.statistics.seeds import SeedSpread
from cranfield.statistics.significance import Floats, Integers, Sampling, SignificanceTest, find_test
from cranfield.statistics.splitting import ResampledTest

if TYPE_CHECKING:
    from pandas import DataFrame

    from cranfield.render.grid import Grid


def _instead(tests: tuple[SignificanceTest, ...]) -> list[SignificanceTest]:
    """The test that decides where one that was asked for cannot, unless it was asked for too."""
    return [] if any(str(test) == RANDOMISATION for test in tests) else [find_test(RANDOMISATION)]


class Folds(NamedTuple):
    """A pair's difference on the topics of each test part, and the test that allows for parts that share topics."""

    differences: tuple[float, ...]
    test: ResampledTest


class Macro(NamedTuple):
    """A measure over several collections, each counting the same: means[system], and for each pair the difference.

    The pairs of all measures are a family of their own: `adjusted` p and the interval at `level` go together as those
    of a panel do.
    """

    measure: Measure
    means: Floats
    difference: Floats
    error: Floats
    freedom: Floats
    decided: Decision
    low: Floats
    high: Floats
    adjusted: Floats
    level: float


class FigureColumn(NamedTuple):
    """A figure of efficiency on one collection: a number for each system, None where it is not known."""

    collection: str
    figure: str
    values: tuple[float | None, ...]


@dataclass(frozen=True, eq=False, kw_only=True)
class Panel:
    """One measure on one collection: scores[system, topic], and an entry for each pair in every other array.

    `p` and `error` are by test; `decided` is what decides, test by test as the rule has it, and `adjusted` its p-value
    corrected for the whole family. The intervals of `effects` are at the level of the comparison: they leave out zero
    exactly where adjusted p is below alpha. `together` are intervals that hold for all pairs of all panels at once.
    `standard_error` is that of each difference, with degrees of `freedom`.
    """

    collection: str
    measure: Measure
    topics: tuple[str, ...]
    scores: Floats
    unjudged: Floats | None
    effects: Effects
    together: Ends
    standard_error: Floats
    freedom: Floats
    p: Mapping[str, Floats]
    error: Mapping[str, Floats]
    decided: Decision
    adjusted: Floats
    first_unjudged: Floats | None = None  # the share at rank 1, of measures that stop at what they find first
    rankings: tuple[str, ...] | None = None  # a digest of each system's, where they are known
    notes: tuple[str, ...] = ()
    equivalence: Floats | None = None
    spreads: tuple[SeedSpread, ...] | None = None
    folds: tuple[Folds, ...] | None = None
    risk: Risk | None = None

    @property
    def label(self) -> str:
        """The measure, with the collection where it has a name."""
        return f"{self.measure} on {self.collection}" if self.collection else str(self.measure)

    @property
    def heading(self) -> str:
        """The label as tables have it: with an arrow where less is better, and a count as the mean that is compared."""
        counted = f"{self.measure.label} a topic" if self.measure.parameters["agg"] == "sum" else self.measure.label
        return f"{counted} on {self.collection}" if self.collection else counted

    @property
    def means(self) -> Floats:
        """Each system's mean over the topics it has a score on: all of them, unless systems answer different ones."""
        means: Floats = np.nanmean(self.scores, axis=1)
        return means

    @property
    def gains(self) -> Floats:
        """The means turned so that more is better; all the same where the measure has no better side."""
        return self.means * self.measure.sign

    @property
    def best(self) -> int | None:
        """The system of the best mean; none where the measure has no better side."""
        return int(np.argmax(self.gains)) if self.measure.sign else None

    @property
    def leaders(self) -> list[int]:
        """The systems that have the best mean, to rounding."""
        means, best = self.means.tolist(), self.best
        return [] if best is None else [i for i, mean in enumerate(means) if isclose(mean, means[best], rel_tol=1e-12)]

    @property
    def own_topics(self) -> bool:
        """Whether systems each answer topics of their own."""
        return bool(np.isnan(self.scores).any())


@dataclass(frozen=True, kw_only=True)
class Pair:
    """One comparison in full: what `Comparison.rows` gives."""

    collection: str
    measure: str
    system: str
    other: str
    topics: int
    mean: float
    other_mean: float
    difference: float
    low: float
    high: float
    together_low: float
    together_high: float
    d_z: float
    better: str  # which values of the measure: higher, lower, neither
    wins: int | None  # none where no value is better
    ties: int
    losses: int | None
    p: dict[str, float]  # NaN where a test is undefined
    decided_by: str
    adjusted_p: float
    significant: bool
    detectable: float
    equivalence_p: float | None


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Comparison(PrintedInNotebooks):
    """Systems compared on one or more measures. `pairs` are rows (i, j): the difference is system i minus system j.

    `by_rule`: no test was asked for, and `statistics.deciding` chose. `comparisons` is the size of the family that
    p-values are corrected for, however much of it is shown, and `level` what the correction lets a single one be
    compared with: intervals are of 1 - level. `simultaneous`: they were asked to hold for all comparisons at once.

    >>> import cranfield
    >>> qrels = {str(t): {"d1": 1} for t in range(8)}
    >>> good = {str(t): {"d1": 2.0, "d2": 1.0} for t in range(8)}
    >>> poor = {str(t): {"d2": 2.0, "d1": 1.0 if t else 3.0} for t in range(8)}
    >>> comparison = cranfield.compare(cranfield.Experiment(qrels, {"good": good, "poor": poor}), "RR")
    >>> [(pair.system, pair.other, pair.difference, pair.significant) for pair in comparison.rows()]
    [('good', 'poor', 0.4375, True)]
    """

    systems: tuple[str, ...]
    panels: tuple[Panel, ...]
    pairs: Integers
    baseline: str | None
    tests: tuple[SignificanceTest, ...]
    by_rule: bool
    correction: Correction
    comparisons: int
    level: float
    alpha: float
    power: float
    margin: float | None
    sampling: Sampling
    policy: Policy
    inputs: tuple[Input, ...]
    judgements: tuple[Input, ...]
    warnings: tuple[Finding, ...]
    macro: tuple[Macro, ...] = ()
    figures: tuple[FigureColumn, ...] = ()
    simultaneous: bool = False
    order: tuple[int, ...] = ()  # in which systems are listed and have letters; as they were given, if there is none

    @property
    def listed(self) -> tuple[int, ...]:
        """The numbers of the systems in the order in which they are listed."""
        return self.order or tuple(range(len(self.systems)))

    @property
    def holds_together(self) -> bool:
        """Whether the intervals hold for all comparisons at once, not each by itself."""
        return self.simultaneous or self.tests[0].kind == "family" or self.correction.together

    @property
    def _counted(self) -> list[Panel]:
        """The panels on which something is decided: a measure without a better side decides nothing."""
        return [panel for panel in self.panels if panel.measure.sign] or list(self.panels)

    @property
    def deciding(self) -> tuple[SignificanceTest, ...]:
        """The tests that decide at least one of the comparisons."""
        names = {name for panel in self._counted for name in panel.decided.by}
        return tuple(test for test in (*self.tests, *_instead(self.tests)) if str(test) in names)

    @property
    def rule(self) -> str:
        """Which test decides, in words."""
        first = self.tests[0]
        instead = [name != str(first) for panel in self._counted for name in panel.decided.by]
        if not self.by_rule and not any(instead):
            return first.named
        where = "that is undefined"
        if self.by_rule:
            where = f"two systems differ on fewer than {FEW_CHANGED} topics or t is undefined"
        here = "in every" if all(instead) else f"in {sum(instead):,} of {len(instead):,}" if any(instead) else "in no"
        noun = "comparison" if all(instead) or not any(instead) else "comparisons"
        if len(self.panels) == 1 and len(instead) < self.comparisons:  # one measure of several
            noun += f" by {self.panels[0].measure}"
        return f"{first.named}; where {where}, by the exact randomisation test instead (here {here} {noun})"

    def letter(self, system: int) -> str:
        """The short name under which other systems say that they beat it: a, b, …, z, a2, …"""
        number = self.order.index(system) if self.order else system
        again, place = divmod(number, len(ascii_lowercase))
        return ascii_lowercase[place] + (str(again + 1) if again else "")

    def beaten_by(self, panel: Panel, system: int) -> list[int]:
        """The systems that a system beats significantly, after correction, in the order in which they are listed."""
        first, second = self.pairs[:, 0], self.pairs[:, 1]
        gains = np.where(panel.adjusted < self.alpha, panel.effects.mean * panel.measure.sign, 0.0)
        beaten = [*second[(first == system) & (gains > 0)].tolist(), *first[(second == system) & (gains < 0)].tolist()]
        return sorted(beaten, key=self.listed.index)

    def panel(self, measure: Measure | str, collection: str | None = None) -> Panel:
        """The panel of a measure; the collection may be left out if there is one."""
        for panel in self.panels:
            if str(panel.measure) == str(measure) and collection in (None, panel.collection):
                return panel
        raise UsageError(f"{measure} was not compared; there are {', '.join(panel.label for panel in self.panels)}")

    def rows(self) -> Iterator[Pair]:
        """Every comparison of the family with all that is known of it."""
        for panel in self.panels:
            means, decided = panel.means.tolist(), panel.measure.sign != 0
            for k, (i, j) in enumerate(self.pairs.tolist()):
                effects, together = panel.effects, panel.together
                yield Pair(
                    collection=panel.collection,
                    measure=str(panel.measure),
                    system=self.systems[i],
                    other=self.systems[j],
                    topics=len(panel.topics),
                    mean=means[i],
                    other_mean=means[j],
                    difference=float(effects.mean[k]),
                    low=float(effects.low[k]),
                    high=float(effects.high[k]),
                    together_low=float(together.low[k]),
                    together_high=float(together.high[k]),
                    d_z=float(effects.d_z[k]),
                    better=panel.measure.better,
                    wins=int(effects.wins[k]) if decided else None,
                    ties=int(effects.ties[k]),
                    losses=int(effects.losses[k]) if decided else None,
                    p={name: float(p[k]) for name, p in panel.p.items()},
                    decided_by=panel.decided.by[k],
                    adjusted_p=float(panel.adjusted[k]),
                    significant=bool(panel.adjusted[k] < self.alpha),
                    detectable=float(effects.detectable[k]),
                    equivalence_p=None if panel.equivalence is None else float(panel.equivalence[k]),
                )

    def to_pandas(self) -> DataFrame:
        """A pandas DataFrame: a row for each comparison with the fields of `Pair`, and p_NAME for each test."""
        library("pandas", "to_pandas")
        import pandas

        rows = [vars(pair) for pair in self.rows()]
        return pandas.DataFrame(
            [
                {name: value for name, value in row.items() if name != "p"}
                | {f"p_{test}": p for test, p in row["p"].items()}
                for row in rows
            ]
        )

    def to_latex(self, columns: Sequence[str] = ()) -> str:
        """The table of systems with its caption, as a paper takes it; or tables of the `columns` that are named."""
        from cranfield.comparison.comparison_tables import render

        return render(self, "latex", columns=columns)

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain Python, in the documented JSON form."""
        from cranfield.comparison.comparison_json import to_document

        return to_document(self)

    def grid(self) -> Grid:
        """The table of systems: means, the best marked, letters for the systems each one beats."""
        from cranfield.comparison.comparison_tables import systems_grid

        return systems_grid(self)

    def _rendered(self, format: str) -> str:
        from cranfield.comparison.comparison_tables import render

        return render(self, format)

    def _headline(self) -> str:
        return f"<Comparison: {plural(len(self.systems), 'system')}, {plural(len(self.panels), 'panel')}>"
