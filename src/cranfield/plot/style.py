"""How pictures look: colours that colour-blind readers tell apart, sizes for the screen and for a column of a paper."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, TypeAlias

from cranfield.errors import UsageError

if TYPE_CHECKING:
    import altair as alt

# Altair is loaded when a picture is drawn: what it has is named here for readers and type checkers alone.
Chart: TypeAlias = "alt.Chart | alt.LayerChart | alt.VConcatChart | alt.FacetChart"
Row: TypeAlias = dict[str, str | float | None]  # what a mark of a chart shows

# Okabe and Ito's colours, which people with any kind of colour blindness tell apart, but for their yellow, which is too
# light for lines on white; then the same again with other dashes.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#555555")
DASHES: tuple[Sequence[int], ...] = ((1, 0), (6, 3), (2, 2), (8, 2, 2, 2))
GOOD, BAD, NEUTRAL = COLOURS[0], COLOURS[1], "#999999"
INK = "#444444"  # of lines that belong to no run: ideals, zero
WHOLE = 0  # as the limit of a label: names may differ in their ends alone, so none is cut
SHADES: Final = "blues"  # sequential scale of heat maps
TWO_SIDED = "blueorange"  # for differences: safe for colour-blind readers


@dataclass(frozen=True)
class Theme:
    """Sizes in pixels of a 72-to-the-inch page: of the plot itself and, where it must fit a column, of all of it."""

    width: int
    height: int
    font: int
    line: float
    family: str
    column: int | None = None

    def width_beside(self, beside: float) -> int:
        """How wide a plot may be that has names beside it.

        >>> find_theme("screen").width_beside(100), find_theme("paper").width_beside(100)
        (560, 142)
        """
        return self.width if self.column is None else max(self.column // 3, self.column - int(beside))

    def tall_enough_for(self, names: int) -> Theme:
        """The same, but higher where so many names in a column would lie on each other.

        >>> find_theme("screen").tall_enough_for(20).height, find_theme("screen").tall_enough_for(60).height
        (340, 858)
        """
        return replace(self, height=max(self.height, round(names * self.font * 1.1)))


THEMES: Mapping[str, Theme] = {
    "screen": Theme(560, 340, 13, 2.0, "Helvetica Neue, Arial, sans-serif"),
    "paper": Theme(212, 160, 8, 1.2, "Times New Roman, Times, serif", column=242),
}


def find_theme(name: str) -> Theme:
    """The theme of a name.

    >>> find_theme("paper").width
    212
    """
    if name not in THEMES:
        raise UsageError(f"unknown theme '{name}'; there are {', '.join(THEMES)}")
    return THEMES[name]


def chart_of(rows: Sequence[Mapping[str, str | float | None]]) -> alt.Chart:
    """A chart that carries its rows with it; marks and encodings are still to come."""
    import altair as alt

    return alt.Chart(alt.Data(values=rows))  # type: ignore[no-untyped-call]


def styled(chart: Chart, theme: Theme) -> Chart:
    """The chart with the theme's fonts, lines and grid, on white: what is printed must not depend on a page."""
    dressed: Chart = (
        chart.configure(font=theme.family, background="white")
        .configure_axis(
            labelFontSize=theme.font,
            titleFontSize=theme.font,
            titleFontWeight="normal",
            gridColor="#e8e8e8",
            domainColor="#888",
            tickColor="#888",
        )
        .configure_legend(
            labelFontSize=theme.font, titleFontSize=theme.font, titleFontWeight="normal", labelLimit=WHOLE
        )
        .configure_title(fontSize=theme.font + 1, fontWeight="normal", anchor="start", offset=6)
        .configure_header(labelFontSize=theme.font, titleFontSize=theme.font)
        .configure_view(stroke=None)
        # A description of every mark would put titles, and the names in them, into expressions as they are.
        .configure_mark(aria=False)
    )
    return dressed


def colour_scale(names: Sequence[str]) -> alt.Scale:
    """A colour for each name, the same in every picture of the same systems."""
    import altair as alt

    return alt.Scale(domain=list(names), range=[COLOURS[i % len(COLOURS)] for i in range(len(names))])


def dash_scale(names: Sequence[str]) -> alt.Scale:
    """A dash for each name: solid until the colours are used up."""
    import altair as alt

    ranges = [list(DASHES[i // len(COLOURS) % len(DASHES)]) for i in range(len(names))]
    return alt.Scale(domain=list(names), range=ranges)
