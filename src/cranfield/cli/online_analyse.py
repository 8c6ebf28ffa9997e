"""`cranfield online analyse`"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from cranfield.cli import options
from cranfield.errors import UsageError
from cranfield.online.log_report import FORMATS

if TYPE_CHECKING:
    from cranfield.online.logs import Logs
    from cranfield.online.moments_files import Aggregate
    from cranfield.online.trial import Trial


@click.command("online analyse")
@click.argument("logs", nargs=-1, type=click.Path())
@click.option(
    "--trial", metavar="FILE", type=click.Path(), help="The plan. [default: experiment.toml in the folder of the log]"
)
@click.option(
    "--from-moments",
    metavar="FILE",
    type=click.Path(),
    help="Instead of logs: moments that a warehouse or --moments wrote.",
)
@click.option(
    "--moments",
    metavar="FILE",
    type=options.OutputFile(),
    help="Write the moments of the log there, for --from-moments.",
)
@click.option(
    "--ledger",
    metavar="FILE",
    type=options.OutputFile(),
    help="Where looks are written down, of one trial or many. [default: the plan's name and .ledger]",
)
@click.option("--expect-digest", metavar="DIGEST", help="Refuse a plan with another digest than this.")
@click.option(
    "--despite-mismatch", is_flag=True, help="Show effects although the sample ratio is off; the result says so."
)
@click.option(
    "--replay",
    type=click.IntRange(10),
    metavar="N",
    help="Instead: deal the units to the arms anew N times, and tell how often something is found where nothing is.",
)
@click.option(
    "--seed", type=click.IntRange(0), default=0, show_default=True, help="Of --replay: the same seed, the same."
)
@click.option("-o", "--output", metavar="FILE", type=options.OutputFile(), help="Write a report there, as report.html.")
@options.output_format(FORMATS)
@click.pass_context
def command(
    context: click.Context,
    logs: tuple[str, ...],
    trial: str | None,
    from_moments: str | None,
    moments: str | None,
    ledger: str | None,
    expect_digest: str | None,
    despite_mismatch: bool,
    replay: int | None,
    seed: int,
    output: str | None,
    output_format: str,
) -> None:
    """Tell whether the new system is better for its users: ship, do not ship, cannot tell yet, or data broken.

    LOGS is a folder with the tables of a log, or these files (see `online check`). The plan says what decides: the
    primary metric must be better and every guardrail hold, by the rule of the look that this is. Looks are written down
    beside the plan; one that was not planned gets intervals that are always valid. If the sample ratio is off, effects
    are withheld. Exit code 1 if the data are broken.

    \b
    Examples:
      $ cranfield online analyse .
      $ cranfield online analyse . --trial experiment.toml -o report.html
      $ cranfield online analyse . --trial experiment.toml --replay 200
    """
    from cranfield.online.trial_files import plan_beside, read_trial
    from cranfield.online.trial_ledger import check_digest

    if bool(logs) == bool(from_moments):
        raise UsageError("give the tables of a log, or --from-moments FILE")
    plan = read_trial(trial or plan_beside(logs or (str(from_moments),)))
    check_digest(plan, expect_digest)
    if replay is not None:
        if from_moments is not None:
            raise UsageError("--replay needs the log: moments do not have single units")
        _replay(_logs(logs), plan, replay, seed, output_format)
        return
    if output is not None:
        from cranfield.online.analysis.trial_page import check_report_name

        check_report_name(output)
    _analyse(context, plan, _given(logs, from_moments, moments, plan), ledger, despite_mismatch, output, output_format)


def _logs(logs: tuple[str, ...]) -> Logs:
    from cranfield.online.logs import logs_named, read_logs

    return read_logs(logs_named(logs))


def _given(logs: tuple[str, ...], from_moments: str | None, moments: str | None, plan: Trial) -> Aggregate:
    """The moments: of a file, or of the log."""
    from cranfield.online.aggregation import aggregate
    from cranfield.online.moments_files import read_moments

    found = aggregate(_logs(logs), plan) if from_moments is None else read_moments(from_moments)
    if moments is not None:
        found.save(moments)
    return found


def _analyse(
    context: click.Context,
    plan: Trial,
    found: Aggregate,
    ledger: str | None,
    despite_mismatch: bool,
    output: str | None,
    output_format: str,
) -> None:
    from cranfield.online.analysis.analysing import analyse
    from cranfield.online.analysis.analysis_tables import render_analysis
    from cranfield.online.trial_ledger import ledger_of, note_look, read_looks

    place = ledger or ledger_of(plan)
    looks = read_looks(place, plan) if place is not None else []
    result = analyse(found, plan, looks=looks, despite_mismatch=despite_mismatch)
    if place is not None and not result.withheld:
        note_look(place, plan, result.units, queries=result.queries, last=result.rule.last)
    if output is not None:
        from cranfield.online.analysis.trial_page import write_report

        write_report(result, output)
    options.show(render_analysis(result, output_format), result.warnings)
    if result.decision == "data broken":
        context.exit(1)


def _replay(logs: Logs, plan: Trial, times: int, seed: int, output_format: str) -> None:
    from cranfield.online.analysis.replaying import render_replay, replay

    found = replay(logs, plan, times=times, seed=seed)
    options.show(render_replay(found, output_format))
