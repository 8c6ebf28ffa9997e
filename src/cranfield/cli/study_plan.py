"""`cranfield study plan`"""

from __future__ import annotations

import click

from cranfield.cli import options
from cranfield.errors import UsageError
from cranfield.studies.study_tables import FORMATS, render_study_plan

DESIGNS = ("williams", "graeco-latin")


@click.command("study plan")
@click.option("--systems", required=True, metavar="NAMES", help="The systems, with commas between.")
@click.option("--participants", type=click.IntRange(1), required=True, help="Number of participants.")
@click.option("--topics", metavar="FILE", help="Topics, as `cranfield search` takes them, or an id a line.")
@click.option(
    "--design",
    type=click.Choice(DESIGNS),
    default=DESIGNS[0],
    show_default=True,
    help="williams: each system is in each place and after each other one equally often, in as many participants as "
    "there are systems, or twice as many; graeco-latin: systems and topics go round in as many as there are systems.",
)
@click.option("--systems-each", type=click.IntRange(1), help="Systems that a participant uses. [default: all]")
@click.option(
    "--topics-each", type=click.IntRange(1), help="Topics with each system. [default: as many as there are topics for]"
)
@click.option(
    "--sd",
    type=click.FloatRange(0, min_open=True),
    help="Standard deviation, over participants, of the differences between two systems (of the scores, if everybody "
    "uses one): says what could be found in points of the scale.",
)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="The same seed, the same plan.")
@options.output_format(FORMATS)
def command(
    systems: str,
    participants: int,
    topics: str | None,
    design: str,
    systems_each: int | None,
    topics_each: int | None,
    sd: float | None,
    seed: int,
    output_format: str,
) -> None:
    """Plan a user study: who uses which system, in which order, on which topics.

    Nobody has a topic twice. What comes out even, and what does not, is told in figures: how often each system is used,
    is in each place, follows each other one and meets each topic. So is the least difference that such a study could
    find. CSV has a line for every task, to be filled in.

    \b
    Examples:
      $ cranfield study plan --systems bm25,dense --participants 4 --topics pond-topics.tsv --seed 1
      $ cranfield study plan --systems A,B,C --participants 6 -f csv
      $ cranfield study plan --systems bm25,dense --participants 12 --sd 12.5
    """
    from cranfield.studies.assignments import plan_study

    names = [name.strip() for name in systems.split(",")]
    if "" in names:
        raise UsageError(f"--systems: names with commas between, not '{systems}'")
    plan = plan_study(
        names,
        _topic_ids(topics) if topics is not None else (),
        participants=participants,
        seed=seed,
        design=design,
        systems_each=systems_each,
        topics_each=topics_each,
        sd=sd,
    )
    options.show(render_study_plan(plan, output_format), plan.warnings)


def _topic_ids(path: str) -> tuple[str, ...]:
    """Ids of topics, from whatever `--topic-set` takes."""
    from cranfield.planning.topic_sets import read_topic_set

    return tuple(read_topic_set(path).topics)
