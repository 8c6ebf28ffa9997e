"""Agreement of rankings as text that can be pasted, and as JSON of the form `cranfield.correlate/1`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from cranfield.render.document import Bullet, written
from cranfield.render.grid import DELIMITERS, WRITERS, Grid, separated
from cranfield.render.json_form import Json
from cranfield.version import __version__

if TYPE_CHECKING:
    from cranfield.agreement.rankings.correlation import Correlation

SCHEMA = "cranfield.correlate/1"
FORMATS = (*WRITERS, *DELIMITERS, "json")
ALL = "all"


def render(correlation: Correlation, format: str, *, per_topic: bool = True) -> str:
    """In a format, ending in a newline; where rows have a mean, they are shown only if asked for.

    What is for machines has full precision and no notes. The mean is the last row, of the topic all.
    """
    if format == "json":
        import json

        return json.dumps(to_document(correlation, per_topic=per_topic), allow_nan=False, indent=1) + "\n"
    header = [*correlation.labels, *correlation.columns]
    lines: list[tuple[tuple[str, ...], tuple[float, ...]]] = []
    if per_topic or correlation.means is None:
        lines += correlation.rows
    if correlation.means is not None:
        lines.append(((ALL,), correlation.means))
    if format in DELIMITERS:
        return separated(header, [[*names, *map(_or_none, values)] for names, values in lines], DELIMITERS[format])
    rows = [[*names, *_shown(correlation, values)] for names, values in lines]
    grid = Grid(header, rows, labels=len(correlation.labels), caption=f"Agreement of {correlation.kind}.")
    return written([grid, *map(Bullet, correlation.notes)], format)


def to_document(correlation: Correlation, *, per_topic: bool = True) -> dict[str, Json]:
    """Everything as plain Python that JSON can hold; null where a number is undefined."""
    return {
        "schema": SCHEMA,
        "version": __version__,
        "kind": correlation.kind,
        "settings": dict(correlation.settings),
        "labels": list(correlation.labels),
        "columns": list(correlation.columns),
        "rows": [
            dict(zip(correlation.labels, row.names, strict=True))
            | dict(zip(correlation.columns, map(_or_none, row.values), strict=True))
            for row in (correlation.rows if per_topic or correlation.means is None else ())
        ],
        "mean": None
        if correlation.means is None
        else {name: _or_none(value) for name, value in correlation.mean().items()},
        "notes": list(correlation.notes),
        "warnings": [
            {"code": w.code, "source": w.source, "message": w.message, "doubtful": w.doubtful}
            for w in correlation.warnings
        ],
    }


def _shown(correlation: Correlation, values: tuple[float, ...]) -> list[str]:
    """Numbers as people read them: counts whole (their means are not), a dash where there is none."""

    def number(column: str, value: float) -> str:
        if math.isnan(value):
            return "–"
        return f"{value:g}" if column in correlation.counts and value == round(value) else f"{value:.4f}"

    return [number(column, value) for column, value in zip(correlation.columns, values, strict=True)]


def _or_none(value: float) -> float | None:
    return None if math.isnan(value) else value
