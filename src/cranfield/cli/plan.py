"""`cranfield plan`"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import click

from cranfield.cli import options
from cranfield.cli.given import refuse
from cranfield.planning.plan_tables import FORMATS, render
from cranfield.statistics.power import DESIGNS, Design

if TYPE_CHECKING:
    from cranfield.formats.reading import Reading
    from cranfield.planning.plans import Plan, PowerAnalysis


@click.command("plan")
@click.argument("qrels", required=False)
@click.argument("runs", nargs=-1)
@click.option(
    "-m",
    "--measure",
    "measures",
    multiple=True,
    help="With runs: a measure, such as nDCG@10, or several with commas between; may be repeated. [default: AP]",
)
@click.option(
    "--difference", "differences", type=float, multiple=True, help="A difference of means to find; may be repeated."
)
@click.option("--sd", type=float, help="Standard deviation over topics of the differences between two systems.")
@click.option("--effect", "effects", type=float, multiple=True, help="Difference divided by that standard deviation.")
@click.option(
    "--topics",
    type=click.IntRange(2),
    help="Number of topics that there will be: tells what they can find. With runs, instead of the present number.",
)
@click.option("--power", type=float, help="Chance of finding the difference if it is there. [default: 0.8]")
@click.option("--alpha", type=float, default=0.05, show_default=True, help="Chance of finding one that is not there.")
@click.option(
    "--comparisons",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="Comparisons that share alpha: each is tested at alpha divided by their number (Bonferroni).",
)
@click.option(
    "--design",
    type=click.Choice(DESIGNS),
    default="paired",
    show_default=True,
    help="Without runs: both systems answer the same topics, or each has its own.",
)
@click.option(
    "--target", "targets", type=float, multiple=True, help="With runs: an Eρ² or Φ to reach. [default: 0.9 and 0.95]"
)
@options.output_format(list(FORMATS))
@options.reading()
def command(
    qrels: str | None,
    runs: tuple[str, ...],
    measures: tuple[str, ...],
    differences: tuple[float, ...],
    sd: float | None,
    effects: tuple[float, ...],
    topics: int | None,
    power: float | None,
    alpha: float,
    comparisons: int,
    design: Design,
    targets: tuple[float, ...],
    output_format: str,
    reading: Reading,
) -> None:
    """How many topics would show a difference between two systems, and what can the present ones show?

    Without files, from numbers: a difference and a standard deviation (or their ratio, the effect) give the topics
    needed, a number of topics gives the least effect that would be found, both give the power.

    With judgements and runs: the standard deviation of the differences for every pair of runs, the least difference
    that could be found, the topics needed for given differences; and how far another set of topics would agree
    (generalisability Eρ² on the differences between systems, dependability Φ on their scores).

    \b
    Examples:
      $ cranfield plan --difference 0.02 --sd 0.1
      $ cranfield plan --effect 0.3 --topics 50 --comparisons 10
      $ cranfield plan --topics 50 --sd 0.1 -f markdown
      $ cranfield plan qrels.txt bm25.run dense.run -m nDCG@10 --difference 0.05
    """
    made: Plan | tuple[PowerAnalysis, ...]
    if qrels is not None:
        refuse("sd", "effects", "design", why="is for plans from numbers; with runs it is what the runs show")
        from cranfield.evaluation.experiment import Experiment
        from cranfield.planning.plans import POWER, Aims, plan

        aims = Aims(
            differences or Aims.differences,
            targets or Aims.targets,
            topics,
            POWER if power is None else power,
            alpha,
            comparisons,
        )
        told = replace(reading, digest="xxh3_128" if output_format == "json" else None)
        made = plan(Experiment(qrels, list(runs), reading=told, rows=False), measures or "AP", aims=aims)
        options.warn(made.warnings)
    else:
        of_data = ("measures", "targets", *options.READING)
        refuse(*of_data, why="is for plans from data: name the judgements and the runs")
        from cranfield.planning.plans import power_analyses

        made = power_analyses(
            differences, effects, sd=sd, topics=topics, power=power, alpha=alpha, comparisons=comparisons, design=design
        )
    options.show(render(made, output_format))
