"""Scores of sessions, comparisons of systems on them and gain over time: as text, as CSV, and as JSON."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING

from cranfield.online.sessions.session_words import UnitWords
from cranfield.render.document import Block, titled, written
from cranfield.render.grid import DELIMITERS, Field, Grid, number, separated
from cranfield.render.json_form import as_json

if TYPE_CHECKING:
    from cranfield.comparison.comparison import Comparison
    from cranfield.comparison.gate.verdict import Verdict
    from cranfield.evaluation.results import Results
    from cranfield.online.sessions.gain_curves import GainCurve

FORMATS = ("table", "json", "csv", "tsv", "markdown", "latex", "html")


def render_sessions(
    results: Results,
    unit: str,
    format: str,
    comparison: Comparison | None = None,
    curve: GainCurve | None = None,
    verdict: Verdict | None = None,
) -> str:
    """Means of systems, their comparison, the curve and the verdict of a gate; CSV and TSV have a line for each score,
    or for each point.
    """
    if format == "json":
        return _json(results, unit, comparison, curve, verdict)
    if format in DELIMITERS and curve is not None:
        rows: list[list[Field]] = [[_known(value) for value in point] for point in curve.points]
        return separated(["system", curve.over, "gain", "low", "high"], rows, DELIMITERS[format])
    if format in DELIMITERS:
        scores: list[list[Field]] = [[*names, _known(value)] for *names, value in results.rows()]
        return separated(["system", unit, "measure", "score"], scores, DELIMITERS[format])
    text = written(_means(results, unit), format)
    if comparison is not None:
        from cranfield.comparison.comparison_tables import blocks

        differences = [*titled("Differences", None), *words_of(comparison, unit).told(blocks(comparison, format))]
        text += "\n" + written(differences, format)
    if curve is not None:
        text += "\n" + render_curve(curve, format)
    if verdict is not None:
        from cranfield.comparison.gate.gate_tables import render as render_gate

        told = f"Gate (what is called a topic there is a {unit})"
        text += "\n" + written(titled(told, None), format) + "\n" + render_gate(verdict, format)
    return text


def words_of(comparison: Comparison, unit: str) -> UnitWords:
    """How a comparison is told: by sessions or users."""
    return UnitWords(unit, [*comparison.systems, *(str(panel.measure) for panel in comparison.panels)])


def _known(value: Field) -> Field:
    return None if isinstance(value, float) and isnan(value) else value


def _means(results: Results, unit: str) -> list[Block]:
    rows = []
    for run, (name, means) in enumerate(results.mean().items()):
        count = len(results.topics_of(run))
        rows.append([name, f"{count:,}", *(number(mean) for mean in means.values())])
    header = ["system", f"{unit}s", *(measure.label for measure in results.measures)]
    return titled(f"Means over {unit}s", Grid(header, rows))


def render_curve(curve: GainCurve, format: str) -> str:
    """The mean gain of each system at each point."""
    what = "read" if curve.over == "seconds" else "shown"
    rows = [
        [point.system, f"{point.at:g}" if curve.over == "pages" else f"{point.at:.0f}", *map(number, point[2:])]
        for point in curve.points
    ]
    notes = [
        f"gain: grades of the documents {what} until then, each once; a session that has ended keeps what it gained",
        f"low and high: 95 % interval of the mean over {curve.unit}s (t)",
    ]
    title = f"Gain over {curve.over}"
    return written(titled(title, Grid(["system", curve.over, "gain", "low", "high"], rows), notes), format)


def _json(
    results: Results,
    unit: str,
    comparison: Comparison | None,
    curve: GainCurve | None,
    verdict: Verdict | None,
) -> str:
    scores = results.per_topic()
    document = {
        "unit": unit,
        "measures": [str(measure) for measure in results.measures],
        "better": {str(measure): measure.better for measure in results.measures},
        "systems": [
            {"name": name, "mean": mean, f"{unit}s": {key: dict(of) for key, of in scores[name].items()}}
            for name, mean in results.mean().items()
        ],
        "warnings": [{"code": each.code, "source": each.source, "message": each.message} for each in results.warnings],
    }
    if comparison is not None:
        document["pairs"] = [
            {
                "measure": row.measure,
                "system": row.system,
                "other": row.other,
                "difference": row.difference,
                "low": row.low,
                "high": row.high,
                "better": row.better,
                "decided_by": row.decided_by,
                "adjusted_p": row.adjusted_p,
                "significant": row.significant,
            }
            for row in comparison.rows()
        ]
    if curve is not None:
        document["curve"] = {
            "over": curve.over,
            "unit": curve.unit,
            "points": [point._asdict() for point in curve.points],
        }
    if verdict is not None:
        from cranfield.comparison.gate.gate_tables import to_document

        document["gate"] = {name: to_document(verdict)[name] for name in ("answer", "alpha", "checks", "measures")}
    return as_json("cranfield.online-sessions/1", document)
