"""Checks of what users did: does it belong to a query, to a document that was shown, to its rank, to its time?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cranfield.errors import share
from cranfield.online.log_report import LogProblem

if TYPE_CHECKING:
    from cranfield.online.log_checks import LogQuestions

UNLIKELY = 0.001  # the chance that an arm has no event, from which on something else is likelier


def _of_queries(holds: str) -> str:
    """Events of queries for which something holds; each once, even where a query stands in several rows."""
    return f"FROM events e SEMI JOIN impressions i ON e.query_id = i.query_id AND {holds}"


def event_problems(asking: LogQuestions) -> Iterator[LogProblem]:
    """All that is odd about the events of a log."""
    yield from _unknown_queries(asking)
    yield from _duplicates(asking)
    yield from _actions(asking)
    if asking.has("events", "ts"):
        yield from _times(asking)
    if asking.has("events", "doc_id") and asking.has("impressions", "docs"):
        shown = "e.action = 'click' AND i.docs IS NOT NULL AND NOT list_contains(i.docs, e.doc_id)"
        rows = f"SELECT e.query_id || ' ' || e.doc_id AS x {_of_queries(shown)}"
        done = "counted: look whether docs has all that was shown, under the same ids"
        yield from asking.found("not-shown", "events", rows, "clicks are on documents that were not shown", done)
    if asking.has("events", "rank"):
        yield from _ranks(asking)
    if asking.has("events", "dwell_s"):
        rows = "SELECT query_id AS x FROM events WHERE dwell_s < 0 OR isnan(dwell_s)"
        yield from asking.found(
            "impossible-dwell", "events", rows, "dwell_s is below 0 or no number", "counted as it is"
        )
    if asking.has("events", "value", "currency"):
        several = "(SELECT count(DISTINCT currency) FROM events) > 1"
        rows = f"SELECT DISTINCT currency AS x FROM events WHERE currency IS NOT NULL AND {several}"
        done = "added up as if they were one: convert them before"
        yield from asking.found("currencies", "events", rows, "values are in several currencies", done)


def _unknown_queries(asking: LogQuestions) -> Iterator[LogProblem]:
    from cranfield.online.log_checks import LEAST_JOINED

    rows = "SELECT query_id AS x FROM events ANTI JOIN impressions USING (query_id)"
    for problem in asking.found(
        "unknown-queries", "events", rows, "events belong to no query of the impressions", "left out"
    ):
        joined = 1 - problem.count / problem.of
        bad = joined < LEAST_JOINED
        more = f": only {share(joined, 1)} of the events can be used" if bad else ""
        yield problem._replace(message=problem.message + more, doubtful=bad)


def _duplicates(asking: LogQuestions) -> Iterator[LogProblem]:
    alike = [
        name for name in ("query_id", "ts", "action", "doc_id", "rank", "value") if name in asking.columns["events"]
    ]
    named = "event_id" in asking.columns["events"]
    keys = "event_id" if named else ", ".join(alike)
    known = "WHERE event_id IS NOT NULL" if named else ""
    again = f"SELECT any_value(query_id) AS q, count(*) AS n FROM events {known} GROUP BY {keys} HAVING n > 1"
    rows = f"SELECT q AS x, unnest(range(1, n)) FROM ({again})"
    trial = asking.trial
    kept = trial is not None and not trial.exclusions.duplicates
    what = "the same event_id" if named else "the same query, time, action, document and rank"
    done = "all of them are counted, as the trial says" if kept else "one of each is counted"
    yield from asking.found(
        "duplicate-events", "events", rows, f"events stand there again, with {what}", done, doubtful=kept
    )


def _actions(asking: LogQuestions) -> Iterator[LogProblem]:
    queries = asking.sizes["impressions"]
    if not asking.sizes["events"] and queries:
        message = f"there is no event at all after {queries:,} queries: nobody clicked, or nothing was written down"
        source = asking.logs.sources.get("events", "events")
        yield LogProblem("no-clicks", "events", source, message, queries, queries, (), "metrics of clicks are 0")
        return
    yield from _silent_arms(asking)
    if asking.sizes["events"] and not asking.number("SELECT count(*) FROM events WHERE action = 'click'"):
        rows = "SELECT DISTINCT action AS x FROM events"
        yield from asking.found(
            "no-clicks", "events", rows, "no event is a click; the actions are others", "metrics of clicks are 0"
        )
        return
    names = "('click', 'clicks', 'clicked')"
    rows = f"SELECT action AS x FROM events WHERE action <> 'click' AND lower(trim(action)) IN {names}"
    yield from asking.found(
        "clicks-by-another-name", "events", rows, "actions look like click and are not", "not counted as clicks"
    )


def _silent_arms(asking: LogQuestions) -> Iterator[LogProblem]:
    """Arms without any event, where as many queries of the others would hardly have had none."""
    if asking.has("assignments") and asking.has_unit:
        of = f"SELECT i.query_id, a.variant AS arm FROM impressions i JOIN assignments a ON i.{asking.unit} = a.unit_id"
    elif asking.has("impressions", "variant"):
        of = "SELECT query_id, variant AS arm FROM impressions"
    else:
        return
    followed = f"SELECT arm, query_id IN (SELECT query_id FROM events) AS followed FROM ({of}) WHERE arm IS NOT NULL"
    arms = f"SELECT arm, count(*) AS n, count(*) FILTER (followed) AS hits FROM ({followed}) GROUP BY arm"
    rate = "sum(hits) OVER () / (1 + sum(n) FILTER (hits > 0) OVER ())"  # of arms with events, and never 1
    rows = f"SELECT arm AS x FROM (SELECT *, {rate} AS rate FROM ({arms})) "
    rows += f"WHERE hits = 0 AND pow(1 - rate, n) < {UNLIKELY}"
    told = asking.number(f"SELECT count(*) FROM ({arms})")
    done = "counted as they are: look whether its events were written down"
    yield from asking.found("arms-without-events", "events", rows, "an arm has no event at all", done, of=told)


def _times(asking: LogQuestions) -> Iterator[LogProblem]:
    from cranfield.online.log_checks import LATE_HOURS

    rows = f"SELECT e.query_id AS x {_of_queries('e.ts < i.ts')}"
    done = "counted: seconds to a click are taken as 0"
    yield from asking.found("events-before-query", "events", rows, "events are earlier than their query", done)
    planned = None if asking.trial is None else asking.trial.exclusions.late_hours
    hours = LATE_HOURS if planned is None else planned
    late = f"e.ts - i.ts > {round(hours * 3_600_000_000)}"
    rows = f"SELECT e.query_id AS x {_of_queries(late)}"
    done = "counted, unless the trial has late_hours" if planned is None else "left out"
    message = f"events come more than {hours:g} hours after their query"
    yield from asking.found("late-events", "events", rows, message, done, doubtful=False)


def _ranks(asking: LogQuestions) -> Iterator[LogProblem]:
    """Do ranks begin at 1? Where lists are known, the documents tell."""
    zero = asking.number("SELECT count(*) FROM events WHERE rank = 0")
    if asking.has("events", "doc_id") and asking.has("impressions", "docs"):
        from_1 = asking.number(f"SELECT count(*) {_of_queries('i.docs[e.rank] = e.doc_id')}")
        from_0 = asking.number(f"SELECT count(*) {_of_queries('i.docs[e.rank + 1] = e.doc_id')}")
        if from_0 > from_1:
            rows = "SELECT query_id || ' ' || rank AS x FROM events WHERE rank IS NOT NULL"
            message = f"ranks count from 0: {from_0:,} fit the lists so, {from_1:,} if they counted from 1"
            done = "metrics of ranks are refused: add 1 to each"
            yield from asking.found("rank-base", "events", rows, message, done)
            return
        other = "list_contains(i.docs, e.doc_id) AND e.rank IS NOT NULL AND i.docs[e.rank] IS DISTINCT FROM e.doc_id"
        rows = f"SELECT e.query_id || ' ' || e.rank AS x {_of_queries(other)}"
        yield from asking.found(
            "rank-disagrees",
            "events",
            rows,
            "another document stands at that rank of the list",
            "the rank of the event is taken",
        )
    if zero:
        rows = "SELECT query_id || ' ' || rank AS x FROM events WHERE rank = 0"
        yield from asking.found(
            "rank-base",
            "events",
            rows,
            "the rank is 0: ranks count from 1",
            "metrics of ranks are refused: add 1 to each if all count from 0",
        )
    rows = "SELECT query_id || ' ' || rank AS x FROM events WHERE rank < 0"
    yield from asking.found("impossible-rank", "events", rows, "the rank is below 0", "metrics of ranks are refused")
