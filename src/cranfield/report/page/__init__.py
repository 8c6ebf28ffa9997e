"""The page: one file that needs no network, readable without its script, and with it to be explored."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable
from functools import cache

from cranfield.errors import plural, some
from cranfield.evaluation.findings import in_doubt
from cranfield.measures import Measure
from cranfield.plot.saving import SNIPPET
from cranfield.render.escaping import Markup, script_data
from cranfield.report import report_tables
from cranfield.report.contents import Report
from cranfield.report.page.explained_topics import Explained, commands, explanations
from cranfield.report.page.frame import ScriptParts, Section, between, figures_of, framed, page_part
from cranfield.report.page.payload import payload
from cranfield.report.page.pictures import Pictures
from cranfield.report.page.table_rows import as_table
from cranfield.report.page.topic_data import topic_data

LINE = Markup.fixed("\n")
CONTROLS = Markup.fixed('<section id="controls" class="with-script" aria-label="What is shown"></section>\n')
TOLD = Markup.fixed('<p id="told" class="reading" role="status" hidden></p>\n')
TOPIC_SCRIPTS = ("topic_state.js", "topic_text.js", "topic_lines.js", "topic.js")
SCRIPTS = ("base.js", "state.js", "tables.js", "result.js", "pictures.js", *TOPIC_SCRIPTS, "start.js")


def render(report: Report) -> str:
    """The page as text."""
    carried = explanations(report)
    pictures = Pictures(report)
    scripts = (library(), between(LINE, map(page_part, SCRIPTS)))
    sections = [
        Section("result", "Result", _result(report)),
        Section("pictures", "Pictures", figures_of(pictures.markup)),
        Section("topics", "Topics", _topics(report, carried)),
        Section("quality", "Data quality", _quality(report)),
        Section("made", "How it was made", _made(report)),
    ]
    data = payload(report) | topic_data(report)
    after = page_part("scripted.html").filled(
        library=scripts[0],
        script=scripts[1],
        data=script_data(data | {"explanations": [part._asdict() for part in carried], "explain": commands(report)}),
        pictures_data=script_data(pictures.data),
    )
    parts = ScriptParts(" ".join(map(_digest, scripts)), CONTROLS, TOLD, after)
    style = Markup.of(page_part("style.css"), page_part("topic.css"))
    return framed(report.title, _subtitle(report), sections, style, parts)


@cache
def library() -> Markup:
    """Vega as vl-convert carries it; nothing of it is kept in this project."""
    import vl_convert

    return Markup.fixed(vl_convert.javascript_bundle(SNIPPET))


def _digest(script: Markup) -> str:
    """A script as the page's policy allows it: this one and no other."""
    import base64

    return f"'sha256-{base64.b64encode(hashlib.sha256(str(script).encode()).digest()).decode()}'"


def _subtitle(report: Report) -> str:
    measures = some([str(measure) for measure in report.results.measures], 6)
    counts = f"{plural(len(report.systems), 'system')}, {plural(len(report.results.topics), 'topic')}"
    topic_set = report.results.policy.topic_set
    return f"{counts}{'' if topic_set is None else f' of {topic_set.name}'}; {measures}"


def _paragraphs(lines: Iterable[str], kind: str | None = None) -> Markup:
    return Markup.of(*(Markup.of(Markup.element("p", line, class_=kind), LINE) for line in lines))


def _result(report: Report) -> Markup:
    """For each measure the outcome in words and the table of systems; the script shows one measure at a time."""
    parts = []
    for number, measure in enumerate(report.results.measures):
        table = as_table(report_tables.standings_grid(report, measure), f"Systems by {measure}", "sortable standings")
        verdict = _paragraphs([report.verdict(measure)], "verdict")
        own = Markup.of(LINE, verdict, table, _pairs(report, measure))
        parts.append(Markup.of(Markup.element("div", own, class_="of-measure", data_measure=number), LINE))
    *lines, against = report_tables.reading(report) or [""]
    if against:
        told = Markup.of(
            _paragraphs(lines, "reading"), Markup.element("p", against, class_="reading", id="read-against")
        )
        parts.append(Markup.of(Markup.element("div", told, class_="prose"), LINE))
    if report_tables.has_more_than_standings(report):
        parts.append(as_table(report_tables.measures_grid(report), "Systems by every measure", "sortable measures"))
    return Markup.of(*parts)


def _pairs(report: Report, measure: Measure) -> Markup:
    grid = report_tables.pairs_listed(report, measure)
    if grid is None:
        return Markup()
    table = as_table(
        grid, f"Every pair by {measure}; detectable is the difference that so many topics find", "sortable pairs"
    )
    summary = Markup.element("summary", "Every pair, with the p of every test")
    told = _paragraphs(report_tables.reading_pairs(report), "reading")
    # Above the table: who looks for what a star means does not go through all pairs first.
    return Markup.of(Markup.element("details", summary, LINE, told, table), LINE)


def _topics(report: Report, carried: list[Explained]) -> Markup:
    measure = report.results.measures[0]
    table = as_table(
        report_tables.topics_grid(report, measure), f"{measure} of {report_tables.which_topics(report)}", "topics"
    )
    left_out = [] if report.texts is None or report.texts.left_out is None else [report.texts.left_out]
    told = "On paper there are the first columns, as many as fit; the page on a screen has all."
    # Print has eight columns; the script, whose table has other columns, decides for itself.
    few = "" if len(report.systems) < 7 else None
    cut = Markup.of(Markup.element("p", told, class_="reading on-paper", id="paper-columns", hidden=few), LINE)
    return Markup.of(table, cut, _paragraphs([_carried(report, carried), *left_out], "reading with-script"))


def _carried(report: Report, carried: list[Explained]) -> str:
    """What opening a topic shows, and what had to be left out to keep the page small."""
    depth = report.rankings.depth
    listed = f"sets the first {depth} documents of two systems side by side"
    if report.comparison is None:
        listed = f"shows the first {depth} documents"
    documents = (
        f"Opening a topic {listed}; those further down are left out"
        if depth
        else "Opening a topic shows its scores; there are too many topics and systems for this page to carry documents"
    )
    if len(carried) == len(report.systems) * len(report.results.measures):
        return f"{documents}. It explains how every score arises."
    by_measure = Counter(str(report.results.measures[part.measure]) for part in carried)
    counts = some([f"{name} of {plural(count, 'system')}" for name, count in by_measure.items()], 12)
    explained = f" It explains every step of {counts}." if carried else ""
    others = " For other scores it gives the command that explains them." if commands(report) else ""
    return f"{documents}.{explained}{others}"


def _quality(report: Report) -> Markup:
    shown = report_tables.shown_findings(report)
    sentence = in_doubt(shown)
    if not shown:
        return Markup.element("p", sentence)
    table = as_table(report_tables.findings_grid(report), "What was found", "sortable findings")
    return Markup.of(_paragraphs([sentence]), table)


def _made(report: Report) -> Markup:
    parts: list[Markup] = []
    if report.command:
        command = Markup.element("pre", Markup.element("code", report.command), class_="command")
        parts += [Markup.element("h3", "To make it again"), LINE, command, LINE]
    tested = report_tables.tested(report)
    if tested:
        parts += [Markup.element("h3", "Tests of significance"), LINE, _paragraphs(tested)]
    if report.facts or report.quotations is not None:
        told = [*report_tables.topics_from(report), *report_tables.texts_from(report)]
        parts += [Markup.element("h3", "Collection"), LINE, _paragraphs(told)]
        grades = report_tables.grades_grid(report)
        parts += [] if grades is None else [as_table(grades, "What grades mean", "grades")]
    parts += [Markup.element("h3", "Inputs"), LINE]
    parts.append(as_table(report_tables.inputs_grid(report), "Files that were read", "inputs"))
    parts += [Markup.element("h3", "Policy"), LINE]
    parts.append(as_table(report_tables.policy_grid(report), "Every decision that changes a number", "policy"))
    return Markup.of(*parts)
