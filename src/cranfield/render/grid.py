"""A table of text in the forms that people paste: terminal, Markdown, LaTeX, HTML; and CSV or TSV for machines."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import isnan
from typing import TypeAlias

from cranfield.records import NamedTuple
from cranfield.render.escaping import Markup, latex, latex_number, markdown, separated_text, visible
from cranfield.render.terminal import coloured, terminal


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
    """Header and rows; the first `labels` columns hold names and stand to the left, the others numbers.

    `caption` says what a table shows where it stands by itself, as in a paper.
    """

    header: Sequence[str]
    rows: Sequence[Sequence[str | Cell]]
    labels: int = 1
    caption: str = ""

    def cells(self) -> list[list[Cell]]:
        """Every row as cells."""
        return [[cell if isinstance(cell, Cell) else Cell(cell) for cell in row] for row in self.rows]

    def only(self, columns: Sequence[int]) -> Grid:
        """The names, and of the other columns these, in this order.

        >>> Grid(["run", "AP", "RR"], [["a", "0.5", "1"]]).only([2])
        Grid(header=['run', 'RR'], rows=[['a', '1']], labels=1, caption='')
        """
        kept = [*range(self.labels), *columns]
        return self._replace(header=[self.header[i] for i in kept], rows=[[row[i] for i in kept] for row in self.rows])


def as_text(grid: Grid) -> str:
    """Columns side by side. A star stands for bold, an arrow before the best; letters follow what they stand above.

    Columns that a terminal is too narrow for stand below, with the names again.

    >>> grid = Grid(["run", "AP", "RR"], [["a", Cell("0.5000", best=True, above="b"), "1.0"], ["b", "0.25", "1.0"]])
    >>> print(as_text(grid), end="")
    run       AP    RR
    a    →0.5000b  1.0
    b       0.25   1.0
    >>> from cranfield.render.terminal import Terminal, written_for
    >>> with written_for(Terminal(width=16)):
    ...     print(as_text(grid), end="")
    run       AP
    a    →0.5000b
    b       0.25
    <BLANKLINE>
    run   RR
    a    1.0
    b    1.0
    (3 columns in 2 tables: they do not fit into 16 characters)
    """
    columns = _Column.all_of(grid)
    names, numbers = columns[: grid.labels], columns[grid.labels :]
    width = terminal().width
    stacks = [numbers] if width is None else _fitted(names, numbers, width)
    text = "\n".join(_side_by_side([*names, *stack], len(grid.rows)) for stack in stacks)
    if len(stacks) == 1:
        return text
    said = f"({len(columns)} columns in {len(stacks)} tables: they do not fit into {width} characters)"
    return f"{text}{coloured(said, 'quiet')}\n"


class _Column(NamedTuple):
    """A column as it is set: cells, the marks behind them, and how wide both are."""

    header: str
    cells: list[Cell]
    marks: list[str]
    is_name: bool
    width: int
    tail: int

    @classmethod
    def all_of(cls, grid: Grid) -> list[_Column]:
        """The columns of a table."""
        rows = grid.cells()
        return [cls._of(grid, i, [row[i] for row in rows]) for i in range(len(grid.header))]

    @classmethod
    def _of(cls, grid: Grid, number: int, cells: list[Cell]) -> _Column:
        header, is_name = visible(grid.header[number]), number < grid.labels
        shown = [cell._replace(text=(BEST if cell.best else "") + visible(cell.text)) for cell in cells]
        marks = ["" if is_name else ("*" if cell.bold else "") + visible(cell.above) for cell in cells]
        width = max([len(header), *(len(cell.text) for cell in shown)])
        return cls(header, shown, marks, is_name, width, max([0, *map(len, marks)]))

    def head(self) -> str:
        text = self.header.ljust(self.width) if self.is_name else self.header.rjust(self.width) + " " * self.tail
        return coloured(text, "strong")

    def line(self, row: int) -> str:
        cell, mark = self.cells[row], self.marks[row]
        text = cell.text.ljust(self.width) if self.is_name else cell.text.rjust(self.width)
        text = coloured(text, "strong") if cell.strong else text
        return text + (coloured(mark, "good") + " " * (self.tail - len(mark)) if self.tail else "")


def _fitted(names: Sequence[_Column], numbers: Sequence[_Column], width: int) -> list[list[_Column]]:
    """The columns in as few tables as a width allows; one that is too wide by itself stands alone."""
    taken = sum(column.width + 2 for column in names)
    stacks: list[list[_Column]] = [[]]
    room = width - taken + 2
    left = room
    for column in numbers:
        needed = column.width + column.tail + 2
        if needed > left and stacks[-1]:
            stacks.append([])
            left = room
        stacks[-1].append(column)
        left -= needed
    return stacks


def _side_by_side(columns: Sequence[_Column], rows: int) -> str:
    lines = ["  ".join(column.head() for column in columns)]
    lines += ["  ".join(column.line(row) for column in columns) for row in range(rows)]
    return "".join(f"{line.rstrip()}\n" for line in lines)


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
    """A table with its caption and the rules of booktabs, which fits a paper of two columns as it is: one that is too
    wide for a column goes over both, in smaller letters if need be, and is made to fit if that is not enough.

    >>> print(as_latex(Grid(["run", "AP"], [["a_b", Cell("-0.5", above="b")]], caption="Differences.")), end="")
    \\begin{table}
    \\centering
    \\caption{Differences.}
    \\begin{tabular}{lr}
    \\toprule
    run & AP \\\\
    \\midrule
    a\\_b & $-$0.5$^{\\mathrm{b}}$ \\\\
    \\bottomrule
    \\end{tabular}
    \\end{table}
    """
    points = _points(grid)
    star = "*" if points > COLUMN_POINTS else ""
    caption = f"\\caption{{{latex(grid.caption)}}}\n" if grid.caption else ""
    small = "\\footnotesize\\setlength{\\tabcolsep}{3pt}\n" if points > PAGE_POINTS else ""
    if points > SMALL_POINTS:
        small = "\\scriptsize\\setlength{\\tabcolsep}{2pt}\n"
    table = latex_tabular(grid)
    if points > SMALLEST_POINTS:
        table = f"% needs \\usepackage{{graphicx}}\n{latex_fitted(table)}"
    return f"\\begin{{table{star}}}\n\\centering\n{caption}{small}{table}\\end{{table{star}}}\n"


# What fits a column and a page of a paper in two columns, in points; and a page in small and in the smallest letters.
COLUMN_POINTS, PAGE_POINTS, SMALL_POINTS, SMALLEST_POINTS = 240, 500, 640, 760


def latex_fitted(content: str) -> str:
    """What is wider than the text made as wide as that, by the package graphicx; what is not keeps its size."""
    wide = "\\ifdim\\width>\\linewidth\\linewidth\\else\\width\\fi"
    return f"\\resizebox{{{wide}}}{{!}}{{{content.rstrip()}}}\n"


def _points(grid: Grid) -> float:
    """About how wide a table is in letters of ten points, on the wide side, with what stands between its columns."""
    return sum(5.6 * column.width + 4 * column.tail + 12 for column in _Column.all_of(grid))


def latex_tabular(grid: Grid) -> str:
    """The table alone."""

    def shown(i: int, cell: Cell) -> str:
        text = latex(cell.text) if i < grid.labels else latex_number(cell.text)
        # in formulas blanks are nothing, but for those that hold
        above = f"$^{{\\mathrm{{{latex(cell.above).replace(' ', '~')}}}}}$" if cell.above else ""
        return (f"\\textbf{{{text}}}" if cell.strong else text) + above

    columns = "l" * grid.labels + "r" * (len(grid.header) - grid.labels)
    head = " & ".join(map(latex, grid.header))
    lines = (" & ".join(shown(i, cell) for i, cell in enumerate(row)) for row in grid.cells())
    # a line break takes what follows in brackets, and a star, for its own
    body = "".join(f"{'{}' if line.startswith(('[', '*')) else ''}{line} \\\\\n" for line in lines)
    return f"\\begin{{tabular}}{{{columns}}}\n\\toprule\n{head} \\\\\n\\midrule\n{body}\\bottomrule\n\\end{{tabular}}\n"


def as_html(grid: Grid) -> str:
    """A table that needs no style sheet: numbers stand to the right, heads say what they are the heads of.

    >>> print(as_html(Grid(["run", "AP"], [["a<b", "0.5"]], caption="Means.")), end="")
    <table>
    <caption>Means.</caption>
    <thead><tr><th scope="col">run</th><th scope="col" style="text-align:right">AP</th></tr></thead>
    <tbody>
    <tr><th scope="row">a&lt;b</th><td style="text-align:right">0.5</td></tr>
    </tbody>
    </table>
    """
    return str(html_table(grid))


_LINE = Markup.fixed("\n")
_TO_THE_RIGHT: Mapping[str, str] = {"style": "text-align:right"}


def html_table(
    grid: Grid, *, kind: str | None = None, number: Mapping[str, str] = _TO_THE_RIGHT, letter: Markup | None = None
) -> Markup:
    """The same, to stand in more markup: of a `kind` that a style sheet knows, with its attributes of a `number`, and
    with what is read out over a column without a name, where that holds the `letter` of each system.
    """
    named = 1 if not grid.header[0] and grid.labels > 1 else 0  # the column that says what a row is about
    look: list[Mapping[str, str]] = [{} if i < grid.labels else number for i in range(len(grid.header))]

    def over(text: str, of_column: Mapping[str, str]) -> Markup:
        if not text and letter is None:
            return Markup.element("td", "")
        return Markup.element("th", text or letter or "", scope="col", **of_column)

    def shown(i: int, cell: Cell) -> Markup:
        if i == named:
            return Markup.element("th", html_cell(cell), scope="row")
        return Markup.element("td", html_cell(cell), **look[i])

    rows = (Markup.element("tr", *(shown(i, cell) for i, cell in enumerate(row))) for row in grid.cells())
    head = map(over, grid.header, look)
    return Markup.of(
        Markup.element(
            "table",
            _LINE,
            *([Markup.element("caption", grid.caption), _LINE] if grid.caption else []),
            Markup.element("thead", Markup.element("tr", *head)),
            _LINE,
            Markup.element("tbody", _LINE, *(Markup.of(row, _LINE) for row in rows)),
            _LINE,
            class_=kind,
        ),
        _LINE,
    )


def html_cell(cell: Cell) -> Markup:
    """What stands in a cell. Between a number and words above it is a blank, so that who copies both has two words.

    >>> print(html_cell(Cell("0.3694", above="33 of 59")), html_cell(Cell("0.3694", above="*")))
    0.3694 <sup>33 of 59</sup> 0.3694<sup>*</sup>
    """
    text = Markup.element("strong", cell.text) if cell.strong else Markup.text(cell.text)
    blank = Markup.fixed(" " if cell.above[:1].isalnum() else "")
    return Markup.of(text, blank, Markup.element("sup", cell.above)) if cell.above else text


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
