"""Systems as the rows of a picture, the best on top: how many are shown, how high a row is, what it is coloured by."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cranfield.errors import plural
from cranfield.evaluation.results import Results
from cranfield.plot.labels import text_width
from cranfield.plot.style import COLOURS, WHOLE, Chart, Theme
from cranfield.plot.subject import Subject

if TYPE_CHECKING:
    import altair as alt

MOST_ROWS = 60  # systems of a picture; of more the best are shown
HIGHEST = 900  # pixels that all rows may take on the screen, in its font's share on paper
AXIS = 6  # pixels between a name and the plot


class SystemRows(NamedTuple):
    """The systems of a picture, the best first, and how many there are in all."""

    names: list[str]
    count: int

    @property
    def told(self) -> str:
        """How many there are, and whether some are left out.

        >>> SystemRows(["a", "b"], 2).told, SystemRows(["a", "b"], 70).told
        ('2 systems', 'the best 2 of 70 systems')
        """
        shown = plural(len(self.names), "system")
        return shown if len(self.names) == self.count else f"the best {len(self.names)} of {plural(self.count, 'system')}"

    def axis(self, look: Theme, *, labels: bool = True) -> alt.Y:
        """The names down the side, whole, with a faint line to follow each."""
        import altair as alt

        axis = alt.Axis(labels=labels, labelLimit=WHOLE, labelOverlap=False, grid=True, ticks=False, domain=False)
        return alt.Y("system:N", title=None, sort=self.names, axis=axis)

    def step(self, look: Theme, tallest: float = 2.0) -> int:
        """How high a row is: at most `tallest` lines of text, and less where there are many.

        >>> from cranfield.plot.style import find_theme
        >>> [SystemRows([str(i) for i in range(n)], n).step(find_theme("screen"), 4.0) for n in (5, 20, 60)]
        [52, 45, 15]
        """
        most = HIGHEST * look.font / 13
        return round(min(look.font * tallest, max(most / max(len(self.names), 1), look.font + 2)))

    def beside(self, look: Theme) -> float:
        """How many pixels the names take."""
        return text_width(self.names, look) + AXIS


def system_rows(subject: Subject, results: Results, place: int = 0) -> SystemRows:
    """The systems of results by their mean of a measure; of too many the best, and the baseline."""
    gains = (results.measures[place].sign or 1) * results.means[:, place]
    order = [results.runs[r] for r in np.argsort(-gains, kind="stable")] if subject.sort else list(results.runs)
    best = [results.runs[r] for r in np.argsort(-gains, kind="stable")[:MOST_ROWS]]
    shown = {*best, subject.baseline}
    return SystemRows([name for name in order if name in shown], len(results.runs))


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


def captioned(chart: Chart, caption: str) -> Chart:
    """The chart with what it shows."""
    return chart.properties(usermeta={"caption": caption})


def by_name() -> alt.Color:
    import altair as alt

    return alt.value(COLOURS[0])
