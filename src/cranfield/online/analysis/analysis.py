"""Was it better? What the log of a trial says, decided by the rules that the trial fixed beforehand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from cranfield.evaluation.findings import Finding
from cranfield.evaluation.printed import PrintedInNotebooks
from cranfield.online.analysis.courses import CoursePoint, DenominatorEffect, ExposureDay, Fading
from cranfield.online.analysis.estimates import MetricEffect
from cranfield.online.analysis.exposures import ArmExposure, WorseArm
from cranfield.online.analysis.families import FamilyLimits
from cranfield.online.analysis.guardrails import GuardrailResult
from cranfield.online.analysis.looking import LookRule
from cranfield.online.analysis.samples import SampleCheck
from cranfield.online.analysis.segments import SegmentDifference
from cranfield.online.analysis.verdicts import ArmVerdict, Decision
from cranfield.online.moments_files import Excluded
from cranfield.online.trial import Trial
from cranfield.statistics.after_stopping import StoppedEffect

if TYPE_CHECKING:
    from cranfield.statistics.arms import ArmEffect


class AdjustedWays(NamedTuple):
    """The primary effect as it is, by CUPED and by regression, and what the arms differ by in each covariate.

    `remaining` is the share of the variance that each leaves: as it is, CUPED, regression.
    """

    arm: str
    plain: ArmEffect
    cuped: ArmEffect
    regression: ArmEffect
    remaining: tuple[float, float, float]
    balance: tuple[tuple[str, float, float], ...]


class AfterStopping(NamedTuple):
    """The primary effect of an arm after stopping early: median unbiased, in place of the plain one."""

    arm: str
    effect: StoppedEffect


@dataclass(frozen=True, eq=False, repr=False)
class TrialAnalysis(PrintedInNotebooks):
    """What an online experiment showed. The first of `verdicts` is about the first arm after the control.

    `withheld` says that the data are broken and no effect is given; `overridden`, that effects are given all the same
    because somebody asked for it. `primary` and `secondary` are in all units, `segments` in parts of them;
    `guarded` are the effects on metrics with guardrails, which `guardrails` hold against their margins.
    """

    trial: Trial
    units: int
    queries: int
    events: int
    verdicts: tuple[ArmVerdict, ...]
    rule: LookRule
    sample: SampleCheck
    withheld: bool
    overridden: bool
    primary: tuple[MetricEffect, ...] = ()
    guardrails: tuple[GuardrailResult, ...] = ()
    guarded: tuple[MetricEffect, ...] = ()
    secondary: tuple[MetricEffect, ...] = ()
    segments: tuple[MetricEffect, ...] = ()
    differences: tuple[SegmentDifference, ...] = ()
    family: FamilyLimits | None = None
    triggered: tuple[MetricEffect, ...] = ()
    adjusted: tuple[AdjustedWays, ...] = ()
    stopped: tuple[AfterStopping, ...] = ()
    denominators: tuple[DenominatorEffect, ...] = ()
    course: tuple[CoursePoint, ...] = ()
    exposed_days: tuple[ExposureDay, ...] = ()
    fading: tuple[Fading, ...] = ()
    exposures: tuple[ArmExposure, ...] = ()
    worse: tuple[WorseArm, ...] = ()
    excluded: tuple[Excluded, ...] = ()
    warnings: tuple[Finding, ...] = ()

    @property
    def decision(self) -> Decision:
        """The decision about the experiment: ship if some arm is to be shipped, and else the one that leaves most open.

        Of several arms `verdicts` has each.
        """
        order: Sequence[Decision] = ("data broken", "ship", "cannot tell yet", "do not ship")
        return min((verdict.decision for verdict in self.verdicts), key=order.index)

    @property
    def changed(self) -> str | None:
        """That the plan was changed after results were seen, in a sentence; None if it was not."""
        told = [finding.message for finding in self.warnings if finding.code == "trial-changed"]
        return f"{told[0][0].upper()}{told[0][1:]}, and neither was this verdict." if told else None

    @property
    def together(self) -> str | None:
        """What several arms that are to be shipped do not say of each other; None if there are none."""
        ships = [verdict.arm for verdict in self.verdicts if verdict.decision == "ship"]
        if len(ships) < 2:
            return None
        names = f"{', '.join(ships[:-1])} and {ships[-1]}"
        return (
            f"{names} were each compared with {self.trial.control}, and not with each other: which of them is best is "
            "not shown."
        )

    def _rendered(self, format: str) -> str:
        from cranfield.online.analysis.analysis_tables import render_analysis

        return render_analysis(self, format)
