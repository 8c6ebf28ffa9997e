"""Proofs as tables that can be pasted, as CSV, and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from math import isinf
from typing import TYPE_CHECKING

from cranfield.render.document import Paragraph, titled, written
from cranfield.render.grid import DELIMITERS, Cell, Field, Grid, separated
from cranfield.render.json_form import as_json

if TYPE_CHECKING:
    from cranfield.online.proofs.proof import ProvedClaim
    from cranfield.online.proofs.proving import Proofs

FORMATS = ("table", "json", "csv", "tsv", "markdown", "latex", "html")


def render_proofs(found: Proofs, format: str) -> str:
    """The verdict, then a line for each claim."""
    if format == "json":
        claims = [claim._asdict() | {"high": _finite(claim.high), "holds": claim.holds} for claim in found.claims]
        return as_json(
            "cranfield.proofs/1",
            {"verdict": found.verdict, "short": found.short, "seed": found.seed, "claims": claims},
        )
    if format in DELIMITERS:
        rows: list[Sequence[Field]] = [
            [*claim[:5], _finite(claim.high), claim.times, "yes" if claim.holds else "no"] for claim in found.claims
        ]
        header = ["part", "claim", "expected", "seen", "low", "high", "times", "holds"]
        return separated(header, rows, DELIMITERS[format])
    grid = Grid(
        ["part", "claim", "expected", "seen", "from", "to", "times", "within"],
        [_row(claim) for claim in found.claims],
        labels=2,
    )
    size = "the short form, for a glance: limits are wide" if found.short else "the long form"
    notes = [
        f"{size}; seed {found.seed}",
        "from, to: limits of what is seen if the claim is true; one true claim in a thousand is outside",
        "times: how often it was tried; – where every case was gone through",
    ]
    return written([Paragraph(found.verdict), *titled("Claims", grid, notes)], format)


def _row(claim: ProvedClaim) -> list[str | Cell]:
    shown = (claim.expected, claim.seen, claim.low, claim.high)
    numbers = [_number(value) if claim.times else f"{value:.0f}" for value in shown]
    times = f"{claim.times:,}" if claim.times else "–"
    return [claim.part, claim.claim, *numbers, times, "yes" if claim.holds else Cell("no", bold=True)]


def _number(value: float) -> str:
    if isinf(value):
        return "–"
    return f"{value:,.0f}" if value == int(value) and abs(value) >= 1 else f"{value:.4f}"


def _finite(value: float) -> float | None:
    return None if isinf(value) else value
