"""How far the assessors of a project agree, so far: the numbers of `judging/consistency.py`, and words for them.

Below a number of shared pairs nothing is claimed: counts are told, coefficients are not.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import isnan
from pathlib import Path

from cranfield.agreement.assessment import Assessment, AssessorAgreement
from cranfield.errors import plural
from cranfield.judging.consistency import Consistency, Disagreement, SelfConsistency, consistency
from cranfield.judging.scale import Scale
from cranfield.judging.state import State
from cranfield.web.review.run_files import runs_of
from cranfield.web.review.snapshot import KeptSnapshots, Snapshot
from cranfield.web.store.engine import Store

FEW_PAIRS = 30  # shared by two assessors; with fewer no coefficient is shown
FEW_OF_TOPIC = 10  # the same of one topic
COEFFICIENTS = {
    "alpha-ordinal": "Krippendorff's alpha, ordinal",
    "alpha-nominal": "Krippendorff's alpha, nominal",
    "overlap": "Overlap of what is relevant",
    "kappa": "Cohen's kappa",
    "kappa-linear": "Cohen's kappa, linear weights",
    "kappa-quadratic": "Cohen's kappa, quadratic weights",
    "fleiss": "Fleiss' kappa",
    "alpha-interval": "Krippendorff's alpha, interval",
}


@dataclass(frozen=True, kw_only=True)
class Told:
    """A coefficient with the middle 95 % of what topics drawn anew give, and the documents it rests on. `value` is
    None where it is not told: too few documents, or grades that do not vary."""

    name: str
    assessors: tuple[str, ...]
    documents: int
    value: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, kw_only=True)
class ToldTopic:
    """A topic: documents that several assessors judged, those on which all of these gave one grade, and alpha."""

    topic: str
    documents: int
    agreed: int
    alpha: float | None


@dataclass(frozen=True, kw_only=True)
class ToldDisagreement:
    """A pair on which grades differ, and its number."""

    pair: int
    topic: str
    document: str
    steps: int
    crosses: bool
    grades: tuple[tuple[str, int], ...]
    settled: bool


@dataclass(frozen=True, kw_only=True)
class ToldSelf:
    """An assessor who judged pairs twice without knowing; kappa is None on too few."""

    assessor: str
    pairs: int
    same_grade: int
    same_relevance: int
    kappa: float | None


@dataclass(frozen=True, kw_only=True)
class Agreement:
    """All that is told of the agreement of a project. `table[i][j]` counts two assessors who gave the grades i and j
    of `scale` to one document, the lower one first."""

    summary: str
    assessors: tuple[str, ...]
    shared: int
    agreed: int
    coefficients: tuple[Told, ...]
    topics: tuple[ToldTopic, ...]
    scale: Scale
    table: tuple[tuple[int, ...], ...]
    disagreements: tuple[ToldDisagreement, ...]
    selves: tuple[ToldSelf, ...]
    notes: tuple[str, ...]


def agreement_of(kept: KeptSnapshots, store: Store, project: int) -> Agreement:
    """How far assessors agree now."""
    return kept.of(store, project, "agreement", told_agreement)


def told_agreement(snapshot: Snapshot) -> Agreement:
    """How far assessors agree, of a snapshot."""
    found = consistency(snapshot.state, snapshot.scale)
    counts = _shared(snapshot.state)
    shared, agreed = sum(both for both, _ in counts.values()), sum(same for _, same in counts.values())
    assessment = found.assessment
    return Agreement(
        summary=summary(assessment, shared, agreed),
        assessors=() if assessment is None else assessment.judges,
        shared=shared,
        agreed=agreed,
        coefficients=tuple(_coefficients(assessment, shared)),
        topics=tuple(_topics(snapshot, assessment, counts)),
        scale=snapshot.scale,
        table=_table(assessment, snapshot.scale),
        disagreements=tuple(_disagreement(snapshot, each) for each in found.disagreements),
        selves=tuple(map(_self, found.selves)),
        notes=tuple(str(finding) for finding in found.warnings) if shared >= FEW_PAIRS else (),
    )


def summary(assessment: Assessment | None, shared: int, agreed: int) -> str:
    """The whole in a sentence or two, which claim nothing on too few pairs.

    >>> summary(None, 0, 0)
    'No document has the grades of two assessors yet: nothing can be said of agreement.'
    """
    if assessment is None or not shared:
        return "No document has the grades of two assessors yet: nothing can be said of agreement."
    counted = (
        f"{plural(shared, 'document')} with the grades of two assessors or more: all of these agree on {agreed:,}."
    )
    if shared < FEW_PAIRS:
        few = f"Fewer than {FEW_PAIRS} are too few to say how far assessors agree beyond chance."
        return f"{counted} {few}"
    alpha = assessment.of("alpha-ordinal")
    if isnan(alpha.value):
        return f"{counted} All grades are the same: there is no agreement beyond chance to be measured."
    interval = "" if isnan(alpha.low) else f", between {alpha.low:.2f} and {alpha.high:.2f} for topics drawn anew"
    return f"{counted} Krippendorff's alpha (ordinal) is {alpha.value:.2f}{interval}; 1 is perfect, 0 is chance."


def _shared(state: State) -> dict[str, tuple[int, int]]:
    """Of each topic, the documents that two assessors or more graded, and those of them with one grade alone."""
    grades: dict[tuple[str, str], list[int]] = {}
    for (topic, document, _, repeat), opinion in state.opinions.items():
        if not repeat and opinion.grade is not None:
            grades.setdefault((topic, document), []).append(opinion.grade)
    counts: dict[str, tuple[int, int]] = {}
    for (topic, _), given in grades.items():
        if len(given) > 1:
            both, same = counts.get(topic, (0, 0))
            counts[topic] = both + 1, same + (len(set(given)) == 1)
    return counts


def _coefficients(assessment: Assessment | None, shared: int) -> Iterator[Told]:
    """Those of all assessors, then those of each two; as many as the documents allow."""
    if assessment is None or shared < FEW_PAIRS:
        return
    order = list(COEFFICIENTS)
    everybody = [of for of in assessment.coefficients if of.judges == assessment.judges]
    pairs = [of for of in assessment.coefficients if of.judges != assessment.judges and of.name == "kappa-quadratic"]
    for coefficient in [*sorted(everybody, key=lambda of: order.index(of.name)), *pairs]:
        if coefficient.documents:
            yield _told(coefficient)


def _told(coefficient: AssessorAgreement) -> Told:
    value, low, high = coefficient.estimate[:3]
    hidden = coefficient.documents < FEW_PAIRS
    return Told(
        name=coefficient.name,
        assessors=coefficient.judges,
        documents=coefficient.documents,
        value=None if hidden else _number(value),
        low=None if hidden else _number(low),
        high=None if hidden else _number(high),
    )


def _number(value: float) -> float | None:
    return None if isnan(value) else float(value)


def _topics(
    snapshot: Snapshot, assessment: Assessment | None, counts: dict[str, tuple[int, int]]
) -> Iterator[ToldTopic]:
    alphas = {} if assessment is None else {topic.topic: topic.alpha_ordinal for topic in assessment.topics}
    few = sum(both for both, _ in counts.values()) < FEW_PAIRS  # what is not said of the whole is not said of a part
    for topic in snapshot.topics:
        if topic in counts:
            both, same = counts[topic]
            alpha = None if few or both < FEW_OF_TOPIC else _number(alphas[topic])
            yield ToldTopic(topic=topic, documents=both, agreed=same, alpha=alpha)


def _table(assessment: Assessment | None, scale: Scale) -> tuple[tuple[int, ...], ...]:
    places = {value: place for place, value in enumerate(scale.values)}
    counts = [[0] * len(places) for _ in places]
    for confusion in () if assessment is None else assessment.confusions:
        for row, given in zip(assessment.values if assessment else (), confusion.counts, strict=True):
            for column, count in zip(assessment.values if assessment else (), given, strict=True):
                low, high = sorted((places[int(row)], places[int(column)]))
                counts[low][high] += count
    return tuple(map(tuple, counts))


def _disagreement(snapshot: Snapshot, found: Disagreement) -> ToldDisagreement:
    return ToldDisagreement(
        pair=snapshot.pairs[found.topic, found.document].number,
        topic=found.topic,
        document=found.document,
        steps=found.steps,
        crosses=found.crosses,
        grades=found.grades,
        settled=found.settled,
    )


def _self(found: SelfConsistency) -> ToldSelf:
    return ToldSelf(
        assessor=found.assessor,
        pairs=found.pairs,
        same_grade=found.same_grade,
        same_relevance=found.same_relevance,
        kappa=None if found.pairs < FEW_PAIRS else _number(found.kappa_quadratic),
    )


@dataclass(frozen=True, kw_only=True)
class SystemOrders:
    """Whether the choice of assessor changes the order of the systems: a sentence, and tau for each two assessors."""

    summary: str
    rows: tuple[tuple[str, str, float | None], ...]
    notes: tuple[str, ...]


def system_orders(kept: KeptSnapshots, store: Store, project: int, folder: Path) -> SystemOrders:
    """Whether another assessor would put the project's runs in another order."""
    return kept.of(store, project, "orders", lambda snapshot: told_orders(snapshot, folder))


def told_orders(snapshot: Snapshot, folder: Path) -> SystemOrders:
    """The same of a snapshot; what is lacking is said."""
    runs, missing = runs_of(folder, snapshot.mark.runs)
    notes = tuple(missing)
    if len(runs) < 2:
        why = "there are fewer than two runs in this project"
        return SystemOrders(summary=f"Whether the order of systems changes can't be told: {why}.", rows=(), notes=notes)
    shared = sum(both for both, _ in _shared(snapshot.state).values())
    if shared < FEW_PAIRS:
        why = f"{plural(shared, 'document')} with the grades of two assessors, and fewer than {FEW_PAIRS} are too few"
        return SystemOrders(summary=f"Whether the order of systems changes can't be told: {why}.", rows=(), notes=notes)
    found: Consistency = consistency(snapshot.state, snapshot.scale, runs=dict(runs))
    ordered = None if found.assessment is None else found.assessment.orderings
    if ordered is None:
        told = [finding.message for finding in found.warnings if finding.code == "no-orderings"]
        return SystemOrders(summary=f"{told[0][:1].upper()}{told[0][1:]}.", rows=(), notes=notes)
    rows = tuple(
        (row.names[0], row.names[1], _number(row.values[0])) for row in ordered.pairs.rows if row.names[-1] == "kendall"
    )
    said = f"{ordered.says[:1].upper()}{ordered.says[1:]}."
    return SystemOrders(summary=said, rows=rows, notes=(*notes, *ordered.pairs.notes))
