"""`cranfield report`"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from cranfield.cli import options
from cranfield.cli.given import refuse
from cranfield.cli.progress import counted, watched

if TYPE_CHECKING:
    from cranfield.evaluation.findings import Finding
    from cranfield.quotation.text_sources import TextSource
    from cranfield.report.contents import Report

CARRYING = ("html",)  # forms that carry texts of documents; the others have the titles of questions alone
DEFAULT_MEASURES = ("nDCG@10", "AP", "RR", "P@10", "R@100")


@click.command("report")
@click.argument("qrels")
@click.argument("runs", nargs=-1, required=True)
@click.option(
    "-o",
    "--output",
    type=options.OutputFile(),
    required=True,
    metavar="FILE",
    help="Where to: a name that ends in .html, .md, .tex or .pdf.",
)
@options.measures(*DEFAULT_MEASURES)
@click.option("--title", default="", help="Title of the report.")
@options.texts
@click.option(
    "--text-budget",
    callback=options.bytes_of,
    default="5M",
    show_default=True,
    metavar="SIZE",
    help="Most bytes of text that a page carries: questions first, then titles and passages of the first documents, "
    "then whole texts. What is left out is said.",
)
@click.option("--baseline", metavar="RUN", help="Compare every run with this one, not all pairs.")
@click.option(
    "--test",
    "tests",
    multiple=True,
    callback=options.with_commas,
    metavar="NAME",
    help="Test of significance, or several with commas; the first decides. `cranfield compare --test list` "
    "explains them all.",
)
@options.correction
@options.alpha
@options.figures
@options.inputs
def command(
    qrels: str,
    runs: tuple[str, ...],
    output: str,
    measures: tuple[str, ...],
    title: str,
    texts: TextSource | None,
    text_budget: int,
    baseline: str | None,
    tests: tuple[str, ...],
    correction: str,
    alpha: float,
    figures: tuple[str, ...],
    inputs: options.Inputs,
) -> None:
    """Write a report on RUNS to share: which is best and how certain that is, pictures, every topic, data quality and
    provenance.

    The page (.html) is one file that needs no network: pick measure, systems and topics in it, or read it without
    scripts. Markdown (.md) and fragments for papers (.tex) come with their pictures beside them.

    With --collection the page shows the question of each topic, and of the documents titles, passages with the words
    of the question marked, and whole texts. The collection's file may also say what grades are called, which numbers
    their labels are, and where topics are from.

    \b
    Examples:
      $ cranfield report qrels.txt bm25.run dense.run -o report.html
      $ cranfield report qrels.txt bm25.run dense.run -m nDCG@10 -m AP --baseline bm25 -o report.md
      $ cranfield report pond.qrels pond-bm25.run pond-titles.run --collection pond.toml -o pond.html
    """
    import shlex

    with watched("reading") as progress:
        from cranfield.comparison.question import Details, Question
        from cranfield.report.contents import gather
        from cranfield.report.report_files import check_name, write
        from cranfield.texts.facts import NO_FACTS

        carries = _carries(check_name(output), texts)
        report = gather(
            inputs.experiment(qrels, runs, digest=True, progress=progress, rows=True),
            measures or DEFAULT_MEASURES,
            Question(
                baseline=baseline,
                tests=tests or None,
                correction=correction,
                alpha=alpha,
                details=Details(figures=figures),
            ),
            title=title,
            command=shlex.join(["cranfield", *sys.argv[1:]]),
            facts=NO_FACTS if texts is None else texts.listed.facts,
        )
    report, lacking = _with_texts(report, texts, text_budget, carries=carries)
    names = write(report, output)
    told = [finding for finding in report.findings if finding.doubtful or finding.code == "topic-set"]
    options.show("".join(f"{name}\n" for name in names), [*told, *lacking])


def _carries(form: str, texts: TextSource | None) -> bool:
    """Whether the report carries texts of documents; options that then would not count are refused."""
    carries = form in CARRYING
    if texts is None or not carries:
        refuse("text_budget", why="is of the texts that a page carries: give --collection, and -o an .html file")
    if not carries:
        refuse("documents", why="are texts that only a page carries: give -o an .html file")
    return carries


def _with_texts(
    report: Report, texts: TextSource | None, budget: int, *, carries: bool
) -> tuple[Report, list[Finding]]:
    """The report with texts, and what they lack and what was left out of them."""
    if texts is None:
        return report, []
    from cranfield.evaluation.findings import Finding
    from cranfield.report.carried_texts import with_texts

    if not texts.has_texts:
        if texts.listed.facts or texts.listed.labels:
            return report, []
        nothing = "has neither topics nor documents nor [grades] nor [labels] nor topic_source: nothing is shown of it"
        return report, [Finding("no-facts", str(texts.collection), nothing, doubtful=False)]
    report = with_texts(report, texts, budget=budget if carries else 0, watch=counted)
    quoted = () if report.quotations is None else report.quotations.findings
    lacking = [finding for finding in quoted if not finding.doubtful]  # the others are told with the report's own
    if carries and report.texts is not None and report.texts.left_out is not None:
        lacking.append(Finding("text-budget", "--text-budget", report.texts.left_out.rstrip("."), doubtful=False))
    return report, lacking
