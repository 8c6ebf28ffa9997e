"""Systems as the rows of a picture, the best on top: which are shown, and how high a row is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cranfield.errors import plural
from cranfield.evaluation.results import Results
from cranfield.plot.labels import text_width
from cranfield.plot.naming import in_colour
from cranfield.plot.style import INK, WHOLE, Row, Theme, chart_of
from cranfield.plot.subject import Subject

if TYPE_CHECKING:
    import altair as alt

MOST_ROWS = 60  # systems of a picture; of more the best are shown, and those named
BESIDE = 6  # pixels between a name and the plot


class SystemRows(NamedTuple):
    """The systems of a picture from top to bottom, those that are named, and how many there are in all."""

    names: list[str]
    named: tuple[str, ...]
    total: int

    @property
    def told(self) -> str:
        """How many there are, and whether some are left out.

        >>> SystemRows(["a", "b"], ("a",), 2).told, SystemRows(["a", "b"], ("a",), 70).told
        ('2 systems', '2 of 70 systems, the best and those named,')
        """
        if len(self.names) == self.total:
            return plural(self.total, "system")
        return f"{len(self.names)} of {plural(self.total, 'system')}, the best and those named,"

    @property
    def coloured(self) -> str:
        """What a caption says of colours where some systems have one.

        >>> SystemRows(["a", "b"], ("a",), 2).coloured, SystemRows(["a", "b"], ("a", "b"), 2).coloured
        (' In colour: a.', '')
        """
        return in_colour(self.named, len(self.names))

    def axis(self, *, labels: bool = True) -> alt.Y:
        """The names down the side, whole, with a faint line to follow each."""
        import altair as alt

        axis = alt.Axis(labels=labels, labelLimit=WHOLE, labelOverlap=False, grid=True, ticks=False, domain=False)
        return alt.Y("system:N", title=None, sort=self.names, axis=axis)

    def step(self, look: Theme, wanted: float) -> float:
        """How high a row is: so many lines of text as wanted, and fewer where there are many rows.

        >>> from cranfield.plot.style import find_theme
        >>> [SystemRows(["a"] * count, (), count).step(find_theme("screen"), 4.0) for count in (5, 20, 60)]
        [52.0, 45.0, 15.0]
        """
        return look.row(len(self.names), look.font * wanted)

    def beside(self, look: Theme) -> float:
        """How many pixels the names take."""
        return text_width(self.names, look) + BESIDE


def system_rows(subject: Subject, results: Results) -> SystemRows:
    """The systems of results by their mean of the first measure, or as they come."""
    gains = (results.measures[0].sign or 1) * results.means[:, 0]
    by_mean = [results.runs[r] for r in np.argsort(-gains, kind="stable")]
    shown = {*by_mean[:MOST_ROWS], *subject.named}
    order = by_mean if subject.sort else results.runs
    return SystemRows([name for name in order if name in shown], subject.named, len(results.runs))


def at_baseline(subject: Subject, results: Results, place: int, x: alt.X, look: Theme) -> list[alt.Chart]:
    """A line down all rows at the mean of the baseline, so that it is seen who lies above it; nothing without one."""
    if subject.baseline is None:
        return []
    mean = float(results.means[results.runs.index(subject.baseline), place])
    row: Row = {"system": subject.baseline, str(x.shorthand).removesuffix(":Q"): mean if np.isfinite(mean) else None}
    line: alt.Chart = chart_of([row]).mark_rule(color=INK, strokeDash=[4, 3], strokeWidth=look.line / 2).encode(x=x)
    return [line]


def told_baseline(subject: Subject) -> str:
    """What a caption says of that line.

    >>> told_baseline(Subject()), told_baseline(Subject(baseline="bm25"))
    ('', ' Dashed: the mean of bm25.')
    """
    return "" if subject.baseline is None else f" Dashed: the mean of {subject.baseline}."


def across(field: str, title: str, domain: Sequence[float], width: float, look: Theme) -> alt.X:
    """The axis under rows: its limits are those of all rows, with as many ticks as there is room for."""
    import altair as alt

    axis = alt.Axis(grid=False, tickCount=max(2, int(width // (look.font * 5))))
    return alt.X(f"{field}:Q", title=title, axis=axis, scale=alt.Scale(domain=list(domain), nice=False, zero=False))


def padded(values: Sequence[float], share: float = 0.04) -> list[float]:
    """The ends of an axis that shows some values, with room at both sides.

    >>> padded([0.0, 1.0]), padded([0.5]), padded([])
    ([-0.04, 1.04], [0.45, 0.55], [0.0, 1.0])
    """
    known = [value for value in values if np.isfinite(value)]
    if not known:
        return [0.0, 1.0]
    low, high = min(known), max(known)
    room = (high - low) * share or 0.1 * abs(high) or 0.5
    return [float(low - room), float(high + room)]


def point_size(look: Theme, step: float) -> float:
    """The area of a point that stands for a system, in square pixels: less where rows are low.

    >>> from cranfield.plot.style import find_theme
    >>> point_size(find_theme("screen"), 20.0), point_size(find_theme("screen"), 10.0)
    (52.0, 25.0)
    """
    return min(look.font * 4.0, (step / 2) ** 2)
