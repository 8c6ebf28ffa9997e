"""Checks of whether a log has what its plan names: columns, segments, covariates, and the actions of metrics."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cranfield.errors import DataError
from cranfield.online.log_report import LogProblem
from cranfield.online.metrics import QueryFacts
from cranfield.online.nearest import nearest_first
from cranfield.online.seen_events import SeenEvents, unseen_actions, unseen_told

if TYPE_CHECKING:
    from cranfield.online.log_checks import LogQuestions
    from cranfield.online.trial import Trial


def plan_problems(asking: LogQuestions, trial: Trial) -> Iterator[LogProblem]:
    """What the plan names and the log has not, with the nearest names that it has."""
    columns = list(dict.fromkeys([*asking.logs.columns("impressions"), *asking.logs.columns("assignments")]))
    if not asking.has_unit:
        message = f"the unit of the trial, {trial.unit}, is no column: they have {nearest_first(trial.unit, columns)}"
        yield _missing(asking, "missing-columns", "impressions", message, "nothing can be analysed")
    yield from _metrics(asking, trial)
    for name in trial.segments:
        if name not in columns:
            message = f"the segment {name} is a column neither of impressions nor of assignments: "
            message += f"they have {nearest_first(name, columns)}"
            yield _missing(asking, "missing-segments", "impressions", message, "analyse refuses such a plan")
    known = _texts(asking, "SELECT DISTINCT metric FROM covariates") if asking.has("covariates") else []
    for name in trial.covariates:
        if name not in known:
            has = f"there are {nearest_first(name, known)}" if known else "there are none"
            message = f"the covariate {name} is not in the log: {has}"
            yield _missing(asking, "missing-covariates", "covariates", message, "analyse refuses such a plan")


def _metrics(asking: LogQuestions, trial: Trial) -> Iterator[LogProblem]:
    """Metrics that need a column which is not there, or count an action that never occurs."""
    counted = asking.connection.execute("SELECT action, count(*) FROM events GROUP BY action ORDER BY 1").fetchall()
    actions = {str(action): int(count) for action, count in counted if action is not None}
    seen = SeenEvents(asking.sizes["events"], actions, {})
    for name, metric in trial.resolved().items():
        try:
            metric.ratio(QueryFacts(frozenset(asking.columns["impressions"]), frozenset(asking.columns["events"])))
        except DataError as error:
            message, table = str(error).splitlines()[0], "impressions"
            yield _missing(asking, "missing-columns", table, message, "analyse refuses such a plan")
            continue
        unseen = unseen_actions(asking.logs, {name: metric}, seen) if actions else {}  # without any, no-clicks tells
        for action in unseen.values():
            message = f"{name}: {unseen_told(action, actions)}"
            done = "it is 0 for everybody: a guardrail of it is not held"
            yield _missing(asking, "missing-actions", "events", message, done)


def _texts(asking: LogQuestions, sql: str) -> list[str]:
    return sorted(str(row[0]) for row in asking.connection.execute(sql).fetchall() if row[0] is not None)


def _missing(asking: LogQuestions, code: str, table: str, message: str, done: str) -> LogProblem:
    return LogProblem(code, table, asking.logs.sources.get(table, table), message, 1, 1, (), done)
