"""A report as Markdown, with its pictures beside it as SVG."""

from __future__ import annotations

from collections.abc import Sequence

from cranfield.evaluation.findings import in_doubt
from cranfield.plot.saving import drawn
from cranfield.render.document import Block, Code, Paragraph, PictureFile, Title, written
from cranfield.render.escaping import utf8
from cranfield.report import report_tables
from cranfield.report.contents import Report
from cranfield.report.figures import figures
from cranfield.version import __version__


def files(report: Report, stem: str) -> dict[str, bytes]:
    """The text under the name of the report, and each picture under its own."""
    pictures = {f"{stem}-{figure.name}.svg": figure for figure in figures(report)}
    shown: list[Block] = []
    for name, figure in pictures.items():
        shown += [PictureFile(figure.title, name), Paragraph(figure.caption)]
    return {f"{stem}.md": utf8(text_of(report, shown)).encode()} | {
        name: drawn(figure.chart, "svg") for name, figure in pictures.items()
    }


def text_of(report: Report, pictures: Sequence[Block] = ()) -> str:
    """The report without its pictures, or with what is given in their place.

    >>> from cranfield.report.contents import gather
    >>> from cranfield import Experiment
    >>> experiment = Experiment({"1": {"d1": 1}, "2": {"d1": 1}}, {"a": {"1": {"d1": 1.0}, "2": {"d2": 1.0}}})
    >>> report = gather(experiment, "RR")
    >>> text_of(report).split("\\n\\n")[:3]
    ['# 1 system on qrels', '## Result', 'a reaches 0.5000 by RR on 2 topics.']
    """
    blocks: list[Block] = [Title(report.title, 1), Title("Result", 2)]
    for measure in report.results.measures:
        blocks += [Paragraph(report.verdict(measure)), report_tables.standings_grid(report, measure)]
        pairs = report_tables.pairs_listed(report, measure)
        blocks += [] if pairs is None else [pairs]
    blocks += map(Paragraph, [*report_tables.reading(report), *report_tables.reading_pairs(report)])
    if report_tables.has_more_than_standings(report):
        blocks.append(report_tables.measures_grid(report))
    if pictures:
        blocks += [Title("Pictures", 2), *pictures]
    blocks.append(Title("Topics", 2))
    if len(report_tables.listed_topics(report)) < len(report.results.topics):
        blocks.append(Paragraph(f"These are {report_tables.which_topics(report)}."))
    for measure in report.results.measures:
        blocks += [Title(str(measure), 3), report_tables.topics_grid(report, measure)]
    quality = report_tables.findings_grid(report) if report.findings else Paragraph(in_doubt(report.findings))
    blocks += [Title("Data quality", 2), quality, Title("How it was made", 2)]
    blocks += [Code(report.command)] if report.command else []
    blocks += map(Paragraph, report_tables.tested(report))
    grades = report_tables.grades_grid(report)
    told = [*report_tables.topics_from(report), *report_tables.texts_from(report)]
    blocks += [*map(Paragraph, told), *([] if grades is None else [grades])]
    blocks.append(report_tables.inputs_grid(report))
    blocks += [report_tables.policy_grid(report), Paragraph(f"Made with cranfield {__version__}.")]
    return written(blocks, "markdown")
