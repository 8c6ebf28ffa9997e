"""What a search took and what a sweep found, as tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from cranfield.render.grid import WRITERS, Grid

if TYPE_CHECKING:
    from cranfield.efficiency.timing import Efficiency
    from cranfield.notation import Value
    from cranfield.render.json_form import Json
    from cranfield.search.retrieving import Retrieved
    from cranfield.search.tuning import Tuned

SCHEMA = "cranfield.search/1"
FORMATS = ("table", "json", "markdown", "latex", "html")


def render(retrieved: Retrieved | None, tuned: Tuned | None, format: str, *, saved: bool = False) -> str:
    """A search, if there was one, and the sweep before it, if there was one, in a format, ending in a newline.

    `saved`: the best of the sweep was written to a file, and is shown too.
    """
    if format == "json":
        return _json(retrieved, tuned, saved=saved)
    write = WRITERS[format]
    grids = [folds_grid(tuned, saved=saved)] if tuned else []
    grids += [efficiency_grid(retrieved.efficiency)] if retrieved else []
    return "\n".join(map(write, grids))


def folds_grid(tuned: Tuned, *, saved: bool = False) -> Grid:
    """A row a fold: its parameters and what they score; then all topics tested, by tuned and by other parameters; last
    the parameters that were saved, which no topic here can test.
    """
    names = list(dict.fromkeys(name for point in tuned.points for name in point))
    rows = [
        [f"fold {number}", *(_shown(fold.parameters[name]) for name in names),
         f"{fold.train_score:.4f}", f"{fold.test_score:.4f}", str(len(fold.test))]
        for number, fold in enumerate(tuned.folds, start=1)
    ]  # fmt: skip
    tested = str(sum(len(fold.test) for fold in tuned.folds))
    others = (
        ("all, tuned on other topics", tuned.test_score),
        ("all, not tuned", tuned.default_score),
        ("all, best in hindsight", tuned.best_score),
    )
    rows += [[label, *[""] * len(names), "", f"{score:.4f}", tested] for label, score in others]
    if saved:
        from cranfield.planning.tuned import best_label

        best = tuned.best
        values = (_shown(best.parameters[name]) for name in names)
        label = best_label(set(best.topics) >= {topic for fold in tuned.folds for topic in fold.test})
        rows += [[label, *values, f"{best.score:.4f}", "", str(len(best.topics))]]
    header = ["", *(name.rstrip("_") for name in names), f"{tuned.measure} train", f"{tuned.measure} test", "topics"]
    return Grid(header, rows, caption=f"{tuned.measure} of {tuned.model.name}, tuned on some topics, tested on others.")


def efficiency_grid(efficiency: Efficiency) -> Grid:
    """What searching took, a row each."""
    parts = efficiency.to_dict()
    indexing, searching = parts.get("indexing"), parts["searching"]
    rows = []
    if indexing:
        if indexing["seconds"] is not None:
            rows += [["indexing", f"{indexing['seconds']:,.2f} s"]]
            rows += [["documents a second", f"{indexing['documents per second']:,.0f}"]]
        rows += [[f"index {indexing['index is']}", _size(indexing["index bytes"])]]
    rows += [["queries a second", f"{searching['queries per second'] or float('inf'):,.0f}"]]
    rows += [[f"latency {name}", f"{value:.3f} ms"] for name, value in searching["latency ms"].items()]
    if efficiency.peak_memory is not None:
        rows += [["peak memory", _size(efficiency.peak_memory)]]
    return Grid(["efficiency", ""], rows, caption="What searching took.")


def _json(retrieved: Retrieved | None, tuned: Tuned | None, *, saved: bool) -> str:
    import json

    document: dict[str, Json] = {"schema": SCHEMA}
    if retrieved:
        document["metadata"] = retrieved.metadata
    if tuned:
        document["tuning"] = tuning_dict(tuned)
        if saved:
            best = tuned.best
            kept: dict[str, Json] = {
                "parameters": _named(best.parameters),
                "score": best.score,
                "topics": list(best.topics),
            }
            document["saved"] = kept
    return json.dumps(document, indent=1, allow_nan=False) + "\n"


def tuning_dict(tuned: Tuned, *, points: bool = True) -> dict[str, Json]:
    """A sweep in its documented form; `points` are the scores of every combination on every topic."""
    document: dict[str, Json] = {
        "model": tuned.model.name,
        "measure": str(tuned.measure),
        "folds": [
            {
                "parameters": _named(fold.parameters),
                "train_score": fold.train_score,
                "test_score": fold.test_score,
                "train": list(fold.train),
                "test": list(fold.test),
            }
            for fold in tuned.folds
        ],
        "test_score": tuned.test_score,
        "default_score": tuned.default_score,
        "best_score": tuned.best_score,
    }
    if points:
        document["topics"] = list(tuned.topics)
        document["points"] = [
            {"parameters": _named(point), "scores": scores}
            for point, scores in zip(tuned.points, tuned.scores.tolist(), strict=True)
        ]
    return document


def _named(parameters: Mapping[str, Value]) -> dict[str, Json]:
    from cranfield.render.json_form import plain

    return {name.rstrip("_"): plain(value) for name, value in parameters.items()}


def _shown(value: Value) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _size(count: int) -> str:
    return f"{count / 1e6:,.1f} MB" if count >= 1e6 else f"{count / 1e3:,.1f} kB"
