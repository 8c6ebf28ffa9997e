"""Logs made by chance, with everything odd in them, and the metrics of search once more, slowly and by hand."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

Row = dict[str, Any]
START = datetime(2026, 11, 2, tzinfo=UTC)


class MadeLog(NamedTuple):
    """The rows of each table."""

    impressions: list[Row]
    events: list[Row]
    assignments: list[Row]
    covariates: list[Row]


def made_log(seed: int, users: int = 40) -> MadeLog:
    """A log of users in two arms, some of whom are bots or in both, with events twice, late and of no query."""
    rng = random.Random(seed)
    log = MadeLog([], [], [], [])
    for user in range(users):
        name, arm = f"u{user:03d}", rng.choice(["A", "B"])
        since = START + timedelta(days=rng.randrange(5), seconds=rng.randrange(40_000))
        log.assignments.append({"unit_id": name, "variant": arm, "ts_first": since, "device": rng.choice("xy")})
        if rng.random() < 0.05:
            log.assignments.append(
                {"unit_id": name, "variant": "A" if arm == "B" else "B", "ts_first": since, "device": "x"}
            )
        if rng.random() < 0.8:
            log.covariates.append({"unit_id": name, "metric": "before", "value": float(rng.randrange(9))})
        for session in range(rng.choice([0, 1, 1, 2, 3])):
            time = since + timedelta(days=session, seconds=rng.randrange(-3_000, 9_000))
            for _ in range(rng.choice([1, 2, 2, 4])):
                _add_query(log, rng, name, arm, f"{name}/{session}", time)
                time += timedelta(seconds=rng.choice([5, 60, 119, 120, 121, 900]), microseconds=rng.randrange(9))
    log.events.append({**_event("nowhere", START, "click"), "doc_id": "d1", "rank": 1})
    rng.shuffle(log.impressions)
    rng.shuffle(log.events)
    return log


def _add_query(log: MadeLog, rng: random.Random, user: str, arm: str, session: str, time: datetime) -> None:
    query = f"q{len(log.impressions):04d}"
    docs = [f"d{number}" for number in rng.sample(range(30), rng.choice([0, 3, 5, 5]))]
    log.impressions.append(
        {
            "query_id": query,
            "ts": time,
            "user_id": user,
            "session_id": session,
            "query_text": rng.choice(["pond", "duck", "frog"]),
            "variant": arm,
            "docs": docs,
            "n_results": len(docs),
            "latency_ms": rng.choice([None, 10.5, 20.25, 300.0]),
            "is_bot": rng.random() < 0.03,
            "trigger": rng.random() < 0.3,
            "answer": rng.choice([True, False, None]),
            "market": rng.choice(["de", "fr", None]),
        }
    )
    for _ in range(rng.choice([0, 0, 1, 2, 3]) if docs else 0):
        rank = rng.randrange(len(docs)) + 1
        after = rng.choice([1.5, 20, 299.5, 300, 301, 100_000])
        event = _event(query, time + timedelta(seconds=after + rng.random()), rng.choice(["click", "click", "cart"]))
        event |= {"doc_id": docs[rank - 1], "rank": rank, "dwell_s": rng.choice([None, 5.0, 29.9, 30.0, 90.0])}
        event["value"] = round(rng.uniform(1, 90), 2) if event["action"] == "cart" else None
        log.events.extend([event] * rng.choice([1, 1, 1, 2]))


def _event(query: str, time: datetime, action: str) -> Row:
    return {
        "query_id": query,
        "ts": time,
        "action": action,
        "doc_id": None,
        "rank": None,
        "dwell_s": None,
        "value": None,
    }


class Seen(NamedTuple):
    """A query with its events, in order of time, and the next query of its user."""

    query: Row
    events: list[Row]
    following: Row | None
    in_session: int

    def clicks(self, dwell: float = -1) -> list[Row]:
        return [e for e in self.events if e["action"] == "click" and (dwell < 0 or (e["dwell_s"] or 0) >= dwell)]

    def reformulated(self, within: float = 120) -> bool:
        if self.following is None or self.following["query_text"] == self.query["query_text"]:
            return False
        return bool((self.following["ts"] - self.query["ts"]).total_seconds() <= within)

    def seconds(self, clicks: list[Row], limit: float = 300) -> float:
        times = [(click["ts"] - self.query["ts"]).total_seconds() for click in clicks]
        return min(max(min(times), 0.0), limit) if times else limit


def _first(clicks: list[Row], last: bool = False) -> int:
    time = (max if last else min)(click["ts"] for click in clicks)
    return int(min(click["rank"] for click in clicks if click["ts"] == time))


# Numerator and denominator of each metric for a query; None: every unit counts once.
SLOW: dict[str, Callable[[Seen], tuple[float, float | None]]] = {
    "ctr": lambda s: (bool(s.clicks()), 1),
    "clicks_at_1": lambda s: (any(c["rank"] == 1 for c in s.clicks()), 1),
    "clicks_per_query": lambda s: (len(s.clicks()), 1),
    "satisfied": lambda s: (bool(s.clicks(30)), 1),
    "satisfied(dwell=5)": lambda s: (bool(s.clicks(5)), 1),
    "abandonment": lambda s: (bool(s.query["docs"]) and not s.clicks(), bool(s.query["docs"])),
    "good_abandonment": lambda s: (
        bool(s.query["docs"]) and bool(s.query["answer"]) and not s.clicks() and not s.reformulated(),
        bool(s.query["docs"]),
    ),
    "rr_first": lambda s: (1 / _first(s.clicks()) if s.clicks() else 0, 1),
    "rr_last": lambda s: (1 / _first(s.clicks(), last=True) if s.clicks() else 0, 1),
    "rank_first": lambda s: (_first(s.clicks()) if s.clicks() else 0, bool(s.clicks())),
    "time_to_click": lambda s: (s.seconds(s.clicks()), 1),
    "time_to_success": lambda s: (s.seconds(s.clicks(30)), 1),
    "zero_results": lambda s: (not s.query["docs"], 1),
    "reformulation": lambda s: (s.reformulated(), 1),
    "reformulation(within=60)": lambda s: (s.reformulated(60), 1),
    "queries_per_session": lambda s: (1, 1 / s.in_session),
    "sessions_per_unit": lambda s: (1 / s.in_session, None),
    "queries_per_unit": lambda s: (1, None),
    "value_per_unit": lambda s: (sum(e["value"] or 0 for e in s.events), None),
    "value_per_query": lambda s: (sum(e["value"] or 0 for e in s.events), 1),
    "action_per_query": lambda s: (any(e["action"] == "purchase" for e in s.events), 1),
    "action_per_query(action='cart')": lambda s: (any(e["action"] == "cart" for e in s.events), 1),
    "latency": lambda s: (s.query["latency_ms"] or 0, s.query["latency_ms"] is not None),
}
OF_ITS_OWN = ("latency_quantile",)  # not a sum over queries: tests/online/test_quantile_metrics.py has it


def slow_sums(log: MadeLog, metric: str, late_hours: float | None = None) -> dict[str, dict[str, tuple[float, float]]]:
    """Numerator and denominator of each unit that counts, by arm and unit, one query after the other."""
    arms: dict[str, set[str]] = defaultdict(set)
    since = {row["unit_id"]: row["ts_first"] for row in log.assignments}
    for row in log.assignments:
        arms[row["unit_id"]].add(row["variant"])
    one = {unit: next(iter(of)) for unit, of in arms.items() if len(of) == 1}
    bots = {row["user_id"] for row in log.impressions if row["is_bot"]}
    counted = [r for r in log.impressions if r["user_id"] in one and not r["is_bot"] and r["ts"] >= since[r["user_id"]]]
    found: dict[str, dict[str, tuple[float, float]]] = {"A": {}, "B": {}}
    for unit, arm in one.items():
        mine = sorted((r for r in counted if r["user_id"] == unit), key=lambda r: (r["ts"], r["query_id"]))
        if not mine and unit in bots:
            continue
        above = below = 0.0
        per_unit = False
        for place, query in enumerate(mine):
            following = mine[place + 1] if place + 1 < len(mine) else None
            together = sum(r["session_id"] == query["session_id"] for r in mine)
            numerator, denominator = SLOW[metric](Seen(query, _events(log, query, late_hours), following, together))
            per_unit = denominator is None
            above, below = above + numerator, below + (denominator or 0)
        found[arm][unit] = (above, 1.0 if per_unit else below)
    return found


def _events(log: MadeLog, query: Row, late_hours: float | None) -> list[Row]:
    kept: list[Row] = []
    for event in log.events:
        after = (event["ts"] - query["ts"]).total_seconds()
        if (
            event["query_id"] == query["query_id"]
            and event not in kept
            and not (late_hours and after > late_hours * 3600)
        ):
            kept.append(event)
    return kept
