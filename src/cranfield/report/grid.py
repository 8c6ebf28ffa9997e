"""A table of text in the forms that people paste: terminal, Markdown, LaTeX, HTML; and CSV or TSV for machines."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple


class Cell(NamedTuple):
    """A number as it is shown, perhaps in bold, perhaps with small letters above it."""

    text: str
    bold: bool = False
    above: str = ""


class Grid(NamedTuple):
    """Header and rows; the first `labels` columns hold names and stand to the left, the others numbers."""

    header: Sequence[str]
    rows: Sequence[Sequence[str | Cell]]
    labels: int = 1

    def cells(self) -> list[list[Cell]]:
        """Every row as cells."""
        return [[cell if isinstance(cell, Cell) else Cell(cell) for cell in row] for row in self.rows]


def as_text(grid: Grid) -> str:
    """Columns side by side. A star stands for bold; letters follow the number they stand above elsewhere.

    >>> print(as_text(Grid(["run", "AP"], [["a", Cell("0.5000", bold=True, above="b")], ["b", "0.25"]])), end="")
    run      AP
    a    0.5000*b
    b      0.25
    """
    rows = grid.cells()
    marks = [[("*" if cell.bold else "") + cell.above for cell in row] for row in rows]
    count = len(grid.header)
    widths = [max([len(grid.header[i]), *(len(row[i].text) for row in rows)]) for i in range(count)]
    tails = [max([0, *(len(row[i]) for row in marks)]) for i in range(count)]

    def line(texts: Sequence[str], mark: Sequence[str]) -> str:
        parts = (
            text.ljust(widths[i]) if i < grid.labels else text.rjust(widths[i]) + mark[i].ljust(tails[i])
            for i, text in enumerate(texts)
        )
        return "  ".join(parts).rstrip() + "\n"

    head = line(grid.header, [""] * count)
    return head + "".join(line([cell.text for cell in row], mark) for row, mark in zip(rows, marks, strict=True))


def as_markdown(grid: Grid) -> str:
    """
    >>> print(as_markdown(Grid(["run", "AP"], [["a", Cell("0.5", bold=True, above="b")]])), end="")
    | run | AP |
    | --- | ---: |
    | a | **0.5**<sup>b</sup> |
    """

    def shown(cell: Cell) -> str:
        text = markdown_text(cell.text)
        return (f"**{text}**" if cell.bold else text) + (f"<sup>{cell.above}</sup>" if cell.above else "")

    rule = ["---" if i < grid.labels else "---:" for i in range(len(grid.header))]
    head = [markdown_text(text) for text in grid.header]
    lines = [head, rule, *([shown(cell) for cell in row] for row in grid.cells())]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def markdown_text(text: str) -> str:
    """A text in which nothing ends a cell or begins a tag.

    >>> markdown_text("a|b <i>"), markdown_text("<0.0001")
    ('a\\\\|b &lt;i>', '<0.0001')
    """
    import re

    return re.sub(r"<(?=[A-Za-z/!])", "&lt;", text.replace("|", "\\|"))


_LATEX = str.maketrans(
    {character: f"\\{character}" for character in "&%$#_{}"}
    | {"\\": "\\textbackslash{}", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}"}
    # TeX's old fonts have other signs in these places, and no minus outside formulas.
    | {"<": "\\textless{}", ">": "\\textgreater{}", "|": "\\textbar{}", "−": "$-$", "↓": "$\\downarrow$"}
)


def latex_text(text: str) -> str:
    """A text with nothing in it that LaTeX would take for a command.

    >>> latex_text("a_b & 5 %")
    'a\\\\_b \\\\& 5 \\\\%'
    """
    return text.translate(_LATEX)


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
        text = latex_text(cell.text)
        above = f"$^{{\\mathrm{{{latex_text(cell.above)}}}}}$" if cell.above else ""
        return (f"\\textbf{{{text}}}" if cell.bold else text) + above

    columns = "l" * grid.labels + "r" * (len(grid.header) - grid.labels)
    head = " & ".join(map(latex_text, grid.header))
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

    import html

    def shown(i: int, cell: Cell) -> str:
        text = html.escape(cell.text)
        text = f"<strong>{text}</strong>" if cell.bold else text
        text += f"<sup>{html.escape(cell.above)}</sup>" if cell.above else ""
        return f"<th>{text}</th>" if i < grid.labels else f'<td style="text-align:right">{text}</td>'

    head = "".join(f"<th>{html.escape(text)}</th>" for text in grid.header)
    body = "".join(f"<tr>{''.join(shown(i, cell) for i, cell in enumerate(row))}</tr>\n" for row in grid.cells())
    return f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody>\n</table>\n"


# The forms in which a table is read by people.
WRITERS: Mapping[str, Callable[[Grid], str]] = {
    "table": as_text,
    "markdown": as_markdown,
    "latex": as_latex,
    "html": as_html,
}


def separated(header: Sequence[str], rows: Iterable[Sequence[object]], delimiter: str) -> str:
    """CSV or TSV with numbers in full precision, nothing for None.

    >>> print(separated(["run", "AP"], [["a,b", 0.1], ["c", None]], ","), end="")
    run,AP
    "a,b",0.1
    c,
    """
    import csv
    import io

    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter, lineterminator="\n")
    writer.writerow(header)
    for row in rows:
        writer.writerow([repr(float(value)) if isinstance(value, float) else value for value in row])
    return out.getvalue()
