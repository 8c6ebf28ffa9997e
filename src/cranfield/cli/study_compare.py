"""`cranfield study compare`"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from cranfield.cli import options
from cranfield.studies.study_tables import FORMATS, render_comparison

if TYPE_CHECKING:
    from cranfield.studies.answers import Answers

MODELS = ("auto", "mixed", "paired")


@click.command("study compare")
@options.answers
@click.option(
    "--model",
    type=click.Choice(MODELS),
    default=MODELS[0],
    show_default=True,
    help="mixed: systems fixed, participants and topics random, or Welch's t tests where every participant gave one "
    "score and so has every topic (or there is one topic, or none); paired: t tests on the means of participants; "
    "auto: mixed where topics have two scores or more, or fewer than two participants used both systems of a pair; "
    "otherwise paired.",
)
@click.option(
    "--additive",
    is_flag=True,
    help="Leave out of the mixed model that a participant or a topic may suit one system more than another: finds "
    "more, and more that is not there.",
)
@options.correction
@options.alpha
@options.output_format(FORMATS)
def command(answers: Answers, model: str, additive: bool, correction: str, alpha: float, output_format: str) -> None:
    """Which system do participants find better, whoever was asked and on whichever topics?

    ANSWERS and scales are those of `cranfield study score`. With topics, a mixed-effects model has systems as fixed and
    participants and topics as random effects, crossed; without, means of participants are compared in pairs, or by
    Welch's t tests where everybody gave a single score. Wilcoxon's and Friedman's tests, which do not take the steps
    between answers for equally wide, stand beside it.

    \b
    Examples:
      $ cranfield study compare study.csv --scale satisfaction
      $ cranfield study compare study.csv --scale sus -f markdown
    """
    from cranfield.studies.study_comparison import StudyQuestion, compare_answers

    question = StudyQuestion(model=model, additive=additive, correction=correction, alpha=alpha)
    comparison = compare_answers(answers, question)
    options.show(render_comparison(comparison, output_format), comparison.warnings)
