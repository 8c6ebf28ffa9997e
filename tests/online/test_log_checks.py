"""What is odd about a log is counted and named: each problem is put into a sound log, and found there alone."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from commands import command_line
from cranfield.errors import DataError, UsageError
from cranfield.online import LogReport, Trial, check_logs, read_logs
from cranfield.online.log_report import FORMATS, LogProblem, render_log_report
from cranfield.online.logs import logs_named
from cranfield.online.trial import Exclusions
from places import EXAMPLES

Row = dict[str, Any]
Tables = dict[str, list[Row]]
NOON = datetime(2026, 11, 4, 12, tzinfo=UTC)
TRIAL = Trial(
    "t",
    {"A": 1.0, "B": 1.0},
    "ctr",
    start=datetime(2026, 11, 2, tzinfo=UTC),
    end=datetime(2026, 11, 9, tzinfo=UTC),
    exclusions=Exclusions(queries_per_day=20, late_hours=2),
)


def sound() -> Tables:
    """A log without anything odd: 10 users, 2 queries each, a click on each."""
    tables: Tables = {"impressions": [], "events": [], "assignments": [], "covariates": []}
    for user in range(10):
        name = f"u{user}"
        tables["assignments"].append({"unit_id": name, "variant": "AB"[user % 2], "ts_first": _iso(NOON)})
        tables["covariates"].append(
            {"unit_id": name, "metric": "before", "value": 1, "ts_last": _iso(NOON - timedelta(1))}
        )
        for number in range(2):
            query = f"q{user}{number}"
            time = NOON + timedelta(minutes=10 * number + user)
            tables["impressions"].append(
                {
                    "query_id": query,
                    "ts": _iso(time),
                    "user_id": name,
                    "session_id": f"s{user}",
                    "variant": "AB"[user % 2],
                    "docs": ["d1", "d2", "d3"],
                    "n_results": 30,
                    "latency_ms": 12.5,
                    "is_bot": False,
                }
            )
            tables["events"].append(
                {
                    "query_id": query,
                    "ts": _iso(time + timedelta(seconds=9)),
                    "action": "click",
                    "doc_id": f"d{1 + number}",
                    "rank": 1 + number,
                    "dwell_s": 40.0,
                    "value": 1.0,
                    "currency": "EUR",
                }
            )
    return tables


def _iso(time: datetime) -> str:
    return time.isoformat()


def checked(tables: Tables, folder: Path, trial: Trial | None = TRIAL) -> LogReport:
    for name, rows in tables.items():
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return check_logs(read_logs(str(folder)), trial)


def test_a_sound_log_has_nothing_odd(tmp_path: Path) -> None:
    report = checked(sound(), tmp_path)
    assert report.problems == ()
    assert [(size.table, size.rows) for size in report.sizes] == [
        *(("impressions", 20), ("events", 20), ("assignments", 10), ("covariates", 10))
    ]
    assert "nothing odd" in str(report)


def put(table: str, row: int | None = None, **values: Any) -> Callable[[Tables], None]:
    """Changes a row of a table, or all."""

    def change(tables: Tables) -> None:
        for place in range(len(tables[table])) if row is None else [row]:
            tables[table][place] |= values

    return change


def add(table: str, row: int, **values: Any) -> Callable[[Tables], None]:
    """Adds a row like another."""

    def change(tables: Tables) -> None:
        tables[table].append(copy.deepcopy(tables[table][row]) | values)

    return change


def from_zero(tables: Tables) -> None:
    for event in tables["events"]:
        event["rank"] -= 1


def crowded(tables: Tables) -> None:
    for number in range(30):
        add("impressions", 0, query_id=f"more{number}")(tables)


def lopsided(tables: Tables) -> None:
    for user in range(40):
        tables["assignments"].append({"unit_id": f"extra{user}", "variant": "A", "ts_first": _iso(NOON)})


# What is changed; the code, the table, how many; of how many; the first example; what is done; whether it is doubtful.
PROBLEMS: list[tuple[Callable[[Tables], None], str, str, int, int, str, str, bool]] = [
    (put("impressions", 0, ts="soon"), "not-a-value", "impressions", 1, 20, "soon", "taken as missing", True),
    (put("events", 0, rank="first"), "not-a-value", "events", 1, 20, "first", "taken as missing", True),
    (
        put("events", 0, ts="2026-11-04T12:00:09"),
        "no-time-zone",
        "events",
        1,
        20,
        "2026-11-04T12:00:09",
        "taken for UTC",
        True,
    ),
    (
        add("impressions", 0),
        "duplicate-queries",
        "impressions",
        1,
        21,
        "q00",
        "the earliest row of each is counted, and the others are not",
        True,
    ),
    (
        put("impressions", 0, n_results=0, docs=[]),
        "no-results",
        "impressions",
        1,
        20,
        "q00",
        "counted by zero_results",
        False,
    ),
    (put("impressions", 3, n_results=-1), "negative-counts", "impressions", 1, 20, "q11", "counted as they are", True),
    (put("impressions", 0, docs=[]), "empty-lists", "impressions", 1, 20, "q00", "counted by n_results", True),
    (put("impressions", 0, docs=["d1", "d1"]), "repeated-documents", "impressions", 1, 20, "q00", "", True),
    (put("impressions", 0, latency_ms=-1), "impossible-latency", "impressions", 1, 20, "q00", "counted as it is", True),
    (
        put("impressions", 0, ts="2026-11-01T00:00:00Z"),
        "outside-period",
        "impressions",
        1,
        20,
        "q00",
        "left out",
        False,
    ),
    (put("impressions", 0, experiment="u"), "other-experiment", "impressions", 1, 20, "q00", "left out", False),
    (put("impressions", 0, user_id=None), "no-unit", "impressions", 1, 20, "q00", "left out", True),
    (
        put("impressions", 0, session_id=None),
        "no-session",
        "impressions",
        1,
        20,
        "q00",
        "those of a unit count as one session",
        True,
    ),
    (
        put("impressions", 0, session_id="s1"),
        "shared-sessions",
        "impressions",
        1,
        20,
        "s1",
        "counted as a session of each of them",
        True,
    ),
    (put("impressions", 0, is_bot=True), "bots", "impressions", 1, 20, "q00", "left out", False),
    (put("impressions", 0, user_id="nobody"), "not-assigned", "impressions", 1, 11, "nobody", "left out", True),
    (
        put("impressions", 0, variant="B"),
        "another-arm-shown",
        "impressions",
        1,
        20,
        "q00",
        "the assignment holds",
        True,
    ),
    (
        put("impressions", 0, ts=_iso(NOON - timedelta(hours=1))),
        "before-assignment",
        "impressions",
        1,
        20,
        "q00",
        "left out",
        True,
    ),
    (crowded, "heavy-units", "impressions", 1, 10, "u0", "left out", False),
    (add("assignments", 0, variant="B"), "two-arms", "assignments", 1, 10, "u0", "left out", True),
    (
        add("assignments", 0, unit_id="x", variant="C"),
        "unknown-arms",
        "assignments",
        1,
        2,
        "C",
        "their units are left out",
        True,
    ),
    (
        add("assignments", 0, unit_id="x"),
        "units-without-queries",
        "assignments",
        1,
        11,
        "x",
        "they count, with nothing",
        False,
    ),
    (put("assignments", None, variant="A"), "empty-arms", "assignments", 1, 2, "B", "nothing can be compared", True),
    (add("events", 0, query_id="q99"), "unknown-queries", "events", 1, 21, "q99", "left out", True),
    (add("events", 0), "duplicate-events", "events", 1, 21, "q00", "one of each is counted", False),
    (put("events", None, action="Click"), "no-clicks", "events", 1, 20, "Click", "metrics of clicks are 0", True),
    (
        put("events", 0, action="Click"),
        "clicks-by-another-name",
        "events",
        1,
        20,
        "Click",
        "not counted as clicks",
        True,
    ),
    (
        put("events", 0, ts=_iso(NOON - timedelta(1))),
        "events-before-query",
        "events",
        1,
        20,
        "q00",
        "counted: seconds to a click are taken as 0",
        True,
    ),
    (put("events", 0, ts=_iso(NOON + timedelta(1))), "late-events", "events", 1, 20, "q00", "left out", False),
    (
        put("events", 0, doc_id="d9"),
        "not-shown",
        "events",
        1,
        20,
        "q00 d9",
        "counted: look whether docs has all that was shown, under the same ids",
        True,
    ),
    (put("events", 0, rank=3), "rank-disagrees", "events", 1, 20, "q00 3", "the rank of the event is taken", True),
    (from_zero, "rank-base", "events", 20, 20, "q00 0", "metrics of ranks are refused: add 1 to each", True),
    (
        put("events", 0, rank=-3, doc_id=None),
        "impossible-rank",
        "events",
        1,
        20,
        "q00 -3",
        "metrics of ranks are refused",
        True,
    ),
    (put("events", 0, dwell_s=-1), "impossible-dwell", "events", 1, 20, "q00", "counted as it is", True),
    (
        put("events", 0, currency="USD"),
        "currencies",
        "events",
        2,
        20,
        "EUR",
        "added up as if they were one: convert them before",
        True,
    ),
    (add("covariates", 0), "repeated-covariates", "covariates", 1, 11, "u0 before", "added up", False),
    (
        *(put("covariates", 0, ts_last=_iso(NOON + timedelta(1))), "late-covariates", "covariates", 1, 10, "u0"),
        *("counted: an adjustment by them takes away a part of the effect", True),
    ),
]


@pytest.mark.parametrize(
    ("change", "code", "table", "count", "of", "first", "done", "doubtful"), PROBLEMS, ids=[p[1] for p in PROBLEMS]
)
def test_each_problem_is_found_counted_and_named(
    change: Callable[[Tables], None],
    code: str,
    table: str,
    count: int,
    of: int,
    first: str,
    done: str,
    doubtful: bool,
    tmp_path: Path,
) -> None:
    tables = sound()
    change(tables)
    found = [problem for problem in checked(tables, tmp_path).problems if problem.code == code]
    assert len(found) == 1
    (problem,) = found
    assert (problem.table, problem.count, problem.of) == (table, count, of)
    assert problem.examples[0] == first
    assert problem.done == done
    assert problem.doubtful == doubtful
    assert problem.source == str(tmp_path / f"{table}.jsonl")


def test_arms_that_do_not_have_their_units_are_told(tmp_path: Path) -> None:
    tables = sound()
    lopsided(tables)
    (problem,) = [p for p in checked(tables, tmp_path).problems if p.code == "sample-ratio"]
    assert problem.doubtful
    assert "A 45, B 5; chi-square p = 1.5e-08" in problem.message


def test_what_the_trial_says_changes_what_is_done(tmp_path: Path) -> None:
    tables = sound()
    put("impressions", 0, is_bot=True)(tables)
    add("events", 2)(tables)
    crowded(tables)
    kept = Trial("t", {"A": 1, "B": 1}, "ctr", exclusions=Exclusions(bots=False, duplicates=False))
    problems = {problem.code: problem for problem in checked(tables, tmp_path, kept).problems}
    assert problems["bots"].done == "counted, as the trial says"
    assert problems["bots"].doubtful
    assert problems["duplicate-events"].done == "all of them are counted, as the trial says"
    assert "heavy-units" not in problems  # 32 a day are fewer than people may send
    assert checked(tables, tmp_path, None).digest is None


def test_the_same_is_found_in_frames(tmp_path: Path) -> None:
    import polars as pl

    tables = sound()
    add("events", 0)(tables)
    frames = {name: pl.DataFrame(rows) for name, rows in tables.items()}
    for name, column in (
        ("impressions", "ts"),
        ("events", "ts"),
        ("assignments", "ts_first"),
        ("covariates", "ts_last"),
    ):
        frames[name] = frames[name].with_columns(pl.col(column).str.to_datetime(time_zone="UTC"))
    assert [problem.code for problem in check_logs(read_logs(frames), TRIAL).problems] == ["duplicate-events"]


def test_every_format_tells_every_problem(tmp_path: Path) -> None:
    tables = sound()
    put("impressions", 0, query_id="<b>|\x1b[31m")(tables)
    add("impressions", 0)(tables)
    report = checked(tables, tmp_path)
    codes = [problem.code for problem in report.problems]
    assert codes == ["duplicate-queries", "unknown-queries"]
    for format in FORMATS:
        text = render_log_report(report, format)
        assert all(code in text.replace("\\", "") for code in codes), format
        assert "\x1b" not in text
        assert "<b>" not in text or format not in ("html", "markdown")
    document = json.loads(render_log_report(report, "json"))
    assert document["schema"] == "cranfield.online-check/1"
    assert document["doubtful"] == report.doubtful == 2
    assert document["digest"] == TRIAL.digest
    assert [set(problem) for problem in document["problems"]] == [set(LogProblem._fields)] * 2
    assert "2 of 2 findings make a number doubtful" in str(report)


def test_files_that_cannot_be_read_are_told(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="is no folder with the tables of a log"):
        read_logs(str(tmp_path / "none"))
    with pytest.raises(DataError, match="has no impressions"):
        read_logs(str(tmp_path))
    tables = sound()
    checked(tables, tmp_path)
    (tmp_path / "events.jsonl").write_text('{"query_id": "q00", "action": "click"}\n{"query_id": \n')
    with pytest.raises(DataError, match="cannot be read"):
        check_logs(read_logs(str(tmp_path)))
    (tmp_path / "events.jsonl").write_text('{"query": "q00", "actoin": "click"}\n')
    with pytest.raises(DataError, match=r"have no column query_id.*\n.*They have: query, actoin"):
        read_logs(str(tmp_path))
    (tmp_path / "events.jsonl").write_text('{"query_id": "q00", "action": "click"}\n')
    (tmp_path / "events.csv").write_text("query_id,action\nq00,click\n")
    with pytest.raises(DataError, match="in several forms, csv and json"):
        read_logs(str(tmp_path))


def test_times_are_read_in_every_form(tmp_path: Path) -> None:
    forms = ["2026-11-04T13:00:00+01:00", "2026-11-04 12:00:00Z", 1793793600, 1793793600000, 1793793600000000]
    for form in forms:
        (tmp_path / "impressions.jsonl").write_text(json.dumps({"query_id": "q", "ts": form, "user_id": "u"}) + "\n")
        (tmp_path / "events.csv").write_text(f"query_id,action,ts\nq,click,{form}\n")
        logs = read_logs(str(tmp_path))
        for table in ("impressions", "events"):
            (row,) = getattr(logs, table).select("ts").collect("pyarrow").to_native().to_pylist()
            assert row["ts"] == NOON.timestamp() * 1_000_000, (form, table)


def test_the_command_ends_with_1_where_a_number_is_doubtful(tmp_path: Path) -> None:
    checked(sound(), tmp_path)
    assert command_line("online", "check", str(tmp_path)).exit == 0
    tables = sound()
    add("impressions", 0)(tables)
    checked(tables, tmp_path)
    done = command_line("online", "check", str(tmp_path))
    assert done.exit == 1
    assert (
        "duplicate-queries: rows have a query_id that stands in another row too (q00); the earliest row" in done.stdout
    )


def test_a_table_that_was_not_named_is_asked_for(tmp_path: Path) -> None:
    impressions = tmp_path / "impressions.jsonl"
    impressions.write_text('{"query_id": "q", "ts": "2026-11-04T12:00:00Z"}\n')
    for command in ("check", "analyse --trial", "plan --effect 0.1 --trial"):
        plan = str(EXAMPLES / "experiment.toml") if "trial" in command else ""
        done = command_line("online", *command.split(), *([plan] if plan else []), impressions)
        assert done.exit == 3
        assert f"{impressions}: the log has impressions and no events" in done.stderr
        assert "Name a file events.parquet, events.jsonl or events.csv too, or the folder that has all" in done.stderr
    with pytest.raises(DataError, match=r"has no events\n.*It needs a file events.parquet, events.jsonl or events.csv"):
        read_logs(str(tmp_path))
    with pytest.raises(DataError, match="is no folder with the tables of a log"):
        read_logs(logs_named([str(tmp_path / "nowhere")]))
    (tmp_path / "strange.jsonl").write_text("")
    with pytest.raises(UsageError, match=r"strange\.jsonl: of which table is it\?"):
        logs_named([str(tmp_path / "strange.jsonl")])
