"""What is asked of a comparison, apart from what is compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from cranfield.errors import UsageError
from cranfield.planning.splits import Splits
from cranfield.planning.tuned import TunedOn
from cranfield.statistics import corrections
from cranfield.statistics.significance import Sampling


@dataclass(frozen=True, kw_only=True)
class Details:
    """What few comparisons ask for.

    power: of the test that detectable differences are told for. margin: the largest difference that does not matter,
    to ask for equivalence. splits: topics to tune and to test on, to show each fold. tuned_on: topics that systems were
    tuned on, or what a file of their parameters says of these, to warn of those tested on as well. risk: how much more
    a loss against the baseline weighs than a gain.
    figures: of efficiency, "p99" or "throughput", from the metadata of the runs, to stand beside the measures.
    """

    power: float = 0.8
    margin: float | None = None
    splits: Splits | None = None
    tuned_on: Sequence[str] | TunedOn = ()
    risk: float | None = None
    figures: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True)
class Question:
    """What is asked of a comparison.

    tests: names of tests of significance; the first decides, the others are shown beside it. Without any, t or
    randomisation decides by the rule of `statistics.deciding`, and both are shown. correction: how the deciding
    p-values are corrected for all comparisons made.
    """

    baseline: str | None = None
    tests: Sequence[str] | None = None
    correction: str = corrections.DEFAULT
    alpha: float = 0.05
    sampling: Sampling = field(default_factory=Sampling)
    details: Details = field(default_factory=Details)

    def __post_init__(self) -> None:
        if self.tests is not None and not self.tests:
            raise UsageError("no test given")
        if self.details.risk is not None and self.baseline is None:
            raise UsageError("risk is against a baseline: name one")
        corrections.find_correction(self.correction)
        for name, value in (("alpha", self.alpha), ("power", self.details.power)):
            if not 0 < value < 1:
                raise UsageError(f"{name} must be between 0 and 1, not {value:g}")

    @property
    def by_rule(self) -> bool:
        """Whether no test was asked for."""
        return self.tests is None
