"""`cranfield gate`"""

from __future__ import annotations

from typing import Any

import click
from click.core import ParameterSource

from cranfield.cli import options
from cranfield.errors import UsageError
from cranfield.formats.columns import Layout

FAILED = 1


@click.command("gate")
@click.argument("qrels")
@click.argument("baseline")
@click.argument("candidate")
@options.measures
@click.option("--tolerance", type=click.FloatRange(0), help="Fail if a measure falls by more than this.")
@click.option(
    "--significant/--no-significant", default=True, show_default=True, help="Fail if a measure falls significantly."
)
@click.option("--minimum", type=float, help="Fail if a measure is below this.")
@click.option(
    "--topic",
    "protected",
    multiple=True,
    metavar="ID[=FALL]",
    help="Fail if this topic falls, by more than FALL if given; may be repeated.",
)
@options.alpha
@click.option("--config", metavar="FILE", help="Measures and thresholds from a TOML file, not the options above.")
@click.option("--test", "test", metavar="NAME", default="t", show_default=True, help="Test of significance.")
@click.option("--summary", metavar="FILE", help="Also append the Markdown summary to this file.")
@options.output_format(("table", "markdown", "json"))
@options.policy
@options.input_format
@options.threads
def command(
    qrels: str,
    baseline: str,
    candidate: str,
    output_format: str,
    config: str | None,
    test: str,
    summary: str | None,
    input_format: Layout | str | None,
    threads: int | None,
    **given: Any,
) -> None:
    """May CANDIDATE replace BASELINE? Exit code 1 if not: for continuous integration.

    A TOML file sets thresholds for each measure: alpha = 0.05, then [measures."nDCG@10"] with tolerance, significant,
    minimum, and [topics] with ID = the most it may fall.

    \b
    Examples:
      $ cranfield gate qrels.txt bm25.run dense.run -m nDCG@10 --tolerance 0.01
      $ cranfield gate qrels.txt bm25.run dense.run --topic 1=0.2 -f markdown
    """
    policy = options.taken_policy(given)
    if config is not None:
        _only_config(click.get_current_context())
    from cranfield.formats.output import append
    from cranfield.gating import gate
    from cranfield.report.gate_tables import render

    verdict = gate(
        qrels,
        baseline,
        candidate,
        _thresholds(config, **given),
        policy=policy,
        read={"format": input_format, "threads": threads},
        tests=[test],
    )
    options.warn(verdict.warnings)
    click.echo(render(verdict, output_format), nl=False)
    if summary is not None:
        append(summary, render(verdict, "markdown"))
    if not verdict.passed:
        raise SystemExit(FAILED)


def _only_config(context: click.Context) -> None:
    """Refuses thresholds beside those of a file, which would not count."""
    for parameter in context.command.params:
        given = context.get_parameter_source(str(parameter.name)) is ParameterSource.COMMANDLINE
        if given and parameter.name in ("measures", "tolerance", "significant", "minimum", "protected", "alpha"):
            raise UsageError(f"{parameter.opts[0]} or --config, not both: thresholds are in the file or on the line")


def _thresholds(
    config: str | None,
    measures: tuple[str, ...],
    tolerance: float | None,
    significant: bool,
    minimum: float | None,
    protected: tuple[str, ...],
    alpha: float,
) -> Any:
    from cranfield.gating import DEFAULT_MEASURE, Rule, Thresholds
    from cranfield.measures import as_measures

    if config is not None:
        return Thresholds.of_document(options.read_toml(config), config)
    rule = Rule(tolerance, significant, minimum)
    falls = dict(_fall(topic) for topic in protected)
    return Thresholds({str(measure): rule for measure in as_measures(measures or DEFAULT_MEASURE)}, falls, alpha)


def _fall(text: str) -> tuple[str, float]:
    """A topic and how far it may fall.

    >>> _fall("301=0.1"), _fall("301")
    (('301', 0.1), ('301', 0.0))
    """
    topic, _, fall = text.partition("=")
    try:
        return topic, float(fall or 0)
    except ValueError:
        raise UsageError(f"--topic {text}: '{fall}' is not a number") from None
