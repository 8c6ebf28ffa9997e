"""`cranfield serve` as a process of its own, people who judge there through thick and thin, and what must be kept."""

from __future__ import annotations

import json
import random
import ssl
import subprocess
import sys
import tempfile
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
from cranfield.web.store.tables import EventRow, PairRow, ProjectRow, UserRow
from crowds import free_port
from ponds import pond
from sites import Site

LONGEST_START = 180  # seconds, on a machine that does much else
NAMES = ("ann", "bob", "cleo", "dan")


@contextmanager
def process(
    folder: Path, database: str, port: int, more: Sequence[str] = (), trusted: ssl.SSLContext | None = None
) -> Iterator[subprocess.Popen[str]]:
    """`cranfield serve` as a person starts it, waited for."""
    words = [sys.executable, "-m", "cranfield", "serve", str(folder), "--port", str(port), *more]
    words += ["--db", database] if database else []
    with (
        tempfile.TemporaryFile("w+") as errors,
        subprocess.Popen(words, stdout=subprocess.PIPE, stderr=errors, text=True) as started,
    ):
        try:
            until = time.monotonic() + LONGEST_START
            while answer(port, "GET", "/readyz", trusted=trusted) != (200, b"ready\n"):
                if started.poll() is not None or time.monotonic() > until:
                    errors.seek(0)
                    pytest.fail(f"the server does not come up: {errors.read()}")
                time.sleep(0.05)
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


class Assessor(threading.Thread):
    """Leases and judges until told to stop; what gets no answer is sent again with its key."""

    def __init__(self, port: int, token: str, topic: int, stop: threading.Event) -> None:
        super().__init__()
        self.port, self.token, self.topic, self.stop = port, token, topic, stop
        self.acknowledged: dict[str, tuple[int, int]] = {}
        self.faults: list[str] = []
        self.refused: list[str] = []  # what they were told when the server could not store anything

    def ask(self, method: str, path: str, body: object) -> bytes:
        while True:
            got = answer(self.port, method, f"/api/v1/projects/ducks/{path}", body, self.token)
            if got is not None and got[0] in (200, 204):
                return got[1]
            if got is not None and got[0] == 503:
                self.refused.append(json.loads(got[1])["error"])
            elif got is not None:
                self.faults.append(f"{method} {path}: {got}")
            if self.stop.is_set():
                return b"{}"
            time.sleep(0.05)

    def run(self) -> None:
        number = 0
        while not self.stop.is_set():
            leases = json.loads(self.ask("POST", f"topics/{self.topic}/leases", {"count": 2})).get("leases", [])
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


class Sitting:
    """Four people who judge a long queue, from before the first trouble until after the last."""

    def __init__(self, settings: ServerSettings, seed: int = 15, pairs: int = 3000) -> None:
        self.settings, self.port, self.chance = settings, free_port(), random.Random(seed)
        self._stop = threading.Event()
        store = open_folder(settings)
        site = Site(settings, store)
        topic = pond(site)["topic"]
        queued = {"topic_id": topic, "source": "pool", "batch": 0, "wanted": 1, "opinions": 0}
        with store.writing() as connection:
            connection.execute(insert(PairRow), [queued | {"document": f"x{n}", "place": n} for n in range(pairs)])
        self.people = {}
        for name in NAMES:
            site.member(name, "ducks", "assessor")
            self.people[name] = Assessor(self.port, token_of(site, name), topic, self._stop)
        store.close()

    def begin(self) -> None:
        for person in self.people.values():
            person.start()

    def end(self) -> None:
        """Everybody gets the answer that they wait for, and stops."""
        self._stop.set()
        for person in self.people.values():
            person.join()

    @property
    def acknowledged(self) -> int:
        return sum(len(person.acknowledged) for person in self.people.values())

    def goes_on(self, count: int = 4) -> None:
        """Waits until so many more judgements are acknowledged."""
        wanted, until = self.acknowledged + count, time.monotonic() + 60
        while self.acknowledged < wanted:
            assert time.monotonic() < until, "nobody gets anything stored"
            time.sleep(0.02)

    def check(self) -> None:
        """That nothing acknowledged is lost, nothing is there twice, and what is stored is what events make of it."""
        assert [fault for person in self.people.values() for fault in person.faults] == []
        store = open_folder(self.settings)
        stored: dict[str, dict[str, tuple[int, int | None]]] = {name: {} for name in self.people}
        with store.reading() as connection:
            asked = select(EventRow.key, EventRow.pair_id, EventRow.grade, UserRow.name)
            for event in connection.execute(asked.join(UserRow, UserRow.id == EventRow.user_id)):
                assert event.key not in stored[event.name]
                stored[event.name][event.key] = (event.pair_id, event.grade)
            over = connection.execute(select(PairRow.id).where(PairRow.opinions > PairRow.wanted)).all()
            project = connection.execute(select(ProjectRow.id)).scalar_one()
            assert differences(connection, project) == []
        store.close()
        assert over == []
        for name, person in self.people.items():
            assert person.acknowledged.items() <= stored[name].items()
            assert len(stored[name]) <= len(person.acknowledged) + 1  # the last may have got no answer
