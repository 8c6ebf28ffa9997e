"""One result type, always: a score for each run, measure and topic, with the policy and provenance behind it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from cranfield.errors import UsageError, plural
from cranfield.evaluation.experiment import Experiment, Input
from cranfield.evaluation.findings import Finding
from cranfield.evaluation.printed import PrintedInNotebooks
from cranfield.judged import Floats
from cranfield.libraries import library
from cranfield.measures import Measure, as_measures, parse_measure
from cranfield.policy import Policy
from cranfield.records import NamedTuple, dataclass

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

    from cranfield.formats.given import Given, GivenRuns
    from cranfield.plot.accessor import Plots


class Column(NamedTuple):
    """A column of a table: scores[run, topic] and means[run]."""

    label: str
    measure: Measure
    scores: Floats
    means: Floats

    @property
    def heading(self) -> str:
        """The label as tables have it: with an arrow where less is better."""
        return self.label.replace(str(self.measure), self.measure.label, 1)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Results(PrintedInNotebooks):
    """scores[run, measure, topic], with labels. NaN marks a topic that does not count for a run (topics="run").

    `lower` and `upper`, of the same shape, are there if bounds were asked for: the least and the most a score could be,
    whatever the unjudged documents retrieved are worth; those not retrieved are taken as not relevant. `denominators`,
    of the same shape, are there if a measure is averaged as the ratio of means: what its scores were divided by; and
    `points` if one is the area under a curve of such ratios: the results of the measures at every rank of the curve.
    `figures` of efficiency that were asked for have a number for each run, None where it is not known. `rankings` have
    a digest for each of several runs, the same where judged documents stand at the same ranks. `experiment` is what
    was evaluated.

    >>> import cranfield
    >>> qrels = {"q1": {"d1": 1}, "q2": {"d2": 1}}
    >>> results = cranfield.evaluate(qrels, {"q1": {"d1": 1.0}, "q2": {"d9": 2.0, "d2": 1.0}}, "RR")
    >>> results.mean()
    {'run': {'RR': 0.75}}
    >>> results["RR"], results.per_topic()
    ({'run': 0.75}, {'run': {'q1': {'RR': 1.0}, 'q2': {'RR': 0.5}}})
    >>> print(results)
    run      RR
    run  0.7500
    """

    runs: tuple[str, ...]
    measures: tuple[Measure, ...]
    topics: tuple[str, ...]
    scores: Floats
    policy: Policy
    inputs: tuple[Input, ...]
    warnings: tuple[Finding, ...]
    lower: Floats | None = None
    upper: Floats | None = None
    denominators: Floats | None = None
    points: Results | None = None
    figures: Mapping[str, tuple[float | None, ...]] = field(default_factory=dict)
    rankings: Mapping[str, str] = field(default_factory=dict)
    experiment: Experiment

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        qrels: Given | None = None,
        *,
        names: Sequence[str] = (),
        measures: Sequence[str | Measure] = (),
        runs: GivenRuns = (),
        policy: Policy | None = None,
    ) -> Results:
        """Results of scores in a frame of run, topic, measure and score, as `cranfield.spark.evaluate` makes them, or
        `to_pandas`, `to_polars` and `to_arrow`; `compare` and `gate` take them as they take an experiment.

        `policy` is the one under which they were made. With `qrels`, what is to be known of the judgements is told; a
        report needs the `runs` besides, whose documents it shows. Others than those of the scores are refused: topics
        must be the same, and one measure of the runs is computed again. Rows of a frame have no order: `names` are the
        runs in theirs, the baseline of a gate first, and `measures` the measures. Without them both stand as the
        alphabet has them; those of `cranfield.spark.evaluate`, as it made the frame, as they were asked for, with its
        warnings.

        >>> import pandas
        >>> frame = pandas.DataFrame({"run": ["a", "b"], "topic": "1", "measure": "RR", "score": [0.5, 1.0]})
        >>> Results.from_frame(frame).mean()
        {'a': {'RR': 0.5}, 'b': {'RR': 1.0}}
        """
        from cranfield.evaluation.findings import of_qrels
        from cranfield.evaluation.scored_frames import Cube, FrameFacts, check_runs, check_topics, inputs_of

        policy, facts = policy or Policy(), FrameFacts.of(frame)
        asked = as_measures(measures) if measures else facts.measures
        cube = Cube(frame, names or facts.runs, asked, every_topic=policy.topics != "run")
        experiment = Experiment({} if qrels is None else qrels, runs, policy, rows=False)
        warnings: list[Finding] = []
        if qrels is not None:
            judgements = experiment.judgements(cube.measures)
            warnings = of_qrels(judgements.qrels, judgements.pool, policy, cube.measures)
            check_topics(cube, judgements, policy)
        given = not (isinstance(runs, tuple) and not runs)
        if given and qrels is not None:
            check_runs(cube, experiment)
        return cls(
            runs=cube.runs,
            measures=cube.measures,
            topics=cube.topics,
            scores=cube.scores,
            policy=policy,
            inputs=inputs_of(experiment, cube, judged=qrels is not None, given=given),
            warnings=tuple(dict.fromkeys([*warnings, *facts.warnings])),
            experiment=experiment,
        )

    @cached_property
    def means(self) -> Floats:
        """means[run, measure]: each measure's topics as one number, by the measure's own average."""
        return self._means_of(self.scores)

    def _means_of(self, scores: Floats) -> Floats:
        rows = [[self._mean_of(r, i, scores[r, i]) for i in range(len(self.measures))] for r in range(len(self.runs))]
        return np.array(rows, dtype=np.float64).reshape(len(self.runs), len(self.measures))

    def _mean_of(self, run: int, measure: int, scores: Floats) -> float:
        wanted = self.measures[measure]
        if self.points is not None and wanted.points:
            return float(np.mean(self.curve_of(wanted, run)))
        return wanted.aggregate(scores, None if self.denominators is None else self.denominators[run, measure])

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """What a table shows: each measure, followed by its bounds if there are any."""
        kinds = [("", self.scores)]
        if self.lower is not None and self.upper is not None:
            kinds += [(" low", self.lower), (" high", self.upper)]
        means = [self._means_of(scores) for _, scores in kinds]
        return tuple(
            Column(f"{measure}{suffix}", measure, scores[:, i], mean[:, i])
            for i, measure in enumerate(self.measures)
            for (suffix, scores), mean in zip(kinds, means, strict=True)
        )

    def bounds(self) -> dict[str, dict[str, tuple[float, float]]]:
        """{run: {measure: (lowest, highest)}} of the means; empty if bounds were not asked for."""
        if self.lower is None or self.upper is None:
            return {}
        low, high = self._means_of(self.lower).tolist(), self._means_of(self.upper).tolist()
        names = [str(measure) for measure in self.measures]
        return {
            run: dict(zip(names, zip(low[r], high[r], strict=True), strict=True)) for r, run in enumerate(self.runs)
        }

    def topics_of(self, run: int) -> list[int]:
        """The numbers of the topics that count for a run."""
        counted = ~np.isnan(self.scores[run]).all(axis=0)
        return [int(t) for t in np.flatnonzero(counted)]

    def mean(self) -> dict[str, dict[str, float]]:
        """{run: {measure: number}}"""
        names = [str(measure) for measure in self.measures]
        return {run: dict(zip(names, self.means[r].tolist(), strict=True)) for r, run in enumerate(self.runs)}

    def per_topic(self) -> dict[str, dict[str, dict[str, float]]]:
        """{run: {topic: {measure: number}}}, without topics that do not count for a run."""
        names = [str(measure) for measure in self.measures]
        return {
            run: {topic: dict(zip(names, values, strict=True)) for topic, values in self._topic_rows(r)}
            for r, run in enumerate(self.runs)
        }

    def __getitem__(self, measure: Measure | str) -> dict[str, float]:
        """{run: number} of one measure."""
        return dict(zip(self.runs, self.means[:, self._place(measure)].tolist(), strict=True))

    def _place(self, measure: Measure | str) -> int:
        wanted = parse_measure(measure) if isinstance(measure, str) else measure
        if wanted not in self.measures:
            raise UsageError(f"{wanted} was not evaluated; there are {', '.join(map(str, self.measures))}")
        return self.measures.index(wanted)

    def of(self, measure: Measure | str, run: str | None = None) -> Floats:
        """The per-topic scores of one measure; `run` may be left out if there is only one."""
        place = self._place(measure)
        if run is None and len(self.runs) > 1:
            raise UsageError(f"which run? There are {', '.join(self.runs)}")
        if run is not None and run not in self.runs:
            raise UsageError(f"no run '{run}'; there are {', '.join(self.runs)}")
        scores: Floats = self.scores[0 if run is None else self.runs.index(run), place]
        return scores

    def only(self, measures: Sequence[Measure]) -> Results:
        """The same results for some of the measures."""
        place = {measure: i for i, measure in enumerate(self.measures)}  # of which there may be thousands
        chosen = [place[measure] for measure in measures]

        def part(cube: Floats | None) -> Floats | None:
            return None if cube is None else cube[:, chosen]

        return replace(
            self,
            measures=tuple(measures),
            scores=self.scores[:, chosen],
            lower=part(self.lower),
            upper=part(self.upper),
            denominators=part(self.denominators),
        )

    def of_measures(self, measures: Sequence[Measure], beside: Sequence[Measure] = ()) -> Results:
        """The same results for measures that must be among them, and for others as far as they are."""
        for measure in measures:
            self._place(measure)
        return self.only(list(dict.fromkeys([*measures, *(other for other in beside if other in self.measures)])))

    @property
    def is_judged(self) -> bool:
        """Whether the judgements are known: scores may have come without them."""
        return self.inputs[0].rows > 0

    def curve_of(self, measure: Measure, run: int) -> Floats:
        """The ratios of means at every rank of the curve under which a measure is the area; none for others."""
        if self.points is None:
            return np.zeros(0)
        place = {point: i for i, point in enumerate(self.points.measures)}
        return self.points.means[run, [place[point] for point in measure.points]]

    def with_points(self, measures: Sequence[Measure]) -> Results:
        """The same results for some of the measures, the others kept as points of curves."""
        points = dict.fromkeys(point for measure in measures for point in measure.points)
        return replace(self.only(measures), points=self.only(list(points)))

    @property
    def plot(self) -> Plots:
        """Pictures of these results, as Altair charts: results.plot.histogram(), results.plot.heatmap(), …"""
        from cranfield.plot.accessor import Plots

        return Plots(self)

    def rows(self) -> Iterator[tuple[str, str, str, float]]:
        """(run, topic, measure, score), the long form every table library can take."""
        names = [str(measure) for measure in self.measures]
        for r, run in enumerate(self.runs):
            for topic, values in self._topic_rows(r):
                for name, value in zip(names, values, strict=True):
                    yield run, topic, name, value

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain Python, in the documented JSON form with topics."""
        from cranfield.evaluation.result_json import to_document

        return to_document(self, per_topic=True)

    def to_pandas(self) -> pandas.DataFrame:
        """A pandas DataFrame with the columns run, topic, measure, score."""
        library("pandas", "to_pandas")
        import pandas

        return pandas.DataFrame(self._columns())

    def to_polars(self) -> polars.DataFrame:
        """A polars DataFrame with the columns run, topic, measure, score."""
        library("polars", "to_polars")
        import polars

        return polars.DataFrame(self._columns())

    def to_arrow(self) -> pyarrow.Table:
        """A pyarrow Table with the columns run, topic, measure, score."""
        library("pyarrow", "to_arrow")
        import pyarrow

        return pyarrow.table(self._columns())

    def to_latex(self) -> str:
        """A table of the means with its caption, as a paper takes it."""
        from cranfield.evaluation.result_tables import render

        return render(self, "latex")

    def _columns(self) -> dict[str, list[str | float]]:
        rows = list(self.rows())
        return {name: [row[i] for row in rows] for i, name in enumerate(("run", "topic", "measure", "score"))}

    def _topic_rows(self, run: int) -> Iterator[tuple[str, list[float]]]:
        for t in self.topics_of(run):
            yield self.topics[t], self.scores[run, :, t].tolist()

    def _rendered(self, format: str) -> str:
        from cranfield.evaluation.result_tables import render

        return render(self, format)

    def _headline(self) -> str:
        counts = {"run": self.runs, "measure": self.measures, "topic": self.topics}
        return f"<Results: {', '.join(plural(len(names), noun) for noun, names in counts.items())}>"
