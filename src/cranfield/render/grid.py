"""A table of text in the forms that people paste: terminal, Markdown, LaTeX, HTML; and CSV or TSV for machines."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import isnan
from typing import NamedTuple, TypeAlias

from cranfield.render.escaping import Markup, latex, markdown, separated_text, visible


class Cell(NamedTuple):
    """A number as it is shown, perhaps in bold, perhaps with small letters above it; or the `best` of its column.

    A star beside a number says to many readers that it is significant: to be best is shown otherwise.
    """

    text: str
    bold: bool = False
    above: str = ""
    best: bool = False

    @property
    def strong(self) -> bool:
        """Whether it is set in bold, where there is such a thing."""
        return self.bold or self.best


BEST = "→"  # in plain text before the best of a column


class Grid(NamedTuple):
    """Header and rows; the first `labels` columns hold names and stand to the left, the others numbers."""

    header: Sequence[str]
    rows: Sequence[Sequence[str | Cell]]
    labels: int = 1

    def cells(self) -> list[list[Cell]]:
        """Every row as cells."""
        return [[cell if isinstance(cell, Cell) else Cell(cell) for cell in row] for row in self.rows]


def as_text(grid: Grid) -> str:
    """Columns side by side. A star stands for bold, an arrow before the best; letters follow what they stand above.

    >>> print(as_text(Grid(["run", "AP"], [["a", Cell("0.5000", best=True, above="b")], ["b", "0.25"]])), end="")
    run       AP
    a    →0.5000b
    b       0.25
    """
    rows = [
        [cell._replace(text=(BEST if cell.best else "") + visible(cell.text)) for cell in row] for row in grid.cells()
    ]
    header = [visible(text) for text in grid.header]
    marks = [[("*" if cell.bold else "") + cell.above for cell in row] for row in rows]
    count = len(grid.header)
    widths = [max([len(header[i]), *(len(row[i].text) for row in rows)]) for i in range(count)]
    tails = [max([0, *(len(row[i]) for row in marks)]) for i in range(count)]

    def line(texts: Sequence[str], mark: Sequence[str]) -> str:
        parts = (
            text.ljust(widths[i]) if i < grid.labels else text.rjust(widths[i]) + mark[i].ljust(tails[i])
            for i, text in enumerate(texts)
        )
        return "  ".join(parts).rstrip() + "\n"

    head = line(header, [""] * count)
    return head + "".join(line([cell.text for cell in row], mark) for row, mark in zip(rows, marks, strict=True))


def as_markdown(grid: Grid) -> str:
    """
    >>> print(as_markdown(Grid(["run", "AP"], [["a", Cell("0.5", bold=True, above="b")]])), end="")
    | run | AP |
    | --- | ---: |
    | a | **0.5**<sup>b</sup> |
    """

    def shown(cell: Cell) -> str:
        text = markdown(cell.text)
        return (f"**{text}**" if cell.strong else text) + (f"<sup>{markdown(cell.above)}</sup>" if cell.above else "")

    rule = ["---" if i < grid.labels else "---:" for i in range(len(grid.header))]
    head = [markdown(text) for text in grid.header]
    lines = [head, rule, *([shown(cell) for cell in row] for row in grid.cells())]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def as_latex(grid: Grid) -> str:
    """A tabular with the rules of booktabs.

    >>> print(as_latex(Grid(["run", "AP"], [["a_b", Cell("0.5", above="b")]])), end="")
    \\begin{tabular}{lr}
    \\toprule
    run & AP \\\\
    \\midrule
    a\\_b & 0.5$^{\\mathrm{b}}$ \\\\
    \\bottomrule
    \\end{tabular}
    """

    def shown(cell: Cell) -> str:
        text = latex(cell.text)
        above = f"$^{{\\mathrm{{{latex(cell.above)}}}}}$" if cell.above else ""
        return (f"\\textbf{{{text}}}" if cell.strong else text) + above

    columns = "l" * grid.labels + "r" * (len(grid.header) - grid.labels)
    head = " & ".join(map(latex, grid.header))
    lines = (" & ".join(map(shown, row)) for row in grid.cells())
    # a line break takes what follows in brackets, and a star, for its own
    body = "".join(f"{'{}' if line.startswith(('[', '*')) else ''}{line} \\\\\n" for line in lines)
    return f"\\begin{{tabular}}{{{columns}}}\n\\toprule\n{head} \\\\\n\\midrule\n{body}\\bottomrule\n\\end{{tabular}}\n"


def as_html(grid: Grid) -> str:
    """A table that needs no style sheet.

    >>> print(as_html(Grid(["run", "AP"], [["a<b", "0.5"]])), end="")
    <table>
    <thead><tr><th>run</th><th>AP</th></tr></thead>
    <tbody>
    <tr><th>a&lt;b</th><td style="text-align:right">0.5</td></tr>
    </tbody>
    </table>
    """
    return str(html_table(grid))


def html_table(grid: Grid) -> Markup:
    """The same, to stand in more markup."""

    def shown(i: int, cell: Cell) -> Markup:
        if i < grid.labels:
            return Markup.element("th", html_cell(cell))
        return Markup.element("td", html_cell(cell), style="text-align:right")

    head = (Markup.element("th", text) for text in grid.header)
    rows = (Markup.element("tr", *(shown(i, cell) for i, cell in enumerate(row))) for row in grid.cells())
    line = Markup.fixed("\n")
    body = (Markup.of(row, line) for row in rows)
    head_part = Markup.element("thead", Markup.element("tr", *head))
    return Markup.of(Markup.element("table", line, head_part, line, Markup.element("tbody", line, *body), line), line)


def html_cell(cell: Cell) -> Markup:
    """What stands in a cell."""
    text = Markup.element("strong", cell.text) if cell.strong else Markup.text(cell.text)
    return Markup.of(text, Markup.element("sup", cell.above)) if cell.above else text


# The forms in which a table is read by people.
WRITERS: Mapping[str, Callable[[Grid], str]] = {
    "table": as_text,
    "markdown": as_markdown,
    "latex": as_latex,
    "html": as_html,
}
DELIMITERS = {"csv": ",", "tsv": "\t"}
Field: TypeAlias = "str | float | None"


def separated(header: Sequence[str], rows: Iterable[Sequence[Field]], delimiter: str) -> str:
    """CSV or TSV with numbers in full precision, nothing for None, and no text that a spreadsheet takes for a formula.

    >>> print(separated(["run", "AP"], [["a,b", 0.1], ["c", None], ["=d", -0.5]], ","), end="")
    run,AP
    "a,b",0.1
    c,
    '=d,-0.5
    """
    import csv
    import io

    def shown(value: Field) -> Field:
        if isinstance(value, float):
            return repr(float(value))
        return separated_text(value) if isinstance(value, str) else value

    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter, lineterminator="\n")
    writer.writerow(map(separated_text, header))
    writer.writerows(map(shown, row) for row in rows)
    return out.getvalue()


def number(value: float, form: str = ".4f") -> str:
    """
    >>> number(0.25), number(float("nan"))
    ('0.2500', '–')
    """
    return "–" if isnan(value) else format(value, form)
