"""The pictures of a report by one of its measures, each with what it shows and how to read it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from cranfield.comparison.comparison import Comparison
from cranfield.errors import plural
from cranfield.evaluation.results import Results
from cranfield.measures import Measure
from cranfield.plot.comparisons import by_topic, forest_caption, forest_of
from cranfield.plot.lines import Chosen, lines
from cranfield.plot.naming import named_systems
from cranfield.plot.style import Chart, caption_of, find_theme, styled
from cranfield.plot.subject import Subject, find_picture, on_topic_set
from cranfield.report.contents import Report


@dataclass(frozen=True, eq=False)
class Illustration:
    """A picture under a title, drawn when it is first looked at; what it shows, and how to read it, it says itself.

    `heading` is the title with {baseline}, {first} and {second} for the systems that a reader of the page may choose;
    `systems` says how many there must be, `of_measure` whether another measure makes it another picture. `draw_all`
    draws it with the rows of every baseline, of which the page shows those that are chosen.
    """

    name: str
    title: str
    draw: Callable[[], Chart]
    heading: str = ""
    systems: int = 1
    of_measure: bool = True
    draw_all: Callable[[], Chart] | None = None

    @cached_property
    def chart(self) -> Chart:
        """The picture."""
        return self.draw()

    @property
    def caption(self) -> str:
        """A sentence or two under it."""
        return caption_of(self.chart)


@dataclass(frozen=True, eq=False)
class ComparedSubject(Subject):
    """A subject that has been compared already: every picture then shows p-values of one and the same family."""

    compared: Comparison | None = None
    coloured: tuple[str, ...] = ()

    @cached_property
    def named(self) -> tuple[str, ...]:
        """The systems that have a colour in all pictures of the report."""
        return self.coloured

    @cached_property
    def comparison(self) -> Comparison:
        """The comparison that the report is about."""
        assert self.compared is not None
        return self.compared


def figures(report: Report, theme: str = "screen", measure: Measure | None = None) -> list[Illustration]:
    """The pictures that these systems allow by a measure (the first, if none is named), in the order of a report."""
    measure = measure or report.results.measures[0]
    results = report.results.only([measure])
    at_recall = "Interpolated precision at the eleven standard recall levels, mean over topics. Higher is better."
    cutoffs = len({point.x for point in report.by_cutoff.points})
    at_cutoffs = (
        f"Mean nDCG of the first documents, at {plural(cutoffs, 'cutoff')}. Lines that cross rank systems differently "
        "at the top and further down."
    )
    named = coloured(report, measure)
    chosen: Chosen = {"named": named}
    illustrations = [
        Illustration(
            "interpolated",
            "Precision at recall",
            lambda: on_topic_set(
                lines(report.precision_recall, theme=theme, caption=at_recall, y_domain=(0.0, 1.0), chosen=chosen),
                report.experiment,
            ),
            of_measure=False,
        ),
        Illustration(
            "cutoff",
            "nDCG by cutoff",
            lambda: on_topic_set(
                lines(report.by_cutoff, theme=theme, caption=at_cutoffs, chosen=chosen), report.experiment
            ),
            of_measure=False,
        ),
    ]
    if report.comparison is not None:
        illustrations += _of_comparison(report, report.comparison, results, theme, named)
    illustrations.append(
        Illustration(
            "heatmap",
            f"Every score by {measure}",
            _drawing("heatmap", results, theme, named),
        )
    )
    return illustrations


def coloured(report: Report, measure: Measure) -> tuple[str, ...]:
    """The systems that have a colour in every picture: all of a few; of many the best by a measure, the baseline and
    the two that are compared topic by topic. The page's script names the same, of what is chosen there.
    """
    best_first = [standing.system for standing in report.standings(measure)]
    gains = {name: -float(best_first.index(name)) for name in report.systems}
    baseline = None if report.comparison is None else report.comparison.baseline
    return named_systems(gains, baseline=[*([] if baseline is None else [baseline]), *best_first[:2]])


def _of_comparison(
    report: Report, comparison: Comparison, results: Results, theme: str, named: tuple[str, ...]
) -> list[Illustration]:
    measure = results.measures[0]
    panel, look = comparison.panel(measure), find_theme(theme)
    one_measure = replace(comparison, panels=(panel,))
    reference = report.reference(measure)
    assert reference is not None
    first, second = (standing.system for standing in report.standings(measure)[:2])
    every = [reference] if comparison.baseline is not None else list(range(len(comparison.systems)))

    def differences(baselines: Sequence[int]) -> Chart:
        made = styled(forest_of(comparison, panel, look, baselines), look, caption=forest_caption(one_measure))
        return on_topic_set(made, report.experiment)

    illustrations = [
        Illustration(
            "forest",
            f"Differences from {results.runs[reference]} by {measure}",
            lambda: differences([reference]),
            heading=f"Differences from {{baseline}} by {measure}",
            systems=2,
            draw_all=lambda: differences(every),
        ),
        Illustration(
            "histogram",
            f"{first} and {second}, topic by topic, by {measure}",
            lambda: on_topic_set(by_topic(results, first, second, theme=theme, named=named), report.experiment),
            heading=f"{{first}} and {{second}}, topic by topic, by {measure}",
            systems=2,
        ),
    ]
    if len(results.runs) < 3 or not measure.sign:
        return illustrations
    if comparison.baseline is None:
        illustrations.append(
            Illustration(
                "critical-difference",
                f"Mean ranks by {measure}",
                _drawing("critical-difference", results, theme, named, one_measure),
                systems=2,
            )
        )
        illustrations.append(
            Illustration(
                "p-values",
                f"Which systems differ by {measure}",
                _drawing("p-values", results, theme, named, one_measure),
                systems=2,
            )
        )
    illustrations.append(
        Illustration(
            "stability",
            f"Is the order by {measure} safe?",
            _drawing("stability", results, theme, named),
            systems=2,
        )
    )
    return illustrations


def _drawing(
    kind: str, results: Results, theme: str, named: tuple[str, ...], compared: Comparison | None = None
) -> Callable[[], Chart]:
    def draw() -> Chart:
        measures = tuple(str(measure) for measure in results.measures)
        subject = ComparedSubject(
            experiment=results.experiment,
            measures=measures,
            theme=theme,
            evaluated=results,
            compared=compared,
            coloured=named,
        )
        return find_picture(kind).draw(subject)

    return draw
