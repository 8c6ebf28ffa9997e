"""`cranfield report`"""

from __future__ import annotations

import sys
from typing import Any

import click

from cranfield.cli import options
from cranfield.cli.progress import watched
from cranfield.formats.layout import Layout

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
@options.measures
@click.option("--title", default="", help="Title of the report.")
@click.option("--baseline", metavar="RUN", help="Compare every run with this one, not all pairs.")
@click.option(
    "--test",
    "tests",
    multiple=True,
    metavar="NAME",
    help="Test of significance; the first decides. `cranfield compare --test list` explains them all.",
)
@options.correction
@options.alpha
@options.figures
@options.policy
@options.input_format
@options.threads
def command(
    qrels: str,
    runs: tuple[str, ...],
    output: str,
    measures: tuple[str, ...],
    title: str,
    tests: tuple[str, ...],
    input_format: Layout | str | None,
    threads: int | None,
    **given: Any,
) -> None:
    """Write a report on RUNS to share: who is best and how surely, pictures, every topic, data quality, provenance.

    The page (.html) is one file that needs no network: pick measure, systems and topics in it, or read it without
    scripts. Markdown (.md) and fragments for papers (.tex) come with their pictures beside them.

    \b
    Examples:
      $ cranfield report qrels.txt bm25.run dense.run -o report.html
      $ cranfield report qrels.txt bm25.run dense.run -m nDCG@10 -m AP --baseline bm25 -o report.md
    """
    import shlex

    policy = options.taken_policy(given)
    with watched("reading") as progress:
        from cranfield.report.contents import gather
        from cranfield.report.report_files import check_name, write

        check_name(output)
        report = gather(
            qrels,
            list(runs),
            measures or DEFAULT_MEASURES,
            policy=policy,
            title=title,
            command=shlex.join(["cranfield", *sys.argv[1:]]),
            read={"format": input_format, "threads": threads, "progress": progress},
            tests=tests or None,
            **given,
        )
    options.warn(finding for finding in report.findings if finding.doubtful)
    click.echo("".join(f"{name}\n" for name in write(report, output)), nl=False)
