"""A report as Markdown, with its pictures beside it as SVG."""

from __future__ import annotations

from cranfield.plot.saving import drawn
from cranfield.report import report_tables
from cranfield.report.figures import figures
from cranfield.report.grid import as_markdown
from cranfield.reporting import Report
from cranfield.version import __version__


def files(report: Report, stem: str) -> dict[str, bytes]:
    """The text under the name of the report, and each picture under its own."""
    pictures = {f"{stem}-{figure.name}.svg": figure for figure in figures(report)}
    shown = "".join(f"![{figure.title}]({name})\n\n{figure.caption}\n\n" for name, figure in pictures.items())
    text = text_of(report, shown)
    return {f"{stem}.md": text.encode("utf-8", "backslashreplace")} | {
        name: drawn(figure.draw(), "svg") for name, figure in pictures.items()
    }


def text_of(report: Report, pictures: str = "") -> str:
    """The report without its pictures, or with what is given in their place.

    >>> from cranfield.reporting import gather
    >>> report = gather({"1": {"d1": 1}, "2": {"d1": 1}}, {"a": {"1": {"d1": 1.0}, "2": {"d2": 1.0}}}, "RR")
    >>> text_of(report).split("\\n\\n")[:3]
    ['# 1 system on qrels', '## Result', 'a reaches 0.5000 by RR on 2 topics.']
    """
    parts = [f"# {report.title}", "## Result"]
    for measure in report.results.measures:
        parts += [report.verdict(measure), as_markdown(report_tables.standings_grid(report, measure)).rstrip()]
        pairs = report_tables.pairs_listed(report, measure)
        parts += [] if pairs is None else [as_markdown(pairs).rstrip()]
    parts += report_tables.reading(report)
    if report_tables.has_more_than_standings(report):
        parts.append(as_markdown(report_tables.measures_grid(report)).rstrip())
    if pictures:
        parts += ["## Pictures", pictures.rstrip()]
    parts.append("## Topics")
    for measure in report.results.measures:
        parts += [f"### {measure}", as_markdown(report_tables.topics_grid(report, measure)).rstrip()]
    quality = as_markdown(report_tables.findings_grid(report)).rstrip() if report.findings else "Nothing odd was found."
    parts += ["## Data quality", quality, "## How it was made"]
    parts += [f"```\n{report.command}\n```"] if report.command else []
    parts += [*report_tables.tested(report), as_markdown(report_tables.inputs_grid(report)).rstrip()]
    parts += [as_markdown(report_tables.policy_grid(report)).rstrip(), f"Made with cranfield {__version__}."]
    return "\n\n".join(parts) + "\n"
