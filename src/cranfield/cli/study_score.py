"""`cranfield study score`"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from cranfield.cli import options
from cranfield.studies.study_tables import FORMATS, render_scores

if TYPE_CHECKING:
    from cranfield.studies.answers import Answers


@click.command("study score")
@options.answers
@options.alpha
@click.option("--per-participant", is_flag=True, help="Show what each participant gave each system.")
@options.output_format(FORMATS)
def command(answers: Answers, alpha: float, per_participant: bool, output_format: str) -> None:
    """Score a questionnaire: mean, standard deviation, interval and median of each system.

    ANSWERS is a table (CSV, TSV or JSON lines) with columns for participant and system, perhaps topic (or task), and
    either one for each item or one for the item and one for the answer. Answers that are missing are told, and a sheet
    that lacks one has no score (--missing); one that is out of range is an error.

    \b
    Scales:
      sus           System Usability Scale: sus1 to sus10 from 1 to 5; 0 to 100
      tlx           NASA-TLX, raw: mental, physical, temporal, performance, effort, frustration from 0 to 100
      tlx-weighted  the same, weighted by mental_weight and so on: how often chosen among 15 pairs
      satisfaction  from 1 to 5

    \b
    Examples:
      $ cranfield study score study.csv --scale sus
      $ cranfield study score study.csv --scale satisfaction --per-participant
    """
    from cranfield.studies.scoring import score_answers

    scores = score_answers(answers, level=alpha)
    options.show(render_scores(scores, output_format, per_participant=per_participant), scores.warnings)
