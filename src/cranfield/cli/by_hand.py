"""`cranfield try`"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from cranfield.cli import options
from cranfield.cli.given import refuse
from cranfield.cli.typed import DECISIONS, RankingsFirst, named_lists, named_rankings
from cranfield.errors import UsageError, either
from cranfield.evaluation.result_tables import FORMATS, render
from cranfield.explanation.workings_tables import FORMATS as EXPLAINED
from cranfield.policy import Policy

if TYPE_CHECKING:
    from cranfield.explanation.workings import Workings

DEFAULT_MEASURES = ("AP", "RR", "Rprec", "nDCG")


@click.command("try", cls=RankingsFirst)
@click.argument("rankings", nargs=-1, required=True)
@options.measures(*DEFAULT_MEASURES)
@click.option("--explain", is_flag=True, help="Show how each value arises: the ranking, the formula, the mean.")
@click.option(
    "--correlation",
    is_flag=True,
    help="RANKINGS are two lists of ranks, or of documents with the best first, or a file: their rank correlation, "
    "with the working.",
)
@click.option("--means", is_flag=True, help="RANKINGS are lists of values: their MAP, GMAP and HMAP, with the working.")
@options.output_format(list(FORMATS))
@options.decisions(*DECISIONS)
def command(
    rankings: tuple[str, ...],
    measures: tuple[str, ...],
    explain: bool,
    correlation: bool,
    means: bool,
    output_format: str,
    policy: Policy,
) -> None:
    """Score RANKINGS that are typed as grades, best rank first.

    3,2,3,0,1,2/2 is a ranking of six documents; after / stand the grades of judged documents that it missed, and - is
    a document that nobody judged. Where every grade is a single digit, commas may be left out: 323012/2. Grades may
    have decimals; a negative one is of a document that was pooled and not judged.

    With ; between them the rankings are of several topics of one system, and the mean is shown; several RANKINGS are
    several systems, side by side, each against its own grades. NAME=3,2,0 gives a system a name. Documents are called
    d1, d2, …

    With --correlation RANKINGS are two lists, of the ranks of d1, d2, … or of documents with the best first; or a file
    with a document and its two ranks on each line. With --means RANKINGS are values of topics, as of average precision.

    \b
    Examples:
      $ cranfield try 3,2,3,0,1,2/2 -m nDCG@5 -m AP
      $ cranfield try 10-1/1 --explain -m AP
      $ cranfield try 'A=101;01' 'B=110;10' -m RR,AP
      $ cranfield try --correlation 1,2,3,4,5 2,1,4,3,5
      $ cranfield try --means 0.05,0.10,0.50,0.50,0.75 0.10,0.30,0.45,0.45,0.60
    """
    if correlation or means:
        _check_alone(correlation=correlation, means=means)
    if correlation:
        _print_correlation(rankings, output_format)
    elif means:
        _print_workings(_means(named_lists(rankings)), output_format, "--means")
    elif explain:
        from cranfield.explanation.by_hand import explain_typed

        workings = explain_typed(named_rankings(rankings), measures or DEFAULT_MEASURES, policy)
        _print_workings(workings, output_format, "--explain")
    else:
        from cranfield.explanation.by_hand import evaluate_typed

        results = evaluate_typed(named_rankings(rankings), measures or DEFAULT_MEASURES, policy)
        text = render(results, output_format, per_topic=len(results.topics) > 1)
        options.show(text, results.warnings)


def _check_alone(*, correlation: bool, means: bool) -> None:
    """That nothing is asked of lists of values or ranks which only rankings of grades have."""
    option = "--correlation" if correlation else "--means"
    if correlation and means:
        raise UsageError("--correlation and --means are two questions: ask one")
    refuse("explain", why=f"is what {option} does by itself: leave it out")
    refuse("measures", *DECISIONS, why=f"does not apply to {option}, which takes lists as they are")


def _means(systems: dict[str, str]) -> Workings:
    from cranfield.explanation.averages import means_of
    from cranfield.formats.typed import typed_numbers

    return means_of({name: typed_numbers(text) for name, text in systems.items()})


def _print_workings(workings: Workings, output_format: str, option: str) -> None:
    from cranfield.explanation.workings_tables import render

    _check_format(output_format, option)
    options.show(render(workings, output_format), workings.warnings)


def _print_correlation(rankings: tuple[str, ...], output_format: str) -> None:
    from cranfield.explanation.by_hand import correlate_typed
    from cranfield.explanation.rank_correlation import explain_correlation
    from cranfield.explanation.rank_correlation_tables import render
    from cranfield.formats.ranks import read_ranks

    _check_format(output_format, "--correlation")
    if len(rankings) == 1:
        if "," in rankings[0] and not os.path.exists(rankings[0]):
            raise UsageError("two lists are two arguments, with a blank between them: 1,2,3 2,1,3")
        ranks = read_ranks(rankings[0])
        answer = explain_correlation(ranks.first, ranks.second, names=ranks.names)
    else:
        answer = correlate_typed(named_lists(rankings, "R"))
    options.show(render(answer, output_format))


def _check_format(output_format: str, option: str) -> None:
    if output_format not in EXPLAINED:
        raise UsageError(f"{option} prints {either(EXPLAINED)}, not {output_format}")
