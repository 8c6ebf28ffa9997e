"""`cranfield evaluate`"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from cranfield.cli import options
from cranfield.cli.given import refuse
from cranfield.cli.progress import read_meanwhile, watched
from cranfield.errors import DataError, UsageError
from cranfield.evaluation.result_tables import FORMATS, render
from cranfield.formats import read_qrels, read_run
from cranfield.formats.format import Judging
from cranfield.formats.reading import Reading
from cranfield.tables import Qrels, Run

if TYPE_CHECKING:
    from cranfield.evaluation.results import Results

DEFAULT_MEASURES = ("nDCG@10", "AP", "RR", "P@10", "R@1000")
SHOW_DIGESTS = ("json",)


@click.command("evaluate")
@click.argument("qrels")
@click.argument("runs", nargs=-1, required=True)
@options.measures(*DEFAULT_MEASURES)
@click.option("-q", "--per-topic", is_flag=True, help="Show every topic as well as the mean (topic all).")
@click.option(
    "--sort",
    metavar="MEASURE",
    help="Best run first by this measure, with ranks, and tiers of runs that are not significantly different from the "
    "best of their tier. If it is not among the measures, it is added.",
)
@click.option(
    "--before",
    metavar="FILE",
    help="For --sort: what an earlier evaluation printed with -f json. Shows how the rank and the score of each run "
    "changed since, as from the public half of the topics to the private one.",
)
@options.output_format(list(FORMATS))
@click.option(
    "--samples",
    type=click.IntRange(2),
    default=200,
    show_default=True,
    help="Random samples for --ties expected and --grades probabilities, where there is no formula and a topic has "
    "more possible outcomes than this.",
)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of the random numbers.")
@click.option(
    "--bounds",
    is_flag=True,
    help="Add the lowest and the highest that each score could be, whatever the unjudged documents are worth.",
)
@options.figures
@click.option(
    "--digest", metavar="ALGORITHM", help="Digest of the inputs in the JSON form: xxh3_128 (the default), sha256, …"
)
@click.option(
    "--engine",
    metavar="MASTER",
    help="Read and judge the runs on a cluster of Apache Spark: spark://HOST:PORT, or local[*] for every core of this "
    "machine. Every worker must see the files. The output is the same.",
)
@options.inputs
def command(
    qrels: str,
    runs: tuple[str, ...],
    measures: tuple[str, ...],
    per_topic: bool,
    sort: str | None,
    before: str | None,
    output_format: str,
    samples: int,
    seed: int,
    bounds: bool,
    figures: tuple[str, ...],
    digest: str | None,
    engine: str | None,
    inputs: options.Inputs,
) -> None:
    """Evaluate RUNS against the judgements in QRELS.

    Files are TREC text, CSV or TSV with a header, JSON lines, JSON or Parquet, plain or compressed (gzip, bzip2, xz,
    zstd); - is standard input. Warnings go to standard error, results to standard output.

    Without -m the measures are nDCG@10, AP, RR, P@10 and R@1000; `cranfield measures` lists all.

    \b
    Examples:
      $ cranfield evaluate qrels.txt bm25.run
      $ cranfield evaluate qrels.txt bm25.run dense.run -m nDCG@10 -m 'AP(rel=2)' -f markdown
      $ cranfield evaluate qrels.txt bm25.run -m map -m P.5,10 -q -f trec
      $ cranfield evaluate qrels.txt bm25.run dense.run --sort AP
    """
    _check_runs(runs)
    if before is not None and sort is None:
        raise UsageError("--before is about ranks: say by which measure, as --sort nDCG@10")
    if output_format not in SHOW_DIGESTS:
        refuse("digest", why=f"is shown with -f {' and -f '.join(SHOW_DIGESTS)} alone: add that")
    if digest is None and (output_format in SHOW_DIGESTS or before is not None):
        digest = "xxh3_128"
    inputs = inputs._replace(
        policy=replace(inputs.policy, samples=samples, seed=seed), reading=replace(inputs.reading, digest=digest)
    )
    wanted = [*(measures or DEFAULT_MEASURES), *([] if sort is None else [sort])]
    results = _evaluated(qrels, runs, inputs, wanted, engine, bounds=bounds, figures=figures)
    if sort is None:
        text, warnings = render(results, output_format, per_topic=per_topic), results.warnings
    else:
        from cranfield.comparison.leaderboards import leaderboard

        board = leaderboard(results, sort, before)
        text, warnings = board.render(output_format, per_topic=per_topic), board.warnings
    options.show(text, warnings)


def _evaluated(
    qrels: str, runs: tuple[str, ...], inputs: options.Inputs, names: list[str], engine: str | None, **more: Any
) -> Results:
    """The runs on measures of these names, here or on a cluster, with bounds and figures if `more` asks for them."""

    def read_early() -> tuple[Qrels, Run | None] | None:
        return None if engine else _read_early(qrels, runs, inputs, inputs.read(progress=progress))

    with watched("reading") as progress:
        with read_meanwhile(read_early) as early:
            from cranfield.evaluation.evaluation import evaluated
            from cranfield.measures import as_measures

            measures = as_measures(names)
            experiment = inputs.experiment(qrels, runs, progress=progress)
            known = early()
        if known is not None:
            experiment.take(*known, measures)
        if engine is None:
            return evaluated(experiment, measures, **more)
        from cranfield.spark import evaluate_on

        return evaluate_on(engine, experiment, measures, **more)


def _check_runs(runs: tuple[str, ...]) -> None:
    """Tells a measure among the runs, where ir_measures has them, from a file that is missing."""
    for name in runs:
        if os.path.exists(name) or name == "-" or name.startswith("irds:"):
            continue
        from cranfield.measures import parse_measures

        try:
            parse_measures(name)
        except UsageError:
            continue
        raise UsageError(f"{name} is a measure, and there is no run of that name: measures are given as -m {name}")


def _read_early(
    qrels: str, runs: tuple[str, ...], inputs: options.Inputs, reading: Reading
) -> tuple[Qrels, Run | None] | None:
    """What can be read before measures are known: plain judgements, and a run alone as it is judged against them.

    Measures may need the judgements read otherwise. A pipe can't be read twice: it waits until they are known.
    """
    if reading.judgements not in (None, "plain") or not all(map(os.path.isfile, (qrels, *runs))):
        return None
    try:
        judgements = read_qrels(qrels, reading=reading)
    except DataError:
        return None  # another kind may be what it is
    beside = (inputs.lengths, inputs.known, inputs.policy.topic_set)
    if len(runs) > 1 or any(given is not None for given in beside):
        return judgements, None
    return judgements, read_run(runs[0], reading=reading, judging=Judging(judgements.table, inputs.policy.ties))
