"""The picture of a parameter sweep: a measure against the values of a parameter, a line for each value of others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from cranfield.errors import UsageError, plural, some
from cranfield.notation import Value
from cranfield.plot.curves import Curves, Point
from cranfield.plot.labels import beside_lines, end_labels, text_width
from cranfield.plot.lines import AXIS, levels
from cranfield.plot.naming import NAMED, OTHERS, hue, hued, named_systems, of_grey
from cranfield.plot.rows import padded
from cranfield.plot.style import INK, Chart, Row, Theme, chart_of, find_theme, styled
from cranfield.plot.subject import Parameters, Subject, picture
from cranfield.plot.swept import run_parameters

if TYPE_CHECKING:
    pass


MOST_TICKS = 10  # values of a parameter of which each is written below the axis


class Combination(NamedTuple):
    """What one run of a sweep has: its name, the value that is drawn along the axis, its line and its mean."""

    run: str
    value: float
    line: str
    mean: float


@picture("sweep", measures=("AP",), uses=("parameters", "along"))
def sweep(subject: Subject) -> Chart:
    """A measure against the values of a parameter, the best marked, with a line for each value of other parameters."""
    results = subject.results
    measure = results.measures[0]
    measure.check_direction("take another measure", reason="the best is marked")
    settings = subject.parameters if subject.parameters is not None else run_parameters(results)
    missing = [run for run in results.runs if run not in settings]
    if missing:
        raise UsageError(f"no parameters are known of {some(missing)}: give a table of them (--swept, parameters=)")
    means = dict(zip(results.runs, results.means[:, 0].tolist(), strict=True))
    along, others, made = combinations({run: settings[run] for run in results.runs}, means, subject.along)
    best = max(made, key=lambda one: one.mean * measure.sign)
    level = sum(one.mean == best.mean for one in made)
    where = ", ".join(filter(None, (f"{along} = {best.value:g}", best.line)))
    by_others = f", a line for each value of {' and '.join(others)}" if others else ""
    topics, count = plural(len(results.topics), "topic"), plural(len(made), "combination")
    caption = (
        f"{measure} by {along}, mean over {topics}, of {count} of parameters{by_others}. The ring is the best of them, "
        f"{best.mean:.4f} at {where}{f' (the first of {level} that are level)' if level > 1 else ''}: it was chosen on "
        "the topics drawn here, and proves nothing on them."
    )
    points = tuple(Point(one.line or str(measure), "", "", one.value, one.mean) for one in made)
    curves = Curves(along, measure.label, points, sign=measure.sign)
    return _drawn(curves, [one.run for one in made], made.index(best), caption, find_theme(subject.theme))


def combinations(
    settings: Parameters, means: Mapping[str, float], wanted: str | None = None
) -> tuple[str, list[str], list[Combination]]:
    """The parameter that is drawn along the axis (that with the most values, if none is wanted), those that make lines,
    and every run in the order of its line and value.

    >>> settings = {"a": {"k1": 0.9, "b": 0.4}, "b": {"k1": 1.2, "b": 0.4}, "c": {"k1": 0.9, "b": 0.75}}
    >>> along, others, made = combinations(settings, {"a": 0.2, "b": 0.3, "c": 0.25})
    >>> along, others, [(one.line, one.value, one.mean) for one in made]
    ('k1', ['b'], [('b = 0.4', 0.9, 0.2), ('b = 0.4', 1.2, 0.3), ('b = 0.75', 0.9, 0.25)])
    """
    varied = _varied(settings)
    along = _along(varied, wanted)
    lacking = [run for run, own in settings.items() if not _is_number(own.get(along))]
    if lacking:
        raise UsageError(f"{along} of {some(lacking)} is not known as a number: leave such runs out")
    others = [name for name in varied if name != along and not _follows(name, along, settings)]

    def order(run: str) -> tuple[list[tuple[float, str]], float]:
        return [_key(settings[run].get(name)) for name in others], _of(settings[run], along)

    made = [
        Combination(
            run,
            _of(settings[run], along),
            ", ".join(f"{name} = {_shown(settings[run].get(name))}" for name in others),
            means[run],
        )
        for run in sorted(settings, key=order)
    ]
    seen: dict[tuple[str, float], str] = {}
    for one in made:
        twin = seen.setdefault((one.line, one.value), one.run)
        if twin != one.run:
            raise UsageError(f"{twin} and {one.run} have the same parameters: leave one of the two out")
    return along, others, made


def _varied(settings: Parameters) -> dict[str, list[Value]]:
    """The values of each parameter that is not the same for all."""
    names = dict.fromkeys(name for own in settings.values() for name in own)
    values = {name: _distinct(own.get(name) for own in settings.values()) for name in names}
    return {name: several for name, several in values.items() if len(several) > 1}


def _distinct(values: Iterable[Value]) -> list[Value]:
    return list({_shown(value): value for value in values}.values())


def _along(varied: Mapping[str, Sequence[Value]], wanted: str | None) -> str:
    """The parameter of the axis, which must have numbers."""
    known = {name: [value for value in values if value is not None] for name, values in varied.items()}
    numbers = {name: values for name, values in known.items() if len(values) > 1 and all(map(_is_number, values))}
    if not numbers and wanted is None:
        differing = f"these differ in {', '.join(varied)}" if varied else "of these no parameter differs"
        raise UsageError(f"a sweep is of runs that differ in a parameter that is a number: {differing}")
    if wanted is not None and wanted not in numbers:
        raise UsageError(
            f"no parameter '{wanted}' that varies and is a number; there are {some(list(numbers)) or 'none'}"
        )
    return wanted or max(numbers, key=lambda name: len(numbers[name]))


def _follows(name: str, along: str, settings: Parameters) -> bool:
    """Whether a parameter has one value for each of another, and so makes no lines of its own."""
    pairs = {(_shown(own.get(along)), _shown(own.get(name))) for own in settings.values()}
    return len({value for value, _ in pairs}) == len(pairs)


def _is_number(value: Value) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _of(own: Mapping[str, Value], name: str) -> float:
    value = own[name]
    assert isinstance(value, int | float)
    return float(value)


def _key(value: Value) -> tuple[float, str]:
    return (float(value), "") if isinstance(value, int | float) else (float("inf"), _shown(value))


def _shown(value: Value) -> str:
    """
    >>> _shown(0.9), _shown([0.3, 0.7]), _shown(None), _shown("lucene")
    ('0.9', '0.3, 0.7', 'none', 'lucene')
    """
    if isinstance(value, list | tuple):
        return ", ".join(map(_shown, value))
    return f"{value:g}" if isinstance(value, float) else "none" if value is None else str(value)


def _drawn(curves: Curves, runs: Sequence[str], best: int, caption: str, look: Theme) -> Chart:
    """Lines with their points and names, and a ring around the best."""
    import altair as alt

    gains = levels(curves)
    named = named_systems(gains, baseline=[curves.points[best].run])
    rows: list[Row] = [
        {"system": point.run, "label": point.run, "run": run, "x": point.x, "y": point.y}
        for point, run in zip(curves.points, runs, strict=True)
    ]
    (left, right), (low, high) = (padded([row[field] for row in rows]) for field in ("x", "y"))  # type: ignore[misc]
    values = sorted({point.x for point in curves.points})
    texts = list(named) if len(gains) > 1 else []
    width = look.width_beside(AXIS + beside_lines(texts, look))
    ticks = alt.Axis()
    if len(values) <= MOST_TICKS:
        written = ticks_of(values, width, look)
        ticks = alt.Axis(
            values=written, tickCount=len(written), format=".6~g"
        )  # each as it is, not to one step's digits
    x = alt.X("x:Q", title=curves.x, axis=ticks, scale=alt.Scale(domain=[left, right], nice=False, zero=False))
    y = alt.Y("y:Q", title=curves.y, scale=alt.Scale(domain=[low, high], nice=False, zero=False))
    data = chart_of(rows)
    tooltip = [
        alt.Tooltip("run:N"),
        alt.Tooltip("label:N"),
        alt.Tooltip("x:Q", title="value"),
        alt.Tooltip("y:Q", title="mean", format=".4f"),
    ]
    base = hued(data).encode(x=x, y=y, color=hue(), detail="label:N", tooltip=tooltip)
    ring = chart_of([rows[best]]).encode(x=x, y=y, tooltip=tooltip)
    layers = [
        base.transform_filter(OTHERS).mark_line(strokeWidth=look.line / 3),
        base.transform_filter(NAMED).mark_line(strokeWidth=look.line),
        base.transform_filter(NAMED).mark_point(filled=True, opacity=1, size=look.font * 2.5),
        ring.mark_point(filled=False, opacity=1, color=INK, size=look.font * 12, strokeWidth=look.line * 0.75),
    ]
    if texts:
        layers += end_labels(data, look, (low, high), right)
    chart = alt.layer(*layers).properties(width=width, height=look.height)
    told = caption + of_grey(named, len(gains), "lines")
    return styled(chart, look, caption=told, params={"named": named})


def ticks_of(values: Sequence[float], width: float, look: Theme) -> list[float]:
    """The values that are written under an axis so wide: all, or every second, third and so on, from the first.

    >>> from cranfield.plot.style import find_theme
    >>> [ticks_of(range(0, 16, 2), width, find_theme("paper")) for width in (200, 80, 55)]
    [[0, 2, 4, 6, 8, 10, 12, 14], [0, 4, 8, 12], [0, 6, 12]]
    """
    room = int(width / (text_width([_shown(value) for value in values], look) + look.font))
    step = next(step for step in range(1, len(values) + 1) if -(-len(values) // step) <= max(room, 1))
    return list(values[::step])
