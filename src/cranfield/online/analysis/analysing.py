"""An analysis, step by step: the sample ratio, then the rule of this look, then effects and what they decide."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, timedelta
from functools import cached_property
from math import inf
from typing import TYPE_CHECKING, Any

from cranfield.errors import UsageError
from cranfield.online.aggregation import aggregate
from cranfield.online.analysis.analysis import AdjustedWays, AfterStopping, TrialAnalysis
from cranfield.online.analysis.courses import by_exposure, course, denominator_effects, fading, triggered_effects
from cranfield.online.analysis.estimates import Estimated, MetricEffect, confidence_of, effect_of, estimated
from cranfield.online.analysis.exposures import exposures, worse_arm
from cranfield.online.analysis.families import FamilyLimits, family_limits
from cranfield.online.analysis.guardrails import GuardrailResult, RailLimit, guardrail_result
from cranfield.online.analysis.looking import LookRule, look_rule
from cranfield.online.analysis.samples import sample_check
from cranfield.online.analysis.segments import segment_differences, segment_estimates
from cranfield.online.analysis.verdicts import ArmVerdict, verdict_of
from cranfield.online.moments_files import Aggregate
from cranfield.online.queries import AFTER_END
from cranfield.online.seen_events import unseen_told
from cranfield.online.trial_ledger import TrialLook, changed_since
from cranfield.online.units import PRE
from cranfield.statistics.after_stopping import after_stopping

if TYPE_CHECKING:
    from cranfield.online.logs import Logs
    from cranfield.online.trial import Trial


def analyse(
    log: Logs | Aggregate, trial: Trial, *, looks: Sequence[TrialLook] = (), despite_mismatch: bool = False
) -> TrialAnalysis:
    """What the log of a trial, or the moments of one, say: a verdict first.

    `looks` are the looks at it so far, as its ledger has them. If the sample ratio is off no effect is given, unless
    `despite_mismatch`, which the result then says.

    >>> from cranfield.online import read_logs, read_trial
    >>> found = analyse(read_logs("examples"), read_trial("examples/experiment.toml"))
    >>> found.decision, found.rule.method
    ('cannot tell yet', 'always valid')
    """
    found = log if isinstance(log, Aggregate) else aggregate(log, trial)
    _check_same(found, trial)
    return _Analysing(found, trial, tuple(looks), despite_mismatch).run()


def _check_same(found: Aggregate, trial: Trial) -> None:
    """Refuses moments of another plan: they may leave out or cut what this one does not."""
    if found.digest != trial.digest:
        raise UsageError(
            f"the moments are of a trial with the digest {found.digest}, and that of {trial.name} is {trial.digest}",
            "Aggregate the log again by this plan, or analyse by the one that the moments were made with.",
        )


@dataclass(frozen=True, eq=False)
class _Analysing:
    found: Aggregate
    trial: Trial
    looks: tuple[TrialLook, ...]
    despite_mismatch: bool

    @property
    def arms(self) -> list[str]:
        """All but the control."""
        return list(self.trial.arms)[1:]

    @property
    def part(self) -> float:
        """The part of alpha that the primary metric of one arm has."""
        return 1 / len(self.arms)

    @cached_property
    def rule(self) -> LookRule:
        return look_rule(self.trial, self.found.units, self.looks, queries=self.found.queries, ended=self.ended)

    @cached_property
    def ended(self) -> bool:
        """Whether the log reaches to the end of the trial: it has queries of its last day, or later ones."""
        if self.trial.end is None:
            return False
        if any(part.reason == AFTER_END and part.queries for part in self.found.excluded):
            return True
        days = sorted([*self.found.of("day"), *self.found.of("first day")])
        if not days:
            return False
        last = (self.trial.end.astimezone(UTC) - timedelta(microseconds=1)).date()
        return date.fromisoformat(days[-1]) >= last

    def run(self) -> TrialAnalysis:
        from cranfield.online.analysis.cautions import cautions

        sample = sample_check(self.found, self.trial)
        shown = self.despite_mismatch and min(sample.counts) > 0
        withheld = self.eventless or (sample.broken is not None and not shown)
        result = TrialAnalysis(
            trial=self.trial,
            units=self.found.units,
            queries=self.found.queries,
            events=self.found.events,
            verdicts=(),
            rule=self.rule,
            sample=sample,
            withheld=withheld,
            overridden=sample.broken is not None and not withheld,
            exposures=exposures(self.found, self.trial),
            excluded=self.found.excluded,
        )
        if not withheld:
            result = self.with_effects(result)
        result = replace(result, verdicts=self.verdicts(result))
        changed = changed_since(list(self.looks), self.trial)
        return replace(result, warnings=(*changed, *cautions(result, self.found)))

    def unseen(self, metric: str) -> str | None:
        """Why nothing can be said of a metric: the log has no event that it counts."""
        action = (self.found.unseen or {}).get(metric)
        return None if action is None else unseen_told(action, self.found.actions or ())

    @property
    def eventless(self) -> bool:
        """Whether the log has no event at all, where the primary metric counts some."""
        return self.unseen(self.trial.primary) is not None and not self.found.actions

    def verdicts(self, result: TrialAnalysis) -> tuple[ArmVerdict, ...]:
        broken = result.sample.broken
        if broken is None and self.eventless:
            broken = f"{self.unseen(self.trial.primary)}, and {self.trial.primary} counts some"
        if broken is not None:
            told = broken + (
                "; effects are shown because that was asked for, and decide nothing" if result.overridden else ""
            )
            return tuple(ArmVerdict(arm, "data broken", told) for arm in self.arms)
        return tuple(
            verdict_of(
                effect,
                [rail for rail in result.guardrails if rail.arm == effect.arm],
                self.rule,
                unseen=self.unseen(effect.metric),
            )
            for effect in result.primary
        )

    @cached_property
    def estimates(self) -> Mapping[tuple[str, str], Estimated]:
        """Every metric in all units, of every arm but the control."""
        whole, control = self.found.whole, self.trial.control
        return {
            (name, arm): estimated(self.found.metric(name), whole[control], whole[arm], self.found.covariates)
            for name in self.trial.metric_names
            for arm in self.arms
        }

    def effect(self, name: str, arm: str, limit: float, shown: float) -> MetricEffect:
        return effect_of(self.estimates[name, arm], self.found.metric(name), arm, limit, shown=shown)

    def with_effects(self, result: TrialAnalysis) -> TrialAnalysis:
        limits = (self.rule.limit(self.part), self.rule.shown(self.part))
        primary = tuple(self.effect(self.trial.primary, arm, *limits) for arm in self.arms)
        worse = [worse_arm(self.found, self.trial, effect) for effect in primary]
        fades = [fading(self.found, self.trial, arm) for arm in self.arms]
        each = self.of_arms
        return replace(
            result,
            primary=primary,
            guardrails=self.guardrails(),
            guarded=tuple(
                self.effect(rail.metric, arm, *limits) for arm in self.arms for rail in self.trial.guardrails
            ),
            **self.family(),
            triggered=each(lambda arm: triggered_effects(self.found, self.trial, self.rule, arm)),
            adjusted=tuple(self.ways(effect) for effect in primary) if self.found.covariates else (),
            stopped=tuple(self.stopped(primary)),
            denominators=each(lambda arm: denominator_effects(self.found, self.trial, self.rule, arm)),
            course=each(lambda arm: course(self.found, self.trial, self.rule, arm)),
            exposed_days=each(lambda arm: by_exposure(self.found, self.trial, arm)),
            fading=tuple(fade for fade in fades if fade is not None),
            worse=tuple(lost for lost in worse if lost is not None),
        )

    def of_arms(self, made: Any) -> tuple[Any, ...]:
        return tuple(part for arm in self.arms for part in made(arm))

    def guardrails(self) -> tuple[GuardrailResult, ...]:
        limit, shown = self.rule.limit(self.part, sides=1), self.rule.shown(self.part, sides=1)
        return tuple(
            guardrail_result(
                rail,
                self.found.metric(rail.metric),
                self.estimates[rail.metric, arm],
                arm,
                RailLimit(limit, shown, self.unseen(rail.metric)),
            )
            for arm in self.arms
            for rail in self.trial.guardrails
        )

    def family(self) -> dict[str, Any]:
        """Secondary metrics and segments, corrected as one family."""
        parts = segment_estimates(self.found, self.trial)
        between = segment_differences(parts)
        named = [(name, arm) for arm in self.arms for name in self.trial.secondary]
        ps = [self.estimates[key].arms.difference().p for key in named]
        ps += [part.estimate.arms.difference().p for part in parts] + [difference.p for difference in between]
        if not ps:
            return {}
        limits: FamilyLimits = family_limits(ps, self.rule)
        shown = self.rule.shown(1 / limits.size) if self.rule.exhausted else limits.limit
        columns = self.found.metric(self.trial.primary)
        return {
            "family": limits,
            "secondary": tuple(self.effect(name, arm, limits.limit, shown) for name, arm in named),
            "segments": tuple(
                effect_of(
                    part.estimate,
                    columns,
                    part.arm,
                    limits.limit,
                    part=f"{part.segment} = {part.value}",
                    shown=shown,
                )
                for part in parts
            ),
            "differences": tuple(difference._replace(limit=limits.limit) for difference in between),
        }

    def ways(self, effect: MetricEffect) -> AdjustedWays:
        estimate = self.estimates[self.trial.primary, effect.arm]
        assert estimate.adjustment is not None
        assert estimate.cuped is not None
        found = [
            arms.difference(confidence=confidence_of(effect.shown))
            for arms in (estimate.plain, estimate.cuped.arms, estimate.adjustment.arms)
        ]
        plain, cuped, regression = (each if effect.shown > 0 else each._replace(low=-inf, high=inf) for each in found)
        names = [name.removeprefix(PRE) for name in self.found.covariates]
        balance = tuple((name, each.value, each.p) for name, each in zip(names, estimate.cuped.balance, strict=True))
        remaining = (1.0, estimate.cuped.remaining, estimate.adjustment.remaining)
        return AdjustedWays(effect.arm, plain, cuped, regression, remaining, balance)

    def stopped(self, primary: Sequence[MetricEffect]) -> list[AfterStopping]:
        """Of effects that crossed a limit of a plan with several looks, what they are after stopping."""
        if self.rule.method != "group sequential":
            return []
        boundary = self.rule.boundary(self.part)
        look = len(self.rule.information) - 1
        ends = [effect for effect in primary if (effect.found or self.rule.final) and effect.error > 0]
        return [
            AfterStopping(effect.arm, after_stopping(boundary, look, effect.difference, effect.error))
            for effect in ends
        ]
