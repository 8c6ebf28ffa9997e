"""`cranfield online rehearse`"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from cranfield.cli import options, simulated
from cranfield.formats.reading import Reading
from cranfield.online.users.users_tables import FORMATS, render_rehearsal

if TYPE_CHECKING:
    from cranfield.cli.simulated import Users


@click.command("online rehearse")
@click.argument("qrels")
@click.argument("runs", nargs=2, metavar="RUN RUN")
@click.option("--method", default="team-draft", show_default=True, help="How lists are interleaved.")
@click.option(
    "--power",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.8,
    show_default=True,
    help="The chance with which the difference is to be found.",
)
@options.alpha
@click.option(
    "--resamples", type=click.IntRange(100), default=1000, show_default=True, help="Times that users are drawn anew."
)
@simulated.users(coming=True)
@options.reading("labels")
@options.output_format(FORMATS)
def command(
    qrels: str,
    runs: tuple[str, ...],
    method: str,
    power: float,
    alpha: float,
    resamples: int,
    users: Users,
    reading: Reading,
    output_format: str,
) -> None:
    """Tell how many users an A/B test and interleaving would need to find the better of two runs.

    The same simulated users see the runs in both designs; from what they do follows how many are needed, with an
    interval. The more are simulated, the narrower it is.

    \b
    Examples:
      $ cranfield online rehearse qrels.txt bm25.run dense.run
      $ cranfield online rehearse qrels.txt bm25.run dense.run --behaviour informational --users 5000 -f markdown
    """
    from cranfield.evaluation.findings import Finding
    from cranfield.online.users import UserSimulation, rehearse
    from cranfield.statistics.significance import Sampling

    assert users.population is not None
    rankings = simulated.judged_rankings(qrels, runs, users.model, reading)
    simulation = UserSimulation(rankings, users.model, users.population, method=method)
    sampling = Sampling(seed=users.seed, resamples=resamples)
    found = rehearse(simulation, power=power, alpha=alpha, sampling=sampling)
    notes = [Finding("simulated", qrels, note, doubtful=False) for note in rankings.notes]
    options.show(render_rehearsal(found, output_format), notes)
