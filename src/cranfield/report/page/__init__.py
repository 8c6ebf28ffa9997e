"""The page: one file that needs no network, readable without its script, and with it to be explored."""

from __future__ import annotations

import html
import re
from importlib.resources import files
from string import Template
from typing import Any

from cranfield.errors import plural, some
from cranfield.measures import Measure
from cranfield.plot.saving import drawn
from cranfield.report import report_tables
from cranfield.report.figures import Figure, figures
from cranfield.report.page.explained import commands, explanations
from cranfield.report.page.heat import heat_map
from cranfield.report.page.payload import embedded, payload
from cranfield.report.page.tables import as_table
from cranfield.reporting import Report
from cranfield.version import __version__

SCRIPTS = ("base.js", "tables.js", "drawing.js", "charts.js", "topic.js", "start.js")


def render(report: Report) -> str:
    """The page as text."""
    carried = explanations(report)
    return Template(_own("page.html")).substitute(
        title=html.escape(report.title),
        subtitle=html.escape(_subtitle(report)),
        version=__version__,
        style=_own("style.css"),
        script="\n".join(_own(name) for name in SCRIPTS),
        data=embedded(payload(report) | {"explanations": carried, "explain": commands(report)}),
        result=_result(report),
        pictures="".join(_figure(report, figure) for figure in figures(report)),
        topics=_topics(report, carried),
        quality=_quality(report),
        made=_made(report),
    )


def _own(name: str) -> str:
    return files("cranfield.report.page").joinpath(name).read_text(encoding="utf-8")


def _subtitle(report: Report) -> str:
    measures = some([str(measure) for measure in report.results.measures], 6)
    counts = f"{plural(len(report.systems), 'system')}, {plural(len(report.results.topics), 'topic')}"
    return f"{counts}; {measures}"


def _paragraphs(lines: list[str], kind: str = "") -> str:
    mark = f' class="{kind}"' if kind else ""
    return "".join(f"<p{mark}>{html.escape(line)}</p>\n" for line in lines)


def _result(report: Report) -> str:
    """For each measure the outcome in words and the table of systems; the script shows one measure at a time."""
    parts = []
    for number, measure in enumerate(report.results.measures):
        table = as_table(report_tables.standings_grid(report, measure), f"Systems by {measure}", "sortable standings")
        verdict = f'<p class="verdict">{html.escape(report.verdict(measure))}</p>'
        pairs = _pairs(report, measure)
        parts.append(f'<div class="of-measure" data-measure="{number}">\n{verdict}\n{table}{pairs}</div>\n')
    parts.append(_paragraphs(report_tables.reading(report), "reading"))
    if report_tables.has_more_than_standings(report):
        parts.append(as_table(report_tables.measures_grid(report), "Systems by every measure", "sortable"))
    return "".join(parts)


def _pairs(report: Report, measure: Measure) -> str:
    grid = report_tables.pairs_listed(report, measure)
    if grid is None:
        return ""
    table = as_table(
        grid, f"Every pair by {measure}; detectable is the difference that so many topics find", "sortable"
    )
    return f"<details><summary>Every pair, with the p of every test</summary>\n{table}</details>\n"


def _figure(report: Report, figure: Figure) -> str:
    title, caption = html.escape(figure.title), html.escape(figure.caption)
    if figure.name == "heatmap":
        picture = heat_map(report, report.results.measures[0])
    else:
        picture = _inline(drawn(figure.draw(), "svg").decode(), figure.name, title)
    return (
        f'<figure data-chart="{figure.name}"><figcaption><h3>{title}</h3><p>{caption}</p></figcaption>'
        f'<div class="drawing {"own" if figure.name == "heatmap" else "paper"}">{picture}</div></figure>\n'
    )


def _inline(svg: str, name: str, title: str) -> str:
    """An SVG that can stand beside others: its ids are its own, and it is one picture to a screen reader.

    Vega counts ids on from picture to picture; counted anew, the same report is the same page.
    """
    for number, own in enumerate(dict.fromkeys(re.findall(r' id="([^"]+)"', svg))):
        svg = svg.replace(f'id="{own}"', f'id="{name}-{number}"').replace(f"url(#{own})", f"url(#{name}-{number})")
    svg = re.sub(r' (aria-[a-z]+|role)="[^"]*"', "", svg)
    return svg.replace("<svg ", f'<svg role="img" aria-label="{title}" ', 1)


def _topics(report: Report, carried: list[dict[str, Any]]) -> str:
    measure = report.results.measures[0]
    table = as_table(report_tables.topics_grid(report, measure), f"{measure} of every topic", "topics")
    return table + _paragraphs([_carried(report, carried)], "reading with-script")


def _carried(report: Report, carried: list[dict[str, Any]]) -> str:
    """What opening a topic shows, and what had to be left out to keep the page small."""
    depth = report.rankings.depth
    documents = (
        f"Opening a topic shows the first {depth} documents of each system; those further down are left out"
        if depth
        else "Opening a topic shows its scores; there are too many topics and systems for this page to carry documents"
    )
    if len(carried) == len(report.systems) * len(report.results.measures):
        return f"{documents}. It explains how every score arises."
    pairs = [f"{report.results.measures[one['measure']]} of {report.systems[one['system']]}" for one in carried]
    explained = f" It explains how these arise: {some(pairs, 12)}." if pairs else ""
    asked = " For other scores it gives the command that explains them." if commands(report) else ""
    return f"{documents}.{explained}{asked}"


def _quality(report: Report) -> str:
    if not report.findings:
        return "<p>Nothing odd was found.</p>"
    doubtful = sum(finding.doubtful for finding in report.findings)
    said = (
        f"{doubtful} of {plural(len(report.findings), 'finding')} put a number in doubt; the others are good to know."
    )
    return _paragraphs([said]) + as_table(report_tables.findings_grid(report), "What was found", "sortable findings")


def _made(report: Report) -> str:
    command = ""
    if report.command:
        command = f'<h3>To make it again</h3>\n<pre class="command"><code>{html.escape(report.command)}</code></pre>\n'
    tested = report_tables.tested(report)
    tests = f"<h3>Tests of significance</h3>\n{_paragraphs(tested)}" if tested else ""
    inputs = as_table(report_tables.inputs_grid(report), "Files that were read", "inputs")
    policy = as_table(report_tables.policy_grid(report), "Every decision that changes a number", "policy")
    return f"{command}{tests}<h3>Inputs</h3>\n{inputs}<h3>Policy</h3>\n{policy}"
