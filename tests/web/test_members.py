"""The people of a project and of the server: roles, links, and who cannot take over what."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import func, select
from test_accounts import at_once, sign_in, with_password

from cranfield.errors import DataError
from cranfield.web.accounts.administration import disable, unmake_admin
from cranfield.web.projects.members import change_role, new_link, remove
from cranfield.web.store.audit import broken
from cranfield.web.store.tables import AuditRow, InvitationRow, MemberRow, UserRow
from sites import Site, link_of, project_number, pseudonym_of


@pytest.fixture
def ducks(site: Site) -> int:
    number = site.project("ducks")
    site.member("olga", "ducks", "owner")
    site.member("ada", "ducks", "assessor")
    return number


def test_an_owner_invites_and_somebody_joins(site: Site, ducks: int) -> None:
    owner = site.visitor("olga")
    made = owner.post("/p/ducks/members/links", data={"role": "adjudicator", "uses": 1})
    link = link_of(made.text)
    assert f'<input readonly value="http://localhost:8000{link}">' in made.text
    listed = owner.get("/p/ducks/members").text
    assert link.split("/")[2] not in listed  # shown once
    assert "Open links" in listed
    assert site.visitor("bea").post(link).status_code == 303
    shown = site.program("olga").get("/api/v1/projects/ducks/members").json()
    assert [(member["name"], member["pseudonym"], member["role"]) for member in shown] == [
        ("olga", "assessor-1", "owner"),
        ("ada", "assessor-2", "assessor"),
        ("bea", "assessor-3", "adjudicator"),
    ]
    assert shown[0]["joined_at"] == "2027-01-15T08:00:00Z"
    assert "Open links" not in owner.get("/p/ducks/members").text


def test_a_link_is_ended(site: Site, ducks: int) -> None:
    program = site.program("olga")
    made = program.post("/api/v1/projects/ducks/invitations", json={"role": "viewer", "uses": 3}).json()
    assert made["until"] == "2027-01-29T08:00:00Z"
    [link] = program.get("/api/v1/projects/ducks/invitations").json()
    assert (link["role"], link["uses_left"], link["made_by"]) == ("viewer", 3, "olga")
    assert site.visitor("bea").get(link_of(made["link"])).status_code == 200
    ended = program.delete(f"/api/v1/projects/ducks/invitations/{link['name']}")
    assert ended.json() == {"told": "the link has ended"}
    assert site.visitor("bea").get(link_of(made["link"])).status_code == 404
    assert program.delete(f"/api/v1/projects/ducks/invitations/{link['name']}").status_code == 404


@pytest.mark.parametrize(
    ("form", "words"),
    [
        ({"role": "admin", "uses": 1}, "a role is viewer, assessor, adjudicator, owner, not &#39;admin&#39;"),
        ({"role": "<i>", "uses": 1}, "not &#39;&lt;i&gt;&#39;"),
        ({"role": "viewer", "uses": 0}, "a link is good for 1 to 1000 people, not 0"),
        ({"role": "viewer", "uses": 1001}, "a link is good for 1 to 1000 people, not 1001"),
    ],
)
def test_links_that_are_not_made(site: Site, ducks: int, form: dict[str, Any], words: str) -> None:
    answer = site.visitor("olga").post("/p/ducks/members/links", data=form)
    assert answer.status_code == 400
    assert words in answer.text
    with site.store.reading() as connection:
        assert connection.execute(select(func.count()).select_from(InvitationRow)).scalar_one() == 0


def test_a_role_changes_at_once(site: Site, ducks: int) -> None:
    owner, ada = site.visitor("olga"), site.visitor("ada")
    assert ada.get("/p/ducks/members").status_code == 404
    told = owner.post("/p/ducks/members/assessor-2/role", data={"role": "owner"})
    assert "ada is owner now." in told.text
    assert ada.get("/p/ducks/members").status_code == 200
    assert ada.post("/p/ducks/members/assessor-1/role", data={"role": "viewer"}).status_code == 200
    assert owner.get("/p/ducks/members").status_code == 404


def test_the_last_owner_stays(site: Site, ducks: int) -> None:
    owner, program = site.visitor("olga"), site.program("olga")
    words = "&#39;olga&#39; is the last owner of this project: make another one first"
    for answer in (
        owner.post("/p/ducks/members/assessor-1/remove"),
        owner.post("/p/ducks/members/assessor-1/role", data={"role": "viewer"}),
    ):
        assert answer.status_code == 400
        assert words in answer.text
    assert program.delete("/api/v1/projects/ducks/members/assessor-1").status_code == 400
    # One who cannot sign in is no owner to leave a project with.
    second = site.member("bea", "ducks", "owner")
    disable(site.store, site.person("root", admin=True).id, second.id)
    assert program.delete("/api/v1/projects/ducks/members/assessor-1").status_code == 400


def test_owners_who_remove_each_other_leave_one(site: Site, ducks: int) -> None:
    names = ["olga", *(f"owner {number}" for number in range(5))]
    for name in names:
        site.member(name, "ducks", "owner")
    pseudonyms = [pseudonym_of(site.store, "ducks", name) for name in names]
    results = at_once(6, lambda number: remove(site.store, 1, ducks, pseudonyms[number]))
    assert sum(isinstance(result, DataError) for result in results) == 1
    with site.store.reading() as connection:
        owners = select(func.count()).select_from(MemberRow).where(MemberRow.role == "owner")
        assert connection.execute(owners).scalar_one() == 1


def test_whoever_is_removed_keeps_the_name_of_their_judgements(site: Site, ducks: int) -> None:
    owner, ada = site.visitor("olga"), site.visitor("ada")
    word = new_link(site.store, site.person("olga").id, ducks, "viewer", 5)
    answer = owner.post("/p/ducks/members/assessor-2/remove")
    assert "ada was removed; their judgements stay." in answer.text
    assert "Links that are still open let in whoever has them" in answer.text
    assert "ada, who appears as assessor-2" in owner.get("/p/ducks/members").text
    assert "Ducks" not in ada.get("/").text
    assert site.program("ada").get("/api/v1/projects").json() == []
    assert site.program("olga").get("/api/v1/projects/ducks").json()["people"] == 1
    # Nobody else gets the name, and the link of before lets them in no more.
    assert site.visitor("bea").post(f"/invite/{word}").status_code == 303
    assert pseudonym_of(site.store, "ducks", "bea") == "assessor-3"
    again = ada.post(f"/invite/{word}")
    assert again.status_code == 400
    assert "you were removed from this project after this link was made: ask its owner for a new one" in again.text
    site.store.clock.forward(minutes=1)  # type: ignore[attr-defined]
    newer = new_link(site.store, site.person("olga").id, ducks, "assessor", 1)
    assert ada.post(f"/invite/{newer}").status_code == 303
    shown = site.program("olga").get("/api/v1/projects/ducks/members").json()
    assert [(m["pseudonym"], m["role"], m["removed_at"]) for m in shown if m["name"] == "ada"] == [
        ("assessor-2", "assessor", None)
    ]


def test_links_of_whoever_may_make_none_any_more_end(site: Site, ducks: int) -> None:
    second = site.member("bea", "ducks", "owner")
    olga, root = site.person("olga"), site.person("root", admin=True)
    new_link(site.store, olga.id, ducks, "viewer", 5)
    acts: tuple[Callable[[], str], ...] = (
        lambda: change_role(site.store, olga.id, ducks, "assessor-3", "adjudicator"),
        lambda: remove(site.store, olga.id, ducks, "assessor-3"),
        lambda: disable(site.store, root.id, second.id),
    )
    for act in acts:
        new_link(site.store, second.id, ducks, "owner", 5)
        assert "Open links that they made have ended: 1." in act()
        with site.store.reading() as connection:
            makers = connection.execute(select(InvitationRow.created_by)).scalars().all()
        assert makers == [olga.id]
    assert "have ended" not in change_role(site.store, olga.id, ducks, "assessor-2", "viewer")


def test_a_higher_role_is_not_lost_by_a_link(site: Site, ducks: int) -> None:
    word = new_link(site.store, site.person("olga").id, ducks, "viewer", 1)
    assert site.visitor("olga").post(f"/invite/{word}").status_code == 303
    assert site.visitor("olga").get("/p/ducks/members").status_code == 200


def test_an_owner_takes_over_no_account(site: Site, ducks: int) -> None:
    """With all that an owner can send, the password, the rights and the other projects of a member stay theirs."""
    site.project("geese")
    ada = site.member("ada", "geese", "owner")
    with_password(site)
    owner, program = site.visitor("olga"), site.program("olga")
    for path in (f"/people/{ada.id}/reset", f"/people/{ada.id}/disable", "/p/geese/members/assessor-1/remove"):
        assert owner.post(path).status_code == 404
    assert program.post(f"/api/v1/people/{ada.id}/reset").status_code == 404
    for extra in ({"kind": "reset"}, {"user": ada.id}, {"user_id": ada.id}, {"project": "geese"}):
        sent = program.post("/api/v1/projects/ducks/invitations", json={"role": "owner", **extra})
        assert sent.status_code == 422
        made = owner.post("/p/ducks/members/links", data={"role": "owner", **extra})
        taken = site.stranger().post(link_of(made.text), data={"name": "ada", "password": "of somebody else"})
        assert taken.status_code == 400
        assert "the name &#39;ada&#39; is taken" in taken.text
    assert sign_in(site) == 303
    assert sign_in(site, password="of somebody else") == 403
    with site.store.reading() as connection:
        asked = select(MemberRow.role).where(MemberRow.project_id == project_number(site.store, "geese"))
        assert connection.execute(asked).scalars().all() == ["owner"]


def test_an_admin_manages_accounts(site: Site, ducks: int) -> None:
    ada, admin = site.person("ada"), site.visitor("root", admin=True)
    with_password(site)
    assert '<th scope="row">ada</th>' in admin.get("/people").text
    link = link_of(admin.post(f"/people/{ada.id}/reset").text)
    assert link.split("/")[2] not in admin.get("/people").text
    session = site.visitor("ada")
    program = site.program("ada")
    assert "ada cannot sign in any more; all that they judged stays." in admin.post(f"/people/{ada.id}/disable").text
    assert (session.get("/").status_code, program.get("/api/v1/me").status_code, sign_in(site)) == (303, 401, 403)
    assert "ada can sign in again." in admin.post(f"/people/{ada.id}/enable").text
    assert (session.get("/").status_code, program.get("/api/v1/me").status_code, sign_in(site)) == (303, 200, 303)
    assert "ada is an admin now." in admin.post(f"/people/{ada.id}/admin").text
    assert site.visitor("ada").get("/people").status_code == 200
    assert "ada is no admin any more." in admin.post(f"/people/{ada.id}/no-admin").text
    assert site.visitor("ada").get("/people").status_code == 404
    alone = admin.post(f"/people/{site.person('olga').id}/disable").text
    assert "Nobody else owns: Ducks." in alone
    with site.store.reading() as connection:
        notes = connection.execute(select(AuditRow.what).order_by(AuditRow.id)).scalars().all()
        assert list(broken(connection)) == []
    acts = ["reset link made", "account disabled", "account enabled", "admin made", "admin unmade", "account disabled"]
    assert [what for what in notes if what in acts] == acts


def test_the_last_admin_stays(site: Site) -> None:
    root = site.person("root", admin=True)
    program = site.program("root")
    for change in ({"admin": False}, {"disabled": True}):
        answer = program.patch(f"/api/v1/people/{root.id}", json=change)
        assert answer.status_code == 400
        assert answer.json() == {"error": "'root' is the last admin: make another one first"}
    others = [site.person(f"admin {number}", admin=True).id for number in range(4)]
    results = at_once(5, lambda number: unmake_admin(site.store, root.id, [root.id, *others][number]))
    assert sum(isinstance(result, DataError) for result in results) == 1
    with site.store.reading() as connection:
        assert connection.execute(select(func.count()).where(UserRow.admin)).scalar_one() == 1


@pytest.mark.parametrize("change", [{}, {"admin": True, "disabled": True}])
def test_one_change_of_an_account_at_a_time(site: Site, change: dict[str, bool]) -> None:
    root = site.person("root", admin=True)
    answer = site.program("root").patch(f"/api/v1/people/{root.id}", json=change)
    assert answer.json() == {"error": "give one of 'admin' and 'disabled', true or false"}


@pytest.mark.parametrize("number", ["0", "-1", "9" * 30, "x", "99999"])
def test_accounts_that_are_not_there(site: Site, number: str) -> None:
    program = site.program(site.person("root", admin=True).name)
    assert program.post(f"/api/v1/people/{number}/reset").status_code in (404, 422)


def test_hostile_titles_are_text(site: Site) -> None:
    site.project("ducks", title="<script>alert(1)</script>\"'&")
    site.member("olga", "ducks", "owner")
    owner = site.visitor("olga")
    link = link_of(owner.post("/p/ducks/members/links", data={"role": "viewer"}).text)
    for page in (owner.get("/p/ducks/members"), owner.get("/"), site.stranger().get(link)):
        assert page.status_code == 200
        assert "&lt;script&gt;alert(1)&lt;/script&gt;&#34;&#39;&amp;" in page.text
        assert not re.search(r"<script>", page.text)


@pytest.mark.parametrize("name", ["<b>", "a\x00b", "a\nb", "\u202eada", "", " ", "x" * 65, "-ada", "a<script>"])
def test_hostile_names_are_refused(site: Site, ducks: int, name: str) -> None:
    word = new_link(site.store, site.person("olga").id, ducks, "viewer", 1)
    answer = site.stranger().post(f"/invite/{word}", data={"name": name, "password": "a duck on a pond"})
    assert answer.status_code == 400
    assert "a name has" in answer.text
