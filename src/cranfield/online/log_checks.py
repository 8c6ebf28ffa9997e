"""What can be wrong with a log: every check is a question in SQL, which DuckDB answers over the whole of it.

Nothing is mended here. What is left out later, and what is taken for something, is told with its number.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from cranfield.errors import DataError, shorten
from cranfield.online import engine
from cranfield.online.log_report import LogProblem, LogReport, LogSize
from cranfield.online.log_tables import TABLES, renamed
from cranfield.online.logs import Logs

if TYPE_CHECKING:
    from cranfield.online.trial import Trial

SHOWN = 3  # examples of each problem
HEAVY = 200  # queries of a unit on a day that few people send, unless the trial says another number
LATE_HOURS = 24.0  # after its query, unless the trial says another number
LEAST_JOINED = 0.99  # share of events that must belong to a query
_ZONE = r"(?i)(z|utc|[+-][0-9]{2}:?([0-9]{2})?|[a-z]+/[a-z_/]+)\s*$"


def check_logs(logs: Logs, trial: Trial | None = None) -> LogReport:
    """Counts and names everything odd about a log; with a trial also whether they go together.

    >>> from cranfield.online import read_logs, read_trial
    >>> report = check_logs(read_logs("examples"), read_trial("examples/experiment.toml"))
    >>> report.doubtful, [problem.code for problem in report.problems]
    (0, ['no-results', 'bots', 'units-without-queries'])
    """
    return _Check(logs.in_duckdb(), trial).report()


class LogQuestions:
    """The tables of a log as views, and how a question is asked of them."""

    def __init__(self, logs: Logs, trial: Trial | None) -> None:
        import narwhals as nw

        self.logs, self.trial = logs, trial
        self.connection = logs.connection
        for name, frame in logs.tables().items():
            nw.to_native(frame).create_view(name, replace=True)
        self.columns = {name: set(logs.columns(name)) for name in TABLES}
        self.sizes = {name: self.number(f"SELECT count(*) FROM {name}") for name in logs.tables()}
        self.unit = engine.quoted(trial.unit if trial is not None else "user_id")
        self.has_unit = (trial.unit if trial is not None else "user_id") in self.columns["impressions"]

    def number(self, sql: str) -> int:
        """The one number that an SQL query gives."""
        return int(self._one(sql)[0])

    def _one(self, sql: str) -> tuple[Any, ...]:
        try:
            row: tuple[Any, ...] = self.connection.execute(sql).fetchall()[0]  # all: an open result blocks the next
        except engine.duckdb().Error as error:
            source = next(iter(self.logs.sources.values()), None)
            raise DataError(f"cannot be read: {shorten(' '.join(str(error).split()), 300)}", source=source) from None
        return row

    def found(
        self,
        code: str,
        table: str,
        rows: str,
        message: str,
        done: str = "",
        *,
        doubtful: bool = True,
        of: int | None = None,
    ) -> Iterator[LogProblem]:
        """The problem, if there are rows of it: `rows` is SQL that gives a text x for each."""
        count, first = self._one(f"SELECT count(*), min(x::VARCHAR, {SHOWN}) FROM ({rows})")
        if count:
            examples = tuple(shorten(str(x), 60) for x in first or ())
            total = self.sizes[table] if of is None else of
            source = self.logs.sources.get(table, table)
            yield LogProblem(code, table, source, message, count, total, examples, done, doubtful)

    def has(self, table: str, *columns: str) -> bool:
        """Whether there is such a table with these columns."""
        return table in self.sizes and set(columns) <= self.columns[table]


class _Check(LogQuestions):
    def report(self) -> LogReport:
        from cranfield.online.event_checks import event_problems
        from cranfield.online.unit_checks import unit_problems

        sizes = tuple(LogSize(name, self.logs.sources.get(name, name), rows) for name, rows in self.sizes.items())
        from cranfield.online.plan_checks import plan_problems

        problems = (*self.values(), *self.queries(), *event_problems(self), *unit_problems(self))
        trial = self.trial
        problems += tuple(plan_problems(self, trial)) if trial is not None else ()
        return LogReport(
            sizes, problems, None if trial is None else trial.name, None if trial is None else trial.digest
        )

    def values(self) -> Iterator[LogProblem]:
        """Values that are not what their column holds, and times without a zone."""
        for table, relation in self.logs.raw.items():
            relation.create_view(f"raw_{table}", replace=True)
            kinds: dict[str, str] = dict(zip(relation.columns, map(str, relation.types), strict=True))
            names = renamed(table, list(kinds), table)
            for raw, kind in kinds.items():
                ours = names.get(raw, raw)
                column = TABLES[table].get(ours)
                if column is None:
                    continue
                name = engine.quoted(raw)
                if column.required or column.kind not in ("id", "text"):
                    yield from self.value(table, ours, name, engine.cast(name, kind, column))
                if column.kind == "time":
                    yield from self.zone(table, ours, name, kind)

    def value(self, table: str, ours: str, name: str, cast: str) -> Iterator[LogProblem]:
        required = TABLES[table][ours].required
        given = f"({name} IS NOT NULL AND {name}::VARCHAR <> '')"
        yield from self.found(
            "not-a-value",
            table,
            f"SELECT {name}::VARCHAR AS x FROM raw_{table} WHERE {given} AND ({cast}) IS NULL",
            f"{ours} cannot be read as {_NOUNS[TABLES[table][ours].kind]}",
            "taken as missing",
        )
        if required:
            yield from self.found(
                "missing",
                table,
                f"SELECT '' AS x FROM raw_{table} WHERE NOT {given}",
                f"{ours} is missing",
                "such rows count for nothing that needs it",
            )

    def zone(self, table: str, ours: str, name: str, kind: str) -> Iterator[LogProblem]:
        if kind == "VARCHAR":
            text = f"TRY_CAST({name} AS DOUBLE) IS NULL AND TRY_CAST({name} AS TIMESTAMPTZ) IS NOT NULL"
            rows = f"SELECT {name} AS x FROM raw_{table} WHERE {text} AND NOT regexp_matches({name}, '{_ZONE}')"
            yield from self.found("no-time-zone", table, rows, f"{ours} has no time zone", "taken for UTC")
        elif (kind.startswith("TIMESTAMP") and "ZONE" not in kind) or kind == "DATE":
            rows = f"SELECT {name}::VARCHAR AS x FROM raw_{table} WHERE {name} IS NOT NULL"
            message = f"{ours} is of the type {kind}, which has no time zone"
            yield from self.found("no-time-zone", table, rows, message, "taken for UTC", doubtful=False)

    def queries(self) -> Iterator[LogProblem]:
        """No queries at all; those that are there twice, lists that are empty, those that are not of the trial."""
        if not self.sizes["impressions"]:
            source = self.logs.sources.get("impressions", "impressions")
            message = "the impressions have no rows"
            yield LogProblem("no-queries", "impressions", source, message, 0, 0, (), "nothing can be analysed")
        elsewhere = "false"  # a query may be in several experiments, with a row for each
        if self.trial is not None and self.has("impressions", "experiment"):
            elsewhere = f"coalesce(experiment <> {_text(self.trial.name)}, false)"
        again = f"SELECT query_id, count(*) AS n FROM impressions GROUP BY query_id, {elsewhere} HAVING n > 1"
        yield from self.found(
            "duplicate-queries",
            "impressions",
            f"SELECT query_id AS x, unnest(range(1, n)) FROM ({again}) WHERE query_id IS NOT NULL",
            "rows have a query_id that stands in another row too",
            "the earliest row of each is counted, and the others are not",
        )
        if self.has("impressions", "n_results"):
            nothing = "SELECT query_id AS x FROM impressions WHERE n_results = 0"
            yield from self.found(
                "no-results", "impressions", nothing, "queries found nothing", "counted by zero_results", doubtful=False
            )
            yield from self.found(
                "negative-counts",
                "impressions",
                "SELECT query_id AS x FROM impressions WHERE n_results < 0",
                "n_results is below 0",
                "counted as they are",
            )
        if self.has("impressions", "docs"):
            yield from self.lists()
        if self.has("impressions", "latency_ms"):
            rows = "SELECT query_id AS x FROM impressions WHERE latency_ms < 0 OR isnan(latency_ms)"
            yield from self.found(
                "impossible-latency", "impressions", rows, "latency_ms is below 0 or no number", "counted as it is"
            )
        if self.trial is not None:
            yield from self.period(self.trial)

    def lists(self) -> Iterator[LogProblem]:
        counted = self.has("impressions", "n_results")
        empty = "docs IS NULL OR len(docs) = 0"
        if counted:
            rows = f"SELECT query_id AS x FROM impressions WHERE n_results > 0 AND ({empty})"
            yield from self.found(
                "empty-lists", "impressions", rows, "docs are empty, but n_results is not 0", "counted by n_results"
            )
        else:
            rows = f"SELECT query_id AS x FROM impressions WHERE {empty}"
            yield from self.found(
                "empty-lists", "impressions", rows, "docs are empty", "counted by zero_results", doubtful=False
            )
        rows = "SELECT query_id AS x FROM impressions WHERE len(docs) > len(list_distinct(docs))"
        yield from self.found("repeated-documents", "impressions", rows, "a list has a document twice")

    def period(self, trial: Trial) -> Iterator[LogProblem]:
        for end, sign, name in ((trial.start, "<", "start"), (trial.end, ">=", "end")):
            if end is not None:
                rows = f"SELECT query_id AS x FROM impressions WHERE ts {sign} {round(end.timestamp() * 1_000_000)}"
                yield from self.found(
                    "outside-period",
                    "impressions",
                    rows,
                    f"queries are {'before the start' if name == 'start' else 'after the end'} of the trial",
                    "left out",
                    doubtful=False,
                )
        if self.has("impressions", "experiment"):
            name = _text(trial.name)
            rows = f"SELECT query_id AS x FROM impressions WHERE experiment <> {name}"
            yield from self.found(
                "other-experiment", "impressions", rows, "queries are of another experiment", "left out", doubtful=False
            )


_NOUNS = {
    "id": "an id",
    "text": "a text",
    "time": "a date with a time",
    "whole": "a whole number",
    "number": "a number",
    "flag": "true or false",
    "texts": "a list",
    "numbers": "a list of numbers",
}


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def sql_texts(values: Iterator[str] | list[str]) -> str:
    """Texts as SQL has a list of them.

    >>> sql_texts(["a", "b'c"])
    "('a', 'b''c')"
    """
    return f"({', '.join(map(_text, values))})"
