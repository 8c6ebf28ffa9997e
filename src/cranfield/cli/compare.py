"""`cranfield compare`"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import click

from cranfield.cli import options
from cranfield.cli.given import refuse_all_but
from cranfield.cli.progress import watched
from cranfield.comparison.comparison_tables import FORMATS, render
from cranfield.errors import UsageError

if TYPE_CHECKING:
    from cranfield.comparison.question import Details
    from cranfield.formats.reading import Reading
    from cranfield.registry import Entry, Function

DEFAULT_MEASURES = ("nDCG@10", "AP")


class Asked(NamedTuple):
    """What few comparisons ask for, as it stands on the line."""

    power: float
    equivalence: float | None
    splits: str | None
    tuned_on: str | None
    risk: float | None
    figures: tuple[str, ...]

    def details(self, reading: Reading) -> Details:
        """The same with what is in the files."""
        from cranfield.comparison.question import Details
        from cranfield.planning.splits import read_splits
        from cranfield.planning.tuned import read_tuned_on

        return Details(
            power=self.power,
            margin=self.equivalence,
            splits=None if self.splits is None else read_splits(self.splits),
            tuned_on=() if self.tuned_on is None else read_tuned_on(self.tuned_on, reading),
            risk=self.risk,
            figures=self.figures,
        )


@click.command("compare")
@click.argument("qrels", required=False)
@click.argument("runs", nargs=-1)
@options.measures(*DEFAULT_MEASURES)
@click.option("--baseline", metavar="RUN", help="Compare every run with this one (its name or path), not all pairs.")
@click.option(
    "--test",
    "tests",
    multiple=True,
    callback=options.with_commas,
    metavar="NAME",
    help="Test of significance, or several with commas; the first decides, others are shown beside it. Without one, t "
    "decides, or the exact randomisation test where two runs differ on fewer than 25 topics. `--test list` "
    "explains them all.",
)
@options.correction
@options.alpha
@click.option(
    "--power",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.8,
    show_default=True,
    help="Chance of finding the detectable difference, if it is there.",
)
@click.option(
    "--equivalence",
    type=click.FloatRange(0, min_open=True),
    metavar="MARGIN",
    help="Also ask whether systems are equal up to this difference (two one-sided t tests).",
)
@click.option(
    "--seeds",
    multiple=True,
    metavar="PATTERN",
    help="Runs of one system under several seeds, as 'dense-*.run'; may be repeated, once for each system.",
)
@click.option("--splits", metavar="FILE", help="Topic splits made by `cranfield split`: show every fold as well.")
@click.option(
    "--tuned-on",
    metavar="FILE",
    help="What systems were tuned on, to warn of topics in both: judgements, topics, a list of ids, splits.json (its "
    "part train), splits.json:fold1.train or a file of --save-best (.toml).",
)
@click.option(
    "--collections",
    metavar="FILE",
    help="TOML file with several collections, [NAME] qrels = '…' and [NAME.runs] system = '…', instead of QRELS RUNS.",
)
@click.option(
    "--resamples",
    type=click.IntRange(99),
    default=100_000,
    show_default=True,
    help="Resamples of tests that use random numbers.",
)
@click.option(
    "--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of tests that use random numbers."
)
@click.option(
    "--risk",
    type=click.FloatRange(0),
    metavar="ALPHA",
    help="Add URisk, TRisk and GeoRisk against the baseline; a loss weighs 1 + ALPHA times as much as a gain.",
)
@click.option(
    "--simultaneous", is_flag=True, help="Show intervals that hold for all comparisons together, not each by itself."
)
@click.option(
    "--ledger",
    type=options.OutputFile(),
    metavar="FILE",
    help="Keep a list of all comparisons made, and say how many were made before.",
)
@options.output_format(list(FORMATS))
@click.option(
    "--show",
    "shown",
    multiple=True,
    callback=options.with_commas,
    metavar="COLUMN",
    help="Column of the tables to show, or several with commas, such as nDCG@10,difference,interval; tables without "
    "any are left out. Without it, all; in LaTeX, which is for papers, means.",
)
@options.figures
@options.inputs
@options.gathered("asked", Asked)
def command(
    qrels: str | None,
    runs: tuple[str, ...],
    measures: tuple[str, ...],
    output_format: str,
    baseline: str | None,
    seeds: tuple[str, ...],
    collections: str | None,
    tests: tuple[str, ...],
    correction: str,
    alpha: float,
    resamples: int,
    seed: int,
    ledger: str | None,
    simultaneous: bool,
    shown: tuple[str, ...],
    asked: Asked,
    inputs: options.Inputs,
) -> None:
    """Compare RUNS with each other on the judgements in QRELS: is one really better than another?

    For each measure: who is best; means, with letters for the runs that each one beats significantly; for each pair
    the difference, with a star where it is significant, its interval, effect size (d_z), topics won, tied and lost,
    p-values, p corrected for all comparisons, and the smallest difference that could be found. An interval leaves out
    0 exactly where corrected p is below alpha; --simultaneous shows wider ones that hold for all together.

    Systems that each answered topics of their own are compared with --topics run and an unpaired test: --test welch,
    student or mann-whitney.

    \b
    Examples:
      $ cranfield compare qrels.txt bm25.run dense.run
      $ cranfield compare qrels.txt bm25.run dense.run -m nDCG@10 --baseline bm25 --test randomisation -f latex
      $ cranfield compare --test list
    """
    if _listed(tests, correction, (*filter(None, [qrels]), *runs)):
        return
    with watched("reading") as progress:
        from cranfield.comparison.ledger import entered
        from cranfield.comparison.sources import judged_systems, named_run
        from cranfield.comparison.systems import compare_collections
        from cranfield.statistics.significance import Sampling

        to_know_again = output_format == "json" or ledger is not None or collections is not None
        sources = judged_systems(qrels, runs, seeds, collections)
        comparison = compare_collections(
            {
                name: replace(inputs.experiment(judged, [], digest=to_know_again, progress=progress), runs=systems)
                for name, (judged, systems) in sources.items()
            },
            measures or DEFAULT_MEASURES,
            baseline=named_run(baseline, runs),
            tests=tests or None,
            correction=correction,
            alpha=alpha,
            sampling=Sampling(seed, resamples, inputs.reading.threads),
            details=asked.details(inputs.reading),
        )
    warnings = [*comparison.warnings, *entered(ledger, comparison)]
    options.show(render(comparison, output_format, simultaneous=simultaneous, columns=shown), warnings)


def _listed(tests: tuple[str, ...], correction: str, files: Sequence[str]) -> bool:
    """Whether a list was asked for, which is printed then; anything else that was asked for would be forgotten."""
    if "list" not in (*tests, correction):
        return False
    name, option, text = "correction", "--correction list", listed_corrections
    if "list" in tests:
        name, option, text = "tests", "--test list", listed_tests
    if files:
        raise UsageError(f"compare {option} shows all there are: leave out {' '.join(files)}")
    refuse_all_but(name, why=f"is of no use to compare {option}, which shows all there are")
    click.echo(text(), nl=False)
    return True


def listed_tests() -> str:
    """Every test of significance with its null hypothesis."""
    from cranfield.statistics.significance import all_tests

    lines = []
    for test in all_tests():
        kind = {
            "family": " (all pairs at once, corrected)",
            "independent": " (each system on topics of its own: --topics run)",
        }.get(test.kind, "")
        lines.append(
            f"{test.name}: {test.title}{kind}\n    {test.help.splitlines()[0]}\n    Null hypothesis: {test.null}.\n"
            + _parameters(test)
        )
    return "\n".join(lines)


def listed_corrections() -> str:
    """Every correction with what it keeps below alpha."""
    from cranfield.statistics.corrections import all_corrections

    return "".join(
        f"{each.name}\n    Keeps down to alpha: {each.controls}.\n{_parameters(each)}" for each in all_corrections()
    )


def _parameters(entry: Entry[Function]) -> str:
    return "".join(f"{line}\n" for line in options.parameter_lines(entry))
