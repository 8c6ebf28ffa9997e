"""`cranfield online check`"""

from __future__ import annotations

import click

from cranfield.cli import options
from cranfield.errors import UsageError
from cranfield.online.log_report import FORMATS, render_log_report


@click.command("online check")
@click.argument("logs", nargs=-1, required=True, type=click.Path())
@click.option("--trial", metavar="FILE", type=click.Path(), help="The plan, experiment.toml: is the log one of it?")
@click.option("--expect-digest", metavar="DIGEST", help="Refuse a plan with another digest than this.")
@options.output_format(FORMATS)
@click.pass_context
def command(
    context: click.Context, logs: tuple[str, ...], trial: str | None, expect_digest: str | None, output_format: str
) -> None:
    """Count and name everything odd about a log of searches, before anybody believes a number from it.

    LOGS is a folder with `impressions` and `events`, and perhaps `assignments` and `covariates`, each as Parquet, JSON
    lines or CSV; or these files, called so. Of every problem there is told where it is, how often, the first examples,
    and what is done about it. With --trial also whether arms, times and exclusions are those of the plan, whose digest
    is told.

    Exit code 1 if anything makes a number doubtful, 3 if a file cannot be read.

    \b
    Examples:
      $ cranfield online check .
      $ cranfield online check . --trial experiment.toml -f markdown
    """
    from cranfield.online.log_checks import check_logs
    from cranfield.online.logs import logs_named, read_logs
    from cranfield.online.trial_files import read_trial
    from cranfield.online.trial_ledger import changed_since, check_digest, ledger_of, read_looks

    if expect_digest is not None and trial is None:
        raise UsageError("--expect-digest needs --trial, whose digest it is")
    plan = None if trial is None else read_trial(trial)
    changed = []
    if plan is not None:
        check_digest(plan, expect_digest)
        ledger = ledger_of(plan)
        changed = [] if ledger is None else changed_since(read_looks(ledger, plan), plan)
    report = check_logs(read_logs(logs_named(logs)), plan)
    options.show(render_log_report(report, output_format), changed)
    if report.doubtful or changed:
        context.exit(1)
