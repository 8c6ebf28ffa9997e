"""A log written by hand, for examples: the queries of one user, and what happened after each."""

from __future__ import annotations

from typing import Any, NamedTuple

from cranfield.errors import UsageError


class HandQuery(NamedTuple):
    """A list that was shown: columns of the impressions, and what the user did."""

    columns: dict[str, Any]
    events: tuple[dict[str, Any], ...]


def shown(*events: dict[str, Any], **columns: Any) -> HandQuery:
    """A list that was shown, and what followed; `at` is when, in seconds, a minute after the one before if not given.

    >>> shown(clicked(2), n_results=10).columns
    {'n_results': 10}
    """
    return HandQuery(columns, events)


def clicked(rank: int = 1, *, after: float = 1.0, **columns: Any) -> dict[str, Any]:
    """A click on a rank, so many seconds after the list was shown.

    >>> clicked(3, dwell_s=40.0)
    {'action': 'click', 'rank': 3, 'after': 1.0, 'dwell_s': 40.0}
    """
    return did("click", rank=rank, after=after, **columns)


def did(action: str, **columns: Any) -> dict[str, Any]:
    """Anything else that a user did.

    >>> did("purchase", value=20.0)
    {'action': 'purchase', 'value': 20.0}
    """
    return {"action": action, **columns}


def metric_by_hand(metric: str, *lists: HandQuery) -> float:
    """A metric of the queries of one user.

    >>> metric_by_hand("ctr", shown(clicked(2)), shown())
    0.5
    """
    from cranfield.online.aggregation import pooled_units
    from cranfield.online.analysis.estimates import ratio_of
    from cranfield.online.logs import read_logs
    from cranfield.online.trial import Trial
    from cranfield.statistics.moments import Moments

    if not lists:
        raise UsageError("a metric needs a query: give what was shown")
    trial = Trial("by hand", {"a": 1, "b": 1}, primary="ctr", secondary=() if metric == "ctr" else (metric,))
    units, metrics = pooled_units(read_logs(_tables(lists)), trial)
    return ratio_of(metrics[-1]).value(Moments.of(units.sums))


def _tables(lists: tuple[HandQuery, ...]) -> dict[str, Any]:
    """The tables of a log that has these lists alone."""
    import pyarrow as pa

    impressions, events = [], []
    for number, (columns, followed) in enumerate(lists):
        at = columns.get("at", 60.0 * number)
        more = {name: value for name, value in columns.items() if name != "at"}
        impressions.append({"query_id": f"q{number:06d}", "user_id": "u", "ts": at} | more)
        for event in followed:
            own = {name: value for name, value in event.items() if name != "after"}
            events.append({"query_id": f"q{number:06d}", "ts": at + event.get("after", 1.0)} | own)
    nothing = {"query_id": "none", "ts": 0.0, "action": "none", "rank": 1, "dwell_s": 0.0, "value": 0.0}
    return {"impressions": pa.Table.from_pylist(_even(impressions)), "events": pa.Table.from_pylist([nothing, *events])}


def _even(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows that all have the columns of the first of them to have each."""
    names = dict.fromkeys(name for row in rows for name in row)
    return [{name: row.get(name) for name in names} for row in rows]
