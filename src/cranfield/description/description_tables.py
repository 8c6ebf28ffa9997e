"""Descriptions of collections as text: tables to read, Markdown, JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from cranfield.errors import plural, share
from cranfield.render.document import Block, Bullet, Paragraph, Title, written
from cranfield.render.grid import Grid
from cranfield.render.json_form import Json, plain
from cranfield.version import __version__

if TYPE_CHECKING:
    from cranfield.description.description import Description
    from cranfield.description.summaries import GradeSummary, JudgementSummary, Spread, TextSummary

SCHEMA = "cranfield.description/1"
SPREAD = ["least", "median", "mean", "most"]


def render(description: Description, format: str) -> str:
    """A description in a format, ending in a newline."""
    return FORMATS[format](description)


def _sections(description: Description) -> Iterator[tuple[str, Grid]]:
    for noun, texts in (("document", description.documents), ("topic", description.topics)):
        if texts is not None:
            yield _texts(noun, texts)
    judgements = description.judgements
    if judgements is not None:
        yield _judgements(judgements)
        header = ["cutoff", "perfect P", "topics with as many relevant", "judged share of runs"]
        rows = [
            [f"{cutoff.cutoff:,}", f"{cutoff.perfect:.3f}", f"{cutoff.topics:,}", _share(cutoff.judged)]
            for cutoff in description.cutoffs
        ]
        yield "What a perfect run scores", Grid(header, rows, labels=0)
        rows = [[advice.measure, "yes" if advice.fits else "no", advice.why] for advice in description.advice]
        yield "Measures that fit", Grid(["measure", "fits", "why"], rows, labels=3)


def _texts(noun: str, texts: TextSummary) -> tuple[str, Grid]:
    title = plural(texts.count, noun) + (f", {texts.empty:,} of them empty" if texts.empty else "")
    rows = [[name, *map(_number, spread)] for name, spread in texts.words.items()]
    return title, Grid(["words of", *SPREAD], rows)


def _judgements(judgements: JudgementSummary) -> tuple[str, Grid]:
    relevant = judgements.relevant / judgements.judged if judgements.judged else 0.0
    counted = f"{plural(judgements.judged, 'judgement')} of {plural(judgements.topics, 'topic')}"
    title = f"{counted}: {judgements.shape}, {share(relevant, 1)} relevant"

    def row(name: str, count: int, topics: str, spread: Spread) -> list[str]:
        return [name, f"{count:,}", topics, *map(_number, spread)]

    rows = [row("judged", judgements.judged, f"{judgements.topics:,}", judgements.judged_per_topic)]
    rows.append(row("relevant", judgements.relevant, "", judgements.relevant_per_topic))
    rows += [row(_called(grade), grade.judgements, f"{grade.topics:,}", grade.per_topic) for grade in judgements.grades]
    return title, Grid(["a topic has", "in all", "topics", *SPREAD], rows)


def _called(grade: GradeSummary) -> str:
    return f"grade {grade.grade:g}" + (f": {grade.label}" if grade.label else "")


def _number(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) else f"{value:,.1f}"


def _share(part: float | None) -> str:
    return "–" if part is None else share(part, 1)


def _written(format: str) -> Callable[[Description], str]:
    def write(description: Description) -> str:
        blocks: list[Block] = [Title(description.name, level=1)]
        if description.topic_source is not None:
            blocks.append(Paragraph(f"Topics: {description.topic_source}"))
        for title, grid in _sections(description):
            blocks += [Title(title, level=2), grid]
        remarks = [f"{'doubtful' if finding.doubtful else 'note'}: {finding}" for finding in description.findings]
        blocks += [Title("Beware", level=2)] if remarks else []
        return written([*blocks, *map(Bullet, remarks)], format)

    return write


def _json(description: Description) -> str:
    import json

    return json.dumps(to_document(description), allow_nan=False, indent=1, ensure_ascii=False) + "\n"


def to_document(description: Description) -> dict[str, Json]:
    """The JSON form, documented in docs/collections.md."""
    document = plain(description)
    assert isinstance(document, Mapping)
    return {"schema": SCHEMA, "version": __version__, **document}


FORMATS: Mapping[str, Callable[[Description], str]] = {
    "table": _written("table"),
    "markdown": _written("markdown"),
    "json": _json,
}
