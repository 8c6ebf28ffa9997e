"""Judging through pages and API: what a person without script does, and what a program does."""

from __future__ import annotations

import re
from html import unescape
from itertools import pairwise

import pytest
from sqlalchemy import func, insert, select, update

from cranfield.texts.document_store import StoredDocument
from cranfield.web.judging.rebuilding import differences
from cranfield.web.judging.topic_addresses import in_address
from cranfield.web.store.tables import EventRow, OpinionRow, PairRow, ProjectRow, TopicRow
from ponds import pond
from site_fixtures import Clock
from sites import Site, project_number


def field(text: str, name: str) -> str:
    match = re.search(rf'<form id="judge".*?name="{name}" value="([^"]*)"', text, re.DOTALL)
    assert match, text
    return match.group(1)


def test_where_nothing_is_left_the_next_topic_is_one_link_away(site: Site) -> None:
    """The next after this one that has something for this person, else from the first on, else the list."""
    pairs = pond(site)
    site.member("ann", "ducks", "assessor")
    other = site.member("bob", "ducks", "assessor").id
    number = project_number(site.store, "ducks")
    with site.store.writing() as connection:
        for place, name in ((0, "zero"), (2, "two"), (3, "a/3")):
            values = {"project_id": number, "name": name, "place": place, "fields": []}
            topic = connection.execute(insert(TopicRow).values(**values).returning(TopicRow.id)).scalar_one()
            if name != "two":
                pair = {"topic_id": topic, "document": "d1", "source": "pool", "batch": 0, "place": 0, "wanted": 1}
                connection.execute(insert(PairRow).values(opinions=0, **pair))
        connection.execute(update(PairRow).where(PairRow.topic_id == pairs["topic"]).values(opinions=1))
    browser = site.visitor("ann")
    assert '<a class="button" href="/p/ducks/judge?after=1">Next topic' in browser.get("/p/ducks/judge/1").text

    def onward(after: str) -> str:
        return browser.get("/p/ducks/judge", params={"after": after}, follow_redirects=False).headers["location"]

    assert onward("1") == "/p/ducks/judge/" + in_address("a/3")
    assert onward("a/3") == "/p/ducks/judge/zero"
    with site.store.writing() as connection:
        connection.execute(update(TopicRow).where(TopicRow.name == "a/3").values(owner_id=other))
        connection.execute(update(ProjectRow).values(settings={"owned": True}))
    assert onward("1") == "/p/ducks/judge/zero"
    assert browser.get("/p/ducks/judge", params={"after": "zero"}).status_code == 200


def test_a_person_judges_without_script(site: Site) -> None:
    pairs = pond(site)
    site.member("ann", "ducks", "assessor")
    ann = site.visitor("ann")
    base = "/p/ducks/judge/1"
    topics = ann.get("/p/ducks/judge").text
    assert f'href="{base}"' in topics
    assert "6 of 6" in topics
    first = ann.get(base).text
    assert "<mark>Ducks</mark>" in first
    assert field(first, "pair") == str(pairs["d1"])
    said = {"pair": field(first, "pair"), "key": field(first, "key"), "act": "grade:2"}
    done = ann.post(base, data=said)
    assert (done.status_code, done.headers["location"]) == (303, base)
    second = ann.get(base).text
    assert field(second, "pair") == str(pairs["d2"])
    assert "You judged 1, 1 of them relevant; 5 are left." in second
    undo = re.search(r'name="undoes" value="(\w+)"', second)
    assert undo is not None
    undone = ann.post(base, data={"pair": pairs["d1"], "act": "undo", "undoes": undo.group(1), "key": "undo1"})
    again = ann.get(undone.headers["location"]).text
    assert "Undone: this document is before you again." in again
    assert field(again, "pair") == str(pairs["d1"])
    assert "Undone" not in ann.get(base).text
    assert "You judged 0, 0 of them relevant; 6 are left." in again
    with site.store.reading() as connection:
        assert connection.execute(select(func.count()).select_from(OpinionRow)).scalar_one() == 0
        assert connection.execute(select(func.count()).select_from(EventRow)).scalar_one() == 2


def test_undo_by_forms_brings_documents_back_the_last_first(site: Site, clock: Clock) -> None:
    """Without script, whatever was before somebody: grades, "can't tell" and "later" come back, and stay first."""
    pairs = pond(site)
    site.member("ann", "ducks", "assessor")
    ann, base = site.visitor("ann"), "/p/ducks/judge/1"
    keys = {}
    for number, act in enumerate(("grade:2", "cannot:language", "later", "grade:0")):
        page = ann.get(base).text
        assert field(page, "pair") == str(pairs[f"d{number + 1}"])
        keys[f"d{number + 1}"] = field(page, "key")
        ann.post(base, data={"pair": field(page, "pair"), "key": field(page, "key"), "act": act})
    assert field(ann.get(base).text, "pair") == str(pairs["d5"])
    for document in ("d4", "d1", "d3", "d2"):
        clock.forward(minutes=0.1)
        form = {"pair": pairs[document], "act": "undo", "undoes": keys[document], "key": f"u{document}"}
        page = ann.get(ann.post(base, data=form).headers["location"]).text
        assert '<p id="undone" role="status">Undone: this document is before you again.</p>' in page
        assert field(page, "pair") == str(pairs[document])
    shown = []
    for number in range(6):
        page = ann.get(base).text
        assert 'id="undone"' not in page
        shown.append(int(field(page, "pair")))
        ann.post(base, data={"pair": field(page, "pair"), "key": f"again{number}", "act": "grade:1"})
    assert shown == [pairs[document] for document in ("d2", "d3", "d1", "d4", "d5", "d6")]


def test_undoing_what_was_said_anew_brings_nothing_back(site: Site) -> None:
    pairs = pond(site)
    site.member("ann", "ducks", "assessor")
    ann, base = site.visitor("ann"), "/p/ducks/judge/1"
    ann.get(base)
    for grade, key in ((1, "first"), (2, "second")):
        ann.post(base, data={"pair": pairs["d1"], "act": f"grade:{grade}", "key": key})
    undone = ann.post(base, data={"pair": pairs["d1"], "act": "undo", "undoes": "second", "key": "u"})
    page = ann.get(undone.headers["location"]).text
    assert "Undone. That document is not before you again: something else that you said of it holds." in page
    assert field(page, "pair") == str(pairs["d2"])


def test_cannot_needs_a_reason(site: Site) -> None:
    pairs = pond(site)
    site.member("ann", "ducks", "assessor")
    ann = site.visitor("ann")
    base = "/p/ducks/judge/1"
    assert 'value="cannot:language"' in ann.get(base).text
    for act in ("cannot", "cannot:", "cannot:tired", "grade:9"):
        told = ann.post(base, data={"pair": pairs["d1"], "act": act, "key": "k1"})
        assert told.headers["location"] == f"{base}?fault=not-stored", act
        assert "That was not stored" in ann.get(told.headers["location"]).text
    for act in ("grade:x", "adjudicate", "", "love"):
        assert ann.post(base, data={"pair": pairs["d1"], "act": act, "key": "k1"}).status_code in (400, 422), act
    ann.post(base, data={"pair": pairs["d1"], "act": "cannot:language", "key": "k2"})
    with site.store.reading() as connection:
        row = connection.execute(select(EventRow.kind, EventRow.reason, EventRow.grade)).one()
    assert tuple(row) == ("cannot", "language", None)


def test_documents_are_text_and_harm_nobody(site: Site) -> None:
    pairs = pond(site)
    site.member("ann", "ducks", "assessor")
    ann = site.visitor("ann")
    base = "/p/ducks/judge/1"
    sent = {"judgements": [], "have": [], "want": 5}
    cards = ann.post(f"{base}/judgements", json=sent).json()["cards"]
    html = {card["pair"]: card["html"] for card in cards}
    assert "&lt;script&gt;" in html[pairs["d5"]]
    assert "<script" not in html[pairs["d5"]]
    assert "<img" not in html[pairs["d5"]]
    assert 'dir="rtl"' in html[pairs["d4"]]
    question = ann.get(base).text
    assert "Do ducks &lt;b&gt;swim&lt;/b&gt; &amp; dive?" in question
    ann.post(f"{base}/judgements", json={"judgements": [], "have": [], "want": 5})
    framed = ann.get(f"{base}/documents/{pairs['d5']}/page")
    assert framed.status_code == 404  # it is not HTML


def test_a_page_of_html_is_cleaned(site: Site) -> None:
    pairs = pond(site)
    site.member("ann", "ducks", "assessor")
    program = site.program("ann")
    program.post(f"/api/v1/projects/ducks/topics/{pairs['topic']}/leases", json={"count": 6})
    ann = site.visitor("ann")
    framed = ann.get(f"/p/ducks/judge/1/documents/{pairs['d6']}/page")
    assert "<b>swim</b>" in framed.text
    assert "script" not in framed.text
    assert "sandbox" in framed.headers["content-security-policy"]


def test_a_program_judges(site: Site) -> None:
    pairs = pond(site)
    site.member("ann", "ducks", "assessor")
    program = site.program("ann")
    topics = program.get("/api/v1/projects/ducks/topics").json()
    assert [(topic["name"], topic["pairs"], topic["mine"]) for topic in topics] == [("1", 6, 0)]
    leases = program.post(f"/api/v1/projects/ducks/topics/{pairs['topic']}/leases", json={"count": 2}).json()["leases"]
    assert [one["document"] for one in leases] == ["d1", "d2"]
    said = [{"pair": one["pair"], "kind": "grade", "grade": 1, "key": f"k{one['pair']}"} for one in leases]
    url = "/api/v1/projects/ducks/judgements"
    assert program.post(url, json=said).json() == {"saved": [one["key"] for one in said], "refused": []}
    assert program.post(url, json=said).json()["refused"] == []  # sent again
    other = program.post(url, json=[{**said[0], "grade": 3}]).json()
    assert [one["status"] for one in other["refused"]] == [409]
    foreign = program.post(url, json=[{"pair": pairs["d6"], "kind": "grade", "grade": 1, "key": "x"}]).json()
    assert "was not given to you" in foreign["refused"][0]["message"]
    wrong = program.post(url, json=[{"pair": pairs["d1"], "kind": "grade", "grade": 9, "key": "y"}]).json()
    assert "9 is no grade of the scale" in wrong["refused"][0]["message"]
    document = program.get(f"/api/v1/projects/ducks/topics/{pairs['topic']}/documents/{pairs['d1']}").json()
    assert document["title"] == "Ducks"
    unseen = program.get(f"/api/v1/projects/ducks/topics/{pairs['topic']}/documents/{pairs['d6']}")
    assert unseen.status_code == 404
    recent = program.get(f"/api/v1/projects/ducks/topics/{pairs['topic']}/judgements").json()
    assert [one["document"] for one in recent] == ["d2", "d1"]


def test_two_people_never_get_the_same_place(site: Site) -> None:
    pairs = pond(site)
    for name in ("ann", "bob"):
        site.member(name, "ducks", "assessor")
    url = f"/api/v1/projects/ducks/topics/{pairs['topic']}/leases"
    first, second = site.program("ann"), site.program("bob")
    mine = [one["document"] for one in first.post(url, json={"count": 4}).json()["leases"]]
    theirs = [one["document"] for one in second.post(url, json={"count": 4}).json()["leases"]]
    assert sorted(mine + theirs) == ["d1", "d2", "d3", "d4", "d5", "d6"]


def test_a_lease_that_ended_goes_to_another_and_a_late_judgement_is_kept(site: Site, clock: Clock) -> None:
    pairs = pond(site)
    for name in ("ann", "bob"):
        site.member(name, "ducks", "assessor")
    url = f"/api/v1/projects/ducks/topics/{pairs['topic']}/leases"
    ann, bob = site.program("ann"), site.program("bob")
    ann.post(url, json={"count": 1})
    clock.forward(minutes=11)
    assert [one["document"] for one in bob.post(url, json={"count": 1}).json()["leases"]] == ["d1"]
    for who in (ann, bob):
        said = [{"pair": pairs["d1"], "kind": "grade", "grade": 1, "key": "k"}]
        assert who.post("/api/v1/projects/ducks/judgements", json=said).json()["saved"] == ["k"]
    with site.store.reading() as connection:
        assert connection.execute(select(PairRow.opinions).where(PairRow.id == pairs["d1"])).scalar_one() == 2
        project = connection.execute(select(ProjectRow.id)).scalar_one()
        assert differences(connection, project) == []


@pytest.mark.parametrize("terms", ["div*, ponds", "div*\nponds"])
def test_own_words_are_marked(site: Site, terms: str) -> None:
    pond(site)
    site.member("ann", "ducks", "assessor")
    ann = site.visitor("ann")
    base = "/p/ducks/judge/1"
    assert ann.post(f"{base}/terms", data={"terms": terms}).status_code == 303
    text = ann.get(base).text
    assert '<mark class="scan">dive</mark>' in text
    assert '<mark class="scan">ponds</mark>' in text


def test_a_topic_of_another_project_is_not_there(site: Site) -> None:
    pond(site)
    other = pond(site, "swans")
    site.member("ann", "ducks", "assessor")
    ann = site.visitor("ann")
    with site.store.writing() as connection:
        connection.execute(update(TopicRow).where(TopicRow.id == other["topic"]).values(name="swans"))
    missing = ann.get("/p/ducks/judge/swans")
    assert (missing.status_code, "no topic of this project has the id &#39;swans&#39;" in missing.text) == (404, True)
    assert ann.get("/p/swans/judge").status_code == 404
    said = [{"pair": other["d1"], "kind": "grade", "grade": 1, "key": "k"}]
    refused = site.program("ann").post("/api/v1/projects/ducks/judgements", json=said).json()["refused"]
    assert [one["status"] for one in refused] == [404]


def test_nobody_is_told_what_comes_again_or_is_for_calibration(site: Site, clock: Clock) -> None:
    """Cards, leases and numbers look the same for every document; the server knows from the lease what is a repeat."""
    documents = [StoredDocument(f"d{number}", "", "ducks") for number in range(30)]
    pairs = pond(site, documents=documents, repeats=0.1)
    with site.store.writing() as connection:
        first = PairRow.id == pairs["d29"]
        connection.execute(update(PairRow).where(first).values(source="calibration", wanted=0))
    site.member("ann", "ducks", "assessor")
    ann, program = site.visitor("ann"), site.program("ann")
    base = "/p/ducks/judge/1"
    shapes, met, lefts = set(), [], []
    for number in range(40):
        clock.forward(minutes=2)
        text = ann.get(base).text
        if '<article class="card"' not in text:
            break
        lefts.append(int(re.findall(r"; (\d+) (?:is|are) left", text)[0]))
        (lease,) = program.post(f"/api/v1/projects/ducks/topics/{pairs['topic']}/leases", json={"count": 1}).json()[
            "leases"
        ]
        met.append(lease["document"])
        assert set(lease) == {"pair", "document", "until"}
        card = re.search(r'<article class="card".*?</article>', text, re.DOTALL)
        assert card is not None
        shapes.add(re.sub(r"\bd\d+\b|documents/\d+", "", card.group()))
        assert "repeat" not in text
        assert "calibration" not in text
        act = "later" if number == 20 else "grade:1"
        sent = ann.post(base, data={"pair": lease["pair"], "act": act, "key": f"k{number}", "repeat": "0"})
        assert sent.headers["location"] == base
        said = program.get(f"/api/v1/projects/ducks/topics/{pairs['topic']}/judgements").json()
        assert set(said[0]) == {"key", "pair", "document", "kind", "grade"}
    assert len(shapes) == 1
    assert met[0] == "d29"
    again = [document for place, document in enumerate(met) if document in met[:place]]
    assert len(again) >= 3
    drops = [before - after for before, after in pairwise(lefts)]
    assert [place for place, drop in enumerate(drops) if drop != 1] == [20]  # where it was put off
    with site.store.reading() as connection:
        rows = connection.execute(select(OpinionRow.pair_id, OpinionRow.repeat)).all()
        assert differences(connection, 1) == []
    assert len([row for row in rows if not row.repeat]) == 30
    repeated = {row.pair_id for row in rows if row.repeat}
    assert repeated <= {pairs[document] for document in again}
    assert len(repeated) >= 2


def test_undoing_a_repeat_gives_the_repeat_back(site: Site, clock: Clock) -> None:
    documents = [StoredDocument(f"d{number}", "", "ducks") for number in range(30)]
    pairs = pond(site, documents=documents, repeats=0.1)
    site.member("ann", "ducks", "assessor")
    program = site.program("ann")
    leases, judgements = f"/api/v1/projects/ducks/topics/{pairs['topic']}/leases", "/api/v1/projects/ducks/judgements"

    def repeats() -> list[tuple[str, int | None]]:
        asked = select(EventRow.kind, EventRow.grade).where(EventRow.repeat.is_(True)).order_by(EventRow.id)
        with site.store.reading() as connection:
            assert differences(connection, 1) == []
            return [(row.kind, row.grade) for row in connection.execute(asked)]

    number = 0
    while not repeats():
        clock.forward(minutes=5)
        (lease,) = program.post(leases, json={"count": 1}).json()["leases"]
        number += 1
        said = {"pair": lease["pair"], "kind": "grade", "grade": 1, "key": f"k{number}"}
        assert program.post(judgements, json=[said]).json()["refused"] == []
    again = lease["pair"]
    undo = {"pair": again, "kind": "undo", "undoes": f"k{number}", "key": "u"}
    assert program.post(judgements, json=[undo]).json()["saved"] == ["u"]
    assert program.post(leases, json={"count": 1}).json()["leases"][0]["pair"] == again
    program.post(judgements, json=[{"pair": again, "kind": "grade", "grade": 3, "key": "v"}])
    assert repeats() == [("grade", 1), ("undo", None), ("grade", 3)]
    with site.store.reading() as connection:
        asked = select(OpinionRow.repeat, OpinionRow.grade).where(OpinionRow.pair_id == again)
        assert {row.repeat: row.grade for row in connection.execute(asked)} == {False: 1, True: 3}


@pytest.mark.parametrize("name", ["100", "q/1", "..", ".", "50%", "%2F", "~2F", "a b", "ü?#&", "judge/1/advice"])
def test_addresses_have_the_id_of_a_topic(site: Site, name: str) -> None:
    """Whatever it is made of; not a number that only the database knows."""
    pairs = pond(site)
    with site.store.writing() as connection:
        connection.execute(update(TopicRow).where(TopicRow.id == pairs["topic"]).values(name=name))
    site.member("ann", "ducks", "assessor")
    ann = site.visitor("ann")
    (link,) = set(re.findall(r'<a href="(/p/ducks/judge/[^"/]+)">', ann.get("/p/ducks/judge").text))
    page = ann.get(unescape(link))
    assert f'data-base="{link}"' in page.text
    said = {"pair": pairs["d1"], "act": "grade:1", "key": "k"}
    assert ann.post(unescape(link), data=said).headers["location"] == unescape(link)
    assert ann.get(f"{unescape(link)}/advice").status_code == 200
    if name != str(pairs["topic"]):
        assert ann.get(f"/p/ducks/judge/{pairs['topic']}").status_code == 404
