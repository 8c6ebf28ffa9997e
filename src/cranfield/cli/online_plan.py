"""`cranfield online plan`"""

from __future__ import annotations

import click

from cranfield.cli import options
from cranfield.errors import UsageError
from cranfield.online.log_report import FORMATS


@click.command("online plan")
@click.argument("logs", nargs=-1, type=click.Path())
@click.option("--trial", metavar="FILE", type=click.Path(), required=True, help="The plan so far, experiment.toml.")
@click.option(
    "--effect", type=float, required=True, help="The effect to be found, as a share of the metric: 0.02 is 2 per cent."
)
@click.option(
    "--power",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.8,
    show_default=True,
    help="Chance to find it.",
)
@click.option(
    "--share",
    type=click.FloatRange(0, 1, min_open=True),
    default=1.0,
    show_default=True,
    help="Of all units, how many take part.",
)
@click.option("--mean", type=float, help="Without a log: the metric's value.")
@click.option("--sd", type=click.FloatRange(0, min_open=True), help="Without a log: the standard deviation over units.")
@click.option(
    "--rho",
    type=click.FloatRange(-1, 1, min_open=True, max_open=True),
    help="Correlation of the metric with what is known before. [default: that of the log]",
)
@options.output_format(FORMATS)
def command(
    logs: tuple[str, ...],
    trial: str,
    effect: float,
    power: float,
    share: float,
    mean: float | None,
    sd: float | None,
    rho: float | None,
    output_format: str,
) -> None:
    """Tell how many units an A/B test needs, how many weeks that takes, when it is looked at, and what it could find.

    LOGS is a log of an earlier time, in which nothing need have been tried: of it are taken how units vary, how many
    come in one week, two weeks and so on (who comes back is not counted again), and what their earlier behaviour
    explains. Arms, weights, primary metric, looks and alpha are those of the trial.

    \b
    Examples:
      $ cranfield online plan . --trial experiment.toml --effect 0.2
      $ cranfield online plan --trial experiment.toml --effect 0.02 --mean 0.4 --sd 0.5 --rho 0.6
    """
    from dataclasses import replace

    from cranfield.online.analysis.planning import plan_trial, render_plan
    from cranfield.online.analysis.pre_periods import PrePeriod, SeenPeriod, pre_period
    from cranfield.online.logs import logs_named, read_logs
    from cranfield.online.trial_files import read_trial

    plan = read_trial(trial)
    if logs and mean is None and sd is None:
        before = pre_period(read_logs(logs_named(logs)), plan)
    elif not logs and mean is not None and sd is not None:
        before = PrePeriod(plan.primary, (SeenPeriod(0, 0, mean, sd),))
    else:
        raise UsageError("give a log of an earlier time, or --mean and --sd")
    if rho is not None:
        before = replace(before, explained=rho**2, explained_by="what is known before, as was typed")
    found = plan_trial(plan, before, effect, power=power, taking_part=share)
    options.show(render_plan(found, output_format))
