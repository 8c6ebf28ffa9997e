"""Signing in, links, sessions and tokens: what lets somebody in, how often, how long, and what no longer does."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable

import pytest
from argon2 import PasswordHasher
from sqlalchemy import func, select, update

from cranfield.errors import DataError
from cranfield.web.accounts import passwords
from cranfield.web.accounts.administration import disable, enable, reset_word
from cranfield.web.accounts.invitations import accept, invite, invited
from cranfield.web.accounts.limits import Attempts
from cranfield.web.accounts.passwords import hashed
from cranfield.web.accounts.people import signed_in
from cranfield.web.accounts.tokens import bearer, new_token
from cranfield.web.serving import setup_link
from cranfield.web.settings import ServerSettings
from cranfield.web.store.tables import InvitationRow, MemberRow, SessionRow, UserRow
from site_fixtures import Clock
from sites import Site, link_of, project_number

PASSWORD = "a duck on a pond"


def with_password(site: Site, name: str = "ada", password: str = PASSWORD) -> int:
    account = site.person(name)
    stored = hashed(password)
    with site.store.writing() as connection:
        connection.execute(update(UserRow).where(UserRow.id == account.id).values(password=stored))
    return account.id


def sign_in(site: Site, name: str = "ada", password: str = PASSWORD, **fields: str) -> int:
    return site.stranger().post("/login", data={"name": name, "password": password, **fields}).status_code


def test_a_name_and_its_password_let_in(site: Site) -> None:
    with_password(site)
    assert sign_in(site) == 303
    assert sign_in(site, "ADA") == 303
    assert sign_in(site, password="another") == 403
    assert sign_in(site, "eve") == 403


def test_a_disabled_account_is_not_told_from_none(site: Site) -> None:
    number = with_password(site)
    admin = site.person("root", admin=True)
    disable(site.store, admin.id, number)
    texts = [
        site.stranger().post("/login", data={"name": name, "password": PASSWORD}).text for name in ("ada", "nobody")
    ]
    assert texts[0] == texts[1]
    assert "there is no account of that name with that password" in texts[0]


def test_a_name_that_nobody_has_costs_as_much(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """The hash is computed for everybody: time tells nobody which names there are."""
    with_password(site)
    computed: list[str] = []
    verify = PasswordHasher.verify

    def counted(self: PasswordHasher, stored: str, password: str) -> bool:
        computed.append(stored.split("$")[3])
        return bool(verify(self, stored, password))

    monkeypatch.setattr(PasswordHasher, "verify", counted)
    for name in ("ada", "nobody"):
        assert sign_in(site, name, "wrong") == 403
    assert computed == ["m=19456,t=2,p=1"] * 2


def test_a_password_of_weaker_days_is_stored_anew(site: Site) -> None:
    number = with_password(site)
    with site.store.writing() as connection:
        weak = PasswordHasher(time_cost=1, memory_cost=1024, parallelism=1).hash(PASSWORD)
        connection.execute(update(UserRow).where(UserRow.id == number).values(password=weak))
    for _ in range(2):
        assert signed_in(site.store, "ada", PASSWORD) is not None
    with site.store.reading() as connection:
        stored = connection.execute(select(UserRow.password).where(UserRow.id == number)).scalar_one()
    assert stored is not None
    assert "m=19456,t=2,p=1" in stored
    assert not passwords.outdated(stored)


def test_passwords_are_tried_five_times_a_minute(site: Site) -> None:
    with_password(site)
    now = 0.0
    site.app.state.attempts = Attempts(lambda: now)
    assert [sign_in(site, password="wrong") for _ in range(6)] == [403] * 5 + [429]
    refused = site.stranger().post("/login", data={"name": "ÁDA".replace("Á", "A"), "password": PASSWORD})
    assert (refused.status_code, refused.headers["retry-after"]) == (429, "12")
    assert "too many attempts: try again in 12 seconds" in refused.text
    now = 12.0
    assert sign_in(site) == 303


def test_an_address_is_limited_too_but_not_by_those_who_know_their_password() -> None:
    attempts = Attempts(lambda: 0.0)
    for number in range(200):  # a class behind one address
        assert attempts.wait(f"student {number}", "10.0.0.1") == 0
        attempts.succeeded(f"student {number}", "10.0.0.1")
    assert [attempts.wait(f"guess {number}", "10.0.0.1") > 0 for number in range(41)] == [False] * 40 + [True]
    assert attempts.wait("ada", "10.0.0.1") > 0
    assert attempts.wait("ada", "10.0.0.2") == 0


def test_signing_in_makes_a_new_session_and_ends_the_old(site: Site) -> None:
    with_password(site)
    browser = site.visitor("eve")  # a word that somebody else knows
    planted = browser.cookies["session"]
    answer = browser.post("/login", data={"name": "ada", "password": PASSWORD})
    assert answer.cookies["session"] != planted
    old = site.stranger()
    old.cookies.set("session", planted)
    assert old.get("/account").status_code == 303
    made_up = site.stranger()
    made_up.cookies.set("session", "chosen by somebody else")
    assert (
        made_up.post("/login", data={"name": "ada", "password": PASSWORD}).cookies["session"]
        != "chosen by somebody else"
    )


def test_the_cookie_is_for_this_server_alone(site: Site) -> None:
    with_password(site)
    answer = site.stranger().post("/login", data={"name": "ada", "password": PASSWORD})
    words = answer.headers["set-cookie"].casefold()
    assert "httponly" in words
    assert "samesite=lax" in words
    assert "path=/" in words
    assert "domain" not in words


def test_over_https_the_cookie_is_bound_to_the_host(settings: ServerSettings, site: Site) -> None:
    from dataclasses import replace

    safe = Site(replace(settings, proxies=("127.0.0.1",)), site.store)
    with_password(safe)
    answer = safe.stranger().post("/login", data={"name": "ada", "password": PASSWORD})
    words = answer.headers["set-cookie"]
    assert words.startswith("__Host-session=")
    assert "Secure" in words
    browser = safe.stranger()
    browser.headers["cookie"] = words.partition(";")[0]
    left = browser.post("/logout").headers["set-cookie"]
    assert left.startswith('__Host-session="";')
    assert "Max-Age=0" in left
    assert "Secure" in left
    assert answer.headers["strict-transport-security"] == "max-age=31536000"


def test_a_session_ends_when_it_is_not_used(site: Site, clock: Clock) -> None:
    used, idle = site.visitor("ada"), site.visitor("ada")
    for _ in range(9):  # three days without use end it, thirty days end it in any case
        clock.forward(days=2.9)
        assert used.get("/account").status_code == 200
        assert idle.get("/account").status_code == 200
    clock.forward(days=2.9)
    assert used.get("/account").status_code == 200
    clock.forward(days=0.2)
    assert idle.get("/account").status_code == 303
    assert used.get("/account").status_code == 200
    clock.forward(days=1)
    assert used.get("/account").status_code == 303


def test_signing_out_ends_the_session_for_good(site: Site) -> None:
    browser = site.visitor("ada")
    word = browser.cookies["session"]
    assert browser.post("/logout").headers["location"] == "/login"
    again = site.stranger()
    again.cookies.set("session", word)
    assert again.get("/account").status_code == 303


@pytest.mark.parametrize(
    ("wanted", "location"),
    [
        ("/p/ducks?topic=1&x=%2F", "/p/ducks?topic=1&x=%2F"),
        ("//elsewhere.example/", "/"),
        ("///elsewhere.example/", "/"),
        ("/\\elsewhere.example", "/"),
        ("\\\\elsewhere.example", "/"),
        ("https://elsewhere.example/", "/"),
        ("javascript:alert(1)", "/"),
        ("/\t/elsewhere.example", "/"),
        ("/\n/elsewhere.example", "/"),
        ("/\r\nset-cookie: x=y", "/"),
        ("/\u2028x", "/"),
        ("http://[", "/"),
        (" /account", "/"),
        ("", "/"),
    ],
)
def test_nobody_is_sent_elsewhere(site: Site, wanted: str, location: str) -> None:
    with_password(site)
    assert site.stranger().get("/login", params={"next": wanted}).status_code == 200
    answer = site.stranger().post("/login", data={"name": "ada", "password": PASSWORD, "next": wanted})
    assert (answer.status_code, answer.headers["location"]) == (303, location)


def test_whoever_must_sign_in_gets_where_they_wanted(site: Site) -> None:
    answer = site.stranger().get("/account?a=1&b=2")
    assert answer.headers["location"] == "/login?next=/account%3Fa%3D1%26b%3D2"
    assert 'value="/account?a=1&amp;b=2"' in site.stranger().get(answer.headers["location"]).text


def word_of(site: Site, role: str = "assessor", uses: int = 1) -> str:
    number = project_number(site.store, "ducks")
    with site.store.writing() as connection:
        return invite(connection, site.store.clock(), "project", project=number, role=role, uses=uses)


def test_looking_at_a_link_uses_nothing_up(site: Site) -> None:
    site.project("ducks")
    path = f"/invite/{word_of(site)}"
    for _ in range(3):
        assert "Join “Ducks” as assessor" in site.stranger().get(path).text
    form = {"name": "ada", "password": PASSWORD}
    assert site.stranger().post(path, data={"name": "ada", "password": "short"}).status_code == 400
    browser = site.stranger()
    assert browser.post(path, data=form).headers["location"] == "/p/ducks"
    assert "Ducks" in browser.get("/p/ducks").text
    assert site.stranger().post(path, data=form | {"name": "bea"}).status_code == 404
    assert site.stranger().get(path).status_code == 404


def test_a_link_is_good_for_two_weeks(site: Site, clock: Clock) -> None:
    site.project("ducks")
    word = word_of(site)
    clock.forward(days=13.9)
    assert site.stranger().get(f"/invite/{word}").status_code == 200
    clock.forward(days=0.2)
    gone = site.stranger().get(f"/invite/{word}")
    assert (gone.status_code, "this link is used up, too old or not whole: ask whoever" in gone.text) == (404, True)
    assert gone.text == site.stranger().get("/invite/never-there").text, "nobody learns which links there were"
    assert site.stranger().post(f"/invite/{word}", data={"name": "a", "password": PASSWORD}).status_code == 404


def at_once(count: int, act: Callable[[int], object]) -> list[object]:
    """What each of several threads got that begin together: a result, or the error."""
    barrier, results = threading.Barrier(count), [None] * count  # type: tuple[threading.Barrier, list[object]]

    def run(number: int) -> None:
        barrier.wait()
        try:
            results[number] = act(number)
        except Exception as error:
            results[number] = error

    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


@pytest.mark.parametrize("uses", [1, 3])
def test_a_link_for_few_lets_exactly_these_in(site: Site, uses: int) -> None:
    site.project("ducks")
    word = word_of(site, uses=uses)

    def use(number: int) -> bool:
        with site.store.writing() as connection:
            accept(connection, 1, word, account=None, name=f"person {number}", stored="x")
        return True

    results = at_once(20, use)
    assert results.count(True) == uses
    assert all(result is True or isinstance(result, DataError) for result in results)
    with site.store.reading() as connection:
        assert connection.execute(select(func.count()).select_from(UserRow)).scalar_one() == uses
        assert connection.execute(select(func.count(func.distinct(MemberRow.pseudonym)))).scalar_one() == uses
        assert connection.execute(select(InvitationRow.uses_left)).scalar_one() == 0


def test_the_same_name_is_taken_once(site: Site) -> None:
    """By whoever is first; the other is told so or asked to try again, and their link is not used up."""
    site.project("ducks")
    word = word_of(site, uses=8)
    form = {"name": "ada", "password": PASSWORD}
    statuses = at_once(4, lambda _: site.stranger().post(f"/invite/{word}", data=form).status_code)
    assert statuses.count(303) == 1
    assert set(statuses) <= {303, 400, 409}
    with site.store.reading() as connection:
        assert connection.execute(select(InvitationRow.uses_left)).scalar_one() == 7


def test_the_first_account_is_made_by_the_link_that_the_server_tells(site: Site, settings: ServerSettings) -> None:
    first, second = (setup_link(site.store, settings) for _ in range(2))
    assert first is not None
    assert second is not None
    assert second.startswith("http://localhost:8000/invite/")
    assert site.stranger().get(link_of(first)).status_code == 404  # the newer one holds
    browser = site.stranger()
    assert browser.post(link_of(second), data={"name": "root", "password": PASSWORD}).status_code == 303
    assert browser.get("/people").status_code == 200
    assert setup_link(site.store, settings) is None


def test_the_link_for_the_first_account_makes_no_second(site: Site, settings: ServerSettings) -> None:
    link = setup_link(site.store, settings)
    site.person("ada")  # made by the operator meanwhile
    assert link is not None
    for browser in (site.stranger(), site.visitor("ada")):
        assert browser.get(link_of(link)).status_code == 404
        assert browser.post(link_of(link), data={"name": "eve", "password": PASSWORD}).status_code == 404
    assert site.visitor("ada").get("/people").status_code == 404


def test_a_reset_sets_the_password_and_ends_all_sessions_and_links(site: Site) -> None:
    number, admin = with_password(site), site.person("root", admin=True)
    browser = site.visitor("ada")
    older, newer = (reset_word(site.store, admin.id, number) for _ in range(2))
    assert site.stranger().get(f"/invite/{older}").status_code == 404
    page = site.stranger().get(f"/invite/{newer}").text
    assert "A new password for ada" in page
    assert 'name="name"' not in page
    assert site.stranger().post(f"/invite/{newer}", data={"password": "ada"}).status_code == 400
    assert site.stranger().post(f"/invite/{newer}", data={"password": "another pond"}).status_code == 303
    assert browser.get("/account").status_code == 303
    assert (sign_in(site), sign_in(site, password="another pond")) == (403, 303)
    assert site.stranger().post(f"/invite/{newer}", data={"password": "a third pond"}).status_code == 404


def test_a_reset_of_a_disabled_account_lets_nobody_in(site: Site) -> None:
    number, admin = with_password(site), site.person("root", admin=True)
    word = reset_word(site.store, admin.id, number)
    disable(site.store, admin.id, number)
    assert site.stranger().get(f"/invite/{word}").status_code == 404
    with pytest.raises(DataError, match="the account of 'ada' is disabled: enable it first"):
        reset_word(site.store, admin.id, number)
    enable(site.store, admin.id, number)
    assert sign_in(site) == 303


def test_one_changes_ones_own_password(site: Site) -> None:
    number = with_password(site)
    here, there = site.visitor("ada"), site.visitor("ada")
    with site.store.writing() as connection:
        word = invite(connection, site.store.clock(), "reset", user=number)
    form = {"old": PASSWORD, "new": "a goose on a pond"}
    wrong = here.post("/account/password", data=form | {"old": "wrong"})
    assert wrong.status_code == 403
    assert "that is not your password of now" in wrong.text
    short = here.post("/account/password", data=form | {"new": "short"})
    assert short.status_code == 400
    assert "the password has 5 characters; at least 8 are asked for" in short.text
    assert there.get("/account").status_code == 200
    assert sign_in(site) == 303
    before = here.cookies["session"]
    changed = here.post("/account/password", data=form)
    assert (changed.status_code, changed.headers["location"]) == (303, "/account")
    assert changed.cookies["session"] != before
    here.cookies.clear()
    here.cookies.set("session", changed.cookies["session"])
    assert here.get("/account").status_code == 200
    assert there.get("/account").status_code == 303
    assert (sign_in(site), sign_in(site, password=form["new"])) == (403, 303)
    with site.store.reading() as connection:
        assert invited(connection, site.store.clock(), word) is None


def test_the_old_password_cannot_be_guessed_in_a_borrowed_browser(site: Site) -> None:
    with_password(site)
    browser = site.visitor("ada")
    form = {"old": "wrong", "new": "a goose on a pond"}
    assert [browser.post("/account/password", data=form).status_code for _ in range(6)] == [403] * 5 + [429]


def test_sessions_are_listed_and_ended(site: Site) -> None:
    here, there = site.visitor("ada"), site.visitor("ada")
    name = re.findall(r"/account/sessions/([0-9a-f]{16})/end", here.get("/account").text)
    assert len(name) == 1  # one's own is ended by signing out
    assert here.post(f"/account/sessions/{name[0]}/end").status_code == 303
    assert there.get("/account").status_code == 303
    for bad in (name[0][:15], "%", "_" * 16):
        assert here.post(f"/account/sessions/{bad}/end").status_code == 404
    with site.store.reading() as connection:
        assert connection.execute(select(func.count()).select_from(SessionRow)).scalar_one() == 1


def test_a_token_works_until_its_day_and_until_it_is_ended(site: Site, clock: Clock) -> None:
    ada = site.person("ada")
    with site.store.writing() as connection:
        token = new_token(connection, clock(), ada.id, "script", ["read"], 2)
    shown = {"authorization": f"Bearer {token}"}
    assert site.stranger().get("/api/v1/me", headers=shown).json() == {"name": "ada", "admin": False}
    clock.forward(days=1.99)
    assert site.stranger().get("/api/v1/me", headers=shown).status_code == 200
    public = token.split("_")[1]
    assert site.visitor("eve").post(f"/account/tokens/{public}/end").status_code == 404
    assert site.stranger().get("/api/v1/me", headers=shown).status_code == 200
    clock.forward(days=0.02)
    none = site.stranger().get("/api/v1/me").json()["error"]
    assert none == "a token is needed: Authorization: Bearer …"
    late = site.stranger().get("/api/v1/me", headers=shown)
    assert (late.status_code, late.json()["error"]) == (
        401,
        "this token is unknown or has ended: make one on the page /account",
    )


def test_an_ended_token_is_good_for_nothing(site: Site) -> None:
    program, browser = site.program("ada"), site.visitor("ada")
    public = program.headers["authorization"].split("_")[1]
    assert browser.post(f"/account/tokens/{public}/end").status_code == 303
    assert program.get("/api/v1/me").status_code == 401
    assert browser.post(f"/account/tokens/{public}/end").status_code == 404


@pytest.mark.parametrize(
    "change",
    [
        lambda token: token[:-1] + ("A" if token[-1] != "A" else "B"),
        lambda token: token + "A",
        lambda token: token.replace("cran_", "cram_"),
        lambda token: token.rpartition("_")[0],
        lambda token: "cran__" + token.split("_", 2)[2],
        lambda token: "",
    ],
)
def test_a_token_must_be_whole(site: Site, change: Callable[[str], str]) -> None:
    account = site.person("ada")
    with site.store.writing() as connection:
        token = new_token(connection, site.store.clock(), account.id, "x", ["read"], 1)
        assert bearer(connection, site.store.clock(), token) is not None
        assert bearer(connection, site.store.clock(), change(token)) is None


@pytest.mark.parametrize(
    ("form", "words"),
    [
        ({"scopes": "everything", "days": "1"}, "a token is for some of read, judge, manage, people, not everything"),
        ({"days": "1"}, "a token is for some of read, judge, manage, people, not nothing"),
        ({"scopes": "read", "days": "366"}, "a token is good for 1 to 365 days, not 366"),
        ({"scopes": "read", "days": "0"}, "a token is good for 1 to 365 days, not 0"),
    ],
)
def test_tokens_that_are_not_made(site: Site, form: dict[str, str], words: str) -> None:
    answer = site.visitor("ada").post("/account/tokens", data={"name": "x", **form})
    assert answer.status_code == 400
    assert words in answer.text


def test_a_token_is_shown_once(site: Site) -> None:
    browser = site.visitor("ada")
    made = browser.post("/account/tokens", data={"name": "<b>x</b>", "scopes": "read", "days": "1"})
    token = re.search(r"cran_\w{20}_[\w-]{43}", made.text)
    assert token is not None
    again = browser.get("/account")
    assert token.group().split("_", 2)[2] not in again.text
    assert "&lt;b&gt;x&lt;/b&gt;" in again.text
    assert "<b>x" not in again.text
