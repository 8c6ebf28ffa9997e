"""`cranfield online clicks`"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import click

from cranfield.cli import options
from cranfield.cli.given import refuse
from cranfield.errors import UsageError
from cranfield.online.clicks.click_tables import FORMATS

if TYPE_CHECKING:
    from cranfield.online.clicks.click_judgements import ClickJudgements, DrawnScores
    from cranfield.online.clicks.fitting import ClickFit, Fitting

MEASURES = ("nDCG@10",)


class WantedFiles(NamedTuple):
    """What is written, and of which documents."""

    output: str | None
    details: str | None
    grades: str | None
    topics: str | None
    least_examined: float

    @property
    def places(self) -> tuple[str | None, str | None]:
        """Where to."""
        return self.output, self.details

    def judgements(self, fit: ClickFit) -> ClickJudgements:
        """The judgements as they are to be."""
        from cranfield.online.clicks.click_judgements import judge_clicks
        from cranfield.online.clicks.page_logs import topics_of_queries

        grades = numbers("--grades", self.grades) if self.grades else ()
        topics = None if self.topics is None else topics_of_queries(self.topics)
        return judge_clicks(fit, grades=grades, topics=topics, least_examined=self.least_examined)

    def write(self, judgements: ClickJudgements) -> None:
        """Writes what was asked for."""
        from cranfield.formats.output import save
        from cranfield.formats.writers import format_of
        from cranfield.online.clicks.click_tables import details_text
        from cranfield.texts.writing import write_qrels

        if self.output is not None:
            for note in write_qrels(judgements.qrels(), self.output, format=format_of(self.output)):
                click.echo(f"note: {note}", err=True)
        if self.details is not None:
            save(self.details, [details_text(judgements, "\t" if self.details.endswith(".tsv") else ",")])


class DrawnRuns(NamedTuple):
    """Runs to score under draws of the judgements."""

    runs: tuple[str, ...]
    measures: tuple[str, ...]
    draws: int

    def scores(self, judgements: ClickJudgements, seed: int) -> DrawnScores | None:
        """Their scores; None without runs."""
        from cranfield.online.clicks.click_judgements import evaluate_drawn

        if not self.runs:
            return None
        measures = self.measures or MEASURES
        return evaluate_drawn(judgements, list(self.runs), measures, draws=self.draws, seed=seed)


def numbers(option: str, text: str) -> tuple[float, ...]:
    """Numbers with commas between.

    >>> numbers("--grades", "0.2,0.5")
    (0.2, 0.5)
    """
    from cranfield.numerals import decimal

    read = [decimal(part.strip()) for part in text.split(",")]
    known = tuple(value for value in read if value is not None)
    if len(known) < len(read):
        raise UsageError(f"{option} takes numbers with commas between, not '{text}'")
    return known


@click.command("online clicks")
@click.argument("logs", nargs=-1, metavar="LOG...")
@options.log_format
@click.option(
    "--model", default="DBN", show_default=True, metavar="NAME", help="Click model; `--model list` explains them all."
)
@click.option("-o", "--output", type=options.OutputFile(), metavar="FILE", help="Write judgements here.")
@click.option(
    "--details",
    type=options.OutputFile(),
    metavar="FILE",
    help="Write each judgement with its error, interval, clicks and examinations here (CSV, or TSV by its suffix).",
)
@click.option(
    "--grades",
    metavar="NUMBERS",
    help="Least relevance of grades 1, 2, …, as 0.1,0.3,0.6. Without it, judgements are probabilities.",
)
@click.option(
    "--topics", metavar="FILE", help="Topics: judgements take their ids for the queries that are written as they are."
)
@click.option(
    "--least-examined",
    type=click.FloatRange(0),
    default=1,
    show_default=True,
    metavar="TIMES",
    help="Leave documents unjudged that users examined less often for a query, as far as the model can tell.",
)
@click.option(
    "--prior",
    default="1,1",
    show_default=True,
    metavar="YES,NO",
    help="Times that every parameter counts as seen before: so many clicks, so many without.",
)
@click.option(
    "--held-out",
    type=click.FloatRange(0, 1, max_open=True),
    default=0.2,
    show_default=True,
    metavar="SHARE",
    help="Share of users on whose pages the fit is measured, by a fit to the others.",
)
@click.option(
    "--resamples",
    type=click.IntRange(0),
    default=100,
    show_default=True,
    help="Resamples of users, for standard errors; 0 leaves those that counts alone give.",
)
@click.option("--run", "runs", multiple=True, metavar="RUN", help="Score this run by the judgements; may be repeated.")
@options.measures(*MEASURES)
@click.option("--draws", type=click.IntRange(2), default=200, show_default=True, help="Draws of judgements, for --run.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of all that is drawn.")
@options.output_format(FORMATS)
@options.gathered("wanted", WantedFiles)
@options.gathered("drawing", DrawnRuns)
def command(
    logs: tuple[str, ...],
    log_format: str | None,
    model: str,
    prior: str,
    held_out: float,
    resamples: int,
    seed: int,
    output_format: str,
    wanted: WantedFiles,
    drawing: DrawnRuns,
) -> None:
    """Make judgements of clicks: fit a click model, tell how well it foretells clicks, and write what it says.

    LOG files are JSON lines of impressions, {"query_text": …, "docs": […], "clicks": […], "user_id": …}, and of events
    on them; or the tables of a log, a folder or files called impressions and events (Parquet, CSV). docs/clicks.md has
    all fields. A document's relevance is a probability: the attraction of its result, times
    its satisfaction where the model knows that. `cranfield evaluate --grades probabilities` takes them.

    \b
    Examples:
      $ cranfield online clicks clicks.jsonl -o clicks.qrels --details clicks.csv
      $ cranfield online clicks clicks.jsonl --model PBM --grades 0.2,0.5 -o clicks.qrels
      $ cranfield online clicks clicks.jsonl --run bm25.run --run dense.run -m nDCG@10
    """
    if model == "list":
        options.show("\n\n".join(described_models()) + "\n")
        return
    if not logs:
        raise UsageError("which log? Give one or more LOG files; `--model list` explains the models")
    if not drawing.runs:
        refuse("measures", "draws", why="is for runs: name one with --run")
    if wanted.places.count("-") > 1:
        raise UsageError("-o and --details cannot both go to standard output")
    from cranfield.online.clicks.click_tables import render_fit
    from cranfield.online.clicks.fitting import fit_clicks
    from cranfield.online.clicks.page_logs import read_clicks

    fit = fit_clicks(read_clicks(*logs, format=log_format), model, fitting(prior, held_out, resamples, seed))
    judgements = wanted.judgements(fit)
    drawn = drawing.scores(judgements, seed)
    wanted.write(judgements)
    odd = (*fit.warnings, *judgements.warnings, *(() if drawn is None else drawn.warnings))
    text = render_fit(fit, output_format, drawn)
    if "-" in wanted.places:  # judgements are what standard output has, and nothing else
        click.echo(text, err=True, nl=False)
        options.warn(odd)
    else:
        options.show(text, odd)


def fitting(prior: str, held_out: float, resamples: int, seed: int) -> Fitting:
    """How to fit, from what stands on the line."""
    from cranfield.online.clicks.click_models import Prior
    from cranfield.online.clicks.fitting import Fitting

    counts = numbers("--prior", prior)
    if len(counts) != 2:
        raise UsageError(f"--prior takes two numbers, as 1,1, not '{prior}'")
    return Fitting(prior=Prior(*counts), held_out=held_out, resamples=resamples, seed=seed)


def described_models() -> list[str]:
    """Each model with its formula, parameters and reference."""
    from cranfield.online.clicks.click_models import CLICK_MODELS

    told = []
    for model in CLICK_MODELS.all():
        lines = [f"{' or '.join((model.name, *model.aliases[1:]))}: {model.title}", model.help]
        told.append("\n".join([*lines, *options.parameter_lines(model)]))
    return told
