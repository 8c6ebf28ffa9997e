"""Tables of the page: as `grid.as_html`, with what screen readers, sorting and phones need."""

from __future__ import annotations

import html

from cranfield.report.grid import Cell, Grid


def as_table(grid: Grid, caption: str, kind: str = "") -> str:
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
    head = "".join(
        f'<th scope="col"{"" if i < grid.labels else _NUMBER}>{html.escape(text) or _LETTER}</th>'
        for i, text in enumerate(grid.header)
    )

    def shown(i: int, cell: Cell) -> str:
        text = html.escape(cell.text)
        text = f"<strong>{text}</strong>" if cell.bold else text
        text += f"<sup>{html.escape(cell.above)}</sup>" if cell.above else ""
        if i == named - 1:
            return f'<th scope="row">{text}</th>'
        return f"<td>{text}</td>" if i < grid.labels else f'<td class="n">{text}</td>'

    body = "".join(f"<tr>{''.join(shown(i, cell) for i, cell in enumerate(row))}</tr>\n" for row in grid.cells())
    name = html.escape(caption)
    return (
        f'<div class="box" role="region" aria-label="{name}" tabindex="0"><table class="{kind}">\n'
        f"<caption>{name}</caption>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody></table></div>\n"
    )


_NUMBER = ' class="n"'
_LETTER = '<span class="unseen">letter</span>'
