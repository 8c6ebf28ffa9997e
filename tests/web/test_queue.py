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
from uuid import uuid4

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

    def begin(*, known: bool = False, **options: Any) -> dict[str, int]:
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
        if known:
            judgements = (POND / "pond.qrels").read_bytes()
            assert ada.put("/api/v1/projects/pond/parts/judgements?file=k", content=judgements).status_code == 200
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
    ann = site.program("ann")
    told = ann.get(f"/api/v1/projects/pond/topics/{topic}/advice").json()
    name = ann.get(f"/api/v1/projects/pond/topics/{topic}").json()["name"]
    page = site.visitor("ann").get(f"/p/pond/judge/{name}/advice").text
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


@pytest.mark.parametrize("judged", [0, 100])
def test_the_sample_of_a_stratified_pool_is_not_said_to_be_none(
    site: Site, begun: Callable[..., dict[str, int]], judged: int
) -> None:
    topics = begun(method="stratified", strata="1:1,3:50%")
    site.member("ann", "pond", "assessor")
    judge_all(site, topics["1"], "1", most=judged)
    said = "the documents of this topic were drawn from strata: that sample is not used for this rule"
    assert told_rules(site, topics["1"])["sample"] == (None, said)


def test_a_sample_counts_when_none_is_drawn_any_more(site: Site, begun: Callable[..., dict[str, int]]) -> None:
    topics = begun(method="cal", batch=2, sample=0.25, budget=7)
    last, _ = judge_all(site, topics["1"], "1")[-1]
    with site.store.writing() as connection:  # in so few documents the learner comes to want what was drawn
        drawn = (PairRow.topic_id == topics["1"]) & (PairRow.document == last)
        connection.execute(update(PairRow).where(drawn).values(source="sample"))
    before = told_rules(site, topics["1"])
    assert before["budget"] == (True, "the budget is 7 documents; 7 are judged")
    assert before["sample"][0] is not None
    ada = site.program("ada")
    assert ada.patch("/api/v1/projects/pond", json={"options": {"sample": 0}}).status_code == 200
    assert told_rules(site, topics["1"]) == before


def test_a_budget_ends_it(site: Site, begun: Callable[..., dict[str, int]]) -> None:
    topics = begun(method="cal", batch=2, budget=5)
    assert len(judge_all(site, topics["1"], "1")) == 5


class Meanwhile:
    """A proposer that thinks for so long that somebody takes a document meanwhile, and comes to propose others."""

    def __init__(self, site: Site, topic: int, user: int) -> None:
        self.site, self.topic, self.user, self.held = site, topic, user, 0
        self.here = Proposer(site.settings.folder)

    def proposed(self, project: AskingProject, topic: AskedTopic, active: int) -> list[tuple[str, str]]:
        proposed = self.here.proposed(project, topic, active)
        self.held += 1
        asker = Asker(user=self.user, topic=self.topic)
        with self.site.store.writing() as connection:
            held = {one.document for one in lease(connection, self.site.store.clock(), asker, self.held)}
        there = self.site.app.state.shelf.of(project.collection).ids()
        fixed = {pair.document for pair in topic.pairs if not pair.idle} | {
            pair.document for pair in topic.pairs if pair.source == "pool"
        }
        others = [document for document in there if document not in fixed | held]
        return [(document, "learner") for document in others[: len(proposed)]]

    def warm(self, collection: str) -> None: ...

    def close(self) -> None: ...


def test_a_budget_holds_whatever_is_taken_while_the_learner_thinks(
    site: Site, begun: Callable[..., dict[str, int]]
) -> None:
    """What was leased meanwhile is part of the budget, although the learner had proposed as many without it."""
    topic = begun(method="cal", batch=2, budget=6, sample=0)["1"]
    ann = site.member("ann", "pond", "assessor")
    feeder = Feeder(site.store, Meanwhile(site, topic, ann.id))
    for _ in range(10):
        feeder.feed(topic)
        with site.store.reading() as connection:
            pairs = asked_topic(connection, topic, 1).pairs
        assert len(pairs) == 6
    assert not any(pair.idle for pair in pairs)
    assert len(judge_all(site, topic, "1")) == 6
    assert told_rules(site, topic)["budget"] == (True, "the budget is 6 documents; 6 are judged")


@pytest.mark.parametrize("method", ["cal", "rrf"])
@pytest.mark.parametrize("budget", [2, 3])
def test_calibration_counts_for_the_budget(
    site: Site, begun: Callable[..., dict[str, int]], method: str, budget: int
) -> None:
    """Documents that were judged before, one of them outside the pool, are documents of the topic too."""
    topic = begun(known=True, method=method, budget=budget, calibration=3)["1"]
    assert len(judge_all(site, topic, "1")) == budget
    assert told_rules(site, topic)["budget"] == (True, f"the budget is {budget} documents; {budget} are judged")


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
            given = ann.post(f"/api/v1/projects/pond/topics/{topics['1']}/leases", json={"count": 1}).json()
            while given["waiting"]:
                feeder.settle()
                given = ann.post(f"/api/v1/projects/pond/topics/{topics['1']}/leases", json={"count": 1}).json()
            leases = given["leases"]
            said = [{"pair": leases[0]["pair"], "kind": "grade", "grade": number % 2, "key": str(number)}]
            ann.post("/api/v1/projects/pond/judgements", json=said)
            seen.add(leases[0]["document"])
        assert len(seen) == 8
    finally:
        feeder.stop()


def told_state(site: Site, topic: int) -> tuple[int, bool]:
    """How many documents ann gets and whether she is told to wait: API, page and script say the same."""
    sent = site.program("ann").post(f"/api/v1/projects/pond/topics/{topic}/leases", json={"count": 1})
    given = sent.json()
    assert sent.headers.get("retry-after") == ("2" if given["waiting"] else None)
    ann = site.visitor("ann")
    page = ann.get("/p/pond/judge/1").text
    assert ("The next document is on its way …" in page) == given["waiting"]
    left = bool(given["leases"]) or given["waiting"]
    assert ("Nothing is left to judge in this topic for now." in page) != left
    script = ann.post("/p/pond/judge/1/judgements", json={"judgements": [], "have": [], "want": 1}).json()
    assert (len(script["cards"]), script["waiting"]) == (len(given["leases"]), given["waiting"])
    return len(given["leases"]), given["waiting"]


def judged_through_api(site: Site, topic: int, key: str) -> bool:
    """Ann judges what is before her; whether there was something."""
    ann = site.program("ann")
    leases = ann.post(f"/api/v1/projects/pond/topics/{topic}/leases", json={"count": 1}).json()["leases"]
    said = [{"pair": one["pair"], "kind": "grade", "grade": 1, "key": key} for one in leases]
    assert ann.post("/api/v1/projects/pond/judgements", json=said).json()["refused"] == []
    return bool(leases)


@pytest.mark.parametrize("wanted", [1, 2])
def test_waiting_is_told_from_finished(site: Site, begun: Callable[..., dict[str, int]], wanted: int) -> None:
    """A program that asks until it is told that nothing is left gets the whole budget, although it often gets nothing;
    where each document wants a second opinion it does not wait for itself."""
    topic = begun(method="cal", batch=2, budget=5, sample=0, wanted=wanted, repeats=0)["1"]
    site.member("ann", "pond", "assessor")
    feeder, judged, waits = Feeder(site.store, Proposer(site.settings.folder)), 0, 0
    site.app.state.feeder = feeder
    while (state := told_state(site, topic)) != (0, False):
        if state == (0, True):
            waits += 1
            feeder.feed(topic)
        else:
            judged += judged_through_api(site, topic, f"k{judged}")
    assert (judged, waits) == (5, 2)  # after the first batch, and at the end
    assert told_state(site, topic) == (0, False)


class Nothing:
    """A proposer that proposes nothing; `acts` happen while it thinks."""

    def __init__(self, acts: list[Callable[[], None]]) -> None:
        self.acts = acts

    def proposed(self, project: AskingProject, topic: AskedTopic, active: int) -> list[tuple[str, str]]:
        for act in self.acts:
            act()
        return []

    def warm(self, collection: str) -> None: ...

    def close(self) -> None: ...


def test_who_waits_waits_until_all_that_was_judged_is_learned(site: Site, begun: Callable[..., dict[str, int]]) -> None:
    """A judgement that comes while the method learns, and a method that fails, leave it behind."""
    topic = begun(method="cal", batch=1, budget=1, sample=0, repeats=0)["1"]
    site.member("ann", "pond", "assessor")
    acts: list[Callable[[], None]] = []
    feeder = Feeder(site.store, Nothing(acts))
    site.app.state.feeder = feeder

    def judge_meanwhile() -> None:
        assert judged_through_api(site, topic, "k")

    def fail() -> None:
        raise BrokenProcessPool

    acts[:] = [judge_meanwhile]
    feeder.feed(topic)
    assert told_state(site, topic) == (0, True)
    acts[:] = [fail]
    with pytest.raises(BrokenProcessPool):
        feeder.feed(topic)
    assert told_state(site, topic) == (0, True)
    acts.clear()
    feeder.feed(topic)
    assert told_state(site, topic) == (0, False)


def test_a_pool_that_does_not_learn_never_waits(site: Site, begun: Callable[..., dict[str, int]]) -> None:
    topic = begun(method="depth", depth=1, repeats=0)["1"]
    site.member("ann", "pond", "assessor")
    while judged_through_api(site, topic, f"{uuid4()}"):
        pass
    assert told_state(site, topic) == (0, False)


def test_how_waiting_is_told_stands_in_the_description_of_the_api(site: Site) -> None:
    described = site.stranger().get("/api/v1/openapi.json").json()
    said = described["paths"]["/api/v1/projects/{project}/topics/{topic}/leases"]["post"]["responses"]["200"]
    assert "`waiting` is true" in said["headers"]["Retry-After"]["description"]
    schema = described["components"]["schemas"]["LeaseAnswer"]
    assert set(schema["required"]) == {"leases", "waiting"}
    assert "Retry-After" in schema["description"]


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
        assert [one.pair for one in lease(connection, now + 11, asker, 2)] == [first.pair, held[0]]
        assert [one.pair for one in lease(connection, now + 12, asker, 3)] == [first.pair, *held]
