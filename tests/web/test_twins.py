"""Every page has its twin in the API, for the same people; and the API describes itself."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest

from cranfield.web.app import PARTS
from cranfield.web.routes import ApiRoute, GuardedRoute
from ponds import pond
from sites import Site

ROUTES: list[GuardedRoute] = [route for part in PARTS for route in import_module(f"cranfield.web.{part}").router.routes]
DECLARED = {(method, route.path): route for route in ROUTES for method in route.methods or ()}
P, API, HERE = "/p/{project}", "/api/v1", "/api/v1/projects/{project}"

# What a page shows or does, by the API. A new page needs a row here.
TWINS: dict[tuple[str, str], tuple[tuple[str, str], ...]] = {
    ("GET", "/"): (("GET", f"{API}/projects"),),
    ("GET", "/account"): (("GET", f"{API}/me"), ("GET", f"{API}/me/sessions"), ("GET", f"{API}/me/tokens")),
    ("POST", "/account/sessions/{name}/end"): (("DELETE", f"{API}/me/sessions/{{name}}"),),
    ("POST", "/account/tokens/{public}/end"): (("DELETE", f"{API}/me/tokens/{{public}}"),),
    ("GET", "/people"): (("GET", f"{API}/people"),),
    ("POST", "/people/{user}/disable"): (("PATCH", f"{API}/people/{{user}}"),),
    ("POST", "/people/{user}/enable"): (("PATCH", f"{API}/people/{{user}}"),),
    ("POST", "/people/{user}/admin"): (("PATCH", f"{API}/people/{{user}}"),),
    ("POST", "/people/{user}/no-admin"): (("PATCH", f"{API}/people/{{user}}"),),
    ("POST", "/people/{user}/reset"): (("POST", f"{API}/people/{{user}}/reset"),),
    ("GET", "/projects/new"): (("GET", f"{API}/collections"),),
    ("POST", "/projects/new"): (("POST", f"{API}/projects"),),
    ("GET", P): (("GET", HERE),),
    ("GET", f"{P}/guidelines"): (("GET", f"{HERE}/guidelines"),),
    ("POST", f"{P}/prepare"): (("POST", f"{HERE}/prepare"),),
    ("GET", f"{P}/delete"): (("DELETE", HERE),),
    ("POST", f"{P}/delete"): (("DELETE", HERE),),
    ("GET", f"{P}/runs"): (("GET", f"{HERE}/runs"),),
    ("POST", f"{P}/runs"): (("POST", f"{HERE}/runs"),),
    ("GET", f"{P}/runs/{{run}}/file"): (("GET", f"{HERE}/runs/{{run}}/file"),),
    ("POST", f"{P}/runs/{{run}}/remove"): (("DELETE", f"{HERE}/runs/{{run}}"),),
    ("GET", f"{P}/settings"): (("GET", HERE), ("GET", f"{HERE}/scale"), ("GET", f"{HERE}/guidelines")),
    ("POST", f"{P}/settings"): (("PATCH", HERE),),
    ("POST", f"{P}/settings/scale"): (("PUT", f"{HERE}/scale"),),
    ("POST", f"{P}/settings/guidelines"): (("PUT", f"{HERE}/guidelines"),),
    ("POST", f"{P}/parts/{{kind}}"): (("PUT", f"{HERE}/parts/{{kind}}"),),
    ("GET", f"{P}/judge"): (("GET", f"{HERE}/topics"),),
    ("GET", f"{P}/judge/{{topic}}"): (
        ("GET", f"{HERE}/topics/{{topic}}"),
        ("POST", f"{HERE}/topics/{{topic}}/leases"),
        ("GET", f"{HERE}/topics/{{topic}}/judgements"),
    ),
    ("POST", f"{P}/judge/{{topic}}"): (("POST", f"{HERE}/judgements"),),
    ("POST", f"{P}/judge/{{topic}}/judgements"): (("POST", f"{HERE}/judgements"),),
    ("POST", f"{P}/judge/{{topic}}/leave"): (("DELETE", f"{HERE}/topics/{{topic}}/leases"),),
    ("POST", f"{P}/judge/{{topic}}/stay"): (("PUT", f"{HERE}/topics/{{topic}}/leases"),),
    ("POST", f"{P}/judge/{{topic}}/terms"): (("PUT", f"{HERE}/topics/{{topic}}/terms"),),
    ("GET", f"{P}/judge/{{topic}}/advice"): (("GET", f"{HERE}/topics/{{topic}}/advice"),),
    ("GET", f"{P}/judge/{{topic}}/documents/{{pair}}"): (("GET", f"{HERE}/topics/{{topic}}/documents/{{pair}}"),),
    ("GET", f"{P}/judge/{{topic}}/documents/{{pair}}/page"): (("GET", f"{HERE}/topics/{{topic}}/documents/{{pair}}"),),
    ("GET", f"{P}/members"): (("GET", f"{HERE}/members"), ("GET", f"{HERE}/invitations")),
    ("POST", f"{P}/members/links"): (("POST", f"{HERE}/invitations"),),
    ("POST", f"{P}/members/links/{{link}}/end"): (("DELETE", f"{HERE}/invitations/{{link}}"),),
    ("POST", f"{P}/members/{{member}}/role"): (("PATCH", f"{HERE}/members/{{member}}"),),
    ("POST", f"{P}/members/{{member}}/remove"): (("DELETE", f"{HERE}/members/{{member}}"),),
    ("GET", f"{P}/mine"): (("GET", f"{HERE}/topics"),),
    ("GET", f"{P}/mine/{{topic}}"): (("GET", f"{HERE}/topics/{{topic}}/mine"),),
    ("POST", f"{P}/mine/{{topic}}"): (("POST", f"{HERE}/judgements"),),
    ("GET", f"{P}/agreement"): (("GET", f"{HERE}/agreement"),),
    ("GET", f"{P}/adjudicate"): (("GET", f"{HERE}/adjudications"),),
    ("GET", f"{P}/adjudicate/{{pair}}"): (("GET", f"{HERE}/adjudications/{{pair}}"),),
    ("POST", f"{P}/adjudicate/{{pair}}"): (("POST", f"{HERE}/adjudications"),),
    ("GET", f"{P}/adjudicate/{{pair}}/document"): (("GET", f"{HERE}/adjudications/{{pair}}"),),
    ("GET", f"{P}/adjudicate/{{pair}}/document/page"): (("GET", f"{HERE}/adjudications/{{pair}}"),),
    ("GET", f"{P}/releases"): (("GET", f"{HERE}/releases"), ("GET", f"{HERE}/releases/{{version}}")),
    ("GET", f"{P}/releases/new"): (("GET", f"{HERE}/releases/preview"),),
    ("POST", f"{P}/releases"): (("POST", f"{HERE}/releases"),),
    **{
        ("GET", f"{P}/releases/{{version}}/{file}"): (("GET", f"{HERE}/releases/{{version}}/{file}"),)
        for file in ("qrels", "qrels.gz", "sampled", "provenance", "events")
    },
}
# A program has a token, which only its owner makes, in a browser; and these answer everybody alike.
FOR_BROWSERS = {
    ("GET", "/login"),
    ("POST", "/login"),
    ("POST", "/logout"),
    ("GET", "/invite/{word}"),
    ("POST", "/invite/{word}"),
    ("POST", "/account/password"),
    ("POST", "/account/tokens"),
    ("GET", "/static/{digest}/{name}"),
    ("GET", "/healthz"),
    ("GET", "/readyz"),
}


def test_every_page_has_a_twin() -> None:
    pages = {key for key, route in DECLARED.items() if not isinstance(route, ApiRoute)}
    assert pages == set(TWINS) | FOR_BROWSERS
    twins = {twin for own in TWINS.values() for twin in own}
    api = {key for key, route in DECLARED.items() if isinstance(route, ApiRoute)}
    assert api - twins == {("GET", f"{API}/openapi.json")}
    assert twins <= api


@pytest.mark.parametrize(("method", "path"), sorted(TWINS), ids=" ".join)
def test_a_twin_is_for_the_same_people(method: str, path: str) -> None:
    """Never for others; what a page shows to its owner besides may be for more, as the guidelines in the settings."""
    page, own = DECLARED[method, path], [DECLARED[twin] for twin in TWINS[method, path]]
    if path == f"{P}/settings" and method == "GET":
        assert {twin.permission.value for twin in own} == {"view"}
    else:
        assert {twin.permission for twin in own} == {page.permission}


FILES = ("file", "qrels", "qrels.gz", "sampled", "provenance", "events")


def test_the_api_describes_itself(site: Site) -> None:
    """Every route is in the description, with words, and with the form of what it answers."""
    paths = site.program("ada").get("/api/v1/openapi.json").json()["paths"]
    operations = {(method.upper(), path): told for path, own in paths.items() for method, told in own.items()}
    declared = {key for key, route in DECLARED.items() if isinstance(route, ApiRoute)}
    assert set(operations) == declared - {("GET", f"{API}/openapi.json")}
    assert len({told["operationId"] for told in operations.values()}) == len(operations)
    for key, told in operations.items():
        assert told["description"], key
        (status, answer) = next(each for each in told["responses"].items() if each[0].startswith("2"))
        if status != "204" and key[1].rpartition("/")[2] not in FILES:
            assert answer["content"]["application/json"]["schema"], key


def test_a_topic_in_full_says_what_the_page_says(site: Site) -> None:
    pairs = pond(site)
    site.member("ann", "ducks", "assessor")
    program, base = site.program("ann"), f"/api/v1/projects/ducks/topics/{pairs['topic']}"
    assert program.put(f"{base}/terms", json={"terms": ["pond*"]}).status_code == 200
    told: dict[str, Any] = program.get(base).json()
    assert told["fields"] == [["title", "swimming ducks"], ["description", "Do ducks <b>swim</b> & dive?"]]
    assert (told["name"], told["pairs"], told["terms"]) == ("1", 6, ["pond*"])
    assert told["progress"] == "You judged 0, 0 of them relevant; 6 are left."
    assert told["progress"] in site.visitor("ann").get("/p/ducks/judge/1").text


def test_what_lets_in_is_listed_and_ended_by_the_api(site: Site) -> None:
    """One's own alone, without any secret; a token can end itself."""
    browser, program = site.visitor("ann"), site.program("ann")
    site.visitor("bob")
    sessions = program.get("/api/v1/me/sessions").json()
    assert [each["browser"] for each in sessions] == ["a browser"]
    word = browser.cookies["session"]
    assert word not in program.get("/api/v1/me/sessions").text
    assert browser.get("/account").status_code == 200
    assert program.delete(f"/api/v1/me/sessions/{sessions[0]['name']}").status_code == 204
    assert browser.get("/account").status_code == 303
    tokens = program.get("/api/v1/me/tokens").json()
    assert [each["name"] for each in tokens] == ["test"]
    # cran_PUBLIC_SECRET, and the secret itself may hold any number of "_".
    secret = str(program.headers["authorization"]).split("_", 2)[2]
    assert secret not in program.get("/api/v1/me/tokens").text
    assert program.delete(f"/api/v1/me/tokens/{tokens[0]['public']}").status_code == 204
    assert program.get("/api/v1/me").status_code == 401
