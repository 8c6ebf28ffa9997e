"""`cranfield evaluate`"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from cranfield.cli import options
from cranfield.cli.progress import loading, watched
from cranfield.errors import DuplicateError
from cranfield.formats import read_qrels, read_run
from cranfield.formats.base import Judging
from cranfield.formats.kinds import KINDS
from cranfield.policy import EMPTY_TOPICS, TIES, TOPICS, Policy
from cranfield.report.tables import FORMATS, render

if TYPE_CHECKING:
    from cranfield.results import Results

DEFAULT_MEASURES = ("nDCG@10", "AP", "RR", "P@10", "R@1000")
SHOW_DIGESTS = ("json",)


@click.command("evaluate")
@click.argument("qrels")
@click.argument("runs", nargs=-1, required=True)
@click.option(
    "-m",
    "--measure",
    "measures",
    multiple=True,
    help="A measure, as nDCG@10 or trec_eval's ndcg_cut_10; may be repeated.",
)
@click.option("-q", "--per-topic", is_flag=True, help="Show every topic as well as the mean.")
@click.option(
    "-f", "--output-format", type=click.Choice(list(FORMATS)), default="table", show_default=True, help="How to print."
)
@click.option(
    "--ties",
    type=click.Choice(TIES),
    default="docid",
    show_default=True,
    help="Order of documents with equal scores: by id descending, as in trec_eval; as in the file; better grades "
    "first or last; or the mean over all orders.",
)
@click.option(
    "--samples",
    type=click.IntRange(2),
    default=200,
    show_default=True,
    help="Random orders for --ties expected, where a measure has no formula.",
)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of the random orders.")
@click.option(
    "--topics",
    type=click.Choice(TOPICS),
    default="qrels",
    show_default=True,
    help="Topics that count: all judged ones (a missing answer scores 0), those every run answers, or each run's own.",
)
@click.option(
    "--empty-topics",
    type=click.Choice(EMPTY_TOPICS),
    default="zero",
    show_default=True,
    help="Topics without a relevant document: score 0, or leave them out.",
)
@click.option("--depth", type=click.IntRange(1), help="Cut every ranking here.")
@click.option("--judged-only", is_flag=True, help="Take unjudged documents out of the rankings (condensed lists).")
@click.option(
    "--bounds",
    is_flag=True,
    help="Add the least and the most each score could be, whatever the unjudged documents retrieved are worth.",
)
@click.option(
    "--judgements",
    type=click.Choice(["plain", *KINDS]),
    help="Kind of judgements in QRELS; by default the one that a measure needs, or plain ones.",
)
@click.option(
    "--known", metavar="FILE", help="Documents the user knew before, as judgements, for coverage and novelty."
)
@click.option(
    "--digest", metavar="ALGORITHM", help="Digest of the inputs in the JSON form: xxh3_128 (the default), sha256, …"
)
@options.input_format
@options.threads
def command(
    qrels: str,
    runs: tuple[str, ...],
    measures: tuple[str, ...],
    per_topic: bool,
    output_format: str,
    ties: str,
    samples: int,
    seed: int,
    topics: str,
    empty_topics: str,
    depth: int | None,
    judged_only: bool,
    bounds: bool,
    judgements: str | None,
    known: str | None,
    digest: str | None,
    input_format: str | None,
    threads: int | None,
) -> None:
    """Evaluate RUNS against the judgements in QRELS.

    Files are TREC text, CSV or TSV with a header, JSON lines, JSON or Parquet, plain or compressed (gzip, bzip2, xz,
    zstd); - is standard input. Warnings go to standard error, results to standard output.

    \b
    Examples:
      $ cranfield evaluate qrels.txt bm25.run
      $ cranfield evaluate qrels.txt bm25.run dense.run -m nDCG@10 -m 'AP(rel=2)' -f markdown
      $ cranfield evaluate qrels.txt bm25.run -m map -m P.5,10 -q -f trec
    """
    if digest is None and output_format in SHOW_DIGESTS:
        digest = "xxh3_128"
    with watched("reading") as progress:
        # NumPy takes longer to load than most files take to read: both are done at once.
        with loading("numpy"):
            read: dict[str, Any] = {"format": input_format, "digest": digest, "threads": threads, "progress": progress}
            judged_by, sources = _read_early(qrels, runs, judgements, ties, read)
        from cranfield.evaluation import evaluate, needed_kind
        from cranfield.measures import as_measures

        wanted = as_measures(measures or DEFAULT_MEASURES)
        if judgements is None and needed_kind(wanted) != "plain":
            judged_by, sources = qrels, list(runs)
        results = evaluate(
            judged_by,
            sources,
            wanted,
            policy=Policy(ties, topics, depth, judged_only, empty_topics, samples, seed),
            bounds=bounds,
            judgements=judgements,
            known=known,
            format=input_format,
            digest=digest,
            threads=threads,
            progress=progress,
        )
    show(results, output_format, per_topic)


def _read_early(
    qrels: str, runs: tuple[str, ...], judgements: str | None, ties: str, read: dict[str, Any]
) -> tuple[Any, list[Any]]:
    """What can be read before measures are known; paths where that is not to be, or where reading fails."""
    if judgements not in (None, "plain"):
        return qrels, list(runs)
    try:
        judged_by = read_qrels(qrels, **read)
    except DuplicateError:  # perhaps a measure knows how to take several grades of a document
        if qrels == "-":
            raise
        return qrels, list(runs)
    if len(runs) > 1:
        return judged_by, list(runs)
    return judged_by, [read_run(runs[0], judging=Judging(judged_by.table, ties), **read)]


def show(results: Results, output_format: str, per_topic: bool) -> None:
    """Prints results to standard output, and what is odd about them to standard error."""
    text = render(results, output_format, per_topic=per_topic)
    for warning in results.warnings:
        click.echo(f"cranfield: {'warning' if warning.doubtful else 'note'}: {warning}", err=True)
    click.echo(text, nl=False)
