"""The report on an online experiment: the same kind of page as that on runs, with pictures that need no script."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from cranfield.errors import UsageError, plural
from cranfield.formats.output import save
from cranfield.online.analysis.analysis import TrialAnalysis
from cranfield.online.analysis.analysis_tables import headline
from cranfield.online.analysis.effect_pictures import (
    effect_course,
    effects_forest,
    novelty_course,
    sample_course,
    segments_forest,
)
from cranfield.online.analysis.effect_tables import tables
from cranfield.plot.saving import drawn
from cranfield.plot.style import Chart, caption_of
from cranfield.render.escaping import Markup, utf8
from cranfield.render.grid import Grid
from cranfield.report.page import _own
from cranfield.report.page.pictures import inline
from cranfield.report.page.table_rows import as_table
from cranfield.version import __version__

LINE = Markup.fixed("\n")


def write_report(result: TrialAnalysis, path: str) -> None:
    """Writes the report to a file, whose name ends in .html."""
    check_report_name(path)
    save(path, [page_of(result)])


def check_report_name(path: str) -> None:
    """Refuses a name that no report can have, before any work is done.

    >>> check_report_name("report.pdf")
    Traceback (most recent call last):
    cranfield.errors.UsageError: a report on a trial can be html, not '.pdf': name a file such as report.html
    """
    suffix = Path(path).suffix
    if suffix.lower() != ".html":
        raise UsageError(f"a report on a trial can be html, not '{suffix}': name a file such as report.html")


def page_of(result: TrialAnalysis) -> str:
    """The page as text."""
    page = Markup.fixed(_own("trial.html")).filled(
        title=f"Trial {result.trial.name}",
        subtitle=headline(result),
        version=__version__,
        style=Markup.fixed(_own("style.css")),
        result=_result(result),
        pictures=Markup.of(*(_figure(*picture) for picture in pictures(result))),
        tables=_tables(result),
        quality=_quality(result),
        made=_made(result),
    )
    return utf8(str(page))


def pictures(result: TrialAnalysis) -> list[tuple[str, str, Chart]]:
    """Every picture that there is something for: its name, its title, and the chart."""
    drawings: list[tuple[str, str, bool, Callable[[TrialAnalysis], Chart]]] = [
        ("effects", "Effects", bool(result.primary), effects_forest),
        ("course", "How the effect went", len(result.course) > 1, effect_course),
        ("shares", "Sample ratio by day", len(result.sample.days) > 1, sample_course),
        ("segments", "Segments", bool(result.segments), segments_forest),
        ("novelty", "Since first exposure", len(result.exposed_days) > 1, novelty_course),
    ]
    return [(name, title, draw(result)) for name, title, there, draw in drawings if there]


def _paragraphs(lines: Iterable[str], kind: str | None = None) -> Markup:
    return Markup.of(*(Markup.of(Markup.element("p", line, class_=kind), LINE) for line in lines))


def _result(result: TrialAnalysis) -> Markup:
    first, *_ = tables(result) if result.withheld else tables(result)[1:]
    verdicts = _paragraphs((str(verdict) for verdict in result.verdicts), "verdict")
    return Markup.of(verdicts, _paragraphs([result.rule.why]), as_table(first[1], first[0]), _notes(first[2]))


def _notes(notes: Iterable[str]) -> Markup:
    return _paragraphs(notes, "reading")


def _figure(name: str, title: str, chart: Chart) -> Markup:
    picture = inline(drawn(chart, "svg").decode(), name, title)
    said = Markup.element("figcaption", Markup.element("h3", title), Markup.element("p", caption_of(chart)))
    return Markup.of(Markup.element("figure", said, Markup.element("div", picture, class_="drawing paper")), LINE)


def _tables(result: TrialAnalysis) -> Markup:
    return Markup.of(*(Markup.of(as_table(grid, title), _notes(notes)) for title, grid, notes in tables(result)))


def _quality(result: TrialAnalysis) -> Markup:
    if not result.warnings:
        return Markup.element("p", "Nothing odd was found.")
    doubtful = sum(finding.doubtful for finding in result.warnings)
    told = (
        f"{doubtful} of {plural(len(result.warnings), 'finding')} put a number in doubt; the others are good to know."
    )
    rows = [[f.code, "doubtful" if f.doubtful else "note", f.message] for f in result.warnings]
    grid = Grid(["finding", "kind", "what"], rows, labels=3)
    return Markup.of(_paragraphs([told]), as_table(grid, "What was found", "findings"))


def _made(result: TrialAnalysis) -> Markup:
    rows = [[name, _said(value)] for name, value in result.trial.to_plain().items()]
    plan = Grid(["key", "value"], rows, labels=2)
    digest = f"The digest of the plan is {result.trial.digest}; another one is another plan."
    return Markup.of(_paragraphs([digest]), as_table(plan, "The plan, as it was fixed", "policy"))


def _said(value: object) -> str:
    import json

    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
