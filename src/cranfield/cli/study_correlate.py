"""`cranfield study correlate`"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from cranfield.cli import options
from cranfield.studies.study_tables import FORMATS, render_correlation

if TYPE_CHECKING:
    from cranfield.studies.answers import Answers

DEFAULT_MEASURES = ("nDCG@10",)
COEFFICIENTS = ("spearman", "kendall", "pearson")


@click.command("study correlate")
@options.answers
@click.argument("qrels")
@click.argument("runs", nargs=-1, required=True)
@options.measures(*DEFAULT_MEASURES)
@click.option(
    "-c",
    "--coefficient",
    "coefficients",
    multiple=True,
    help="pearson, or one that `cranfield correlate --list` explains; may be repeated. "
    f"[default: {', '.join(COEFFICIENTS)}]",
)
@click.option("--points", is_flag=True, help="Show every system on every topic.")
@options.resampled_topics
@options.output_format(FORMATS)
def command(
    answers: Answers,
    qrels: str,
    runs: tuple[str, ...],
    measures: tuple[str, ...],
    coefficients: tuple[str, ...],
    points: bool,
    resamples: int,
    seed: int,
    output_format: str,
) -> None:
    """Do participants feel what a measure says?

    ANSWERS and scales are those of `cranfield study score`, with a column of topics; systems are called as the RUNS.
    For each system on each topic the mean of the scores stands against the measure; within topics, the mean of each
    topic is taken off both, so that easy topics make no correlation. Without topics, as for SUS, means of systems stand
    against means of the measure.

    \b
    Examples:
      $ cranfield study correlate study.csv qrels.txt bm25.run dense.run --scale satisfaction
      $ cranfield study correlate study.csv qrels.txt bm25.run dense.run --scale satisfaction -m AP -c kendall --points
    """
    from cranfield.evaluation.experiment import Experiment
    from cranfield.statistics.significance import Sampling
    from cranfield.studies.study_correlation import correlate_answers

    correlation = correlate_answers(
        answers,
        Experiment(qrels, list(runs), rows=False),
        measures or DEFAULT_MEASURES,
        coefficients or COEFFICIENTS,
        sampling=Sampling(seed, resamples),
    )
    options.show(render_correlation(correlation, output_format, points=points), correlation.warnings)
