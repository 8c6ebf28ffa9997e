"""Workings as text and as JSON of the form `cranfield.workings/1`."""

from __future__ import annotations

from collections.abc import Iterator
from math import fsum
from typing import TYPE_CHECKING

from cranfield.errors import plural
from cranfield.explanation.explanation_json import to_document as explanation_document
from cranfield.explanation.explanation_tables import GAP
from cranfield.explanation.explanation_tables import render as render_explanation
from cranfield.render.document import Block, Bullet, Code, Paragraph, Title, written
from cranfield.render.grid import Grid
from cranfield.render.json_form import Json, finite
from cranfield.version import __version__

if TYPE_CHECKING:
    from cranfield.explanation.workings import Average, Workings

SCHEMA = "cranfield.workings/1"
FORMATS = ("table", "json", "markdown", "html")


def render(workings: Workings, format: str) -> str:
    """Workings in a format, ending in a newline.

    >>> from cranfield.explanation.averages import means_of
    >>> print(render(means_of({"a": [0.5, 0.25]}), "table").partition("GMAP of")[0], end="")
    run     MAP    GMAP    HMAP
    a    0.3750  0.3536  0.3333
    <BLANKLINE>
    MAP of a: 0.3750
    arithmetic mean: (1 / n) Σ x over n topics
    <BLANKLINE>
    topic       x
    1      0.5000
    2      0.2500
    Σ      0.7500
    <BLANKLINE>
    MAP = (0.5 + 0.25) / 2
        = 0.75 / 2
        = 0.3750
    <BLANKLINE>
    """
    if format == "json":
        import json

        return json.dumps(to_document(workings), allow_nan=False, indent=1) + "\n"
    parts = [render_explanation(explanation, format) for explanation in workings.explanations]
    if workings.averages:
        parts.append(written(_blocks(workings), format))
    return "".join(parts) if format == "html" else "\n".join(parts)


def to_document(workings: Workings) -> dict[str, Json]:
    """Everything as plain Python that JSON can hold."""
    return finite(
        {
            "schema": SCHEMA,
            "version": __version__,
            "policy": None if workings.policy is None else workings.policy.to_dict(),
            "explanations": [explanation_document(explanation) for explanation in workings.explanations],
            "averages": [_average_document(average) for average in workings.averages],
            "warnings": [
                {"code": w.code, "source": w.source, "message": w.message, "doubtful": w.doubtful}
                for w in workings.warnings
            ],
        }
    )


def _average_document(average: Average) -> dict[str, Json]:
    columns = {"x": average.scores, **average.columns}
    topics = [
        {"topic": topic} | {name: column[i] for name, column in columns.items()}
        for i, topic in enumerate(average.topics)
    ]
    return {
        "run": average.run,
        "name": average.name,
        "value": average.value,
        "formula": average.formula,
        "steps": list(average.steps),
        "text": average.text,
        "topics": topics,
    }


def average_grid(average: Average) -> Grid:
    """Topics with their scores and what is made of them, and the sums below."""
    columns = [average.scores, *average.columns.values()]
    shown = average.topics_shown
    rows = [
        [topic, *(average.number(column[i]) for column in columns)] for i, topic in enumerate(average.topics[:shown])
    ]
    if shown < len(average.topics):
        rows.append([GAP, *[""] * len(columns)])
    rows.append(["Σ", *(average.number(fsum(column)) for column in columns)])
    return Grid(["topic", "x", *average.columns], rows)


def _blocks(workings: Workings) -> Iterator[Block]:
    if len({average.name for average in workings.averages}) > 1 and not workings.explanations:
        yield _summary(workings)
    for average in workings.averages:
        yield Title(f"{average.name} of {average.run}: {average.parts[-1]}", level=2)
        yield Paragraph(average.formula, quiet=True)
        yield average_grid(average)
        name, *parts = average.parts
        lines = [f"{' ' * len(name) if i else name} = {part}" for i, part in enumerate(parts)]
        yield Code("\n".join(lines) + (f", {average.because}" if average.because else ""), language="text")
        hidden = len(average.topics) - average.topics_shown
        if hidden:
            yield Bullet(f"Not shown: {plural(hidden, 'topic')} of {len(average.topics):,}; the sums are of all.")


def _summary(workings: Workings) -> Grid:
    """All means side by side, a row a run."""
    values = {(average.run, average.name): average.value for average in workings.averages}
    names, runs = (list(dict.fromkeys(keys)) for keys in zip(*((name, run) for run, name in values), strict=True))
    return Grid(["run", *names], [[run, *(f"{values[run, name]:.4f}" for name in names)] for run in runs])
