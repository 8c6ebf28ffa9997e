"""The stable JSON form of results, `cranfield.evaluate/1`. docs/json.md documents it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cranfield.efficiency.efficiency_columns import exact
from cranfield.version import __version__

if TYPE_CHECKING:
    from cranfield.comparison.comparison import Comparison
    from cranfield.comparison.gate.verdict import Verdict
    from cranfield.evaluation.places import Places
    from cranfield.evaluation.results import Results
    from cranfield.render.json_form import Json

SCHEMA = "cranfield.evaluate/1"


def to_document(results: Results, *, per_topic: bool, places: Places | None = None) -> dict[str, Json]:
    """Results as plain Python that json can write: full precision, NaN never; with places the best run first."""
    means, topics, bounds = results.mean(), results.per_topic() if per_topic else {}, results.bounds()
    runs: list[dict[str, Json]] = []
    for r in range(len(results.runs)) if places is None else places.order:
        run = results.runs[r]
        entry: dict[str, Json] = {"name": run, "mean": means[run]}
        entry |= {} if places is None else places.to_dict(r)
        if bounds:
            entry["bounds"] = {measure: list(pair) for measure, pair in bounds[run].items()}
        if results.figures:
            entry["figures"] = exact(results.figures, r)
        if per_topic:
            entry["topics"] = topics[run]
        if per_topic and bounds:
            entry["topic_bounds"] = topic_bounds(results, r)
        runs.append(entry)
    return {
        "schema": SCHEMA,
        **provenance(results),
        "measures": [str(measure) for measure in results.measures],
        "better": {str(measure): measure.better for measure in results.measures},
        **({} if places is None else {"sorted": sorting(places)}),
        "runs": runs,
        "warnings": warnings(results),
    }


def sorting(places: Places) -> dict[str, Json]:
    """What runs are put in order by, how tiers are decided, and what earlier places are from."""
    return {"by": str(places.measure), "tiers": places.rule, "before": places.source}


def topic_bounds(results: Results, run: int) -> dict[str, dict[str, list[float]]]:
    """{topic: {measure: [lowest, highest]}} of a run; nothing if bounds were not asked for."""
    if results.lower is None or results.upper is None:
        return {}
    low, high = results.lower[run].tolist(), results.upper[run].tolist()
    return {
        results.topics[t]: {str(m): [low[i][t], high[i][t]] for i, m in enumerate(results.measures)}
        for t in results.topics_of(run)
    }


def provenance(of: Results | Comparison) -> dict[str, Json]:
    """What decides every number: version, policy and inputs."""
    return {
        "version": __version__,
        "policy": of.policy.to_dict() | {"unjudged": "nonrelevant", "negative_grades": "unjudged"},
        "inputs": [
            {"path": i.path, "digest": i.digest, "rows": i.rows, "topics": i.topics, "name": i.name, "tag": i.tag}
            for i in of.inputs
        ],
    }


def warnings(of: Results | Comparison | Verdict) -> list[dict[str, Json]]:
    """What is odd about it."""
    return [{"code": w.code, "source": w.source, "message": w.message, "doubtful": w.doubtful} for w in of.warnings]
