"""Is a method of interleaving fair, and does it see who is better? Proven for all rankings up to a length, or refuted.

Chance is replayed over every outcome and counted in fractions: what is said to hold holds exactly, and what does not
is shown by the smallest counterexample. A method that draws chance from elsewhere can only be watched: it gets a bound.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from copy import copy
from fractions import Fraction
from itertools import combinations
from random import Random
from typing import NamedTuple

from cranfield.errors import UsageError, plural
from cranfield.online.interleaving.audit_cases import audit_cases
from cranfield.online.interleaving.method import Interleaver, Interleaves, InterleavingScheme, find_interleaver
from cranfield.online.interleaving.outcomes import (
    AuditCase,
    ElsewhereError,
    Shown,
    all_outcomes,
    click_sets,
    spelt_list,
)
from cranfield.online.interleaving.own_methods import faults_of, own_method

ROUNDING = Fraction(1, 10**9)  # what floating-point numbers and a linear program may leave of nothing


class Counterexample(NamedTuple):
    """A case in which something does not hold: who clicks on what, and the credit that is expected of it."""

    case: AuditCase
    clicks: str
    credit: tuple[Fraction, ...]
    expected: str

    @property
    def rankings(self) -> str:
        """The rankings in words."""
        return ", ".join(f"{LABELS[i]} = {spelt_list(docs)}" for i, docs in enumerate(self.case.rankings))

    def told(self) -> str:
        """In words, with its numbers."""
        said = f"{self.rankings}, {plural(self.case.length, 'document')} shown, {self.clicks}: "
        if not self.credit:
            return said + self.expected
        numbers = ", ".join(f"{LABELS[i]} {_number(credit)}" for i, credit in enumerate(self.credit))
        return f"{said}the expected credit is {numbers}, {self.expected}"


LABELS = "ABCDEFGH"
KINDS = ("permutations", "overlapping", "unequal")


class AuditPart(NamedTuple):
    """How a criterion did on one kind of rankings; `unclear` cases are those of which watching could tell nothing."""

    kind: str
    cases: int
    failed: int
    counterexample: Counterexample | None
    unclear: int = 0


class Criterion(NamedTuple):
    """Something that a method should do, and how it did, kind by kind of rankings."""

    name: str
    says: str
    parts: tuple[AuditPart, ...]

    @property
    def holds(self) -> bool:
        """Whether it held in every case."""
        return not any(part.failed or part.unclear for part in self.parts)

    @property
    def counterexample(self) -> Counterexample | None:
        """The smallest one of the first kind of rankings that has one."""
        return next((part.counterexample for part in self.parts if part.counterexample), None)

    def part(self, kind: str) -> AuditPart:
        """How it did on one kind."""
        return next(part for part in self.parts if part.kind == kind)


class Audit(NamedTuple):
    """What an audit found. `exact` says that every outcome was gone through; `bound` is, of a method that was only
    watched, the largest bias that it may still have where none was seen; `notes` are sentences that a reader must know.
    """

    method: str
    length: int
    overlapping: int
    criteria: tuple[Criterion, ...]
    exact: bool
    bound: float | None
    notes: tuple[str, ...]

    def criterion(self, name: str) -> Criterion:
        """The one of a name."""
        return next(criterion for criterion in self.criteria if criterion.name == name)

    def shown(self, name: str) -> bool:
        """Whether a criterion held in every case; not where watching could not look at it, or told too little.

        >>> audit_interleaver("balanced", length=3).shown("unbiased")
        False
        """
        return any(criterion.name == name and criterion.holds for criterion in self.criteria)


# Of a case and its outcomes, what does not hold in it, the simplest clicks first.
Check = Callable[[AuditCase, Sequence[Shown]], Iterator[Counterexample]]


def audit_interleaver(
    method: object,
    *,
    length: int = 4,
    overlapping: int | None = None,
    name: str | None = None,
    seed: int = 0,
) -> Audit:
    """Audits a method of ours by name, or an object of one's own with `interleave` and `credit`.

    All permutations are gone through up to `length`, and all other pairs of rankings up to `overlapping`, by default
    one less and at most 3. `seed` is for methods that draw elsewhere than through `draw`.

    >>> audit = audit_interleaver("team-draft", length=3)
    >>> [(criterion.name, criterion.holds) for criterion in audit.criteria][:3]
    [('unbiased', True), ('random clicks', True), ('better wins', False)]
    >>> audit.criterion("better wins").counterexample.told().split(": ")[1]
    'the expected credit is A 1/2, B 1/2, yet B has every clicked document at least as high and one higher'
    """
    if length < 1 or length > 8:
        raise UsageError(f"rankings of 1 to 8 documents can be gone through, not {length}")
    most = min(3, max(1, length - 1)) if overlapping is None else overlapping
    if most < 0 or most > 6:
        raise UsageError(f"overlapping rankings of 0 to 6 documents can be gone through, not {most}")
    known, called, rankers = _prepared(method, name)
    cases = audit_cases(length, most)
    if rankers is None:
        cases += audit_cases(length, 0, rankers=3)
    ours = _is_ours(known)
    with nullcontext() if ours else faults_of(known, called):
        try:
            outcomes = [(case, all_outcomes(known, case, twice=not ours)) for case in cases]
        except ElsewhereError:
            from cranfield.online.interleaving.watching import watched

            return watched(known, called, cases, length, most, Random(seed))
    criteria = tuple(_looked_at(*criterion, outcomes) for criterion in CRITERIA)
    return Audit(called, length, most, criteria, True, None, _notes(known, outcomes))


def _prepared(method: object, name: str | None) -> tuple[Interleaves, str, int | None]:
    """The method at its most exact, what it is called, and how many rankers it takes."""
    if isinstance(method, str | Interleaver):
        entry = find_interleaver(method)
        made = copy(entry.made())
        if isinstance(made, InterleavingScheme):
            made.exact = True
        return made, name or str(entry), entry.rankers
    own = own_method(method, name)
    return own, name or type(own).__name__, 2


def _is_ours(method: Interleaves) -> bool:
    """Whether it is known to draw chance through `draw` alone."""
    return type(method).__module__.startswith("cranfield.")


def _notes(method: Interleaves, outcomes: Sequence[tuple[AuditCase, Sequence[Shown]]]) -> tuple[str, ...]:
    notes = []
    if not _is_ours(method) and all(len(found) == 1 for _, found in outcomes):
        notes.append("it never drew: the same rankings always give the same list")
    if any(shown.rounded for _, found in outcomes for shown in found):
        notes.append("it has rounded numbers: what differs from nothing by less than 1e-9 is nothing here")
    return tuple(notes)


def _looked_at(name: str, says: str, check: Check, outcomes: Sequence[tuple[AuditCase, Sequence[Shown]]]) -> Criterion:
    parts: dict[str, list[Counterexample | None]] = {kind: [] for kind in kinds(case for case, _ in outcomes)}
    for case, found in outcomes:
        parts[case.kind].append(next(check(case, found), None))
    return Criterion(name, says, tuple(_part(kind, found) for kind, found in parts.items()))


def _part(kind: str, found: Sequence[Counterexample | None]) -> AuditPart:
    wrong = [example for example in found if example is not None]
    return AuditPart(kind, len(found), len(wrong), wrong[0] if wrong else None)


def kinds(cases: Iterable[AuditCase]) -> list[str]:
    """The kinds of cases, permutations first, short ones before long ones."""
    found = {case.kind: None for case in cases}
    return sorted(found, key=lambda kind: (KINDS.index(kind.split(" ")[0]) if kind.split(" ")[0] in KINDS else 9, kind))


def expected_credit(found: Sequence[Shown], slots_of: Callable[[Shown], tuple[int, ...]]) -> tuple[Fraction, ...]:
    """The mean credit of every ranker, if each list is clicked at these places."""
    credits = [(shown.chance, shown.credit[slots_of(shown)]) for shown in found]
    rankers = len(credits[0][1])
    return tuple(sum((chance * credit[i] for chance, credit in credits), Fraction(0)) for i in range(rankers))


def _nothing(found: Sequence[Shown]) -> Fraction:
    """What counts as no difference: with exact numbers, none."""
    return ROUNDING if any(shown.rounded for shown in found) else Fraction(0)


def _unbiased(case: AuditCase, found: Sequence[Shown]) -> Iterator[Counterexample]:
    for slots in click_sets(max(len(shown.docs) for shown in found)):
        credit = expected_credit(found, lambda shown, slots=slots: _within(slots, shown))  # type: ignore[misc]
        if max(credit) - min(credit) > _nothing(found):
            at = f"rank{'s' if len(slots) > 1 else ''} {' and '.join(str(slot + 1) for slot in slots)}"
            clicks = f"whatever stands at {at} is clicked"
            yield Counterexample(case, clicks, credit, "and should be the same for all")


def _within(slots: tuple[int, ...], shown: Shown) -> tuple[int, ...]:
    return tuple(slot for slot in slots if slot < len(shown.docs))


def _random_clicks(case: AuditCase, found: Sequence[Shown]) -> Iterator[Counterexample]:
    longest = max(len(shown.docs) for shown in found)
    each = [expected_credit(found, lambda shown, slot=slot: _within((slot,), shown)) for slot in range(longest)]  # type: ignore[misc]
    credit = tuple(sum(of, Fraction(0)) / longest for of in zip(*each, strict=True))
    if credit and max(credit) - min(credit) > _nothing(found):
        clicks = "one place is clicked, each equally likely"
        yield Counterexample(case, clicks, credit, "and should be the same for all")


def dominances(case: AuditCase, found: Sequence[Shown]) -> Iterator[tuple[int, int, tuple[str, ...]]]:
    """Every set of clicked documents that one ranker has all at least as high as another and one higher, with both;
    at least one of those that they have at different ranks can be seen.
    """
    visible = set().union(*(shown.docs for shown in found))
    ranks = [{doc: rank for rank, doc in enumerate(ranking)} for ranking in case.rankings]
    docs = sorted(set().union(*case.rankings))
    for size in range(1, len(docs) + 1):
        for clicked in combinations(docs, size):
            for first, second in ((i, j) for i in range(len(ranks)) for j in range(len(ranks)) if i != j):
                places = [(ranks[first].get(doc, 99), ranks[second].get(doc, 99)) for doc in clicked]
                seen = any(a < b and doc in visible for (a, b), doc in zip(places, clicked, strict=True))
                if seen and all(a <= b for a, b in places):
                    yield first, second, clicked


def clicked_slots(shown: Shown, clicked: Sequence[str]) -> tuple[int, ...]:
    """Where the clicked documents stand."""
    return tuple(slot for slot, doc in enumerate(shown.docs) if doc in clicked)


def _better_wins(case: AuditCase, found: Sequence[Shown]) -> Iterator[Counterexample]:
    for first, second, clicked in dominances(case, found):
        credit = expected_credit(found, lambda shown, clicked=clicked: clicked_slots(shown, clicked))  # type: ignore[misc]
        if credit[first] - credit[second] <= _nothing(found):
            clicks = f"{' and '.join(clicked)} {'is' if len(clicked) == 1 else 'are'} clicked wherever shown"
            higher = f"yet {LABELS[first]} has every clicked document at least as high and one higher"
            yield Counterexample(case, clicks, credit, higher)


def _agreed_order(case: AuditCase, found: Sequence[Shown]) -> Iterator[Counterexample]:
    ranks = [{doc: rank for rank, doc in enumerate(ranking)} for ranking in case.rankings]
    for shown in found:
        for above, below in combinations(shown.docs, 2):
            if all(above in of and below in of and of[below] < of[above] for of in ranks):
                said = f"with a chance of {_number(shown.chance)}, though all rankers have {below} above {above}"
                yield Counterexample(case, f"{spelt_list(shown.docs)} is shown", (), said)


def _nothing_early(case: AuditCase, found: Sequence[Shown]) -> Iterator[Counterexample]:
    best = {doc: rank for ranking in reversed(case.rankings) for rank, doc in enumerate(ranking)}
    for ranking in case.rankings:
        best.update({doc: min(rank, best[doc]) for rank, doc in enumerate(ranking)})
    for shown in found:
        for slot, doc in enumerate(shown.docs):
            if best[doc] > slot:
                said = (
                    f"with a chance of {_number(shown.chance)}, though no ranker has {doc} above rank {best[doc] + 1}"
                )
                yield Counterexample(case, f"{spelt_list(shown.docs)} is shown", (), said)


def _number(value: Fraction) -> str:
    return str(value) if value.denominator < 10_000 else f"{float(value):.6g}"


CRITERIA: tuple[tuple[str, str, Check], ...] = (
    ("unbiased", "clicks at any ranks, whatever stands there, prefer nobody", _unbiased),
    ("random clicks", "a click at a rank drawn at random prefers nobody", _random_clicks),
    ("better wins", "who has every clicked document at least as high and one higher is preferred", _better_wins),
    ("agreed order", "documents that all rankers have in one order are shown in it", _agreed_order),
    ("nothing early", "no document is shown above the best rank that a ranker gives it", _nothing_early),
)
