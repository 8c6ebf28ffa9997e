"""`cranfield plot`"""

from __future__ import annotations

import click

from cranfield.cli import options
from cranfield.errors import DataError, UsageError, shorten


@click.command("plot")
@click.argument("kind")
@click.argument("qrels", required=False)
@click.argument("runs", nargs=-1)
@click.option(
    "-o",
    "--output",
    type=options.OutputFile(),
    metavar="FILE",
    help="Where to: a name that ends in .svg, .png, .pdf, .html or .json.",
)
@options.measures
@click.option("--topic", "chosen", multiple=True, help="Draw this topic, where a picture can; may be repeated.")
@click.option("--baseline", metavar="RUN", help="Compare every run with this one, not all pairs.")
@click.option("--down-to", type=click.IntRange(1), metavar="K", help="Draw curves down to this rank.")
@click.option(
    "--theme", type=click.Choice(("screen", "paper")), default="screen", show_default=True, help="Sizes and fonts."
)
@click.option(
    "--sort/--no-sort",
    default=True,
    show_default=True,
    help="Topics and runs in the order of their scores, or as they come.",
)
@click.option("--costs", metavar="FILE", help="For pareto: CSV or TSV with a header, the run first, then its cost.")
@click.option(
    "--cost",
    default="latency",
    show_default=True,
    help="For pareto without --costs: latency, p50, p90, p99, indexing, index or memory, from the runs' metadata.",
)
@options.inputs
def command(
    kind: str,
    qrels: str | None,
    runs: tuple[str, ...],
    output: str | None,
    measures: tuple[str, ...],
    chosen: tuple[str, ...],
    baseline: str | None,
    down_to: int | None,
    theme: str,
    sort: bool,
    costs: str | None,
    cost: str,
    inputs: options.Inputs,
) -> None:
    """Draw a picture of RUNS on the judgements in QRELS. `cranfield plot list` shows the kinds there are.

    \b
    Examples:
      $ cranfield plot list
      $ cranfield plot interpolated qrels.txt bm25.run dense.run -o curves.svg
      $ cranfield plot histogram qrels.txt dense.run bm25.run -m AP -o histogram.pdf --theme paper
    """
    from cranfield.plot.subject import Subject, all_pictures, find_picture

    if kind == "list":
        width = max(len(picture.name) for picture in all_pictures())
        click.echo("".join(f"{picture.name:<{width}}  {picture.shows}\n" for picture in all_pictures()), nl=False)
        return
    picture = find_picture(kind)
    picture.check_asked(measures, chosen)
    if qrels is None or not runs or output is None:
        raise UsageError(f"what is to be drawn, and where to? cranfield plot {kind} QRELS RUN... -o picture.svg")
    from cranfield.plot.saving import form_of, save

    form_of(output)  # before a picture is drawn for nothing
    label, paid = _measured_costs(runs, cost) if kind == "pareto" and costs is None else _costs(costs)
    subject = Subject(
        experiment=inputs.experiment(qrels, runs, rows=True),
        measures=measures or picture.measures,
        topics=chosen,
        theme=theme,
        baseline=baseline,
        depth=down_to,
        sort=sort,
        costs=paid,
        cost_label=label,
    )
    save(picture.draw(subject), output)
    click.echo(output)


def _measured_costs(runs: tuple[str, ...], cost: str) -> tuple[str, dict[str, float]]:
    """What a cost is called, and its number for each run, from what `cranfield search` measured."""
    from cranfield.efficiency.metadata import costs_of
    from cranfield.efficiency.resources import FIGURES

    costs = costs_of(runs, cost)
    return FIGURES[cost].title, costs


def _costs(path: str | None) -> tuple[str, dict[str, float] | None]:
    """What the second column is called, and its number for each run."""
    if path is None:
        return "cost", None
    from cranfield.comparison.diagnosis import read_attributes
    from cranfield.numerals import decimal

    table = read_attributes(path)
    label = next(iter(next(iter(table.values()))))
    costs = {run: decimal(values[label]) for run, values in table.items()}
    for run, cost in costs.items():
        if cost is None:
            told = f"column '{label}': '{shorten(table[run][label], 60)}' of {run} is not a number that can be drawn"
            raise DataError(told, source=path, remedy="Leave the run out.")
    return label, {run: cost for run, cost in costs.items() if cost is not None}
