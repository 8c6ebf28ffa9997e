"""What stands before every route: hosts, posts of other sites, headers, limits of bodies, errors, and the log."""

from __future__ import annotations

import http.client
import logging
import socket
from collections.abc import Iterator
from dataclasses import replace
from urllib.parse import urlsplit

import pytest
from starlette.testclient import TestClient

from cranfield.web.accounts.invitations import invite
from cranfield.web.accounts.roles import Permission
from cranfield.web.routes import api_router, needs, page_router
from cranfield.web.settings import ServerSettings
from cranfield.web.shield import HEADERS
from cranfield.web.store.engine import Store
from cranfield.web.templating import asset
from sites import Site, live_site

FORM = {"name": "ada", "password": "x"}


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:8000", "127.0.0.1:1", "[::1]:8000", "[::1]"])
def test_hosts_that_are_answered(site: Site, host: str) -> None:
    assert site.stranger().get("/healthz", headers={"host": host}).status_code == 200


@pytest.mark.parametrize(
    "host", ["elsewhere.example", "localhost.elsewhere.example", "", "localhost:x", "::1", "localhost@e"]
)
def test_hosts_that_are_not(site: Site, host: str) -> None:
    answer = site.stranger().get("/healthz", headers={"host": host})
    assert (answer.status_code, answer.text) == (400, "this server is not known by that name\n")


def test_hosts_that_the_operator_named(settings: ServerSettings, store: Store) -> None:
    browser = Site(replace(settings, hosts=("judge.example",)), store).stranger()
    assert browser.get("/healthz", headers={"host": "Judge.example"}).status_code == 200


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"sec-fetch-site": "same-origin", "origin": "http://localhost:8000"}, 403),
        ({"sec-fetch-site": "none"}, 403),
        ({"origin": "http://localhost:8000"}, 403),
        ({"sec-fetch-site": "cross-site", "origin": "http://localhost:8000"}, "refused"),
        ({"sec-fetch-site": "same-site"}, "refused"),
        ({"origin": "http://localhost:9000"}, "refused"),
        ({"origin": "http://elsewhere.example"}, "refused"),
        ({"origin": "null"}, "refused"),
        ({}, "refused"),
    ],
)
def test_forms_of_other_sites_are_refused(site: Site, headers: dict[str, str], status: object) -> None:
    browser = TestClient(site.app, base_url="http://localhost:8000")
    answer = browser.post("/login", data=FORM, headers=headers)
    assert answer.status_code == 403
    told = "this form was not sent from a page of this server\n"
    assert (answer.text == told) == (status == "refused")


@pytest.fixture
def failing(site: Site) -> Site:
    """A server with routes that fail, and that take a body."""
    page, api = page_router(), api_router()

    def fail() -> None:
        raise ZeroDivisionError("secret word")

    def take(body: dict[str, str]) -> int:
        return len(body)

    page.get("/fails")(needs(Permission.ANYONE)(fail))
    api.get("/fails")(needs(Permission.ANYONE)(fail))
    api.post("/takes")(needs(Permission.ANYONE)(take))
    site.app.router.routes.extend([*page.routes, *api.routes])
    return site


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/healthz", 200),
        ("GET", "/login", 200),
        ("GET", "/", 303),
        ("POST", "/account/tokens", 401),
        ("GET", "/nothing", 404),
        ("PUT", "/login", 405),
        ("POST", "/login", 422),
        ("GET", "/fails", 500),
        ("GET", "/api/v1/fails", 500),
        ("GET", "/api/v1/me", 401),
        ("GET", "/login/", 307),
    ],
)
def test_every_answer_has_the_headers(failing: Site, method: str, path: str, status: int) -> None:
    answer = failing.stranger().request(method, path)
    assert answer.status_code == status
    for name, value in HEADERS.items():
        assert answer.headers[name] == value
    assert "unsafe" not in answer.headers["content-security-policy"]


def test_refusals_and_files_have_the_headers(site: Site) -> None:
    kept = site.stranger().get(asset("style.css"))
    refused = site.stranger().get("/", headers={"host": "elsewhere.example"})
    for answer in (kept, refused):
        for name, value in HEADERS.items():
            assert name in answer.headers
            assert answer.headers[name] == value or (name, answer) == ("cache-control", kept)
    assert kept.headers["cache-control"] == "public, max-age=31536000, immutable"


def test_errors_are_pages_for_people_and_json_for_programs(failing: Site) -> None:
    browser = failing.stranger()
    page = browser.get("/nothing")
    assert page.headers["content-type"].startswith("text/html")
    assert '<h1>Nothing here <span class="faint">404</span></h1>' in page.text
    assert "there is nothing here, or nothing that you may see" in page.text
    program = browser.get("/api/v1/nothing")
    assert program.json() == {"error": "there is nothing here, or nothing that you may see"}
    assert browser.get("/nothing", headers={"accept": "application/json"}).json() == program.json()
    for path in ("/fails", "/api/v1/fails"):
        failed = browser.get(path)
        assert "something went wrong on the server; it is in its log" in failed.text
        assert "secret" not in failed.text
        assert "ZeroDivision" not in failed.text
    misunderstood = failing.stranger().post("/api/v1/takes", json={"<b>": 3})
    assert misunderstood.status_code == 422
    assert misunderstood.json()["error"].startswith("<b>: ")


@pytest.mark.parametrize("field", ["a\x00b", "a\ud800b"])
def test_what_cannot_be_stored_is_the_visitors_fault(failing: Site, field: str) -> None:
    data = b"name=" + field.encode("utf-8", "surrogatepass") + b"&password=x"
    answer = failing.stranger().post(
        "/login", content=data, headers={"content-type": "application/x-www-form-urlencoded"}
    )
    assert answer.status_code in (400, 403)
    assert failing.visitor("ada").get("/p/%00/members").status_code in (400, 404)


def test_a_body_is_counted_whatever_its_header_says(failing: Site) -> None:
    browser = failing.stranger()
    longest = failing.settings.form_limit

    def pieces() -> Iterator[bytes]:
        yield b'{"a": "'
        for _ in range(longest // 1024 + 1):
            yield b"x" * 1024
        yield b'"}'

    for content in (pieces(), b'{"a": "' + b"x" * longest + b'"}'):
        answer = browser.post("/api/v1/takes", content=content, headers={"content-type": "application/json"})
        assert answer.status_code == 413
        assert answer.json() == {"error": "the request is longer than 1,048,576 bytes"}
    lying = {"content-type": "application/json", "content-length": "12"}
    assert browser.post("/api/v1/takes", content=pieces(), headers=lying).status_code == 413
    assert browser.post("/api/v1/takes", json={"a": "x" * (longest - 100)}).status_code == 200


def test_a_real_server_hides_words_and_refuses_long_bodies(
    settings: ServerSettings, store: Store, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    """Nothing that lets somebody in stands in any log; a body that does not end is cut off."""
    caplog.set_level(logging.DEBUG)
    site = Site(settings, store)
    site.project("ducks")
    token = site.program("ada").headers["authorization"].partition(" ")[2]
    session = site.visitor("ada").cookies["session"]
    with store.writing() as connection:
        word = invite(connection, store.clock(), "setup")
    with live_site(settings, store) as address:
        place = urlsplit(address)
        assert place.hostname is not None
        assert place.port is not None
        asked = [
            (f"/invite/{word}", {}, 404),  # there is an account already
            (f"/login?next=/invite/{word}", {}, 200),
            ("/api/v1/me", {"authorization": f"Bearer {token}"}, 200),
            (f"/api/v1/me?token={token}", {}, 401),
            ("/account", {"cookie": f"session={session}"}, 200),
        ]
        for path, headers, status in asked:
            connection_ = http.client.HTTPConnection(place.hostname, place.port)
            connection_.request("GET", path, headers=headers)
            answer = connection_.getresponse()
            assert answer.status == status, path
            assert answer.headers["server"] is None
            connection_.close()
        assert endless(place.hostname, place.port).startswith(b"HTTP/1.1 413")
        assert lying(place.hostname, place.port)[:12] in (b"HTTP/1.1 422", b"HTTP/1.1 400")
    lines = [record.getMessage() for record in caplog.records]
    told = "\n".join(lines) + caplog.text + "".join(capfd.readouterr())  # uvicorn writes to stderr by itself
    assert "GET /invite/{word} 404" in told
    for secret in (word, token, token.split("_", 2)[2], session):
        assert secret not in told


def endless(host: str, port: int) -> bytes:
    """The answer to a form in pieces that never end; the server does not wait for the end."""
    with socket.create_connection((host, port), timeout=60) as plug:
        plug.sendall(head("transfer-encoding: chunked"))
        piece = b"10000\r\n" + b"x" * 65536 + b"\r\n"
        try:
            for _ in range(64):
                plug.sendall(piece)
        except (BrokenPipeError, ConnectionResetError):
            pass
        return plug.recv(4096)


def lying(host: str, port: int) -> bytes:
    """The answer to a form that is longer than it says: the rest is no part of it."""
    with socket.create_connection((host, port), timeout=60) as plug:
        plug.sendall(head("content-length: 6") + b"name=a&password=x")
        return plug.recv(4096)


def head(length: str) -> bytes:
    lines = ["POST /login HTTP/1.1", "host: localhost", "origin: http://localhost", length]
    return "\r\n".join([*lines, "content-type: application/x-www-form-urlencoded", "", ""]).encode()
