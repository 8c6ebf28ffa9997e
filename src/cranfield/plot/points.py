"""Pictures of points: the topics of two runs, and runs by what they cost."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cranfield.efficiency.resources import FIGURES
from cranfield.errors import UsageError, plural
from cranfield.evaluation.results import Results
from cranfield.plot.labels import Frame, name_layers, near_points
from cranfield.plot.style import COLOURS, NEUTRAL, SHADES, Chart, Theme, chart_of, find_theme, styled
from cranfield.plot.subject import Subject, picture
from cranfield.statistics.intervals import of_t

if TYPE_CHECKING:
    import altair as alt

NAMED = 4  # topics that are named on either side, those on which two runs differ most
MOST_NAMED = 20  # runs by cost that there is room to name; of more, those on the front are, and those to highlight
SINGLE = 0.6  # opacity of a point
CROWD = 500  # points from which on they are smaller and fainter, so that their density shows
MOST_POINTS = 2000  # topics that are drawn one by one; of more, squares show how many there are
SQUARES = 40  # on a side
LEVEL = 0.05  # of the intervals of means
FRONT, BEATEN = "on the front", "beaten on both by another"


class TopicPoint(NamedTuple):
    """A topic, with its score by the first of two runs and by the second."""

    topic: str
    a: float
    b: float


class RunPoint(NamedTuple):
    """A run: its cost, its mean with the ends of its interval, and its mean turned so that more is better."""

    system: str
    cost: float
    mean: float
    gain: float
    low: float | None
    high: float | None


@picture("scatter", measures=("nDCG@10",))
def scatter(subject: Subject) -> Chart:
    """The topics of two runs: the score of one against that of the other, with the names of those that differ most."""
    import altair as alt

    first, second = subject.two_runs()
    look = find_theme(subject.theme)
    results = subject.results
    measure = results.measures[0]
    scored = [
        TopicPoint(topic, float(a), float(b))
        for topic, a, b in zip(results.topics, results.of(measure, first), results.of(measure, second), strict=True)
        if not np.isnan(a + b)
    ]
    if not scored:
        raise UsageError("the two runs have no topic in common")
    values = [value for point in scored for value in (point.a, point.b)]
    low, high = min(0.0, *values), max(1.0 if measure.definition.range == (0.0, 1.0) else 0.0, *values) or 1.0
    limits = alt.Scale(domain=[low, high], nice=False)
    side = min(look.width, int(look.height * 1.1))
    x = alt.X("x:Q", title=f"{measure.label}, {second}", scale=limits)
    y = alt.Y("y:Q", title=f"{measure.label}, {first}", scale=limits)
    diagonal = (
        chart_of([{"x": low, "y": low}, {"x": high, "y": high}])
        .mark_line(color=NEUTRAL, strokeDash=[3, 3], strokeWidth=1)
        .encode(x=x, y=y)
    )
    apart = sorted(scored, key=lambda point: point.a - point.b)
    below = [point for point in apart if point.a < point.b][:NAMED]
    above = [point for point in apart if point.a > point.b][-NAMED:]
    named = [(point.topic, point.b, point.a) for point in (*below, *above)]
    beside = {point.topic for point in (*below, *above)}
    others = [(point.b, point.a) for point in scored if point.topic not in beside]
    names = near_points(named, others, Frame((low, high), (low, high), side, side), look)
    crowded = len(scored) > MOST_POINTS
    topics = _squares(scored, low, high) if crowded else _topics(scored, limits, look)
    layers = [topics, diagonal, *name_layers(names, look)] if crowded else [diagonal, topics, *name_layers(names, look)]
    side_of = {1: "Above", -1: "Below"}
    title = f"{side_of[measure.sign]} the line {first} is better" if measure.sign else ""
    caption = f"{measure} of {first} against that of {second} on each of {plural(len(scored), 'topic')}"
    caption += f"; {title[0].lower()}{title[1:]}. Named are the topics on which they differ most." if title else "."
    caption += f" Topics are counted in {SQUARES} by {SQUARES} squares." if crowded else ""
    made = alt.layer(*layers).properties(width=side, height=side, title=title)
    return styled(made, look, caption=caption)


def _topics(scored: Sequence[TopicPoint], limits: alt.Scale, look: Theme) -> alt.Chart:
    """A point a topic, fainter where there are many."""
    import altair as alt

    crowd = SINGLE * min(1.0, (CROWD / len(scored)) ** 0.5)
    points = chart_of([point._asdict() for point in scored]).mark_point(
        filled=True, opacity=crowd, size=look.font * 4 * crowd / SINGLE, color=COLOURS[0]
    )
    tooltip = [
        "topic:N",
        # no names here: titles become part of an expression of Vega's, which reads more into them than text
        alt.Tooltip("a:Q", title="upwards", format=".4f"),
        alt.Tooltip("b:Q", title="across", format=".4f"),
    ]
    encoded: alt.Chart = points.encode(x=alt.X("b:Q", scale=limits), y=alt.Y("a:Q", scale=limits), tooltip=tooltip)
    return encoded


def _squares(scored: Sequence[TopicPoint], low: float, high: float) -> alt.Chart:
    """How many topics lie where: thousands of points would hide each other."""
    import altair as alt

    ends = np.linspace(low, high, SQUARES + 1)
    counts, _, _ = np.histogram2d([p.b for p in scored], [p.a for p in scored], bins=[ends, ends])
    rows = [
        {"x": ends[i], "x2": ends[i + 1], "y": ends[j], "y2": ends[j + 1], "topics": int(counts[i, j])}
        for i, j in np.argwhere(counts).tolist()
    ]
    # By the logarithm: most lie together in few squares.
    shades = alt.Scale(type="log", domain=[1, max(2, int(counts.max()))], range=list(SHADES[2:]), interpolate="rgb")
    squares: alt.Chart = (
        chart_of(rows)
        .mark_rect()
        .encode(
            x="x:Q",
            x2="x2:Q",
            y="y:Q",
            y2="y2:Q",
            color=alt.Color("topics:Q", title="topics", scale=shades),
            tooltip=["topics:Q"],
        )
    )
    return squares


@picture("pareto", measures=("nDCG@10",), uses=("costs", "highlight"))
def pareto(subject: Subject) -> Chart:
    """Effectiveness against cost, such as latency: steps join the runs that no other beats on both."""
    import altair as alt

    look = find_theme(subject.theme)
    results = subject.results
    measure = results.measures[0]
    measure.check_direction("nothing beats anything by it")
    label, costs = (subject.cost_label, subject.costs) if subject.costs is not None else _measured(results)
    missing = [run for run in results.runs if run not in costs]
    if missing:
        raise UsageError(
            f"no cost is known of {', '.join(missing)}: give a table of run and cost with --costs (costs= in Python)"
        )
    runs = [
        RunPoint(run, costs[run], float(mean), float(mean) * measure.sign, *_interval(results, r))
        for r, (run, mean) in enumerate(zip(results.runs, results.means[:, 0], strict=True))
    ]
    front = [run for run in runs if not any(_dominates(other, run) for other in runs)]
    front.sort(key=lambda run: run.cost)
    ends = [end for run in runs for end in (run.low, run.high, run.mean) if end is not None]
    frame = Frame(_around([run.cost for run in runs]), _around(ends), look.width, look.height)
    named = [run for run in runs if _is_named(run, subject, len(runs), front)]
    x = alt.X("cost:Q", title=label, scale=alt.Scale(domain=list(frame.x), nice=False))
    limits = alt.Scale(domain=list(frame.y), nice=False, zero=False)
    y, low = (alt.Y(f"{name}:Q", title=measure.label, scale=limits) for name in ("mean", "low"))
    names = near_points(
        [(run.system, run.cost, run.mean) for run in named],
        [(run.cost, run.mean) for run in runs if run not in named],
        frame,
        look,
        lines=[*_along_steps(front), *_upright(runs)],
    )
    layers = [*_runs_by_cost(runs, front, (x, y, low), look), *name_layers(names, look)]
    all_named = len(named) == len(runs)
    highlighted = " and those to highlight" if subject.highlight else ""
    title = "" if all_named else f"{len(runs)} runs; those on the front{highlighted} are named"
    caption = (
        f"Mean {measure} on {plural(len(results.topics), 'topic')} against {label} of {plural(len(runs), 'system')}, "
        "with 95% intervals of the means (t). Steps join the systems that no other beats on both."
    )
    caption += "" if all_named else " Of the others those not named are grey."
    made = alt.layer(*layers).properties(width=look.width, height=look.height, title=title)
    return styled(made, look, caption=caption)


def _is_named(run: RunPoint, subject: Subject, count: int, front: Sequence[RunPoint]) -> bool:
    if count <= MOST_NAMED and not subject.highlight:
        return True
    return run in front or run.system in subject.named


def _interval(results: Results, run: int) -> tuple[float | None, float | None]:
    """The ends of the interval of a run's mean over topics; there is none of other averages than the mean."""
    scores, mean = results.scores[run, 0], float(results.means[run, 0])
    scores = scores[~np.isnan(scores)]
    if len(scores) < 2 or not np.isclose(scores.mean(), mean):
        return None, None
    error = np.array([scores.std(ddof=1) / len(scores) ** 0.5])
    low, high = of_t(np.array([mean]), error, np.array([len(scores) - 1.0]), LEVEL)
    return float(low[0]), float(high[0])


def _runs_by_cost(
    runs: Sequence[RunPoint], front: Sequence[RunPoint], axes: tuple[alt.X, alt.Y, alt.Y], look: Theme
) -> list[alt.Chart]:
    """The steps of the front, and each run with its interval."""
    import altair as alt

    x, y, low = axes
    steps = chart_of([run._asdict() for run in front]).mark_line(
        color=COLOURS[0], strokeWidth=look.line / 2, interpolate="step-after"
    )
    colour = alt.Color(
        "on:N",
        title=None,
        scale=alt.Scale(domain=[FRONT, BEATEN], range=[COLOURS[0], NEUTRAL]),
        legend=alt.Legend(orient="top"),
    )
    rows = chart_of([run._asdict() | {"on": FRONT if run in front else BEATEN} for run in runs]).encode(
        x=x,
        color=colour,
        tooltip=[
            "system:N",
            alt.Tooltip("cost:Q", title="cost"),
            *(alt.Tooltip(f"{name}:Q", format=".4f") for name in ("mean", "low", "high")),
        ],
    )
    return [
        rows.mark_rule(strokeWidth=look.line / 3).encode(y=low, y2="high:Q"),
        steps.encode(x=x, y=y),
        rows.mark_point(filled=True, size=look.font * (6 if len(runs) <= MOST_NAMED else 3), opacity=1).encode(y=y),
    ]


def _upright(runs: Sequence[RunPoint]) -> list[tuple[float, float, float, float]]:
    """The intervals of the runs' means, as lines."""
    return [(run.cost, run.low, run.cost, run.high) for run in runs if run.low is not None and run.high is not None]


def _along_steps(front: Sequence[RunPoint]) -> list[tuple[float, float, float, float]]:
    """The steps from each run of the front to the next, so that no name is written across them."""
    steps: list[tuple[float, float, float, float]] = []
    for run, following in pairwise(front):
        steps.append((run.cost, run.mean, following.cost, run.mean))
        steps.append((following.cost, run.mean, following.cost, following.mean))
    return steps


def _measured(results: Results) -> tuple[str, dict[str, float]]:
    """The first figure of efficiency among the results for which less is better."""
    for name, values in results.figures.items():
        if FIGURES[name].is_cost:
            known = zip(results.runs, values, strict=True)
            return FIGURES[name].title, {run: value for run, value in known if value is not None}
    return "cost", {}


def _around(values: list[float]) -> tuple[float, float]:
    """Limits of an axis with some room on either side, from 0 if that is near."""
    low, high = min(values), max(values)
    room = (high - low) * 0.08 or abs(high) * 0.1 or 1.0
    return 0.0 if 0 <= low < (high - low) / 2 else low - room, high + room


def _dominates(run: RunPoint, other: RunPoint) -> bool:
    """Whether a run is at least as good at no more cost, and better in one of the two."""
    as_good = run.cost <= other.cost and run.gain >= other.gain
    return as_good and (run.cost < other.cost or run.gain > other.gain)
