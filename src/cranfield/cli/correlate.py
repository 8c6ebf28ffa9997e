"""`cranfield correlate`"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from cranfield.agreement.rankings.correlation_tables import FORMATS, render
from cranfield.cli import options
from cranfield.cli.given import given
from cranfield.errors import UsageError
from cranfield.formats.reading import Reading
from cranfield.policy import Policy

if TYPE_CHECKING:
    from cranfield.statistics.overlap import Ties

DEFAULT_MEASURES = ("nDCG@10", "AP")
QUESTIONS = {
    "runs": "the documents of two runs; give --qrels to compare systems",
    "systems": "the order of systems",
    "halves": "random halves of the topics",
    "reproduction": "a reproduction",
}
# Options that are about some of these only: elsewhere they are refused, not ignored.
APPLIES = {
    "measures": ("systems", "halves", "reproduction"),
    "topic_sets": ("systems",),
    "halves": ("halves",),
    "reproduced": ("reproduction",),
    "coefficients": ("runs", "systems", "halves"),
    "persistence": ("runs", "reproduction"),
    "ties": ("runs", "reproduction"),
    "overlap_depth": ("runs", "reproduction"),
    "resamples": ("systems", "reproduction"),
    "seed": ("systems", "halves", "reproduction"),
    "per_topic": ("runs",),
}


def _list_coefficients(
    context: click.Context, _: click.Parameter, value: bool | tuple[str, ...]
) -> bool | tuple[str, ...]:
    """Prints every coefficient with what it says, and ends, if that is asked for: by --list or -c list."""
    if value is True or (isinstance(value, tuple) and "list" in value):
        from cranfield.statistics.coefficients import all_coefficients

        for each in all_coefficients():
            lines = [f"{each.name}: {each.title}. {each.says}", f"    Ties: {each.ties}. Sides: {each.orientation()}."]
            click.echo("\n".join([*lines, *options.parameter_lines(each)]))
        context.exit()
    return value


@click.command("correlate")
@click.argument("runs", nargs=-1, required=True)
@click.option(
    "--qrels", multiple=True, help="Judgements to order systems by; give two to compare the orders they make."
)
@click.option(
    "-m",
    "--measure",
    "measures",
    multiple=True,
    help="A measure to order systems by; give two or more, with commas between, to compare the orders they make. "
    f"{' and '.join(DEFAULT_MEASURES)} by default.",
)
@click.option(
    "--topic-set",
    "topic_sets",
    multiple=True,
    metavar="FILE[:PART]",
    help="Compare the order of systems on these topics and on all others, or on two such sets: a list with one id a "
    "line, judgements or topics that have them, or splits.json:test. Unlike in other commands, the others count too.",
)
@click.option(
    "--halves", type=click.IntRange(1), metavar="N", help="Compare the orders on N random halves of the topics."
)
@click.option(
    "--reproduced",
    multiple=True,
    metavar="RUN",
    help="A run that is meant to reproduce RUNS; of two, a baseline and an improved one, give two in the same order.",
)
@click.option(
    "-c",
    "--coefficient",
    "coefficients",
    multiple=True,
    is_eager=True,
    callback=_list_coefficients,
    help="A coefficient of agreement, as kendall or tau_ap; may be repeated. `-c list` explains them all.",
)
@click.option(
    "--list",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_list_coefficients,
    help="List the coefficients with what each says, as -c list does, and exit.",
)
@click.option(
    "-p",
    "--persistence",
    default=0.9,
    show_default=True,
    help="Persistence of rank-biased overlap: near 1, it looks deep into the lists.",
)
@click.option(
    "--ties",
    type=click.Choice(("w", "a", "b")),
    default="b",
    show_default=True,
    help="Ties in rank-biased overlap: w, tied documents are equal; a, the mean over their orders; b, the same, scaled "
    "so that a list agrees with itself completely.",
)
@click.option("--depth", type=click.IntRange(1), help="Cut every ranking here.")
@click.option(
    "--overlap-depth",
    type=click.IntRange(1),
    default=10,
    show_default=True,
    help="Where overlap, Jaccard and Kendall's tau union are taken.",
)
@click.option(
    "--resamples",
    type=click.IntRange(2),
    default=1000,
    show_default=True,
    help="Resamples of the topics for intervals.",
)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of resamples and halves.")
@options.output_format(FORMATS)
@click.option("-q", "--per-topic", is_flag=True, help="For two runs, show every topic as well as the mean.")
@options.reading("threads")
def command(
    runs: tuple[str, ...],
    qrels: tuple[str, ...],
    measures: tuple[str, ...],
    topic_sets: tuple[str, ...],
    halves: int | None,
    reproduced: tuple[str, ...],
    coefficients: tuple[str, ...],
    persistence: float,
    ties: Ties,
    depth: int | None,
    overlap_depth: int,
    resamples: int,
    seed: int,
    output_format: str,
    per_topic: bool,
    reading: Reading,
) -> None:
    """How far do rankings agree?

    Without --qrels it compares how two RUNS rank documents, topic by topic. With --qrels it compares how
    RUNS are ordered as systems: by two measures, two qrels, two sets of topics or random halves of the topics; or, with
    --reproduced, how close reproductions come to RUNS.

    Coefficients go from -1 (reversed) to 1 (the same). Where a coefficient takes one side for the truth, it is the
    first run, measure, qrels or set. Systems are ordered from best to worst, whether a measure says more is better
    or less.

    \b
    Examples:
      $ cranfield correlate bm25.run dense.run
      $ cranfield correlate bm25.run dense.run -c kendall -c tau_ap -p 0.8 --ties a -q
      $ cranfield correlate --qrels qrels.txt -m nDCG@10 -m AP bm25.run dense.run
      $ cranfield correlate --qrels qrels.txt -m AP --halves 100 bm25.run dense.run
      $ cranfield correlate --qrels qrels.txt -m AP bm25.run --reproduced dense.run
    """
    from cranfield.agreement import Overlap, correlate, correlate_halves, correlate_systems, reproduction
    from cranfield.agreement.rankings.correlation import COEFFICIENTS
    from cranfield.evaluation.experiment import Experiment
    from cranfield.planning.topic_sets import read_topic_set
    from cranfield.statistics.significance import Sampling

    question = _question(runs, qrels)
    wanted, chosen = measures or DEFAULT_MEASURES, coefficients or COEFFICIENTS
    overlap, sampling = Overlap(p=persistence, ties=ties, depth=overlap_depth), Sampling(seed, halves or resamples)
    first, second = (*qrels, None, None)[:2]
    experiment = Experiment(first or {}, list(runs), Policy(depth=depth), reading, rows=False)
    if question == "runs":
        answer = correlate(runs[0], runs[1], chosen, overlap=overlap, depth=depth, reading=reading)
    elif question == "reproduction":
        answer = reproduction(experiment, [*reproduced], wanted, other_qrels=second, overlap=overlap, sampling=sampling)
    elif question == "halves":
        answer = correlate_halves(experiment, wanted, chosen, sampling=sampling)
    else:
        sets = [read_topic_set(path, reading).topics for path in topic_sets]
        answer = correlate_systems(experiment, wanted, chosen, other_qrels=second, topic_sets=sets, sampling=sampling)
    text = render(answer, output_format, per_topic=per_topic)
    options.show(text, answer.warnings)


def _question(runs: tuple[str, ...], qrels: tuple[str, ...]) -> str:
    """What is asked; options that are not about it, and too many files, are refused."""
    asked = given()
    question = (
        "runs"
        if not qrels
        else "reproduction"
        if "reproduced" in asked
        else "halves"
        if "halves" in asked
        else "systems"
    )
    for name, option in asked.items():
        if question not in APPLIES.get(name, (question,)):
            raise UsageError(f"{option} does not apply to {QUESTIONS[question]}")
    most = 1 if question == "halves" else 2
    if len(qrels) > most:
        raise UsageError(f"{QUESTIONS[question]}: give --qrels at most {'once' if most == 1 else 'twice'}")
    if question == "runs" and len(runs) != 2:
        raise UsageError(f"the documents of two runs are compared, not of {len(runs)}; for systems, give --qrels")
    return question
