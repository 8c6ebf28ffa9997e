"""By what rule a look at an experiment decides: limits of the plan, or intervals that are always valid.

A look that the plan has gets its limit from the spending of alpha, at the information that it really has. One that
was not planned may have been made because of what was seen: from there on everything is always valid, with what planned
looks have left of alpha, so that the chance of a false alarm over all looks stays below alpha.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from cranfield.errors import percent, plural, share
from cranfield.statistics.confidence_sequences import ConfidenceSequence
from cranfield.statistics.group_sequential import Boundary, Limits, SequentialDesign

if TYPE_CHECKING:
    from cranfield.online.trial import Spending, Trial

LookMethod = Literal["one look", "group sequential", "always valid"]
NEAR = 0.05  # of the maximum: how far from its planned place a look may be made
BURN_IN = 400  # units in all arms before which nothing is always valid: means of fewer are not normal enough
LEAST_LIMIT = 1e-12  # of p: a smaller one would need digits that intervals have not
TUNED_FOR = 10_000  # units that always valid intervals are narrowest at, if the plan has no maximum
LIMITS: dict[Spending, Limits] = {
    "obrien-fleming": "lan-demets-obrien-fleming",
    "pocock": "lan-demets-pocock",
    "hwang-shih-decani": "hwang-shih-decani",
    "kim-demets": "kim-demets",
}


@dataclass(frozen=True)
class LookRule:
    """The rule at one look: which method, with how many units, and whether the plan has this look.

    `information` are the shares of the maximum at planned looks up to this one, `spent` the alpha that planned looks
    before an unplanned one have used up. `final` says that no look follows.
    """

    method: LookMethod
    units: int
    alpha: float
    number: int
    planned: bool
    final: bool
    information: tuple[float, ...]
    design: SequentialDesign | None
    tuned_for: float
    spent: float = 0.0
    why: str = ""

    def limit(self, part: float = 1.0, sides: int = 2) -> float:
        """The p at this look below which something is found, if it may have that part of alpha over all looks.

        >>> LookRule("one look", 100, 0.05, 1, True, True, (1.0,), None, 1.0).limit(0.5)
        0.025
        """
        from scipy.special import ndtr

        if self.method == "one look":
            return self.alpha * part
        if self.method == "group sequential":
            return _reachable(float(self.boundary(part, sides).nominal[-1]))
        left = (self.alpha - self.spent) * part
        if left <= 0:
            return 0.0
        sequence = ConfidenceSequence(self.tuned_for, min(left * 2 / sides, 0.999), burn_in=BURN_IN)
        return _reachable(float(sides * ndtr(-sequence.factors(self.units))))

    def boundary(self, part: float = 1.0, sides: int = 2) -> Boundary:
        """The limits of all planned looks up to this one, for that part of alpha."""
        assert self.design is not None
        design = replace(self.design, alpha=self.alpha * part, sides=sides)
        return design.boundary(self.information, final=self.final)

    def at_units(self, units: int) -> LookRule:
        """The same rule with other units: for intervals that are always valid, or as a planned look made there."""
        if self.method != "group sequential" or units == self.units:
            return replace(self, units=units)
        now = self.information[-1] * units / self.units
        return replace(self, units=units, information=(now,), final=self.final and units >= self.units)

    @cached_property
    def burning_in(self) -> bool:
        """Whether there are too few units for anything to be always valid."""
        return self.method == "always valid" and self.units < BURN_IN


def look_rule(trial: Trial, units: int, earlier: Sequence[int] = (), *, ended: bool = False) -> LookRule:
    """The rule for a look with so many units, after earlier looks with so many each.

    The same number of units again is the same look again. `ended` says that the trial's end has come, so that no look
    follows, however few units there are.

    >>> from cranfield.online import Trial
    >>> from cranfield.online.trial import Looks
    >>> trial = Trial("t", {"a": 1, "b": 1}, primary="ctr", maximum=1000, looks=Looks("pocock", (0.5, 1.0)))
    >>> rule = look_rule(trial, 520)
    >>> rule.method, rule.planned, round(rule.limit(), 4)
    ('group sequential', True, 0.0319)
    >>> look_rule(trial, 300).method
    'always valid'
    """
    made = list(dict.fromkeys(earlier))
    made = made[: made.index(units)] if units in made else made
    walk = _Walk(trial)
    for count in made:
        walk.look(count)
    walk.look(units, ended=ended)
    always = trial.looks.spending == "always-valid" or walk.unplanned
    design = None if trial.looks.spending == "always-valid" else _design(trial)
    alone = not always and len(walk.information) == 1 and walk.last
    method: LookMethod = "always valid" if always else "one look" if alone else "group sequential"
    spent = 0.0
    if always and design is not None and walk.information:
        spent = trial.alpha if walk.last else design.spent(walk.information[-1])
    rule = LookRule(
        method,
        units,
        trial.alpha,
        len(made) + 1,
        not walk.unplanned,
        (ended and not walk.unplanned) or (walk.last and not always) or (ended and always),
        tuple(walk.information),
        design,
        float(trial.maximum or TUNED_FOR),
        spent,
    )
    return replace(rule, why=_reason(trial, rule, walk.wanted))


def _reachable(limit: float) -> float:
    """A limit, or 0 where it is too small for an interval to be computed: nothing is found then."""
    return limit if limit >= LEAST_LIMIT else 0.0


class _Walk:
    """Looks one after the other, each held against the plan."""

    def __init__(self, trial: Trial) -> None:
        self.trial, self.left = trial, list(trial.looks.at)
        self.information: list[float] = []
        self.unplanned = False
        self.last = False
        self.wanted: float | None = None

    def look(self, units: int, *, ended: bool = False) -> None:
        if self.trial.looks.spending == "always-valid" or self.unplanned:
            return
        now = 1.0 if self.trial.maximum is None else units / self.trial.maximum
        before = self.information[-1] if self.information else 0.0
        self.wanted = min(self.left, key=lambda planned: abs(planned - now), default=None)
        if self.wanted is None or now <= before:
            self.unplanned = True
            return
        near = abs(now - self.wanted) <= NEAR + 1e-12 or (self.wanted == 1 and now >= 1)
        if not near and not ended:
            self.unplanned = True
            return
        self.information.append(now)
        self.last = ended or self.wanted == 1
        self.left = [] if self.last else [planned for planned in self.left if planned > self.wanted]


def _design(trial: Trial) -> SequentialDesign:
    return SequentialDesign(LIMITS[trial.looks.spending], alpha=trial.alpha, parameter=trial.looks.parameter)


def _reason(trial: Trial, rule: LookRule, wanted: float | None) -> str:
    """Why this rule, in a sentence."""
    if rule.method == "always valid":
        return _always(trial, rule)
    if trial.maximum is None:
        return "The plan has one look and no maximum: this look is the one, and any later one was not planned."
    now = rule.information[-1]
    at = f"{share(now, 1)} of the maximum of {plural(trial.maximum, 'unit')}"
    if rule.method == "one look":
        early = "" if now >= 1 - NEAR else ", since the trial has ended"
        return f"The one look that was planned, with {at}{early}."
    moved = ""
    if wanted is not None and abs(wanted - now) > 0.001:
        moved = f" It was planned for {share(wanted)}; the limit is that of where it was made."
    last = ", the last" if rule.final else ""
    planned = f"Look {len(rule.information)} of {len(trial.looks.at)} as planned{last}, with {at}"
    return f"{planned}: alpha is spent by {trial.looks.spending}.{moved}"


def _always(trial: Trial, rule: LookRule) -> str:
    burn_in = f" Nothing is said before {plural(BURN_IN, 'unit')}: there are {rule.units:,}." if rule.burning_in else ""
    if trial.looks.spending == "always-valid":
        return (
            f"By the plan every look is always valid: {percent(trial.alpha)} intervals hold at all together.{burn_in}"
        )
    if rule.alpha - rule.spent <= 0:
        return "This look was not planned, and planned ones have used up all of alpha: nothing more can be found."
    places = ", ".join(share(at) for at in trial.looks.at)
    planned = f"planned are looks at {places} of the maximum" if trial.maximum else "the one look has been made"
    left = f" with the alpha of {rule.alpha - rule.spent:.3g} that is left" if rule.spent else ""
    return (
        f"This look, or one before it, was not planned ({planned}): from there on intervals are always valid{left}, "
        f"which makes them wider.{burn_in}"
    )
