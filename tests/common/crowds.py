"""Many people who judge at once, against a server in a process of its own: what `make load` and its short form run.

`python tests/common/crowds.py --assessors 200 --minutes 10` is the long form.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from sqlalchemy import create_engine, exists, select

from cranfield.web.accounts.invitations import join
from cranfield.web.accounts.people import new_account
from cranfield.web.accounts.sessions import begin_session
from cranfield.web.judging.rebuilding import differences
from cranfield.web.projects.collections import ProjectSource
from cranfield.web.projects.making import NewProject, ask_for_preparation, create_project
from cranfield.web.projects.options import ProjectOptions
from cranfield.web.serving import open_folder
from cranfield.web.settings import ServerSettings
from cranfield.web.store.tables import EventRow, PairRow, ProjectRow, TopicRow
from cranfield.web.working import worker

WORDS, LENGTH = 20_000, 120


@dataclass(frozen=True, kw_only=True)
class Crowd:
    """How many people, how long each thinks, for how long, on how much."""

    assessors: int = 200
    thinking: float = 5.0  # seconds
    seconds: float = 600.0
    documents: int = 100_000
    topics: int = 40
    enough: int | None = None  # judgements after which all go home
    seed: int = 15


@dataclass
class Told:
    """What the crowd saw."""

    milliseconds: list[float] = field(default_factory=list)
    judged: int = 0
    empty: int = 0
    faults: list[str] = field(default_factory=list)
    megabytes: float = 0.0  # the most that the server had, and the most that the process of its learner had
    preparing: float = 0.0  # megabytes at most while the collection was made and the project prepared
    processor: float = 0.0  # seconds that both used
    machine: list[float] = field(default_factory=list)  # how many processes wanted to run, by the minute

    def __str__(self) -> str:
        low, high, highest = np.percentile(self.milliseconds, [50, 95, 99])
        load = f"{min(self.machine):.0f} to {max(self.machine):.0f}" if self.machine else "not known"
        return (
            f"{len(self.milliseconds):,} requests, {self.judged:,} judgements, {len(self.faults)} faults, "
            f"{self.empty} times nothing to judge; p50 {low:.1f} ms, p95 {high:.1f} ms, p99 {highest:.1f} ms, "
            f"max {max(self.milliseconds):.1f} ms; {self.megabytes:.0f} MB (preparing {self.preparing:.0f} MB); "
            f"{1000 * self.processor / len(self.milliseconds):.1f} ms of processor a request; load {load}"
        )


def write_collection(folder: Path, crowd: Crowd) -> None:
    """Documents of words that are as frequent as in any language, each about one of as many matters as topics."""
    rng = np.random.default_rng(crowd.seed)
    folder.mkdir(parents=True)
    words = np.array([f"word{number}" for number in range(WORDS)])
    with (folder / "documents.jsonl").open("w") as file:
        for number in range(crowd.documents):
            drawn = words[np.minimum(rng.zipf(1.2, LENGTH) - 1, WORDS - 1)].tolist()
            matter = [f"matter{number % crowd.topics}"] * int(rng.integers(0, 4) if number % 50 < 2 else 0)
            text = " ".join(drawn[:60] + matter + drawn[60:])
            file.write(json.dumps({"id": f"d{number}", "title": f"Document {number}", "text": text}) + "\n")
    with (folder / "topics.jsonl").open("w") as file:
        for topic in range(crowd.topics):
            file.write(json.dumps({"id": f"t{topic}", "title": f"matter{topic} word{topic + 50}"}) + "\n")


def prepared(settings: ServerSettings, crowd: Crowd) -> list[tuple[str, str]]:
    """Makes the project; for each person the word of their session and the id of their topic."""
    write_collection(settings.folder.parent / "collection", crowd)
    store = open_folder(settings)
    now = store.clock()
    source = ProjectSource(place=str(settings.folder.parent / "collection"))
    options = ProjectOptions(method="cal", wanted=1, overlap=0.1)
    with store.writing() as connection:
        project = create_project(connection, now, NewProject(title="Load", options=options, source=source), owner=None)
        ask_for_preparation(connection, now, project, user=None)
    worker(settings, store).run_all()
    with store.writing() as connection:
        row = connection.execute(select(ProjectRow.state, ProjectRow.reason).where(ProjectRow.id == project)).one()
        assert row.state == "ready", row.reason
        asked = select(TopicRow.name).where(TopicRow.project_id == project).order_by(TopicRow.place)
        topics = list(connection.execute(asked).scalars())
        people = []
        for number in range(crowd.assessors):
            account = new_account(connection, now, f"assessor {number}", "no password")
            join(connection, now, project, account, "assessor")
            people.append((begin_session(connection, now, account.id, "a browser"), topics[number % len(topics)]))
    store.close()
    return people


@contextlib.contextmanager
def served(settings: ServerSettings) -> Iterator[subprocess.Popen[bytes]]:
    words = [sys.executable, "-m", "cranfield", "serve", str(settings.folder), "--port", str(settings.port)]
    words += ["--db", settings.database] if settings.database else []
    with subprocess.Popen(words, stdout=subprocess.DEVNULL) as process:
        try:
            for _ in range(1200):
                with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", settings.port), 1):
                    break
                time.sleep(0.05)
            yield process
            process.send_signal(signal.SIGTERM)
            process.wait(30)
        finally:
            process.kill()


class Person:
    """A browser: one connection that stays open, judgements with keys, the next documents in each answer."""

    def __init__(self, port: int, word: str, topic: str, crowd: Crowd, told: Told, number: int) -> None:
        self.port, self.word, self.topic, self.crowd, self.told = port, word, topic, crowd, told
        self.chance, self.number = random.Random(crowd.seed * 1000 + number), number
        self.line: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def sit(self, until: float) -> None:
        await asyncio.sleep(self.chance.uniform(0, self.crowd.thinking))
        cards: list[int] = []
        said = 0
        while time.monotonic() < until and (self.crowd.enough is None or self.told.judged < self.crowd.enough):
            judgements = []
            if cards:
                said += 1
                grade = int(self.chance.random() < 0.2)
                judgements = [{"pair": cards.pop(0), "kind": "grade", "grade": grade, "key": f"{self.number}-{said}"}]
            answer = await self.asked({"judgements": judgements, "have": cards, "want": 2})
            self.told.faults += [str(refusal) for refusal in answer.get("refused", [])]
            self.told.judged += len(answer.get("saved", []))
            cards += [card["pair"] for card in answer.get("cards", []) if card["pair"] not in cards]
            self.told.empty += not cards
            await asyncio.sleep(self.chance.expovariate(1 / self.crowd.thinking) if self.crowd.thinking else 0)
        if self.line is not None:
            self.line[1].close()

    async def asked(self, body: object) -> dict[str, list[dict[str, int]]]:
        content = json.dumps(body).encode()
        head = (
            f"POST /p/load/judge/{self.topic}/judgements HTTP/1.1\r\nHost: localhost:{self.port}\r\n"
            f"Cookie: session={self.word}\r\nSec-Fetch-Site: same-origin\r\nAccept: application/json\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(content)}\r\n\r\n"
        )
        if self.line is None:
            self.line = await asyncio.open_connection("127.0.0.1", self.port)
        reader, writer = self.line
        began = time.perf_counter()
        writer.write(head.encode() + content)
        try:
            status = int((await reader.readline()).split()[1])
            length = 0
            while (header := await reader.readline()) != b"\r\n":
                if header.lower().startswith(b"content-length:"):
                    length = int(header.split(b":")[1])
            answer = await reader.readexactly(length)
        except (OSError, IndexError, asyncio.IncompleteReadError) as error:
            self.told.faults.append(repr(error))
            self.line = None
            return {}
        self.told.milliseconds.append(1000 * (time.perf_counter() - began))
        if status != 200:
            self.told.faults.append(f"{status}: {answer[:200]!r}")
            return {}
        found: dict[str, list[dict[str, int]]] = json.loads(answer)
        return found


def children(process: int) -> list[int]:
    """The processes that a process began, from whichever of its threads."""
    tasks = Path(f"/proc/{process}/task").iterdir()
    return [int(number) for task in tasks for number in (task / "children").read_text().split()]


def wait_for_queues(settings: ServerSettings, seconds: float = 600) -> None:
    """A server that has just begun fills its queues first: of a million documents that takes a while."""
    file = f"sqlite:///file:{settings.folder}/cranfield.db?mode=ro&uri=true"  # the server alone may write
    engine = create_engine(settings.database.replace("postgresql:", "postgresql+psycopg:", 1) or file)
    asked = select(TopicRow.id).where(~exists().where(PairRow.topic_id == TopicRow.id))
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        with engine.connect() as connection:
            if connection.execute(asked).first() is None:
                break
        time.sleep(0.5)
    engine.dispose()


def peak_megabytes(process: int | str) -> float:
    """The most memory that a process has held."""
    return int(Path(f"/proc/{process}/status").read_text().split("VmHWM:")[1].split()[0]) / 1024


async def watch(told: Told) -> None:
    """Notes what else the machine has to do."""
    while True:
        told.machine.append(os.getloadavg()[0])
        await asyncio.sleep(60)


def crowded(settings: ServerSettings, crowd: Crowd) -> Told:
    """Lets the crowd judge, and looks at what was stored: nothing lost, nothing doubled, no pair judged too often."""
    people = prepared(settings, crowd)
    told = Told(preparing=peak_megabytes("self"))

    async def judge() -> None:
        until = time.monotonic() + crowd.seconds
        sitting = [
            Person(settings.port, word, topic, crowd, told, number).sit(until)
            for number, (word, topic) in enumerate(people)
        ]
        watching = asyncio.create_task(watch(told))
        await asyncio.gather(*sitting)
        watching.cancel()

    with served(settings) as process:
        wait_for_queues(settings)
        asyncio.run(judge())
        for number in (process.pid, *children(process.pid)):
            told.megabytes += peak_megabytes(number)
            used = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()
            told.processor += (int(used[11]) + int(used[12])) / os.sysconf("SC_CLK_TCK")
    store = open_folder(settings)
    with store.reading() as connection:
        project = connection.execute(select(ProjectRow.id)).scalar_one()
        events = connection.execute(select(EventRow.user_id, EventRow.key)).all()
        over = connection.execute(select(PairRow.id).where(PairRow.opinions > PairRow.wanted)).all()
        told.faults += differences(connection, project)
    store.close()
    if len(events) != told.judged:
        told.faults.append(f"{told.judged} judgements were acknowledged, {len(events)} are stored")
    told.faults += [f"pair {row.id} has more opinions than it wants" for row in over]
    return told


def main() -> None:
    """The long form, on SQLite and on PostgreSQL."""
    from databases import started_cluster

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--assessors", type=int, default=200)
    parser.add_argument("--thinking", type=float, default=5.0)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--topics", type=int, default=40)
    parser.add_argument("--only", choices=["sqlite", "postgresql"])
    given = parser.parse_args()
    crowd = Crowd(
        assessors=given.assessors,
        thinking=given.thinking,
        seconds=60 * given.minutes,
        documents=given.documents,
        topics=given.topics,
    )
    for kind in ("sqlite", "postgresql"):
        if given.only in (None, kind):
            with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
                address = stack.enter_context(started_cluster()).new_database() if kind == "postgresql" else ""
                settings = ServerSettings(folder=Path(folder) / "data", database=address, port=free_port())
                told = crowded(settings, crowd)
                print(f"{kind}: {told}", flush=True)
                for fault in told.faults[:10]:
                    print(f"  {fault}")


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as made:
        made.bind(("127.0.0.1", 0))
        port: int = made.getsockname()[1]
        return port


if __name__ == "__main__":
    main()
