"""What to do: ship, do not ship, cannot tell yet, or mend the data first; each with why."""

from __future__ import annotations

from collections.abc import Sequence
from math import isinf, isnan
from typing import TYPE_CHECKING, Literal, NamedTuple

from cranfield.errors import percent, plural, some
from cranfield.online.analysis.estimates import MetricEffect
from cranfield.online.analysis.guardrails import GuardrailResult

if TYPE_CHECKING:
    from cranfield.online.analysis.looking import LookRule

Decision = Literal["ship", "do not ship", "cannot tell yet", "data broken"]
DECISIONS: tuple[Decision, ...] = ("ship", "do not ship", "cannot tell yet", "data broken")


class ArmVerdict(NamedTuple):
    """What to do about an arm, and why, in a sentence."""

    arm: str
    decision: Decision
    why: str

    def __str__(self) -> str:
        joins = {"cannot tell yet": " about ", "data broken": " for "}.get(self.decision, " ")
        return f"{self.decision[0].upper()}{self.decision[1:]}{joins}{self.arm}: {self.why}."


def verdict_of(
    primary: MetricEffect, guardrails: Sequence[GuardrailResult], rule: LookRule, *, unseen: str | None = None
) -> ArmVerdict:
    """The decision about an arm, of its primary metric and its guardrails; `unseen` says why the log tells nothing of
    the primary metric.

    Ship only what is better and breaks nothing: the gain must be found and every guardrail held. A loss, or a broken
    guardrail, ends it at any look; what is open ends it at the last one.
    """
    arm = primary.arm
    broken = [rail for rail in guardrails if rail.standing == "broken"]
    loose = [rail for rail in guardrails if rail.standing == "open"]
    told = effect_told(primary)
    if primary.standing == "worse":
        return ArmVerdict(arm, "do not ship", f"it is worse by the primary metric: {told}")
    if broken:
        return ArmVerdict(arm, "do not ship", f"it breaks {rails_told(broken)}")
    if unseen is not None:
        return ArmVerdict(arm, "cannot tell yet", f"nothing can be said of {primary.metric}: {unseen}")
    if rule.exhausted:
        decided = f"the last look of the plan, with {plural(rule.decided, 'unit')}, used up all of alpha"
        why = f"{decided}, so what it said stands and this one decides nothing: {told}"
        return ArmVerdict(arm, "cannot tell yet", why)
    if rule.burning_in:
        return ArmVerdict(arm, "cannot tell yet", "there are too few units for an interval that is always valid")
    if primary.standing == "unknown":
        return ArmVerdict(arm, "cannot tell yet", f"nothing can be said of {primary.metric}: {primary.note}")
    if primary.standing == "open":
        if rule.final:
            return ArmVerdict(arm, "do not ship", f"no gain was shown by the last look: {told}")
        return ArmVerdict(arm, "cannot tell yet", f"neither a gain nor a loss is shown: {told}")
    if loose:
        decision: Decision = "do not ship" if rule.final else "cannot tell yet"
        return ArmVerdict(arm, decision, f"the primary metric is better ({told}), but {rails_told(loose)}")
    held = "" if not guardrails else f", and {rails_told(guardrails)}"
    return ArmVerdict(arm, "ship", f"it is better by the primary metric: {told}{held}")


def effect_told(effect: MetricEffect) -> str:
    """An effect in words: `ctr +0.0123 (95% interval +0.001 to +0.02), +4.1%`."""
    if isinf(effect.low) or effect.shown <= 0:
        return f"{effect.metric} {signed(effect.difference)}, with no interval that ends"
    interval = f"{percent(effect.shown)} interval {signed(effect.low)} to {signed(effect.high)}"
    relative = "" if isnan(effect.relative) else f", {shared(effect.relative)}"
    return f"{effect.metric} {signed(effect.difference)} ({interval}){relative}"


def rails_told(rails: Sequence[GuardrailResult]) -> str:
    """Guardrails of one standing, in words."""
    names = some([rail.metric for rail in rails], 3)
    several = len(rails) > 1
    noun = f"guardrail{'s' if several else ''} {names}"
    if rails[0].standing == "held" or any(rail.standing != rails[0].standing for rail in rails):
        return f"the {noun} {'hold' if several else 'holds'}"
    if rails[0].standing == "broken":
        each = "; ".join(f"{f'{rail.metric} is ' if several else ''}{_harm_told(rail)}" for rail in rails)
        return f"the {noun}: {each}"
    reasons = "".join(f"; {rail.metric}: {rail.note}" for rail in rails if rail.note)
    return f"the {noun} {'are' if several else 'is'} not shown to hold{reasons}"


def _harm_told(rail: GuardrailResult) -> str:
    told = shared if rail.relative else signed
    return (
        f"worse by {told(rail.harm).removeprefix('+')}, more than its margin of {told(rail.margin).removeprefix('+')}"
    )


def signed(value: float) -> str:
    """A difference, to four digits.

    >>> signed(0.0123456), signed(-12.3), signed(float("inf"))
    ('+0.01235', '-12.3', '∞')
    """
    return "–" if isnan(value) else ("-∞" if value < 0 else "∞") if isinf(value) else f"{value:+z.4g}"


def shared(value: float) -> str:
    """A relative effect.

    >>> shared(0.0412)
    '+4.12%'
    """
    return "–" if isnan(value) else ("-∞" if value < 0 else "∞") if isinf(value) else f"{value:+z.2%}"
