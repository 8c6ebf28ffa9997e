"""`cranfield gate`"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import click

from cranfield.cli import options
from cranfield.cli.given import given
from cranfield.errors import UsageError

if TYPE_CHECKING:
    from cranfield.comparison.gate.rules import Requirement, Thresholds

DEFAULT_MEASURES = ("nDCG@10",)
EXIT_CODES = {"pass": 0, "fail": 1, "cannot tell": 4}


# What a file sets; the other options may stand beside it.
_OF_CONFIG = (
    *("measures", "require", "margin", "tolerance", "significant", "minimum", "maximum"),
    *("protected", "alpha", "cannot_tell"),
)


def _thresholds(
    config: str | None,
    measures: tuple[str, ...],
    require: Requirement,
    margin: str | None,
    tolerance: float | None,
    significant: bool,
    minimum: float | None,
    maximum: float | None,
    protected: tuple[str, ...],
    alpha: float,
    cannot_tell: Literal["pass", "fail"] | None,
) -> Thresholds:
    """Those of a file, or those of the line."""
    from cranfield.comparison.gate.rules import Rule, Thresholds

    if config is not None:
        _only_config()
        return Thresholds.read(config)
    falls = [_fall(text) for text in protected]
    topics = [topic for topic, _ in falls]
    for topic in topics:
        if topics.count(topic) > 1:
            raise UsageError(f"--topic {topic} was given twice: a topic has one fall")
    rule = Rule(tolerance, significant, minimum, maximum, require, margin)
    chosen = measures or DEFAULT_MEASURES
    return Thresholds.of_measures(chosen, rule, falls, alpha, cannot_tell or "cannot tell")


def _only_config() -> None:
    """Refuses thresholds beside those of a file, which would not count."""
    for name, option in given().items():
        if name in _OF_CONFIG:
            raise UsageError(f"{option} or --config, not both: thresholds are in the file or on the line")


def _fall(text: str) -> tuple[str, float]:
    """A topic and how far it may fall.

    >>> _fall("301=0.1"), _fall("301")
    (('301', 0.1), ('301', 0.0))
    """
    from cranfield.numerals import decimal

    topic, _, fall = text.partition("=")
    most = decimal(fall or "0")
    if most is None:
        raise UsageError(f"--topic {text}: '{fall}' is not a number")
    return topic, most


@click.command("gate")
@click.argument("qrels")
@click.argument("baseline")
@click.argument("candidate")
@options.measures(*DEFAULT_MEASURES)
@click.option(
    "--require",
    type=click.Choice(["no-evidence-of-harm", "non-inferior", "better"]),
    default="no-evidence-of-harm",
    show_default=True,
    help="What is tested, one-sided, on each measure by itself: that it does not get worse significantly; that it "
    "gets worse by less than --margin, beyond doubt; or that it gets better significantly. All measures must "
    "pass.",
)
@click.option(
    "--margin",
    metavar="LOSS",
    help="For non-inferior: the largest loss that does not matter, 0.01 or 2% of the baseline's mean. The one-sided "
    "interval of the difference must exclude it.",
)
@click.option(
    "--tolerance",
    type=click.FloatRange(0),
    help="Fail if a measure's mean gets worse by more than this, as 0.01; percent are for --margin.",
)
@click.option(
    "--significant/--no-significant", default=True, show_default=True, help="Whether to test what --require says."
)
@click.option("--minimum", type=float, help="Fail if a measure's mean over topics is below this.")
@click.option("--maximum", type=float, help="Fail if it is above this: for losses, such as E@10, and counts.")
@click.option(
    "--topic",
    "protected",
    multiple=True,
    metavar="ID[=FALL]",
    help="Fail if this topic gets worse, by more than FALL if given; may be repeated.",
)
@options.alpha
@click.option(
    "--cannot-tell",
    "cannot_tell",
    type=click.Choice(["pass", "fail"]),
    help="What to answer if there are too few topics to tell; by default neither, with exit code 4.",
)
@click.option(
    "--config", metavar="FILE", help="Measures and thresholds from a TOML file, instead of the options above."
)
@click.option(
    "--test",
    "test",
    metavar="NAME",
    default="randomisation",
    show_default=True,
    help="Test that decides: randomisation, t, wilcoxon or sign; of the last three, half the two-sided p is taken. "
    "Where t has no answer, as for a constant difference, exact randomisation decides.",
)
@click.option(
    "--resamples", type=click.IntRange(99), default=100_000, show_default=True, help="Resamples where p is not exact."
)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of these resamples.")
@click.option(
    "--summary",
    type=options.OutputFile(),
    metavar="FILE",
    help="Also append the Markdown summary to this file, as $GITHUB_STEP_SUMMARY.",
)
@click.option(
    "--ledger",
    type=options.OutputFile(),
    metavar="FILE",
    help="Keep a list of all comparisons made, and say how many were made before.",
)
@options.output_format(("table", "markdown", "junit", "json"))
@options.inputs
@options.gathered("thresholds", _thresholds)
def command(
    qrels: str,
    baseline: str,
    candidate: str,
    output_format: str,
    thresholds: Thresholds,
    test: str,
    resamples: int,
    seed: int,
    summary: str | None,
    ledger: str | None,
    inputs: options.Inputs,
) -> None:
    """May CANDIDATE replace BASELINE? For continuous integration.

    Three answers: pass (exit code 0), fail (1), and cannot tell (4), where some topics got worse and there are too
    few for the test ever to find it. Each measure is tested at alpha by itself, so that asking for more measures
    never lets a candidate pass that failed before; how often chance alone would fail one is printed. A loss, such
    as E@10, gets worse when it rises. A measure that has no better side, such as NumRet, counts only against
    --minimum or --maximum. With -f junit a check that fails is a failure, one that cannot tell an error (skipped
    with --cannot-tell pass).

    A TOML file sets thresholds for each measure: alpha = 0.05, require, margin and cannot-tell, then
    [measures."nDCG@10"] with require, margin, tolerance, significant, minimum, maximum, and [topics] with ID = how much
    worse it may get.

    \b
    Examples:
      $ cranfield gate qrels.txt bm25.run dense.run -m nDCG@10 --tolerance 0.01
      $ cranfield gate qrels.txt bm25.run dense.run --require non-inferior --margin 2%
      $ cranfield gate qrels.txt bm25.run dense.run --topic 1=0.2 -f markdown
    """
    from cranfield.comparison.gate.decision import gate, tested
    from cranfield.comparison.gate.gate_tables import render
    from cranfield.comparison.ledger import entered
    from cranfield.formats.output import append
    from cranfield.statistics.significance import Sampling

    verdict = gate(
        inputs.experiment(qrels, [baseline, candidate], digest=output_format == "json" or ledger is not None),
        thresholds,
        test=test,
        sampling=Sampling(seed, resamples, inputs.reading.threads),
    )
    options.show(render(verdict, output_format), [*verdict.warnings, *entered(ledger, tested(verdict))])
    if summary is not None:
        append(summary, render(verdict, "markdown"))
    raise SystemExit(EXIT_CODES[verdict.answer])
