"""`assess`: the judgements of several assessors in, how far they agree out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from math import isfinite
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cranfield.agreement.graded import Graded, SharedGrades, graded_by
from cranfield.agreement.system_orders import Orderings, orderings
from cranfield.errors import UsageError, plural, some
from cranfield.evaluation.findings import Finding
from cranfield.evaluation.printed import PrintedInNotebooks
from cranfield.judged import Floats
from cranfield.measures import Measure
from cranfield.statistics import assessors
from cranfield.statistics.resampled import Estimate, default_sampling, percentile_estimate, topic_draws
from cranfield.statistics.significance import Sampling

if TYPE_CHECKING:
    from cranfield.agreement.graded import GivenJudges
    from cranfield.formats.given import GivenRuns

FEW_TOPICS = 10


class AssessorAgreement(NamedTuple):
    """An agreement between some assessors, with its interval over topics drawn anew."""

    name: str
    judges: tuple[str, ...]
    documents: int
    estimate: Estimate


class TopicAgreement(NamedTuple):
    """One topic: documents that all judged, those that all and that any find relevant, and how far assessors agree.

    `kappa` is Cohen's, the mean over pairs of assessors (Light 1971).
    """

    topic: str
    documents: int
    relevant_to_all: int
    relevant_to_any: int
    overlap: float
    kappa: float
    fleiss: float
    alpha_nominal: float
    alpha_ordinal: float


class GradeAgreement(NamedTuple):
    """One grade: how often it was given to documents that two assessors or more judged, how often another assessor of
    the same document gave it too, and how far that is beyond chance (Fleiss' kappa of a category, where all judged).
    """

    grade: float
    given: int
    agreed: float
    kappa: float


class Confusion(NamedTuple):
    """How often the first assessor gave each grade (row) where the second gave each (column)."""

    judges: tuple[str, str]
    counts: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, eq=False, repr=False)
class Assessment(PrintedInNotebooks):
    """Agreement between assessors: for all of them together and for each pair, by topic and by grade."""

    judges: tuple[str, ...]
    values: tuple[float, ...]
    rel: float
    coefficients: tuple[AssessorAgreement, ...]
    topics: tuple[TopicAgreement, ...]
    grades: tuple[GradeAgreement, ...]
    confusions: tuple[Confusion, ...]
    orderings: Orderings | None
    warnings: tuple[Finding, ...]
    resamples: int
    seed: int

    def of(self, name: str, *judges: str) -> Estimate:
        """A coefficient, of all assessors or of some."""
        for coefficient in self.coefficients:
            if coefficient.name == name and coefficient.judges == (judges or self.judges):
                return coefficient.estimate
        known = ", ".join(dict.fromkeys(coefficient.name for coefficient in self.coefficients))
        raise UsageError(f"no {name} of {', '.join(judges) or 'all'}; there are {known} of {', '.join(self.judges)}")

    def _rendered(self, format: str) -> str:
        from cranfield.agreement.assessor_tables import render

        return render(self, format)


def assess(
    judgements: GivenJudges,
    *,
    runs: GivenRuns | None = None,
    measure: str | Measure = "AP",
    rel: float = 1,
    sampling: Sampling | None = None,
) -> Assessment:
    """How far assessors agree.

    `judgements` are {assessor: judgements}, or a file of the kind "judges", or such `Qrels`. `rel` is the grade from
    which a document is relevant, for overlap. With `runs`, also how far systems come in the same order under each
    assessor. A negative grade is no judgement. Intervals are over topics drawn anew.

    >>> ann = {"q1": {"d1": 1, "d2": 0, "d3": 1}, "q2": {"d4": 1, "d5": 0}}
    >>> bob = {"q1": {"d1": 1, "d2": 0, "d3": 0}, "q2": {"d4": 1, "d5": 0}}
    >>> assessment = assess({"ann": ann, "bob": bob}, sampling=Sampling(resamples=100))
    >>> round(assessment.of("overlap").value, 4), round(assessment.of("kappa", "ann", "bob").value, 4)
    (0.75, 0.6154)
    """
    if not isfinite(rel):
        raise UsageError(f"the grade from which a document is relevant must be a number, not {rel!r}")
    sampling, graded = sampling or default_sampling(), graded_by(judgements)
    return assessed(graded, rel, sampling, None if runs is None else orderings(graded, runs, measure, sampling))


def assessed(
    graded: Graded, rel: float, sampling: Sampling, ordered: Orderings | None, *, by_pair: bool = True
) -> Assessment:
    """The agreement of grades that are there already, with the orderings of systems where these are known.

    `by_pair` asks for the coefficients of every two assessors: of hundreds of them there are too many to be looked at.
    """
    draws = np.array(
        [np.bincount(draw, minlength=len(graded.topics)) for draw in topic_draws(len(graded.topics), sampling)],
        dtype=np.float64,  # as what they are multiplied with: anything else is converted for each coefficient
    )
    coefficients = tuple(_coefficients(graded, rel, draws, graded.pairs if by_pair else ()))
    warnings = _findings(graded, coefficients)
    return Assessment(
        graded.judges,
        tuple(graded.values.tolist()),
        rel,
        coefficients,
        tuple(_topics(graded, rel)),
        tuple(_grades(graded)),
        tuple(_confusions(graded)),
        ordered,
        (*warnings, *(ordered.pairs.warnings if ordered else ())),
        sampling.resamples,
        sampling.seed,
    )


def _coefficients(
    graded: Graded, rel: float, draws: Floats, pairs: Sequence[tuple[int, int]]
) -> Iterator[AssessorAgreement]:
    """Overlap for all and each pair; kappa with each weighting for pairs; Fleiss and Krippendorff for all."""
    everybody = range(len(graded.judges))
    if tuple(everybody) not in pairs:
        yield _overlap(graded, rel, draws)
    for pair in pairs:
        yield _overlap_of_pair(graded, pair, rel, draws)
    values = graded.values
    for judge, other in pairs:
        shared = graded.shared((judge, other))
        counts = np.zeros((len(graded.topics), len(values), len(values)))
        np.add.at(counts, shared, 1)
        kappas: tuple[tuple[str, assessors.Level], ...] = (
            ("kappa", "nominal"),
            ("kappa-linear", "linear"),
            ("kappa-quadratic", "quadratic"),
        )
        for name, weights in kappas:
            made = _estimate(counts, draws, partial(assessors.cohen_kappa, values=values, weights=weights))
            judges = graded.judges[judge], graded.judges[other]
            yield AssessorAgreement(name, judges, int(counts.sum()), made)
    by_all = graded.by_topic(lambda grades: _of_complete(grades, values))
    complete = int(by_all.sum() / len(everybody))
    yield AssessorAgreement("fleiss", graded.judges, complete, _estimate(by_all, draws, assessors.fleiss_kappa))
    together = graded.by_topic(lambda grades: assessors.coincidences(grades, values))
    paired = int(np.count_nonzero(np.count_nonzero(~np.isnan(graded.grades), axis=1) > 1))
    levels: tuple[assessors.Level, ...] = ("nominal", "ordinal", "interval")
    for level in levels:
        made = _estimate(together, draws, partial(assessors.krippendorff_alpha, values=values, level=level))
        yield AssessorAgreement(f"alpha-{level}", graded.judges, paired, made)


def _of_complete(grades: Floats, values: Floats) -> Floats:
    """Coincidences of the documents that everybody judged."""
    return assessors.coincidences(grades[~np.isnan(grades).any(axis=1)], values)


def _overlap(graded: Graded, rel: float, draws: Floats) -> AssessorAgreement:
    """The mean over topics, as in Voorhees 2000; a topic where nobody finds anything relevant has none."""

    def of_topic(grades: Floats) -> Floats:
        return np.array(assessors.overlap(_relevant(grades, rel)), dtype=np.float64)

    complete = int(np.count_nonzero(graded.judged_by(range(len(graded.judges)))))
    return AssessorAgreement("overlap", graded.judges, complete, _mean_share(graded.by_topic(of_topic), draws))


def _overlap_of_pair(graded: Graded, pair: tuple[int, int], rel: float, draws: Floats) -> AssessorAgreement:
    """The same of two assessors."""
    shared = graded.shared(pair)
    relevant = np.array([graded.values[shared.first] >= rel, graded.values[shared.second] >= rel])
    counts = np.zeros((len(graded.topics), 2))
    np.add.at(counts, shared.topic, np.array([relevant.all(axis=0), relevant.any(axis=0)]).T)
    judges = tuple(graded.judges[judge] for judge in pair)
    return AssessorAgreement("overlap", judges, len(shared.topic), _mean_share(counts, draws))


def _mean_share(counts: Floats, draws: Floats) -> Estimate:
    """The mean over topics of relevant to all over relevant to any, counts[topic], where there is any."""
    everybody, anybody = counts.T
    shares = np.array([everybody / np.where(anybody > 0, anybody, 1.0), anybody > 0]).T
    return _estimate(shares, draws, lambda c: c[..., 0] / np.where(c[..., 1] > 0, c[..., 1], np.nan))


def _relevant(grades: Floats, rel: float) -> Floats:
    return np.where(np.isnan(grades), np.nan, grades >= rel)


def _estimate(by_topic: Floats, draws: Floats, coefficient: Callable[[Floats], Floats]) -> Estimate:
    """A coefficient of the sum over topics, with its interval from sums over topics drawn anew."""
    value = float(coefficient(by_topic.sum(axis=0)))
    return percentile_estimate(value, coefficient(np.tensordot(draws, by_topic, axes=1)))


def _topics(graded: Graded, rel: float) -> Iterator[TopicAgreement]:
    values, means = graded.values, _mean_kappas(graded)
    for number, topic in enumerate(graded.topics):
        grades = graded.grades[graded.topic == number]
        everybody, anybody = assessors.overlap(_relevant(grades, rel))
        complete = int(np.count_nonzero(~np.isnan(grades).any(axis=1)))
        pairs = assessors.coincidences(grades, values)
        agreements = (
            everybody / anybody if anybody else np.nan,
            means[number],
            assessors.fleiss_kappa(_of_complete(grades, values)),
            assessors.krippendorff_alpha(pairs, values),
            assessors.krippendorff_alpha(pairs, values, "ordinal"),
        )
        yield TopicAgreement(topic, complete, everybody, anybody, *map(float, agreements))


def _mean_kappas(graded: Graded) -> Floats:
    """For each topic, the mean of Cohen's kappa over the pairs of assessors that have one there."""
    of_topics: list[list[float]] = [[] for _ in graded.topics]
    for pair in graded.pairs:
        shared = graded.shared(pair)
        topics, place = np.unique(shared.topic, return_inverse=True)
        counts = np.zeros((len(topics), len(graded.values), len(graded.values)))
        np.add.at(counts, (place, shared.first, shared.second), 1)
        kappas = assessors.cohen_kappa(counts, graded.values)
        for topic, kappa in zip(topics.tolist(), kappas.tolist(), strict=True):
            if not np.isnan(kappa):
                of_topics[topic].append(kappa)
    return np.array([np.mean(kappas) if kappas else np.nan for kappas in of_topics])


def _grades(graded: Graded) -> Iterator[GradeAgreement]:
    counts = assessors.coincidences(graded.grades, graded.values)
    shared = graded.grades[np.isfinite(graded.grades).sum(axis=1) > 1]
    times = (shared[:, :, None] == graded.values).sum(axis=(0, 1))
    agreed, by_chance = assessors.grade_agreement(counts), counts.sum(axis=1) / counts.sum()
    kappa = (agreed - by_chance) / np.where(by_chance < 1, 1 - by_chance, np.nan)
    columns = (graded.values, times, agreed, kappa)
    for row in zip(*(column.tolist() for column in columns), strict=True):
        yield GradeAgreement(*row)


def _confusions(graded: Graded) -> Iterator[Confusion]:
    for judge, other in graded.pairs:
        counts = np.zeros((len(graded.values), len(graded.values)), dtype=int)
        np.add.at(counts, graded.shared((judge, other))[1:], 1)
        yield Confusion((graded.judges[judge], graded.judges[other]), tuple(map(tuple, counts.tolist())))


def _findings(graded: Graded, coefficients: Iterable[AssessorAgreement]) -> list[Finding]:
    findings = []
    alone = int(np.count_nonzero(np.count_nonzero(~np.isnan(graded.grades), axis=1) == 1))
    if alone:
        message = f"{plural(alone, 'document')} judged by one assessor only: nothing of agreement in it"
        findings.append(Finding("judged-once", "judgements", message, doubtful=False))
    names, pairs = graded.judges, set(graded.pairs)
    apart = [f"{names[i]} and {names[j]}" for i, j in combinations(range(len(names)), 2) if (i, j) not in pairs]
    if apart:
        message = f"no document judged by both {some(apart)}"
        findings.append(Finding("nothing-shared", "judgements", message, doubtful=False))
    same = [f"{names[i]} and {names[j]}" for i, j in graded.pairs if _same(graded.shared((i, j)))]
    if same:
        findings.append(
            Finding("same-grades", "judgements", f"the same grades everywhere: {some(same)}. One file twice?")
        )
    if all(np.isnan(coefficient.estimate.value) for coefficient in coefficients if coefficient.name == "overlap"):
        findings.append(Finding("no-overlap", "judgements", "nobody finds anything relevant: there is no overlap"))
    if len(graded.values) == 1:
        message = f"every grade is {graded.values[0]:g}: kappa and alpha, agreement beyond chance, have no value"
        findings.append(Finding("one-grade", "judgements", message))
    if len(graded.topics) < FEW_TOPICS:
        message = f"intervals from {plural(len(graded.topics), 'topic')} only are too narrow"
        findings.append(Finding("few-topics", "judgements", message))
    return findings


def _same(shared: SharedGrades) -> bool:
    """Whether two assessors, who do not give all documents one grade, agree on every one of ten or more."""
    alike = np.array_equal(shared.first, shared.second)
    return alike and len(shared.first) >= 10 and bool(np.ptp(shared.first) > 0)
