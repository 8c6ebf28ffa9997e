"""The report on an online experiment: the same kind of page as that on runs, with pictures that need no script."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from cranfield.errors import UsageError
from cranfield.evaluation.findings import Finding, in_doubt
from cranfield.formats.output import save
from cranfield.online.analysis.analysis import TrialAnalysis
from cranfield.online.analysis.analysis_tables import headline
from cranfield.online.analysis.course_pictures import effect_course, novelty_course, sample_course
from cranfield.online.analysis.effect_pictures import effects_forest, segments_forest
from cranfield.online.analysis.effect_tables import tables
from cranfield.online.analysis.plan_rows import plan_rows
from cranfield.plot.saving import drawn
from cranfield.plot.style import DARK, Chart, Theme, caption_of, find_theme
from cranfield.render.escaping import Markup
from cranfield.render.grid import Grid
from cranfield.report.page.frame import Section, figures_of, framed, page_part
from cranfield.report.page.pictures import inline
from cranfield.report.page.table_rows import as_table

LINE = Markup.fixed("\n")
WIDE = replace(find_theme("screen"), width=760)
PHONE = replace(find_theme("screen"), width=210, height=240)


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
    sections = [
        Section("result", "Result", _result(result)),
        Section("pictures", "Pictures", figures_of(Markup.of(*(_figure(picture) for picture in pictures(result))))),
        Section("tables", "Tables", _tables(result)),
        Section("quality", "Data quality", _quality(result)),
        Section("made", "How it was made", _made(result)),
    ]
    style = Markup.of(page_part("style.css"), page_part("drawn.css"), dark_colours())
    changed = "" if result.changed is None else " Its plan was changed after results were seen."
    return framed(f"Trial {result.trial.name}", headline(result) + changed, sections, style)


def dark_colours() -> Markup:
    """The colours of pictures on a dark page: no script draws them anew, so that the style turns each to its other."""
    rules = [
        Markup.fixed('.drawing [${what}="${light}"] { ${what}: ${dark}; }\n').filled(what=what, light=light, dark=dark)
        for light, dark in DARK.items()
        for what in ("fill", "stroke")
    ]
    return Markup.of(Markup.fixed("@media screen and (prefers-color-scheme: dark) {\n"), *rules, Markup.fixed("}\n"))


class TrialPicture(NamedTuple):
    """A picture of the page: its name, its title, how it is drawn, and whether it has the width of the page."""

    name: str
    title: str
    draw: Callable[..., Chart]
    is_wide: bool
    result: TrialAnalysis

    def chart(self, theme: str | Theme = "screen") -> Chart:
        """The chart by a theme."""
        return self.draw(self.result, theme=theme)


def pictures(result: TrialAnalysis) -> list[TrialPicture]:
    """Every picture that there is something for."""
    drawings = [
        (bool(result.primary), TrialPicture("effects", "Effects", effects_forest, True, result)),
        (len(result.course) > 1, TrialPicture("course", "How the effect went", effect_course, False, result)),
        (len(result.sample.days) > 1, TrialPicture("shares", "Sample ratio by day", sample_course, False, result)),
        (bool(result.segments), TrialPicture("segments", "Segments", segments_forest, True, result)),
        (len(result.exposed_days) > 1, TrialPicture("novelty", "Since first exposure", novelty_course, False, result)),
    ]
    return [picture for there, picture in drawings if there]


def _paragraphs(lines: Iterable[str], kind: str | None = None) -> Markup:
    return Markup.of(*(Markup.of(Markup.element("p", line, class_=kind), LINE) for line in lines))


def _result(result: TrialAnalysis) -> Markup:
    first, *_ = tables(result) if result.withheld else tables(result)[1:]
    verdicts = _paragraphs((str(verdict) for verdict in result.verdicts), "verdict")
    rule = None if result.withheld else result.rule.why
    more = [told for told in (result.together, result.changed, rule) if told is not None]
    return Markup.of(verdicts, _paragraphs(more), as_table(first[1], first[0]), _notes(first[2]))


def _notes(notes: Iterable[str]) -> Markup:
    return _paragraphs(notes, "reading")


def _figure(picture: TrialPicture) -> Markup:
    """The picture as it is on a screen, and as it is on a phone; the style shows one of them."""
    chart = picture.chart(WIDE if picture.is_wide else "screen")
    said = Markup.element("figcaption", Markup.element("h3", picture.title), Markup.element("p", caption_of(chart)))
    drawings = [
        Markup.element("div", _drawn(each, f"{picture.name}{size}", picture.title), class_=f"drawing drawn{size}")
        for each, size in ((chart, ""), (picture.chart(PHONE), "-phone"))
    ]
    return Markup.of(Markup.element("figure", said, *drawings, class_="wide" if picture.is_wide else None), LINE)


def _drawn(chart: Chart, name: str, title: str) -> Markup:
    return inline(drawn(chart, "svg").decode(), name, title)


def _tables(result: TrialAnalysis) -> Markup:
    return Markup.of(*(Markup.of(as_table(grid, title), _notes(notes)) for title, grid, notes in tables(result)))


def _quality(result: TrialAnalysis) -> Markup:
    findings = [*_mismatch(result), *result.warnings]
    told = in_doubt(findings)
    if not findings:
        return Markup.element("p", told)
    rows = [[f.code, "doubtful" if f.doubtful else "note", f.message] for f in findings]
    grid = Grid(["finding", "kind", "what"], rows, labels=3)
    return Markup.of(_paragraphs([told]), as_table(grid, "What was found", "findings"))


def _mismatch(result: TrialAnalysis) -> list[Finding]:
    """The sample ratio, where it is off: the verdict says it, and who looks for what is wrong with the data looks here.

    Where effects are shown all the same, a warning has it already.
    """
    broken = result.sample.broken
    return [] if broken is None or result.overridden else [Finding("sample-ratio", result.trial.name, broken)]


def _made(result: TrialAnalysis) -> Markup:
    how = "as it was fixed" if result.changed is None else "as it is now, changed after results were seen"
    plan = Grid(["what", how.partition(",")[0]], plan_rows(result.trial), labels=2)
    digest = f"The digest of the plan is {result.trial.digest}; another one is another plan."
    return Markup.of(_paragraphs([digest]), as_table(plan, f"The plan, {how}", "policy"))
