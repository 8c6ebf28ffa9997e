"""How large and how long an experiment must be, and what it could find: before it runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, isnan, sqrt
from typing import TYPE_CHECKING, NamedTuple

from cranfield.errors import UsageError, percent, plural, share
from cranfield.online.analysis.looking import LIMITS, TUNED_FOR
from cranfield.online.analysis.pre_periods import MOST_WEEKS, PrePeriod, SeenPeriod
from cranfield.render.document import Block, Paragraph, titled, written
from cranfield.render.grid import DELIMITERS, Field, Grid, separated
from cranfield.render.json_form import as_json
from cranfield.statistics.confidence_sequences import ConfidenceSequence
from cranfield.statistics.group_sequential import SequentialDesign
from cranfield.statistics.sizes import Sizing

if TYPE_CHECKING:
    from cranfield.online.trial import Trial

SCHEMA = "cranfield.online-plan/1"


class PlannedWeek(NamedTuple):
    """An experiment of so many weeks: the units that take part, those that the effect needs, and what can be found.

    `detectable` is relative to the metric's value. `told` says that the log has so many weeks.
    """

    weeks: int
    units: int
    needed: int
    detectable: float
    told: bool


class PlannedLook(NamedTuple):
    """A look: at which share of the maximum, with how many units, and the p below which it stops."""

    share: float
    units: int
    limit: float


@dataclass(frozen=True)
class OnlinePlan:
    """What an experiment needs to find an effect, with its looks, and how long that takes.

    `arms` has the units that each arm needs, `maximum` those of all together, with what looking early costs:
    `inflation`. `explained` is the share of the variance that covariates take away. `weeks` is empty without a log, and
    `duration` None where even the longest is too short.
    """

    experiment: str
    digest: str
    metric: str
    value: float
    sd: float
    effect: float
    power: float
    alpha: float
    explained: float
    explained_by: str
    inflation: float
    arms: dict[str, int]
    maximum: int
    looks: tuple[PlannedLook, ...]
    weeks: tuple[PlannedWeek, ...]
    duration: int | None
    planned: float | None  # what the trial's own maximum can find, relative

    def __str__(self) -> str:
        return render_plan(self, "table")


def plan_trial(
    trial: Trial, before: PrePeriod, effect: float, *, power: float = 0.8, taking_part: float = 1.0
) -> OnlinePlan:
    """Plans a trial for a relative effect on its primary metric, from what is known beforehand.

    >>> from cranfield.online import Trial
    >>> trial = Trial("t", {"a": 1, "b": 1}, primary="ctr")
    >>> plan = plan_trial(trial, PrePeriod("ctr", (SeenPeriod(0, 0, 0.4, 0.5),)), 0.05)
    >>> plan.maximum, plan.arms
    (19626, {'a': 9813, 'b': 9813})
    """
    if not 0 < abs(effect) < float("inf"):
        raise UsageError(f"the effect is a share of the metric's value and not 0, not {effect:g}")
    if not 0 < taking_part <= 1:
        raise UsageError(f"the share of units that take part is above 0 and at most 1, not {taking_part:g}")
    planning = _Planning(trial, before, effect, power, taking_part)
    weeks = planning.weeks()
    duration = next((week.weeks for week in weeks if week.units >= week.needed), None)
    base = before.after(duration) if duration is not None else before.periods[-1]
    arms = planning.arms(base)
    maximum = sum(arms.values())
    return OnlinePlan(
        experiment=trial.name,
        digest=trial.digest,
        metric=trial.primary,
        value=base.value,
        sd=base.sd,
        effect=effect,
        power=power,
        alpha=trial.alpha,
        explained=before.explained,
        explained_by=before.explained_by,
        inflation=planning.inflation,
        arms=arms,
        maximum=maximum,
        looks=planning.looks(maximum),
        weeks=tuple(weeks),
        duration=duration,
        planned=None if trial.maximum is None else planning.detectable(trial.maximum, base),
    )


class _Planning:
    def __init__(self, trial: Trial, before: PrePeriod, effect: float, power: float, taking_part: float) -> None:
        self.trial, self.before, self.effect = trial, before, effect
        self.power, self.taking_part = power, taking_part
        self.alpha = trial.alpha / (len(trial.arms) - 1)
        for period in before.periods:
            if isnan(period.value) or period.value == 0:
                raise UsageError(f"{before.metric} is {period.value:g}: an effect relative to it is none")
            if not period.sd > 0:
                raise UsageError(f"{before.metric} does not vary over {plural(period.units, 'unit')}: nothing to plan")

    @property
    def inflation(self) -> float:
        """What looking early costs, as a factor of the units."""
        from scipy.special import ndtri

        looks = self.trial.looks
        if looks.spending == "always-valid":
            # Narrowest about the number it is tuned for: found there with the same chance as one look finds it.
            n = float(self.trial.maximum or TUNED_FOR)
            reach, one = float(ConfidenceSequence(n, self.alpha).factors(n)), float(-ndtri(self.alpha / 2))
            more = float(ndtri(self.power))
            return ((reach + more) / (one + more)) ** 2
        if len(looks.at) == 1:
            return 1.0
        return max(1.0, self.design().boundary(looks.at).inflation(self.power))

    def design(self) -> SequentialDesign:
        looks = self.trial.looks
        return SequentialDesign(LIMITS[looks.spending], alpha=self.alpha, parameter=looks.parameter)

    def sizing(self, arm: str) -> Sizing:
        shares = self.trial.shares
        return Sizing(
            power=self.power,
            alpha=self.alpha,
            allocation=shares[arm] / shares[self.trial.control],
            covariate_correlation=sqrt(self.before.explained),
            inflation=self.inflation,
        )

    def arms(self, period: SeenPeriod) -> dict[str, int]:
        """The units of each arm: as many as its hardest comparison needs, in the proportion of the weights."""
        shares = self.trial.shares
        difference = abs(self.effect * period.value)
        control = max(self.sizing(arm).mean(difference, period.sd) for arm in list(shares)[1:])
        total = control / shares[self.trial.control]
        return {arm: ceil(total * part - 1e-9) for arm, part in shares.items()}

    def detectable(self, units: int, period: SeenPeriod) -> float:
        """The least relative effect on every arm that so many units in all find; NaN if they are too few for any."""
        shares = self.trial.shares
        control = units * shares[self.trial.control]
        try:
            found = max(self.sizing(arm).detectable(control, period.sd) for arm in list(shares)[1:])
        except UsageError:
            return float("nan")
        return found / abs(period.value)

    def weeks(self) -> list[PlannedWeek]:
        if not self.before.periods[-1].days:
            return []
        rows = []
        for number in range(1, MOST_WEEKS + 1):
            period = self.before.after(number)
            units = round(period.units * self.taking_part)
            needed = sum(self.arms(period).values())
            rows.append(PlannedWeek(number, units, needed, self.detectable(units, period), period.told))
            if units >= needed and not (number * 7 < self.before.periods[-1].days):
                break
        return rows

    def looks(self, maximum: int) -> tuple[PlannedLook, ...]:
        looks = self.trial.looks
        if looks.spending == "always-valid":
            return ()
        if len(looks.at) == 1:
            return (PlannedLook(1.0, maximum, self.alpha),)
        limits = self.design().boundary(looks.at).nominal
        return tuple(PlannedLook(at, ceil(at * maximum), float(p)) for at, p in zip(looks.at, limits, strict=True))


def render_plan(plan: OnlinePlan, format: str) -> str:
    """In a format, ending in a newline; CSV and TSV have a line for each week."""
    if format == "json":
        return as_json(SCHEMA, plan)
    if format in DELIMITERS:
        rows: list[Sequence[Field]] = [
            [*week[:3], None if isnan(week.detectable) else week.detectable, "yes" if week.told else "no"]
            for week in plan.weeks
        ]
        return separated(PlannedWeek._fields, rows, DELIMITERS[format])
    return written(_blocks(plan), format)


def _blocks(plan: OnlinePlan) -> list[Block]:
    needs = f"{plural(plan.maximum, 'unit')} in all find {plan.effect:+z.2%} of {plan.metric} with a chance of "
    needs += f"{share(plan.power)}, at an error of {share(plan.alpha)}."
    blocks: list[Block] = [Paragraph(f"{needs} {_lasts(plan)}".strip())]
    known = (
        f"Trial {plan.experiment}, digest {plan.digest}: {plan.metric} is {plan.value:.4g}, and what units add to it "
    )
    blocks.append(Paragraph(f"{known}has a standard deviation of {plan.sd:.4g}."))
    rows = [[arm, f"{units:,}"] for arm, units in plan.arms.items()]
    blocks += titled("Units needed", Grid(["arm", "units"], rows), _notes(plan))
    if len(plan.looks) > 1:
        looks = [[share(look.share), f"{look.units:,}", f"{look.limit:.4g}"] for look in plan.looks]
        note = "stop at a look if p is below its limit"
        blocks += titled("Looks", Grid(["of the maximum", "units", "limit of p"], looks), [note])
    if plan.weeks:
        weeks = [
            [
                f"{week.weeks}{'' if week.told else ' (drawn on)'}",
                f"{week.units:,}",
                f"{week.needed:,}",
                "–" if isnan(week.detectable) else f"{week.detectable:.2%}",
            ]
            for week in plan.weeks
        ]
        note = "units: those seen in so many weeks, each once; detectable: the least effect that these find, relative"
        blocks += titled("By weeks", Grid(["weeks", "units", "needed", "detectable"], weeks), [note])
    return blocks


def _lasts(plan: OnlinePlan) -> str:
    if not plan.weeks:
        return ""
    if plan.duration is None:
        return f"Not even {plural(len(plan.weeks), 'week')} bring as many."
    return f"That takes {plural(plan.duration, 'week')}."


def _notes(plan: OnlinePlan) -> list[str]:
    notes = []
    if plan.inflation > 1:
        notes.append(f"looking early costs {share(plan.inflation - 1, 1)} more units, which are counted")
    if plan.explained:
        by = f" by {plan.explained_by}" if plan.explained_by else ""
        notes.append(f"{share(plan.explained, 1)} of the variance is explained{by}, and taken away by adjustment")
    if len(plan.arms) > 2:
        notes.append(f"each of {len(plan.arms) - 1} arms is tested at {percent(plan.alpha / (len(plan.arms) - 1))}")
    if plan.planned is not None and not isnan(plan.planned):
        notes.append(f"the trial's own maximum finds {plan.planned:.2%} with the same chance")
    return notes
