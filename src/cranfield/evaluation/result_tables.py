"""Results as text that can be pasted: one function a format, found by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from cranfield.efficiency import efficiency_columns
from cranfield.evaluation.result_json import to_document, topic_bounds
from cranfield.render.grid import Grid, as_html, as_latex, as_markdown, as_text, separated

if TYPE_CHECKING:
    from cranfield.evaluation.results import Column, Results
    from cranfield.measures.registry import Measure
    from cranfield.render.json_form import Json


def render(results: Results, format: str, *, per_topic: bool = False) -> str:
    """Results in a format, ending in a newline; `per_topic` adds a row for each topic."""
    return FORMATS[format](results, per_topic)


def shown(value: float, measure: Measure) -> str:
    """A number as people read it: counts whole, everything else with four decimals."""
    return f"{value:.0f}" if measure.is_count and value == round(value) else f"{value:.4f}"


def _grid(results: Results, per_topic: bool) -> Grid:
    """Runs down, measures and figures of efficiency across; with topics, each run's mean last."""
    columns, figures = results.columns, results.figures
    header = ["run", *(["topic"] if per_topic else []), *(column.heading for column in columns)]
    header += map(efficiency_columns.header, figures)
    rows: list[list[str]] = []
    for r, run in enumerate(results.runs):
        for t in results.topics_of(r) if per_topic else []:
            rows.append(
                [
                    run,
                    results.topics[t],
                    *(shown(float(c.scores[r, t]), c.measure) for c in columns),
                    *[""] * len(figures),
                ]
            )
        means = [shown(float(column.means[r]), column.measure) for column in columns]
        rows.append([run, *(["all"] if per_topic else []), *means, *efficiency_columns.cells(figures, r)])
    return Grid(header, rows, labels=2 if per_topic else 1)


def _separated(results: Results, per_topic: bool, delimiter: str) -> str:
    """Full precision for machines. With topics, each run's mean is its last row, of the topic all, as in trec_eval."""
    columns, figures = results.columns, results.figures
    header = ["run", *(["topic"] if per_topic else []), *(column.label for column in columns)]
    header += map(efficiency_columns.exact_header, figures)
    rows: list[list[str | float | None]] = []
    for r, run in enumerate(results.runs):
        for t in results.topics_of(r) if per_topic else []:
            scores = (float(column.scores[r, t]) for column in columns)
            rows.append([run, results.topics[t], *scores, *[None] * len(figures)])
        means = (float(column.means[r]) for column in columns)
        rows.append([run, *(["all"] if per_topic else []), *means, *efficiency_columns.exact(figures, r).values()])
    return separated(header, rows, delimiter)


def _json(results: Results, per_topic: bool) -> str:
    import json

    return json.dumps(to_document(results, per_topic=per_topic), allow_nan=False, indent=1) + "\n"


def _json_lines(results: Results, per_topic: bool) -> str:
    """A line a run with topic null for its means; with topics, a line for each of them before it."""
    import json

    lines: list[dict[str, Json]] = []
    topics = results.per_topic() if per_topic else {}
    bounds = results.bounds()
    for r, (run, means) in enumerate(results.mean().items()):
        within = topic_bounds(results, r)
        for topic, values in topics.get(run, {}).items():
            line: dict[str, Json] = {"run": run, "topic": topic, "scores": values}
            lines.append(line | ({"bounds": within[topic]} if within else {}))
        line = {"run": run, "topic": None, "scores": means}
        line |= {"bounds": bounds[run]} if bounds else {}
        lines.append(line | ({"figures": efficiency_columns.exact(results.figures, r)} if results.figures else {}))
    return "".join(json.dumps(line, allow_nan=False) + "\n" for line in lines)


def _trec(results: Results, per_topic: bool) -> str:
    """trec_eval's columns: measure (its name for it where it has one), topic or all, value.

    Averages of another kind (gm_map) and the number of topics are not per topic, as in trec_eval.
    """
    lines = []
    for r, run in enumerate(results.runs):
        tag = results.inputs[r - len(results.runs)].tag or run
        for t in results.topics_of(r) if per_topic else []:
            for column in results.columns:
                m = column.measure
                if m.definition.name != "NumQ" and m.name not in m.definition.averages:
                    lines.append((_trec_name(column), results.topics[t], shown(float(column.scores[r, t]), m)))
        if len(results.runs) > 1:
            lines.append(("runid", "all", tag))
        for column in results.columns:
            lines.append((_trec_name(column), "all", shown(float(column.means[r]), column.measure)))
        for name, figure in efficiency_columns.exact(results.figures, r).items():
            lines.append((name, "all", efficiency_columns.UNKNOWN if figure is None else f"{figure:.4f}"))
    return "".join(f"{name:<22}\t{topic}\t{value}\n" for name, topic, value in lines)


def _trec_name(column: Column) -> str:
    """trec_eval's name of a measure where it has one; a bound is the measure's name with _low or _high."""
    ours = str(column.measure)
    return (column.measure.trec_name or ours) + column.label.removeprefix(ours).replace(" ", "_")


FORMATS: dict[str, Callable[[Results, bool], str]] = {
    "table": lambda results, per_topic: as_text(_grid(results, per_topic)),
    "json": _json,
    "jsonl": _json_lines,
    "csv": lambda results, per_topic: _separated(results, per_topic, ","),
    "tsv": lambda results, per_topic: _separated(results, per_topic, "\t"),
    "markdown": lambda results, per_topic: as_markdown(_grid(results, per_topic)),
    "latex": lambda results, per_topic: as_latex(_grid(results, per_topic)),
    "html": lambda results, per_topic: as_html(_grid(results, per_topic)),
    "trec": _trec,
}
