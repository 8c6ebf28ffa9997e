"""Checks of who took part: who is in which arm, since when, how often, and what was known of them before."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cranfield.online.log_report import LogProblem

if TYPE_CHECKING:
    from cranfield.online.log_checks import LogQuestions
    from cranfield.online.trial import Trial


def unit_problems(asking: LogQuestions) -> Iterator[LogProblem]:
    """All that is odd about the units of a log."""
    if asking.has_unit:
        yield from _crowds(asking)
    if asking.has("impressions", "session_id"):
        rows = "SELECT query_id AS x FROM impressions WHERE session_id IS NULL"
        done = "those of a unit count as one session"
        yield from asking.found("no-session", "impressions", rows, "queries have no session_id", done)
        if asking.has_unit:
            known = "SELECT session_id AS x FROM impressions WHERE session_id IS NOT NULL"
            rows = f"{known} GROUP BY 1 HAVING count(DISTINCT {asking.unit}) > 1"
            done = "counted as a session of each of them"
            yield from asking.found("shared-sessions", "impressions", rows, "sessions have several units", done)
    if asking.has("assignments"):
        yield from _assignments(asking)
    elif asking.has_unit and asking.has("impressions", "variant"):
        of = asking.number(f"SELECT count(DISTINCT {asking.unit}) FROM impressions")
        known = f"SELECT {asking.unit} AS x FROM impressions WHERE variant IS NOT NULL"
        rows = f"{known} GROUP BY 1 HAVING count(DISTINCT variant) > 1"
        yield from asking.found("two-arms", "impressions", rows, "units are in two arms", "left out", of=of)
    if asking.trial is not None:
        yield from _arms(asking, asking.trial)
    if asking.has("covariates"):
        yield from _covariates(asking)


def _crowds(asking: LogQuestions) -> Iterator[LogProblem]:
    """Machines, and units that do more than people do."""
    from cranfield.online.log_checks import HEAVY

    trial = asking.trial
    rows = f"SELECT query_id AS x FROM impressions WHERE {asking.unit} IS NULL"
    yield from asking.found("no-unit", "impressions", rows, f"queries have no {asking.unit.strip(chr(34))}", "left out")
    if asking.has("impressions", "is_bot"):
        kept = trial is not None and not trial.exclusions.bots
        rows = "SELECT query_id AS x FROM impressions WHERE is_bot"
        done = "counted, as the trial says" if kept else "left out"
        yield from asking.found(
            "bots", "impressions", rows, "queries are marked as those of machines", done, doubtful=kept
        )
    planned = None if trial is None else trial.exclusions.queries_per_day
    limit = HEAVY if planned is None else planned
    of = asking.number(f"SELECT count(DISTINCT {asking.unit}) FROM impressions")
    rows = (
        f"SELECT DISTINCT {asking.unit} AS x FROM impressions WHERE {asking.unit} IS NOT NULL "
        f"GROUP BY {asking.unit}, ts // 86400000000 HAVING count(*) > {limit:g}"
    )
    done = "counted, unless the trial has queries_per_day" if planned is None else "left out"
    message = f"units have more than {limit:g} queries on a day"
    yield from asking.found("heavy-units", "impressions", rows, message, done, doubtful=planned is None, of=of)


def _assignments(asking: LogQuestions) -> Iterator[LogProblem]:
    mine = _of_trial(asking)
    rows = f"SELECT unit_id AS x FROM ({mine}) GROUP BY unit_id HAVING count(DISTINCT variant) > 1"
    of = asking.number(f"SELECT count(DISTINCT unit_id) FROM ({mine})")
    yield from asking.found("two-arms", "assignments", rows, "units are in two arms", "left out", of=of)
    if not asking.has_unit:
        return
    unit = f"i.{asking.unit}"
    apart = f"impressions i ANTI JOIN ({mine}) a ON {unit} = a.unit_id"
    rows = f"SELECT DISTINCT {unit} AS x FROM {apart} WHERE {unit} IS NOT NULL"
    units = asking.number(f"SELECT count(DISTINCT {asking.unit}) FROM impressions")
    yield from asking.found("not-assigned", "impressions", rows, "units have no assignment", "left out", of=units)
    rows = f"SELECT DISTINCT a.unit_id AS x FROM ({mine}) a ANTI JOIN impressions i ON {unit} = a.unit_id"
    done = "they count, with nothing"
    yield from asking.found(
        "units-without-queries",
        "assignments",
        rows,
        "units were assigned and sent no query",
        done,
        doubtful=False,
        of=of,
    )
    if asking.has("assignments", "ts_first"):
        since = f"SELECT unit_id, min(ts_first) AS since FROM ({mine}) GROUP BY 1"
        joined = f"FROM impressions i JOIN ({since}) a ON {unit} = a.unit_id"
        rows = f"SELECT i.query_id AS x {joined} WHERE i.ts < a.since"
        yield from asking.found(
            "before-assignment", "impressions", rows, "queries are earlier than their unit's assignment", "left out"
        )
    if asking.has("impressions", "variant"):
        joined = f"FROM impressions i JOIN ({mine}) a ON {unit} = a.unit_id"
        rows = f"SELECT i.query_id AS x {joined} WHERE i.variant <> a.variant"
        done = "the assignment holds"
        yield from asking.found(
            "another-arm-shown", "impressions", rows, "queries were shown another arm than was assigned", done
        )


def _of_trial(asking: LogQuestions) -> str:
    """The assignments of the trial, as SQL."""
    if asking.trial is None or not asking.has("assignments", "experiment"):
        return "SELECT * FROM assignments"
    name = asking.trial.name.replace("'", "''")
    return f"SELECT * FROM assignments WHERE experiment IS NULL OR experiment = '{name}'"


def _arms(asking: LogQuestions, trial: Trial) -> Iterator[LogProblem]:
    """Arms that the trial does not know, and whether those it knows have as many units as their weights say."""
    from cranfield.online.log_checks import sql_texts
    from cranfield.statistics.sample_ratio import ALARM, sample_ratio

    assigned = asking.has("assignments")
    if not assigned and not (asking.has_unit and asking.has("impressions", "variant")):
        return
    table, unit = ("assignments", "unit_id") if assigned else ("impressions", asking.unit)
    mine = _of_trial(asking) if assigned else "SELECT * FROM impressions"
    names = sql_texts(list(trial.arms))
    known = f"SELECT {unit} AS u, min(variant) AS arm FROM ({mine}) WHERE {unit} IS NOT NULL"
    units = f"{known} GROUP BY 1 HAVING count(DISTINCT variant) = 1"
    of = asking.number(f"SELECT count(*) FROM ({units})")
    rows = f"SELECT DISTINCT variant AS x FROM ({mine}) WHERE variant NOT IN {names}"
    yield from asking.found(
        "unknown-arms", table, rows, "arms are not in the trial", "their units are left out", of=len(trial.arms)
    )
    counts = [asking.number(f"SELECT count(*) FROM ({units}) WHERE arm IN {sql_texts([arm])}") for arm in trial.arms]
    empty = [arm for arm, count in zip(trial.arms, counts, strict=True) if not count]
    if empty:
        rows = f"SELECT unnest([{sql_texts(empty)[1:-1]}]) AS x"
        yield from asking.found(
            "empty-arms", table, rows, "arms of the trial have no units", "nothing can be compared", of=len(trial.arms)
        )
        return
    p = sample_ratio(counts, list(trial.arms.values())).p
    if p < ALARM:
        told = ", ".join(f"{arm} {count:,}" for arm, count in zip(trial.arms, counts, strict=True))
        message = f"arms do not have the units that their weights say: {told}; chi-square p = {p:.2g}"
        done = "find out why before any result is believed"
        yield LogProblem("sample-ratio", table, asking.logs.sources.get(table, table), message, of, of, (), done)


def _covariates(asking: LogQuestions) -> Iterator[LogProblem]:
    rows = "SELECT unit_id || ' ' || metric AS x FROM covariates GROUP BY unit_id, metric HAVING count(*) > 1"
    done = "added up"
    yield from asking.found(
        "repeated-covariates", "covariates", rows, "a unit has a covariate several times", done, doubtful=False
    )
    if not asking.has("covariates", "ts_last") or not asking.has_unit:
        return
    since = f"SELECT {asking.unit} AS u, min(ts) AS since FROM impressions GROUP BY 1"
    if asking.has("assignments", "ts_first"):
        since = f"SELECT unit_id AS u, min(ts_first) AS since FROM ({_of_trial(asking)}) GROUP BY 1"
    rows = f"SELECT c.unit_id AS x FROM covariates c JOIN ({since}) s ON c.unit_id = s.u WHERE c.ts_last > s.since"
    done = "counted: an adjustment by them takes away a part of the effect"
    yield from asking.found(
        "late-covariates", "covariates", rows, "covariates were measured after the unit was exposed", done
    )
