"""An analysis as people read it: the verdict first, then tables; and as CSV and JSON for machines."""

from __future__ import annotations

from collections.abc import Sequence
from math import isinf, isnan
from typing import TYPE_CHECKING, Any

from cranfield.errors import plural
from cranfield.online.analysis.effect_tables import tables
from cranfield.render.document import Block, Paragraph, titled, written
from cranfield.render.grid import DELIMITERS, Field, separated
from cranfield.render.json_form import as_json, plain

if TYPE_CHECKING:
    from cranfield.online.analysis.analysis import TrialAnalysis

SCHEMA = "cranfield.online-analysis/1"
FORMATS = ("table", "json", "csv", "tsv", "markdown", "latex", "html")


def render_analysis(result: TrialAnalysis, format: str) -> str:
    """In a format, ending in a newline; CSV and TSV have a line for each effect, guardrails among them."""
    if format == "json":
        return as_json(SCHEMA, to_plain(result))
    if format in DELIMITERS:
        return separated(COLUMNS, [*_rows(result)], DELIMITERS[format])
    return written(blocks(result), format)


COLUMNS = (
    "role", "metric", "better", "arm", "part", "control", "treatment", "control_units", "treatment_units", "difference",
    "low", "high", "relative", "relative_low", "relative_high", "p", "limit", "standing", "margin", "worst",
)  # fmt: skip


def _rows(result: TrialAnalysis) -> list[Sequence[Field]]:
    rows: list[Sequence[Field]] = []
    for role, effects in (
        ("primary", result.primary),
        ("secondary", result.secondary),
        ("segment", result.segments),
        ("triggered", result.triggered),
    ):
        for e in effects:
            numbers = (e.difference, e.low, e.high, e.relative, e.relative_low, e.relative_high, e.p, e.limit)
            rows.append(
                [
                    role,
                    e.metric,
                    e.better,
                    e.arm,
                    e.part,
                    _known(e.control),
                    _known(e.treatment),
                    *e.units,
                    *map(_known, numbers),
                    e.standing,
                    None,
                    None,
                ]
            )
    for rail in result.guardrails:
        kind = "relative" if rail.relative else "absolute"
        empty = [None] * 2
        rows.append(
            [f"guardrail ({kind})", rail.metric, None, rail.arm, "", *empty, *empty, _known(-rail.harm), *empty]
            + [None] * 3
            + [_known(rail.p), rail.limit, rail.standing, rail.margin, _known(rail.worst)]
        )
    return rows


def _known(value: float) -> float | None:
    return None if isnan(value) or isinf(value) else float(value)


def to_plain(result: TrialAnalysis) -> dict[str, Any]:
    """The form in JSON."""
    document: dict[str, Any] = {
        "experiment": result.trial.name,
        "digest": result.trial.digest,
        "decision": result.decision,
        "verdicts": [verdict._asdict() for verdict in result.verdicts],
        "withheld": result.withheld,
        "overridden": result.overridden,
        "alpha": result.trial.alpha,
        "look": {
            "method": result.rule.method,
            "number": result.rule.number,
            "planned": result.rule.planned and result.changed is None,
            "final": result.rule.final,
            "information": list(result.rule.information),
            "limit": result.rule.limit(1 / (len(result.trial.arms) - 1)),
            "why": result.rule.why,
        },
        "units": result.units,
        "queries": result.queries,
        "events": result.events,
        "sample_ratio": plain(result.sample) | {"broken": result.sample.broken},  # type: ignore[operator]
    }
    names = (
        "primary", "guardrails", "guarded", "secondary", "segments", "differences", "family", "triggered", "adjusted",
        "stopped",
        "denominators", "course", "exposed_days", "fading", "exposures", "worse", "excluded", "warnings",
    )  # fmt: skip
    return document | {name: plain(getattr(result, name)) for name in names}


def blocks(result: TrialAnalysis) -> list[Block]:
    """What is told, in order."""
    return [
        *(Paragraph(str(verdict)) for verdict in result.verdicts),
        *(Paragraph(told) for told in (result.together, result.changed) if told is not None),
        Paragraph(headline(result)),
        *([] if result.withheld else [Paragraph(result.rule.why)]),
        *(block for title, grid, notes in tables(result) for block in titled(title, grid, notes)),
    ]


def headline(result: TrialAnalysis) -> str:
    """Which trial this is about, with its digest, and how much was seen."""
    return (
        f"Trial {result.trial.name}, digest {result.trial.digest}: {plural(result.units, 'unit')}, "
        f"{result.queries:,} queries, {plural(result.events, 'event')}."
    )
