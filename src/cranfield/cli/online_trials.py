"""`cranfield online trials`"""

from __future__ import annotations

import click

from cranfield.cli import options
from cranfield.online.log_report import FORMATS


@click.command("online trials")
@click.argument("trials", nargs=-1, required=True, type=click.Path())
@click.option(
    "--ledger", metavar="FILE", type=click.Path(), help="The ledger of all of them. [default: that beside each plan]"
)
@options.output_format(FORMATS)
def command(trials: tuple[str, ...], ledger: str | None, output_format: str) -> None:
    """List experiments that run side by side: their plans, how often each was looked at, and what is wrong.

    TRIALS are plans, experiment.toml. A plan that was changed after its first look is told, and so are two trials that
    run at once in the same layer (with the same salt).

    \b
    Examples:
      $ cranfield online trials experiment.toml
    """
    from cranfield.online.analysis.overview import overview_of, render_overview
    from cranfield.online.trial_files import read_trial

    found = overview_of([read_trial(path) for path in trials], ledger=ledger)
    options.show(render_overview(found, output_format), found.warnings)
