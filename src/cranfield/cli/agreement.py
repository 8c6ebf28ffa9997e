"""`cranfield agreement`"""

from __future__ import annotations

import click

from cranfield.cli import options
from cranfield.errors import UsageError
from cranfield.formats.reading import Reading
from cranfield.pooling.pool_tables import FORMATS


@click.command("agreement")
@click.argument("judgements", nargs=-1, required=True)
@click.option(
    "--run",
    "runs",
    multiple=True,
    help="A run: also tell whether all assessors' judgements order the runs alike; may be repeated.",
)
@click.option("-m", "--measure", help="With runs: the measure that orders them. [default: AP]")
@click.option("--rel", type=float, default=1, show_default=True, help="The grade from which a document is relevant.")
@click.option("--per-topic", is_flag=True, help="Show every topic.")
@options.resampled_topics
@options.output_format(FORMATS)
@options.reading()
def command(
    judgements: tuple[str, ...],
    runs: tuple[str, ...],
    measure: str | None,
    rel: float,
    per_topic: bool,
    resamples: int,
    seed: int,
    output_format: str,
    reading: Reading,
) -> None:
    """How far do assessors agree, and does their disagreement change the ordering of systems?

    JUDGEMENTS are one file for each assessor, or a single one whose second column (or the column called judge) says
    who gave the grade. Prints the overlap of the relevant documents, Cohen's kappa for each pair (plain, linear and
    quadratic weights), Fleiss' kappa over what all judged and Krippendorff's alpha over all (nominal, ordinal,
    interval), by grade and by topic, with intervals over topics.

    \b
    Examples:
      $ cranfield agreement judges.txt --per-topic
      $ cranfield agreement judges.txt --run bm25.run --run dense.run -m nDCG@10
    """
    if measure is not None and not runs:
        raise UsageError("--measure orders runs: name them with --run")
    if not reading.says_nothing and len(judgements) == 1 and not runs:
        raise UsageError("--format is for one file an assessor, and for runs: of one for all, the content tells")
    from cranfield.agreement.assessment import assess
    from cranfield.agreement.assessor_tables import render
    from cranfield.agreement.graded import judges_of
    from cranfield.formats.runs import read_runs
    from cranfield.statistics.significance import Sampling

    assessment = assess(
        judges_of(judgements, reading),
        runs=read_runs(list(runs), reading) if runs else None,
        measure=measure or "AP",
        rel=rel,
        sampling=Sampling(seed, resamples),
    )
    options.show(render(assessment, output_format, per_topic=per_topic), assessment.warnings)
