"""Tables of the page: as `grid.as_html`, with what screen readers, sorting and phones need."""

from __future__ import annotations

from cranfield.render.escaping import Markup
from cranfield.render.grid import Cell, Grid, html_cell

_LETTER = Markup.element("span", "letter", class_="unseen")


def as_table(grid: Grid, caption: str, kind: str = "") -> Markup:
    """A table in a box that scrolls by itself, named by its caption.

    >>> print(as_table(Grid(["run", "AP"], [["a<b", Cell("0.5", bold=True)]]), "Runs"), end="")
    <div class="box" role="region" aria-label="Runs" tabindex="0"><table class="">
    <caption>Runs</caption>
    <thead><tr><th scope="col">run</th><th scope="col" class="n">AP</th></tr></thead>
    <tbody>
    <tr><th scope="row">a&lt;b</th><td class="n"><strong>0.5</strong></td></tr>
    </tbody></table></div>
    """
    named = 1 if grid.header[0] else 2  # a first column without a name holds the letters of the systems
    line = Markup.fixed("\n")
    number = [None if i < grid.labels else "n" for i in range(len(grid.header))]
    head = (
        Markup.element("th", text or _LETTER, scope="col", class_=kind_of)
        for text, kind_of in zip(grid.header, number, strict=True)
    )

    def shown(i: int, cell: Cell) -> Markup:
        if i == named - 1:
            return Markup.element("th", html_cell(cell), scope="row")
        return Markup.element("td", html_cell(cell), class_=number[i])

    rows = (Markup.element("tr", *(shown(i, cell) for i, cell in enumerate(row))) for row in grid.cells())
    table = Markup.element(
        "table",
        line,
        Markup.element("caption", caption),
        line,
        Markup.element("thead", Markup.element("tr", *head)),
        line,
        Markup.element("tbody", line, *(Markup.of(row, line) for row in rows)),
        class_=kind,
    )
    return Markup.of(Markup.element("div", table, class_="box", role="region", aria_label=caption, tabindex=0), line)
