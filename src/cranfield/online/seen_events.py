"""Which events a log has at all: a metric of an action that never occurs is 0 for everybody, and tells nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from cranfield.errors import DataError, plural, shorten
from cranfield.online.arrow_columns import arrow_table
from cranfield.online.metrics import QueryFacts
from cranfield.online.nearest import nearest_first

if TYPE_CHECKING:
    from cranfield.online.logs import Logs
    from cranfield.online.metrics import Metric

ANY = ""  # in place of an action: events of whatever action


class SeenEvents(NamedTuple):
    """The events of a log: how many in all and of each action, and how many of each have a rank below 1."""

    total: int
    actions: Mapping[str, int]
    below: Mapping[str, int]


def seen_events(logs: Logs, *, ranks: bool = False) -> SeenEvents:
    """Counts the events of a log by action; those with impossible ranks if that is asked for.

    >>> from cranfield.online import read_logs
    >>> seen_events(read_logs("examples"), ranks=True)
    SeenEvents(total=120, actions={'cart': 24, 'click': 96}, below={})
    """
    import narwhals as nw

    low = (nw.col("rank") < 1).fill_null(False) if ranks else nw.lit(False)
    events = logs.events.select("action", nw.when(low).then(nw.lit(1.0)).otherwise(nw.lit(0.0)).alias("@low"))
    counted = events.group_by("action").agg(nw.len().alias("@count"), nw.col("@low").sum())
    rows = arrow_table(counted).to_pylist()
    named = sorted(
        (str(row["action"]), int(row["@count"]), int(row["@low"])) for row in rows if row["action"] is not None
    )
    actions = {action: count for action, count, _ in named}
    below = {action: count for action, _, count in named if count}
    return SeenEvents(sum(int(row["@count"]) for row in rows), actions, below)


def unseen_actions(logs: Logs, metrics: Mapping[str, Metric], seen: SeenEvents) -> dict[str, str]:
    """Of metrics that count events of which the log has none, the action; nothing where any event would do."""
    found = {}
    for name, metric in metrics.items():
        facts = QueryFacts(frozenset(logs.columns("impressions")), frozenset(logs.columns("events")))
        metric.ratio(facts)
        for fact in facts.events.values():
            if not (seen.total if fact.action is None else seen.actions.get(fact.action)):
                found[name] = fact.action or ANY
    return found


def unseen_told(action: str, actions: Iterable[str]) -> str:
    """What is wrong with a metric of an action that never occurs, and what it may have meant.

    >>> unseen_told("refnd", ["click", "refund"])
    "no event of the log is a 'refnd', which it counts; there are refund, click"
    >>> unseen_told("click", [])
    'the log has no event at all'
    """
    known = list(actions)
    if not known:
        return "the log has no event at all"
    return (
        f"no event of the log is a '{shorten(action, 60)}', which it counts; there are {nearest_first(action, known)}"
    )


def check_ranks(logs: Logs, facts: QueryFacts, seen: SeenEvents) -> None:
    """Refuses metrics of ranks where some rank is below 1: most likely all of them count from 0."""
    asked = {fact.action for fact in facts.events.values() if "rank" in (fact.value, *(fact.least or ())[:1])}
    for action in sorted(seen.below):
        if action in asked or None in asked:
            told = f"{seen.below[action]:,} of {plural(seen.actions[action], action)} have a rank below 1"
            raise DataError(
                f"{told}, and ranks count from 1: metrics of ranks would be wrong",
                source=logs.sources.get("events"),
                remedy="Add 1 to each if all count from 0; `cranfield online check` tells whether they do.",
            )
