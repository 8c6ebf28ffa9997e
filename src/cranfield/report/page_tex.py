"""Fragments for a paper: a file to \\input, with tables in the rules of booktabs and figures beside it as PDF."""

from __future__ import annotations

from cranfield.plot.saving import drawn
from cranfield.render.escaping import latex, latex_comment, utf8
from cranfield.render.grid import Grid, latex_tabular
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
    parts = [_table(report_tables.measures_grid(report), " ".join(report_tables.reading(report)[:1]), "systems")]
    for number, measure in enumerate(report.results.measures, start=1):
        grid = report_tables.standings_grid(report, measure)
        parts.append(_table(grid, report.verdict(measure), f"standings-{number}"))
    grades = report_tables.grades_grid(report)
    if grades is not None:
        parts.append(_table(grades, " ".join(["What grades mean.", *report_tables.topics_from(report)]), "grades"))
    for name, figure in pictures.items():
        title = figure.title if figure.title.endswith("?") else f"{figure.title}."
        # Wider pictures than a column are made to fit; smaller ones keep their size.
        parts.append(
            "\\begin{figure}\n\\centering\n"
            f"\\resizebox{{\\ifdim\\width>\\linewidth\\linewidth\\else\\width\\fi}}{{!}}{{\\includegraphics{{{name}}}}}\n"
            f"{_caption(f'{title} {figure.caption}', f'fig:{figure.name}')}\\end{{figure}}\n"
        )
    text = head + "\n" + "\n".join(parts)
    return {f"{stem}.tex": utf8(text).encode()} | {
        name: drawn(figure.draw(), "pdf") for name, figure in pictures.items()
    }


def _table(grid: Grid, caption: str, label: str) -> str:
    """A table over both columns of a page, if there are two: it would be too wide for one."""
    named = _caption(caption, f"tab:{label}")
    return f"\\begin{{table*}}\n\\centering\\small\n{named}{latex_tabular(grid)}\\end{{table*}}\n"


def _caption(text: str, label: str) -> str:
    return f"\\caption{{{latex(text)}}}\n\\label{{{label}}}\n"
