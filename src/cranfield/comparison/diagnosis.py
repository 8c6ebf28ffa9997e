"""`diagnose`: where a difference between two systems comes from. Topics, slices of topics, and single documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import nan
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cranfield.comparison.systems import check_comparable
from cranfield.comparison.tuning import of_tuned_runs
from cranfield.errors import DataError, UsageError, some
from cranfield.evaluation.experiment import Experiment
from cranfield.evaluation.findings import Finding
from cranfield.evaluation.printed import PrintedInNotebooks
from cranfield.measures import Measure, as_measures
from cranfield.numerals import decimal
from cranfield.policy import Policy
from cranfield.statistics.corrections import find_correction
from cranfield.statistics.deciding import RANDOMISATION, Decision, T, decide
from cranfield.statistics.differences import whole_differences
from cranfield.statistics.intervals import decided
from cranfield.statistics.paired import t as paired_t
from cranfield.statistics.randomised import randomisation
from cranfield.statistics.significance import Floats, Integers, Sampling

if TYPE_CHECKING:
    from cranfield.quotation.quoting import Quotations
    from cranfield.quotation.text_sources import GivenTextSource
    from cranfield.search.collection_search import Watch

ONE_PAIR = np.array([[0, 1]])
NOTHING = Decision(np.array([nan]), np.zeros(1), ("",))  # of a single topic
ALPHA = 0.05
MOST_VALUES = 6  # numbers with more values than this are cut into thirds
SHOWN_TOPICS = 3  # topics whose documents are looked at, if none are named


class TopicPart(NamedTuple):
    """What one topic adds to the difference, and what is left without it."""

    topic: str
    score: float
    other_score: float
    difference: float
    share: float  # of the sum of all differences; NaN if they add up to nothing
    difference_without: float
    p_without: float


class Slice(NamedTuple):
    """The topics that share the value of an attribute, compared on their own.

    A single topic has no p. The interval leaves out zero exactly where adjusted p is below 0.05; it is of 1 - level.
    """

    attribute: str
    value: str
    topics: int
    mean: float
    other_mean: float
    difference: float
    low: float
    high: float
    p: float
    decided_by: str
    adjusted_p: float
    level: float


class Move(NamedTuple):
    """A document that stands elsewhere in the other ranking; None: not among the first `depth`, or not judged."""

    topic: str
    document: str
    grade: float | None
    rank: int | None
    other_rank: int | None

    @property
    def change(self) -> str:
        """What happened to it on the way from the other system to this one.

        >>> Move("1", "d7", 2.0, rank=3, other_rank=None).change, Move("1", "d7", 2.0, rank=1, other_rank=3).change
        ('entered', 'up')
        """
        if self.other_rank is None or self.rank is None:
            return "left" if self.rank is None else "entered"
        return "up" if self.rank < self.other_rank else "down" if self.rank > self.other_rank else "same"


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Diagnosis(PrintedInNotebooks):
    """Why a system differs from another on a measure: topics by what they add, slices, and documents that moved."""

    system: str
    other: str
    measure: Measure
    difference: float
    p: float
    decided_by: str
    topics: tuple[TopicPart, ...]
    slices: tuple[Slice, ...]
    moves: tuple[Move, ...]
    depth: int
    policy: Policy
    warnings: tuple[Finding, ...]
    quotations: Quotations | None = None  # what was asked on each topic, and what the documents that moved are called

    @property
    def deciding(self) -> tuple[TopicPart, ...]:
        """Topics without which the difference would change its sign, or p its side of 0.05."""
        return tuple(
            part
            for part in self.topics
            if part.difference_without * self.difference < 0 or (part.p_without < ALPHA) != (self.p < ALPHA)
        )

    def _rendered(self, format: str) -> str:
        from cranfield.comparison.diagnosis_tables import render

        return render(self, format)


def diagnose(
    experiment: Experiment,
    measure: str | Measure,
    *,
    slices: Mapping[str, Mapping[str, str]] | None = None,
    topics: Sequence[str] = (),
    depth: int | None = None,
    collection: GivenTextSource | None = None,
    watch: Watch | None = None,
) -> Diagnosis:
    """Takes the difference of two runs apart: the first one minus the other.

    `slices` gives attributes of topics, {topic: {attribute: value}}. `topics` are those whose documents are looked at
    (by default the three that add most either way), down to `depth` (by default the measure's cutoff, or 10). With
    `collection` (a folder, a TOML file, "irds:…", a Collection) topics have their questions beside them, and documents
    that moved their titles.

    >>> qrels = {"1": {"d1": 1, "d2": 0}, "2": {"d1": 1}, "3": {"d1": 1}}
    >>> good, poor = {t: {"d1": 2.0, "d2": 1.0} for t in qrels}, {t: {"d2": 2.0, "d1": 1.0} for t in qrels}
    >>> experiment = Experiment(qrels, {"good": good, "poor": poor | {"3": {"d1": 1.0}}})
    >>> diagnosis = diagnose(experiment, "RR", topics=["1"])
    >>> [(part.topic, part.difference, part.share) for part in diagnosis.topics]
    [('1', 0.5, 0.5), ('2', 0.5, 0.5), ('3', 0.0, 0.0)]
    >>> [(move.document, move.change) for move in diagnosis.moves]
    [('d1', 'up'), ('d2', 'down')]
    """
    wanted = _one_measure(measure)
    experiment = (experiment if experiment.rows else replace(experiment, rows=True)).suited([wanted])
    if len(experiment.tables()) != 2:
        raise UsageError(f"a diagnosis is of two runs, not of {len(experiment.tables())}")
    results = experiment.evaluate(wanted)
    scores = results.scores[:, 0]
    kept = np.flatnonzero(~np.isnan(scores).any(axis=0))
    if len(kept) < 3:
        raise DataError(f"topics with a score from both systems: {len(kept)}; a diagnosis needs 3")
    names = [results.topics[t] for t in kept]
    scores = scores[:, kept]
    parts = topic_parts(names, scores, wanted.sign or 1)
    looked_at = list(topics) or [part.topic for part in _largest(parts)]
    _check_compared(experiment, looked_at, names)
    down_to = depth or wanted.parameters.get("cutoff") or 10
    whole = _decided(scores)
    system, other = results.runs
    moves = tuple(move for topic in looked_at for move in moved(experiment, topic, down_to))
    quotations = None if collection is None else _quoted(experiment, collection, names, moves, watch)
    return Diagnosis(
        system=system,
        other=other,
        measure=wanted,
        difference=float((scores[0] - scores[1]).mean()),
        p=float(whole.p[0]),
        decided_by=whole.by[0],
        topics=parts,
        slices=sliced(names, scores, slices) if slices else (),
        moves=moves,
        depth=down_to,
        policy=results.policy,
        warnings=(*results.warnings, *of_tuned_runs(results), *(quotations.findings if quotations else ())),
        quotations=quotations,
    )


def _check_compared(experiment: Experiment, asked: Sequence[str], compared: Sequence[str]) -> None:
    unknown = [topic for topic in asked if topic not in compared]
    if unknown:
        experiment.check_inside(unknown)
        raise UsageError(f"no topic {some(unknown)} among those compared")


def _quoted(
    experiment: Experiment,
    collection: GivenTextSource,
    topics: Sequence[str],
    moves: Sequence[Move],
    watch: Watch | None,
) -> Quotations:
    """The questions of all topics, and the texts of the documents that moved."""
    from cranfield.quotation.quoting import quote

    shown: dict[str, list[str]] = {topic: [] for topic in topics}
    for move in moves:
        shown[move.topic].append(move.document)
    return quote(collection, shown, judged=experiment.judgements().whole.topics, watch=watch)


def topic_parts(topics: Sequence[str], scores: Floats, sign: int = 1) -> tuple[TopicPart, ...]:
    """Each topic's part in the difference of scores[0] and scores[1], the largest gain first; of a loss sign is -1.

    p without a topic is of the test that decides with all of them, or of randomisation where t is undefined.

    >>> for part in topic_parts(["1", "2", "3"], np.array([[0.5, 0.9, 0.4], [0.4, 0.5, 0.5]])):
    ...     print(part.topic, round(part.difference, 2), round(part.share, 2), round(part.difference_without, 2))
    2 0.4 1.0 0.0
    1 0.1 0.25 0.15
    3 -0.1 -0.25 0.25
    """
    from scipy.special import stdtr

    difference = scores[0] - scores[1]
    n, total = len(topics), float(difference.sum())
    share = difference / total if abs(total) > 1e-12 * np.abs(difference).sum() else np.full(n, np.nan)
    without = (total - difference) / (n - 1)
    away = difference - difference.mean()
    squares = np.maximum((away**2).sum() - away**2 * n / (n - 1), 0.0)
    deviation = np.sqrt(squares / (n - 2))
    constant = deviation <= np.abs(scores).max() * 1e-7  # squares have lost half of their digits
    with np.errstate(divide="ignore", invalid="ignore"):
        p = 2 * stdtr(n - 2, -np.abs(without / deviation) * np.sqrt(n - 1))
    exact = constant | (_decided(scores).by[0] == RANDOMISATION)
    p[exact] = _randomised_without(scores, np.flatnonzero(exact))
    rows = zip(topics, *scores.tolist(), difference.tolist(), share.tolist(), without.tolist(), p.tolist(), strict=True)
    return tuple(sorted((TopicPart(*row) for row in rows), key=lambda part: -sign * part.difference))


def _randomised_without(scores: Floats, topics: Integers) -> list[float]:
    """The randomisation p without each of the topics; equal differences leave equal ones behind."""
    known: dict[float, float] = {}
    (whole,), _ = whole_differences(scores, ONE_PAIR)
    for topic in topics.tolist():
        if whole[topic] not in known:
            rest = np.delete(scores, topic, axis=1)
            known[whole[topic]] = float(randomisation(rest, ONE_PAIR, Sampling()).p[0])
    return [known[whole[topic]] for topic in topics.tolist()]


def _decided(scores: Floats) -> Decision:
    return decide(scores, ONE_PAIR, {T: paired_t(scores, ONE_PAIR, Sampling())}, Sampling())


def sliced(topics: Sequence[str], scores: Floats, attributes: Mapping[str, Mapping[str, str]]) -> tuple[Slice, ...]:
    """The two systems compared on the topics of each value of each attribute; p-values are Holm's over all slices.

    A topic without a value is in none; a slice of one topic has neither p nor interval.

    >>> kinds = {"1": {"type": "fact"}, "2": {"type": "fact"}, "3": {"type": "list"}}
    >>> for part in sliced(["1", "2", "3"], np.array([[0.5, 0.9, 0.4], [0.4, 0.5, 0.5]]), kinds):
    ...     print(part.attribute, part.value, part.topics, round(part.difference, 2))
    type fact 2 0.25
    type list 1 -0.1
    """
    if not any(topic in attributes for topic in topics):
        raise DataError(
            f"no topic of the attributes is among those compared: they have {some(list(attributes), 3)}",
            remedy="Topic ids must be the same text: 0001 is not 1.",
        )
    names = list(dict.fromkeys(name for values in attributes.values() for name in values))
    slices: list[Slice] = []
    parts: list[tuple[Floats, Decision]] = []
    for name in names:
        values = [attributes.get(topic, {}).get(name, "") for topic in topics]
        for value, members in _groups(values):
            part = scores[:, members]
            mean, other = part.mean(axis=1).tolist()
            decision = _decided(part) if len(members) > 1 else NOTHING
            p, by = float(decision.p[0]), decision.by[0]
            slices.append(
                Slice(
                    attribute=name,
                    value=value,
                    topics=len(members),
                    mean=mean,
                    other_mean=other,
                    difference=mean - other,
                    low=nan,
                    high=nan,
                    p=p,
                    decided_by=by,
                    adjusted_p=p,
                    level=nan,
                )
            )
            parts.append((part, decision))
    correction = find_correction()
    adjusted = correction(np.array([topic_slice.p for topic_slice in slices]))
    level = correction.level(ALPHA, len(slices), int(np.sum(adjusted < ALPHA)))
    with_intervals = []
    for topic_slice, (part, decision), p in zip(slices, parts, adjusted.tolist(), strict=True):
        if decision is not NOTHING:
            (low,), (high,) = decided(part, ONE_PAIR, decision, level, np.array([p < ALPHA]), Sampling())
            topic_slice = topic_slice._replace(low=float(low), high=float(high))
        with_intervals.append(topic_slice._replace(adjusted_p=p, level=level))
    return tuple(with_intervals)


def moved(experiment: Experiment, topic: str, depth: int) -> list[Move]:
    """The documents that stand elsewhere, among the first `depth` of either ranking, in the order of the first one.

    Rankings are in the policy's order.

    >>> experiment = Experiment({"1": {"d1": 1}}, [{"1": {"d1": 2.0, "d2": 1.0}}, {"1": {"d2": 1.0}}])
    >>> [(move.document, move.grade, move.change) for move in moved(experiment, "1", 10)]
    [('d1', 1.0, 'entered'), ('d2', None, 'down')]
    """
    grades = experiment.judgements().qrels.of(topic)
    lists = [experiment.documents(run, [topic], depth)[0] for run in experiment.tables()]
    ranks, other_ranks = ({document: i for i, document in enumerate(ids, start=1)} for ids in lists)
    union = dict.fromkeys([*ranks, *other_ranks])
    moves = [Move(topic, d, grades.get(d), ranks.get(d), other_ranks.get(d)) for d in union]
    return [move for move in moves if move.change != "same"]


def _groups(values: list[str]) -> list[tuple[str, list[int]]]:
    """Topics by value; numbers of many values by thirds."""
    known = [(i, value) for i, value in enumerate(values) if value.lower() not in ("", "nan")]
    distinct = dict.fromkeys(value for _, value in known)
    read = {i: decimal(value) for i, value in known}  # "inf" is a word here
    numbers = {i: number for i, number in read.items() if number is not None}
    if len(numbers) < len(read):
        numbers = {}
    if not numbers or len(distinct) <= MOST_VALUES:
        order = sorted(distinct, key=float) if numbers else list(distinct)
        return [(value, [i for i, other in known if other == value]) for value in order]
    cuts = np.quantile(list(numbers.values()), [1 / 3, 2 / 3])
    third = {i: int(np.searchsorted(cuts, number, "left")) for i, number in numbers.items()}
    out = []
    for part in range(3):
        members = [i for i, place in third.items() if place == part]
        if members:
            inside = [numbers[i] for i in members]
            out.append((f"{min(inside):g} to {max(inside):g}", members))
    return out


def _largest(parts: Sequence[TopicPart]) -> list[TopicPart]:
    changed = [part for part in parts if part.difference != 0]
    return sorted(changed, key=lambda part: -abs(part.difference))[:SHOWN_TOPICS]


def _one_measure(notation: str | Measure) -> Measure:
    named = as_measures(notation)
    if len(named) != 1:
        raise UsageError(
            f"one measure is explained at a time; '{notation}' names {some([str(measure) for measure in named])}"
        )
    check_comparable(named)
    return named[0]
