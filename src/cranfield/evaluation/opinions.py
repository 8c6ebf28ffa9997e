"""Scores where judgements are not of one mind: several judges, or chances of relevance instead of grades.

The opinions of several judges are a column of the judgements, "judges": a row for each document, a column for each
judge, NaN where a judge did not judge a document. The policy says how they become one number.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from cranfield.errors import DataError, UsageError, plural
from cranfield.evaluation.findings import Finding
from cranfield.formats import read_qrels
from cranfield.formats.kinds import KINDS
from cranfield.formats.reading import Reading
from cranfield.judged import Floats, Judged, Mask, Pool, arranged
from cranfield.measures.registry import Measure
from cranfield.policy import Policy
from cranfield.records import NamedTuple
from cranfield.tables import Qrels

if TYPE_CHECKING:
    from cranfield.formats.given import Given


class Opinions(NamedTuple):
    """Grades to evaluate under, each with an entry for each row of the pool, and the weight of each in each topic."""

    grades: Floats  # [opinion, row], NaN where there is none
    weights: Floats  # [opinion, topic]
    judged: Mask  # [opinion, topic]: whether there is any grade
    highest: float  # of all judgements
    findings: list[Finding]


class Scored(NamedTuple):
    """Scores, and bounds if asked for, as [measure, topic]; and how far each measure's mean may be off by sampling."""

    cubes: list[Floats]
    errors: Floats
    single: list[Floats]  # for each judge alone the scores, NaN in topics without a judgement


def opinions(qrels: Qrels, pool: Pool, policy: Policy, whole: Pool | None = None) -> Opinions | None:
    """What to evaluate under by the policy; None where the grades that judgements have will do.

    Where the pool is that of some topics, `whole` is that of all: how far judges agree is seen on all of them.

    >>> from cranfield import judged
    >>> from cranfield.formats import read_qrels
    >>> qrels = read_qrels({"q1": {"d1": {"ann": 1, "bob": 0}, "d2": {"ann": 0}}}, reading=Reading(judgements="judges"))
    >>> opinions(qrels, judged.pool(qrels), Policy(judges="mean")).weights
    array([[0.5],
           [0.5]])
    """
    if policy.judges == "grade":
        return None
    if "judges" not in pool.columns:
        raise UsageError(
            f"judges={policy.judges} needs the grades of each judge: --judgements judges, or judgements='judges'"
        )
    grades: Floats = pool.columns["judges"].T
    of_all: Floats = grades if whole is None else whole.columns["judges"].T
    if policy.judges == "majority":
        every = np.ones((1, len(pool.topics)))
        return Opinions(majority(grades)[None], every, every > 0, float(np.nanmax(majority(of_all))), [])
    judged = np.array([pool.total(~np.isnan(of_judge)) > 0 for of_judge in grades])
    alike = judged / judged.sum(axis=0)
    highest = float(np.nanmax(of_all))
    if policy.judges == "mean":
        return Opinions(grades, alike, judged, highest, [])
    trust = agreement(of_all)
    weights = trust[:, None] * judged
    total = weights.sum(axis=0)
    # Where nobody who judged a topic agrees with others better than by chance, all count alike.
    weights = np.where(total > 0, weights / np.where(total > 0, total, 1), alike)
    names = next(iter(qrels.groups.values()), ()) or [str(number) for number in range(1, len(trust) + 1)]
    shown = ", ".join(f"{name} {value:.3f}" for name, value in zip(names, trust, strict=True))
    message = f"judges are weighted by their agreement with the others: {shown}"
    if not total.all():
        message += f"; all alike in {plural(int(np.sum(total == 0)), 'topic')} whose judges have no weight"
    told = Finding("judge-weights", qrels.name, message, doubtful=not total.all())
    return Opinions(grades, weights, judged, highest, [told])


def shown_pool(qrels: Qrels, pool: Pool, policy: Policy, heard: Opinions | None) -> Pool:
    """The judgements as findings tell of them: on the scale, and with the grades, that scores are computed from."""
    if policy.grades == "probabilities":
        check_chances(qrels, pool)
    if heard is not None and policy.judges == "majority":
        pool, _ = pool.regraded(heard.grades[0])
    highest = 1.0 if policy.grades == "probabilities" else pool.max_grade if heard is None else heard.highest
    return replace(pool, max_grade=highest)


def of_judges(judges: Mapping[str, Given]) -> Qrels:
    """The judgements of several judges from those of each: {judge: anything that read_qrels takes}.

    >>> of_judges({"ann": {"q1": {"d1": 1, "d2": 0}}, "bob": {"q1": {"d1": 0}}}).columns["judges"]
    array([[ 1.,  0.],
           [ 0., nan]])
    """
    together: dict[str, dict[str, dict[str, float]]] = {}
    for judge, source in judges.items():
        for topic, grades in read_qrels(source).to_dict().items():
            for document, grade in grades.items():
                together.setdefault(topic, {}).setdefault(document, {})[judge] = grade
    return read_qrels(together, reading=Reading(judgements="judges"))


def majority(grades: Floats) -> Floats:
    """For each document the highest grade that more than half of those who judged it reach.

    >>> majority(np.array([[1.0, 2.0, 0.0], [1.0, np.nan, 0.0], [0.0, 1.0, 1.0]]))
    array([1., 1., 0.])
    """
    judged = np.where(grades >= 0, grades, np.nan)  # a negative grade says that a judge did not judge
    best_first = -np.sort(-judged, axis=0)  # NaN last
    half = np.count_nonzero(grades >= 0, axis=0) // 2
    middle: Floats = best_first[half, np.arange(grades.shape[1])]
    return middle


def agreement(grades: Floats) -> Floats:
    """How well each judge agrees with the others beyond chance: the mean of the kappas with each of them.

    Kappa has quadratic weights (Cohen 1968), is taken over the documents that both judged and counts by their number;
    one below 0 counts as 0, so that a contrary judge takes no weight from the others. Judges whose agreement can't be
    told, because they share no document with another or all had the same grade, get the mean of the others; if it can
    be told of none, all have 1.

    >>> agreement(np.array([[1.0, 0, 1, 0], [1, 0, 1, 0], [0, 1, 1, 0]]))
    array([0.5, 0.5, 0. ])
    """
    total, shared = np.zeros(len(grades)), np.zeros(len(grades))
    for judge, other in combinations(range(len(grades)), 2):
        both = (grades[judge] >= 0) & (grades[other] >= 0)
        kappa = quadratic_kappa(grades[judge][both], grades[other][both])
        if not np.isnan(kappa):
            number = np.count_nonzero(both)
            total[[judge, other]] += max(kappa, 0.0) * number
            shared[[judge, other]] += number
    known = shared > 0
    if not known.any():
        return np.ones(len(grades))
    kappas = total / np.where(known, shared, 1)
    return np.where(known, kappas, kappas[known].mean())


def quadratic_kappa(x: Floats, y: Floats) -> float:
    """Agreement beyond chance of two judges of the same documents; NaN where chance alone would always agree.

    1 - D / E, D the mean of (x - y)² over the documents and E over all pairs of the grades that the two gave.

    >>> quadratic_kappa(np.array([1.0, 0, 2, 1]), np.array([1.0, 0, 1, 1]))
    0.6666666666666667
    """
    by_chance = np.var(x) + np.var(y) + (np.mean(x) - np.mean(y)) ** 2 if len(x) else 0.0
    return float(1 - np.mean((x - y) ** 2) / by_chance) if by_chance else float("nan")


def check_chances(qrels: Qrels, pool: Pool) -> None:
    """An error where a grade that should be a probability is none, or where judgements say more than that."""
    for kind in pool.columns.keys() & KINDS.keys() - {"judges"}:
        raise UsageError(f"{kind} are judgements of another kind than probabilities: take one or the other")
    columns = [pool.grades, *(pool.columns["judges"].T if "judges" in pool.columns else [])]
    for column in columns:
        outside = np.flatnonzero((column < 0) | (column > 1))
        if len(outside):
            row = int(outside[0])
            topic = pool.topics[pool.topic[row]]
            document = list(qrels.of(topic))[pool.place[row] - 1]
            raise DataError(
                f"topic '{topic}', document '{document}': {column[row]:g} is no probability",
                source=qrels.origin.path or qrels.name,
                remedy="Probabilities of relevance are from 0 to 1; leave out documents that nobody judged.",
            )


def scored(judged: Judged, measures: Sequence[Measure], policy: Policy, heard: Opinions | None, bounds: bool) -> Scored:
    """Scores of a whole ranking under the policy, and with `bounds` their least and most."""
    if heard is None:
        cubes, errors = _scores(judged, measures, policy, bounds)
        return Scored(cubes, errors, [])
    shape = len(measures), len(judged.topics)
    total = [np.zeros(shape) for _ in range(3 if bounds else 1)]
    errors, single = np.zeros(len(measures)), []
    for grades, weight, judges_it in zip(heard.grades, heard.weights, heard.judged, strict=True):
        view = judged.regraded(grades)
        # The scale is that of all judges, even of one who never gave the highest grade.
        view = replace(view, pool=replace(view.pool, max_grade=heard.highest))
        cubes, error = _scores(view, measures, policy, bounds)
        for sum_so_far, cube in zip(total, cubes, strict=True):
            sum_so_far += weight * cube
        errors = errors + float(np.mean(weight)) * error  # at most: as if all were off in the same direction
        single.append(np.where(judges_it, cubes[0], np.nan))
    return Scored(total, errors, single)


def _scores(judged: Judged, measures: Sequence[Measure], policy: Policy, bounds: bool) -> tuple[list[Floats], Floats]:
    if policy.ties == "expected" or policy.grades == "probabilities":
        from cranfield.evaluation.expected import expected_scores

        scores, errors = expected_scores(judged, measures, policy)
        return [scores], errors
    order, shape = arranged(judged, policy), (len(measures), len(judged.topics))
    cubes = [np.array([measure.per_topic(order) for measure in measures]).reshape(shape)]
    if bounds:
        pairs = [measure.bounds(order) for measure in measures]
        cubes += [np.array([pair[side] for pair in pairs]).reshape(shape) for side in (0, 1)]
    return cubes, np.zeros(len(measures))


def spread(source: str, measures: Sequence[Measure], single: Sequence[Floats]) -> list[Finding]:
    """How far apart the judges' own means are, for each measure."""
    if len(single) < 2:
        return []
    findings = []
    for i, measure in enumerate(measures):
        means = np.array([measure.aggregate(scores[i]) for scores in single])
        message = (
            f"{measure} under one judge alone is between {means.min():.4f} and {means.max():.4f}, "
            f"standard deviation {means.std(ddof=1):.4f} over {len(means)} judges"
        )
        findings.append(Finding("judges", source, message, doubtful=False))
    return findings
