"""Results as text that can be pasted: one function a format, found by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from cranfield.report.json_form import to_document

if TYPE_CHECKING:
    from cranfield.measures.registry import Measure
    from cranfield.results import Results

Row = list[str]


def render(results: Results, format: str, *, per_topic: bool = False) -> str:
    """Results in a format, ending in a newline; `per_topic` adds a row for each topic."""
    return FORMATS[format](results, per_topic)


def shown(value: float, measure: Measure) -> str:
    """A number as people read it: counts whole, everything else with four decimals."""
    return f"{value:.0f}" if measure.is_count and value == round(value) else f"{value:.4f}"


def _grid(results: Results, per_topic: bool) -> tuple[Row, list[Row]]:
    """Header and rows: runs down, measures across; with topics, each run's mean last."""
    columns = results.columns
    header = ["run", *(["topic"] if per_topic else []), *(column.label for column in columns)]
    rows: list[Row] = []
    for r, run in enumerate(results.runs):
        for t in results.topics_of(r) if per_topic else []:
            rows.append([run, results.topics[t], *(shown(float(c.scores[r, t]), c.measure) for c in columns)])
        means = [shown(float(column.means[r]), column.measure) for column in columns]
        rows.append([run, *(["all"] if per_topic else []), *means])
    return header, rows


def _table(results: Results, per_topic: bool) -> str:
    header, rows = _grid(results, per_topic)
    labels = 2 if per_topic else 1
    widths = [max(len(row[i]) for row in [header, *rows]) for i in range(len(header))]

    def line(row: Row) -> str:
        cells = [cell.ljust(widths[i]) if i < labels else cell.rjust(widths[i]) for i, cell in enumerate(row)]
        return "  ".join(cells).rstrip() + "\n"

    return "".join(line(row) for row in [header, *rows])


def _markdown(results: Results, per_topic: bool) -> str:
    header, rows = _grid(results, per_topic)
    labels = 2 if per_topic else 1
    escaped = [[cell.replace("|", "\\|") for cell in row] for row in [header, *rows]]
    rule = ["---" if i < labels else "---:" for i in range(len(header))]
    return "".join(f"| {' | '.join(row)} |\n" for row in [escaped[0], rule, *escaped[1:]])


def _latex(results: Results, per_topic: bool) -> str:
    header, rows = _grid(results, per_topic)
    labels = 2 if per_topic else 1
    special = str.maketrans(
        {c: f"\\{c}" for c in "&%$#_{}"}
        | {"\\": "\\textbackslash{}", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}"}
    )
    lines = [" & ".join(cell.translate(special) for cell in row) + r" \\" for row in [header, *rows]]
    columns = "l" * labels + "r" * (len(header) - labels)
    body = "\n".join(lines[1:])
    return (
        f"\\begin{{tabular}}{{{columns}}}\n\\toprule\n{lines[0]}\n\\midrule\n{body}\n\\bottomrule\n\\end{{tabular}}\n"
    )


def _html(results: Results, per_topic: bool) -> str:
    import html

    header, rows = _grid(results, per_topic)
    labels = 2 if per_topic else 1
    head = "".join(f"<th>{html.escape(cell)}</th>" for cell in header)
    body = "".join(
        "<tr>"
        + "".join(
            f"<th>{html.escape(cell)}</th>" if i < labels else f'<td style="text-align:right">{html.escape(cell)}</td>'
            for i, cell in enumerate(row)
        )
        + "</tr>\n"
        for row in rows
    )
    return f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody>\n</table>\n"


def _separated(results: Results, per_topic: bool, delimiter: str) -> str:
    """Full precision for machines. With topics there are no means: they would be counted as one more topic."""
    import csv
    import io

    columns = results.columns
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter, lineterminator="\n")
    writer.writerow(["run", *(["topic"] if per_topic else []), *(column.label for column in columns)])
    for r, run in enumerate(results.runs):
        if not per_topic:
            writer.writerow([run, *(repr(float(column.means[r])) for column in columns)])
            continue
        for t in results.topics_of(r):
            writer.writerow([run, results.topics[t], *(repr(float(column.scores[r, t])) for column in columns)])
    return out.getvalue()


def _json(results: Results, per_topic: bool) -> str:
    import json

    return json.dumps(to_document(results, per_topic=per_topic), allow_nan=False, indent=1) + "\n"


def _json_lines(results: Results, per_topic: bool) -> str:
    """A line a run with topic null for its means; with topics, a line for each of them before it."""
    import json

    lines: list[dict[str, object]] = []
    topics = results.per_topic() if per_topic else {}
    bounds = results.bounds()
    for run, means in results.mean().items():
        for topic, values in topics.get(run, {}).items():
            lines.append({"run": run, "topic": topic, "scores": values})
        lines.append({"run": run, "topic": None, "scores": means} | ({"bounds": bounds[run]} if bounds else {}))
    return "".join(json.dumps(line, allow_nan=False) + "\n" for line in lines)


def _trec(results: Results, per_topic: bool) -> str:
    """trec_eval's columns: measure (its name for it where it has one), topic or all, value.

    Averages of another kind (gm_map) and the number of topics are not per topic, as in trec_eval.
    """
    lines = []
    topics = results.per_topic() if per_topic else {}
    for r, run in enumerate(results.runs):
        tag = results.inputs[1 + r].tag or run
        for topic, values in topics.get(run, {}).items():
            for m in results.measures:
                if m.definition.name != "NumQ" and m.name not in m.definition.averages:
                    lines.append((m.trec_name or str(m), topic, shown(values[str(m)], m)))
        if len(results.runs) > 1:
            lines.append(("runid", "all", tag))
        for value, m in zip(results.means[r], results.measures, strict=True):
            lines.append((m.trec_name or str(m), "all", shown(float(value), m)))
    return "".join(f"{name:<22}\t{topic}\t{value}\n" for name, topic, value in lines)


FORMATS: dict[str, Callable[[Results, bool], str]] = {
    "table": _table,
    "json": _json,
    "jsonl": _json_lines,
    "csv": lambda results, per_topic: _separated(results, per_topic, ","),
    "tsv": lambda results, per_topic: _separated(results, per_topic, "\t"),
    "markdown": _markdown,
    "latex": _latex,
    "html": _html,
    "trec": _trec,
}
