"""Every route × every kind of visitor × every method × objects of another project: the exact status of each.

What is expected is computed by the tables below, which know nothing of the code that admits visitors. What is sent
stands in tests/common/route_samples.py: a route without a row there fails here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from itertools import product

import pytest
from _pytest.mark.structures import ParameterSet
from fastapi import FastAPI
from httpx2 import Response
from sqlalchemy import insert, select, update
from starlette.routing import Mount, Route
from starlette.testclient import TestClient

from cranfield.web import app as app_module
from cranfield.web.accounts.limits import Attempts
from cranfield.web.accounts.roles import Permission
from cranfield.web.accounts.tokens import SCOPES
from cranfield.web.app import PARTS, check_guarded
from cranfield.web.routes import ApiRoute, GuardedRoute, api_router, needs, page_router
from cranfield.web.serving import open_folder
from cranfield.web.settings import ServerSettings
from cranfield.web.store.tables import GuidelineRow, StoredTable, UserRow
from ponds import pond
from route_samples import OBJECTS, SAMPLES, Maker, Sample, Whose
from site_fixtures import Clock
from sites import Site, project_number

HERE, ELSEWHERE, NOWHERE = "ducks", "geese", "no-such-project"
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
ROUTES: list[GuardedRoute] = [route for part in PARTS for route in import_module(f"cranfield.web.{part}").router.routes]
DECLARED = {(method, route.path): route for route in ROUTES for method in route.methods or ()}


def named(keys: Iterable[tuple[str, str]]) -> list[ParameterSet]:
    return [pytest.param(*key, id=" ".join(key)) for key in sorted(keys)]


# What the roles of a project are good for, and who has what: the whole of the rights, written a second time.
MAY = {
    "viewer": {"view"},
    "assessor": {"view", "judge"},
    "adjudicator": {"view", "judge", "adjudicate"},
    "owner": {"view", "judge", "adjudicate", "own"},
}
PEOPLE = {
    "member of none": {"signed in"},
    **{role: {"signed in"} | may for role, may in MAY.items()},
    "admin": {"signed in", "site admin"},
    "owner elsewhere": {"signed in"},
}
READING = {"GET"}


@dataclass
class Visitor:
    """Somebody who comes: what they show, and what they may (nothing, if nobody believes what they show)."""

    kind: str
    person: str
    make: Callable[[], TestClient]
    surface: str | None = None  # where what they show counts
    may: frozenset[str] = frozenset()
    scopes: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        self.client = self.make()


class World:
    """A server with two projects, and everybody who may come."""

    def __init__(self, site: Site, clock: Clock) -> None:
        self.site, self.clock, self._came = site, clock, list[Visitor]()
        for slug in (HERE, ELSEWHERE):
            pond(site, slug)
            with site.store.writing() as connection:
                said = {"project_id": project_number(site.store, slug, connection), "version": 1, "text": "", "at": 0}
                connection.execute(insert(GuidelineRow).values(**said))
            site.member(f"{slug} owner", slug, "owner")
        for role in MAY:
            site.member(role, HERE, role)
        site.member("owner elsewhere", ELSEWHERE, "owner")
        site.person("admin", admin=True)
        site.person("spare admin", admin=True)
        site.person("member of none")
        site.member("disabled", HERE, "owner")
        self._before()

    def _before(self) -> None:
        """What was given out long ago, and what belongs to somebody who is disabled afterwards."""
        self.old_session, self.old_token = self.site.visitor("owner"), self.site.program("owner")
        self.clock.forward(days=31)
        self.disabled_session, self.disabled_token = self.site.visitor("disabled"), self.site.program("disabled")
        with self.site.store.writing() as connection:
            chosen = update(UserRow).where(UserRow.name == "disabled")
            connection.execute(chosen.values(disabled_at=self.clock(), admin=True))

    def visitors(self) -> list[Visitor]:
        """Everybody. What refused visitors show is never used up; `fresh` gives others something new to show."""
        if not self._came:
            self._came = list(self._all())
        return self._came

    def _all(self) -> Iterator[Visitor]:
        site = self.site
        yield Visitor("nobody", "nobody", site.stranger)
        for name, may in PEOPLE.items():
            yield Visitor(f"{name}, session", name, partial(site.visitor, name), "page", frozenset(may))
            yield Visitor(f"{name}, token", name, partial(site.program, name), "api", frozenset(may), frozenset(SCOPES))
        for name, scope in product(("owner", "admin"), SCOPES):
            make = partial(site.program, name, [scope])
            yield Visitor(f"{name}, token for {scope}", name, make, "api", frozenset(PEOPLE[name]), frozenset({scope}))
        unbelieved: dict[str, Callable[[], TestClient]] = {
            "old session": lambda: self.old_session,
            "old token": lambda: self.old_token,
            "session of a disabled account": lambda: self.disabled_session,
            "token of a disabled account": lambda: self.disabled_token,
            "token with a wrong secret": lambda: wrong_secret(site.program("owner")),
            "made-up session": lambda: with_cookie(site.stranger(), "A" * 43),
        }
        for kind, make_unbelieved in unbelieved.items():
            yield Visitor(kind, "owner", make_unbelieved)

    def forget(self) -> None:
        """Nobody has what they showed before."""
        self._came = []

    def dump(self) -> dict[str, list[tuple[object, ...]]]:
        """All that is stored, but when a session or a token was last used."""
        with self.site.store.reading() as connection:
            return {
                table.name: sorted(
                    (tuple(row) for row in connection.execute(select(*[c for c in table.c if c.name != "used_at"]))),
                    key=repr,
                )
                for table in StoredTable.metadata.sorted_tables
            }


def wrong_secret(client: TestClient) -> TestClient:
    client.headers["authorization"] = client.headers["authorization"][:-1] + "~"
    return client


def with_cookie(client: TestClient, word: str) -> TestClient:
    client.cookies.set("session", word)
    return client


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def world(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    address = request.getfixturevalue("cluster").new_database() if request.param == "postgresql" else ""
    settings, clock = ServerSettings(folder=tmp_path_factory.mktemp("data"), database=address), Clock()
    store = open_folder(settings, clock)
    yield World(Site(settings, store), clock)
    store.close()


def expected(route: GuardedRoute, method: str, sample: Sample, visitor: Visitor) -> int:
    """The status that a visitor gets for an object that is there."""
    surface = "api" if route.path.startswith("/api/") else "page"
    needed = route.permission.value
    if needed == "anyone":
        return sample.done
    if visitor.surface != surface:
        return 303 if surface == "page" and method == "GET" else 401
    if surface == "api" and not visitor.scopes & wanted_scopes(needed, method, route.scope):
        return 403
    return sample.done if needed in visitor.may else 404


def wanted_scopes(needed: str, method: str, own: str | None) -> set[str]:
    """Which tokens are for that; one of them is enough."""
    if own is not None:
        return {own}
    judging = {"judge"} if needed in ("judge", "adjudicate") else set()
    if method in READING:
        return {"read"} | judging
    return judging or {"manage"}


def sent(method: str, path: str, sample: Sample, visitor: Visitor, whose: Whose, project: str = HERE) -> Response:
    """The answer to a request, with objects of `whose` below `project`."""
    names = re.findall(r"{(\w+)", path)
    made = {name: {**OBJECTS, **sample.path}[name](whose) for name in names if name != "project"}
    address = re.sub(r"{(\w+)(:\w+)?}", lambda match: {**made, "project": project}[match[1]], path)
    # Both kinds of what can be shown are told apart by the route alone, so browsers and programs send the same.
    headers = {"origin": "http://localhost:8000", "accept": "text/html"}
    body = {"json": sample.json} if sample.json is not None else {"data": dict(sample.form)} if sample.form else {}
    return visitor.client.request(method, address, headers=headers, follow_redirects=False, **body)


def test_every_route_has_a_sample() -> None:
    assert set(SAMPLES) == set(DECLARED), "name what is sent in tests/common/route_samples.py"


def test_every_sample_of_a_page_changes_the_world_by_post_alone() -> None:
    assert {method for method, path in DECLARED if not path.startswith("/api/")} == {"GET", "POST"}


@pytest.mark.parametrize(("method", "path"), named(DECLARED))
def test_who_may(world: World, method: str, path: str) -> None:
    """Everybody gets exactly what the tables say; those who are refused change nothing."""
    route, sample = DECLARED[method, path], SAMPLES[method, path]
    visitors = world.visitors()
    whose = {visitor.kind: Whose(world.site, HERE, visitor.person) for visitor in visitors}
    wanted = {visitor.kind: expected(route, method, sample, visitor) for visitor in visitors}
    refused = [visitor for visitor in visitors if wanted[visitor.kind] != sample.done]
    allowed = [visitor for visitor in visitors if wanted[visitor.kind] == sample.done]
    # One object for all who are refused: what is made for each would hide what they changed.
    objects = made_once(path, sample, Whose(world.site, HERE, "owner"))
    before = world.dump()
    got = {v.kind: sent(method, path, replace(sample, path=objects), v, whose[v.kind]).status_code for v in refused}
    assert world.dump() == before
    got |= {v.kind: fresh(world, method, path, sample, v, whose[v.kind]).status_code for v in allowed}
    if method != "GET":
        world.forget()
    assert got == wanted
    assert allowed, "nobody may: the sample is of no use"


def made_once(path: str, sample: Sample, whose: Whose) -> dict[str, Maker]:
    """Makers that give the same object each time."""
    made = {name: maker(whose) for name, maker in {**OBJECTS, **sample.path}.items() if f"{{{name}}}" in path}
    return {name: partial(_same, word) for name, word in made.items()}


def _same(word: str, _: Whose) -> str:
    return word


def fresh(world: World, method: str, path: str, sample: Sample, visitor: Visitor, whose: Whose) -> Response:
    """The answer to somebody who may, where the attempts of others do not count."""
    world.site.app.state.attempts = Attempts()
    if method != "GET":  # it may sign them out
        visitor.client = visitor.make()
    if sample.before is not None:
        sample.before(whose)
    return sent(method, path, sample, visitor, whose)


@pytest.mark.parametrize("path", sorted({path for _, path in DECLARED}))
def test_other_methods_are_refused(world: World, path: str) -> None:
    visitors = [v for v in world.visitors() if v.kind in ("nobody", "owner, session", "owner, token", "admin, token")]
    for method in METHODS:
        if (method, path) in DECLARED:
            continue
        for visitor in visitors:
            whose = Whose(world.site, HERE, visitor.person)
            assert sent(method, path, Sample(path=paths(path)), visitor, whose).status_code == 405, (
                method,
                visitor.kind,
            )


def paths(path: str) -> dict[str, Callable[[Whose], str]]:
    """Anything for the parameters of a path: the method is refused before it is looked at."""
    return {name: lambda _: "x" for name in re.findall(r"{(\w+)", path)}


OF_PROJECT = sorted(key for key in DECLARED if "{project}" in key[1])
WITH_OBJECTS = sorted(key for key in DECLARED if set(re.findall(r"{(\w+)", key[1])) - {"project"})


@pytest.mark.parametrize(("method", "path"), named(OF_PROJECT))
def test_another_project_does_not_exist(world: World, method: str, path: str) -> None:
    """A project that one is no member of answers like one that is not there, to the byte."""
    surface = "api" if path.startswith("/api/") else "page"
    for visitor in [
        v for v in world.visitors() if v.surface == surface and v.person in (*MAY, "admin", "member of none")
    ]:
        if surface == "api" and expected(DECLARED[method, path], method, SAMPLES[method, path], visitor) == 403:
            continue
        sample, whose = SAMPLES[method, path], Whose(world.site, ELSEWHERE, visitor.person)
        other = sent(method, path, sample, visitor, whose, ELSEWHERE)
        none = sent(method, path, sample, visitor, whose, NOWHERE)
        assert (other.status_code, none.status_code) == (404, 404), visitor.kind
        assert other.content == none.content
        assert dict(other.headers) == dict(none.headers)


@pytest.mark.parametrize(("method", "path"), named(WITH_OBJECTS))
def test_objects_of_others_do_not_exist(world: World, method: str, path: str) -> None:
    """An object of another project below one's own, or of another person, is not there; and stays as it was."""
    route, sample = DECLARED[method, path], SAMPLES[method, path]
    surface = "api" if isinstance(route, ApiRoute) else "page"
    mine = [v for v in world.visitors() if v.surface == surface and len(v.scopes) in (0, len(SCOPES))]
    allowed = [v for v in mine if route.permission.value in v.may | {"anyone"}]
    assert allowed
    foreign = Whose(world.site, ELSEWHERE, "owner elsewhere")
    for visitor in [v for v in allowed if v.person != "owner elsewhere"]:
        for name in set(re.findall(r"{(\w+)", path)) - {"project"}:  # one is another's, the rest are one's own
            own = Whose(world.site, HERE, visitor.person if visitor.may else "owner")
            made = made_once(path, sample, own) | {name: made_once(path, sample, foreign)[name]}
            before = world.dump()
            got = sent(method, path, replace(sample, path=made), visitor, own)
            assert got.status_code == sample.foreign, (visitor.kind, name)
            assert got.status_code != 404 or world.dump() == before


def test_what_counts_on_pages_does_not_on_the_api(site: Site) -> None:
    browser, program = site.visitor("ada"), site.program("ada")
    assert browser.get("/account").status_code == 200
    assert browser.get("/api/v1/me").status_code == 401
    assert program.get("/api/v1/me").status_code == 200
    assert program.get("/account").status_code == 401
    browser.headers["authorization"] = "Bearer wrong"
    assert browser.get("/account").status_code == 200
    assert browser.get("/api/v1/me").status_code == 401


def test_a_route_without_a_permission_stops_the_server(
    settings: ServerSettings, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(RuntimeError, match=r"the route /open \(unguarded\) declares no permission: add @needs"):
        page_router().get("/open")(unguarded)
    for route in (Route("/open", unguarded), Mount("/open", FastAPI())):
        monkeypatch.setattr(app_module, "import_module", lambda _, route=route: Part([route]))
        with pytest.raises(RuntimeError, match="the route /open declares no permission"):
            app_module.application(settings, site.store)


def unguarded() -> str:
    return "open"


class Part:
    """A module with a router."""

    def __init__(self, routes: list[object]) -> None:
        self.router = self
        self.routes = routes


def test_a_role_is_a_role_in_a_project() -> None:
    with pytest.raises(RuntimeError, match="needs a role in a project but names none"):
        page_router().get("/somewhere")(needs(Permission.VIEW)(lambda: None))


def test_pages_and_api_are_told_apart_by_their_address() -> None:
    page, api = page_router(), api_router()
    page.get("/api/v1/hole")(needs(Permission.ANYONE)(lambda: None))
    with pytest.raises(RuntimeError, match=r"/api/v1/hole is of the wrong kind"):
        check_guarded(list(page.routes))
    api.prefix = ""
    api.get("/hole")(needs(Permission.ANYONE)(lambda: None))
    with pytest.raises(RuntimeError, match=r"/hole is of the wrong kind"):
        check_guarded(list(api.routes))
