"""`evaluate`: judgements and runs in, results out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias, cast

import numpy as np

from cranfield.efficiency.resources import check_figures
from cranfield.errors import ArgumentError, DataError, UsageError, some
from cranfield.evaluation import findings
from cranfield.evaluation.experiment import Experiment, Input, Judgements, input_of, with_retrieved
from cranfield.evaluation.opinions import Opinions, Scored, opinions, scored, shown_pool, spread
from cranfield.evaluation.results import Results
from cranfield.formats import distinct_names
from cranfield.formats.reading import DEFAULT, Reading
from cranfield.judged import Floats, Judged, Mask, arranged, joined, pool
from cranfield.measures import Measure, as_measures
from cranfield.policy import Policy
from cranfield.records import NamedTuple, dataclass
from cranfield.tables import Qrels, Run

if TYPE_CHECKING:
    from cranfield.evaluation.experiment import GivenLengths
    from cranfield.formats.given import Given, GivenRuns

Wanted: TypeAlias = "str | Measure | Iterable[str | Measure]"  # measures, by name or as they are


def evaluate(
    qrels: Given | Experiment,
    runs: GivenRuns | Wanted | None = None,
    measures: Wanted | None = None,
    *,
    policy: Policy | None = None,
    bounds: bool = False,
    known: Given | None = None,
    lengths: GivenLengths | None = None,
    reading: Reading = DEFAULT,
) -> Results:
    """Evaluates one run or many against judgements.

    `qrels` and each run are anything `read_qrels` and `read_run` take: a path, a dict of dicts, a data frame, arrays.
    Several runs come as a list, or as {name: run}. `measures` are names ("nDCG@10") or Measure objects. `policy`
    holds every decision that changes a number. `bounds` adds the least and the most each score could be, whatever the
    unjudged documents retrieved are worth. `known` are documents the user knew before, as judgements; `lengths` of
    documents are a file or {document: length}. `reading` says how inputs are read where they do not tell: format,
    kind of judgements, columns. The result is always a `Results`. To do more with the same inputs than evaluate them,
    make an `Experiment`; `evaluate(experiment, measures)` is `experiment.evaluate(measures)`.

    >>> qrels = {"q1": {"d1": 2, "d2": 0}, "q2": {"d3": 1}}
    >>> a = {"q1": {"d1": 3.0, "d2": 2.0}, "q2": {"d3": 1.5}}
    >>> b = {"q1": {"d2": 3.0, "d1": 2.0}, "q2": {"d4": 9.0, "d3": 1.5}}
    >>> print(evaluate(qrels, {"a": a, "b": b}, ["nDCG@10", "AP"]))
    run  nDCG@10      AP
    a     1.0000  1.0000
    b     0.6309  0.5000
    """
    if isinstance(qrels, Experiment):
        given = {
            "policy": policy,
            "known": known,
            "lengths": lengths,
            "reading": None if reading is DEFAULT else reading,
        }
        return qrels.evaluate(_only_measures(runs, measures, given), bounds=bounds)
    needed = {"runs": runs, "measures": measures}
    if runs is None or measures is None:
        from cranfield.signatures import needs

        raise needs("evaluate", [name for name, value in needed.items() if value is None])
    experiment = Experiment(qrels, cast("GivenRuns", runs), policy or Policy(), reading, known, lengths, rows=False)
    return experiment.evaluate(measures, bounds=bounds)


def _only_measures(second: object, measures: Wanted | None, given: Mapping[str, object]) -> Wanted:
    """The measures beside an experiment, which come second or by name: it has all the rest."""
    own = next((name for name, value in given.items() if value is not None), None)
    own = "runs" if own is None and second is not None and measures is not None else own
    if own is not None:
        raise ArgumentError(f"evaluate: the experiment has its own {own}: write evaluate(experiment, measures)")
    if second is None and measures is None:
        from cranfield.signatures import needs

        raise needs("evaluate", ["measures"])
    return cast("Wanted", second if measures is None else measures)


def evaluated(
    experiment: Experiment,
    measures: str | Measure | Iterable[str | Measure],
    *,
    bounds: bool = False,
    figures: str | Iterable[str] = (),
) -> Results:
    """Every run of an experiment on every measure and topic.

    `figures` of efficiency, "p99" or "throughput", are read from the metadata of the runs.

    >>> experiment = Experiment({"q1": {"d1": 1}}, {"q1": {"d2": 2.0, "d1": 1.0}})
    >>> evaluated(experiment, "RR").mean()
    {'run': {'RR': 0.5}}
    """
    policy, wanted, figures = experiment.policy, as_measures(measures), check_figures(figures)
    _check_bounds(bounds, wanted, policy)
    judgements = experiment.judgements(wanted)
    scoring = _Scoring.of(experiment, wanted, judgements, bounds)
    qrels = judgements.qrels
    reported = shown_pool(qrels, judgements.pool, policy, scoring.heard)
    warnings = experiment.restriction()
    warnings += findings.of_qrels(qrels, reported, policy, wanted) + (scoring.heard.findings if scoring.heard else [])
    warnings += findings.searched_bounds(wanted, qrels.name) if bounds else []
    warnings += findings.unreachable_grade(wanted, reported, qrels.name)
    runs = experiment.each_run(scoring.of_run, judgements, rows=any(scoring.complete))
    if not runs:
        raise UsageError("no run given")
    names = distinct_names([(run.source.name, run.source.path) for run in runs])
    paths = [run.source.path for run in runs]
    measured, unknown = _efficiency(names, paths, figures)
    warnings += [*findings.of_runs(names, paths, [run.findings for run in runs]), *unknown]
    cubes = [np.stack(cube) for cube in zip(*(run.cubes for run in runs), strict=True)]
    answered = np.stack([run.answered for run in runs])
    topics, cubes = _choose_topics(policy, names, judgements.pool.topics, cubes, answered, reported.has_relevant)
    denominators = cubes.pop() if scoring.ratios else None
    scores, lower, upper = cubes if bounds else (cubes[0], None, None)
    results = Results(
        runs=tuple(names),
        measures=scoring.scored,
        topics=topics,
        scores=scores,
        policy=policy,
        inputs=(*experiment.beside(judgements), *(run.source for run in runs)),
        warnings=tuple(warnings),
        lower=lower,
        upper=upper,
        denominators=denominators,
        figures=measured,
        rankings={name: run.ranking for name, run in zip(names, runs, strict=True) if run.ranking},
        experiment=experiment,
    )
    return results.with_points(wanted) if scoring.points else results


def _check_bounds(bounds: bool, measures: Sequence[Measure], policy: Policy) -> None:
    """Bounds are those of one order, of grades, and of scores that are averaged as they are."""
    if bounds and policy.ties == "expected":
        raise UsageError("bounds are those of one order: choose another policy for ties than expected")
    if bounds and policy.grades == "probabilities":
        raise UsageError("bounds are those of grades: probabilities have none")
    if bounds and any(measure.is_ratio_of_means for measure in measures):
        raise UsageError("bounds of a ratio of means are not those of its topics: choose another average than ratio")


class _ScoredRun(NamedTuple):
    """What is kept of a run: cubes[measure, topic] of scores, then of bounds and denominators if there are any."""

    source: Input
    findings: list[findings.Finding]
    answered: Mask
    cubes: list[Floats]
    ranking: str


@dataclass(frozen=True, eq=False, kw_only=True)
class _Scoring:
    """How every run is scored. Measures that read lengths see every document retrieved, and so do those whose bounds
    hang on what unjudged documents are; the others see those judged.
    """

    measures: tuple[Measure, ...]
    points: tuple[Measure, ...]  # under the curves of which some of the measures are the area
    complete: list[bool]  # which of all of them see every document retrieved
    policy: Policy
    heard: Opinions | None
    bounds: bool
    ratios: bool
    told_apart: bool  # there are other runs, from which a comparison will tell its ranking
    judgements: Judgements
    known: Qrels | None
    lengths: Mapping[str, float]

    @classmethod
    def of(
        cls, experiment: Experiment, measures: tuple[Measure, ...], judgements: Judgements, bounds: bool
    ) -> _Scoring:
        policy, lengths = experiment.policy, experiment.lengths_by_document
        for measure in measures:
            measure.check_needs({*judgements.qrels.columns, *(["lengths"] if lengths else [])})
        points = tuple({point: None for measure in measures for point in measure.points if point not in measures})
        timed = [measure.definition.needs == "lengths" for measure in (*measures, *points)]
        ratios = any(measure.is_ratio_of_means for measure in measures)
        heard = opinions(judgements.qrels, judgements.pool, policy, judgements.whole)
        if (heard is not None or policy.grades == "probabilities") and ratios:
            raise UsageError(
                "several judges and probabilities have no ratio of means: choose another average than ratio"
            )
        if heard is not None and any(timed):
            raise UsageError(f"measures that read lengths take one judge: judges=grade, not {policy.judges}")
        open_to_all = bounds and heard is None and "preferences" not in judgements.qrels.columns
        complete = [
            reads or (open_to_all and measure.traits.every_document)
            for reads, measure in zip(timed, (*measures, *points), strict=True)
        ]
        return cls(
            measures=measures,
            points=points,
            complete=complete,
            policy=policy,
            heard=heard,
            bounds=bounds,
            ratios=ratios,
            told_apart=experiment.has_several_runs,
            judgements=judgements,
            known=experiment.known_documents,
            lengths=lengths,
        )

    @property
    def scored(self) -> tuple[Measure, ...]:
        """All that is computed: the measures, and the points of curves."""
        return (*self.measures, *self.points)

    def of_run(self, run: Run, whole: Judged) -> _ScoredRun:
        """A run's scores, and what is odd about it."""
        judged, plain = self._seen(whole, [m for m, reads in zip(self.scored, self.complete, strict=True) if not reads])
        cubes, errors = plain.cubes, plain.errors
        if any(self.complete):
            lengths = self.lengths if any(measure.definition.needs == "lengths" for measure in self.scored) else None
            every = with_retrieved(self.judgements.qrels, run, known=self.known, lengths=lengths)
            pooled = replace(pool(every), max_grade=self.judgements.pool.max_grade)
            of_all = joined(run, every, self.policy.ties, pooled=pooled)
            _, complete = self._seen(of_all, [m for m, reads in zip(self.scored, self.complete, strict=True) if reads])
            place = np.argsort(np.argsort(self.complete, kind="stable"))
            cubes = [np.concatenate(pair)[place] for pair in zip(cubes, complete.cubes, strict=True)]
            errors = np.concatenate((errors, complete.errors))[place]
        warnings = findings.of_run(run, whole, self.policy, self.measures)
        warnings += findings.of_sampling(run, self.measures, self._errors(errors), self.policy)
        warnings += spread(run.name, self.measures, plain.single)
        return _ScoredRun(input_of(run), warnings, judged.answered, cubes, whole.digest if self.told_apart else "")

    def _errors(self, errors: Floats) -> Floats:
        """Those of the measures; of an area at most what those of its points make, all off in the same direction."""
        by_measure = dict(zip(self.scored, errors.tolist(), strict=True))
        of_points = [[by_measure[point] for point in measure.points] for measure in self.measures]
        pairs = zip(errors[: len(self.measures)].tolist(), of_points, strict=True)
        return np.array([float(np.mean(of)) if of else error for error, of in pairs])

    def _seen(self, whole: Judged, measures: list[Measure]) -> tuple[Judged, Scored]:
        """The rankings as measures see them, and their scores with what belongs to them."""
        judged = whole if self.policy.ties == "expected" else arranged(whole, self.policy)
        scores = scored(whole, measures, self.policy, self.heard, self.bounds)
        if self.ratios:
            denominators = [measure.denominators(judged) for measure in measures]
            scores.cubes.append(np.array(denominators).reshape(len(measures), len(judged.topics)))
        return judged, scores


def _efficiency(
    names: list[str], paths: list[str | None], figures: tuple[str, ...]
) -> tuple[dict[str, tuple[float | None, ...]], list[findings.Finding]]:
    """Figures of efficiency, and what to say of runs that lack one; a figure that no run has is an error."""
    if not figures:
        return {}, []
    from cranfield.efficiency.metadata import figures_of, no_figure

    measured = figures_of(paths, figures)
    for figure, values in measured.items():
        if all(value is None for value in values):
            raise no_figure(figure, names)
    missing = [[figure for figure, values in measured.items() if values[r] is None] for r in range(len(names))]
    return measured, [findings.unknown_figures(name, of) for name, of in zip(names, missing, strict=True) if of]


def _choose_topics(
    policy: Policy, runs: list[str], topics: tuple[str, ...], cubes: list[Floats], answered: Mask, has_relevant: Mask
) -> tuple[tuple[str, ...], list[Floats]]:
    """Which topics count: those of the qrels, those all runs answer, or for each run its own."""
    keep = np.ones(len(topics), dtype=bool)
    if policy.empty_topics == "drop":
        keep &= has_relevant
    if policy.topics == "common":
        keep &= answered.all(axis=0)
    elif policy.topics == "run":
        cubes = [np.where(answered[:, None, :], cube, np.nan) for cube in cubes]
        keep &= answered.any(axis=0)
    if not keep.any():
        raise no_topic_left(policy)
    bare = [run for run, of_run in zip(runs, answered, strict=True) if not (of_run & keep).any()]
    if bare and policy.topics == "run":
        raise no_topic_of(bare)
    return tuple(topic for topic, kept in zip(topics, keep.tolist(), strict=True) if kept), [
        cube[:, :, keep] for cube in cubes
    ]


def no_topic_left(policy: Policy) -> DataError:
    """The error where a policy leaves no topic."""
    return DataError(
        f"no topic is left under the policy topics={policy.topics}, empty_topics={policy.empty_topics}",
        remedy="The runs share no judged topic, or none of those they share has a relevant document. Systems that "
        "each have topics of their own are compared by `cranfield compare --topics run --test welch`.",
    )


def no_topic_of(runs: Sequence[str]) -> DataError:
    """The error where a policy leaves no topic for some runs."""
    return DataError(
        "answers no topic with a relevant document, and topics without one were to be left out",
        source=some(runs),
        remedy="A mean over no topic is no number: leave the run out, or let such topics count.",
    )
