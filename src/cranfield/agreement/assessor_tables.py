"""Agreement between assessors as text that can be pasted, and as JSON of the form `cranfield.agreement/1`."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING

from cranfield.agreement.rankings.correlation_tables import to_document
from cranfield.errors import plural
from cranfield.render.document import Block, titled, written
from cranfield.render.grid import DELIMITERS, Grid, number, separated
from cranfield.render.json_form import as_json, plain

if TYPE_CHECKING:
    from cranfield.agreement.assessment import Assessment, Confusion

MANY = 2  # judges up to whom a name of all of them is short
_ALPHAS = ("alpha-nominal", "alpha-ordinal")
_BY_LOT = "; where each topic has an assessor drawn by lot, tau is {:.3f} [{:.3f}, {:.3f}]"


def render(assessment: Assessment, format: str, *, per_topic: bool = False) -> str:
    """In a format, ending in a newline; CSV and TSV have the coefficients, or with `per_topic` the topics."""
    if format == "json":
        ordered = assessment.orderings
        document = ordered and {
            "pairs": to_document(ordered.pairs),
            "mixed": plain(ordered.mixed),
            "says": ordered.says,
        }
        return as_json("cranfield.agreement/1", assessment, orderings=document)
    if format in DELIMITERS:
        if per_topic:
            rows = [[None if isinstance(x, float) and isnan(x) else x for x in topic] for topic in assessment.topics]
            return separated(assessment.topics[0]._fields, rows, DELIMITERS[format])
        header = ["coefficient", "judges", "documents", "value", "low", "high"]
        lines = [
            [
                coefficient.name,
                " ".join(coefficient.judges),
                coefficient.documents,
                *(None if isnan(x) else x for x in coefficient.estimate[:3]),
            ]
            for coefficient in assessment.coefficients
        ]
        return separated(header, lines, DELIMITERS[format])
    return written(blocks_of(assessment, per_topic=per_topic), format)


def blocks_of(assessment: Assessment, *, per_topic: bool = False) -> list[Block]:
    """The tables, with their titles."""
    everybody = len(assessment.judges)
    rows = []
    for coefficient in assessment.coefficients:
        judges = coefficient.judges
        who = f"all {everybody}" if len(judges) == everybody > MANY else ", ".join(judges)
        numbers = [number(x) for x in coefficient.estimate[:3]]
        rows.append([coefficient.name, who, f"{coefficient.documents:,}", *numbers])
    title = f"Agreement of {', '.join(assessment.judges)} on {plural(len(assessment.topics), 'topic')}"
    notes = [
        f"overlap: relevant (grade {assessment.rel:g} and above) to all of them over relevant to any, mean over "
        "topics; low and high: middle 95% of topics drawn anew"
    ]
    header = ["coefficient", "judges", "documents", "value", "low", "high"]
    blocks = [*titled(title, Grid(header, rows, labels=2), notes), *_by_grade(assessment)]
    blocks += [block for confusion in assessment.confusions for block in _confusion(confusion, assessment)]
    if per_topic:
        shown = [
            [topic.topic, *(f"{count:,}" for count in topic[1:4]), *(number(value) for value in topic[4:])]
            for topic in assessment.topics
        ]
        header = ["topic", "documents", "relevant to all", "to any", "overlap", "kappa", "fleiss", *_ALPHAS]
        below = ["kappa: Cohen's, mean over pairs of assessors"] if everybody > MANY else []
        blocks += titled("By topic", Grid(header, shown), below)
    if assessment.orderings is not None:
        pairs, mixed, says = assessment.orderings
        by_lot = "" if isnan(mixed.value) else _BY_LOT.format(*mixed)
        notes = [says + by_lot]
        lines = [[*row.names, *(number(value) for value in row.values)] for row in pairs.rows]
        grid = Grid([*pairs.labels, *pairs.columns], lines, labels=len(pairs.labels))
        blocks += titled("Orderings of systems under two assessors", grid, (*notes, *pairs.notes))
    return blocks


def _by_grade(assessment: Assessment) -> list[Block]:
    rows = [[f"{by.grade:g}", f"{by.given:,}", number(by.agreed), number(by.kappa)] for by in assessment.grades]
    notes = ["agreed: how often another assessor of the same document gave the grade too; kappa: beyond chance"]
    return titled("By grade", Grid(["grade", "given", "agreed", "kappa"], rows), notes)


def _confusion(confusion: Confusion, assessment: Assessment) -> list[Block]:
    judge, other = confusion.judges
    values = [f"{value:g}" for value in assessment.values]
    rows = [[value, *(f"{count:,}" for count in row)] for value, row in zip(values, confusion.counts, strict=True)]
    return titled(f"Grades of {judge} (rows) and {other} (columns)", Grid([judge, *values], rows))
