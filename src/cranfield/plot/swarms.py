"""The picture of every score: a point a topic, kept apart from its neighbours, or bars where points pile up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cranfield.errors import UsageError, plural
from cranfield.judged import Floats
from cranfield.plot.naming import hue, hued
from cranfield.plot.rows import SystemRows, across, at_baseline, padded, system_rows, told_baseline
from cranfield.plot.style import INK, Chart, Row, Theme, chart_of, find_theme, styled
from cranfield.plot.subject import Subject, picture

if TYPE_CHECKING:
    import altair as alt

WIDTHS = (7.0, 6.0, 5.0, 4.0, 3.5, 3.0, 2.5, 2.0)  # of a point in pixels, the largest that fits being taken
MOST_POINTS = 1000  # topics of which each has a point of its own
BINS = 40  # of scores, where topics are counted
TALLEST, LOWEST = 5.0, 1.6  # lines of text that a row may be high
COUNTED = 3.2  # where it has bars
FULL = 0.92  # of a row, that the highest bar takes
SMALL = 0.75  # of the font, of numbers on bars


class Dot(NamedTuple):
    """A point of a swarm: the score where it stands, how far from the middle of its row, counted in points, and its
    topic.
    """

    score: float
    lane: int
    topic: int


@picture("beeswarm", measures=("nDCG@10",), uses=("baseline", "sort", "highlight"))
def beeswarm(subject: Subject) -> Chart:
    """Every score as a point, or bars that count topics where points would pile up: a row a system, with its mean."""
    import altair as alt

    look = find_theme(subject.theme)
    results = subject.results
    measure, systems = results.measures[0], system_rows(subject, results)
    scores = np.stack([results.scores[results.runs.index(name), 0] for name in systems.names])
    if np.isnan(scores).all():
        raise UsageError(f"no topic has a score in {measure}: there is nothing to draw")
    ends = padded(scores[~np.isnan(scores)].tolist(), 0.02)
    width = look.width_beside(systems.beside(look))
    made = swarmed((scores - ends[0]) / (ends[1] - ends[0]) * width, systems.step(look, TALLEST))
    x, mean_x = (across(field, measure.label, ends, width, look) for field in ("score", "mean"))
    if made is None:
        step = systems.step(look, COUNTED)
        layers = _counted(scores, systems, ends, (width, step), look)
    else:
        size, swarms = made
        step = max(systems.step(look, LOWEST), 2 * _reach(swarms) * size)
        rows = _points(scores, results.topics, systems, swarms, size / (step / 2))
        layers = [_swarm(rows, size)]
    middle: list[Row] = [
        {"system": name, "mean": float(results.means[results.runs.index(name), 0])} for name in systems.names
    ]
    mean = (
        chart_of(middle)
        .mark_tick(orient="vertical", color=INK, thickness=look.line, size=step * 0.9)
        .encode(x=mean_x, y=systems.axis(), tooltip=["system:N", alt.Tooltip("mean:Q", format=".4f")])
    )
    line = at_baseline(subject, results, 0, mean_x, look)
    chart = alt.layer(*(layer.encode(x=x, y=systems.axis()) for layer in layers), mean, *line).properties(
        width=width, height=alt.Step(step, **{"for": "position"})
    )
    caption = _caption(str(measure), systems, len(results.topics), numbers=None if made else _has_numbers(step, look))
    return styled(chart, look, caption=caption + told_baseline(subject), params={"named": systems.named})


def _points(
    scores: Floats, topics: Sequence[str], systems: SystemRows, swarms: Sequence[Sequence[Dot]], lane: float
) -> list[Row]:
    """A row a topic of a system; a lane is so high, of half a row."""
    return [
        {"system": name, "topic": topics[dot.topic], "score": float(scores[s, dot.topic]), "offset": dot.lane * lane}
        for s, name in enumerate(systems.names)
        for dot in swarms[s]
    ]


def _swarm(rows: Sequence[Row], size: float) -> alt.Chart:
    """The points of all systems, each so wide."""
    import altair as alt

    points: alt.Chart = (
        hued(chart_of(rows))
        .mark_circle(opacity=0.75, size=np.pi / 4 * (size * 0.92) ** 2)
        .encode(
            yOffset=alt.YOffset("offset:Q", scale=alt.Scale(domain=[-1, 1], nice=False)),
            color=hue(),
            tooltip=["system:N", "topic:N", alt.Tooltip("score:Q", format=".4f")],
        )
    )
    return points


def _counted(
    scores: Floats, systems: SystemRows, ends: Sequence[float], size: tuple[float, float], look: Theme
) -> list[alt.Chart]:
    """Bars around the middle of each row, as high as there are topics of about this score.

    Topics without a hit, or without a miss, would leave nothing to see of all others: at the ends of the axis bars are
    cut where they would be higher than any between, and say how many topics they are where there is room for that.
    """
    import altair as alt

    width, step = size
    edges = np.linspace(ends[0], ends[1], BINS + 1)
    counts = np.stack([np.histogram(own[~np.isnan(own)], edges)[0] for own in scores])
    most = int(counts[:, 1:-1].max()) or int(counts.max())
    rows: list[Row] = [
        {
            "system": systems.names[s],
            "score": float((edges[b] + edges[b + 1]) / 2),
            "from": float(edges[b]),
            "to": float(edges[b + 1]),
            "topics": int(counts[s, b]),
            "height": min(1.0, float(counts[s, b] / most)) * step * FULL,
            "is_cut": bool(counts[s, b] > most),
        }
        for s, b in np.argwhere(counts).tolist()
    ]
    base = hued(chart_of(rows))
    thickness = width / BINS * 0.85
    bars = base.mark_tick(orient="vertical", thickness=thickness, opacity=0.75).encode(
        size=alt.Size("height:Q", scale=None),
        color=hue(),
        tooltip=["system:N", "topics:Q", *(alt.Tooltip(f"{end}:Q", format=".3f") for end in ("from", "to"))],
    )
    if not _has_numbers(step, look):
        return [bars]
    number = base.transform_filter("datum.is_cut").mark_text(
        align="left", dx=thickness / 2 + 2, dy=-step / 4, fontSize=look.font * SMALL
    )
    return [bars, number.encode(text="topics:Q")]


def _has_numbers(step: float, look: Theme) -> bool:
    """Whether rows are so high that a number stands over the bars next to it."""
    return step >= look.font * SMALL * 2


def swarmed(places: Floats, height: float) -> tuple[float, list[list[Dot]]] | None:
    """places[system, topic] in pixels as swarms no higher than `height`: how wide a point is, and the points of each
    system. None where so many topics have the same score, or nearly, that no size of points would do.

    >>> swarmed(np.array([[10.0, 10.0, 90.0]]), 30.0)
    (7.0, [[Dot(score=10.0, lane=0, topic=0), Dot(score=10.0, lane=1, topic=1), Dot(score=90.0, lane=0, topic=2)]])
    >>> swarmed(np.zeros((1, 30)), 30.0) is None
    True
    """
    if places.shape[1] <= MOST_POINTS:
        for size in WIDTHS:
            swarms = [apart(row, size) for row in places]
            if _reach(swarms) * size <= height / 2:
                return size, swarms
    return None


def apart(places: Floats, size: float) -> list[Dot]:
    """Points in the first lane, from the middle outwards, in which they touch no other.

    >>> [(dot.topic, dot.lane) for dot in apart(np.array([5.0, 4.0, 4.5, np.nan, 9.0]), 2.0)]
    [(1, 0), (2, 1), (0, -1), (4, 0)]
    """
    last: list[float] = []  # place of the last point in each lane
    dots = []
    for topic in np.argsort(places, kind="stable").tolist():
        place = float(places[topic])
        if np.isnan(place):
            continue
        lane = next((i for i, before in enumerate(last) if place - before >= size), len(last))
        last[lane : lane + 1] = [place]
        dots.append(Dot(place, _side(lane), topic))
    return dots


def _side(lane: int) -> int:
    """
    >>> [_side(lane) for lane in range(5)]
    [0, 1, -1, 2, -2]
    """
    return (lane + 1) // 2 * (1 if lane % 2 else -1)


def _reach(swarms: Sequence[Sequence[Dot]]) -> float:
    """How far points go from the middle, in points."""
    return max((abs(dot.lane) for swarm in swarms for dot in swarm), default=0) + 0.5


def _caption(measure: str, systems: SystemRows, topics: int, *, numbers: bool | None) -> str:
    """What is drawn: points, or bars, on which there are numbers or not."""
    shown = f"a point a topic, {plural(topics, 'topic')}; points are moved up or down only to keep them apart"
    if numbers is not None:
        beside = ", with the number of its topics beside it" if numbers else ""
        shown = (
            f"how many of {plural(topics, 'topic')} have about this score, in {BINS} steps. A bar at an end that would "
            f"be higher than any between is cut{beside}"
        )
    return f"{measure} of {systems.told}, topic by topic: {shown}. The vertical line is the mean.{systems.coloured}"
