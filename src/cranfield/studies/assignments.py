"""`plan_study`: which participant uses which system, in which order, on which topics; and how even that comes out."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise, permutations, product
from math import sqrt
from typing import NamedTuple

import numpy as np

from cranfield.errors import UsageError, either, plural, some
from cranfield.evaluation.findings import Finding
from cranfield.evaluation.printed import PrintedInNotebooks
from cranfield.statistics.effects import detectable
from cranfield.studies.squares import Rows, graeco_latin_square, williams_squares, zigzag

DESIGNS = ("williams", "graeco-latin")
USED, TOGETHER, MET = "a system is used", "a participant uses two systems", "a system meets a topic"
POWER, ALPHA = 0.8, 0.05  # the usual chances of finding what is there, and what is not
MOST_ASSIGNED = 1_000_000  # topics of all participants, which are held in memory and printed


class Assignment(NamedTuple):
    """A participant's turn with a system: the how manieth it is, and the topics in their order."""

    participant: str
    place: int
    system: str
    topics: tuple[str, ...] = ()


class Balance(NamedTuple):
    """How often something happens: the least and the most over all cases."""

    what: str
    least: int
    most: int

    @property
    def even(self) -> bool:
        """Whether it happens equally often in all cases."""
        return self.least == self.most


class Findable(NamedTuple):
    """The least true difference of two systems that a t test on as many participants (or topics) finds with the chance
    POWER, after correction for all pairs at ALPHA.

    `paired` says that they have both systems. `effect` is in standard deviations: of the differences between the two,
    or of the scores of one where the systems have participants of their own. `difference` is in points of the scale,
    and None where the standard deviation is not given. Both are NaN where there are too many pairs to compute it.
    """

    over: str
    number: int
    paired: bool
    effect: float
    difference: float | None


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class StudyPlan(PrintedInNotebooks):
    """Who does what, what is balanced, and what could be found; `cycle` is the number of participants that make a whole
    plan, `sd` the standard deviation that was given."""

    systems: tuple[str, ...]
    topics: tuple[str, ...]
    participants: int
    seed: int
    design: str
    cycle: int
    assignments: tuple[Assignment, ...]
    balances: tuple[Balance, ...]
    sd: float | None
    findable: tuple[Findable, ...]
    warnings: tuple[Finding, ...]

    def _rendered(self, format: str) -> str:
        from cranfield.studies.study_tables import render_study_plan

        return render_study_plan(self, format)


def plan_study(
    systems: Sequence[str],
    topics: Sequence[str] = (),
    *,
    participants: int,
    seed: int = 0,
    design: str = "williams",
    systems_each: int | None = None,
    topics_each: int | None = None,
    sd: float | None = None,
) -> StudyPlan:
    """Puts systems and topics into an order for each participant. The same seed gives the same plan.

    The design williams has each system in each place, and after each other system, equally often; graeco-latin lets
    systems and sets of topics go round together in as many participants as there are systems, where such a square is
    known. Nobody has a topic twice: the topics are dealt into as many sets as there are systems, and each turn has one.
    `systems_each` and `topics_each` let a participant use fewer systems, and fewer topics with each. With `sd`, the
    standard deviation over participants of the differences between two systems (of the scores, if everybody uses one),
    the difference that could be found is told in points of the scale.

    >>> plan = plan_study(["A", "B"], ["t1", "t2"], participants=4, seed=1)
    >>> print(str(plan).partition("\\n\\nBalance")[0])
    4 participants, 2 systems, 2 topics: design williams, seed 1
    participant  first  second
    p1           B: t2  A: t1
    p2           A: t2  B: t1
    p3           B: t1  A: t2
    p4           A: t1  B: t2
    >>> plan.balances[0]
    Balance(what='a system is used', least=4, most=4)
    >>> [(of.over, of.number, round(of.effect, 2)) for of in plan.findable]
    [('participants', 4, 2.13), ('topics', 2, 11.55)]
    """
    each = _checked(systems, topics, participants, design, systems_each, topics_each)
    count = len(systems)
    draw = random.Random(seed)
    names, dealt = draw.sample(list(systems), count), draw.sample(list(topics), len(topics))
    size = (topics_each or len(topics) // count) if topics else 0
    sets = [dealt[number * size : (number + 1) * size] for number in range(count)]
    orders = _orders(count, design, bool(topics), participants, draw)
    assignments = _turns(orders, names, sets, each, draw)
    used = [topic for topics_of_set in sets for topic in topics_of_set]
    balances = tuple(_balances(assignments, systems, used, each))
    findable = tuple(_findable(balances, participants, len(used), each, count * (count - 1) // 2, sd))
    cycle = _cycle(count, design, bool(topics))
    return StudyPlan(
        systems=tuple(systems),
        topics=tuple(topics),
        participants=participants,
        seed=seed,
        design=design,
        cycle=cycle,
        assignments=tuple(assignments),
        balances=balances,
        sd=sd,
        findable=findable,
        warnings=(*_doubts(balances, cycle, participants, topics, used), *_unfindable(findable, each)),
    )


def _checked(
    systems: Sequence[str],
    topics: Sequence[str],
    participants: int,
    design: str,
    systems_each: int | None,
    topics_each: int | None,
) -> int:
    """The number of systems that a participant uses, if all is as it must be."""
    for what, names in (("system", systems), ("topic", topics)):
        twice = [name for name, times in Counter(names).items() if times > 1]
        if twice:
            raise UsageError(f"{what} {twice[0]} is given twice")
    if len(systems) < 2 or "" in systems:
        raise UsageError("a plan needs at least two systems, each with a name")
    if design not in DESIGNS:
        raise UsageError(f"a design is {either(DESIGNS)}, not '{design}'")
    if participants < 1:
        raise UsageError(f"a plan needs at least one participant, not {participants}")
    each = len(systems) if systems_each is None else systems_each
    if not 1 <= each <= len(systems):
        raise UsageError(f"a participant uses from 1 to {len(systems)} systems, not {each}")
    if topics_each is not None and not topics:
        raise UsageError("topics for each system: name the topics")
    if topics and len(topics) < len(systems) * (topics_each or 1):
        needed = len(systems) * (topics_each or 1)
        raise UsageError(
            f"{plural(len(topics), 'topic')} for {len(systems)} systems: nobody has a topic twice, so that "
            f"{'each system with ' + str(topics_each) + ' needs' if topics_each else 'there must be'} at least {needed}"
        )
    if topics_each is not None and topics_each < 1:
        raise UsageError(f"at least one topic with each system, not {topics_each}")
    if participants * len(systems) * max(len(topics), 1) > MOST_ASSIGNED:
        raise UsageError(f"{participants:,} participants would be given more than {MOST_ASSIGNED:,} topics: plan fewer")
    return each


def _cycle(count: int, design: str, with_topics: bool) -> int:
    if design == "graeco-latin":
        return count
    return 2 * count if count % 2 or with_topics else count


def _orders(
    count: int, design: str, with_topics: bool, participants: int, draw: random.Random
) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """For each participant the systems in their order, and the set of topics that goes with each.

    Squares follow one another, the rows of each in an order drawn by lot: every square that is complete is balanced.
    """
    squares: list[tuple[Rows, Rows]] = []
    if design == "graeco-latin":
        squares.append(graeco_latin_square(count))
    elif count % 2:
        orders, blocks = graeco_latin_square(count)
        squares += [(orders, blocks), (tuple(row[::-1] for row in orders), tuple(row[::-1] for row in blocks))]
    else:
        # No square goes with one of Williams of even order: in two of them, each set of topics is in each place twice.
        for shift in (0, 1) if with_topics else (0,):
            steps = [[(step + 2 * row + shift) % count for step in zigzag(count)] for row in range(count)]
            squares.append((williams_squares(count), tuple(map(tuple, steps))))
    orders_of_all: list[tuple[tuple[int, ...], tuple[int, ...]]] = []
    while len(orders_of_all) < participants:
        for ones, others in squares:
            rows = list(zip(ones, others, strict=True))
            orders_of_all += draw.sample(rows, len(rows))
    return orders_of_all[:participants]


def _turns(
    orders: Sequence[tuple[tuple[int, ...], tuple[int, ...]]],
    names: Sequence[str],
    sets: Sequence[Sequence[str]],
    each: int,
    draw: random.Random,
) -> list[Assignment]:
    """The first turns of each participant, the topics of each in an order drawn by lot."""
    width = len(str(len(orders)))
    return [
        Assignment(f"p{number:0{width}}", place, names[system], tuple(draw.sample(sets[block], len(sets[block]))))
        for number, (row, blocks) in enumerate(orders, start=1)
        for place, (system, block) in enumerate(zip(row[:each], blocks[:each], strict=True), start=1)
    ]


def _balances(
    assignments: Sequence[Assignment], systems: Sequence[str], topics: Sequence[str], each: int
) -> Iterable[Balance]:
    by_participant: dict[str, list[Assignment]] = {}
    for turn in assignments:
        by_participant.setdefault(turn.participant, []).append(turn)
    places = range(1, each + 1)
    yield _counted(USED, (turn.system for turn in assignments), systems)
    pairs = ((turn.system, turn.place) for turn in assignments)
    yield _counted("a system is in a place", pairs, product(systems, places))
    if each > 1:
        follows = ((a.system, b.system) for turns in by_participant.values() for a, b in pairwise(turns))
        yield _counted("a system follows another", follows, permutations(systems, 2))
    if each < len(systems):
        both = (pair for turns in by_participant.values() for pair in permutations([t.system for t in turns], 2))
        yield _counted(TOGETHER, both, permutations(systems, 2))
    if topics:
        met = ((turn.system, topic) for turn in assignments for topic in turn.topics)
        yield _counted(MET, met, product(systems, topics))
        stood = ((turn.place, topic) for turn in assignments for topic in turn.topics)
        yield _counted("a topic is in a place", stood, product(places, topics))


def _counted(what: str, happened: Iterable[object], possible: Iterable[object]) -> Balance:
    counts = Counter(happened)
    times = [counts[case] for case in possible]
    return Balance(what, min(times), max(times))


def _findable(
    balances: Sequence[Balance], participants: int, topics: int, each: int, pairs: int, sd: float | None
) -> Iterable[Findable]:
    """By participants who have both systems of a pair, or one of them; and by topics that systems share."""
    if sd is not None and not 0 < sd < float("inf"):
        raise UsageError(f"the standard deviation is a finite number above 0, not {sd:g}")
    least = {balance.what: balance.least for balance in balances}
    paired = each > 1
    own = least.get(TOGETHER, participants) if paired else least[USED]
    shared = topics if least.get(MET, 0) else 0
    for over, number, is_paired in (("participants", own, paired), ("topics", shared, True)):
        if number > 1:
            error, freedom = (1 / sqrt(number), number - 1) if is_paired else (sqrt(2 / number), 2 * number - 2)
            (effect,) = detectable(np.array([error]), np.array([freedom]), power=POWER, alpha=ALPHA / pairs).tolist()
            difference = effect * sd if sd is not None and over == "participants" else None
            yield Findable(over, number, is_paired, effect, difference)


def _unfindable(findable: Sequence[Findable], each: int) -> Iterable[Finding]:
    if "participants" not in [row.over for row in findable]:
        who = "have both of two systems" if each > 1 else "have a system"
        message = f"fewer than two participants {who}: a t test could find no difference"
        yield Finding("too-few-participants", "the plan", message)


def _doubts(
    balances: Sequence[Balance], cycle: int, participants: int, topics: Sequence[str], used: Sequence[str]
) -> Iterable[Finding]:
    uneven = [balance.what for balance in balances if not balance.even]
    if uneven and participants % cycle:
        below = participants - participants % cycle
        numbers = either(str(n) for n in (below, below + cycle) if n)
        message = (
            f"{plural(participants, 'participant')}, no multiple of {cycle}: uneven is how often {some(uneven)}; "
            f"{numbers} would be a whole plan"
        )
        yield Finding("unfinished-plan", "the plan", message)
    elif uneven:
        yield Finding("uneven-plan", "the plan", f"uneven even in a whole plan is how often {some(uneven)}")
    left = [topic for topic in topics if topic not in set(used)]
    if left:
        message = f"{plural(len(left), 'topic')} of {len(topics)} left over, which nobody has: {some(left)}"
        yield Finding("topics-left", "the plan", message)
