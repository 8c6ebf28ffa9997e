"""`cranfield online sessions`"""

from __future__ import annotations

import click

from cranfield.cli import options
from cranfield.cli.gate import EXIT_CODES
from cranfield.errors import UsageError, either
from cranfield.online.sessions.session_tables import FORMATS

UNITS = ("auto", "session", "user")
CURVES = ("pages", "seconds")
GATED = ("table", "markdown", "json")


@click.command("online sessions")
@click.argument("qrels", required=False)
@click.argument("logs", nargs=-1, metavar="LOG...")
@options.log_format
@click.option(
    "-m",
    "--measure",
    "chosen",
    multiple=True,
    callback=options.with_commas,
    metavar="NAME",
    help="Measure of sessions, or several with commas; `-m list` explains them all. [default: nsDCG_Jarvelin, sRBP, "
    "GainRead and all of effort]",
)
@click.option(
    "--by",
    type=click.Choice(UNITS),
    default=UNITS[0],
    show_default=True,
    help="What has one score: a session, or a user with the mean of all sessions; auto takes users where the log names "
    "them and no session was served by two systems.",
)
@click.option("--baseline", metavar="SYSTEM", help="Compare every system with this one, not all pairs.")
@click.option(
    "--test",
    "tests",
    multiple=True,
    callback=options.with_commas,
    metavar="NAME",
    help="Test of significance, as of `cranfield compare`; without one, welch if systems have sessions of their own.",
)
@options.correction
@options.alpha
@click.option(
    "--gate",
    "gated",
    is_flag=True,
    help="May the other system replace --baseline (or the first)? As `cranfield gate` answers, session by session; "
    "exit code 0, 1 if it may not, or 4 if nothing can be told.",
)
@click.option(
    "--margin", metavar="LOSS", help="For --gate: the largest loss that does not matter, 0.01 or 2% of the baseline."
)
@click.option("--curve", type=click.Choice(CURVES), help="Show how gain grows over the pages or seconds of a session.")
@options.output_format(FORMATS)
def command(
    qrels: str | None,
    logs: tuple[str, ...],
    log_format: str | None,
    chosen: tuple[str, ...],
    by: str,
    baseline: str | None,
    tests: tuple[str, ...],
    correction: str,
    alpha: float,
    gated: bool,
    margin: str | None,
    curve: str | None,
    output_format: str,
) -> None:
    """Score whole sessions: what users gained, what it cost them, and which system serves them better.

    LOG files are JSON lines of impressions with session_id (and topic, variant, user_id, ts), and of events on them; or
    the tables of a log, a folder or files called impressions and events (Parquet, CSV). docs/sessions.md has all
    fields. QRELS judge the documents for the topic of a page, or for its query. Of two systems
    or more the differences are tested as `cranfield compare` tests them.

    \b
    Examples:
      $ cranfield online sessions qrels.txt sessions.jsonl
      $ cranfield online sessions qrels.txt sessions.jsonl -m sDCG_Kanoulas,Seconds --curve seconds
      $ cranfield online sessions -m list
    """
    if margin is not None and not gated:
        raise UsageError("--margin is for --gate")
    if gated and output_format not in GATED:
        raise UsageError(f"--gate is told as {either(GATED)}, not {output_format}")
    if chosen == ("list",):
        options.show("\n\n".join(described_measures()) + "\n")
        return
    if qrels is None or not logs:
        raise UsageError("which sessions? Give QRELS and one or more LOG files; `-m list` explains the measures")
    from cranfield.comparison.question import Question
    from cranfield.online.sessions.gain_curves import gain_curve
    from cranfield.online.sessions.session_gate import gate_sessions
    from cranfield.online.sessions.session_logs import read_sessions
    from cranfield.online.sessions.session_scores import MEASURES, compare_sessions, score_sessions, unit_of
    from cranfield.online.sessions.session_tables import render_sessions, words_of

    sessions = read_sessions(*logs, qrels=qrels, format=log_format)
    results = score_sessions(sessions, chosen or MEASURES, by=by)
    question = Question(baseline=baseline, tests=tests or None, correction=correction, alpha=alpha)
    compared = compare_sessions(results, question) if len(results.runs) > 1 else None
    grown = None if curve is None else gain_curve(sessions, curve, by=by)
    unit = unit_of(sessions, by)
    told = words_of(compared, unit).findings(compared.warnings, results.warnings) if compared else results.warnings
    odd = (*told, *(grown.warnings if grown else ()))
    verdict = gate_sessions(results, baseline, margin=margin, alpha=alpha) if gated else None
    options.show(render_sessions(results, unit, output_format, compared, grown, verdict), odd)
    if verdict is not None:
        raise SystemExit(EXIT_CODES[verdict.answer])


def described_measures() -> list[str]:
    """Each measure with its formula and its parameters."""
    from cranfield.online.sessions.session_measures import SESSION_MEASURES

    return [
        "\n".join([definition.name, definition.help, *options.parameter_lines(definition)])
        for definition in SESSION_MEASURES.all()
    ]
