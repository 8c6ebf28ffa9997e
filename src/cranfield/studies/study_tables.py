"""What the rooms of user studies found, as text that can be pasted, as CSV, and as JSON."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isnan
from typing import TYPE_CHECKING

from cranfield.errors import percent, plural
from cranfield.render.document import Block, titled, written
from cranfield.render.grid import DELIMITERS, Field, Grid, number, separated
from cranfield.render.json_form import as_json

if TYPE_CHECKING:
    from cranfield.studies.assignments import StudyPlan
    from cranfield.studies.scales import Scale
    from cranfield.studies.scoring import StudyScores

FORMATS = ("table", "json", "csv", "tsv", "markdown", "latex", "html")


def _render(
    result: object,
    format: str,
    schema: str,
    header: Sequence[str],
    rows: Callable[[], list[Sequence[Field]]],
    blocks: Callable[[], list[Block]],
) -> str:
    """In a format, ending in a newline; CSV and TSV have the rows alone, a number that does not exist is empty."""
    if format == "json":
        return as_json(schema, result)
    if format in DELIMITERS:
        return separated(header, [[_known(value) for value in row] for row in rows()], DELIMITERS[format])
    return written(blocks(), format)


def _known(value: Field) -> Field:
    return None if isinstance(value, float) and isnan(value) else value


def _p(value: float) -> str:
    return "–" if isnan(value) else "<0.0001" if value < 0.0001 else f"{value:.4f}"


def scale_line(scale: Scale) -> str:
    """A scale in a few words."""
    return f"{scale.name}, from {scale.bottom:g} to {scale.top:g}, {scale.better} is better"


def render_scores(scores: StudyScores, format: str, *, per_participant: bool = False) -> str:
    """Scores by system, or with `per_participant` those of each participant too (in CSV and TSV alone)."""
    items = len(scores.scale.items) > 1

    def blocks() -> list[Block]:
        header = [
            "system",
            "participants",
            "sheets",
            "mean",
            "sd",
            "low",
            "high",
            "median",
            *(["alpha"] if items else []),
        ]
        rows = []
        for score in scores.systems:
            numbers = (score.mean, score.sd, score.low, score.high, score.median, *([score.alpha] if items else []))
            rows.append(
                [score.system, f"{score.participants:,}", f"{score.sheets:,}", *(number(x, ".2f") for x in numbers)]
            )
        notes = [f"low and high: {percent(scores.level)} interval of the mean over participants (t)"]
        if items:
            notes.append(f"alpha: Cronbach's; of all sheets it is {number(scores.alpha, '.2f')}")
        if any(score.sheets > score.participants for score in scores.systems):
            notes.append("who answered several times about a system counts once, with the mean")
        shown = titled(scale_line(scores.scale), Grid(header, rows), notes)
        if per_participant:
            own = [
                [each.participant, each.system, f"{each.sheets:,}", number(each.mean, ".2f")]
                for each in scores.participants
            ]
            shown += titled("By participant", Grid(["participant", "system", "sheets", "mean"], own, labels=2))
        return shown

    if per_participant:
        header = ["participant", "system", "sheets", "mean"]
        return _render(scores, format, "cranfield.study-score/1", header, lambda: list(scores.participants), blocks)
    header = ["system", "participants", "sheets", "mean", "sd", "low", "high", "median", "alpha"]
    return _render(scores, format, "cranfield.study-score/1", header, lambda: list(scores.systems), blocks)


PLACES = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")


def render_study_plan(plan: StudyPlan, format: str) -> str:
    """Who does what, and how even it is; CSV and TSV have a line a topic, or without topics a line a turn."""

    def rows() -> list[Sequence[Field]]:
        lines: list[Sequence[Field]] = []
        done = 0
        for turn in plan.assignments:
            done = 0 if turn.place == 1 else done
            for topic in turn.topics or ("",):
                done += 1
                lines.append([turn.participant, done, turn.place, turn.system, *([topic] if plan.topics else [])])
        return lines

    def blocks() -> list[Block]:
        turns: dict[str, list[str]] = {}
        for turn in plan.assignments:
            shown = f"{turn.system}: {' '.join(turn.topics)}" if turn.topics else turn.system
            turns.setdefault(turn.participant, []).append(shown)
        most = max(map(len, turns.values()))
        places = [PLACES[place] if place < len(PLACES) else f"{place + 1}th" for place in range(most)]
        topics = f", {plural(len(plan.topics), 'topic')}" if plan.topics else ""
        title = (
            f"{plural(plan.participants, 'participant')}, {plural(len(plan.systems), 'system')}{topics}: "
            f"design {plan.design}, seed {plan.seed}"
        )
        grid = Grid(["participant", *places], [[who, *of] for who, of in turns.items()], labels=most + 1)
        times = [[of.what, f"{of.least:,}", f"{of.most:,}", "yes" if of.even else "no"] for of in plan.balances]
        return [*titled(title, grid), *titled("Balance", Grid(["how often", "least", "most", "even"], times))]

    header = ["participant", "order", "place", "system", *(["topic"] if plan.topics else [])]
    return _render(plan, format, "cranfield.study-plan/1", header, rows, blocks)
