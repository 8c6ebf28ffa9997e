"""Tables of the page: those of `render.grid`, each in a box that scrolls by itself."""

from __future__ import annotations

from cranfield.render.escaping import Markup
from cranfield.render.grid import Grid, html_table

_LETTER = Markup.element("span", "letter", class_="unseen")
_NUMBER = {"class_": "n"}


def as_table(grid: Grid, caption: str, kind: str = "") -> Markup:
    """A table in a box that is named by its caption.

    >>> from cranfield.render.grid import Cell
    >>> print(as_table(Grid(["run", "AP"], [["a<b", Cell("0.5", bold=True)]]), "Runs"), end="")
    <div class="box" role="region" aria-label="Runs" tabindex="0"><table class="">
    <caption>Runs</caption>
    <thead><tr><th scope="col">run</th><th scope="col" class="n">AP</th></tr></thead>
    <tbody>
    <tr><th scope="row">a&lt;b</th><td class="n"><strong>0.5</strong></td></tr>
    </tbody>
    </table>
    </div>
    """
    table = html_table(grid._replace(caption=caption), kind=kind, number=_NUMBER, letter=_LETTER)
    box = Markup.element("div", table, class_="box", role="region", aria_label=caption, tabindex=0)
    return Markup.of(box, Markup.fixed("\n"))
