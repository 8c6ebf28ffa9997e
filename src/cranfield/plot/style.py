"""How pictures look: colours that colour-blind readers tell apart, sizes for the screen and for a column of a paper.

Every colour of a picture stands here, with the one that takes its place on a dark page: a picture has no other.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

from cranfield.errors import UsageError

if TYPE_CHECKING:
    import altair as alt

# Altair is loaded when a picture is drawn: what it has is named here for readers and type checkers alone.
Chart: TypeAlias = "alt.Chart | alt.LayerChart | alt.HConcatChart | alt.VConcatChart | alt.FacetChart"
Row: TypeAlias = dict[str, str | float | None]  # what a mark of a chart shows

# Eight colours, each at 3:1 or more on white, that people with any kind of colour blindness tell apart. They are for
# marks: what is written has the colour of ink, beside a mark in the colour of its system.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#b176ff", "#894e76", "#3b6227", "#eb144e", "#4e3bc4")
GROUND = "#ffffff"  # what is printed must not depend on a page
INK = "#222222"  # of text, and of lines that belong to no system: ideals, zero
GREY = "#8f8f8f"  # of systems that are not named, and of what is neither good nor bad
AXIS, GRID = "#888888", "#e8e8e8"
GOOD, BAD, NEUTRAL = COLOURS[0], COLOURS[1], GREY
# Ramps are lists of colours, from white on: where there is nothing, nothing is seen.
SHADES: Final = (GROUND, "#deebf7", "#c6dbef", "#9ecae1", "#6baed6", "#4292c6", "#2171b5", "#08519c", "#08306b")
WRITTEN_SHADES = SHADES[:6]  # of cells with text in them: ink is legible on all of these
TWO_SIDED = ("#d9822b", "#f6c48a", GROUND, "#9ecae1", "#4292c6")  # for what may be negative, with text on it
FAINT = "#d9d9d9"  # of what is there and counts for nothing

# What takes the place of each colour on a dark page.
DARK: Mapping[str, str] = {
    GROUND: "#14181c",
    INK: "#e6e9ec",
    GREY: "#7d868e",
    AXIS: "#8d969e",
    GRID: "#2a3138",
    FAINT: "#3a424a",
    **dict(
        zip(
            COLOURS,
            ("#8ccbff", "#f0803c", "#2fc79a", "#8976ff", "#b1764e", "#b1eb89", "#eb27b1", "#ffd827"),
            strict=True,
        )
    ),
    **dict(
        zip(
            SHADES[1:],
            ("#1d2f40", "#1f3d57", "#204c70", "#215d8c", "#2a6a9e", "#3f8ac5", "#65a7db", "#98c9ee"),
            strict=True,
        )
    ),
    "#d9822b": "#8a4b0f",
    "#f6c48a": "#4d2f12",
}
WIDER = 1.2  # than its plot a picture on a screen is, with the names beside it
WHOLE = 0  # as the limit of a label: names may differ in their ends alone, so none is cut


@dataclass(frozen=True)
class Theme:
    """Sizes in pixels of a 72-to-the-inch page: of the plot itself and, where it must fit a column, of all of it.

    Nothing is higher than `most`, however many systems there are. A PNG has `ppi` pixels to the inch. A file is as wide
    as the column or, where that is too little, as the `page` of two: side by side pictures have letters of one size.
    """

    width: int
    height: int
    font: int
    line: float
    family: str
    most: int
    ppi: int
    column: int | None = None
    page: int | None = None

    @property
    def widths(self) -> list[int]:
        """How wide a file may be, in points; on a screen it is as wide as what is in it."""
        return [width for width in (self.column, self.page) if width is not None]

    def width_beside(self, beside: float) -> int:
        """How wide a plot may be that has names beside it.

        >>> find_theme("screen").width_beside(100), find_theme("paper").width_beside(100)
        (560, 142)
        """
        return self.width if self.column is None else max(self.column // 3, self.column - int(beside))

    def row(self, count: int, wanted: float) -> float:
        """How high each of so many rows is: as high as wanted, less where all of them would be too high.

        >>> find_theme("screen").row(5, 20), find_theme("screen").row(100, 20)
        (20, 9.0)
        """
        return min(wanted, self.most / max(count, 1))


THEMES: Mapping[str, Theme] = {
    "screen": Theme(560, 340, 13, 2.0, "Helvetica Neue, Arial, sans-serif", most=900, ppi=180),
    "paper": Theme(200, 160, 8, 1.2, "Times New Roman, Times, serif", most=560, ppi=300, column=242, page=506),
}


def find_theme(name: str) -> Theme:
    """The theme of a name.

    >>> find_theme("paper").width
    200
    """
    if name not in THEMES:
        raise UsageError(f"unknown theme '{name}'; there are {', '.join(THEMES)}")
    return THEMES[name]


class _Rows:
    """Rows that Altair takes as they are: lists it would copy with every step of making a chart, row by row."""

    _schema: Mapping[str, str] = {"type": "array"}  # by which Altair knows what it may ask for a dict

    def __init__(self, rows: Sequence[Mapping[str, str | float | None]]) -> None:
        self._rows = list(rows)

    def to_dict(self, *_: object, **__: object) -> list[Mapping[str, str | float | None]]:
        """What stands in a specification."""
        return self._rows


def chart_of(rows: Sequence[Mapping[str, str | float | None]]) -> alt.Chart:
    """A chart that carries its rows with it; marks and encodings are still to come."""
    import altair as alt
    from altair.utils.schemapi import debug_mode

    with debug_mode(False):  # to check thousands of rows takes seconds, and any row is in order
        data = alt.Data(values=_Rows(rows))  # type: ignore[no-untyped-call]
    return alt.Chart(data)


def styled(
    chart: Chart, theme: Theme, *, caption: str = "", params: Mapping[str, str | Sequence[str]] | None = None
) -> Chart:
    """The chart with the theme's fonts, lines and grid, with its caption and what a page may change of it.

    `params` are `named` (the systems that are coloured and named), `first` and `second` (those of a picture of two).
    """
    import altair as alt

    given = {name: value if isinstance(value, str) else list(value) for name, value in (params or {}).items()}
    if given:
        chart = chart.add_params(*(alt.param(name=name, value=value) for name, value in given.items()))
    text = {"labelFontSize": theme.font, "titleFontSize": theme.font, "titleFontWeight": "normal"}
    inked = {"labelColor": INK, "titleColor": INK}
    # All of it at once: with every step Altair copies the whole chart.
    config = {
        "font": theme.family,
        "background": GROUND,
        "padding": 5 if theme.column is None else 1,
        "axis": {**text, **inked, "labelFlush": False, "gridColor": GRID, "domainColor": AXIS, "tickColor": AXIS},
        # A label at every tick: fewer of both where there is little room.
        "axisXQuantitative": {
            "tickCount": {"expr": f"ceil(width / {theme.font * 4})"},
            "labelSeparation": theme.font * 0.8,
        },
        # Entries stand as far apart as leaves room for letters of the viewer's that are wider than those measured.
        "legend": {
            **text,
            **inked,
            "labelLimit": WHOLE,
            "titleLimit": WHOLE,
            "columnPadding": theme.font * 2.5,
            "offset": theme.font,
        },
        "title": {
            "fontSize": theme.font + 1,
            "fontWeight": "normal",
            "anchor": "start",
            "offset": 6,
            "color": INK,
            "subtitleColor": INK,
        },
        "header": {"labelFontSize": theme.font, "titleFontSize": theme.font, **inked},
        "view": {"stroke": None},
        "text": {"color": INK},
        # A description of every mark would put titles, and the names in them, into expressions as they are.
        "mark": {"aria": False},
    }
    about = {"caption": caption, "ppi": theme.ppi, "widths": theme.widths}
    titled = {"title": title_lines(chart.title, theme)} if isinstance(chart.title, str | list) else {}
    dressed: Chart = chart.properties(**titled, usermeta=about, config=config)
    return dressed


def captioned(chart: Chart, more: str) -> Chart:
    """The chart with a sentence after those of its caption.

    >>> caption_of(captioned(styled(chart_of([]), find_theme("screen"), caption="Means."), "Of some topics."))
    'Means. Of some topics.'
    """
    if not more:
        return chart
    told: Chart = chart.properties(usermeta={**chart.usermeta, "caption": f"{caption_of(chart)} {more}".strip()})
    return told


def title_lines(title: str | list[str], theme: Theme) -> str | list[str]:
    """A title as it is, or in as few lines as fit, about as long as each other.

    >>> title_lines("Mean of ratios; dashed: ratio of means (area under each)", find_theme("paper"))
    ['Mean of ratios; dashed: ratio', 'of means (area under each)']
    """
    letters = int((theme.column or theme.width * WIDER) / (theme.font * 0.6))
    lines = [line for text in ([title] if isinstance(title, str) else title) for line in _even(text, letters)]
    return lines if len(lines) > 1 else (lines or [""])[0]


def _even(text: str, most: int) -> list[str]:
    """A text in as few lines of so many letters as may be, the longest of them as short as may be.

    >>> _even("a title of three or four more words", 30)
    ['a title of three', 'or four more words']
    """
    few = len(textwrap.wrap(text, most))
    shortest = next(width for width in range(1, most + 1) if len(textwrap.wrap(text, width)) == few or width == most)
    return textwrap.wrap(text, max(shortest, 1))


def caption_of(chart: Chart) -> str:
    """What is said of a picture, in a sentence or two that a paper can keep.

    >>> caption_of(styled(chart_of([]), find_theme("screen"), caption="Nothing."))
    'Nothing.'
    """
    return str(chart.usermeta["caption"])
