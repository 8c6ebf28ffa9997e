"""`cranfield explain`"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import click

from cranfield.cli import options
from cranfield.cli.given import refuse, refuse_all_but
from cranfield.cli.progress import counted
from cranfield.cli.typed import DECISIONS, RankingsFirst, are_typed, named_rankings
from cranfield.errors import UsageError
from cranfield.explanation.explanation_tables import FORMATS, render

if TYPE_CHECKING:
    from cranfield.evaluation.experiment import Experiment
    from cranfield.evaluation.findings import Finding
    from cranfield.explanation.workings import Workings
    from cranfield.policy import Policy
    from cranfield.quotation.text_sources import TextSource

SHOWN = 20  # documents of both runs, if nothing else is said
DEFAULT_MEASURES = ("nDCG@10", "AP")


@click.command("explain", cls=RankingsFirst)
@click.argument("qrels")
@click.argument("run", required=False, metavar="RUN")
@click.argument("other_run", required=False)
@click.option("--topic", help="The topic to explain; without it, how the scores of all topics become one number.")
@options.measures(*DEFAULT_MEASURES)
@click.option(
    "--correlation",
    is_flag=True,
    help="Explain instead how far RUN and OTHER_RUN agree on the topic: rank correlation of the documents of both.",
)
@click.option(
    "--shown",
    type=click.IntRange(1),
    metavar="K",
    help="Show every document down to this rank. By default down to the measure's cutoff or the last document that "
    "counts, at most 20, and below that only documents that count. Without --topic so many topics, with "
    "--correlation so many documents, by default 20.",
)
@options.texts
@options.output_format(list(FORMATS))
@options.inputs
def command(
    qrels: str,
    run: str | None,
    other_run: str | None,
    topic: str | None,
    measures: tuple[str, ...],
    correlation: bool,
    shown: int | None,
    texts: TextSource | None,
    output_format: str,
    inputs: options.Inputs,
) -> None:
    """How does the score of RUN on a topic arise, or the mean over topics?

    Shows for each rank the document, its grade, whether it counts, precision and recall so far, and what the
    measure makes of it; then the formula with the numbers put in, and what would change if documents that nobody
    judged were relevant. Where a measure is not a sum over documents, each document shows what it is worth: the
    score less what it would be if that document were not relevant. With OTHER_RUN both rankings are shown side by
    side, with the documents that moved, entered and left.

    Without --topic it shows the score of each topic and how these become one number: by the arithmetic mean, or as
    the measure says, geometric (GMAP), harmonic (HMAP) or as the ratio of means (nDCG(agg='ratio')).

    With --correlation it shows the ranks of the documents that both runs have for the topic, shared by those of equal
    score, and how Spearman's and Kendall's coefficients come of them.

    With --collection, or --questions and --documents, it tells what was asked, and of each document title and the
    passage that has most words of the question, which are marked.

    Rankings typed as grades stand alone, as 3,2,0/1: they are written as for `cranfield try`, and shown as by its
    --explain.

    \b
    Examples:
      $ cranfield explain qrels.txt bm25.run --topic 1 -m nDCG@5
      $ cranfield explain qrels.txt bm25.run dense.run --topic 2 -m AP -f html
      $ cranfield explain qrels.txt bm25.run -m GMAP -m "nDCG(agg='ratio')@5"
      $ cranfield explain qrels.txt bm25.run dense.run --topic 2 --correlation
      $ cranfield explain pond.qrels pond-titles.run --topic 2 -m RR --collection pond.toml
      $ cranfield explain 3,2,0/1 -m nDCG
    """
    wanted = measures or DEFAULT_MEASURES
    typed = [text for text in (qrels, run, other_run) if text is not None]
    if run is None or are_typed(typed):
        warnings, text = _typed(typed, wanted, inputs.policy, output_format)
        options.show(text, warnings)
        return
    if correlation and (topic is None or other_run is None):
        raise UsageError("--correlation is of two runs on one topic: give OTHER_RUN and --topic")
    if topic is None or correlation:
        refuse("collection", "questions", "documents", why="is for texts of one topic: give --topic, no --correlation")
    runs = [run] if other_run is None else [run, other_run]
    experiment = inputs.experiment(qrels, runs, rows=topic is not None)
    if topic is None:
        warnings, text = _mean(experiment, wanted, shown, output_format)
    elif correlation:
        warnings, text = _agreement(experiment, topic, shown or SHOWN, output_format)
    else:
        warnings, text = _scores(experiment, topic, wanted, shown, texts, output_format)
    options.show(text, warnings)


def _scores(
    experiment: Experiment,
    topic: str,
    measures: tuple[str, ...],
    shown: int | None,
    texts: TextSource | None,
    output_format: str,
) -> tuple[tuple[Finding, ...], str]:
    from cranfield.explanation.accounts import explain

    explanation = explain(experiment, topic, measures, shown=shown, collection=texts, watch=counted)
    return explanation.warnings, render(explanation, output_format)


def _typed(
    rankings: list[str], measures: tuple[str, ...], policy: Policy, output_format: str
) -> tuple[tuple[Finding, ...], str]:
    from cranfield.explanation.by_hand import explain_typed
    from cranfield.explanation.workings_tables import render

    if not are_typed(rankings):
        raise UsageError(f"give a run beside the judgements in {rankings[0]}, or a ranking typed as grades: 3,2,0/1")
    taken = "is for judgements and runs in files; a typed ranking takes -m, --empty-topics, --depth and --judged-only"
    refuse_all_but("measures", "output_format", *DECISIONS, why=taken)
    workings = explain_typed(named_rankings(rankings), measures, policy)
    return workings.warnings, render(workings, output_format)


def _mean(
    experiment: Experiment, measures: tuple[str, ...], shown: int | None, output_format: str
) -> tuple[tuple[Finding, ...], str]:
    from cranfield.explanation.averages import explain_mean
    from cranfield.explanation.workings_tables import render

    workings = explain_mean(experiment, measures, shown=shown)
    return (*workings.warnings, *_of_one_topic(workings)), render(workings, output_format)


def _of_one_topic(workings: Workings) -> list[Finding]:
    """A hint where a mean is of one topic: what its score is made of says more."""
    from cranfield.evaluation.findings import Finding

    topics = {topic for average in workings.averages for topic in average.topics}
    if len(topics) != 1:
        return []
    (topic,) = topics
    message = f"the mean is of one topic; --topic {shlex.quote(topic)} shows how its score arises, rank by rank"
    return [Finding("one-topic", "explain", message, doubtful=False)]


def _agreement(experiment: Experiment, topic: str, shown: int, output_format: str) -> tuple[tuple[Finding, ...], str]:
    from cranfield.explanation.rank_correlation import explain_agreement
    from cranfield.explanation.rank_correlation_tables import render

    no_part = "does not apply to --correlation, which is of the documents as runs score them"
    refuse("measures", "known", "lengths", *options.DECISIONS, why=no_part)
    agreement = explain_agreement(experiment, topic, shown=shown)
    return agreement.warnings, render(agreement, output_format)
