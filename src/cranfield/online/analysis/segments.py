"""Segments that the trial named beforehand: the primary effect in each, and whether it differs between them.

That an effect is found in one segment and not in another does not say that it differs: the test of the difference does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from cranfield.online.analysis.estimates import Estimated, estimated
from cranfield.online.moments_files import SEGMENT
from cranfield.statistics.arms import TwoArms

if TYPE_CHECKING:
    from cranfield.online.moments_files import Aggregate
    from cranfield.online.trial import Trial


class SegmentEstimate(NamedTuple):
    """The two arms in a value of a segment."""

    segment: str
    value: str
    arm: str
    estimate: Estimated


class SegmentDifference(NamedTuple):
    """Whether the effect of an arm differs between the values of a segment: Cochran's Q, chi-square distributed."""

    segment: str
    arm: str
    values: int
    statistic: float
    p: float
    limit: float = 0.0

    @property
    def found(self) -> bool:
        """Whether it does."""
        return self.p < self.limit


def segment_estimates(found: Aggregate, trial: Trial) -> list[SegmentEstimate]:
    """The primary metric in every value of every segment, for every arm but the control."""
    columns = found.metric(trial.primary)
    return [
        SegmentEstimate(name, value, arm, estimated(columns, arms[trial.control], arms[arm], found.covariates))
        for arm in list(trial.arms)[1:]
        for name in trial.segments
        for value, arms in sorted(found.of(f"{SEGMENT}{name}").items())
        if trial.control in arms and arm in arms
    ]


def segment_differences(parts: list[SegmentEstimate]) -> list[SegmentDifference]:
    """For every segment and arm, whether the effect differs between values: NaN where fewer than two are known.

    Formula: Q = Σ (d - d̄)² / s², d̄ weighted by 1 / s²
    Reference: Cochran, "The combination of estimates from different experiments", 1954.
    """
    from scipy.special import chdtrc

    groups: dict[tuple[str, str], list[TwoArms]] = {}
    for part in parts:
        groups.setdefault((part.segment, part.arm), []).append(part.estimate.arms)
    differences = []
    for (segment, arm), arms in groups.items():
        known = [(each.treatment - each.control, each.spread()) for each in arms if each.unknown is None]
        known = [(effect, error) for effect, error in known if error > 0]
        if len(known) < 2:
            differences.append(SegmentDifference(segment, arm, len(arms), float("nan"), float("nan")))
            continue
        weights = [error**-2 for _, error in known]
        middle = sum(w * effect for w, (effect, _) in zip(weights, known, strict=True)) / sum(weights)
        q = sum(w * (effect - middle) ** 2 for w, (effect, _) in zip(weights, known, strict=True))
        differences.append(SegmentDifference(segment, arm, len(arms), q, float(chdtrc(len(known) - 1, q))))
    return differences
