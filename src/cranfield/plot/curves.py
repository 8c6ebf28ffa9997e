"""Curves as data: what the pictures draw, and what a table or a notebook may want as it is.

A curve is a measure at many cutoffs or recall levels, so most of them are evaluations of many measures at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from cranfield.errors import UsageError, plural, some
from cranfield.evaluation.experiment import Experiment
from cranfield.judged import Judged, relstring
from cranfield.measures import RBP, Measure, as_measures, parse_measure
from cranfield.plot.style import Row
from cranfield.policy import Policy

LEVELS = tuple(level / 10 for level in range(11))
MOST_SCORES = 10_000_000  # that are held at a time
LONGEST = 100  # ranks that a curve by cutoff goes down to, if nothing else is said
MOST_PLACES = 500  # at which a curve of measures alone is computed


class Point(NamedTuple):
    """A point of a curve. `topic` is empty for the mean over topics, `series` where a run has one curve."""

    run: str
    topic: str
    series: str
    x: float
    y: float


@dataclass(frozen=True)
class Curves:
    """Points in the order in which they are joined, with the names of the axes.

    Of `steps` each value holds from the place before it up to its own. `sign` is 1 if higher is better, -1 if lower is.
    `noun` is what there is a curve of, `topics` how many a mean is over.
    """

    x: str
    y: str
    points: tuple[Point, ...]
    steps: bool = False
    sign: int = 1
    noun: str = "systems"
    topics: int = 0

    def rows(self) -> Iterator[Row]:
        """Points as dicts, the form that Altair and data frames take."""
        return (point._asdict() for point in self.points)

    def of(self, run: str, topic: str = "", series: str = "") -> list[tuple[float, float]]:
        """One curve."""
        return [(p.x, p.y) for p in self.points if (p.run, p.topic, p.series) == (run, topic, series)]

    @property
    def averaged(self) -> str:
        """What the curves are over, in words.

        >>> Curves("rank", "P", (Point("a", "", "", 1.0, 0.5),), topics=40).averaged
        'mean over 40 topics'
        """
        topics = {point.topic for point in self.points} - {""}
        if not topics:
            return f"mean over {plural(self.topics, 'topic')}"
        return f"topic {topics.pop()}" if len(topics) == 1 else "topic by topic"


def by_cutoff(
    experiment: Experiment,
    measure: str | Measure,
    cutoffs: Sequence[float] | None = None,
    *,
    topics: Sequence[str] = (),
    series: str = "",
) -> Curves:
    """A measure at every cutoff: means over topics, or the curves of some topics.

    >>> qrels, run = {"1": {"d1": 1, "d3": 1}}, {"a": {"1": {"d1": 3.0, "d2": 2.0, "d3": 1.0}}}
    >>> by_cutoff(Experiment(qrels, run), "P", [1, 2, 3]).of("a")
    [(1.0, 1.0), (2.0, 0.5), (3.0, 0.6666666666666666)]
    """
    parsed = parse_measure(measure) if isinstance(measure, str) else measure
    at = parsed.definition.at
    if at is None:
        raise UsageError(f"{parsed} has no cutoff to make a curve of")
    places = list(cutoffs or (LEVELS if at == "recall" else range(1, _longest(experiment) + 1)))
    values_of: dict[tuple[str, str], list[float]] = {
        (run, topic): [] for run in experiment.names for topic in topics or [""]
    }
    # Some cutoffs at a time: the scores of all topics at all of them may be more than there is memory for.
    step = max(1, MOST_SCORES // (len(experiment.tables()) * len(experiment.judgements().qrels.topics)))
    for start in range(0, len(places), step):
        wanted = [parsed @ cutoff for cutoff in places[start : start + step]]
        results = experiment.evaluate(wanted)
        _check_topics(topics, results.topics, experiment)
        number = {topic: t for t, topic in enumerate(results.topics)}
        for r, run in enumerate(experiment.names):
            for topic in topics or ("",):
                values = results.scores[r, :, number[topic]] if topic else results.means[r]
                values_of[run, topic] += values.tolist()
    points = [
        Point(run, topic, series, float(x), y)
        for (run, topic), values in values_of.items()
        for x, y in zip(places, values, strict=True)
    ]
    return Curves(
        "recall" if at == "recall" else "rank", str(parsed), tuple(points), sign=parsed.sign, topics=len(results.topics)
    )


def interpolated(experiment: Experiment, *, topics: Sequence[str] = ()) -> Curves:
    """Interpolated precision at the eleven standard recall levels, mean over topics or topic by topic.

    >>> qrels, run = {"1": {"d1": 1, "d3": 1}}, {"a": {"1": {"d1": 3.0, "d2": 2.0, "d3": 1.0}}}
    >>> interpolated(Experiment(qrels, run)).of("a")[5:7]
    [(0.5, 1.0), (0.6, 0.6666666666666666)]
    """
    made = by_cutoff(experiment, "IPrec", LEVELS, topics=topics)
    return Curves("recall", "interpolated precision", made.points, steps=True, topics=made.topics)


def interpolation(raw: Curves) -> Curves:
    """The interpolated precision at every recall: the highest from there on, in steps at the points found.

    >>> raw = Curves("recall", "precision", (Point("a", "1", "", 0.5, 0.2), Point("a", "1", "", 0.75, 0.4)))
    >>> interpolation(raw).of("a", "1")
    [(0.0, 0.4), (0.5, 0.4), (0.75, 0.4), (1.0, 0.0)]
    """
    of_curve: dict[tuple[str, str], list[Point]] = {}
    for point in raw.points:
        of_curve.setdefault((point.run, point.topic), []).append(point)
    points: list[Point] = []
    for (run, topic), found in of_curve.items():
        heights = np.maximum.accumulate([point.y for point in found][::-1])[::-1].tolist()
        steps = [(point.x, y) for point, y in zip(found, heights, strict=True)]
        steps = [(0.0, heights[0]), *steps, *([(1.0, 0.0)] if found[-1].x < 1 else [])]
        points += [Point(run, topic, "", x, y) for x, y in steps]
    return Curves("recall", "interpolated precision", tuple(points), steps=True)


def precision_recall(experiment: Experiment, topics: Sequence[str], *, rel: float = 1) -> Curves:
    """Precision and recall after each retrieved document that is relevant: the raw points of single topics.

    >>> qrels, run = {"1": {"d1": 1, "d3": 1}}, {"a": {"1": {"d1": 3.0, "d2": 2.0, "d3": 1.0}}}
    >>> precision_recall(Experiment(qrels, run), ["1"]).of("a", "1")
    [(0.5, 1.0), (1.0, 0.6666666666666666)]
    """
    _check_one_order(experiment.policy)
    points: list[Point] = []
    for run, judged in _judged(experiment):
        _check_topics(topics, judged.topics, experiment)
        hit = judged.hits(rel)
        relevant_so_far, relevant = judged.running(hit), judged.n_relevant(rel)
        for topic in topics:
            t = judged.topics.index(topic)
            for i in range(judged.offsets[t], judged.offsets[t + 1]):
                if hit[i]:
                    points.append(
                        Point(
                            run,
                            topic,
                            "",
                            float(relevant_so_far[i] / relevant[t]),
                            float(relevant_so_far[i] / judged.rank[i]),
                        )
                    )
    return Curves("recall", "precision", tuple(points))


# The measures that gain curves are made of, with that of their ideal and that of their ratio.
GAINS: Mapping[str, tuple[str, str]] = {"CG": ("IdealCG", "NCG"), "DCG": ("IdealDCG", "nDCG")}


def gains(experiment: Experiment, kind: str = "DCG", *, depth: int | None = None, topics: Sequence[str] = ()) -> Curves:
    """Cumulated gain, discounted or not, by rank, each with its ideal: series "" and "ideal".

    `kind` is CG or DCG, with parameters if need be: "DCG(base=2)" is the discount of Järvelin and Kekäläinen.

    >>> qrels, run = {"1": {"d1": 1, "d3": 2}}, {"a": {"1": {"d1": 3.0, "d2": 2.0, "d3": 1.0}}}
    >>> curves = gains(Experiment(qrels, run), "CG", depth=3)
    >>> curves.of("a"), curves.of("a", series="ideal")
    ([(1.0, 1.0), (2.0, 1.0), (3.0, 3.0)], [(1.0, 2.0), (2.0, 3.0), (3.0, 3.0)])
    """
    own, ideal, _ = _gain_measures(kind)
    ranks = range(1, (depth or _longest(experiment)) + 1)
    cumulated = by_cutoff(experiment, own, ranks, topics=topics)
    best = by_cutoff(experiment, ideal, ranks, topics=topics, series="ideal")
    title = "cumulated gain" if own.definition.name == "CG" else "discounted cumulated gain"
    return Curves("rank", f"{title}, {own}", cumulated.points + best.points, topics=cumulated.topics)


def _gain_measures(kind: str) -> tuple[Measure, Measure, Measure]:
    """The measure of a gain curve, that of its ideal and that of its ratio, under the same parameters."""
    name, bracket, parameters = kind.partition("(")
    if name not in GAINS or "@" in kind:
        ratios = [ratio for _, ratio in GAINS.values()]
        remedy = f": {kind} is drawn by normalised-gain" if name in ratios and "@" not in kind else ""
        raise UsageError(f"a gain curve is one of {', '.join(GAINS)}, not '{kind}'{remedy}")
    ideal, ratio = (parse_measure(f"{other}{bracket}{parameters}") for other in GAINS[name])
    return parse_measure(kind), ideal, ratio


def normalised_gains(
    experiment: Experiment, kind: str = "DCG", *, depth: int | None = None, average: str = "mean of ratios"
) -> Curves:
    """Gain over ideal gain by rank: the mean of the topics' ratios, or the ratio of the means over topics.

    `kind` is CG or DCG, or what comes of it, NCG or nDCG.

    >>> qrels = {"1": {"d1": 1}, "2": {"d1": 2, "d2": 1}}
    >>> run = {"a": {"1": {"d1": 1.0}, "2": {"d2": 2.0, "d1": 1.0}}}
    >>> normalised_gains(Experiment(qrels, run), "CG", depth=2).of("a")
    [(1.0, 0.75), (2.0, 1.0)]
    >>> normalised_gains(Experiment(qrels, run), "CG", depth=2, average="ratio of means").of("a")
    [(1.0, 0.6666666666666666), (2.0, 1.0)]
    """
    kind = _numerator(kind)
    ratio = _gain_measures(kind)[2]
    if average == "mean of ratios":
        made = by_cutoff(experiment, ratio, range(1, (depth or _longest(experiment)) + 1))
    elif average == "ratio of means":
        both = gains(experiment, kind, depth=depth)
        ideal = {(p.run, p.x): p.y for p in both.points if p.series == "ideal"}
        points = [p for p in both.points if p.series == ""]
        ratios = (p._replace(y=p.y / ideal[p.run, p.x] if ideal[p.run, p.x] else 0.0) for p in points)
        made = Curves("rank", "", tuple(ratios), topics=both.topics)
    else:
        raise UsageError(f"average must be 'mean of ratios' or 'ratio of means', not '{average}'")
    return Curves("rank", f"{ratio}, {average}", made.points, topics=made.topics)


def _numerator(kind: str) -> str:
    """
    >>> _numerator("nDCG(gain='exp')"), _numerator("CG")
    ("DCG(gain='exp')", 'CG')
    """
    name, bracket, parameters = kind.partition("(")
    own = {ratio: own for own, (_, ratio) in GAINS.items()}
    return f"{own.get(name, name)}{bracket}{parameters}"


def area(curve: Sequence[tuple[float, float]]) -> float:
    """The area under a curve by rank, from 0 to 1: the mean of its values.

    >>> area([(1.0, 0.75), (2.0, 1.0)])
    0.875
    """
    return float(np.mean([y for _, y in curve])) if curve else 0.0


def rank_biased(experiment: Experiment, *, p: float = 0.8, rel: float = 1, depth: int | None = None) -> Curves:
    """Rank-biased precision by depth, and what documents not judged or not seen could add: series "" and "upper".

    >>> qrels, run = {"1": {"d1": 1}}, {"a": {"1": {"d1": 2.0, "d2": 1.0}}}
    >>> curves = rank_biased(Experiment(qrels, run), p=0.5, depth=2)
    >>> curves.of("a"), curves.of("a", series="upper")
    ([(1.0, 0.5), (2.0, 0.5)], [(1.0, 1.0), (2.0, 1.0)])
    """
    ranks = range(1, (depth or _longest(experiment)) + 1)
    cumulated = by_cutoff(experiment, RBP(p=p, rel=rel), ranks)
    lower = cumulated.points
    judged = by_cutoff(experiment, RBP(p=p, rel=0), ranks).points  # what it would be if all that is judged counted
    upper = [low._replace(series="upper", y=low.y + 1 - seen.y) for low, seen in zip(lower, judged, strict=True)]
    of_grade = "" if rel == 1 else f", rel={rel:g}"
    return Curves("rank", f"RBP(p={p:g}{of_grade})", (*lower, *upper), topics=cumulated.topics)


def discounts(measures: Sequence[str | Measure], *, depth: int = 20) -> Curves:
    """By rank, how much of its worth a relevant document keeps that is the only one: what each measure discounts.

    >>> [round(y, 2) for _, y in discounts(["DCG", "RR"], depth=3).of("DCG")]
    [1.0, 0.63, 0.5]
    """
    ranks = np.unique(np.linspace(1, depth, min(depth, MOST_PLACES)).round().astype(int)).tolist()
    # All lists are as long as the longest: a measure of sets would else count how long a list is.
    alone = relstring(*("-" * (rank - 1) + "1" + "-" * (depth - rank) for rank in ranks))
    points: list[Point] = []
    for measure in as_measures(measures):
        worth = measure.per_topic(alone)
        if measure.better != "higher" or not worth[0] > 0:
            raise UsageError(f"{measure} has no discount to draw: a relevant document at rank 1 must add to it")
        kept = (worth / worth[0]).tolist()
        points += [Point(str(measure), "", "", float(x), y) for x, y in zip(ranks, kept, strict=True)]
    return Curves("rank", "share kept of what counts at rank 1", tuple(points), noun="measures")


def only_alone(measures: Sequence[str | Measure]) -> list[str]:
    """Those of some measures in which relevant documents raise each other's worth, so that the share that one keeps at
    a rank is another where there are several.

    >>> only_alone(["DCG", "nDCG", "RR", "RBP", "AP"])
    ['AP']
    """
    both, first, second = "11", "1-/1", "-1/1"
    named = []
    for measure in as_measures(measures):
        together, one, other = measure.per_topic(relstring(both, first, second)).tolist()
        if not np.isclose(together, one + other) and not np.isclose(together, one):  # which counts the first alone
            named.append(str(measure))
    return named


class Ranked(NamedTuple):
    """A document where a run has it: its score, and its grade, None if it is not judged."""

    run: str
    topic: str
    rank: int
    document: str
    score: float
    grade: float | None


def ranked(experiment: Experiment, topic: str, *, depth: int | None = None) -> list[Ranked]:
    """Scores and grades by rank of one topic, in the policy's order.

    >>> experiment = Experiment({"1": {"d1": 1}}, {"a": {"1": {"d1": 2.0, "d2": 1.0}}})
    >>> [(row.rank, row.document, row.grade) for row in ranked(experiment, "1")]
    [(1, 'd1', 1.0), (2, 'd2', None)]
    """
    _check_topics([topic], experiment.judgements().qrels.topics, experiment)
    _check_one_order(experiment.policy)
    grades = experiment.judgements().qrels.of(topic)
    rows: list[Ranked] = []
    for run in experiment.tables():
        scores = run.of(topic)
        documents = experiment.documents(run, [topic], depth or len(scores))[0]
        rows += [Ranked(run.name, topic, i, d, scores[d], grades.get(d)) for i, d in enumerate(documents, start=1)]
    return rows


def _judged(experiment: Experiment) -> Iterator[tuple[str, Judged]]:
    """Each run as measures see it."""
    for run in experiment.tables():
        yield run.name, experiment.judged(run)


def _longest(experiment: Experiment) -> int:
    return min(LONGEST, max(int(run.table.counts().max()) for run in experiment.tables()))


def _check_one_order(policy: Policy) -> None:
    if policy.ties == "expected":
        raise UsageError("ties=expected is the mean over many rankings, and there is none to draw: take another order")


def _check_topics(wanted: Sequence[str], known: Sequence[str], experiment: Experiment) -> None:
    experiment.check_inside(wanted)
    missing = [topic for topic in wanted if topic and topic not in known]
    if missing:
        raise UsageError(f"no topic {some(missing)} in the judgements; there are {some(known)}")
