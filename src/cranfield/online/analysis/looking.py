"""By what rule a look at an experiment decides: limits of the plan, or intervals that are always valid.

A look that the plan has gets its limit from the spending of alpha, at the information that it really has. One that
was not planned may have been made because of what was seen: from there on everything is always valid, with what planned
looks have left of alpha, so that the chance of a false alarm over all looks stays below alpha. Where they have left
nothing, a look shows intervals and decides nothing: what the look that used alpha up has said stands.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from cranfield.errors import percent, plural, share
from cranfield.online.trial_ledger import TrialLook, changed_since
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
    before an unplanned one have used up. `final` says that no look follows. `fits` says that the plan has this look,
    though an earlier one may not have been planned; `decided` are the units of the look that used up all of alpha.
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
    fits: bool = True
    decided: int = 0
    why: str = ""

    def limit(self, part: float = 1.0, sides: int = 2) -> float:
        """The p at this look below which something is found, if it may have that part of alpha over all looks.

        >>> LookRule("one look", 100, 0.05, 1, True, True, (1.0,), None, 1.0).limit(0.5)
        0.025
        """
        if self.method == "one look":
            return self.alpha * part
        if self.method == "group sequential":
            return _reachable(float(self.boundary(part, sides).nominal[-1]))
        return 0.0 if self.exhausted else self._always_valid((self.alpha - self.spent) * part, sides)

    def shown(self, part: float = 1.0, sides: int = 2) -> float:
        """The p that the interval shown goes with: the limit; once alpha is used up, that of always valid intervals.

        These hold by themselves, from the first look on that was not planned, and decide nothing.
        """
        return self._always_valid(self.alpha * part, sides) if self.exhausted else self.limit(part, sides)

    def _always_valid(self, alpha: float, sides: int) -> float:
        from scipy.special import ndtr

        sequence = ConfidenceSequence(self.tuned_for, min(alpha * 2 / sides, 0.999), burn_in=BURN_IN)
        return _reachable(float(sides * ndtr(-sequence.factors(self.units))))

    def boundary(self, part: float = 1.0, sides: int = 2) -> Boundary:
        """The limits of all planned looks up to this one, for that part of alpha."""
        assert self.design is not None
        design = replace(self.design, alpha=self.alpha * part, sides=sides)
        return design.boundary(self.information, final=self.final)

    def at_units(self, units: int, *, planned: bool) -> LookRule:
        """The rule of a look before this one, with fewer units: one that was planned, or one that was not."""
        if self.method == "always valid" or units == self.units:
            return replace(self, units=units)
        assert self.design is not None
        now = self.information[-1] * units / self.units
        before = tuple(share for share in self.information if share < now)
        earlier = replace(self, units=units, final=False, planned=planned)
        if planned:
            return replace(earlier, method="group sequential", information=(*before, now))
        spent = self.design.spent(before[-1]) if before else 0.0
        return replace(earlier, method="always valid", information=before, spent=spent)

    @cached_property
    def burning_in(self) -> bool:
        """Whether there are too few units for anything to be always valid."""
        return self.method == "always valid" and self.units < BURN_IN

    @property
    def last(self) -> bool:
        """Whether this look is the last that the plan has, on which all of alpha is spent."""
        return self.final and self.method != "always valid"

    @property
    def exhausted(self) -> bool:
        """Whether looks before this one have used up all of alpha, so that it decides nothing."""
        return self.method == "always valid" and self.spent >= self.alpha


def look_rule(
    trial: Trial,
    units: int,
    earlier: Sequence[TrialLook] = (),
    *,
    queries: int | None = None,
    ended: bool = False,
) -> LookRule:
    """The rule for a look with so many units, after earlier ones.

    The same units with as many queries are the same look again. `ended` says that the trial's end has come, so that no
    look follows, however few units there are.

    >>> from cranfield.online import Trial
    >>> from cranfield.online.trial import Looks
    >>> trial = Trial("t", {"a": 1, "b": 1}, primary="ctr", maximum=1000, looks=Looks("pocock", (0.5, 1.0)))
    >>> rule = look_rule(trial, 520)
    >>> rule.method, rule.planned, round(rule.limit(), 4)
    ('group sequential', True, 0.0319)
    >>> look_rule(trial, 300).method
    'always valid'
    """
    made = _before(earlier, units, queries)
    walk = _Walk(trial)
    for look in made:
        walk.look(look.units, ended=bool(look.last))
    walk.look(units, ended=ended)
    always = trial.looks.spending == "always-valid" or walk.unplanned
    design = None if trial.looks.spending == "always-valid" else _design(trial)
    reached = trial.maximum is not None and units >= trial.maximum
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
        ended or (reached if always else walk.last),
        tuple(walk.information),
        design,
        float(trial.maximum or TUNED_FOR),
        spent,
        walk.fits,
        walk.decided,
    )
    return replace(rule, why=_reason(trial, rule, walk.wanted, changed=bool(changed_since(list(earlier), trial))))


def _before(earlier: Sequence[TrialLook], units: int, queries: int | None) -> list[TrialLook]:
    """The looks that were made before this one, each once."""
    made: dict[tuple[int, int | None], TrialLook] = {}
    for look in earlier:
        if look.is_made_of(units, queries):
            break
        made.setdefault((look.units, look.queries), look)
    return list(made.values())


def unplanned_looks(trial: Trial, looks: Sequence[TrialLook]) -> int:
    """How many looks at a trial were none that its plan has.

    >>> from cranfield.online import Trial
    >>> trial = Trial("t", {"a": 1, "b": 1}, primary="ctr", maximum=1000)
    >>> unplanned_looks(trial, [TrialLook("", "t", trial.digest, units) for units in (300, 600, 1000)])
    2
    """
    walk, count = _Walk(trial), 0
    for look in _before(looks, -1, None):
        walk.look(look.units, ended=bool(look.last))
        count += not walk.fits
    return count


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
        self.fits = True
        self.decided = 0
        self.wanted: float | None = None

    def look(self, units: int, *, ended: bool = False) -> None:
        if self.trial.looks.spending == "always-valid":
            return
        now = 1.0 if self.trial.maximum is None else units / self.trial.maximum
        self.wanted = min(self.left, key=lambda planned: abs(planned - now), default=None)
        self.fits = self._is_planned(now, ended)
        self.unplanned = self.unplanned or not self.fits
        if self.unplanned or self.wanted is None:
            return
        self.information.append(now)
        self.last = ended or self.wanted == 1
        self.decided = units if self.last else 0
        self.left = [] if self.last else [planned for planned in self.left if planned > self.wanted]

    def _is_planned(self, now: float, ended: bool) -> bool:
        """Whether the plan has a look here: near its place, or at the end of the trial."""
        before = self.information[-1] if self.information else 0.0
        if self.wanted is None or now <= before:
            return False
        if ended:
            return True
        if self.trial.maximum is None:  # when the one look is made, the end says; without one, it is the first
            return self.trial.end is None
        return abs(now - self.wanted) <= NEAR + 1e-12 or (self.wanted == 1 and now >= 1)


def _design(trial: Trial) -> SequentialDesign:
    return SequentialDesign(LIMITS[trial.looks.spending], alpha=trial.alpha, parameter=trial.looks.parameter)


def _reason(trial: Trial, rule: LookRule, wanted: float | None, *, changed: bool) -> str:
    """Why this rule, in a sentence; a plan that was `changed` after results were seen planned nothing of it."""
    if rule.method == "always valid":
        return _always(trial, rule)
    one = "The one look of the plan as it is now" if changed else "The one look that was planned"
    if trial.maximum is None:
        if trial.end is not None:
            return f"{one}, at the trial's end ({_end_told(trial)})."
        return (
            "The plan has neither a maximum nor an end: this look, the first, is the one. All of alpha is spent on it, "
            "and any later one was not planned."
        )
    now = rule.information[-1]
    at = f"{share(now, 1)} of the maximum of {plural(trial.maximum, 'unit')}"
    if rule.method == "one look":
        early = "" if now >= 1 - NEAR else ", since the trial has ended"
        count = len(trial.looks.at)
        return f"{one if count == 1 else f'The last of {count} looks, and the first made'}, with {at}{early}."
    moved = ""
    if wanted is not None and abs(min(now, 1.0) - wanted) > 0.005:
        meant = "The plan as it is now has it at" if changed else "It was planned for"
        moved = f" {meant} {share(wanted)}; the limit is that of where it was made."
    last = ", the last" if rule.final else ""
    by = "by the plan as it is now" if changed else "as planned"
    told = f"Look {len(rule.information)} of {len(trial.looks.at)} {by}{last}, with {at}"
    return f"{told}: alpha is spent by {trial.looks.spending}.{moved}"


def _end_told(trial: Trial) -> str:
    assert trial.end is not None
    return f"{trial.end.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def _always(trial: Trial, rule: LookRule) -> str:
    burn_in = f" Nothing is said before {plural(BURN_IN, 'unit')}: there are {rule.units:,}." if rule.burning_in else ""
    if trial.looks.spending == "always-valid":
        return (
            f"By the plan every look is always valid: {percent(trial.alpha)} intervals hold at all together.{burn_in}"
        )
    if rule.exhausted:
        return (
            f"This look was not planned, and the one with {plural(rule.decided, 'unit')} used up all of alpha: nothing "
            f"more can be found. Intervals are always valid from there on, and decide nothing.{burn_in}"
        )
    which = "An earlier look" if rule.fits else "This look"
    places = ", ".join(share(at) for at in trial.looks.at)
    planned = f"planned are looks at {places} of the maximum"
    if trial.maximum is None:
        planned = f"planned is one, at the trial's end, {_end_told(trial)}"
    left = f" with the alpha of {rule.alpha - rule.spent:.3g} that is left" if rule.spent else ""
    return (
        f"{which} was not planned ({planned}): from there on intervals are always valid{left}, "
        f"which makes them wider.{burn_in}"
    )
