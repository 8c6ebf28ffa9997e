"""What every comparison of rankings gives: a small table of numbers with what a reader must know beside it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from cranfield.errors import UsageError, plural
from cranfield.evaluation.findings import Finding
from cranfield.evaluation.printed import PrintedInNotebooks
from cranfield.policy import Policy
from cranfield.statistics.coefficients import Coefficient
from cranfield.statistics.significance import Sampling

if TYPE_CHECKING:
    from cranfield.render.json_form import Json

# Neither run is the truth, runs have ties, and means of systems are tied now and then: all three are symmetric and have
# a rule for ties.
COEFFICIENTS = ("spearman", "kendall", "tau_ap_b")


class CorrelationRow(NamedTuple):
    """A line of the table: what it is about, and its numbers; NaN where one is undefined."""

    names: tuple[str, ...]
    values: tuple[float, ...]


@dataclass(frozen=True, eq=False, repr=False)
class Correlation(PrintedInNotebooks):
    """Rows of numbers. `labels` head the names of a row, `columns` its numbers; `means`, if any, are over all rows.

    `notes` say which side is the truth, how ties are treated and what was drawn at random; `warnings` what puts a
    number in doubt; `counts` are the columns that count something. `settings` is what was asked for.

    >>> import cranfield
    >>> a, b = {"q1": {"d1": 3.0, "d2": 2.0, "d3": 1.0}}, {"q1": {"d1": 3.0, "d3": 2.0, "d4": 1.0}}
    >>> correlation = cranfield.correlate(a, b, "kendall")
    >>> correlation.of("q1")["kendall"], correlation.of("q1")["in both"]
    (1.0, 2.0)
    """

    kind: str
    labels: tuple[str, ...]
    columns: tuple[str, ...]
    rows: tuple[CorrelationRow, ...]
    means: tuple[float, ...] | None
    notes: tuple[str, ...]
    warnings: tuple[Finding, ...]
    counts: tuple[str, ...] = ()
    settings: Mapping[str, Json] = field(default_factory=dict)

    def of(self, *names: str) -> dict[str, float]:
        """The numbers of the row of these names."""
        for row in self.rows:
            if row.names == names:
                return dict(zip(self.columns, row.values, strict=True))
        raise UsageError(f"no row {', '.join(names)}; there are {'; '.join(', '.join(row.names) for row in self.rows)}")

    def mean(self) -> dict[str, float]:
        """The means of the columns; empty where rows have none."""
        return {} if self.means is None else dict(zip(self.columns, self.means, strict=True))

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain Python that JSON can hold."""
        from cranfield.agreement.rankings.correlation_tables import to_document

        return to_document(self)

    def _rendered(self, format: str) -> str:
        from cranfield.agreement.rankings.correlation_tables import render

        return render(self, format)

    def _headline(self) -> str:
        return f"<Correlation of {self.kind}: {plural(len(self.rows), 'row')}>"


def drawn_and_read(sampling: Sampling, policy: Policy) -> dict[str, Json]:
    """What decides numbers of scores over topics, for `settings`."""
    return {"resamples": sampling.resamples, "seed": sampling.seed, "policy": policy.to_dict()}


def as_names(names: str | Iterable[str]) -> tuple[str, ...]:
    """Names from what a caller gives, one or several; each once.

    >>> as_names("kendall"), as_names(["kendall", "spearman", "kendall"])
    (('kendall',), ('kendall', 'spearman'))
    """
    distinct = tuple(dict.fromkeys([names] if isinstance(names, str) else names))
    if not distinct:
        raise UsageError("no coefficient given")
    return distinct


def orientations(coefficients: Sequence[Coefficient], first: str, second: str) -> list[str]:
    """For each coefficient which side is the truth; those that have none in one sentence."""
    alike = [str(coefficient) for coefficient in coefficients if coefficient.truth == "neither"]
    sided = [
        f"{coefficient}: {coefficient.orientation(first, second)}"
        for coefficient in coefficients
        if coefficient.truth != "neither"
    ]
    return [f"{', '.join(alike)}: both sides count alike", *sided] if alike else sided
