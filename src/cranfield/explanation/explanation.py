"""What `explain` gives: accounts of how scores arise, line by line, and for two runs their documents side by side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from cranfield.comparison.diagnosis import Move
from cranfield.evaluation.findings import Finding
from cranfield.evaluation.printed import PrintedInNotebooks
from cranfield.measures import Measure
from cranfield.policy import Policy

if TYPE_CHECKING:
    from cranfield.quotation.quoting import Quotations

ROUNDING = 1e-9
SHOWN_MISSED = 5  # of the relevant documents that were not retrieved


class ExplainedRank(NamedTuple):
    """One rank. `values` stand in the measure's own columns; None is nothing to write."""

    rank: int
    document: str
    grade: float | None  # None: not judged
    counts: bool
    precision: float
    recall: float | None  # None: no document is relevant
    values: tuple[float | None, ...]
    contribution: float | None  # None: the value is no sum over documents
    total: float | None  # of the contributions down to here
    worth: float | None  # the score less what it would be if this document were not relevant
    if_relevant: float | None  # the score if this document, which nobody judged, were relevant


class Missed(NamedTuple):
    """A relevant document that was not retrieved."""

    document: str
    grade: float


class Below(NamedTuple):
    """The ranks that are not shown: how many, how many of them count, and what these contribute together."""

    ranks: int
    counting: int
    contribution: float | None


@dataclass(frozen=True, eq=False, kw_only=True)
class Account:
    """How the score of one run on a measure arises."""

    run: str
    measure: Measure
    value: float
    steps: tuple[str, ...]
    because: str
    columns: tuple[str, ...]
    lines: tuple[ExplainedRank, ...]
    below: Below
    retrieved: int
    relevant: int  # documents judged relevant
    found: int  # and retrieved
    unjudged: int  # retrieved and not judged
    missed: tuple[Missed, ...]
    supposed_grade: float  # that of an unjudged document in `if_relevant`
    bounds: tuple[float, float] | None
    highest_grade: float  # that unjudged documents may have in `bounds`
    notes: tuple[str, ...]
    levels: tuple[tuple[float, float], ...] = ()  # of a mean over recall levels, each with its precision

    @property
    def formula(self) -> str:
        """As the measure's help has it."""
        return self.measure.formula

    @property
    def adds_up(self) -> bool:
        """Whether the value is a sum over documents."""
        return self.below.contribution is not None

    @property
    def outside_bounds(self) -> tuple[float, ...]:
        """Scores with one document supposed relevant that the bounds should contain and do not.

        Bounds of measures without a formula are searched for among the highest grade and 0, and a measure may have its
        extremes elsewhere: what is seen to be wrong must not be claimed.
        """
        if self.bounds is None:
            return ()
        low, high = self.bounds
        supposed = (line.if_relevant for line in self.lines if line.if_relevant is not None)
        return tuple(value for value in supposed if not low - ROUNDING <= value <= high + ROUNDING)

    @property
    def text(self) -> str:
        """The formula with the numbers put in.

        >>> from cranfield.explanation.accounts import explain
        >>> from cranfield import Experiment
        >>> experiment = Experiment({"1": {"d1": 1, "d3": 1}}, {"1": {"d1": 3.0, "d2": 2.0, "d3": 1.0}})
        >>> explain(experiment, "1", "AP").accounts[0].text
        'AP = (1/1 + 2/3) / 2 = 1.6667 / 2 = 0.8333'
        """
        return " = ".join(self.parts) + (f" ({self.because})" if self.because else "")

    @property
    def parts(self) -> tuple[str, ...]:
        """What is written between the equals signs."""
        value = f"{self.value:.0f}" if self.measure.is_count else f"{self.value:.4f}"
        return (str(self.measure.on_topic), *self.steps, value)


class Placed(NamedTuple):
    """A document in two rankings, with what it contributes in each."""

    move: Move
    contribution: float | None
    other_contribution: float | None


@dataclass(frozen=True, eq=False, kw_only=True)
class SideBySide:
    """Two runs side by side: the documents shown of the first one in its order, then those of the other alone."""

    measure: Measure
    run: str
    other: str
    value: float
    other_value: float
    documents: tuple[Placed, ...]

    @property
    def difference(self) -> float:
        return self.value - self.other_value


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Explanation(PrintedInNotebooks):
    """How scores of one topic arise: an account for each measure and run, and for two runs a pair for each measure."""

    topic: str
    runs: tuple[str, ...]
    accounts: tuple[Account, ...]
    pairs: tuple[SideBySide, ...]
    policy: Policy
    warnings: tuple[Finding, ...]
    quotations: Quotations | None = None  # what was asked, and of the documents shown what they say

    @property
    def documents(self) -> dict[str, float | None]:
        """Every document that is shown with its grade, in the order of the accounts, and then those that are missed."""
        lines = {line.document: line.grade for account in self.accounts for line in account.lines}
        missed = [missing for account in self.accounts for missing in account.missed[:SHOWN_MISSED]]
        return lines | {missing.document: missing.grade for missing in missed if missing.document not in lines}

    def _rendered(self, format: str) -> str:
        from cranfield.explanation.explanation_tables import render

        return render(self, format)
