"""`cranfield online link`"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from cranfield.cli import options, simulated
from cranfield.formats.reading import Reading
from cranfield.online.users.users_tables import FORMATS, render_link

if TYPE_CHECKING:
    from cranfield.cli.simulated import Users


@click.command("online link")
@click.argument("qrels")
@click.argument("runs", nargs=-1, required=True, metavar="RUN RUN...")
@click.option(
    "-m",
    "--measure",
    default="nDCG@10",
    show_default=True,
    help="The measure offline, as `cranfield evaluate` takes it.",
)
@click.option("--method", default="team-draft", show_default=True, help="How lists of each pair are interleaved.")
@click.option(
    "--impressions",
    type=click.IntRange(1, 100_000),
    default=200,
    show_default=True,
    help="Simulated users of every list, each another one.",
)
@click.option(
    "--resamples", type=click.IntRange(100), default=1000, show_default=True, help="Times that topics are drawn anew."
)
@simulated.users(coming=False)
@options.reading("labels")
@options.output_format(FORMATS)
def command(
    qrels: str,
    runs: tuple[str, ...],
    measure: str,
    method: str,
    impressions: int,
    resamples: int,
    users: Users,
    reading: Reading,
    output_format: str,
) -> None:
    """Does a difference offline foretell what users do? Measures beside simulated clicks, over systems and topics.

    Every run's list for every topic is shown to simulated users, and so are lists of each pair interleaved. Differences
    of the measure are held against differences of click-through rate, satisfied clicks, reciprocal rank of the first
    click and preference, with intervals over topics.

    \b
    Examples:
      $ cranfield online link qrels.txt bm25.run dense.run
      $ cranfield online link qrels.txt bm25.run dense.run -m AP --behaviour informational -f markdown
    """
    from cranfield.evaluation.findings import Finding
    from cranfield.online.users import link_offline
    from cranfield.online.users.offline_scores import scores_of_asked
    from cranfield.statistics.significance import Sampling

    rankings = simulated.judged_rankings(qrels, runs, users.model, reading)
    scores, label = scores_of_asked(rankings, qrels, runs, measure, reading)
    sampling = Sampling(seed=users.seed, resamples=resamples)
    found = link_offline(
        rankings, scores, label, users.model, impressions=impressions, method=method, sampling=sampling
    )
    notes = [Finding("simulated", qrels, note, doubtful=False) for note in rankings.notes]
    options.show(render_link(found, output_format), notes)
