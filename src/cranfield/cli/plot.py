"""`cranfield plot`"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import click

from cranfield.cli import options
from cranfield.cli.given import given, refuse, refuse_all_but
from cranfield.errors import UsageError

if TYPE_CHECKING:
    from cranfield.efficiency.costs import Costs
    from cranfield.plot.accessor import RunFacts
    from cranfield.plot.style import Chart
    from cranfield.plot.subject import Picture
    from cranfield.plot.swept import Swept

# How what pictures use of a subject is said on the line.
USES = {
    "baseline": "--baseline",
    "depth": "--down-to",
    "sort": "--no-sort",
    "costs": "--costs or --cost",
    "highlight": "--highlight",
    "parameters": "--swept",
    "along": "--along",
}


class TableOptions(NamedTuple):
    """What is known of runs besides their rankings, as it stands on the line: costs, and parameters of a sweep."""

    costs: str | None
    cost: str
    swept: str | None
    along: str | None

    def known(self, kind: str, runs: Sequence[str], sweep: Swept | None) -> RunFacts:
        """What a picture is to be told of it."""
        costs = self._known_costs(kind, runs)
        known: RunFacts = {"along": self.along, "parameters": sweep.parameters if sweep else None}
        return known if costs is None else {**known, "costs": costs.of, "cost_label": costs.label}

    def _known_costs(self, kind: str, runs: Sequence[str]) -> Costs | None:
        """What runs cost, where a table says so or a picture needs it."""
        from cranfield.efficiency.costs import measured_costs, read_costs

        if self.costs is not None:
            refuse("cost", why="or --costs, not both: costs are in the table or in the runs' metadata")
            return read_costs(self.costs)
        return measured_costs(runs, self.cost) if kind == "pareto" else None

    def sweep(self, qrels: str | None, measures: Sequence[str]) -> Swept | None:
        """A sweep as a file has it; one that was evaluated needs no judgements, and has its own measure."""
        from cranfield.measures import parse_measures
        from cranfield.plot.swept import read_swept

        if self.swept is None:
            return None
        sweep = read_swept(self.swept)
        if sweep.results is None:
            return sweep
        if qrels is not None:
            raise UsageError(f"{self.swept} has every combination evaluated: leave out {qrels} and the runs")
        own = sweep.results.measures[0]
        others = [str(measure) for text in measures for measure in parse_measures(text) if measure != own]
        if others:
            raise UsageError(f"{self.swept} is a sweep of {own}: {', '.join(others)} is not known of it")
        why = f"is about judgements and runs, and {self.swept} has every combination evaluated: leave it out"
        refuse_all_but("measures", "output", "theme", "swept", "along", why=why)
        return sweep


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
@click.option(
    "--highlight",
    multiple=True,
    metavar="NAME",
    help="Colour and name this run; others are grey, but for the baseline and, of more than 8, the best. May be "
    "repeated.",
)
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
@click.option("--along", metavar="NAME", help="For sweep: the parameter to draw along. [default: the most varied]")
@options.inputs
@options.gathered("tables", TableOptions)
def command(
    kind: str,
    qrels: str | None,
    runs: tuple[str, ...],
    output: str | None,
    measures: tuple[str, ...],
    chosen: tuple[str, ...],
    baseline: str | None,
    highlight: tuple[str, ...],
    down_to: int | None,
    theme: str,
    sort: bool,
    tables: TableOptions,
    inputs: options.Inputs,
) -> None:
    """Draw a picture of RUNS on the judgements in QRELS. `cranfield plot list` shows the kinds there are, and of -m,
    --topic, --baseline, --highlight, --down-to, --no-sort, --costs, --cost, --swept and --along those that each takes.

    \b
    Examples:
      $ cranfield plot list
      $ cranfield plot interpolated qrels.txt bm25.run dense.run -o curves.svg
      $ cranfield plot histogram qrels.txt dense.run bm25.run -m AP -o histogram.pdf --theme paper
      $ cranfield plot means qrels.txt bm25.run dense.run -m nDCG@10 -m AP -o means.svg
      $ cranfield plot discounts -m DCG -m RR -o discounts.svg
    """
    from cranfield.plot.subject import Subject, find_picture

    if kind == "list":
        _list(qrels, runs)
        return
    picture = find_picture(kind)
    picture.check_asked(measures, chosen, _asked())
    sweep = tables.sweep(qrels, measures)
    evaluated = sweep.results if sweep else None
    if evaluated is None:
        _check_inputs(picture, qrels, runs)
    if output is None:
        raise UsageError(f"where to? Add the file to write, as -o {kind}.svg")
    from cranfield.evaluation.experiment import Experiment
    from cranfield.plot.saving import form_of, save

    form_of(output)  # before a picture is drawn for nothing
    known = tables.known(kind, runs, sweep)
    subject = Subject(
        experiment=Experiment({}) if qrels is None else inputs.experiment(qrels, runs, rows=True),
        measures=(str(evaluated.measures[0]),) if evaluated else measures or picture.measures,
        topics=chosen,
        theme=theme,
        baseline=baseline,
        depth=down_to,
        sort=sort,
        highlight=highlight,
        evaluated=evaluated,
        **known,
    )
    chart = picture.draw(subject)
    options.warn(subject.experiment.restriction())
    save(chart, output)
    _tell(chart, output)


def _tell(chart: Chart, output: str) -> None:
    """Where a picture is, and what it shows."""
    from cranfield.plot.style import caption_of
    from cranfield.render.escaping import visible

    click.echo(output)
    click.echo(visible(caption_of(chart)))


def _asked() -> dict[str, str]:
    """What was asked for of what pictures use, each as it was typed."""
    uses = {option: use for use, said in USES.items() for option in said.split(" or ")}
    return {uses[option]: option for option in given().values() if option in uses}


def _check_inputs(picture: Picture, qrels: str | None, runs: Sequence[str]) -> None:
    """That a picture was given judgements and runs; and one of measures alone none, nor a word on them."""
    if not picture.without_runs:
        if qrels is None or not runs:
            raise UsageError(f"what is to be drawn? cranfield plot {picture.name} QRELS RUN... -o {picture.name}.svg")
        return
    if qrels is not None:
        raise UsageError(f"{picture.name} is of measures alone: leave out {' '.join((qrels, *runs))}")
    own = ("measures", "output", "theme", *(name for name, option in given().items() if option in _asked().values()))
    refuse_all_but(*own, why=f"is about judgements and runs, and {picture.name} is of measures alone: leave it out")


def _list(qrels: str | None, runs: Sequence[str]) -> None:
    """Every kind of picture with what it shows and the options that it takes."""
    from cranfield.plot.subject import all_pictures

    if qrels is not None:
        raise UsageError(f"plot list shows all kinds: leave out {' '.join((qrels, *runs))}")
    pictures = all_pictures()
    refuse_all_but(why="is of no use to plot list, which shows all kinds")
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
