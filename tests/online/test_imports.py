"""Logs of others become ours, and what is left out or guessed is told."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest

from commands import command_line
from cranfield.errors import DataError, UsageError
from cranfield.online import check_logs, import_logs, read_logs
from places import EXAMPLES, ROOT

QUERY: dict[str, Any] = {
    "application": "shop",
    "query_id": "q1",
    "client_id": "c1",
    "user_query": "duck",
    "query_attributes": {"experiment": {"name": "dense", "variant": "B"}},
    "timestamp": "2026-11-04T13:00:00+01:00",
    "query_response_hit_ids": ["d7", 8],
}
EVENT: dict[str, Any] = {
    "action_name": "click",
    "query_id": "q1",
    "session_id": "s1",
    "client_id": "c1",
    "timestamp": 1793793609000,
    "event_attributes": {"object": {"object_id": "d7"}, "position": {"ordinal": 1}, "dwell_time": 31},
}


def rows(folder: Path, table: str) -> list[dict[str, Any]]:
    from pyarrow import parquet

    found: list[dict[str, Any]] = parquet.read_table(folder / f"{table}.parquet").to_pylist()
    return found


def test_ubi_in_every_form_it_comes_in(tmp_path: Path) -> None:
    both = [QUERY, EVENT]
    lines = "".join(json.dumps(record) + "\n" for record in both)
    bulk = "".join('{"index": {"_index": "ubi"}}\n' + json.dumps(record) + "\n" for record in both)
    answer = json.dumps({"took": 1, "hits": {"hits": [{"_source": record} for record in both]}})
    forms = {"a.jsonl": lines, "b.json": json.dumps(both), "c.ndjson": bulk, "d.json": answer}
    for name, text in forms.items():
        (tmp_path / name).write_text(text)
        done = import_logs("ubi", [str(tmp_path / name)], str(tmp_path / "out"))
        assert (list(done.files.values()), done.notes) == ([1, 1], ()), name
        (query,), (event,) = rows(tmp_path / "out", "impressions"), rows(tmp_path / "out", "events")
        assert query.pop("ts").isoformat() == "2026-11-04T12:00:00+00:00"
        assert event.pop("ts").isoformat() == "2026-11-04T12:00:09+00:00"
        assert query == {
            "query_id": "q1",
            "user_id": "c1",
            "session_id": "s1",
            "query_text": "duck",
            "experiment": "dense",
            "variant": "B",
            "docs": ["d7", "8"],
            "n_results": 2,
        }
        assert event == {
            "query_id": "q1",
            "action": "click",
            "doc_id": "d7",
            "rank": 1,
            "dwell_s": 31.0,
            "value": None,
            "currency": None,
        }


def test_ubi_tells_what_it_leaves_out_or_guesses(tmp_path: Path) -> None:
    records = [
        QUERY | {"timestamp": "2026-11-04T13:00:00", "user_query": {"query": "frog"}},
        EVENT | {"query_id": None},
        EVENT | {"timestamp": "soon"},
        EVENT | {"event_attributes": {"position": {"ordinal": 1.5}}},
        {"message": "hello"},
    ]
    (tmp_path / "ubi.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    done = import_logs("ubi", [str(tmp_path / "ubi.jsonl")], str(tmp_path / "out"))
    assert set(done.notes) == {
        "1 time: without a zone, taken for UTC",
        "1 event: without query_id, left out",
        "1 time: not a date with a time, left empty",
        "1 ordinal: not a whole number, left empty",
        "1 document: neither a query with query_id nor an event with action_name, left out",
    }
    assert rows(tmp_path / "out", "impressions")[0]["query_text"] == "frog"
    assert len(rows(tmp_path / "out", "events")) == 2


def test_a_click_of_yandex_belongs_to_the_last_list_that_showed_it(tmp_path: Path) -> None:
    lines = [
        "7\t0\tQ\t1\t5\ta\tb",
        "7\t9\tQ\t2\t5\tc\ta",
        "7\t12\tC\tb",
        "7\t13\tC\ta",
        "7\t14\tC\tz",
        "8\t1\tC\ta",
        "8\t2\tQ\t1\t5\ta\tb",
    ]
    with gzip.open(tmp_path / "log.gz", "wt") as file:
        file.write("\n".join(lines) + "\n")
    done = import_logs("yandex", [str(tmp_path / "log.gz")], str(tmp_path / "out"))
    events = [
        (row["query_id"], row["doc_id"], row["rank"], row["ts"].timestamp()) for row in rows(tmp_path / "out", "events")
    ]
    assert events == [("7-1", "b", 2, 12), ("7-2", "a", 2, 13), ("7-2", "z", None, 14)]
    assert [row["docs"] for row in rows(tmp_path / "out", "impressions")] == [["a", "b"], ["c", "a"], ["a", "b"]]
    assert done.notes == (
        "2 sessions: their times are taken for seconds, their users for sessions",
        "1 click: on a document that its session was not shown, given to the last query without a rank",
        "1 click: before the first query of its session, left out",
    )


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("1 0 Q 10 5 a", "is no line of such a log"),
        ("1\tnow\tQ\t10\t5\ta", "is no line of such a log"),
        ("1\t0\tX\t10\t5\ta", "is no line of such a log"),
        ("2\t0\tQ\t1\t5\ta\n1\t3\tC\ta", "session 1 goes on after another began"),
    ],
)
def test_lines_that_are_none_are_told(line: str, told: str, tmp_path: Path) -> None:
    (tmp_path / "log.tsv").write_text(f"1\t0\tQ\t1\t5\ta\n{line}\n")
    with pytest.raises(DataError, match=rf"log.tsv:[23]: {told}"):
        import_logs("yandex", [str(tmp_path / "log.tsv")], str(tmp_path / "out"))
    assert not (tmp_path / "out").exists()  # no half of a log is left behind, nor where it would have been


SESSIONS = """<sessiontrack2014>
<session num="3" starttime="10:00:00.5" userid="ada">
<interaction num="1" starttime="10:00:01"><query>ducks</query>
<results><result rank="1"><url>u1</url><clueweb12id>c1</clueweb12id></result>
<result rank="2"><url>u2</url></result></results>
<clicked><click num="1" starttime="10:00:05" endtime="10:00:45.5"><rank>2</rank></click></clicked></interaction>
<currentquery starttime="10:02:00"><query>geese</query></currentquery>
</session>
<session num="4" starttime="2014-05-01T08:00:00Z">
<interaction starttime="2014-05-01T08:00:00Z"><query>x</query></interaction>
</session>
</sessiontrack2014>
"""


def test_sessions_of_trec(tmp_path: Path) -> None:
    (tmp_path / "sessions.xml").write_text(SESSIONS)
    done = import_logs("trec-session", [str(tmp_path / "sessions.xml")], str(tmp_path / "out"))
    first, second = rows(tmp_path / "out", "impressions")
    assert (first["query_id"], first["user_id"], first["session_id"], first["docs"]) == (
        "3-1",
        "ada",
        "3",
        ["c1", "u2"],
    )
    assert (second["query_id"], second["user_id"], second["n_results"]) == ("4-1", "session-4", 0)
    (click,) = rows(tmp_path / "out", "events")
    assert (click["query_id"], click["doc_id"], click["rank"], click["dwell_s"]) == ("3-1", "u2", 2, 40.5)
    assert done.notes == (
        "1 current query: without results, left out",
        "3 times: without a day, put on 1970-01-01",
    )
    (tmp_path / "sessions.xml").write_text(SESSIONS.replace("</query>", "", 1))
    with pytest.raises(DataError, match=r"sessions.xml:\d+: is not XML"):
        import_logs("trec-session", [str(tmp_path / "sessions.xml")], str(tmp_path / "out"))


def test_what_is_imported_can_be_checked(tmp_path: Path) -> None:
    (tmp_path / "sessions.xml").write_text(SESSIONS)
    done = command_line("online", "import", "trec-session", "sessions.xml", "-o", "out", folder=tmp_path)
    assert (done.exit, done.stdout) == (0, "out/impressions.parquet: 2 rows\nout/events.parquet: 1 row\n")
    assert "note: trec-session: 3 times: without a day, put on 1970-01-01" in done.stderr
    assert [problem.code for problem in check_logs(read_logs(str(tmp_path / "out"))).problems] == ["no-results"]


def test_an_unknown_format_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"unknown format of logs 'ubis'; there are .*; did you mean ubi\?"):
        import_logs("ubis", ["x"], str(tmp_path))
    (tmp_path / "empty.jsonl").write_text('{"action_name": "click", "query_id": "q"}\n')
    with pytest.raises(DataError, match="has no query that can be read as ubi"):
        import_logs("ubi", [str(tmp_path / "empty.jsonl")], str(tmp_path / "out"))


def test_what_fails_leaves_no_folder(tmp_path: Path) -> None:
    (tmp_path / "bad.tsv").write_text("1\t0\tQ\t7\t2\td1\nnot a line\n")
    (tmp_path / "there").mkdir()
    for folder in ("new/inner", "there"):
        with pytest.raises(DataError, match="is no line of such a log"):
            import_logs("yandex", [str(tmp_path / "bad.tsv")], str(tmp_path / folder))
    assert not (tmp_path / "new").exists()
    assert list((tmp_path / "there").iterdir()) == []  # it was there before


def test_no_folder_gets_a_table_twice(tmp_path: Path) -> None:
    yandex = [str(EXAMPLES / "yandex.tsv")]
    out = tmp_path / "out"
    import_logs("yandex", yandex, str(out), to="jsonl")
    before = sorted(path.name for path in out.iterdir())
    with pytest.raises(
        DataError, match=r"has impressions\.jsonl already: with impressions\.parquet beside it"
    ) as error:
        import_logs("yandex", yandex, str(out))
    assert str(error.value.remedy) == f"Write to another folder, or remove {out / 'impressions.jsonl'} first."
    assert sorted(path.name for path in out.iterdir()) == before
    import_logs("yandex", yandex, str(out), to="jsonl")  # the same again takes its place
    check_logs(read_logs(str(out)))
    for other in ("events-2.jsonl", "events"):
        folder = tmp_path / f"with {other}"
        folder.mkdir()
        (folder / "events").mkdir() if other == "events" else (folder / other).write_text("")
        with pytest.raises(DataError, match=f"has {other} already"):
            import_logs("yandex", yandex, str(folder), to="jsonl")
    (tmp_path / "beside").mkdir()
    (tmp_path / "beside" / "events.txt").write_text("")  # no table, whatever it is
    import_logs("yandex", yandex, str(tmp_path / "beside"))


@pytest.mark.parametrize("format", ["ubi", "trec_sessions", "yandex"])
def test_the_page_has_every_field_that_is_read(format: str) -> None:
    source = (ROOT / "src" / "cranfield" / "online" / f"import_{format}.py").read_text()
    page = (ROOT / "docs" / "online.md").read_text()
    page = page[page.index("### Logs of others") : page.index("## The trial")]
    named = set(re.findall(r"(?:get|find|findtext|findall|iter)\(\"([a-z_]+)\"", source))
    named |= {
        name
        for listed in re.findall(r"_of\(more, ([^)]*)\)|_IDS = \(([^)]*)\)", source)
        for name in re.findall(r"[a-z_0-9]+", " ".join(listed))
    }
    named |= {"dwell_time", "value"} if format == "ubi" else set()
    named |= {"SessionID", "Time", "QueryID", "RegionID", "URL"} if format == "yandex" else set()
    assert len(named) >= 5
    words = set(re.findall(r"[A-Za-z_0-9]+", page))
    assert named - {"hits", "index", "create"} <= words, named - words
