"""Fragments for a paper: a file to \\input, with tables in the rules of booktabs and figures beside it as PDF."""

from __future__ import annotations

from cranfield.comparison.comparison_tables import captioned
from cranfield.errors import plural
from cranfield.plot.saving import drawn
from cranfield.render.escaping import latex, latex_comment, utf8
from cranfield.render.grid import Grid, latex_fitted, latex_tabular
from cranfield.report import report_tables
from cranfield.report.contents import Report
from cranfield.report.figures import figures
from cranfield.version import __version__


def files(report: Report, stem: str) -> dict[str, bytes]:
    """The fragments under the name of the report, and each figure under its own."""
    pictures = {f"{stem}-{figure.name}.pdf": figure for figure in figures(report, "paper")}
    head = (
        latex_comment(f"{report.title}. Made with cranfield {__version__}")
        + latex_comment(report.command)
        + latex_comment("Needs \\usepackage{booktabs,graphicx}")
    )
    systems = _systems(report)
    parts = [_table(systems, systems.caption, "systems")]
    for number, measure in enumerate(report.results.measures, start=1):
        grid = report_tables.standings_grid(report, measure)
        parts.append(_table(grid, report.verdict(measure), f"standings-{number}"))
    grades = report_tables.grades_grid(report)
    if grades is not None:
        parts.append(_table(grades, " ".join(["What grades mean.", *report_tables.topics_from(report)]), "grades"))
    for name, figure in pictures.items():
        title = figure.title if figure.title.endswith("?") else f"{figure.title}."
        drawing = latex_fitted(f"\\includegraphics{{{name}}}")
        parts.append(
            f"\\begin{{figure}}\n\\centering\n{drawing}"
            f"{_caption(f'{title} {figure.caption}', f'fig:{figure.name}')}\\end{{figure}}\n"
        )
    text = head + "\n" + "\n".join(parts)
    return {f"{stem}.tex": utf8(text).encode()} | {
        name: drawn(figure.chart, "pdf") for name, figure in pictures.items()
    }


def _systems(report: Report) -> Grid:
    """Means of the systems with what a paper must say of them; shares of unjudged documents are in the other tables."""
    grid = report_tables.measures_grid(report)
    if report.comparison is None:
        return grid._replace(caption=f"Means over {plural(len(report.results.topics), 'topic')}.")
    kept = [i for i, head in enumerate(grid.header) if i >= grid.labels and not head.startswith("unjudged")]
    return captioned(report.comparison, grid.only(kept))


def _table(grid: Grid, caption: str, label: str) -> str:
    """A table over both columns of a page, if there are two, and no wider than they are, whatever the class."""
    named = _caption(caption, f"tab:{label}")
    return f"\\begin{{table*}}\n\\centering\\small\n{named}{latex_fitted(latex_tabular(grid))}\\end{{table*}}\n"


def _caption(text: str, label: str) -> str:
    return f"\\caption{{{latex(text)}}}\n\\label{{{label}}}\n"
