"""How means arise, and scores that were typed by hand: accounts of topics, then of how they become one number."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from cranfield.evaluation.findings import Finding
from cranfield.evaluation.printed import PrintedInNotebooks
from cranfield.explanation.explanation import Explanation
from cranfield.policy import Policy

SHOWN = 20  # topics, if nothing else is said


@dataclass(frozen=True, eq=False, kw_only=True)
class Average:
    """How the scores of a run on its topics become one number; `columns` have what is made of each score."""

    run: str
    name: str  # of the measure, or of the mean
    formula: str
    value: float
    steps: tuple[str, ...]
    because: str
    topics: tuple[str, ...]
    scores: tuple[float, ...]
    columns: Mapping[str, tuple[float, ...]]
    shown: int | None = None
    is_count: bool = False

    @property
    def topics_shown(self) -> int:
        return min(len(self.topics), SHOWN if self.shown is None else self.shown)

    @property
    def parts(self) -> tuple[str, ...]:
        """What is written between the equals signs."""
        return (self.name, *self.steps, self.number(self.value))

    def number(self, value: float) -> str:
        """A score as it is written: counts whole."""
        return f"{value:.0f}" if self.is_count else f"{value:.4f}"

    @property
    def text(self) -> str:
        """The formula with the numbers put in."""
        return " = ".join(self.parts) + (f" ({self.because})" if self.because else "")


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Workings(PrintedInNotebooks):
    """Explanations of topics, if any, and of the means over them. `policy` is None where nothing was evaluated."""

    explanations: tuple[Explanation, ...] = ()
    averages: tuple[Average, ...] = ()
    policy: Policy | None = None
    warnings: tuple[Finding, ...] = ()

    def _rendered(self, format: str) -> str:
        from cranfield.explanation.workings_tables import render

        return render(self, format)
