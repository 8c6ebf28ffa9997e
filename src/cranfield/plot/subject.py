"""What can be drawn. To add a picture, write a function of a Subject and decorate it with `@picture`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, TypeAlias

import numpy as np

from cranfield.comparison.comparison import Comparison
from cranfield.comparison.panels import Evaluated
from cranfield.comparison.question import Question
from cranfield.comparison.systems import compare_results
from cranfield.errors import UsageError, some
from cranfield.evaluation.experiment import Experiment
from cranfield.evaluation.results import Results
from cranfield.measures import as_measures, parse_measures
from cranfield.notation import Value
from cranfield.plot.naming import named_systems
from cranfield.plot.style import Chart, captioned
from cranfield.registry import Entry, Parameter, Registry, described

Parameters: TypeAlias = Mapping[str, Mapping[str, Value]]  # of runs


@dataclass(frozen=True, eq=False, kw_only=True)
class Subject:
    """What a picture is of. The experiment is evaluated and compared when a picture asks for that, unless `evaluated`
    already has it. A picture of measures alone needs no experiment.
    """

    experiment: Experiment = field(default_factory=lambda: Experiment({}))
    measures: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    theme: str = "screen"
    baseline: str | None = None
    depth: int | None = None
    sort: bool = True
    costs: Mapping[str, float] | None = None  # what each run costs, for pictures of effectiveness against cost
    cost_label: str = "cost"
    parameters: Parameters | None = None  # of each run, for pictures of sweeps
    along: str | None = None  # the parameter that a sweep is drawn along
    highlight: tuple[str, ...] = ()  # runs to be coloured and named among many
    evaluated: Results | None = None

    @cached_property
    def results(self) -> Results:
        """Every run on every measure and topic."""
        wanted = as_measures(self.measures)
        if self.evaluated is not None and set(wanted) <= set(self.evaluated.measures):
            return self.evaluated.only(wanted)
        return self.experiment.evaluate(self.measures)

    @cached_property
    def comparison(self) -> Comparison:
        """Every pair of runs, or every run with the baseline."""
        results = self.results
        evaluated = {"": Evaluated(results, {run: [run] for run in results.runs})}
        return compare_results(evaluated, results.measures, Question(baseline=self.baseline))

    @cached_property
    def named(self) -> tuple[str, ...]:
        """The runs that are coloured and named: all of a few; of many the best by the first measure, the baseline and
        those to highlight.
        """
        means = self.results.means[:, 0] * (self.results.measures[0].sign or 1)
        gains = dict(zip(self.results.runs, np.nan_to_num(means, nan=-np.inf).tolist(), strict=True))
        of_baseline = [] if self.baseline is None else [self.baseline]
        return named_systems(gains, baseline=of_baseline, highlight=self.highlight)

    def two_runs(self) -> tuple[str, str]:
        """The two runs of pictures that show two."""
        names = self.results.runs
        if len(names) != 2:
            raise UsageError(f"this picture is of two runs, not {len(names)}: {', '.join(names)}")
        return names[0], names[1]

    def one_topic(self) -> str:
        """The topic of pictures that show one."""
        if len(self.topics) != 1:
            named = f", not of {len(self.topics)}" if self.topics else ""
            raise UsageError(f"this picture is of one topic{named}: name it with --topic (topics= in Python)")
        return self.topics[0]


Use = Literal["baseline", "depth", "sort", "costs", "highlight", "parameters", "along"]
Draw = Callable[..., Chart]  # of a subject, and the picture's own parameters


class Picture(Entry[Draw]):
    """A kind of picture: its name, what it shows, the measures it takes if none are given, and how it is drawn.

    One without measures takes none; the others take one, or `several`. `of_its_own` are pictures that only
    some measures can be drawn as, `by_topic` those that can show single topics; those `without_runs` show
    measures alone. `uses` names what else of a subject changes the picture.
    """

    measures: tuple[str, ...] = ()
    several: bool = False
    of_its_own: bool = False
    by_topic: bool = False
    without_runs: bool = False
    uses: tuple[Use, ...] = ()

    @property
    def shows(self) -> str:
        """What it shows, in a line."""
        return self.summary

    def draw(self, subject: Subject) -> Chart:
        """The picture of a subject, as an Altair chart."""
        chart = self.function(subject)
        return chart if subject.topics else on_topic_set(chart, subject.experiment)

    def check_asked(self, measures: Sequence[str], topics: Sequence[str], asked: Mapping[str, str]) -> None:
        """Refuses what the picture would leave out without a word. `asked` has what else was asked for of what
        pictures use, each as it was written.

        >>> find_picture("heatmap").check_asked(["AP", "RR"], [], {})
        Traceback (most recent call last):
        cranfield.errors.UsageError: heatmap shows one measure, not 2: AP, RR
        """
        if measures and not self.measures:
            raise UsageError(f"{self.name} shows no measure that could be chosen: leave out {', '.join(measures)}")
        named = [str(measure) for text in measures for measure in parse_measures(text)]
        if len(named) > 1 and not self.several:
            raise UsageError(f"{self.name} shows one measure, not {len(named)}: {', '.join(named)}")
        if topics and not self.by_topic:
            raise UsageError(f"{self.name} is over all topics and cannot show {some(topics)} alone: name no topic")
        for use, written in asked.items():
            if use not in self.uses:
                takers = [picture.name for picture in all_pictures() if use in picture.uses]
                verb = "takes" if len(takers) == 1 else "take"
                raise UsageError(f"{self.name} has no use for {written}: {', '.join(takers)} {verb} it")


def on_topic_set(chart: Chart, experiment: Experiment) -> Chart:
    """The chart, whose caption says so where some of the judged topics alone count: a picture travels without what was
    printed beside it.
    """
    return captioned(chart, " ".join(f"{finding.message}." for finding in experiment.restriction()))


PICTURES: Registry[Picture] = Registry(
    "kind of picture", group="cranfield.pictures", package="cranfield.plot", decorator="picture"
)


def picture(
    name: str,
    *,
    measures: Sequence[str] = (),
    several: bool = False,
    of_its_own: bool = False,
    by_topic: bool = False,
    without_runs: bool = False,
    uses: Sequence[Use] = (),
    aliases: Sequence[str] = (),
    **parameters: Parameter,
) -> Callable[[Draw], Draw]:
    """Registers a function as a kind of picture; the first line of its docstring says what it shows."""

    def register(function: Draw) -> Draw:
        PICTURES.add(
            Picture(
                name=name,
                measures=tuple(measures),
                several=several,
                of_its_own=of_its_own,
                by_topic=by_topic,
                without_runs=without_runs,
                uses=tuple(uses),
                aliases=tuple(aliases),
                function=function,
                parameters=described(function, "picture", parameters),
            )
        )
        return function

    return register


def all_pictures() -> tuple[Picture, ...]:
    """Every kind of picture, in the order of the modules, whichever of them was loaded first."""
    return PICTURES.all()


def find_picture(name: str) -> Picture:
    """The kind of picture of a name."""
    return PICTURES.find(name)
