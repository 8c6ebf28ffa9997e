"""The stable JSON form of comparisons, `cranfield.compare/1`. docs/json.md documents it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cranfield.evaluation.result_json import provenance, warnings
from cranfield.render.json_form import Json, finite

if TYPE_CHECKING:
    from cranfield.comparison.comparison import Comparison

SCHEMA = "cranfield.compare/1"


def to_document(comparison: Comparison) -> dict[str, Json]:
    """A comparison as plain Python that json can write: full precision; a number that does not exist is null."""
    return finite(
        {
            "schema": SCHEMA,
            **provenance(comparison),
            "systems": list(comparison.systems),
            "baseline": comparison.baseline,
            "tests": [{"name": str(test), "title": test.title, "null": test.null} for test in comparison.tests],
            "rule": comparison.rule,
            "correction": str(comparison.correction),
            "comparisons": comparison.comparisons,
            "alpha": comparison.alpha,
            "level": comparison.level,
            "power": comparison.power,
            "margin": comparison.margin,
            "resamples": comparison.sampling.resamples,
            "seed": comparison.sampling.seed,
            "means": _means(comparison),
            "figures": [
                {
                    "collection": column.collection,
                    "figure": column.figure,
                    "systems": dict(zip(comparison.systems, column.values, strict=True)),
                }
                for column in comparison.figures
            ],
            "pairs": [dict(vars(pair)) for pair in comparison.rows()],
            "folds": _folds(comparison),
            "macro": _macro(comparison),
            "warnings": warnings(comparison),
        }
    )


def _means(comparison: Comparison) -> list[dict[str, Json]]:
    entries: list[dict[str, Json]] = []
    for panel in comparison.panels:
        entry: dict[str, Json] = {
            "collection": panel.collection,
            "measure": str(panel.measure),
            "better": panel.measure.better,
            "topics": len(panel.topics),
            "mean": dict(zip(comparison.systems, panel.means.tolist(), strict=True)),
        }
        if panel.unjudged is not None:
            entry["unjudged"] = dict(zip(comparison.systems, panel.unjudged.tolist(), strict=True))
        if panel.spreads is not None:
            spreads = [spread._asdict() for spread in panel.spreads]
            entry["seeds"] = dict(zip(comparison.systems, spreads, strict=True))
        if panel.risk is not None:
            entry["risk"] = {name: list(map(float, values)) for name, values in panel.risk._asdict().items()}
        entries.append(entry)
    return entries


def _folds(comparison: Comparison) -> list[dict[str, Json]]:
    return [
        {
            "collection": panel.collection,
            "measure": str(panel.measure),
            "system": comparison.systems[i],
            "other": comparison.systems[j],
            "differences": list(folds.differences),
            "test": folds.test._asdict(),
        }
        for panel in comparison.panels
        for (i, j), folds in zip(comparison.pairs.tolist(), panel.folds or (), strict=False)
    ]


def _macro(comparison: Comparison) -> list[dict[str, Json]]:
    return [
        {
            "measure": str(macro.measure),
            "system": comparison.systems[i],
            "other": comparison.systems[j],
            "means": [float(macro.means[i]), float(macro.means[j])],
            "difference": float(macro.difference[k]),
            "low": float(macro.low[k]),
            "high": float(macro.high[k]),
            "p": float(macro.decided.p[k]),
            "decided_by": macro.decided.by[k],
            "adjusted_p": float(macro.adjusted[k]),
            "level": macro.level,
        }
        for macro in comparison.macro
        for k, (i, j) in enumerate(comparison.pairs.tolist())
    ]
