"""Results as text that can be pasted: one function a format, found by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from cranfield.efficiency import efficiency_columns
from cranfield.errors import plural, some
from cranfield.records import NamedTuple
from cranfield.render.grid import Grid, as_html, as_latex, as_markdown, as_text, separated

if TYPE_CHECKING:
    from cranfield.evaluation.places import Places
    from cranfield.evaluation.results import Column, Results
    from cranfield.measures.registry import Measure
    from cranfield.render.grid import Field
    from cranfield.render.json_form import Json


def render(results: Results, format: str, *, per_topic: bool = False, places: Places | None = None) -> str:
    """Results in a format, ending in a newline; `per_topic` adds a row for each topic, `places` put the best first."""
    return FORMATS[format](_Told(results, per_topic, places))


class _Told(NamedTuple):
    """What is to be told of results."""

    results: Results
    per_topic: bool
    places: Places | None

    @property
    def order(self) -> Sequence[int]:
        """The numbers of the runs as they follow each other."""
        return range(len(self.results.runs)) if self.places is None else self.places.order

    @property
    def place_headers(self) -> tuple[list[str], list[str]]:
        """Columns before and after what an evaluation has."""
        return ([], []) if self.places is None else self.places.header()


def shown(value: float, measure: Measure) -> str:
    """A number as people read it: counts whole, everything else with four decimals."""
    return f"{value:.0f}" if measure.is_count and value == round(value) else f"{value:.4f}"


def _grid(told: _Told) -> Grid:
    """Runs down, measures and figures of efficiency across; with topics, each run's mean last."""
    results, per_topic, places = told.results, told.per_topic, told.places
    columns, figures = results.columns, results.figures
    before, after = told.place_headers
    header = [*before, "run", *(["topic"] if per_topic else []), *(column.heading for column in columns)]
    header += [*map(efficiency_columns.header, figures), *after]
    rows: list[list[str]] = []
    for r in told.order:
        run = results.runs[r]
        lead, tail = ([], []) if places is None else places.cells(r)
        for t in results.topics_of(r) if per_topic else []:
            scores = (shown(float(c.scores[r, t]), c.measure) for c in columns)
            rows.append([*[""] * len(lead), run, results.topics[t], *scores, *[""] * (len(figures) + len(tail))])
        means = [shown(float(column.means[r]), column.measure) for column in columns]
        known = efficiency_columns.cells(figures, r)
        rows.append([*lead, run, *(["all"] if per_topic else []), *means, *known, *tail])
    return Grid(header, rows, labels=len(before) + (2 if per_topic else 1), caption=_caption(results))


def _caption(results: Results) -> str:
    """What the table shows, for where it stands by itself."""
    measures = some([str(measure) for measure in results.measures], len(results.measures))
    among = "" if results.policy.topic_set is None else f" of {results.policy.topic_set.name}"
    return f"{measures} of {plural(len(results.runs), 'run')} on {plural(len(results.topics), 'topic')}{among}."


def _separated(told: _Told, delimiter: str) -> str:
    """Full precision for machines. With topics, each run's mean is its last row, of the topic all, as in trec_eval."""
    results, per_topic, places = told.results, told.per_topic, told.places
    columns, figures = results.columns, results.figures
    before, after = told.place_headers
    header = [*before, "run", *(["topic"] if per_topic else []), *(column.label for column in columns)]
    header += [*map(efficiency_columns.exact_header, figures), *after]
    rows: list[list[Field]] = []
    for r in told.order:
        run = results.runs[r]
        lead, tail = ([], []) if places is None else places.exact(r)
        for t in results.topics_of(r) if per_topic else []:
            scores = (float(column.scores[r, t]) for column in columns)
            rows.append([*[None] * len(lead), run, results.topics[t], *scores, *[None] * (len(figures) + len(tail))])
        means = (float(column.means[r]) for column in columns)
        known = efficiency_columns.exact(figures, r).values()
        rows.append([*lead, run, *(["all"] if per_topic else []), *means, *known, *tail])
    return separated(header, rows, delimiter)


def _json(told: _Told) -> str:
    import json

    from cranfield.evaluation.result_json import to_document
    from cranfield.render.json_form import finite

    document = to_document(told.results, per_topic=told.per_topic, places=told.places)
    return json.dumps(finite(document), allow_nan=False, indent=1) + "\n"


def _json_lines(told: _Told) -> str:
    """A line a run with topic null for its means; with topics, a line for each of them before it."""
    import json

    from cranfield.evaluation.result_json import topic_bounds
    from cranfield.render.json_form import finite

    results, places = told.results, told.places
    lines: list[dict[str, Json]] = []
    topics = results.per_topic() if told.per_topic else {}
    bounds, means = results.bounds(), results.mean()
    for r in told.order:
        run = results.runs[r]
        within = topic_bounds(results, r)
        for topic, values in topics.get(run, {}).items():
            line: dict[str, Json] = {"run": run, "topic": topic, "scores": values}
            lines.append(line | ({"bounds": within[topic]} if within else {}))
        line = {"run": run, "topic": None, "scores": means[run]}
        line |= {"bounds": bounds[run]} if bounds else {}
        line |= {"figures": efficiency_columns.exact(results.figures, r)} if results.figures else {}
        lines.append(line | ({} if places is None else places.to_dict(r)))
    return "".join(json.dumps(finite(line), allow_nan=False) + "\n" for line in lines)


def _trec(told: _Told) -> str:
    """trec_eval's columns: measure (its name for it where it has one), topic or all, value.

    Averages of another kind (gm_map) and the number of topics are not per topic, as in trec_eval.
    """
    results, places = told.results, told.places
    lines = []
    for r in told.order:
        tag = results.inputs[r - len(results.runs)].tag or results.runs[r]
        for t in results.topics_of(r) if told.per_topic else []:
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
        if places is not None:
            names = (name.replace(" ", "_") for part in places.header() for name in part)
            cells = (cell for part in places.cells(r) for cell in part)
            lines += [(name, "all", cell) for name, cell in zip(names, cells, strict=True)]
    return "".join(f"{name:<22}\t{topic}\t{value}\n" for name, topic, value in lines)


def _trec_name(column: Column) -> str:
    """trec_eval's name of a measure where it has one; a bound is the measure's name with _low or _high."""
    ours = str(column.measure)
    return (column.measure.trec_name or ours) + column.label.removeprefix(ours).replace(" ", "_")


FORMATS: dict[str, Callable[[_Told], str]] = {
    "table": lambda told: as_text(_grid(told)),
    "json": _json,
    "jsonl": _json_lines,
    "csv": lambda told: _separated(told, ","),
    "tsv": lambda told: _separated(told, "\t"),
    "markdown": lambda told: as_markdown(_grid(told)),
    "latex": lambda told: as_latex(_grid(told)),
    "html": lambda told: as_html(_grid(told)),
    "trec": _trec,
}
