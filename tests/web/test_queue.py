"""The feeder: what is asked follows from what was judged, the sample stays apart, and nothing seen is taken back."""

from __future__ import annotations

import multiprocessing
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from hashlib import sha256
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select, update

from cranfield.formats import read_qrels
from cranfield.learning import stop_rules
from cranfield.pooling.candidates import pooled_runs
from cranfield.pooling.judging import JudgingSession
from cranfield.web.judging.leasing import Asker, lease
from cranfield.web.judging.rebuilding import differences
from cranfield.web.judging.recording import NewJudgement, record
from cranfield.web.projects.collections import DataFiles
from cranfield.web.projects.making import NewRun, add_run
from cranfield.web.projects.options import ProjectOptions
from cranfield.web.queue.asked import AskedTopic, asked_topic
from cranfield.web.queue.feeding import Feeder
from cranfield.web.queue.proposing import AskingProject, Proposer
from cranfield.web.queue.proposing_process import ProposerProcess
from cranfield.web.settings import ServerSettings
from cranfield.web.store.tables import PairRow, ProjectRow, TopicRow
from cranfield.web.working import worker
from places import ROOT
from sites import Site

POND = ROOT / "examples"
RUNS = ("pond-bm25.run", "pond-titles.run")
GRADES = read_qrels(str(POND / "pond.qrels")).to_dict()


@pytest.fixture
def settings(settings: ServerSettings) -> ServerSettings:
    return replace(settings, collections=(POND / "pond.toml",))


@pytest.fixture
def begun(site: Site) -> Callable[..., dict[str, int]]:
    """Makes the pond a project; the numbers of its topics by name."""

    def begin(**options: Any) -> dict[str, int]:
        site.person("ada", admin=True)
        ada = site.program("ada")
        asked = {"title": "Pond", "collection": "pond", "options": options}
        assert ada.post("/api/v1/projects", json=asked).status_code == 201
        with site.store.writing() as connection:
            project = connection.execute(select(ProjectRow.id)).scalar_one()
            for file in RUNS:
                digest = sha256((POND / file).read_bytes()).hexdigest()
                shutil.copy(POND / file, DataFiles(site.settings.folder).kept("run", digest))
                add_run(connection, 0, project, NewRun(name=file, digest=digest, topics=6, rows=20), user=None)
        ada.post("/api/v1/projects/pond/prepare")
        worker(site.settings, site.store).run_all()
        with site.store.reading() as connection:
            return {row.name: row.id for row in connection.execute(select(TopicRow.name, TopicRow.id))}

    return begin


def judge_all(site: Site, topic: int, name: str, most: int = 1000) -> list[tuple[str, str]]:
    """One person judges a topic as its qrels say; the documents in order, with why each was asked."""
    ann = site.member("ann", "pond", "assessor")
    feeder = Feeder(site.store, Proposer(site.settings.folder))
    asked: list[tuple[str, str]] = []
    project = select(ProjectRow.id)
    while len(asked) < most:
        feeder.feed(topic)
        with site.store.writing() as connection:
            given = lease(connection, site.store.clock(), Asker(user=ann.id, topic=topic), 1)
            if not given:
                break
            source = connection.execute(select(PairRow.source).where(PairRow.id == given[0].pair)).scalar_one()
            grade = int(GRADES.get(name, {}).get(given[0].document, 0))
            said = NewJudgement(pair=given[0].pair, kind="grade", grade=min(grade, 3), key=f"{name} {len(asked)}")
            record(connection, site.store.clock(), connection.execute(project).scalar_one(), ann.id, said)
        asked.append((given[0].document, source))
    return asked


def test_the_learner_asks_for_every_document_once_and_relevant_ones_early(
    site: Site, begun: Callable[..., dict[str, int]]
) -> None:
    topics = begun(method="cal", batch=2, sample=0)
    relevant = {document for document, grade in GRADES["1"].items() if grade >= 1}
    asked = [document for document, _ in judge_all(site, topics["1"], "1")]
    with site.app.state.shelf.of(_collection(site)) as documents:
        assert sorted(asked) == sorted(documents.ids())
    last = max(place for place, document in enumerate(asked) if document in relevant)
    assert last < len(asked) / 2, asked
    with site.store.reading() as connection:
        assert differences(connection, connection.execute(select(ProjectRow.id)).scalar_one()) == []


def _collection(site: Site) -> str:
    with site.store.reading() as connection:
        return connection.execute(select(ProjectRow.collection)).scalar_one()


def test_the_sample_is_a_share_and_tells_what_is_missed(site: Site, begun: Callable[..., dict[str, int]]) -> None:
    topics = begun(method="cal", batch=2, sample=0.25)
    asked = judge_all(site, topics["1"], "1", most=12)
    assert len({document for document, _ in asked}) == 12
    share = sum(source == "sample" for _, source in asked) / len(asked)
    assert 0.1 <= share <= 0.35, asked
    rules = told_rules(site, topics["1"])
    assert "relevant documents are found" in rules["sample"][1] or "nothing relevant" in rules["sample"][1]


def told_rules(site: Site, topic: int) -> dict[str, tuple[bool | None, str]]:
    """What the rules say, in the API; the page says the same."""
    told = site.program("ann").get(f"/api/v1/projects/pond/topics/{topic}/advice").json()
    page = site.visitor("ann").get(f"/p/pond/judge/{topic}/advice").text
    rows = re.findall(r"<tr><th scope=\"row\">.*?</th><td>(.*?)</td><td>(.*?)</td></tr>", page)
    words = {None: "can't tell", True: "yes", False: "no"}
    assert [(unescape(met), unescape(says)) for met, says in rows] == [
        (words[rule["met"]], rule["says"]) for rule in told["rules"]
    ]
    judged, relevant, documents = (f"{told[name]:,}" for name in ("judged", "relevant", "documents"))
    assert f"{judged} documents are judged by anybody, {relevant} of them relevant. {documents} documents" in page
    assert [rule["rule"] for rule in told["rules"]] == ["consecutive", "target test", "sample", "budget"]
    return {rule["rule"]: (rule["met"], rule["says"]) for rule in told["rules"]}


def test_rules_are_about_all_that_could_be_asked(site: Site, begun: Callable[..., dict[str, int]]) -> None:
    """The whole collection for a learner: the numbers are those of the library for what was judged, in that order."""
    topics = begun(method="cal", batch=2, sample=0, budget=8)
    asked = judge_all(site, topics["1"], "1")
    relevant = [GRADES["1"].get(document, 0) >= 1 for document, _ in asked]
    wanted = stop_rules(relevant, len(site.app.state.shelf.of(_collection(site))), budget=8)
    assert told_rules(site, topics["1"]) == {rule.rule: (rule.met, rule.says) for rule in wanted}
    assert wanted[-1].met is True  # the budget is spent, and the page still asks nobody to stop
    with site.store.writing() as connection:
        connection.execute(update(ProjectRow).values(settings={"method": "cal", "batch": 2, "sample": 0.0}))
    assert len(judge_all(site, topics["1"], "1 more", most=1)) == 1


def test_rules_of_a_pool_are_about_what_the_runs_have(site: Site, begun: Callable[..., dict[str, int]]) -> None:
    topics = begun(method="move-to-front", batch=1, sample=0, depth=3)
    judge_all(site, topics["1"], "1", most=2)
    pooled = pooled_runs([str(POND / file) for file in RUNS], 3)
    told = site.program("ann").get(f"/api/v1/projects/pond/topics/{topics['1']}/advice").json()
    assert (told["judged"], told["documents"]) == (2, len(pooled.of("1").documents))
    assert told["among"] == "that the runs have down to rank 3"
    assert told_rules(site, topics["1"])["sample"][0] is None


def test_rules_of_a_depth_pool_are_about_the_pool(site: Site, begun: Callable[..., dict[str, int]]) -> None:
    """With everything judged, the test knows that nothing is missed."""
    topics = begun(method="depth", depth=3, calibration=1)
    site.member("ann", "pond", "assessor")
    assert told_rules(site, topics["1"])["target test"][0] is False
    asked = judge_all(site, topics["1"], "1")
    told = site.program("ann").get(f"/api/v1/projects/pond/topics/{topics['1']}/advice").json()
    assert told["judged"] == told["documents"] == len(asked)
    assert told_rules(site, topics["1"])["target test"][0] is True


def test_a_budget_ends_it(site: Site, begun: Callable[..., dict[str, int]]) -> None:
    topics = begun(method="cal", batch=2, budget=5)
    assert len(judge_all(site, topics["1"], "1")) == 5


def test_an_adaptive_pool_asks_as_the_command_does(site: Site, begun: Callable[..., dict[str, int]]) -> None:
    """After the first batch, which is in random order, each document is the one that the method wants next."""
    topics = begun(method="move-to-front", batch=1, sample=0)
    asked = [document for document, _ in judge_all(site, topics["1"], "1")]
    session = JudgingSession([str(POND / file) for file in RUNS], "move-to-front", depth=100)
    wanted = []
    while (document := session.next("1")) is not None:
        wanted.append(document)
        session.judged("1", document, GRADES["1"].get(document, 0))
    assert sorted(asked) == sorted(wanted)
    assert asked[:6] == wanted[:6]


def test_what_somebody_has_before_them_stays(site: Site, begun: Callable[..., dict[str, int]]) -> None:
    topics = begun(method="cal", batch=2)
    ann = site.member("ann", "pond", "assessor")
    feeder = Feeder(site.store, Proposer(site.settings.folder))
    feeder.feed(topics["1"])
    with site.store.writing() as connection:
        before = lease(connection, site.store.clock(), Asker(user=ann.id, topic=topics["1"]), 5)
    for _ in range(3):
        feeder.feed(topics["1"])
    with site.store.writing() as connection:
        after = lease(connection, site.store.clock(), Asker(user=ann.id, topic=topics["1"]), 5)
    assert [one.pair for one in before] == [one.pair for one in after]


def test_the_feeder_wakes_when_somebody_judges(site: Site, begun: Callable[..., dict[str, int]]) -> None:
    topics = begun(method="cal", batch=1, sample=0)
    site.member("ann", "pond", "assessor")
    feeder = site.app.state.feeder
    feeder.start()
    try:
        ann = site.program("ann")
        seen = set()
        for number in range(8):
            leases = ann.post(f"/api/v1/projects/pond/topics/{topics['1']}/leases", json={"count": 1}).json()
            while not leases:
                feeder.settle()
                leases = ann.post(f"/api/v1/projects/pond/topics/{topics['1']}/leases", json={"count": 1}).json()
            said = [{"pair": leases[0]["pair"], "kind": "grade", "grade": number % 2, "key": str(number)}]
            ann.post("/api/v1/projects/pond/judgements", json=said)
            seen.add(leases[0]["document"])
        assert len(seen) == 8
    finally:
        feeder.stop()


def asking(site: Site, topic: int) -> tuple[AskingProject, AskedTopic]:
    """What a proposer is asked of a topic of the pond."""
    with site.store.reading() as connection:
        row = connection.execute(select(ProjectRow)).one()
        project = AskingProject(
            id=row.id, collection=row.collection, options=ProjectOptions.from_json(row.settings), runs=()
        )
        return project, asked_topic(connection, topic, 1)


def test_a_proposer_elsewhere_proposes_the_same_and_begins_anew_when_it_is_killed(
    site: Site, begun: Callable[..., dict[str, int]]
) -> None:
    project, topic = asking(site, begun(method="cal", batch=2)["1"])
    here, elsewhere = Proposer(site.settings.folder), ProposerProcess(site.settings.folder)
    try:
        wanted = here.proposed(project, topic, 1)
        assert elsewhere.proposed(project, topic, 1) == wanted
        [first] = multiprocessing.active_children()
        assert first.pid is not None
        os.kill(first.pid, signal.SIGKILL)
        with pytest.raises(BrokenProcessPool):
            elsewhere.proposed(project, topic, 1)
        assert elsewhere.proposed(project, topic, 1) == wanted
        [second] = multiprocessing.active_children()
        assert second.pid != first.pid
    finally:
        here.close()
        elsewhere.close()
    assert multiprocessing.active_children() == []


PARENT = """
import multiprocessing, pathlib, sys, time
from cranfield.web.queue.proposing_process import ProposerProcess
if __name__ == "__main__":
    elsewhere = ProposerProcess(pathlib.Path(sys.argv[1]))
    try:
        elsewhere.warm("none")
    except Exception:
        [child] = multiprocessing.active_children()
        print(child.pid, flush=True)
    time.sleep(60)
"""


def test_a_proposer_ends_with_the_server_even_if_that_is_killed(tmp_path: Path) -> None:
    (tmp_path / "parent.py").write_text(PARENT)
    words = [sys.executable, str(tmp_path / "parent.py"), str(tmp_path)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        os.kill(child, 0)
        parent.kill()
    until = time.monotonic() + 30
    while Path(f"/proc/{child}").exists() and "Z" not in Path(f"/proc/{child}/stat").read_text().split()[2]:
        assert time.monotonic() < until
        time.sleep(0.05)


def test_what_was_undone_comes_back_however_many_they_hold(site: Site, begun: Callable[..., dict[str, int]]) -> None:
    topic = begun(method="depth", depth=10)["1"]
    ann = site.member("ann", "pond", "assessor")
    asker, now = Asker(user=ann.id, topic=topic), site.store.clock()
    with site.store.writing() as connection:
        project = connection.execute(select(ProjectRow.id)).scalar_one()
        [first] = lease(connection, now, asker, 1)
        said = NewJudgement(pair=first.pair, kind="grade", grade=1, key="one")
        record(connection, now + 1, project, ann.id, said)
        held = [one.pair for one in lease(connection, now + 2, asker, 2)]
        undo = NewJudgement(pair=first.pair, kind="undo", undoes="one", key="two")
        record(connection, now + 10, project, ann.id, undo)
        assert [one.pair for one in lease(connection, now + 11, asker, 2)] == held
        assert [one.pair for one in lease(connection, now + 12, asker, 2, new=1)] == [*held, first.pair]
