"""Rules that say when judging a topic could stop, side by side: each says what it sees now, and none decides.

Which of them fits is for people: a run of documents that are not relevant comes early where relevant ones are rare, and
a test or an estimate says what it says only of the documents it is about.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import floor

import numpy as np

from cranfield.errors import UsageError, plural, share
from cranfield.learning.recall import RecallEstimate

CONSECUTIVE = 50
TARGET = 0.95
LEVEL = 0.95


@dataclass(frozen=True, kw_only=True)
class StopRule:
    """A rule as it stands: whether its condition is met (None: it cannot tell), its number, and both in words."""

    rule: str
    met: bool | None
    value: float | None
    says: str


def stop_rules(
    judged: Sequence[bool],
    total: int,
    *,
    estimate: RecallEstimate | None = None,
    budget: int | None = None,
    consecutive: int = CONSECUTIVE,
    target: float = TARGET,
    level: float = LEVEL,
) -> tuple[StopRule, ...]:
    """Every rule for one topic. `judged` says of each document that was asked for, in the order of judging, whether it
    is relevant; `total` is how many documents there are; `estimate` is that of a sample (`estimate_recall`), whose
    documents count for the budget too.

    >>> for rule in stop_rules([True, False, True] + [False] * 50, 100, budget=200):
    ...     print(f"{rule.rule}: {rule.met}, {rule.says}")
    consecutive: True, the last 50 documents were not relevant; the rule asks for 50
    target test: False, recall below 95% has p = 0.485; the rule asks for less than 0.05
    sample: None, no sample was drawn: nothing is known of what is missed
    budget: False, the budget is 200 documents; 53 are judged
    """
    if len(judged) > total:
        raise UsageError(f"{len(judged):,} documents are judged, but there are only {total:,}")
    for name, value in (("recall to reach", target), ("level of confidence", level)):
        if not 0 < value < 1:
            raise UsageError(f"the {name} is between 0 and 1, not {value!r}")
    for name, number in (("documents in a row", consecutive), ("the budget", budget)):
        if number is not None and number < 1:
            raise UsageError(f"{name} must be a whole number from 1, not {number!r}")
    return (
        _consecutive(judged, consecutive),
        _target_test(judged, total, target, level),
        _by_sample(estimate, target),
        _within_budget(len(judged) + (0 if estimate is None else estimate.sampled), total, budget),
    )


def missed_target(judged: Sequence[bool], total: int, target: float = TARGET) -> float:
    """The p-value of the hypothesis that less than the target share of the relevant documents is found.

    For each number n, the last n documents judged are taken as drawn by lot from all that were left before them. Were
    the target missed, so many of these at least would be relevant; the chance to see as few as were seen is
    hypergeometric, and the smallest over n is the p-value (Callaghan and Müller-Hansen 2020, ranked quasi-sampling). A
    learner puts relevant documents first, which makes the chance larger than it is.

    >>> round(missed_target([True] * 19 + [False] * 61, 100), 4)
    0.0586
    """
    from scipy.stats import hypergeom

    if not len(judged):
        return 1.0
    relevant = np.asarray(judged, dtype=bool)
    last = np.arange(1, len(relevant) + 1)
    seen = np.cumsum(relevant[::-1])
    found = int(relevant.sum())
    missed_with = floor(round(found / target, 9)) + 1  # the fewest there could be in all, were the target missed
    before = found - seen
    left = total - (len(relevant) - last)  # before the last n were judged
    there = missed_with - before
    possible = there - seen <= left - last  # else no so many fit: the target cannot be missed
    chances = np.where(possible, hypergeom.cdf(seen, left, np.minimum(there, left), last), 0.0)
    return float(chances.min())


def _consecutive(judged: Sequence[bool], wanted: int) -> StopRule:
    reverse = next((place for place, relevant in enumerate(reversed(judged)) if relevant), len(judged))
    last = f"the last {reverse:,} documents were" if reverse != 1 else "the last document was"
    says = f"{last} not relevant" if reverse else "the last document was relevant" if len(judged) else "none is judged"
    return StopRule(
        rule="consecutive", met=reverse >= wanted, value=float(reverse), says=f"{says}; the rule asks for {wanted:,}"
    )


def _target_test(judged: Sequence[bool], total: int, target: float, level: float) -> StopRule:
    p = missed_target(judged, total, target)
    alpha = round(1 - level, 9)
    hypothesis = f"recall below {share(target)}" if any(judged) else "none relevant was found, and that there is one"
    says = f"{hypothesis} has p {f'= {p:.3f}' if p >= 0.001 else '< 0.001'}; the rule asks for less than {alpha:g}"
    return StopRule(rule="target test", met=p < alpha, value=p, says=says)


def _by_sample(estimate: RecallEstimate | None, target: float) -> StopRule:
    if estimate is None:
        says = "no sample was drawn: nothing is known of what is missed"
        return StopRule(rule="sample", met=None, value=None, says=says)
    if estimate.recall is None:
        return StopRule(rule="sample", met=None, value=None, says=estimate.says)
    says = f"{estimate.says}; the rule asks for {share(target)} at the lower end"
    return StopRule(rule="sample", met=estimate.low >= target, value=estimate.low, says=says)


def _within_budget(judged: int, total: int, budget: int | None) -> StopRule:
    are = "is" if judged == 1 else "are"
    if budget is None:
        says = f"no budget is set; {judged:,} of {plural(total, 'document')} {are} judged"
        return StopRule(rule="budget", met=None, value=float(judged), says=says)
    says = f"the budget is {plural(budget, 'document')}; {judged:,} {are} judged"
    return StopRule(rule="budget", met=judged >= budget, value=float(judged), says=says)
