"""Projects that are deleted: by whom, what goes, what stays, and what is written down of it."""

from __future__ import annotations

import pytest
from sqlalchemy import func, insert, select, update
from starlette.testclient import TestClient

from cranfield.web.accounts.invitations import accept, invite
from cranfield.web.judging.recording import NewJudgement, record
from cranfield.web.projects.deleting import delete_project
from cranfield.web.projects.making import NewProject, create_project
from cranfield.web.store.audit import broken
from cranfield.web.store.tables import (
    AuditRow,
    GuidelineRow,
    InvitationRow,
    LeaseRow,
    MemberRow,
    PairRow,
    ProjectRow,
    ReleaseRow,
    RunRow,
    ScaleRow,
    TopicRow,
)
from ponds import pond
from sites import Site, project_number

API = "/api/v1/projects"
OWN_ROWS = (GuidelineRow, InvitationRow, LeaseRow, MemberRow, PairRow, RunRow, ScaleRow, TopicRow)
JUDGED = "documents of this project have been judged: judgements are never deleted, and so neither is the project"


@pytest.fixture
def owner(site: Site) -> TestClient:
    """A browser of the owner of a project that is ready, with a queue, a link and a lease."""
    pond(site)
    site.member("ann", "ducks", "assessor")
    site.member("ada", "ducks", "owner")
    number = project_number(site.store, "ducks")
    with site.store.writing() as connection:
        invite(connection, site.store.clock(), "project", project=number, role="viewer")
    assert site.program("ann").post(f"{API}/ducks/topics/{topic(site)}/leases", json={"count": 1}).status_code == 200
    return site.visitor("ada")


def topic(site: Site) -> int:
    with site.store.reading() as connection:
        return connection.execute(select(TopicRow.id)).scalars().one()


def test_an_owner_deletes_a_project_and_is_asked_before(site: Site, owner: TestClient) -> None:
    assert '<a href="/p/ducks/delete">Delete this project</a>' in owner.get("/p/ducks/settings").text
    asked = owner.get("/p/ducks/delete")
    assert "<h1>Delete Ducks?</h1>" in asked.text
    assert "Nobody has judged in it." in asked.text
    assert owner.get("/p/ducks").status_code == 200, "to ask is not to do"
    done = owner.post("/p/ducks/delete", follow_redirects=False)
    assert (done.status_code, done.headers["location"]) == (303, "/")
    assert owner.get("/p/ducks").status_code == 404
    assert "ducks" not in owner.get("/").text
    with site.store.reading() as connection:
        for table in OWN_ROWS:
            assert connection.execute(select(func.count()).select_from(table)).scalar_one() == 0, table
        written = connection.execute(select(AuditRow.what, AuditRow.detail).order_by(AuditRow.id.desc())).first()
        assert written is not None
        assert (written.what, written.detail) == ("project deleted", {"slug": "ducks", "title": "Ducks"})
        assert list(broken(connection)) == []


def test_its_name_is_free_and_its_number_is_nobodys(site: Site, owner: TestClient) -> None:
    before = project_number(site.store, "ducks")
    assert site.program("ada").delete(f"{API}/ducks").status_code == 204
    ada = site.person("ada")
    with site.store.writing() as connection:
        assert create_project(connection, 0, NewProject(title="Ducks"), owner=ada) != before
    assert [each["slug"] for each in site.program("ada").get(API).json()] == ["ducks"]


def test_judgements_are_never_deleted(site: Site, owner: TestClient) -> None:
    number, ann = project_number(site.store, "ducks"), site.person("ann").id
    with site.store.writing() as connection:
        pair = connection.execute(select(LeaseRow.pair_id)).scalar_one()
        said = NewJudgement(pair=pair, kind="grade", grade=1, key="k")
        record(connection, site.store.clock(), number, ann, said)
    assert f"It cannot be deleted: {JUDGED}." in owner.get("/p/ducks/delete").text
    assert "Delete it" not in owner.get("/p/ducks/delete").text
    refused = site.program("ada").delete(f"{API}/ducks")
    assert (refused.status_code, refused.json()["error"]) == (400, JUDGED)
    assert JUDGED in owner.post("/p/ducks/delete").text
    assert owner.get("/p/ducks").status_code == 200


def test_what_was_released_or_is_being_prepared_stays(site: Site, owner: TestClient) -> None:
    program, number = site.program("ada"), project_number(site.store, "ducks")
    with site.store.writing() as connection:
        connection.execute(update(ProjectRow).values(state="preparing"))
    assert "wait until that is done" in program.delete(f"{API}/ducks").json()["error"]
    values = {"version": 1, "digest": "", "provenance": {}, "at": 0, "user_id": site.person("ada").id}
    with site.store.writing() as connection:
        connection.execute(insert(ReleaseRow).values(project_id=number, **values))
        connection.execute(update(ProjectRow).values(state="ready"))
    assert "judgements of this project have been released" in program.delete(f"{API}/ducks").json()["error"]


def test_a_deleted_project_is_not_given_to_the_first_admin(site: Site) -> None:
    """As those are that were made at the prompt before there was anybody."""
    with site.store.writing() as connection:
        kept = create_project(connection, 0, NewProject(title="Kept"), owner=None)
        gone = create_project(connection, 0, NewProject(title="Gone"), owner=None)
        delete_project(connection, 0, gone, user=None)
        word = invite(connection, site.store.clock(), "setup")
        accept(connection, site.store.clock(), word, account=None, name="ada", stored="")
        assert connection.execute(select(MemberRow.project_id)).scalars().all() == [kept]
