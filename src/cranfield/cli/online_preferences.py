"""`cranfield online preferences`"""

from __future__ import annotations

import click

from cranfield.cli import options
from cranfield.online.interleaving.interleaving_tables import FORMATS, render_preferences


@click.command("online preferences")
@click.argument("impressions", metavar="IMPRESSIONS")
@click.argument("events", metavar="EVENTS")
@click.option("--action", default="click", show_default=True, help="Which events count, such as click or purchase.")
@click.option("--method", help="The method that made the lists, where the impressions do not say.")
@options.alpha
@click.option(
    "--resamples", type=click.IntRange(100), default=1000, show_default=True, help="Times that users are drawn anew."
)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="The same seed, the same intervals.")
@options.output_format(FORMATS)
@click.pass_context
def command(
    context: click.Context,
    impressions: str,
    events: str,
    action: str,
    method: str | None,
    alpha: float,
    resamples: int,
    seed: int,
    output_format: str,
) -> None:
    """Tell whose documents users prefer, from clicks on interleaved lists.

    IMPRESSIONS are what `cranfield online interleave` wrote and users saw, EVENTS have query_id, action and doc_id,
    both as JSON lines or Parquet. Credit is given as the method has it, and users are counted: impressions of one user
    are not independent. Where teams do not stand evenly at every rank the data are broken, and nothing is decided.
    Exit code 1 if they are.

    \b
    Examples:
      $ cranfield online preferences shown.jsonl clicked.jsonl
      $ cranfield online preferences shown.jsonl clicked.jsonl -f json
    """
    from cranfield.online.interleaving import preferences, read_interleaving

    log = read_interleaving(impressions, events, action=action, method=method)
    found = preferences(log, alpha=alpha, seed=seed, resamples=resamples)
    click.echo(render_preferences(found, output_format), nl=False)
    if found.broken:
        context.exit(1)
