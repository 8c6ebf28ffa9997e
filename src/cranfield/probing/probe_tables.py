"""What an engine answered, as tables: how fast, what is wrong, and where expected documents stand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cranfield.errors import share
from cranfield.render.grid import WRITERS, Grid
from cranfield.search.search_tables import FORMATS as FORMATS
from cranfield.search.search_tables import efficiency_grid

if TYPE_CHECKING:
    from cranfield.probing.asking import Counts, Probed
    from cranfield.probing.expectations import Visibility
    from cranfield.render.json_form import Json

SCHEMA = "cranfield.probe/1"


def render(probed: Probed, format: str) -> str:
    """What came of probing in a format, ending in a newline."""
    if format == "json":
        return _json(probed)
    grids = [answers_grid(probed.counts), efficiency_grid(probed.efficiency)]
    if probed.visibility is not None:
        grids = [*visibility_grids(probed.visibility), *grids]
    return "\n".join(WRITERS[format](grid) for grid in grids)


def answers_grid(counts: Counts) -> Grid:
    """Topics by what came of them, and requests."""
    rows = {
        "topics": counts.topics,
        "without an answer": len(counts.failed),
        "nothing found": len(counts.empty),
        "not everything searched": len(counts.faults["partial"]),
        "a document twice": len(counts.faults["duplicates"]),
        "more documents than asked for": len(counts.faults["too-many"]),
        "scores that do not descend": len(counts.faults["not-descending"]),
        "another ranking when asked again": len(counts.faults["unstable"]),
        "requests": counts.requests,
        "sent once more": sum(counts.tried_again.values()),
    }
    counted = [[label, f"{number:,}"] for label, number in rows.items()]
    return Grid(["answers", ""], counted, caption="What came of asking the engine.")


def visibility_grids(visibility: Visibility) -> list[Grid]:
    """The rank of each document that is expected, and how many are visible."""
    hidden = f"not in the first {visibility.within}"

    def shown(rank: int | None) -> str:
        if rank is None:
            return "not found"
        return str(rank) if rank <= visibility.within else f"{rank}, {hidden}"

    rows = [[item.topic, item.document, shown(item.rank)] for item in visibility.items]
    documents, topics = len(visibility.items), len(visibility.best)
    seen, answered = documents - len(visibility.missing), sum(rank is not None for rank in visibility.best.values())
    summary = [[f"in the first {visibility.within}", f"{seen} of {documents}, {share(visibility.share)}"]]
    if documents > topics:
        summary.append(["topics with any of theirs there", f"{answered} of {topics}, {share(visibility.success)}"])
    summary.append([f"RR@{visibility.within}, mean over topics", f"{visibility.reciprocal_rank:.4f}"])
    ranks = Grid(["topic", "document", "rank"], rows, labels=2, caption="Ranks of expected documents.")
    return [
        ranks,
        Grid(["visibility", ""], summary, caption="How many expected documents are visible."),
    ]


def _json(probed: Probed) -> str:
    import json

    document: dict[str, Json] = {"schema": SCHEMA, "metadata": probed.metadata, "answers": probed.counts.to_dict()}
    seen = probed.visibility
    if seen is not None:
        document["visibility"] = {
            "within": seen.within,
            "share": seen.share,
            "success": seen.success,
            "reciprocal rank": seen.reciprocal_rank,
            "items": [item._asdict() for item in seen.items],
        }
    return json.dumps(document, indent=1, allow_nan=False) + "\n"
