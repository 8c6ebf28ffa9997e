"""`cranfield report`"""

from __future__ import annotations

import sys

import click

from cranfield.cli import options
from cranfield.cli.progress import watched

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
@options.collection
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
    collection: str | None,
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

    \b
    Examples:
      $ cranfield report qrels.txt bm25.run dense.run -o report.html
      $ cranfield report qrels.txt bm25.run dense.run -m nDCG@10 -m AP --baseline bm25 -o report.md
    """
    import shlex

    with watched("reading") as progress:
        from cranfield.comparison.question import Details, Question
        from cranfield.report.contents import gather
        from cranfield.report.report_files import check_name, write

        check_name(output)
        facts, reading = options.collection_facts(collection, inputs.reading)
        inputs = inputs._replace(reading=reading)
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
            facts=facts,
        )
    names = write(report, output)
    told = [finding for finding in report.findings if finding.doubtful or finding.code == "topic-set"]
    options.show("".join(f"{name}\n" for name in names), told)
