"""`cranfield split`"""

from __future__ import annotations

import click

from cranfield.cli import options
from cranfield.errors import UsageError, plural
from cranfield.formats.reading import Reading

DEFAULT_MEASURE = "AP"


@click.command("split")
@click.argument("qrels")
@click.option("--folds", type=click.IntRange(2), help="Number of folds; each is tested once. [default: 5]")
@click.option("--test-share", type=float, help="Instead of folds: two parts, with this share of topics for testing.")
@click.option(
    "--repeats", type=click.IntRange(1), default=1, show_default=True, help="How often to split, each time anew."
)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="The same seed, the same splits.")
@click.option(
    "--stratify",
    "runs",
    multiple=True,
    metavar="RUN",
    help="A run whose scores tell how hard a topic is (their mean, of several): every part gets hard and easy ones.",
)
@click.option("-m", "--measure", help=f"Measure of difficulty, for --stratify. [default: {DEFAULT_MEASURE}]")
@click.option(
    "-o",
    "--output",
    type=options.OutputFile(folder=True),
    metavar="PATH",
    help="A file ending in .json, or a folder for that and a list of topics for each part. [default: standard output]",
)
@options.reading()
def command(
    qrels: str,
    folds: int | None,
    test_share: float | None,
    repeats: int,
    seed: int,
    runs: tuple[str, ...],
    measure: str | None,
    output: str | None,
    reading: Reading,
) -> None:
    """Split the topics of QRELS into those to tune on and those to test on.

    The result is JSON: {"seed": …, "folds": [{"train": […], "test": […]}, …]}. It depends on the topic ids and the
    seed alone, not on the order of topics nor on the machine.

    \b
    Examples:
      $ cranfield split qrels.txt --folds 3 --seed 1
      $ cranfield split qrels.txt --test-share 0.5 --stratify bm25.run --stratify dense.run -m nDCG@10
    """
    if folds is not None and test_share is not None:
        raise UsageError("--folds and --test-share exclude each other")
    if measure is not None and not runs:
        raise UsageError("--measure is of the difficulty of topics: name runs to tell it by, with --stratify")
    from cranfield.planning.splits import split, stratified_split

    folds = folds or (5 if test_share is None else None)
    if runs:
        from cranfield.evaluation.experiment import Experiment

        splits, warnings = stratified_split(
            Experiment(qrels, list(runs), reading=reading, rows=False),
            measure or DEFAULT_MEASURE,
            folds=folds,
            test_share=test_share,
            seed=seed,
            repeats=repeats,
        )
        options.warn(warnings)
    else:
        splits = split(qrels, folds=folds, test_share=test_share, seed=seed, repeats=repeats, reading=reading)
    if output is None:
        click.echo(splits.to_json(), nl=False)
    else:
        written = splits.write(output)
        more = f" and {plural(len(written) - 1, 'list')} of topics beside it" if written[1:] else ""
        count = len(splits.folds)
        click.echo(f"{plural(count, 'split')} in {written[0]}{more}")
