"""How far opinions agree, as tables that can be pasted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cranfield.agreement.assessor_tables import blocks_of
from cranfield.errors import plural
from cranfield.render.document import Block, titled, written
from cranfield.render.grid import Grid, number

if TYPE_CHECKING:
    from cranfield.judging.consistency import Consistency

MOST = 20  # disagreements that are shown; the others are counted


def render(consistency: Consistency, format: str) -> str:
    """In a format, ending in a newline: coefficients, disagreements, and who judged the same twice."""
    blocks = [] if consistency.assessment is None else blocks_of(consistency.assessment)
    return written([*blocks, *_disagreements(consistency), *_selves(consistency)], format)


def _disagreements(consistency: Consistency) -> list[Block]:
    apart = consistency.disagreements
    title = plural(len(apart), "disagreement")
    notes = [f"… and {len(apart) - MOST:,} more"] if len(apart) > MOST else []
    rows = [
        [
            row.topic,
            row.document,
            ", ".join(f"{who} {grade}" for who, grade in row.grades),
            str(row.steps),
            "yes" if row.crosses else "",
            "yes" if row.settled else "",
        ]
        for row in apart[:MOST]
    ]
    header = ["topic", "document", "grades", "steps apart", "relevant to some only", "settled"]
    return titled(title, Grid(header, rows, labels=3) if rows else None, notes)


def _selves(consistency: Consistency) -> list[Block]:
    rows = [
        [
            own.assessor,
            f"{own.pairs:,}",
            f"{own.same_grade:,}",
            f"{own.same_relevance:,}",
            number(own.kappa),
            number(own.kappa_quadratic),
        ]
        for own in consistency.selves
    ]
    header = ["assessor", "judged twice", "same grade", "same relevance", "kappa", "kappa-quadratic"]
    return titled("Who judged the same again", Grid(header, rows)) if rows else []
