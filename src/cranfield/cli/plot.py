"""`cranfield plot`"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from cranfield.cli import options
from cranfield.errors import UsageError

if TYPE_CHECKING:
    from cranfield.efficiency.costs import Costs
    from cranfield.plot.subject import Picture
    from cranfield.plot.swept import Swept

# How what pictures use of a subject is said on the line.
USES = {
    "parameters": "--swept",
    "along": "--along",
    "baseline": "--baseline",
    "depth": "--down-to",
    "sort": "--no-sort",
    "costs": "--costs or --cost",
    "highlight": "--highlight",
}


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
@options.measures("those of the picture")
@click.option(
    "--topic", "chosen", multiple=True, help="Draw this topic, in pictures of single topics; may be repeated."
)
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
@click.option(
    "--costs", metavar="FILE", help="For pareto: a CSV or TSV file with a header, the run first, then its cost."
)
@click.option(
    "--cost",
    default="latency",
    show_default=True,
    help="For pareto without --costs: latency, p50, p90, p95, p99, indexing, index or memory, from the runs' metadata.",
)
@click.option(
    "--swept",
    metavar="FILE",
    help="For sweep: the JSON of `search --grid … -f json`, instead of QRELS and RUNS; or a CSV or TSV file with a "
    "header, the run first, then its parameters. [default: the runs' metadata]",
)
@click.option(
    "--along", metavar="NAME", help="For sweep: the parameter to draw along. [default: that with most values]"
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
    swept: str | None,
    along: str | None,
    inputs: options.Inputs,
) -> None:
    """Draw a picture of RUNS on the judgements in QRELS. `cranfield plot list` shows the kinds there are, and of -m,
    --topic, --baseline, --down-to, --no-sort, --costs, --cost, --swept and --along those that each takes.

    \b
    Examples:
      $ cranfield plot list
      $ cranfield plot interpolated qrels.txt bm25.run dense.run -o curves.svg
      $ cranfield plot histogram qrels.txt dense.run bm25.run -m AP -o histogram.pdf --theme paper
      $ cranfield plot means qrels.txt bm25.run dense.run -m nDCG@10 -m AP -o means.svg
      $ cranfield plot discounts -m DCG -m RR -o discounts.svg
    """
    from cranfield.plot.subject import Subject, all_pictures, find_picture

    if kind == "list":
        _list(all_pictures())
        return
    picture = find_picture(kind)
    picture.check_asked(measures, chosen)
    sweep = _sweep(picture, swept, qrels, measures)
    if sweep is None or sweep.results is None:
        _check_inputs(picture, qrels, runs)
    if output is None:
        raise UsageError(f"where to? Add the file to write, as -o {kind}.svg")
    from cranfield.evaluation.experiment import Experiment
    from cranfield.plot.saving import form_of, save

    form_of(output)  # before a picture is drawn for nothing
    known = _costs(kind, runs, cost, costs)
    evaluated = sweep.results if sweep else None
    subject = Subject(
        experiment=Experiment({}) if qrels is None else inputs.experiment(qrels, runs, rows=True),
        measures=(str(evaluated.measures[0]),) if evaluated else measures or picture.measures,
        topics=chosen,
        theme=theme,
        baseline=baseline,
        depth=down_to,
        sort=sort,
        costs=None if known is None else known.of,
        cost_label="cost" if known is None else known.label,
        parameters=sweep.parameters if sweep else None,
        along=along,
        evaluated=evaluated,
    )
    save(picture.draw(subject), output)
    click.echo(output)


def _check_inputs(picture: Picture, qrels: str | None, runs: Sequence[str]) -> None:
    """That there is what the picture is of, and nothing else."""
    if qrels is not None and picture.without_runs:
        raise UsageError(f"{picture.name} is of measures alone: leave out {' '.join((qrels, *runs))}")
    if not picture.without_runs and (qrels is None or not runs):
        raise UsageError(f"what is to be drawn? cranfield plot {picture.name} QRELS RUN... -o {picture.name}.svg")


def _list(pictures: Sequence[Picture]) -> None:
    """Every kind of picture with what it shows and the options that it takes."""
    width = max(len(picture.name) for picture in pictures)
    for picture in pictures:
        click.echo(f"{picture.name:<{width}}  {picture.shows}")
        for line in [f"{'':<{width}}  {_taken(picture)}".rstrip(), *options.parameter_lines(picture)]:
            if line:
                click.echo(line)


def _taken(picture: Picture) -> str:
    """The options that change a picture, besides its size and how inputs are read."""
    measures = f"-m [default: {', '.join(picture.measures)}]"
    taken = [measures] if picture.measures else []
    taken += ["--topic"] if picture.by_topic else []
    return ", ".join([*taken, *(USES[use] for use in picture.uses)])


def _sweep(picture: Picture, path: str | None, qrels: str | None, measures: Sequence[str]) -> Swept | None:
    """A sweep as a file has it; one that was evaluated needs no judgements, and has its own measure."""
    from cranfield.measures import parse_measures
    from cranfield.plot.swept import read_swept

    if path is None:
        return None
    if "parameters" not in picture.uses:
        raise UsageError(f"{picture.name} shows no parameters: leave out --swept {path}")
    sweep = read_swept(path)
    if sweep.results is None:
        return sweep
    if qrels is not None:
        raise UsageError(f"{path} has every combination evaluated: leave out {qrels} and the runs")
    own = sweep.results.measures[0]
    others = [str(measure) for text in measures for measure in parse_measures(text) if measure != own]
    if others:
        raise UsageError(f"{path} is a sweep of {own}: {', '.join(others)} is not known of it. Sweep again with -m")
    return sweep


def _costs(kind: str, runs: tuple[str, ...], cost: str, table: str | None) -> Costs | None:
    """What runs cost, where a table says so or a picture needs it."""
    from cranfield.efficiency.costs import measured_costs, read_costs

    if table is not None:
        return read_costs(table)
    return measured_costs(runs, cost) if kind == "pareto" else None
