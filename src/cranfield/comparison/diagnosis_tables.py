"""A diagnosis as text that can be pasted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from math import isnan
from typing import TYPE_CHECKING

from cranfield.comparison.comparison_tables import interval, shown_p
from cranfield.errors import percent, plural
from cranfield.render.document import Block, titled, written
from cranfield.render.grid import Cell, Grid, separated
from cranfield.render.json_form import finite

if TYPE_CHECKING:
    from cranfield.comparison.diagnosis import Diagnosis

SHOWN = 10  # topics shown from each end
DECIDES = "!"  # a star would say that it is significant


def render(diagnosis: Diagnosis, format: str, *, every_topic: bool = False) -> str:
    """A diagnosis in a format, ending in a newline; tables for people show the topics at both ends unless asked."""
    return FORMATS[format](diagnosis, every_topic)


def topics_grid(diagnosis: Diagnosis, every_topic: bool) -> Grid:
    """Topics by what they add to the difference, with a mark those that decide."""
    parts = diagnosis.topics
    if not every_topic and len(parts) > 2 * SHOWN:
        parts = parts[:SHOWN] + parts[-SHOWN:]
    deciding = {part.topic for part in diagnosis.deciding}
    quotations = diagnosis.quotations
    asked = [] if quotations is None else ["question"]
    header = ["topic", *asked, diagnosis.system, diagnosis.other, "difference", "share", "without it", "p without it"]
    rows: list[list[str | Cell]] = []
    for part in parts:
        share = "–" if isnan(part.share) else f"{part.share:+z.1%}"
        row: list[str | Cell] = [part.topic]
        row += [] if quotations is None else [quotations.short_question(part.topic)]
        row += [f"{part.score:.4f}", f"{part.other_score:.4f}"]
        row += [Cell(f"{part.difference:+z.4f}", above=DECIDES if part.topic in deciding else ""), share]
        rows.append([*row, f"{part.difference_without:+z.4f}", shown_p(part.p_without)])
    return Grid(header, rows, labels=1 + len(asked))


def _topics_legend(diagnosis: Diagnosis, every_topic: bool) -> str:
    """What is in the columns of topics, and what it is to decide."""
    from cranfield.comparison.diagnosis import ALPHA

    legend = "share: of the sum of all differences; without it: the mean difference of all other topics, and its p. "
    if diagnosis.deciding:
        legend += f"{DECIDES} marks a topic that decides: without it the difference changes its sign, or p its side of "
        legend += f"{ALPHA:g}."
    else:
        legend += f"No topic decides alone: without any one the difference keeps its sign, and p its side of {ALPHA:g}."
    count = len(diagnosis.topics)
    if not every_topic and count > 2 * SHOWN:
        legend += f" The first and last {SHOWN} of {count:,} topics are shown (--every-topic: all)."
    return legend


def slices_grid(diagnosis: Diagnosis) -> Grid:
    """Slices of topics, compared on their own."""
    from cranfield.comparison.diagnosis import ALPHA

    header = [
        "attribute",
        "value",
        "topics",
        diagnosis.system,
        diagnosis.other,
        "difference",
        f"{percent(diagnosis.slices[0].level)} interval",
        "adjusted p",
    ]
    rows: list[list[str | Cell]] = []
    for part in diagnosis.slices:
        difference = Cell(f"{part.difference:+z.4f}", above="*" if part.adjusted_p < ALPHA else "")
        row: list[str | Cell] = [
            part.attribute,
            part.value,
            str(part.topics),
            f"{part.mean:.4f}",
            f"{part.other_mean:.4f}",
        ]
        rows.append([*row, difference, interval(part.low, part.high), shown_p(part.adjusted_p)])
    return Grid(header, rows, labels=2)


def moves_grid(diagnosis: Diagnosis) -> Grid:
    """Documents that stand elsewhere, with their grades."""
    quotations = diagnosis.quotations
    called = [] if quotations is None else ["title"]
    header = ["topic", "document", *called, "change", "grade", f"rank in {diagnosis.system}", f"in {diagnosis.other}"]
    rows = [
        [move.topic, move.document, *([] if quotations is None else [quotations.short_title(move.document)])]
        + [move.change, "–" if move.grade is None else f"{move.grade:g}"]
        + ["–" if rank is None else str(rank) for rank in (move.rank, move.other_rank)]
        for move in diagnosis.moves
    ]
    return Grid(header, rows, labels=3 + len(called))


def _blocks(diagnosis: Diagnosis, every_topic: bool) -> list[Block]:
    from cranfield.comparison.diagnosis import ALPHA

    topic_set = diagnosis.policy.topic_set
    among = "" if topic_set is None else f" of {topic_set.name}"
    by = "paired t" if diagnosis.decided_by == "t" else "exact randomisation"
    title = (
        f"{diagnosis.measure.label}: {diagnosis.system} − {diagnosis.other} = {diagnosis.difference:+z.4f}, "
        f"p ({by}) {shown_p(diagnosis.p)}, {plural(len(diagnosis.topics), 'topic')}{among}"
    )
    blocks = titled(title, topics_grid(diagnosis, every_topic), [_topics_legend(diagnosis, every_topic)])
    if diagnosis.slices:
        blocks += titled("Slices of topics", slices_grid(diagnosis), [f"* is significant: adjusted p below {ALPHA:g}."])
    if diagnosis.moves:
        blocks += titled(f"Documents that moved, among the first {diagnosis.depth}", moves_grid(diagnosis))
    return blocks


def _text(format: str) -> Callable[[Diagnosis, bool], str]:
    def write(diagnosis: Diagnosis, every_topic: bool) -> str:
        return written(_blocks(diagnosis, every_topic), format)

    return write


def _json(diagnosis: Diagnosis, every_topic: bool) -> str:
    import json

    apart = ("warnings", "quotations")
    document = {entry.name: getattr(diagnosis, entry.name) for entry in fields(diagnosis) if entry.name not in apart}
    document |= {"measure": str(diagnosis.measure), "policy": diagnosis.policy.to_dict()}
    for name in ("topics", "slices", "moves"):
        document[name] = [part._asdict() for part in document[name]]
    quotations = diagnosis.quotations
    if quotations is not None:
        for part in document["topics"]:
            part["question"] = quotations.question(part["topic"]) or None
        for part in document["moves"]:
            part["title"] = quotations.title(part["document"]) or None
    document["deciding"] = [part.topic for part in diagnosis.deciding]
    return json.dumps(finite({"schema": "cranfield.diagnose/1", **document}), allow_nan=False, indent=1) + "\n"


def _separated(delimiter: str) -> Callable[[Diagnosis, bool], str]:
    """Topics alone, in full precision; with a collection what was asked stands last."""

    def write(diagnosis: Diagnosis, every_topic: bool) -> str:
        header, quotations = diagnosis.topics[0]._fields, diagnosis.quotations
        if quotations is None:
            return separated(header, diagnosis.topics, delimiter)
        rows = [(*part, quotations.question(part.topic)) for part in diagnosis.topics]
        return separated((*header, "question"), rows, delimiter)

    return write


FORMATS: Mapping[str, Callable[[Diagnosis, bool], str]] = {
    "table": _text("table"),
    "json": _json,
    "csv": _separated(","),
    "tsv": _separated("\t"),
    "markdown": _text("markdown"),
    "latex": _text("latex"),
    "html": _text("html"),
}
