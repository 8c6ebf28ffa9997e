"""Projects by page and API: made, given files, prepared, changed; what was found is told, and nothing is lost."""

from __future__ import annotations

import bz2
import json
import shutil
import time
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from markupsafe import escape
from sqlalchemy import func, insert, select, update
from starlette.testclient import TestClient

from cranfield.web.projects.collections import DataFiles
from cranfield.web.projects.jobs import LEASE, LostJobError, claim
from cranfield.web.projects.making import PREPARE, NewRun, add_run
from cranfield.web.projects.options import ProjectOptions, method_choices
from cranfield.web.projects.preparing import Preparation
from cranfield.web.settings import ServerSettings
from cranfield.web.shelf import Shelf
from cranfield.web.store.tables import AuditRow, EventRow, PairRow, ProjectRow, TopicRow, UserRow
from cranfield.web.working import worker
from places import ROOT
from sites import Site

POND = ROOT / "examples"
RUNS = {"bm25": "pond-bm25.run", "titles": "pond-titles.run"}
API = "/api/v1"


@pytest.fixture
def settings(settings: ServerSettings) -> ServerSettings:
    return replace(settings, collections=(POND / "pond.toml", POND / "lake.toml"))


@pytest.fixture
def admin(site: Site) -> TestClient:
    """A program of the site's admin."""
    site.person("ada", admin=True)
    return site.program("ada")


def made(admin: TestClient, **asked: Any) -> str:
    answer = admin.post(f"{API}/projects", json={"title": "Pond", "collection": "pond"} | asked)
    assert answer.status_code == 201, answer.text
    slug: str = answer.json()["slug"]
    return slug


def with_runs(admin: TestClient, slug: str) -> str:
    """Runs as if they had been uploaded: the child process that reads them takes its time."""
    state: Any = admin.app.state  # type: ignore[attr-defined]
    with state.store.writing() as connection:
        project = connection.execute(select(ProjectRow.id).where(ProjectRow.slug == slug)).scalar_one()
        for name, file in RUNS.items():
            digest = sha256((POND / file).read_bytes()).hexdigest()
            shutil.copy(POND / file, DataFiles(state.settings.folder).kept("run", digest))
            add_run(connection, 0, project, NewRun(name=name, digest=digest, topics=6, rows=20), user=None)
    return slug


def prepared(site: Site, admin: TestClient, slug: str) -> dict[str, Any]:
    """The project after the job that was asked for."""
    asked = admin.post(f"{API}/projects/{slug}/prepare")
    assert (asked.status_code, asked.json()["state"]) == (202, "preparing"), asked.text
    worker(site.settings, site.store).run_all()
    answer: dict[str, Any] = admin.get(f"{API}/projects/{slug}").json()
    return answer


def pairs(site: Site) -> list[Any]:
    asked = select(PairRow, TopicRow.name.label("topic")).join(TopicRow, TopicRow.id == PairRow.topic_id)
    with site.store.reading() as connection:
        return list(connection.execute(asked.order_by(TopicRow.place, PairRow.place)))


def judge(site: Site, slug: str, grade: int = 2) -> None:
    """Somebody judges one pair, whatever it takes elsewhere."""
    with site.store.writing() as connection:
        project = connection.execute(select(ProjectRow.id).where(ProjectRow.slug == slug)).scalar_one()
        pair = connection.execute(select(func.min(PairRow.id))).scalar_one()
        user = connection.execute(select(UserRow.id)).scalars().first()
        said = {"kind": "grade", "grade": grade, "active_ms": 0, "away_ms": 0, "view": "whole", "scale": 1}
        place = {"project_id": project, "pair_id": pair, "user_id": user, "guideline": 1, "origin": "api"}
        connection.execute(insert(EventRow).values(**said, **place, key="k", body="b", at=0))


def test_a_project_from_a_listed_collection(site: Site, admin: TestClient) -> None:
    project = prepared(site, admin, with_runs(admin, made(admin)))
    assert (project["state"], project["reason"], project["collection"]) == ("ready", None, "pond")
    assert [topic["title"] for topic in project["topics"]][:2] == ["can ducks swim well", "is bread bad for ducks"]
    assert project["next_step"] == "Judge."
    rows = pairs(site)
    assert project["documents"] == len(rows) == len({(row.topic, row.document) for row in rows})
    expected = {line.split()[2] for file in RUNS.values() for line in (POND / file).read_text().splitlines()}
    assert {row.document for row in rows} == expected
    assert {(row.source, row.wanted, row.batch, row.opinions) for row in rows} == {("pool", 1, 0, 0)}
    with site.store.reading() as connection:
        digest = connection.execute(select(ProjectRow.collection)).scalar_one()
    assert Shelf(site.settings.folder).of(digest).get("d12").title == "Why feathers stay dry"
    assert project["findings"] == [
        {"code": "missing-topics", "message": "titles: adds nothing to the pools of 1 topic it lacks: 3"},
    ]


def test_the_order_is_random_and_the_seed_decides(site: Site, admin: TestClient) -> None:
    orders = []
    for slug, seed in (("first", 1), ("second", 1), ("third", 2)):
        prepared(site, admin, with_runs(admin, made(admin, slug=slug, options={"seed": seed})))
        with site.store.reading() as connection:
            asked = (
                select(TopicRow.name, PairRow.document)
                .join(TopicRow, TopicRow.id == PairRow.topic_id)
                .join(ProjectRow, ProjectRow.id == TopicRow.project_id)
                .where(ProjectRow.slug == slug)
                .order_by(TopicRow.place, PairRow.place)
            )
            orders.append([tuple(row) for row in connection.execute(asked)])
    assert orders[0] == orders[1] != orders[2]
    assert sorted(orders[0]) == sorted(orders[2])
    assert orders[0] != sorted(orders[0]), "an order by id would tell ranks apart from chance"
    stores = list((site.settings.folder / "collections").rglob("documents.store"))
    assert len(stores) == 1, "projects with the same documents share them"


@pytest.mark.parametrize(
    ("options", "check"),
    [
        ({"depth": 1}, lambda rows: max(count(rows).values()) <= 2),
        ({"method": "rrf", "budget": 1}, lambda rows: set(count(rows).values()) == {1}),
        ({"method": "move-to-front", "batch": 2}, lambda rows: set(count(rows).values()) == {2}),
        ({"method": "cal", "batch": 2}, lambda rows: set(count(rows).values()) == {2}),
        ({"wanted": 2, "overlap": 1}, lambda rows: {row.wanted for row in rows} == {3}),
        ({"batch": 2}, lambda rows: all(row.batch == row.place // 2 for row in rows)),
        (
            {"method": "plan", "plan": {"bm25": [1, 1], "titles": [1, 2]}},
            lambda rows: max(count(rows).values()) <= 2 and len(rows) > 6,
        ),
        (
            {"method": "stratified", "strata": "1:1,3:50%"},
            lambda rows: (
                {(row.stratum, row.chance == 1) for row in rows} >= {(1, True)} and all(row.chance for row in rows)
            ),
        ),
        (
            {"calibration": 1},
            lambda rows: [(row.place, row.wanted) for row in rows if row.source == "calibration"] == [(0, 0)] * 6,
        ),
    ],
    ids=lambda value: ",".join(value) if isinstance(value, dict) else "",
)
def test_every_method_fills_the_queue(site: Site, admin: TestClient, options: dict[str, Any], check: Any) -> None:
    slug = with_runs(admin, made(admin))
    assert admin.patch(f"{API}/projects/{slug}", json={"options": options}).status_code == 200
    assert prepared(site, admin, slug)["state"] == "ready"
    rows = pairs(site)
    assert rows
    assert check(rows), [(row.topic, row.document, row.place, row.stratum, row.chance, row.wanted) for row in rows]


def count(rows: list[Any]) -> dict[str, int]:
    counted: dict[str, int] = {}
    for row in rows:
        counted[row.topic] = counted.get(row.topic, 0) + 1
    return counted


def test_overlap_is_about_the_share(site: Site, admin: TestClient) -> None:
    documents = "".join(json.dumps({"_id": f"d{n}", "text": f"text {n}"}) + "\n" for n in range(1000))
    run = "".join(f"1 Q0 d{n} {n + 1} {-n} a\n" for n in range(1000))
    slug = made(admin, collection=None, options={"overlap": 0.2, "depth": 1000})
    upload(admin, slug, documents=documents, topics='{"_id": "1", "text": "ducks"}\n')
    admin.post(f"{API}/projects/{slug}/runs", content=run)
    assert prepared(site, admin, slug)["documents"] == 1000
    assert 150 < sum(row.wanted == 2 for row in pairs(site)) < 250


def upload(admin: TestClient, slug: str, **parts: str | bytes) -> None:
    for kind, content in parts.items():
        sent = admin.put(f"{API}/projects/{slug}/parts/{kind}?file={kind}", content=content)
        assert sent.status_code == 200, sent.text


def test_near_duplicates_come_one_after_another(site: Site, admin: TestClient) -> None:
    long = "ducks swim well in the pond and geese swim well in the lake but hens do not swim at all"
    texts = {f"d{n}": f"{n} " * 20 + str(n * 7919) for n in range(40)} | {"twin1": long, "twin2": long + " today"}
    documents = "".join(json.dumps({"_id": id, "text": text}) + "\n" for id, text in texts.items())
    run = "".join(f"1 Q0 {id} {n} {-n} a\n" for n, id in enumerate(texts))
    slug = made(admin, collection=None)
    upload(admin, slug, documents=documents, topics='{"_id": "1", "text": "ducks"}\n')
    admin.post(f"{API}/projects/{slug}/runs", content=run)
    prepared(site, admin, slug)
    rows = pairs(site)
    twins = [row for row in rows if row.near is not None]
    assert {row.document for row in twins} == {"twin1", "twin2"}
    assert twins[1].place - twins[0].place == 1
    assert twins[0].near == twins[1].near


def test_what_the_collection_lacks_is_told_and_left_out(site: Site, admin: TestClient) -> None:
    slug = made(admin)
    run = "1 Q0 d01 1 3 a\n1 Q0 gone 2 2 a\n99 Q0 d01 1 1 a\n"
    admin.post(f"{API}/projects/{slug}/runs", content=run)
    project = prepared(site, admin, slug)
    assert project["state"] == "ready"
    assert [finding["message"] for finding in project["findings"]] == [
        "1 topic of the runs left out, without a text: 99",
        "5 topics that no run answers: 2, 3, 4, 5, 6",
        "1 document of the runs left out, which the collection lacks: gone",
    ]
    assert [(row.topic, row.document) for row in pairs(site)] == [("1", "d01")]
    site.member("vera", slug, "viewer")
    shown = site.visitor("vera").get(f"/p/{slug}").text
    assert "1 document of the runs left out, which the collection lacks: gone" in shown


def test_known_judgements_are_not_asked_for_again(site: Site, admin: TestClient) -> None:
    slug = with_runs(admin, made(admin))
    upload(admin, slug, judgements=(POND / "pond.qrels").read_bytes())
    prepared(site, admin, slug)
    judged = {tuple(line.split()[0:3:2]) for line in (POND / "pond.qrels").read_text().splitlines()}
    assert judged
    assert not judged & {(row.topic, row.document) for row in pairs(site)}


def test_calibration_takes_what_is_known(site: Site, admin: TestClient) -> None:
    slug = with_runs(admin, made(admin, options={"calibration": 2}))
    upload(admin, slug, judgements="1 0 d01 1\n1 0 d12 0\n1 0 gone 1\n")
    prepared(site, admin, slug)
    drawn = {row.document for row in pairs(site) if row.source == "calibration" and row.topic == "1"}
    assert drawn == {"d01", "d12"}


@pytest.mark.parametrize(
    ("asked", "reason"),
    [
        ({}, "depth chooses from runs, and there is none: upload runs, or take the method cal"),
        ({"collection": None}, "there are no documents or topics: upload them, or choose a collection"),
    ],
)
def test_a_preparation_that_fails_says_why_and_can_be_tried_again(
    site: Site, admin: TestClient, asked: dict[str, Any], reason: str
) -> None:
    slug = made(admin, **asked)
    project = prepared(site, admin, slug)
    assert (project["state"], project["reason"]) == ("failed", reason)
    site.member("vera", slug, "viewer")
    assert reason in site.visitor("vera").get(f"/p/{slug}").text
    upload(admin, slug, documents=(POND / "pond-documents.jsonl").read_bytes())
    sent = admin.put(f"{API}/projects/{slug}/parts/topics?file=t.tsv", content=(POND / "pond-topics.tsv").read_bytes())
    assert sent.status_code == 200, sent.text
    project = prepared(site, admin, with_runs(admin, slug))
    assert (project["state"], project["reason"]) == ("ready", None)


def test_topics_of_other_ids_are_an_error_that_names_both(site: Site, admin: TestClient) -> None:
    slug = made(admin)
    admin.post(f"{API}/projects/{slug}/runs", content="001 Q0 d01 1 3 a\n")
    project = prepared(site, admin, slug)
    assert project["state"] == "failed"
    assert (
        "no run answers a topic of the collection: the runs have 001, the collection has 1, 2, 3" in project["reason"]
    )


def test_no_place_of_the_server_is_told(site: Site, admin: TestClient, tmp_path: Path) -> None:
    """A collection that broke since it was listed."""
    (tmp_path / "odd").mkdir()
    (tmp_path / "odd" / "collection.toml").write_text('documents = "gone.jsonl"\ntopics = "gone.tsv"\n')
    site.app.state.settings = settings = replace(site.settings, collections=(tmp_path / "odd",))
    slug = made(admin, collection="odd")
    admin.post(f"{API}/projects/{slug}/prepare")
    worker(settings, site.store).run_all()
    project = admin.get(f"{API}/projects/{slug}").json()
    assert project["state"] == "failed"
    assert project["reason"].startswith("odd/gone.jsonl: "), project["reason"]
    assert str(tmp_path) not in json.dumps(project)


@pytest.mark.parametrize("name", ["/etc", "../examples/pond.toml", "irds:vaswani", "ir_datasets:vaswani", "nowhere"])
def test_no_client_names_a_place(site: Site, admin: TestClient, name: str) -> None:
    answer = admin.post(f"{API}/projects", json={"title": "x", "collection": name})
    assert answer.status_code == 400
    assert "it has lake or pond" in answer.json()["error"]
    assert admin.get(f"{API}/collections").json() == ["lake", "pond"]


def test_an_upload_that_cannot_be_read_changes_nothing(site: Site, admin: TestClient) -> None:
    slug = made(admin)
    answer = admin.post(f"{API}/projects/{slug}/runs?file=mine.run", content="1 Q0 d1\n")
    assert answer.status_code == 422
    assert "mine.run" in answer.json()["error"]
    assert str(site.settings.folder) not in answer.text
    assert admin.get(f"{API}/projects/{slug}/runs").json() == []
    assert list((site.settings.folder / "incoming").iterdir()) == []


def test_a_bomb_is_refused(site: Site, admin: TestClient) -> None:
    slug = made(admin)
    answer = admin.post(f"{API}/projects/{slug}/runs", content=bz2.compress(b"1 Q0 d1 1 1 a\n" * 500_000))
    assert answer.status_code == 413, answer.text


def test_a_body_that_is_too_long_is_refused(site: Site, admin: TestClient) -> None:
    slug = made(admin)
    site.app.state.settings = replace(site.settings, upload_limit=100)
    answer = admin.post(f"{API}/projects/{slug}/runs", content=b"x" * 1_000_000)
    assert answer.status_code == 413


def test_a_run_of_another_project_is_not_there(site: Site, admin: TestClient) -> None:
    first, second = with_runs(admin, made(admin)), made(admin, slug="second")
    run = admin.get(f"{API}/projects/{first}/runs").json()[0]["id"]
    assert admin.delete(f"{API}/projects/{second}/runs/{run}").status_code == 404
    assert admin.delete(f"{API}/projects/{first}/runs/{run}").status_code == 204
    assert [run["name"] for run in admin.get(f"{API}/projects/{first}/runs").json()] == ["titles"]


def test_the_same_run_twice_is_one_and_another_of_its_name_is_refused(site: Site, admin: TestClient) -> None:
    slug = made(admin)
    for _ in range(2):
        sent = admin.post(f"{API}/projects/{slug}/runs?name=bm25&file=a.run", content="1 Q0 d02 1 3 a\n")
        assert (sent.status_code, sent.json()["name"], sent.json()["rows"]) == (201, "a.run", 1)
    assert len(admin.get(f"{API}/projects/{slug}/runs").json()) == 1
    answer = admin.post(f"{API}/projects/{slug}/runs?name=bm25", content="1 Q0 d01 1 3 a\n")
    assert answer.status_code == 400
    assert answer.json()["error"] == "there is a run 'bm25' already, and this is another: name it differently"


def test_once_judged_what_is_asked_stays(site: Site, admin: TestClient) -> None:
    slug = with_runs(admin, made(admin))
    prepared(site, admin, slug)
    judge(site, slug)
    before = [tuple(row) for row in pairs(site)]
    refusals = [
        admin.patch(f"{API}/projects/{slug}", json={"options": {"depth": 1}}),
        admin.post(f"{API}/projects/{slug}/prepare"),
        admin.post(f"{API}/projects/{slug}/runs", content="1 Q0 d01 1 3 a\n"),
        admin.put(f"{API}/projects/{slug}/parts/topics", content='{"_id": "1", "text": "ducks"}\n'),
    ]
    assert [answer.status_code for answer in refusals] == [400] * 4
    assert refusals[0].json()["error"] == "the documents are chosen already: depth can't be changed any more"
    assert admin.patch(f"{API}/projects/{slug}", json={"options": {"lease_minutes": 5}}).status_code == 200
    assert [tuple(row) for row in pairs(site)] == before


def test_what_is_refused_is_not_offered(site: Site, admin: TestClient) -> None:
    """Once somebody has judged, neither runs nor files change, and the pages say why."""
    project = prepared(site, admin, with_runs(admin, made(admin)))
    owner, slug = site.visitor("ada"), project["slug"]
    before = owner.get(f"/p/{slug}/runs").text
    assert ("Add a run" in before, "makes it a draft again" in before, before.count("/remove")) == (True, True, 2)
    assert owner.get(f"/p/{slug}/settings").text.count('type="file"') == 3
    judge(site, slug)
    after = owner.get(f"/p/{slug}/runs").text
    assert ("Add a run" in after, "makes it a draft again" in after, after.count("/remove")) == (False, False, 0)
    reason = "documents of this project have been judged: what it is made from stays as it is"
    assert f"<p>No run can be added or removed: {reason}.</p>" in after
    files = owner.get(f"/p/{slug}/settings").text
    assert ('type="file"' in files, "what the project is made from stays as it is" in files) == (False, True)
    run = admin.get(f"{API}/projects/{slug}/runs").json()[0]["id"]
    refused = owner.post(f"/p/{slug}/runs/{run}/remove")
    assert (refused.status_code, "<h1>Runs</h1>" in refused.text, reason in refused.text) == (400, True, True)


def test_what_runs_call_topics_is_said_by_page_and_api(site: Site, admin: TestClient) -> None:
    with_position = admin.post(f"{API}/projects", json={"title": "Pond", "collection": "pond", "ids": "position"})
    assert with_position.status_code == 201
    assert admin.get(f"{API}/projects/pond").json()["ids"] == "position"
    assert admin.patch(f"{API}/projects/pond", json={"ids": "number"}).json()["ids"] == "number"
    wrong = admin.patch(f"{API}/projects/pond", json={"ids": "name"}).json()["error"]
    assert wrong == "topics are called given, position or number, not 'name'"
    owner = site.visitor("ada")
    assert '<option value="number" selected>' in owner.get("/p/pond/settings").text
    assert owner.post("/p/pond/settings", data={"ids": "position"}, follow_redirects=False).status_code == 303
    assert admin.get(f"{API}/projects/pond").json()["ids"] == "position"
    owner.post("/projects/new", data={"title": "Lake", "collection": "lake", "ids": "number"})
    assert admin.get(f"{API}/projects/lake").json()["ids"] == "number"
    project = prepared(site, admin, with_runs(admin, "pond"))
    assert (project["state"], project["topics"][0]["name"]) == ("ready", "1")
    admin.patch(f"{API}/projects/pond", json={"ids": "position"})
    assert admin.get(f"{API}/projects/pond").json()["state"] == "ready", "nothing has changed"
    admin.patch(f"{API}/projects/pond", json={"ids": "given"})
    assert admin.get(f"{API}/projects/pond").json()["state"] == "draft"


def test_runs_are_had_again_under_their_names(site: Site, admin: TestClient) -> None:
    slug = with_runs(admin, made(admin))
    owner, run = site.visitor("ada"), admin.get(f"{API}/projects/{slug}/runs").json()[0]
    assert f'<a href="/p/{slug}/runs/{run["id"]}/file" download>bm25</a>' in owner.get(f"/p/{slug}/runs").text
    for client, address in ((owner, f"/p/{slug}"), (admin, f"{API}/projects/{slug}")):
        file = client.get(f"{address}/runs/{run['id']}/file")
        assert (file.status_code, file.content) == (200, (POND / RUNS["bm25"]).read_bytes())
        assert file.headers["content-disposition"] == 'attachment; filename="bm25.run"'
        assert client.get(f"{address}/runs/999/file").status_code == 404


def test_the_methods_are_listed_with_a_line_each(site: Site) -> None:
    text = site.visitor("ada", admin=True).get("/projects/new").text
    for name, title in method_choices():
        if name != "plan":
            assert f"<dt>{name}</dt><dd>{escape(title)}</dd>" in text


def test_a_viewer_is_not_told_to_judge(site: Site, admin: TestClient) -> None:
    slug = prepared(site, admin, with_runs(admin, made(admin)))["slug"]
    site.member("vic", slug, "viewer")
    site.member("ann", slug, "assessor")
    for name, words in (("vic", "Its assessors judge."), ("ann", "Judge.")):
        assert f"<dt>Next</dt><dd>{words}</dd>" in site.visitor(name).get(f"/p/{slug}").text
        assert site.program(name).get(f"{API}/projects/{slug}").json()["next_step"] == words


def test_the_reason_of_a_failed_preparation_has_its_lines(site: Site, admin: TestClient) -> None:
    slug = with_runs(admin, made(admin))
    with site.store.writing() as connection:
        reason = {"state": "failed", "reason": "it is odd\n    Mend it."}
        connection.execute(update(ProjectRow).values(**reason))
    text = site.visitor("ada").get(f"/p/{slug}").text
    assert "<p>It could not be prepared: it is odd</p><p>Mend it.</p>" in text


def test_before_that_a_change_makes_it_a_draft_again(site: Site, admin: TestClient) -> None:
    slug = with_runs(admin, made(admin))
    prepared(site, admin, slug)
    answer = admin.patch(f"{API}/projects/{slug}", json={"options": {"repeats": 0.5}})
    assert answer.json()["state"] == "ready", "that decides nothing about what is asked"
    answer = admin.patch(f"{API}/projects/{slug}", json={"options": {"depth": 1}, "title": "Pond anew"})
    assert (answer.json()["state"], answer.json()["title"]) == ("draft", "Pond anew")
    assert pairs(site) == []
    assert prepared(site, admin, slug)["state"] == "ready"


def test_a_preparation_that_is_killed_is_done_again_once(site: Site, admin: TestClient, clock: Any) -> None:
    """The first worker dies with everything chosen and nothing written; the second does it all."""
    slug = with_runs(admin, made(admin))
    admin.post(f"{API}/projects/{slug}/prepare")
    task = Preparation(site.settings)
    dead = claim(site.store, "dead", {PREPARE: task})
    assert dead is not None
    clock.now += LEASE + 1
    assert worker(site.settings, site.store).run_all() == 1
    before = len(pairs(site))
    with pytest.raises(LostJobError):  # it wakes up: the job is not its own any more
        task.run(dead)
    assert len(pairs(site)) == before > 0
    assert admin.get(f"{API}/projects/{slug}").json()["state"] == "ready"


def test_the_server_prepares_by_itself(site: Site, admin: TestClient) -> None:
    """The thread starts and stops with the application."""
    slug = with_runs(admin, made(admin))
    with TestClient(site.app, base_url="http://localhost:8000", headers=dict(admin.headers)) as running:
        running.post(f"{API}/projects/{slug}/prepare")
        for _ in range(600):
            if (state := running.get(f"{API}/projects/{slug}").json()["state"]) != "preparing":
                break
            time.sleep(0.02)
        assert state == "ready"


def test_a_server_that_starts_removes_what_was_coming_when_the_last_one_was_killed(site: Site) -> None:
    incoming = DataFiles(site.settings.folder).incoming()
    (incoming / "0123.upload").write_bytes(b"half of a r")
    (incoming / "child-x").mkdir()
    kept = DataFiles(site.settings.folder).kept("run", "0" * 64)
    kept.write_bytes(b"1 Q0 d1 1 1 x\n")
    with TestClient(site.app, base_url="http://localhost:8000"):
        assert list(incoming.iterdir()) == []
    assert kept.exists()


def test_scales_have_versions_and_grades_that_were_given_stay(site: Site, admin: TestClient) -> None:
    slug = with_runs(admin, made(admin))
    prepared(site, admin, slug)
    judge(site, slug, grade=3)
    first = admin.get(f"{API}/projects/{slug}/scale").json()
    assert first["version"] == 1
    assert admin.put(f"{API}/projects/{slug}/scale", json=first["scale"]).json()["version"] == 1, "nothing is new"
    fewer = {"grades": first["scale"]["grades"][:3], "threshold": 1}
    answer = admin.put(f"{API}/projects/{slug}/scale", json=fewer)
    assert answer.status_code == 400
    assert answer.json()["error"] == "documents were graded 3: a grade that was given stays on the scale"
    renamed = json.loads(json.dumps(first["scale"]))
    renamed["grades"][0]["label"] = "nothing of use"
    del renamed["grades"][1:2]
    renamed["threshold"] = 2
    assert admin.put(f"{API}/projects/{slug}/scale", json=renamed).json()["version"] == 2
    assert admin.get(f"{API}/projects/{slug}/scale?version=1").json() == first
    assert admin.get(f"{API}/projects/{slug}/scale?version=7").status_code == 404


def test_guidelines_have_versions_and_do_nothing(site: Site, admin: TestClient) -> None:
    slug = made(admin)
    written = admin.put(f"{API}/projects/{slug}/guidelines", json={"text": "# Ducks\n\n<script>x()</script>"}).json()
    assert written["version"] == 2
    assert "<h1>Ducks</h1>" in written["html"]
    assert "<script>" not in written["html"]
    assert admin.get(f"{API}/projects/{slug}/guidelines?version=1").json()["text"].startswith("Judge each document")
    site.member("vera", slug, "viewer")
    shown = site.visitor("vera").get(f"/p/{slug}/guidelines").text
    assert "<h1>Ducks</h1>" in shown
    assert "<script>x" not in shown
    answer = admin.put(f"{API}/projects/{slug}/guidelines", json={"text": "x" * 200_000})
    assert answer.status_code == 400


def test_what_changes_is_in_the_log(site: Site, admin: TestClient) -> None:
    slug = with_runs(admin, made(admin))
    admin.patch(f"{API}/projects/{slug}", json={"options": {"depth": 7}, "title": "Lake"})
    with site.store.reading() as connection:
        rows = connection.execute(select(AuditRow.what, AuditRow.detail).order_by(AuditRow.id)).all()
    whats = [row.what for row in rows]
    assert [what for what in whats if what != "token made"] == [
        "project made", "scale", "guidelines", "run added", "run added", "options", "title",
    ]  # fmt: skip
    assert rows[-2].detail == {"depth": 7}


# By page


def test_an_admin_makes_a_project_by_forms(site: Site) -> None:
    browser = site.visitor("ada", admin=True)
    assert "pond" in browser.get("/projects/new").text
    sent = browser.post("/projects/new", data={"title": "Ducks & <b>Geese</b>", "collection": "pond", "depth": "5"})
    assert (sent.status_code, sent.headers["location"]) == (303, "/p/ducks-b-geese-b")
    address = sent.headers["location"]
    shown = browser.get(address).text
    assert "Ducks &amp; &lt;b&gt;Geese&lt;/b&gt;" in shown
    assert "The owner uploads the runs" in shown
    file = {"file": ("pond-bm25.run", (POND / "pond-bm25.run").read_bytes())}
    assert browser.post(f"{address}/runs", files=file, data={"name": "my run"}).status_code == 303
    assert "my run" in browser.get(f"{address}/runs").text
    assert browser.post(f"{address}/prepare").headers["location"] == address
    shown = browser.get(address).text
    assert "waiting for its turn" in shown
    assert 'http-equiv="refresh"' in shown
    worker(site.settings, site.store).run_all()
    shown = browser.get(address).text
    assert "can ducks swim well" in shown
    assert f'href="{address}/judge"' in shown
    assert 'http-equiv="refresh"' not in shown


@pytest.mark.parametrize(
    ("form", "words"),
    [
        ({"title": ""}, "a title has 1 to 120 characters"),
        ({"slug": "Ä b"}, "is no short name"),
        ({"depth": "x"}, "Depth: &#39;x&#39; is not a number"),
        ({"overlap": "2"}, "overlap is a share from 0 to 1, not 2"),
        ({"method": "rff"}, "there is no pooling method &#39;rff&#39;"),
        ({"method": "plan"}, "a plan names the runs"),
        ({"collection": "/etc"}, "this server lists no collection &#39;/etc&#39;"),
    ],
)
def test_a_form_that_is_wrong_comes_back_as_it_was(site: Site, form: dict[str, str], words: str) -> None:
    answer = site.visitor("ada", admin=True).post("/projects/new", data={"title": "Ducks", "budget": "77"} | form)
    assert answer.status_code == 400
    assert words in answer.text
    assert 'value="77"' in answer.text


def test_settings_by_forms(site: Site, admin: TestClient) -> None:
    slug = made(admin)
    browser, address = site.visitor("ada"), f"/p/{slug}/settings"
    page = browser.get(address).text
    for name in ProjectOptions().to_json():
        assert f'name="{name}"' in page
    fields = {name: "" if value is None else str(value) for name, value in ProjectOptions().to_json().items()}
    del fields["owned"]
    said = fields | {"title": "Pond two", "method": "move-to-front", "budget": "30", "owned": "on", "depth": "20"}
    assert browser.post(address, data=said).status_code == 303
    project = admin.get(f"{API}/projects/{slug}").json()
    options = project["options"]
    assert (options["method"], options["budget"], options["owned"], options["depth"]) == ("move-to-front", 30, True, 20)
    assert (options["sample"], options["batch"]) == (0.1, 10), "those of the new method"
    assert project["title"] == "Pond two"
    fields = {name: "" if value is None else str(value) for name, value in options.items() if name != "owned"}
    assert browser.post(address, data=fields | {"budget": "", "title": "Pond two"}).status_code == 303
    options = admin.get(f"{API}/projects/{slug}").json()["options"]
    assert (options["budget"], options["owned"]) == (None, False)
    answer = browser.post(address, data={"title": "Pond two", "wanted": "many"})
    assert answer.status_code == 400
    assert "Opinions: &#39;many&#39; is not a number" in answer.text


def test_scale_and_guidelines_by_forms(site: Site, admin: TestClient) -> None:
    slug = made(admin)
    browser, address = site.visitor("ada"), f"/p/{slug}/settings"
    columns = {"value": ["0", "1", ""], "label": ["no", "yes", ""], "key": ["f", "j", ""], "gain": ["0", "1.5", ""]}
    assert browser.post(f"{address}/scale", data=columns | {"threshold": "1"}).status_code == 303
    scale = admin.get(f"{API}/projects/{slug}/scale").json()
    assert (scale["version"], [grade["key"] for grade in scale["scale"]["grades"]]) == (2, ["f", "j"])
    answer = browser.post(f"{address}/scale", data=columns | {"threshold": "x"})
    assert answer.status_code == 400
    assert "the threshold is the lowest grade that is relevant" in answer.text
    preview = browser.post(f"{address}/guidelines", data={"text": "**bold**", "act": "preview"})
    assert "<strong>bold</strong>" in preview.text
    assert admin.get(f"{API}/projects/{slug}/guidelines").json()["version"] == 1, "a preview keeps nothing"
    assert browser.post(f"{address}/guidelines", data={"text": "**bold**", "act": "save"}).status_code == 303
    assert admin.get(f"{API}/projects/{slug}/guidelines").json()["text"] == "**bold**"


def test_files_by_forms(site: Site, admin: TestClient) -> None:
    slug = made(admin, collection=None)
    browser = site.visitor("ada")
    for kind, name in (("documents", "pond-documents.jsonl"), ("topics", "pond-topics.tsv")):
        file = {"file": (name, (POND / name).read_bytes())}
        assert browser.post(f"/p/{slug}/parts/{kind}", files=file).status_code == 303
    assert "pond-topics.tsv, 6 rows" in browser.get(f"/p/{slug}/settings").text
    assert browser.post(f"/p/{slug}/parts/passwords", files=file).status_code == 404
    project = prepared(site, admin, with_runs(admin, slug))
    assert (project["state"], len(project["topics"])) == ("ready", 6)


def test_only_admins_make_projects_and_only_owners_change_them(site: Site, admin: TestClient) -> None:
    slug = made(admin)
    site.person("bob")
    assert site.visitor("bob").get("/projects/new").status_code == 404
    assert site.program("bob").post(f"{API}/projects", json={"title": "x"}).status_code == 404
    site.member("bob", slug, "adjudicator")
    assert site.visitor("bob").get(f"/p/{slug}").status_code == 200
    for path in ("runs", "settings"):
        assert site.visitor("bob").get(f"/p/{slug}/{path}").status_code == 404
    assert "Settings</a>" not in site.visitor("bob").get(f"/p/{slug}").text
    assert site.program("bob").patch(f"{API}/projects/{slug}", json={"title": "mine"}).status_code == 404


def test_many_pairs_are_written_in_several_statements(site: Site, admin: TestClient) -> None:
    documents = "".join(f'{{"_id": "d{n}", "text": "w{n} x{n}"}}\n' for n in range(2000))
    topics = "".join(f'{{"_id": "{t}", "text": "topic {t}"}}\n' for t in range(6))
    run = "".join(f"{t} Q0 d{n} {n + 1} {-n} a\n" for t in range(6) for n in range(2000))
    slug = made(admin, collection=None, options={"depth": 2000})
    upload(admin, slug, documents=documents, topics=topics)
    admin.post(f"{API}/projects/{slug}/runs", content=run)
    assert prepared(site, admin, slug)["documents"] == 12_000
