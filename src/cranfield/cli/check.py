"""`cranfield check`"""

from __future__ import annotations

import click

from cranfield.cli import options
from cranfield.errors import plural
from cranfield.formats.reading import Reading


@click.command("check")
@click.argument("qrels")
@click.argument("runs", nargs=-1)
@options.judgements
@options.collection
@options.reading("threads", kind=True)
@click.pass_context
def command(
    context: click.Context, qrels: str, runs: tuple[str, ...], collection: str | None, reading: Reading
) -> None:
    """Report everything odd about QRELS and RUNS: duplicates, ties, ranks that contradict scores, topics missing or
    extra, unjudged documents by depth, fractional or negative grades, short lists.

    Exit code 1 if anything makes a number doubtful, 3 if a file cannot be read as it stands: then its faulty lines are
    told, the first 20 of each file.

    \b
    Examples:
      $ cranfield check qrels.txt bm25.run dense.run
    """
    from cranfield.evaluation.checking import check
    from cranfield.evaluation.experiment import Experiment

    facts, reading = options.collection_facts(collection, reading)
    findings = check(Experiment(qrels, list(runs) or (), reading=reading, rows=False), facts)
    for finding in findings:
        click.echo(f"{'doubtful' if finding.doubtful else 'note':<8}  {finding.code:<20}  {finding}")
    doubtful = sum(finding.doubtful for finding in findings)
    if not findings:
        click.echo("nothing odd")
    elif doubtful:
        make = "makes" if doubtful == 1 else "make"
        click.echo(f"\n{doubtful} of {plural(len(findings), 'finding')} {make} a number doubtful")
        context.exit(1)
