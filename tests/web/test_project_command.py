"""`cranfield project …`: in a folder without a server, and against a server that runs."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
import uvicorn
from sqlalchemy import select

from commands import command_line
from cranfield.web.accounts.invitations import accept, invite
from cranfield.web.accounts.tokens import new_token
from cranfield.web.demonstration import make_demonstration
from cranfield.web.serving import configuration, listening_socket, open_folder
from cranfield.web.settings import ServerSettings
from cranfield.web.shelf import Shelf
from cranfield.web.store.tables import MemberRow, PairRow, ProjectRow, TopicRow
from places import ROOT
from sites import Site

POND = ROOT / "examples"
RUNS = (POND / "pond-bm25.run", POND / "pond-titles.run")


def where(settings: ServerSettings) -> tuple[str, ...]:
    return ("--data", str(settings.folder), *(("--db", settings.database) if settings.database else ()))


def test_a_project_in_a_folder(settings: ServerSettings) -> None:
    made = command_line(
        "project", "create", "The pond", *RUNS, *where(settings), "--collection", POND / "pond.toml", "--depth", "2",
        "--opinions", "3", "--seed", "7", "--method", "rrf(k=10)", "--budget", "2", "--overlap", "0.5",
    )  # fmt: skip
    assert (made.stdout, made.exit) == ("the-pond\n", 0), made.stderr
    assert made.stderr.splitlines() == [
        "preparing the-pond",
        "the-pond is ready",
        "titles: adds nothing to the pools of 1 topic it lacks: 3".replace("titles", "pond-titles"),
        "next: Judge.",
    ]
    listed = command_line("project", "list", *where(settings))
    assert listed.stdout.splitlines() == ["project   title     state", "the-pond  The pond  ready"]
    shown = json.loads(command_line("project", "show", "the-pond", *where(settings), "-f", "json").stdout)
    assert (shown["schema"], shown["state"], shown["options"]["wanted"]) == ("cranfield.project/1", "ready", 3)
    options = {name: shown["options"][name] for name in ("seed", "depth", "method", "budget", "overlap")}
    assert options == {"seed": 7, "depth": 2, "method": "rrf(k=10)", "budget": 2, "overlap": 0.5}
    assert {topic["documents"] for topic in shown["topics"]} == {2}
    table = command_line("project", "show", "the-pond", *where(settings), "-f", "csv").stdout.splitlines()
    assert table[:2] == ["topic,title,documents,finished", f"1,can ducks swim well,{shown['topics'][0]['documents']},0"]
    assert len(table) == 7


def test_a_project_whose_method_reads_is_prepared_at_the_prompt(settings: ServerSettings) -> None:
    """Its features are looked for, and written where they are not there yet: that is no output over an input."""
    made = command_line(
        "project", "create", "Pond", *RUNS, *where(settings), "--collection", POND / "pond.toml", "--method", "cal"
    )
    assert (made.stdout, made.exit) == ("pond\n", 0), made.stderr
    assert "pond is ready" in made.stderr.splitlines()


def test_questions_are_not_mixed_up(tmp_path: Path) -> None:
    """Where runs call topics by their positions, as those of some old collections do."""
    (tmp_path / "topics.tsv").write_text("2\tducks\n4\tgeese\n")
    (tmp_path / "documents.jsonl").write_text('{"id": "d1", "text": "ducks"}\n')
    (tmp_path / "a.run").write_text("1 Q0 d1 1 2 a\n2 Q0 d1 1 2 a\n")
    topics, documents = tmp_path / "topics.tsv", ("--documents", tmp_path / "documents.jsonl")
    given = ("--data", tmp_path / "data", "--topics", topics, *documents)
    made = command_line("project", "create", "Old", tmp_path / "a.run", *given)
    assert made.exit == 3
    assert made.stderr.splitlines()[1:] == [
        "cranfield: the project old could not be prepared: "
        "the runs have positions of topics (1, 2), not ids (2, 4): questions would be mixed up",
        "    Say that the runs call topics by their positions: "
        "--ids position at the prompt, 'What runs call topics' in the settings of a project.",
        "    The project was not kept: mend that, and give the command again.",
    ]
    assert command_line("project", "list", "--data", tmp_path / "data", "-f", "tsv").stdout == "project\ttitle\tstate\n"
    again = command_line("project", "create", "Old", tmp_path / "a.run", *given, "--ids", "position")
    assert (again.exit, again.stdout) == (0, "old\n"), again.stderr
    shown = json.loads(command_line("project", "show", "old", "--data", tmp_path / "data", "-f", "json").stdout)
    assert (shown["ids"], [topic["name"] for topic in shown["topics"]]) == ("position", ["1", "2"])
    (tmp_path / "pool.txt").write_text("1 0 d1\n2 0 d1\n")
    judged = command_line("judge", tmp_path / "pool.txt", "--questions", topics, *documents)
    assert (judged.exit, "Give --ids position" in judged.stderr) == (3, True), judged.stderr


def test_a_project_is_deleted_at_the_prompt(tmp_path: Path) -> None:
    given = (RUNS[0], "--data", tmp_path, "--collection", POND / "pond.toml")
    assert command_line("project", "create", "Pond", *given).exit == 0
    gone = command_line("project", "delete", "pond", "--data", tmp_path)
    assert (gone.exit, gone.stdout, gone.stderr) == (0, "", "deleted pond\n")
    for asked in ("show", "delete"):
        none = command_line("project", asked, "pond", "--data", tmp_path)
        assert (none.exit, f"there is no project 'pond' in {tmp_path}" in none.stderr) == (3, True)
        hidden = command_line("project", asked, "deleted/1", "--data", tmp_path)
        assert (hidden.exit, "there is no project 'deleted/1'" in hidden.stderr) == (3, True)
    assert command_line("project", "create", "Pond", *given).exit == 0, "the name is free"


def test_what_is_no_run_is_told_without_options_that_the_command_lacks(tmp_path: Path) -> None:
    (tmp_path / "topics.jsonl").write_text('{"id": "1", "title": "ducks"}\n')
    given = ("--data", tmp_path / "data", "--collection", POND / "pond.toml")
    refused = command_line("project", "create", "Pond", tmp_path / "topics.jsonl", *given)
    assert (refused.exit, "--columns" in refused.stderr, "Reading(" in refused.stderr) == (3, False, False)
    assert "    Name the columns in the file as below, or send it where it belongs." in refused.stderr.splitlines()


def test_quiet_says_nothing_but_the_answer(tmp_path: Path) -> None:
    made = command_line(
        "project", "create", "Pond", *RUNS, "--data", tmp_path, "--collection", POND / "pond.toml", "--quiet"
    )
    assert (made.stdout, made.stderr) == ("pond\n", "")
    shown = command_line("project", "show", "pond", "--data", tmp_path, "--quiet")
    assert (shown.stdout.splitlines()[0].split(), shown.stderr) == (["topic", "title", "documents", "finished"], "")


def test_parts_and_an_owner(settings: ServerSettings) -> None:
    store = open_folder(settings)
    with store.writing() as connection:
        word = invite(connection, store.clock(), "setup")
        accept(connection, store.clock(), word, account=None, name="ada", stored="")
    store.close()
    parts = ("--documents", POND / "pond-documents.jsonl", "--topics", POND / "pond-topics.tsv")
    known = ("--known", POND / "pond.qrels")
    made = command_line("project", "create", "Pond", *RUNS, *where(settings), *parts, *known, "--owner", "ada")
    assert made.exit == 0, made.stderr
    wrong = command_line("project", "create", "Lake", *RUNS, *where(settings), *parts, "--owner", "eve")
    assert (wrong.exit, wrong.stderr.splitlines()[-1]) == (
        2, "cranfield: there is no account 'eve': --owner takes the name of one",
    )  # fmt: skip
    store = open_folder(settings)
    with store.reading() as connection:
        assert connection.execute(select(MemberRow.role)).scalars().all() == ["owner"]
        assert connection.execute(select(ProjectRow.slug)).scalars().all() == ["pond"]
        judged = {line.split()[2] for line in (POND / "pond.qrels").read_text().splitlines() if line.startswith("1 ")}
        of_first = select(PairRow.document).join(TopicRow, TopicRow.id == PairRow.topic_id).where(TopicRow.name == "1")
        assert not judged & set(connection.execute(of_first).scalars())
    store.close()


def test_projects_made_before_there_is_anybody_are_the_first_admins(site: Site) -> None:
    site.project()
    with site.store.writing() as connection:
        word = invite(connection, site.store.clock(), "setup")
        accept(connection, site.store.clock(), word, account=None, name="ada", stored="")
    assert 'href="/p/ducks"' in site.visitor("ada").get("/").text


@pytest.mark.parametrize(
    ("words", "exit", "message"),
    [
        (["list"], 2, "say where: --data FOLDER, when no server runs on it, or --server URL"),
        (["list", "--data", "a", "--server", "http://localhost"], 2, "say where"),
        (["list", "--data", "nowhere"], 2, "'nowhere' has no database: it is no folder of a server"),
        (["list", "--server", "http://localhost"], 2, "a token is needed: make one on the page /account"),
        (["create", "Pond", "--data", "x"], 2, "a project needs --collection, or --documents and --topics"),
        (["create", "Pond", "--data", "x", "--collection", "no"], 3, "is neither a folder nor a TOML file"),
        (["create", "Pond", "--data", "x", "--collection", str(POND / "pond.toml")], 3, "depth chooses from runs"),
        (["create", " ", "--data", "x", "--collection", str(POND / "pond.toml")], 3, "a title has 1 to 120"),
        (["create", "P", "--data", "x", "--collection", "no", "--method", "dept"], 3, "there is no pooling method"),
    ],
)
def test_what_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], exit: int, message: str
) -> None:
    monkeypatch.delenv("CRANFIELD_TOKEN", raising=False)
    outcome = command_line("project", *words, folder=tmp_path)
    assert (outcome.exit, outcome.stdout) == (exit, "")
    assert message in outcome.stderr


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("http://judge.example.org", "would send the token over the network as it is"),
        ("ftp://judge.example.org", "--server takes the address of a server"),
        ("http://127.0.0.1:9", "does not answer as a server does"),
    ],
)
def test_addresses_that_are_refused(monkeypatch: pytest.MonkeyPatch, address: str, message: str) -> None:
    monkeypatch.setenv("CRANFIELD_TOKEN", "cran_secret_word")
    outcome = command_line("project", "list", "--server", address)
    assert outcome.exit in (2, 3)
    assert message in outcome.stderr
    assert "secret" not in outcome.stderr


@contextmanager
def running(settings: ServerSettings) -> Iterator[tuple[str, str]]:
    """A server that runs, and a token of its admin."""
    store = open_folder(settings)
    with store.writing() as connection:
        word = invite(connection, store.clock(), "setup")
        admin = accept(connection, store.clock(), word, account=None, name="ada", stored="")
        token = new_token(connection, store.clock(), admin.id, "test", ["read", "manage"], 1)
    listening = listening_socket(settings)
    server = uvicorn.Server(configuration(settings, store))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        yield f"http://localhost:{listening.getsockname()[1]}", token
    finally:
        server.should_exit = True
        thread.join()


def test_a_project_on_a_server(settings: ServerSettings, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = replace(settings, port=0, collections=(POND / "pond.toml",))
    with running(settings) as (address, token):
        monkeypatch.setenv("CRANFIELD_TOKEN", token)
        asked = ("--server", address, "--collection", "pond", "--known", POND / "pond.qrels")
        made = command_line("project", "create", "The pond", RUNS[0], *asked, "--name", "pond")
        assert (made.stdout, made.exit) == ("pond\n", 0), made.stderr
        assert "pond is ready" in made.stderr
        listed = command_line("project", "list", "--server", address, "-f", "tsv")
        assert listed.stdout == "project\ttitle\tstate\npond\tThe pond\tready\n"
        shown = json.loads(command_line("project", "show", "pond", "--server", address, "-f", "json").stdout)
        assert shown["runs"] == 1
        gone = command_line("project", "show", "../me", "--server", address)
        assert (gone.exit, "there is nothing here" in gone.stderr) == (3, True)
        twice = command_line("project", "create", "The pond", RUNS[0], *asked, "--name", "pond")
        assert (twice.exit, "there is a project 'pond' already" in twice.stderr) == (3, True)
        assert command_line("project", "delete", "pond", "--server", address).exit == 0
        assert command_line("project", "list", "--server", address, "-f", "tsv").stdout == "project\ttitle\tstate\n"
        swapped = command_line("project", "create", "Pond", POND / "pond.qrels", *asked[:-2])
        assert swapped.exit == 3
        assert swapped.stderr.splitlines()[-1].strip() == (
            "The project was not kept: mend that, and give the command again."
        )
        unfit = command_line("project", "create", "Pond", *asked)
        assert "could not be prepared: depth chooses from runs, and there is none" in unfit.stderr
        assert command_line("project", "list", "--server", address, "-f", "tsv").stdout == "project\ttitle\tstate\n"
        monkeypatch.setenv("CRANFIELD_TOKEN", token + "x")
        stranger = command_line("project", "list", "--server", address)
        assert (stranger.exit, "this token is unknown or has ended" in stranger.stderr) == (3, True)


def test_the_demonstration_is_ready_to_judge(tmp_path: Path) -> None:
    settings = ServerSettings(folder=tmp_path / "demo")
    told: list[str] = []
    make_demonstration(settings, told.append)
    assert told[-1] == "pooled: the project demo is ready"
    shown = json.loads(command_line("project", "show", "demo", *where(settings), "-f", "json").stdout)
    assert (shown["state"], shown["runs"], shown["next_step"]) == ("ready", 5, "Judge.")
    assert len(shown["topics"]) > 70
    assert all(topic["documents"] >= 10 for topic in shown["topics"])
    store = open_folder(settings)
    with store.reading() as connection:
        digest = connection.execute(select(ProjectRow.collection)).scalar_one()
        document = connection.execute(select(PairRow.document).limit(1)).scalar_one()
    store.close()
    assert document in Shelf(settings.folder).of(digest)
    told.clear()
    make_demonstration(settings, told.append)
    assert told == [], "a second one changes nothing"
