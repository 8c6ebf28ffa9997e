"""The tables of a log: what their columns are called, and what stands in them."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Literal, NamedTuple, TypeAlias

from cranfield.errors import DataError, either

Kind: TypeAlias = Literal["id", "text", "time", "whole", "number", "flag", "texts", "numbers"]


class LogColumn(NamedTuple):
    """A column: what stands in it, whether it must be there, what others call it, and what it means."""

    kind: Kind
    meaning: str
    required: bool = False
    others: tuple[str, ...] = ()


IMPRESSIONS: Mapping[str, LogColumn] = {
    "query_id": LogColumn("id", "one shown list of results; no two have the same", True, ("impression_id",)),
    "ts": LogColumn("time", "when", True, ("timestamp", "time")),
    "user_id": LogColumn("id", "who", False, ("client_id", "user")),
    "session_id": LogColumn("id", "the visit it belongs to", False, ("session",)),
    "query_text": LogColumn("text", "what was typed", False, ("query", "user_query")),
    "topic": LogColumn("text", "what judgements call what was looked for", False, ("topic_id",)),
    "experiment": LogColumn("text", "the experiment, if the log has several"),
    "variant": LogColumn("text", "the arm, unless there is a table of assignments", False, ("arm", "group")),
    "layer": LogColumn("text", "the layer of experiments"),
    "docs": LogColumn("texts", "documents shown, best first"),
    "teams": LogColumn("numbers", "of an interleaved list: the ranker of each document, -1 for both"),
    "policy": LogColumn("text", "how the list was made: method, seed, version"),
    "propensity": LogColumn("numbers", "of each document: the chance that it was shown there"),
    "n_results": LogColumn("whole", "how many results were found; without it, how many docs", False, ("hits",)),
    "latency_ms": LogColumn("number", "milliseconds that the answer took", False, ("latency",)),
    "is_bot": LogColumn("flag", "whether it came from a machine", False, ("bot",)),
    "trigger": LogColumn("flag", "whether the arms would have shown different lists", False, ("triggered",)),
    "answer": LogColumn("flag", "whether an answer stood on the page itself"),
}
EVENTS: Mapping[str, LogColumn] = {
    "query_id": LogColumn("id", "the query it belongs to", True, ("impression_id",)),
    "ts": LogColumn("time", "when", False, ("timestamp", "time")),
    "action": LogColumn("text", "click, or any other word", True, ("action_name", "event")),
    "doc_id": LogColumn("text", "the document", False, ("document", "object_id")),
    "rank": LogColumn("whole", "where it stood, from 1", False, ("position", "ordinal")),
    "dwell_s": LogColumn("number", "seconds on the document", False, ("dwell",)),
    "value": LogColumn("number", "what it is worth, such as a price", False, ("revenue",)),
    "currency": LogColumn("text", "of the value"),
    "event_id": LogColumn("id", "names the event; the same again is a duplicate"),
}
ASSIGNMENTS: Mapping[str, LogColumn] = {
    "unit_id": LogColumn("id", "who was assigned", True, ("user_id", "unit")),
    "variant": LogColumn("text", "the arm", True, ("arm", "group")),
    "ts_first": LogColumn("time", "when the unit was first assigned", False, ("ts", "timestamp")),
    "experiment": LogColumn("text", "the experiment, if the table has several"),
}
COVARIATES: Mapping[str, LogColumn] = {
    "unit_id": LogColumn("id", "who", True, ("user_id", "unit")),
    "metric": LogColumn("text", "what was measured before the experiment", True, ("covariate",)),
    "value": LogColumn("number", "how much", True),
    "ts_last": LogColumn("time", "when the time it was measured in ended"),
}
TABLES: Mapping[str, Mapping[str, LogColumn]] = {
    "impressions": IMPRESSIONS,
    "events": EVENTS,
    "assignments": ASSIGNMENTS,
    "covariates": COVARIATES,
}
NEEDED = ("impressions", "events")


def renamed(table: str, columns: list[str], source: str) -> dict[str, str]:
    """For each column of a table that goes by another name, ours; a column that must be there and is not is refused.

    >>> renamed("events", ["query_id", "action_name", "colour"], "events.csv")
    {'action_name': 'action'}
    """
    found: dict[str, str] = {}
    for name, column in TABLES[table].items():
        if name in columns:
            continue
        other = next((other for other in column.others if other in columns and other not in found), None)
        if other is not None and other not in TABLES[table]:
            found[other] = name
        elif column.required:
            near = get_close_matches(name, columns, 1)
            meant = f"; is it {near[0]}?" if near else ""
            raise DataError(
                f"the {table} have no column {name} ({column.meaning}){meant}",
                source=source,
                remedy=f"They have: {', '.join(columns) or 'none'}. It may be called {either((name, *column.others))}.",
            )
    return found
