"""Agreement, adjudication, own history and releases, through pages and API, on both databases."""

from __future__ import annotations

import gzip
import io
import json
import re
import stat
from hashlib import sha256
from typing import Any

import pytest
from sqlalchemy import insert, select, update
from starlette.testclient import TestClient

from cranfield.formats import read_qrels
from cranfield.formats.reading import Reading
from cranfield.web.judging.rebuilding import differences
from cranfield.web.judging.stored_events import told_events
from cranfield.web.projects.collections import DataFiles
from cranfield.web.projects.options import ProjectOptions
from cranfield.web.store.audit import broken
from cranfield.web.store.tables import (
    AuditRow,
    LeaseRow,
    MemberRow,
    PairRow,
    ProjectRow,
    ReleaseRow,
    RunRow,
    TopicRow,
    UserRow,
)
from ponds import pond
from sites import Site, project_number

GRADES = {
    "ann": {"d1": 3, "d2": 0, "d3": 0, "d4": 1},
    "bob": {"d1": 0, "d2": 0, "d3": 1, "d4": 1},
}


def judge(site: Site, name: str, pairs: dict[str, int], grades: dict[str, int | None], **more: object) -> None:
    """Somebody judges documents; None is that they can't tell."""
    program = site.program(name)
    program.post(f"/api/v1/projects/ducks/topics/{pairs['topic']}/leases", json={"count": 20})
    said = [
        {"pair": pairs[document], "key": f"{name} {document}", **more}
        | ({"kind": "cannot", "reason": "language"} if grade is None else {"kind": "grade", "grade": grade})
        for document, grade in grades.items()
    ]
    answer = program.post("/api/v1/projects/ducks/judgements", json=said).json()
    assert answer["refused"] == []


def judged_pond(site: Site) -> dict[str, int]:
    """Two who judged four of six documents and do not agree on two, an adjudicator, an owner, a viewer."""
    pairs = pond(site, wanted=2)
    for name, role in (("ann", "assessor"), ("bob", "assessor"), ("eve", "adjudicator"), ("oda", "owner")):
        site.member(name, "ducks", role)
    site.member("vic", "ducks", "viewer")
    for name, grades in GRADES.items():
        judge(site, name, pairs, dict(grades))
    return pairs


def pseudonyms(site: Site) -> dict[str, str]:
    asked = select(UserRow.name, MemberRow.pseudonym).join(MemberRow, MemberRow.user_id == UserRow.id)
    with site.store.reading() as connection:
        return {row.name: row.pseudonym for row in connection.execute(asked)}


def field(text: str, name: str, form: str = "judge") -> str:
    match = re.search(rf'<form id="{form}".*?name="{name}" value="([^"]*)"', text, re.DOTALL)
    assert match, text
    return match.group(1)


def test_agreement_claims_nothing_on_few_pairs(site: Site) -> None:
    judged_pond(site)
    text = site.visitor("eve").get("/p/ducks/agreement").text
    assert "4 documents with the grades of two assessors or more: all of these agree on 2." in text
    assert "Fewer than 30 are too few to say how far assessors agree beyond chance." in text
    assert 'id="coefficients"' not in text
    assert "too few" in text
    answer = site.program("eve").get("/api/v1/projects/ducks/agreement").json()
    assert (answer["shared"], answer["agreed"], answer["coefficients"]) == (4, 2, [])
    assert answer["topics"] == [{"topic": "1", "documents": 4, "agreed": 2, "alpha": None}]
    assert answer["table"] == [[1, 1, 0, 1], [0, 1, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]
    assert [(each["document"], each["steps"], each["crosses"]) for each in answer["disagreements"]] == [
        ("d1", 3, True),
        ("d3", 1, True),
    ]


def many(site: Site, count: int) -> dict[str, int]:
    """A project of which two judged `count` documents; they agree on all but every fifth."""
    pairs = pond(site, wanted=2)
    with site.store.writing() as connection:
        for number in range(count):
            values = {"topic_id": pairs["topic"], "document": f"m{number}", "source": "pool", "batch": 0}
            made = insert(PairRow).values(wanted=2, opinions=0, place=100 + number, **values).returning(PairRow.id)
            pairs[f"m{number}"] = connection.execute(made).scalar_one()
        connection.execute(update(PairRow).where(PairRow.document.like("d%")).values(wanted=0, source="calibration"))
    site.member("eve", "ducks", "adjudicator")
    for name, other in (("ann", 0), ("bob", 1)):
        site.member(name, "ducks", "assessor")
        grades: dict[str, int | None] = {
            f"m{number}": min(number % 4 + (other if number % 5 == 0 else 0), 3) for number in range(count)
        }
        for start in range(0, count, 15):
            names = [f"m{number}" for number in range(start, min(start + 15, count))]
            _lease(site, name, pairs, names)
            judge(site, name, pairs, {each: grades[each] for each in names})
    return pairs


def _lease(site: Site, name: str, pairs: dict[str, int], documents: list[str]) -> None:
    account = site.person(name)
    with site.store.writing() as connection:
        for document in documents:
            mine = (LeaseRow.pair_id == pairs[document]) & (LeaseRow.user_id == account.id)
            if connection.execute(select(LeaseRow.pair_id).where(mine)).first() is None:
                values = {"user_id": account.id, "repeat": False, "until": site.store.clock() + 1, "shown_at": 0}
                connection.execute(insert(LeaseRow).values(pair_id=pairs[document], **values))


def test_agreement_of_enough_pairs_has_numbers_and_changes_with_the_next_event(site: Site) -> None:
    pairs = many(site, 40)
    program = site.program("eve")
    answer = program.get("/api/v1/projects/ducks/agreement").json()
    assert (answer["shared"], answer["agreed"]) == (40, 34)
    alpha = next(each for each in answer["coefficients"] if each["name"] == "alpha-ordinal")
    assert alpha["documents"] == 40
    assert 0.9 < alpha["value"] < 1
    assert answer["topics"][0]["alpha"] == pytest.approx(alpha["value"])
    names = pseudonyms(site)
    assert answer["assessors"] == sorted((names["ann"], names["bob"]))
    page = site.visitor("eve").get("/p/ducks/agreement").text
    assert f"Krippendorff&#39;s alpha (ordinal) is {alpha['value']:.2f}" in page
    assert "ann" not in page
    assert "bob" not in page
    said = [{"pair": pairs["m0"], "kind": "grade", "grade": 1, "key": "again"}]
    assert site.program("ann").post("/api/v1/projects/ducks/judgements", json=said).json()["refused"] == []
    assert program.get("/api/v1/projects/ducks/agreement").json()["agreed"] == 35


def test_runs_say_whether_the_assessor_changes_the_order(site: Site) -> None:
    many(site, 40)
    eve = site.visitor("eve")
    assert "there are fewer than two runs in this project" in eve.get("/p/ducks/agreement?systems=1").text
    add_run(site, "good", [f"m{number}" for number in (3, 7, 11, 2, 6)])
    add_run(site, "poor", [f"m{number}" for number in (0, 4, 8, 12, 3)])
    orders = site.program("eve").get("/api/v1/projects/ducks/agreement?systems=1").json()["orders"]
    assert orders["summary"].startswith("The disagreement does not change the ordering of systems much")
    assert [tau for _, _, tau in orders["rows"]] == [1.0]
    DataFiles(site.settings.folder).kept("run", "0poor").unlink()
    add_run(site, "third", ["m1", "m2"])
    text = eve.get("/p/ducks/agreement?systems=1").text
    assert "The file of run poor is gone: it is left out." in text


def add_run(site: Site, name: str, documents: list[str], topic: str = "1") -> None:
    digest = f"0{name}"
    lines = [f"{topic} Q0 {document} {rank} {9 - rank} {name}\n" for rank, document in enumerate(documents, start=1)]
    DataFiles(site.settings.folder).kept("run", digest).write_text("".join(lines))
    with site.store.writing() as connection:
        number = project_number(site.store, "ducks")
        connection.execute(insert(RunRow).values(project_id=number, name=name, digest=digest, at=0))


def test_an_assessor_sees_nothing_of_others(site: Site) -> None:
    pairs = judged_pond(site)
    ann, program = site.visitor("ann"), site.program("ann")
    for path in ("agreement", "adjudicate", f"adjudicate/{pairs['d1']}", "releases/new"):
        assert ann.get(f"/p/ducks/{path}").status_code == 404, path
    home = ann.get("/p/ducks/mine").text
    assert "/p/ducks/agreement" not in home
    assert "/p/ducks/releases" in home
    assert 'href="/p/ducks/agreement"' in site.visitor("eve").get("/p/ducks/releases").text
    said = [{"pair": pairs["d1"], "kind": "adjudicate", "grade": 3, "key": "verdict"}]
    refused = program.post("/api/v1/projects/ducks/judgements", json=said).json()["refused"]
    assert [(each["status"], each["message"]) for each in refused] == [
        (403, "this is for opinions: verdicts are given in the queue of adjudication")
    ]


def test_the_queue_has_what_differs_and_what_nobody_could_tell(site: Site) -> None:
    pairs = judged_pond(site)
    judge(site, "ann", pairs, {"d5": None, "d6": 2})
    judge(site, "bob", pairs, {"d5": 1})
    contested = site.program("eve").get("/api/v1/projects/ducks/adjudications").json()["contested"]
    assert [(each["document"], each["steps"], each["cannot"]) for each in contested] == [
        ("d1", 3, 0),
        ("d3", 1, 0),
        ("d5", 0, 1),
    ]
    text = site.visitor("eve").get("/p/ducks/adjudicate").text
    assert "3 steps apart, relevant to some and not to others" in text
    assert "1 of 2 could not tell" in text
    judge(site, "bob", pairs, {"d6": 0})
    assert "2 steps apart" in site.visitor("eve").get("/p/ducks/adjudicate").text


def test_a_verdict_by_form_and_its_undoing(site: Site) -> None:
    pairs = judged_pond(site)
    eve = site.visitor("eve")
    text = eve.get(f"/p/ducks/adjudicate/{pairs['d1']}").text
    names = pseudonyms(site)
    for name in ("ann", "bob"):
        assert f"<h2>{names[name]}</h2>" in text
        assert name not in re.sub(r"<[^>]*>", "", text).split()
    assert "3 highly relevant" in text
    assert "<mark>Ducks</mark>" in text
    assert "Some birds fly." in text
    url = f"/p/ducks/adjudicate/{pairs['d1']}"
    said = {"act": "grade:2", "key": field(text, "key"), "seen": field(text, "seen"), "note": "It is about ducks."}
    done = eve.post(url, data=said)
    assert (done.status_code, done.headers["location"]) == (303, f"/p/ducks/adjudicate/{pairs['d3']}")
    assert eve.post(url, data=said).status_code == 303  # sent again
    with site.store.reading() as connection:
        events = [
            event
            for event in told_events(connection, project_number(site.store, "ducks"))
            if event.kind == "adjudicate"
        ]
        assert [(event.grade, event.note, event.assessor) for event in events] == [
            (2, "It is about ducks.", names["eve"])
        ]
    following = eve.get(done.headers["location"]).text
    undo = {"act": "undo", "undoes": field(following, "undoes", "undo"), "key": field(following, "key", "undo")}
    assert eve.post(url, data=undo).headers["location"] == url
    contested = site.program("eve").get("/api/v1/projects/ducks/adjudications").json()["contested"]
    assert [each["document"] for each in contested] == ["d1", "d3"]
    with site.store.reading() as connection:
        assert differences(connection, project_number(site.store, "ducks")) == []
        leased = select(LeaseRow.pair_id).where(LeaseRow.user_id == site.person("eve").id)
        assert connection.execute(leased).all() == []  # she is not to judge what she decided


def test_a_verdict_without_a_grade_says_why(site: Site) -> None:
    pairs = judged_pond(site)
    eve, url = site.visitor("eve"), f"/p/ducks/adjudicate/{pairs['d1']}"
    for act in ("cannot", "cannot:", "cannot:bored", "grade:", "grade:x", "love"):
        refused = eve.post(url, data={"act": act, "key": "k1"})
        assert (refused.status_code, "a form says grade:N, cannot:REASON or undo" in refused.text) == (400, True), act
    assert eve.post(url, data={"act": "cannot:question unclear", "key": "k1"}).status_code == 303
    assert "no grade: question unclear" in eve.get(url).text


def test_what_was_said_meanwhile_is_seen_before_a_verdict(site: Site) -> None:
    pairs = judged_pond(site)
    eve, url = site.visitor("eve"), f"/p/ducks/adjudicate/{pairs['d1']}"
    seen = field(eve.get(url).text, "seen")
    site.program("oda").post("/api/v1/projects/ducks/adjudications", json={"pair": pairs["d1"], "key": "o", "grade": 1})
    told = eve.post(url, data={"act": "grade:3", "key": "e", "seen": seen})
    assert told.headers["location"] == f"{url}?fault=changed"
    text = eve.get(told.headers["location"]).text
    assert "something was said of this document meanwhile" in text
    assert f"Verdict of {pseudonyms(site)['oda']}" in text
    again = site.program("eve").post(
        "/api/v1/projects/ducks/adjudications", json={"pair": pairs["d1"], "key": "e", "grade": 3, "seen": int(seen)}
    )
    assert again.status_code == 409


def test_who_judged_decides_only_if_nobody_else_can(site: Site) -> None:
    pairs = judged_pond(site)
    site.member("ann", "ducks", "adjudicator")
    ann, url = site.program("ann"), "/api/v1/projects/ducks/adjudications"
    if ann.get(url).status_code == 404:  # joining again does not raise a role
        with site.store.writing() as connection:
            mine = MemberRow.user_id == site_person(connection, "ann")
            connection.execute(update(MemberRow).where(mine).values(role="adjudicator"))
    verdict = {"pair": pairs["d1"], "key": "v", "grade": 3}
    refused = ann.post(url, json=verdict)
    assert (refused.status_code, refused.json()["error"]) == (
        409,
        "You judged this document: somebody else decides.",
    )
    assert (
        "You judged this document: somebody else decides."
        in site.visitor("ann").get(f"/p/ducks/adjudicate/{pairs['d1']}").text
    )
    with site.store.writing() as connection:
        others = MemberRow.user_id.in_([site_person(connection, name) for name in ("eve", "oda")])
        connection.execute(update(MemberRow).where(others).values(role="viewer"))
    assert "Nobody else in this project can decide it" in ann.get(f"{url}/{pairs['d1']}").json()["remark"]
    assert ann.post(url, json=verdict).json() == {"saved": "v"}


def site_person(connection: object, name: str) -> int:
    return int(connection.execute(select(UserRow.id).where(UserRow.name == name)).scalar_one())  # type: ignore[attr-defined]


def test_an_opinion_after_a_verdict_is_told(site: Site) -> None:
    pairs = judged_pond(site)
    url = "/api/v1/projects/ducks/adjudications"
    site.program("eve").post(url, json={"pair": pairs["d1"], "key": "v", "grade": 2})
    oda = site.visitor("oda")
    assert "came after a verdict" not in oda.get("/p/ducks/releases/new").text
    said = [{"pair": pairs["d1"], "kind": "grade", "grade": 1, "key": "late"}]
    site.program("bob").post("/api/v1/projects/ducks/judgements", json=said)
    for path in ("adjudicate", "releases/new"):
        text = oda.get(f"/p/ducks/{path}").text
        assert "Opinions that came after a verdict" in text
        assert f"{pseudonyms(site)['bob']} said 1 on" in text
    assert "after the verdict" in oda.get(f"/p/ducks/adjudicate/{pairs['d1']}").text
    late = site.program("oda").get(url).json()["late"]
    assert [(each["document"], each["grade"], each["verdict"]) for each in late] == [("d1", 1, 2)]


def test_own_judgements_are_shown_and_changed(site: Site) -> None:
    pairs = judged_pond(site)
    ann = site.visitor("ann")
    base = "/p/ducks/mine/1"
    assert f'href="{base}"' in ann.get("/p/ducks/mine").text
    text = ann.get(base).text
    assert "3 highly relevant" in text
    assert ann.post(base, data={"pair": pairs["d1"], "act": "grade:1", "key": "new"}).headers["location"] == base
    own = {each["document"]: each for each in _mine(site.program("ann"), pairs)}
    assert own["d1"]["grade"] == 1
    ann.post(base, data={"pair": pairs["d1"], "act": "undo", "undoes": own["d1"]["key"], "key": "back"})
    assert {each["document"]: each["grade"] for each in _mine(site.program("ann"), pairs)} == GRADES["ann"]
    not_mine = ann.post(base, data={"pair": pairs["d6"], "act": "grade:1", "key": "x"})
    assert "fault=not-stored" in not_mine.headers["location"]
    assert "That was not stored" in ann.get(not_mine.headers["location"]).text
    with site.store.reading() as connection:
        assert differences(connection, project_number(site.store, "ducks")) == []


def _mine(program: TestClient, pairs: dict[str, int]) -> list[dict[str, object]]:
    own: list[dict[str, object]] = program.get(f"/api/v1/projects/ducks/topics/{pairs['topic']}/mine").json()
    return own


def test_blind_repeats_are_not_among_own_judgements(site: Site) -> None:
    pairs = judged_pond(site)
    with site.store.writing() as connection:
        values = {"pair_id": pairs["d1"], "user_id": site_person(connection, "ann"), "repeat": True}
        connection.execute(insert(LeaseRow).values(**values, until=site.store.clock() + 1000, shown_at=0))
    said = [{"pair": pairs["d1"], "kind": "grade", "grade": 2, "key": "again", "repeat": True}]
    assert site.program("ann").post("/api/v1/projects/ducks/judgements", json=said).json()["refused"] == []
    assert [each["grade"] for each in _mine(site.program("ann"), pairs) if each["document"] == "d1"] == [3]
    selves = site.program("eve").get("/api/v1/projects/ducks/agreement").json()["selves"]
    assert [(each["pairs"], each["same_grade"], each["same_relevance"], each["kappa"]) for each in selves] == [
        (1, 0, 1, None)
    ]


def test_before_a_release_what_is_missing_is_told(site: Site) -> None:
    pairs = judged_pond(site)
    judge(site, "ann", pairs, {"d5": None})
    text = site.visitor("oda").get("/p/ducks/releases/new").text
    assert "2 of 6 pairs would have a grade: 2 agreed." in text
    assert "2 pairs have fewer opinions than wanted." in text
    for why in ("1 without a grade: not judged", "1 without a grade: can&#39;t tell"):
        assert why in text
    assert "2 without a grade: opinions differ" in text
    assert "There are no runs in this project" in text
    highest = site.program("oda").get("/api/v1/projects/ducks/releases/preview?policy=highest").json()
    assert highest["methods"] == {"agreed": 2, "highest": 2}
    assert highest["undecided"] == {"not judged": 1, "can't tell": 1}
    assert any("with fewer than 25, chance orders systems" in finding for finding in highest["findings"])


def test_leaving_out_runs_is_told_before_a_release(site: Site) -> None:
    judged_pond(site)
    add_run(site, "good", ["d1", "d4", "d2"])
    add_run(site, "poor", ["d2", "d3", "d1"])
    text = site.visitor("oda").get("/p/ducks/releases/new?policy=highest").text
    assert 'id="left-out"' in text
    told = site.program("oda").get("/api/v1/projects/ducks/releases/preview?policy=highest").json()
    assert {run["run"] for run in told["left_out"]} == {"good", "poor"}
    assert told["reusable"] in text.lower()


def test_what_a_release_is_good_for_is_said_once_and_does_not_contradict_itself(site: Site) -> None:
    """One list, what holds for several runs said once; no measure is called supported that still needs something."""
    judged_pond(site)
    for name in ("one", "two", "three"):
        add_run(site, name, ["d1", "d4", "d5", "d2"] if name != "two" else ["d4", "d1", "d5", "d3"])
    with site.store.writing() as connection:
        connection.execute(update(ProjectRow).values(settings={"depth": 2}))
    text = site.visitor("oda").get("/p/ducks/releases/new?policy=highest").text
    told = site.program("oda").get("/api/v1/projects/ducks/releases/preview?policy=highest").json()
    listed = re.search(r'<ul id="findings">(.*?)</ul>', text, re.DOTALL)
    assert listed is not None
    shown = re.findall("<li>(.*?)</li>", listed.group(1), re.DOTALL)
    assert len(shown) == len(set(shown)) == len(told["findings"])
    assert [line for line in shown if line.startswith("one") and "two" in line and "three" in line]
    assert "--depth" not in text
    assert "too few relevant documents come in below the first tenth of 2 ranks" in text, "the project knows its depth"
    with site.store.writing() as connection:
        connection.execute(update(ProjectRow).values(settings={"budget": 1}))  # then nothing is pooled to a depth
    assert "--depth" not in site.visitor("oda").get("/p/ducks/releases/new?policy=highest").text
    needed = "more topics and more of what the runs retrieve judged"
    assert told["still_needed"] == needed
    assert f"suffice for a measure; to compare systems by any of them takes {needed}:" in text
    cells = set(re.findall(r"<tr><th scope=\"row\">[^<]*</th><td>(no|yes|only[^<]*)</td>", text))
    assert cells == {"no", f"only with {needed}"}


@pytest.mark.parametrize(
    ("options", "depth"),
    [
        ({"depth": 7}, 7),
        ({"method": "rrf", "depth": 7}, 7),
        ({"budget": 3}, None),
        ({"method": "move-to-front"}, None),
        ({"method": "cal"}, None),
        ({"method": "plan", "plan": {"a": (1, 1)}}, None),
    ],
)
def test_how_deep_runs_were_pooled(options: dict[str, Any], depth: int | None) -> None:
    assert ProjectOptions(**options).pool_depth == depth


def test_nothing_judged_is_nothing_to_release(site: Site) -> None:
    pond(site)
    site.member("oda", "ducks", "owner")
    assert "It can't be released: nothing is judged yet" in site.visitor("oda").get("/p/ducks/releases/new").text
    refused = site.program("oda").post("/api/v1/projects/ducks/releases", json={})
    assert (refused.status_code, "nothing is judged yet" in refused.json()["error"]) == (400, True)
    assert list((site.settings.folder / "releases").glob("**/*.making")) == []


def test_a_release_is_the_same_bytes_and_never_changes(site: Site) -> None:
    pairs = judged_pond(site)
    oda, vic = site.program("oda"), site.program("vic")
    url = "/api/v1/projects/ducks/releases"
    made = oda.post(url, json={"policy": "highest"})
    assert made.status_code == 201
    first = made.json()
    qrels = vic.get(f"{url}/1/qrels")
    assert qrels.text == "1 0 d1 3\n1 0 d3 1\n1 0 d4 1\n1 0 d2 0\n"
    assert gzip.decompress(vic.get(f"{url}/1/qrels.gz").content) == qrels.content
    again = oda.post(url, json={"policy": "highest"})
    assert (again.status_code, again.json()["version"]) == (200, 1)
    site.program("eve").post("/api/v1/projects/ducks/adjudications", json={"pair": pairs["d1"], "key": "v", "grade": 2})
    second = oda.post(url, json={"policy": "highest"}).json()
    assert (second["version"], second["digest"] != first["digest"]) == (2, True)
    assert vic.get(f"{url}/2/qrels").text.startswith("1 0 d1 2\n")
    assert vic.get(f"{url}/1/qrels").content == qrels.content
    assert [each["version"] for each in vic.get(url).json()] == [2, 1]
    provenance = site.program("eve").get(f"{url}/2/provenance").json()
    assert provenance["methods"] == {"adjudicated": 1, "agreed": 2, "highest": 1}
    assert provenance["digest"] == second["digest"]
    names = pseudonyms(site)
    assert {each["assessor"] for each in provenance["assessors"]} == {names[who] for who in ("ann", "bob", "eve")}
    folder = site.settings.folder / "releases" / "ducks"
    assert sorted(path.name for path in folder.iterdir()) == ["1", "2"]
    assert {stat.S_IMODE(path.stat().st_mode) for path in folder.glob("*/*")} == {0o400}
    with site.store.reading() as connection:
        told = connection.execute(select(AuditRow.detail).where(AuditRow.what == "release")).scalars().all()
        assert [each["version"] for each in told] == [1, 2]
        assert list(broken(connection)) == []


def test_who_gave_which_grade_is_for_those_who_may_see_it(site: Site) -> None:
    """Assessors and viewers get of a release nothing in which a single opinion stands: they may be still at work."""
    judged_pond(site)
    site.program("oda").post("/api/v1/projects/ducks/releases", json={"policy": "highest"})
    names = set(pseudonyms(site).values())
    for who, may in (("vic", False), ("ann", False), ("eve", True), ("oda", True)):
        for asks, url in (
            (site.program(who), "/api/v1/projects/ducks/releases"),
            (site.visitor(who), "/p/ducks/releases"),
        ):
            file = asks.get(f"{url}/1/provenance")
            assert file.status_code == (200 if may else 404), who
            if may:
                opinions = [each for pair in file.json()["pairs"] for each in pair["opinions"]]
                assert {each["assessor"] for each in opinions} <= names
                assert len(opinions) == 8
        page = site.visitor(who).get("/p/ducks/releases").text
        assert ('href="/p/ducks/releases/1/provenance"' in page) == may
        told = site.program(who).get("/api/v1/projects/ducks/releases/1").json()
        assert not {"pairs", "opinions"} & set(told["summary"])
        assert all(set(each) == {"assessor", "grades", "adjudications"} for each in told["summary"]["assessors"])
        assert '"opinions"' not in json.dumps(told)


def test_events_of_a_release_are_the_owners_and_name_nobody(site: Site) -> None:
    judged_pond(site)
    oda, url = site.program("oda"), "/api/v1/projects/ducks/releases"
    oda.post(url, json={"policy": "lowest"})
    lines = oda.get(f"{url}/1/events").text.splitlines()
    assert len(lines) == 8
    names = pseudonyms(site)
    assert {json.loads(line)["assessor"] for line in lines} == {names["ann"], names["bob"]}
    for who in ("vic", "ann", "eve"):
        assert site.program(who).get(f"{url}/1/events").status_code == 404
        assert site.visitor(who).get("/p/ducks/releases/1/events").status_code == 404
        assert site.visitor(who).get("/p/ducks/releases/1/qrels").status_code == 200
        assert "/releases/1/events" not in site.visitor(who).get("/p/ducks/releases").text
    assert oda.get(f"{url}/9/qrels").status_code == 404


def test_the_digest_is_that_of_the_file(site: Site) -> None:
    judged_pond(site)
    made = site.visitor("oda").post("/p/ducks/releases", data={"policy": "median"})
    assert (made.status_code, made.headers["location"]) == (303, "/p/ducks/releases#version-1")
    text = site.visitor("vic").get("/p/ducks/releases").text
    assert "4 judgements of 1 topic, 1 relevant; policy: median; 2 without a grade." in text
    with site.store.reading() as connection:
        digest = connection.execute(select(ReleaseRow.digest)).scalar_one()
    assert digest in text
    file = b"1 0 d4 1\n1 0 d1 0\n1 0 d2 0\n1 0 d3 0\n"
    assert digest == f"sha256:{sha256(file).hexdigest()}"


def test_a_file_that_was_changed_is_not_served(site: Site) -> None:
    judged_pond(site)
    oda, url = site.program("oda"), "/api/v1/projects/ducks/releases"
    oda.post(url, json={"policy": "lowest"})
    path = site.settings.folder / "releases" / "ducks" / "1" / "qrels.txt"
    content = path.read_bytes()
    path.chmod(0o600)
    path.write_bytes(content.replace(b"d1 0", b"d1 3"))
    refused = oda.get(f"{url}/1/qrels")
    assert (refused.status_code, "was changed on the disk" in refused.json()["error"]) == (500, True)
    path.unlink()
    assert "can't be read" in oda.get(f"{url}/1/qrels").json()["error"]
    assert oda.get(f"{url}/1/provenance").status_code == 200


def test_a_folder_of_a_release_that_was_never_noted_is_replaced(site: Site) -> None:
    judged_pond(site)
    left = site.settings.folder / "releases" / "ducks" / "1"
    left.mkdir(parents=True)
    (left / "qrels.txt").write_text("of a server that was killed")
    oda, url = site.program("oda"), "/api/v1/projects/ducks/releases"
    assert oda.post(url, json={"policy": "lowest"}).status_code == 201
    assert oda.get(f"{url}/1/qrels").text == "1 0 d4 1\n1 0 d1 0\n1 0 d2 0\n1 0 d3 0\n"


def test_a_sampled_release_has_the_chances(site: Site) -> None:
    pairs = judged_pond(site)
    with site.store.writing() as connection:
        connection.execute(update(PairRow).where(PairRow.document == "d2").values(chance=0.25, stratum=2))
        connection.execute(update(PairRow).where(PairRow.document == "d5").values(chance=0.25, stratum=2))
    oda, url = site.program("oda"), "/api/v1/projects/ducks/releases"
    told = oda.get(f"{url}/preview?policy=highest").json()["findings"]
    assert any("There will be no file with chances: 1 document drawn but without a grade: 1 d5" in one for one in told)
    oda.post(url, json={"policy": "highest"})
    assert oda.get(f"{url}/1/sampled").status_code == 404
    judge(site, "ann", pairs, {"d5": 1})
    assert oda.post(url, json={"policy": "highest"}).json()["version"] == 2
    text = oda.get(f"{url}/2/sampled").text
    assert text == "1 d1 3 0 1.0\n1 d2 0 1 0.25\n1 d3 1 0 1.0\n1 d4 1 0 1.0\n1 d5 1 1 0.25\n"
    read = read_qrels(io.StringIO(text), reading=Reading(judgements="sampled"))
    chances = dict(zip(read.of("1"), read.columns["sampled"].tolist(), strict=True))
    assert chances == {"d1": 1.0, "d2": 0.25, "d3": 1.0, "d4": 1.0, "d5": 0.25}
    pair = next(each for each in oda.get(f"{url}/2/provenance").json()["pairs"] if each["document"] == "d2")
    assert pair["inclusion"] == 0.25
    assert "with the chance of each" in site.visitor("vic").get("/p/ducks/releases").text


def test_pairs_of_another_project_are_not_there(site: Site) -> None:
    pairs = judged_pond(site)
    pond(site, "swans")
    site.member("kim", "swans", "owner")
    kim, program = site.visitor("kim"), site.program("kim")
    assert kim.get(f"/p/swans/adjudicate/{pairs['d1']}").status_code == 404
    assert kim.get(f"/p/swans/adjudicate/{pairs['d1']}/document").status_code == 404
    with site.store.writing() as connection:
        connection.execute(update(TopicRow).where(TopicRow.id == pairs["topic"]).values(name="of ducks alone"))
    assert kim.get("/p/swans/mine/of~20ducks~20alone").status_code == 404
    verdict = {"pair": pairs["d1"], "key": "v", "grade": 3}
    assert program.post("/api/v1/projects/swans/adjudications", json=verdict).status_code == 404
    eve = site.visitor("eve")
    assert eve.get(f"/p/ducks/adjudicate/{pairs['d6']}").status_code == 404  # nobody said anything of it
    assert eve.get(f"/p/ducks/adjudicate/{pairs['d1']}/document").status_code == 200
    assert eve.get(f"/p/ducks/adjudicate/{pairs['d1']}/document/page").status_code == 404  # it is not HTML
