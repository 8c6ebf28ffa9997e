"""How far opinions agree, those of several assessors and those of one who judged twice, and whether it matters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cranfield.agreement.assessment import Assessment, assessed
from cranfield.agreement.graded import Graded, graded_by
from cranfield.agreement.system_orders import orderings
from cranfield.errors import DataError
from cranfield.evaluation.findings import Finding
from cranfield.evaluation.printed import PrintedInNotebooks
from cranfield.formats.grouped import in_order
from cranfield.judging.scale import Scale
from cranfield.judging.state import Pair, State
from cranfield.statistics import assessors
from cranfield.statistics.resampled import default_sampling

if TYPE_CHECKING:
    from cranfield.formats.given import GivenRuns
    from cranfield.statistics.significance import Sampling

MOST_PAIRS = 300  # of assessors, up to which coefficients are for each of them as well


class Disagreement(NamedTuple):
    """A pair on which grades differ: by how many steps of the scale, whether it is relevant to some and not to others,
    who gave which grade, and whether somebody has decided already.
    """

    topic: str
    document: str
    steps: int
    crosses: bool
    grades: tuple[tuple[str, int], ...]
    settled: bool


class SelfConsistency(NamedTuple):
    """Somebody who judged pairs twice without knowing: how many, how many got the same grade and the same relevance,
    and Cohen's kappa, plain and with quadratic weights; no number where grades do not vary.
    """

    assessor: str
    pairs: int
    same_grade: int
    same_relevance: int
    kappa: float
    kappa_quadratic: float
    changed: tuple[Pair, ...]


@dataclass(frozen=True, kw_only=True, repr=False)
class Consistency(PrintedInNotebooks):
    """How far opinions agree. `assessment` is None where no pair has the grades of two assessors."""

    assessment: Assessment | None
    disagreements: tuple[Disagreement, ...]
    selves: tuple[SelfConsistency, ...]
    warnings: tuple[Finding, ...]

    def _rendered(self, format: str) -> str:
        from cranfield.judging.consistency_tables import render

        return render(self, format)


def consistency(
    state: State,
    scale: Scale,
    *,
    runs: GivenRuns | None = None,
    measure: str | None = None,
    sampling: Sampling | None = None,
) -> Consistency:
    """How far the opinions so far agree: coefficients, by topic and by grade; disagreements, the biggest first; what
    blind repeats say; with `runs`, whether systems come in another order under another assessor.

    A negative grade of the scale, as spam, is a grade here: assessors agree on it or not.

    >>> from cranfield.judging.events import Event, moment
    >>> from cranfield.judging.state import state_of
    >>> said = {"topic": "q1", "at": moment(0), "kind": "grade"}
    >>> grades = {"ann": (3, 0, 1), "bob": (0, 0, 2)}
    >>> events = [
    ...     Event(document=f"d{n}", assessor=who, grade=grade, key=str(n), **said)
    ...     for who, given in grades.items() for n, grade in enumerate(given)
    ... ]
    >>> found = consistency(state_of(events), Scale.usual())
    >>> [(pair.document, pair.steps, pair.crosses) for pair in found.disagreements]
    [('d0', 3, True), ('d2', 1, False)]
    """
    first, again = _grades(state, scale)
    sampling = sampling or default_sampling()
    warnings: list[Finding] = []
    assessment = None
    if _is_shared(first):
        graded = graded_by(first, negative=True)
        assessment = assessed(graded, scale.threshold, sampling, None, by_pair=len(graded.pairs) <= MOST_PAIRS)
        if runs is not None:
            wanted = measure or ("AP" if scale.threshold == 1 else f"AP(rel={scale.threshold})")
            assessment = _with_orderings(assessment, graded, runs, wanted, sampling)
        warnings += assessment.warnings
    else:
        message = "no pair has the grades of two assessors: nothing can be said of agreement"
        warnings.append(Finding("nothing-shared", "judgements", message))
    return Consistency(
        assessment=assessment,
        disagreements=tuple(_disagreements(state, scale, first)),
        selves=tuple(_self(who, first[who], again[who], scale) for who in in_order(again)),
        warnings=tuple(warnings),
    )


_Given = dict[str, dict[str, dict[str, int]]]  # {assessor: {topic: {document: grade}}}


def _grades(state: State, scale: Scale) -> tuple[_Given, _Given]:
    """First grades, and those of blind repeats whose first grade is there."""
    first: _Given = {}
    again: _Given = {}
    for (topic, document, assessor, repeat), opinion in state.opinions.items():
        if opinion.grade is None:
            continue
        scale.of_value(opinion.grade)  # or it is none
        if not repeat:
            first.setdefault(assessor, {}).setdefault(topic, {})[document] = opinion.grade
        else:
            before = state.opinions.get((topic, document, assessor, False))
            if before is not None and before.grade is not None:
                again.setdefault(assessor, {}).setdefault(topic, {})[document] = opinion.grade
    return first, again


def _by_pair(given: Mapping[str, Mapping[str, Mapping[str, int]]]) -> dict[Pair, dict[str, int]]:
    pairs: dict[Pair, dict[str, int]] = {}
    for who in in_order(given):
        for topic, documents in given[who].items():
            for document, grade in documents.items():
                pairs.setdefault((topic, document), {})[who] = grade
    return pairs


def _is_shared(given: _Given) -> bool:
    return any(len(grades) > 1 for grades in _by_pair(given).values())


def _with_orderings(
    assessment: Assessment, graded: Graded, runs: GivenRuns, measure: str, sampling: Sampling
) -> Assessment:
    try:
        ordered = orderings(graded, runs, measure, sampling)
    except DataError as error:
        unknown = Finding("no-orderings", "runs", f"whether the order of systems changes can't be told: {error}")
        return replace(assessment, warnings=(*assessment.warnings, unknown))
    return replace(assessment, orderings=ordered, warnings=(*assessment.warnings, *ordered.pairs.warnings))


def _disagreements(state: State, scale: Scale, given: _Given) -> Iterator[Disagreement]:
    """Those first that are most steps of the scale apart, then those that cross the threshold, then by id."""
    found = []
    for pair, grades in _by_pair(given).items():
        low, high = min(grades.values()), max(grades.values())
        if low != high:
            steps = scale.values.index(high) - scale.values.index(low)
            crosses = scale.relevant(high) and not scale.relevant(low)
            found.append(Disagreement(*pair, steps, crosses, tuple(grades.items()), pair in state.verdicts))
    yield from sorted(found, key=lambda of: (-of.steps, not of.crosses, of.topic, of.document))


def _self(
    who: str, first: Mapping[str, Mapping[str, int]], again: Mapping[str, Mapping[str, int]], scale: Scale
) -> SelfConsistency:
    both = [
        ((topic, document), first[topic][document], int(grade))
        for topic, documents in again.items()
        for document, grade in documents.items()
    ]
    before = np.array([grade for _, grade, _ in both], dtype=float)
    after = np.array([grade for _, _, grade in both], dtype=float)
    values = np.array(scale.values, dtype=float)
    counts = assessors.confusion(before, after, values)
    return SelfConsistency(
        assessor=who,
        pairs=len(both),
        same_grade=int(np.count_nonzero(before == after)),
        same_relevance=int(np.count_nonzero((before >= scale.threshold) == (after >= scale.threshold))),
        kappa=float(assessors.cohen_kappa(counts, values)),
        kappa_quadratic=float(assessors.cohen_kappa(counts, values, "quadratic")),
        changed=tuple(pair for pair, old, new in both if old != new),
    )
