"""Rank correlation as text, and as JSON of the form `cranfield.rank_correlation/1`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cranfield.errors import plural
from cranfield.explanation.explanation_tables import GAP
from cranfield.measures.explained import number
from cranfield.render.document import Block, Bullet, Code, Paragraph, Title, written
from cranfield.render.grid import Grid
from cranfield.render.json_form import Json, finite
from cranfield.version import __version__

if TYPE_CHECKING:
    from cranfield.explanation.rank_correlation import RankCorrelation, RankedItem

SCHEMA = "cranfield.rank_correlation/1"


def render(correlation: RankCorrelation, format: str) -> str:
    """Rank correlation in a format: table, markdown, html or json; ending in a newline.

    >>> from cranfield.explanation.rank_correlation import explain_correlation
    >>> print(render(explain_correlation(["a", "b"], ["b", "a"]), "table").partition("Spearman")[0], end="")
    document  R1  R2   d  d²  C  D
    a          1   2  −1   1  0  1
    b          2   1  +1   1  0  0
    Σ                      2  0  1
    <BLANKLINE>
    """
    if format == "json":
        import json

        return json.dumps(to_document(correlation), allow_nan=False, indent=1) + "\n"
    return written(_blocks(correlation), format)


def correlation_grid(correlation: RankCorrelation) -> Grid:
    """Ranks, differences and their squares; of the items below, those in the same order (C) and those not (D)."""
    items = correlation.items
    rows = [_row(item) for item in items[: correlation.shown]]
    if len(rows) < len(items):
        rows.append([GAP, *[""] * 6])
    squares = number(sum(item.difference**2 for item in items))
    pairs = [str(sum(item.concordant for item in items)), str(sum(item.discordant for item in items))]
    header = ["document", correlation.first, correlation.second, "d", "d²", "C", "D"]
    return Grid(header, [*rows, ["Σ", "", "", "", squares, *pairs]])


def _row(item: RankedItem) -> list[str]:
    difference = ("+" if item.difference > 0 else "") + number(item.difference)
    ranks = [number(item.first), number(item.second), difference, number(item.difference**2)]
    return [item.name, *ranks, str(item.concordant), str(item.discordant)]


def to_document(correlation: RankCorrelation) -> dict[str, Json]:
    """Everything as plain Python that JSON can hold; null where a coefficient is undefined."""
    return finite(
        {
            "schema": SCHEMA,
            "version": __version__,
            "first": correlation.first,
            "second": correlation.second,
            "items": [item._asdict() | {"difference": item.difference} for item in correlation.items],
            "coefficients": [worked._asdict() | {"text": worked.text} for worked in correlation.coefficients],
            "notes": list(correlation.notes),
        }
    )


def _blocks(correlation: RankCorrelation) -> Iterator[Block]:
    yield correlation_grid(correlation)
    hidden = len(correlation.items[correlation.shown :]) if correlation.shown is not None else 0
    if hidden:
        yield Bullet(f"Not shown: {plural(hidden, 'document')} of {len(correlation.items):,}; the sums are of all.")
    yield from map(Bullet, correlation.notes)
    for worked in correlation.coefficients:
        yield Title(f"{worked.title}: {worked.parts[-1]}", level=2)
        yield Paragraph(worked.formula, quiet=True)
        name, *parts = worked.parts
        lines = [f"{' ' * len(name) if i else name} = {part}" for i, part in enumerate(parts)]
        yield Code("\n".join(lines) + (f", {worked.because}" if worked.because else ""), language="text")
