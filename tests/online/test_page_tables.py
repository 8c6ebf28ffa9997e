"""Clicks and sessions from the tables of a log and from logs of others: the same pages as from JSON lines."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from commands import command_line
from cranfield.errors import DataError, UsageError
from cranfield.online.clicks import read_clicks
from cranfield.online.page_views import read_page_views
from cranfield.online.sessions import read_sessions, score_sessions

Row = dict[str, Any]
IMPRESSIONS: list[Row] = [
    {
        "query_id": f"q{n}",
        "ts": f"2026-11-02T10:0{n}:00+00:00",
        "user_id": f"u{n % 2}",
        "session_id": f"s{n % 2}",
        "query_text": "pond",
        "topic": "7",
        "docs": ["a", "b", "c"][: 1 + n % 3],
        "variant": "new" if n % 2 else "old",
    }
    for n in range(6)
]
EVENTS: list[Row] = [
    {"query_id": "q0", "ts": "2026-11-02T10:00:09+00:00", "action": "click", "doc_id": "a", "dwell_s": 40.0},
    {"query_id": "q2", "ts": "2026-11-02T10:02:03+00:00", "action": "click", "rank": 3},
    {"query_id": "q2", "ts": "2026-11-02T10:02:01+00:00", "action": "click", "rank": 1},
    {"query_id": "q5", "ts": "2026-11-02T10:05:01+00:00", "action": "cart", "doc_id": "b"},
]
QRELS = {"7": {"a": 1, "c": 2}}


def written(folder: Path, form: str, impressions: list[Row] = IMPRESSIONS, events: list[Row] = EVENTS) -> list[str]:
    """The two tables in a form, and what files they are in; rows in another order than that of time."""
    import polars as pl

    folder.mkdir(exist_ok=True)
    for name, rows in (("impressions", impressions), ("events", events)):
        path = folder / f"{name}.{form}"
        if form == "jsonl":
            path.write_text("".join(json.dumps(row) + "\n" for row in rows))
            continue
        turned = rows[::-1]
        if form == "csv":
            turned = [{k: " ".join(v) if isinstance(v, list) else v for k, v in row.items()} for row in turned]
            pl.DataFrame(turned, infer_schema_length=None).write_csv(path)
        else:
            times = pl.col("ts").str.to_datetime(time_zone="UTC")
            pl.DataFrame(turned, infer_schema_length=None).with_columns(times).write_parquet(path)
    return [str(folder / f"{name}.{form}") for name in ("impressions", "events")]


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_tables_have_the_pages_that_json_lines_have(form: str, tmp_path: Path) -> None:
    lines = read_page_views(*written(tmp_path / "lines", "jsonl"))
    files = written(tmp_path / "tables", form)
    by_time = [
        view._replace(clicks=tuple(sorted(view.clicks, key=lambda click: click.time or 0))) for view in lines.views
    ]
    for given in (files, [str(tmp_path / "tables")]):
        found = read_page_views(*given)
        assert list(found.views) == by_time
        assert found.warnings == ()
    assert repr(read_clicks(*files)) == "<ClickLog: 6 pages, 1 query, 3 pairs, 3 clicks>"
    results = score_sessions(read_sessions(str(tmp_path / "tables"), qrels=QRELS), "GainRead")
    assert results.mean() == {"old": {"GainRead": 3.0}, "new": {"GainRead": 0.0}}


def test_assignments_say_who_served_a_page_and_who_is_in_two_arms_has_none(tmp_path: Path) -> None:
    bare = [{name: value for name, value in row.items() if name != "variant"} for row in IMPRESSIONS]
    written(tmp_path, "parquet", bare)
    (tmp_path / "assignments.csv").write_text("unit_id,variant\nu0,old\nu1,new\nu1,old\n")
    found = read_page_views(str(tmp_path))
    assert [view.system for view in found.views] == ["old", None] * 3
    assert [(w.code, w.message) for w in found.warnings] == [
        ("two-arms", "1 unit in two arms: their pages are of no system")
    ]


def test_what_is_odd_about_tables_is_told(tmp_path: Path) -> None:
    twice = [*IMPRESSIONS, IMPRESSIONS[0], {**IMPRESSIONS[1], "query_id": "q9", "docs": None}]
    found = read_page_views(*written(tmp_path, "parquet", twice, [*EVENTS, {**EVENTS[0], "query_id": "nowhere"}]))
    assert {w.code for w in found.warnings} == {"no-docs", "impressions-again", "clicks-without-page"}
    bare = [{name: value for name, value in row.items() if name != "docs"} for row in IMPRESSIONS]
    with pytest.raises(DataError, match="have no column docs, which says what was shown"):
        read_page_views(*written(tmp_path, "parquet", bare))
    with pytest.raises(UsageError, match="of which table is it"):
        read_page_views(str(tmp_path / "log.parquet"))


TREC = """<sessiontrack>
<session num="1" starttime="10:00:00">
 <topic num="7"/>
 <interaction num="1" starttime="10:00:00">
  <query>pond</query>
  <results><result rank="1"><docno>a</docno></result><result rank="2"><docno>b</docno></result></results>
  <clicked><click num="1" starttime="10:00:05" endtime="10:00:45"><rank>1</rank></click></clicked>
 </interaction>
</session>
</sessiontrack>
"""


def test_logs_of_others_are_read_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "log.tsv").write_text("1\t0\tQ\t7\t5\ta\tb\n1\t9\tC\tb\n")
    (view,) = read_page_views(str(tmp_path / "log.tsv"), format="yandex").views
    assert (view.query, view.documents, view.session, view.time) == ("7", ("a", "b"), "1", 0.0)
    assert [(click.document, click.time) for click in view.clicks] == [("b", 9.0)]
    (tmp_path / "log.xml").write_text(TREC)
    sessions = read_sessions(str(tmp_path / "log.xml"), qrels=QRELS, format="trec-session")
    assert sessions.sessions[0].gains == ((1.0, 0.0),)
    assert sessions.sessions[0].seconds == 45.0
    assert {w.code for w in sessions.warnings} == {"import"}
    ubi = [
        {"query_id": "q", "user_query": "pond", "query_response_hit_ids": ["a"], "timestamp": "2026-11-02T10:00:00Z"},
        {"action_name": "click", "query_id": "q", "session_id": "s", "timestamp": "2026-11-02T10:00:01Z",
         "event_attributes": {"object": {"object_id": "a"}, "position": {"ordinal": 1}}},
    ]  # fmt: skip
    (tmp_path / "log.json").write_text(json.dumps(ubi))
    (view,) = read_page_views(str(tmp_path / "log.json"), format="ubi").views
    assert (view.session, [click.document for click in view.clicks]) == ("s", ["a"])
    with pytest.raises(UsageError, match="unknown format of logs 'nobody'"):
        read_page_views(str(tmp_path / "log.json"), format="nobody")


def test_large_lists_of_ubi_are_read_piece_by_piece(tmp_path: Path) -> None:
    """Longer than a piece, with texts that have brackets, and with an end that is missing."""
    from cranfield.online.imports import LOG_FORMATS, Notes

    read = LOG_FORMATS.find("ubi").function
    many = [{"query_id": f"q{n}", "user_query": '["{é,]' * 40, "query_response_hit_ids": []} for n in range(900)]
    path = tmp_path / "ubi.json"
    path.write_text(json.dumps(many, ensure_ascii=False, indent=1), encoding="utf-8")
    assert [row.values["query_id"] for row in read([str(path)], Notes())] == [query["query_id"] for query in many]
    path.write_text(json.dumps(many)[:-1])
    with pytest.raises(DataError, match="the list does not end"):
        list(read([str(path)], Notes()))
    with pytest.raises(UsageError, match="read twice"):
        list(read(["-"], Notes()))


def test_faults_of_foreign_files_are_told_with_their_line(tmp_path: Path) -> None:
    from cranfield.online.import_files import lines_of

    path = tmp_path / "log"
    path.write_bytes(b"\xef\xbb\xbfone\r\n\r\ntwo \xff\n")
    with pytest.raises(DataError, match="is not UTF-8") as told:
        list(lines_of(str(path)))
    assert told.value.line == 3
    path.write_bytes(b"one\n\x00\n")
    with pytest.raises(DataError, match="NUL byte"):
        list(lines_of(str(path)))
    path.write_text(TREC.replace("</query>", "</quer>"))
    with pytest.raises(DataError, match="is not XML") as told:
        read_page_views(str(path), format="trec-session")
    assert (told.value.line, told.value.text) == (5, "  <query>pond</quer>")


def test_the_gate_of_sessions(tmp_path: Path) -> None:
    shared = [
        {**row, "session_id": f"s{n}", "query_id": f"{arm}{n}", "variant": arm, "docs": docs}
        for n, row in enumerate(IMPRESSIONS * 2)
        for arm, docs in (("old", ["c", "a"]), ("new", ["b", "a"]))
    ]
    for row in shared:
        row.pop("user_id")
    files = written(tmp_path, "parquet", shared, EVENTS[:1])
    (tmp_path / "q").write_text("7 0 a 1\n7 0 c 2\n")
    for baseline, code, word in (("old", 1, "fails"), ("new", 0, "passes")):
        done = command_line("online", "sessions", str(tmp_path / "q"), *files, "--gate", "--baseline", baseline)
        assert done.exit == code
        assert f"The candidate {word}" in done.stdout
        assert "Gate (what is called a topic there is a session)" in done.stdout
    done = command_line(
        *("online", "sessions", str(tmp_path / "q"), *files, "--gate", "--baseline", "old", "--margin", "90%"),
        *("-m", "sDCG_jig", "-f", "json"),
    )
    assert done.exit == 0
    assert json.loads(done.stdout)["gate"]["checks"][0]["rule"] == "non-inferior"
    apart = [{**row, "session_id": f"s{n}", "user_id": f"u{n}"} for n, row in enumerate(IMPRESSIONS)]
    own = command_line("online", "sessions", str(tmp_path / "q"), *written(tmp_path, "csv", apart), "--gate")
    assert own.exit == 2
    assert "session by session, and each has sessions of its own" in own.stderr
    for more, told in ((("--margin", "2%"), "--margin is for --gate"), (("--gate", "-f", "csv"), "is told as")):
        done = command_line("online", "sessions", str(tmp_path / "q"), *files, *more)
        assert (done.exit, told in done.stderr) == (2, True)
