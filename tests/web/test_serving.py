"""The server as a process: it is killed at any point and started again, and nothing that it said yes to is lost."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from pathlib import Path

import pytest
from sqlalchemy import insert, select

from cranfield.web.judging.rebuilding import differences
from cranfield.web.serving import open_folder
from cranfield.web.settings import ServerSettings
from cranfield.web.store.tables import EventRow, PairRow, ProjectRow
from crowds import free_port
from databases import Cluster
from ponds import pond
from sites import Site

KILLS = int(os.environ.get("CRANFIELD_KILLS", "6"))


@contextmanager
def process(
    folder: Path, database: str, port: int, more: Sequence[str] = (), trusted: ssl.SSLContext | None = None
) -> Iterator[subprocess.Popen[str]]:
    """`cranfield serve` as a person starts it, waited for."""
    words = [sys.executable, "-m", "cranfield", "serve", str(folder), "--port", str(port), *more]
    words += ["--db", database] if database else []
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as started:
        try:
            for _ in range(600):
                if answer(port, "GET", "/readyz", trusted=trusted) == (200, b"ready\n"):
                    break
                assert started.poll() is None, started.stdout and started.stdout.read()
                time.sleep(0.05)
            else:
                pytest.fail("the server does not come up")
            yield started
        finally:
            started.kill()


def answer(
    port: int, method: str, path: str, body: object = None, token: str = "", trusted: ssl.SSLContext | None = None
) -> tuple[int, bytes] | None:
    """What the server says; None where there is nobody, or it dies before it has answered."""
    connection = HTTPConnection("localhost", port, timeout=10)
    if trusted is not None:
        connection = HTTPSConnection("localhost", port, timeout=10, context=trusted)
    headers = {"content-type": "application/json"} | ({"authorization": f"Bearer {token}"} if token else {})
    try:
        connection.request(method, path, None if body is None else json.dumps(body), headers)
        response = connection.getresponse()
        return response.status, response.read()
    except (OSError, HTTPException):
        return None
    finally:
        connection.close()


def token_of(site: Site, name: str) -> str:
    return str(site.program(name).headers["authorization"]).removeprefix("Bearer ")


def test_the_first_start_prints_a_link_once_and_stops_when_told(tmp_path: Path) -> None:
    port = free_port()
    with process(tmp_path / "data", "", port) as started:
        assert started.stdout is not None
        assert started.stdout.readline() == f"serving {tmp_path / 'data'} on http://localhost:{port}\n"
        link = re.search(r"/invite/[\w-]+", started.stdout.readline())
        assert link is not None
        status, page = answer(port, "GET", link.group()) or (0, b"")
        assert status == 200
        assert b"Set up this server" in page
        started.send_signal(signal.SIGTERM)
        assert started.wait(20) == 0


class Assessor(threading.Thread):
    """Leases and judges until told to stop; what gets no answer is sent again with its key."""

    def __init__(self, port: int, token: str, topic: int, stop: threading.Event) -> None:
        super().__init__()
        self.port, self.token, self.topic, self.stop = port, token, topic, stop
        self.acknowledged: dict[str, tuple[int, int]] = {}
        self.faults: list[str] = []

    def ask(self, method: str, path: str, body: object) -> bytes:
        while True:
            got = answer(self.port, method, f"/api/v1/projects/ducks/{path}", body, self.token)
            if got is not None and got[0] in (200, 204):
                return got[1]
            if got is not None and got[0] != 503:
                self.faults.append(f"{method} {path}: {got}")
            if self.stop.is_set():
                return b"[]"
            time.sleep(0.05)

    def run(self) -> None:
        number = 0
        while not self.stop.is_set():
            leases = json.loads(self.ask("POST", f"topics/{self.topic}/leases", {"count": 2}))
            if not leases:
                time.sleep(0.05)
            for lease in leases:
                number += 1
                said = {"pair": lease["pair"], "kind": "grade", "grade": number % 4, "key": f"k{number}"}
                outcome = json.loads(self.ask("POST", "judgements", [said]))
                if outcome and outcome["saved"]:
                    self.acknowledged[f"k{number}"] = (lease["pair"], number % 4)
                elif outcome:
                    self.faults.append(str(outcome))


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_nothing_acknowledged_is_lost_when_the_server_is_killed(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    database = request.getfixturevalue("cluster").new_database() if kind == "postgresql" else ""
    settings = ServerSettings(folder=tmp_path / "data", database=database)
    store = open_folder(settings)
    site = Site(settings, store)
    topic = pond(site)["topic"]
    queued = {"topic_id": topic, "source": "pool", "batch": 0, "wanted": 1, "opinions": 0}
    with store.writing() as connection:
        connection.execute(insert(PairRow), [queued | {"document": f"x{n}", "place": n} for n in range(3000)])
    tokens = []
    for name in ("ann", "bob", "cleo", "dan"):
        site.member(name, "ducks", "assessor")
        tokens.append(token_of(site, name))
    store.close()
    port, stop, chance = free_port(), threading.Event(), random.Random(15)
    people = [Assessor(port, token, topic, stop) for token in tokens]
    for kill in range(KILLS):
        with process(settings.folder, database, port) as started:
            if kill == 0:
                for person in people:
                    person.start()
            time.sleep(chance.uniform(0.05, 0.8))
            started.kill()
            started.wait()
    with process(settings.folder, database, port):
        time.sleep(0.5)
        stop.set()
        for person in people:
            person.join()
    assert [fault for person in people for fault in person.faults] == []
    store = open_folder(settings)
    with store.reading() as connection:
        stored: dict[int, dict[str, tuple[int, int | None]]] = {}
        for event in connection.execute(select(EventRow)):
            assert event.key not in stored.setdefault(event.user_id, {})
            stored[event.user_id][event.key] = (event.pair_id, event.grade)
        over = connection.execute(select(PairRow.id).where(PairRow.opinions > PairRow.wanted)).all()
        project = connection.execute(select(ProjectRow.id)).scalar_one()
        assert differences(connection, project) == []
    store.close()
    assert over == []
    assert sum(len(person.acknowledged) for person in people) > 20
    for person, events in zip(people, (stored[user] for user in sorted(stored)), strict=True):
        assert person.acknowledged.items() <= events.items()


def test_postgresql_goes_and_comes_back(tmp_path: Path, cluster: Cluster) -> None:
    """While the database is away the server says so, and nothing is lost; it goes on by itself when it is back."""
    settings = ServerSettings(folder=tmp_path / "data", database=cluster.new_database())
    store = open_folder(settings)
    site = Site(settings, store)
    topic = pond(site)["topic"]
    site.member("ann", "ducks", "assessor")
    token = token_of(site, "ann")
    store.close()
    port = free_port()
    path = f"/api/v1/projects/ducks/topics/{topic}/leases"
    with process(settings.folder, settings.database, port):
        got = answer(port, "POST", path, {"count": 1}, token)
        assert got is not None
        pair = json.loads(got[1])[0]["pair"]
        cluster.stop("immediate")
        said = [{"pair": pair, "kind": "grade", "grade": 2, "key": "k"}]
        away = answer(port, "POST", "/api/v1/projects/ducks/judgements", said, token)
        assert away is not None
        assert away[0] == 503
        assert b"the database does not answer" in away[1]
        cluster.start()
        for _ in range(100):
            back = answer(port, "POST", "/api/v1/projects/ducks/judgements", said, token)
            if back is not None and back[0] == 200:
                break
            time.sleep(0.1)
        assert back is not None
        assert json.loads(back[1]) == {"saved": ["k"], "refused": []}
