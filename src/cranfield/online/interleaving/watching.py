"""Methods that draw chance from elsewhere than `draw`: no outcome can be replayed, so they are watched, and bounded."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from cranfield.online.interleaving.auditing import (
    LABELS,
    Audit,
    AuditPart,
    Counterexample,
    Criterion,
    clicked_slots,
    dominances,
    kinds,
)
from cranfield.online.interleaving.method import Interleaves
from cranfield.online.interleaving.outcomes import AuditCase, Shown, click_sets, drawn_outcomes

DRAWN = 1_000  # lists for each case
SURE = 0.001  # chance of a false alarm anywhere in an audit


class _Seen(NamedTuple):
    """Mean credit of both rankers over the lists drawn, and the half-width of the interval of their difference."""

    clicks: str
    credit: tuple[float, float]
    margin: float

    @property
    def difference(self) -> float:
        return self.credit[0] - self.credit[1]


def watched(
    method: Interleaves, name: str, cases: Sequence[AuditCase], length: int, overlapping: int, rng: Random
) -> Audit:
    """What drawing many lists says: failures that cannot be chance, and the largest bias that could still be there."""
    unbiased: dict[str, list[tuple[Counterexample | None, bool]]] = {kind: [] for kind in kinds(cases)}
    better: dict[str, list[tuple[Counterexample | None, bool]]] = {kind: [] for kind in kinds(cases)}
    tests = sum(2**case.length for case in cases) + sum(4 ** len(set().union(*case.rankings)) for case in cases)
    width = NormalDist().inv_cdf(1 - SURE / 2 / tests)
    bound: float | None = None
    for case in cases:
        found = drawn_outcomes(method, case, DRAWN, rng)
        fair = [_seen(found, slots, width) for slots in list(click_sets(max(len(shown.docs) for shown in found)))[1:]]
        biased = [seen for seen in fair if abs(seen.difference) > seen.margin + 1e-9]
        # What was seen is told by the criterion: the bound is of where nothing was.
        unseen = [abs(seen.difference) + seen.margin for seen in fair if seen not in biased]
        bound = max(unseen + ([] if bound is None else [bound]), default=None)
        unbiased[case.kind].append((_example(case, biased, "and should be the same for all"), False))
        better[case.kind].append(_better(case, found, width))
    criteria = (
        Criterion("unbiased", f"no bias that {DRAWN:,} lists of each pair of rankings would show", _parts(unbiased)),
        Criterion("better wins", "who has every clicked document at least as high and one higher wins", _parts(better)),
    )
    pairs = "one pair" if len(cases) == 1 else f"each of {len(cases):,} pairs"
    note = (
        "it draws chance from elsewhere than draw(weights): the same draws gave another list. So nothing is proven: "
        f"{DRAWN:,} lists were drawn for {pairs} of rankings{_unseen(bound, criteria[0])}"
    )
    return Audit(name, length, overlapping, criteria, False, bound, (note,))


def _unseen(bound: float | None, unbiased: Criterion) -> str:
    """How large a bias could be there that was not seen."""
    if bound is None:
        return ", and a bias was seen wherever one was looked for"
    if bound == 0:
        return ", and where no bias was seen, clicks were worth the same to both rankers on every list"
    where = " where none was seen" if unbiased.counterexample else " unseen"
    return f", and biases up to {bound:.3g} clicks could be there{where}"


def _seen(found: Sequence[Shown], slots: tuple[int, ...], width: float) -> _Seen:
    def credit(shown: Shown) -> Sequence[float]:
        return [float(number) for number in shown.credit[tuple(slot for slot in slots if slot < len(shown.docs))]]

    ranks = " and ".join(str(slot + 1) for slot in slots)
    return _summed(f"whatever stands at rank {ranks} is clicked", [credit(shown) for shown in found], width)


def _summed(clicks: str, credits: Sequence[Sequence[float]], width: float) -> _Seen:
    table = np.array(credits)
    leads = table[:, 0] - table[:, 1]
    # a lead that never varied may still do so once in as many lists as were drawn
    spread = max(float(leads.std(ddof=1)), float(np.abs(leads).max(initial=0)) / len(leads) ** 0.5)
    means = table.mean(axis=0)
    return _Seen(clicks, (float(means[0]), float(means[1])), width * spread / len(leads) ** 0.5)


def _better(case: AuditCase, found: Sequence[Shown], width: float) -> tuple[Counterexample | None, bool]:
    """The first set of clicked documents by which the better ranker loses for sure; and whether any is unclear."""
    unclear = False
    for first, second, clicked in dominances(case, found):
        credits = [shown.credit[clicked_slots(shown, clicked)] for shown in found]
        pairs = [(float(credit[first]), float(credit[second])) for credit in credits]
        seen = _summed(f"{' and '.join(clicked)} clicked wherever shown", pairs, width)
        if seen.difference < -seen.margin:
            worse = seen if first < second else seen._replace(credit=(seen.credit[1], seen.credit[0]))
            return _example(case, [worse], f"yet {LABELS[first]} is the better one"), False
        unclear = unclear or seen.difference <= seen.margin
    return None, unclear


def _example(case: AuditCase, seen: Sequence[_Seen], expected: str) -> Counterexample | None:
    from fractions import Fraction

    if not seen:
        return None
    credit = tuple(Fraction(number).limit_denominator(10**6) for number in seen[0].credit)
    return Counterexample(case, seen[0].clicks, credit, expected)


def _parts(found: dict[str, list[tuple[Counterexample | None, bool]]]) -> tuple[AuditPart, ...]:
    parts = []
    for kind, of_kind in found.items():
        wrong = [example for example, _ in of_kind if example is not None]
        unclear = sum(doubt for example, doubt in of_kind if example is None)
        parts.append(AuditPart(kind, len(of_kind), len(wrong), wrong[0] if wrong else None, unclear))
    return tuple(parts)
