"""What the walk over all routes (tests/web/test_permissions.py) sends to each, and the one place where objects that
routes name in their paths are made.

A new route needs a row in SAMPLES, a new parameter of a path a maker in OBJECTS.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from sqlalchemy import delete, insert, select, update

from cranfield.judging.scale import Scale
from cranfield.web.accounts.invitations import invite
from cranfield.web.accounts.secrets import digest
from cranfield.web.accounts.sessions import begin_session
from cranfield.web.accounts.tokens import new_token
from cranfield.web.judging.recording import NewJudgement, record
from cranfield.web.judging.topic_addresses import in_address
from cranfield.web.projects.collections import DataFiles
from cranfield.web.projects.members import new_link
from cranfield.web.review.release_files import (
    EVENTS,
    PROVENANCE,
    QRELS,
    SAMPLED,
    digest_of,
    folder_of,
    numbered,
    written,
)
from cranfield.web.store.tables import (
    EventRow,
    JobRow,
    LeaseRow,
    MemberRow,
    PairRow,
    ProjectRow,
    ReleaseRow,
    RunRow,
    TopicRow,
)
from cranfield.web.templating import asset
from ponds import asked_for
from sites import Site, project_number

_numbers = count(1)


@dataclass(frozen=True)
class Whose:
    """Where an object is made: in a project, for a person. The walk asks for one of the visitor's own and for one of
    another project and another person."""

    site: Site
    project: str
    person: str


Maker = Callable[[Whose], str]


def a_member(whose: Whose) -> str:
    """Pseudonym of a new member, one that nobody has in another project."""
    number, store = next(_numbers), whose.site.store
    account = whose.site.member(f"member {number}", whose.project, "assessor")
    project = project_number(store, whose.project)
    own = (MemberRow.project_id == project) & (MemberRow.user_id == account.id)
    with store.writing() as connection:
        connection.execute(update(MemberRow).where(own).values(pseudonym=f"{whose.project}-{number}"))
    return f"{whose.project}-{number}"


def a_link(whose: Whose) -> str:
    """Name of a new open link into the project."""
    store = whose.site.store
    owner = whose.site.person(f"{whose.project} owner")
    word = new_link(store, owner.id, project_number(store, whose.project), "viewer", 1)
    return digest(word)[:16]


def a_word(whose: Whose) -> str:
    """Word of a new link into the project."""
    store = whose.site.store
    with store.writing() as connection:
        number = project_number(store, whose.project, connection)
        return invite(connection, store.clock(), "project", project=number, role="viewer")


def a_session(whose: Whose) -> str:
    store, account = whose.site.store, whose.site.person(whose.person)
    with store.writing() as connection:
        word = begin_session(connection, store.clock(), account.id, "another browser")
    return digest(word)[:16]


def a_token(whose: Whose) -> str:
    store, account = whose.site.store, whose.site.person(whose.person)
    with store.writing() as connection:
        shown = new_token(connection, store.clock(), account.id, "x", ["read"], 1)
    return shown.split("_")[1]


def an_account(whose: Whose) -> str:
    """Number of a new account."""
    return str(whose.site.person(f"somebody {next(_numbers)}").id)


def a_topic(whose: Whose) -> str:
    """Number of the project's topic. A project that loses a run has to be prepared anew, and has none until then."""
    project = project_number(whose.site.store, whose.project)
    asked = select(TopicRow.id).where(TopicRow.project_id == project)
    with whose.site.store.writing() as connection:
        topic = connection.execute(asked).scalar()
        if topic is None:
            topic = asked_for(connection, project)["topic"]
            ready = {"state": "ready", "reason": None, "collection": "pond"}
            connection.execute(update(ProjectRow).where(ProjectRow.id == project).values(**ready))
        return str(topic)


def a_topic_in_pages(whose: Whose) -> str:
    """The id of the project's topic as pages have it, which no other project has."""
    topic, name = int(a_topic(whose)), f"topic of {whose.project}"
    with whose.site.store.writing() as connection:
        connection.execute(update(TopicRow).where(TopicRow.id == topic).values(name=name))
    return in_address(name)


def a_pair(whose: Whose) -> str:
    """Number of a pair that the person has before them: a document that is HTML."""
    person = whose.site.person(whose.person)
    asked = select(PairRow.id).where(PairRow.topic_id == int(a_topic(whose)), PairRow.document == "d6")
    with whose.site.store.writing() as connection:
        pair = connection.execute(asked).scalar_one()
        own = (LeaseRow.pair_id == pair) & (LeaseRow.user_id == person.id)
        connection.execute(delete(LeaseRow).where(own))
        lease = {"until": whose.site.store.clock() + 600_000, "shown_at": 0, "repeat": False}
        connection.execute(insert(LeaseRow).values(pair_id=pair, user_id=person.id, **lease))
    return str(pair)


def a_run(whose: Whose) -> str:
    """Number of a new run."""
    values = {"project_id": project_number(whose.site.store, whose.project), "name": f"run {next(_numbers)}", "at": 0}
    with whose.site.store.writing() as connection:
        made = insert(RunRow).values(digest="0" * 64, **values).returning(RunRow.id)
        return str(connection.execute(made).scalar_one())


def a_kept_run(whose: Whose) -> str:
    """Number of a new run whose file is there."""
    DataFiles(whose.site.settings.folder).kept("run", "0" * 64).write_text("1 Q0 d1 1 9 a\n")
    return a_run(whose)


def begun(whose: Whose) -> None:
    """Somebody has judged in the project, and nothing is under way: what it is made from stays as it is."""
    a_case(whose)
    project = project_number(whose.site.store, whose.project)
    with whose.site.store.writing() as connection:
        connection.execute(delete(JobRow).where(JobRow.project_id == project))
        connection.execute(update(ProjectRow).where(ProjectRow.id == project).values(state="ready", reason=None))


def a_case(whose: Whose) -> str:
    """Number of a pair of the project that somebody gave an opinion of: a document that is HTML."""
    store, number = whose.site.store, project_number(whose.site.store, whose.project)
    judge = whose.site.member(f"{whose.project} judge", whose.project, "assessor")
    asked = select(PairRow.id).where(PairRow.topic_id == int(a_topic(whose)), PairRow.document == "d6")
    with store.writing() as connection:
        pair = connection.execute(asked).scalar_one()
        if connection.execute(select(EventRow.id).where(EventRow.user_id == judge.id)).first() is None:
            lease = {"until": store.clock() + 600_000, "shown_at": 0, "repeat": False}
            connection.execute(insert(LeaseRow).values(pair_id=pair, user_id=judge.id, **lease))
            said = NewJudgement(pair=pair, kind="grade", grade=1, key="case")
            record(connection, store.clock(), number, judge.id, said)
    return str(pair)


def a_release(whose: Whose) -> str:
    """Number of a new version, one that no other project has."""
    store, version = whose.site.store, 1000 + next(_numbers)
    files = {name: f"{whose.project}\n".encode() for name in (QRELS, SAMPLED, PROVENANCE, EVENTS)}
    numbered(written(folder_of(whose.site.settings.folder, whose.project), files), version)
    told = {"policy": "majority", "judgements": 1, "topics": 1, "relevant": 1, "undecided": 0, "findings": []}
    told["files"] = {name: digest_of(content) for name, content in files.items()}
    known = {"version": version, "digest": "sha256:0", "provenance": told, "at": 0}
    known |= {"user_id": whose.site.person(f"{whose.project} owner").id}
    with store.writing() as connection:
        project = project_number(store, whose.project, connection)
        connection.execute(insert(ReleaseRow).values(project_id=project, **known))
    return str(version)


# Objects that are named in paths, by the name of the parameter. A fresh one is made for each request.
OBJECTS: dict[str, Maker] = {
    "project": lambda whose: whose.project,
    "member": a_member,
    "link": a_link,
    "word": a_word,
    "user": an_account,
    "public": a_token,
    "topic": a_topic,
    "version": a_release,
    "pair": a_pair,
    "run": a_run,
}


@dataclass(frozen=True)
class Sample:
    """What is sent to a route, and the status of the answer for somebody who may. `path` has makers for parameters that
    are not in OBJECTS, or mean something else here. `form` goes to pages, `json` to the API; `before` makes the
    project such that everybody finds the same. `foreign` is the status
    where the object is of another project or person: 404, unless there is a reason that the row gives."""

    done: int = 200
    form: Mapping[str, Any] = field(default_factory=dict)
    json: Any = None
    path: Mapping[str, Maker] = field(default_factory=dict)
    before: Callable[[Whose], None] | None = None
    foreign: int = 404


STATIC = {"digest": lambda _: asset("style.css").split("/")[2], "name": lambda _: "style.css"}
ROLE = {"role": "viewer"}
DOCUMENTS = {"kind": lambda _: "documents"}
CASE = {"pair": a_case}
FILES = ("/qrels", "/qrels.gz", "/sampled", "/provenance", "/events")

IN_PAGES: dict[str, Maker] = {"topic": a_topic_in_pages}
SAMPLES: dict[tuple[str, str], Sample] = {
    ("GET", "/healthz"): Sample(),
    ("GET", "/readyz"): Sample(),
    ("GET", "/static/{digest}/{name}"): Sample(path=STATIC, foreign=200),  # ours, for everybody
    ("GET", "/login"): Sample(),
    ("POST", "/login"): Sample(403, form={"name": "nobody", "password": "of nobody"}),
    ("POST", "/logout"): Sample(303),
    ("GET", "/invite/{word}"): Sample(foreign=200),  # the word is the permission
    ("POST", "/invite/{word}"): Sample(404, path={"word": lambda _: "no-such-word"}),  # others are in test_accounts
    ("GET", "/account"): Sample(),
    ("POST", "/account/password"): Sample(403, form={"old": "wrong", "new": "a fine new one"}),
    ("POST", "/account/sessions/{name}/end"): Sample(303, path={"name": a_session}),
    ("POST", "/account/tokens"): Sample(form={"name": "x", "scopes": "read", "days": 1}),
    ("POST", "/account/tokens/{public}/end"): Sample(303),
    ("GET", "/"): Sample(),
    ("GET", "/people"): Sample(),
    ("POST", "/people/{user}/disable"): Sample(foreign=200),  # an admin is admin of all accounts
    ("POST", "/people/{user}/enable"): Sample(foreign=200),
    ("POST", "/people/{user}/admin"): Sample(foreign=200),
    ("POST", "/people/{user}/no-admin"): Sample(foreign=200),
    ("POST", "/people/{user}/reset"): Sample(foreign=200),
    ("GET", "/p/{project}/members"): Sample(),
    ("POST", "/p/{project}/members/links"): Sample(form={"role": "assessor", "uses": 2}),
    ("POST", "/p/{project}/members/links/{link}/end"): Sample(303),
    ("POST", "/p/{project}/members/{member}/role"): Sample(form=ROLE),
    ("POST", "/p/{project}/members/{member}/remove"): Sample(),
    ("GET", "/api/v1/me"): Sample(),
    ("GET", "/api/v1/me/sessions"): Sample(),
    ("DELETE", "/api/v1/me/sessions/{name}"): Sample(204, path={"name": a_session}),
    ("GET", "/api/v1/me/tokens"): Sample(),
    ("DELETE", "/api/v1/me/tokens/{public}"): Sample(204),
    ("GET", "/api/v1/people"): Sample(),
    ("PATCH", "/api/v1/people/{user}"): Sample(json={"disabled": True}, foreign=200),
    ("POST", "/api/v1/people/{user}/reset"): Sample(201, foreign=201),
    ("GET", "/api/v1/projects/{project}/members"): Sample(),
    ("PATCH", "/api/v1/projects/{project}/members/{member}"): Sample(json=ROLE),
    ("DELETE", "/api/v1/projects/{project}/members/{member}"): Sample(),
    ("GET", "/api/v1/projects/{project}/invitations"): Sample(),
    ("POST", "/api/v1/projects/{project}/invitations"): Sample(201, json=ROLE),
    ("DELETE", "/api/v1/projects/{project}/invitations/{link}"): Sample(),
    ("GET", "/api/v1/openapi.json"): Sample(),
    ("GET", "/p/{project}/judge"): Sample(),
    ("GET", "/p/{project}/judge/{topic}"): Sample(path=IN_PAGES),
    ("POST", "/p/{project}/judge/{topic}"): Sample(303, form={"pair": 1, "act": "cannot", "key": "k"}, path=IN_PAGES),
    ("POST", "/p/{project}/judge/{topic}/judgements"): Sample(json={"judgements": [], "want": 0}, path=IN_PAGES),
    ("POST", "/p/{project}/judge/{topic}/leave"): Sample(303, path=IN_PAGES),
    ("POST", "/p/{project}/judge/{topic}/stay"): Sample(json={"pairs": []}, path=IN_PAGES),
    ("POST", "/p/{project}/judge/{topic}/terms"): Sample(303, form={"terms": "duck"}, path=IN_PAGES),
    ("GET", "/p/{project}/judge/{topic}/advice"): Sample(path=IN_PAGES),
    ("GET", "/p/{project}/judge/{topic}/documents/{pair}"): Sample(path=IN_PAGES),
    ("GET", "/p/{project}/judge/{topic}/documents/{pair}/page"): Sample(path=IN_PAGES),
    ("GET", "/api/v1/projects/{project}/topics"): Sample(),
    ("GET", "/api/v1/projects/{project}/topics/{topic}"): Sample(),
    ("GET", "/api/v1/projects/{project}/topics/{topic}/advice"): Sample(),
    ("POST", "/api/v1/projects/{project}/topics/{topic}/leases"): Sample(json={"count": 1}),
    ("PUT", "/api/v1/projects/{project}/topics/{topic}/leases"): Sample(json={"pairs": []}),
    ("DELETE", "/api/v1/projects/{project}/topics/{topic}/leases"): Sample(204),
    ("POST", "/api/v1/projects/{project}/judgements"): Sample(json=[]),
    ("GET", "/api/v1/projects/{project}/topics/{topic}/documents/{pair}"): Sample(),
    ("GET", "/api/v1/projects/{project}/topics/{topic}/judgements"): Sample(),
    ("PUT", "/api/v1/projects/{project}/topics/{topic}/terms"): Sample(json={"terms": ["duck"]}),
    # What is sent to be uploaded is refused for what it is, after the visitor was let in.
    ("GET", "/projects/new"): Sample(),
    ("POST", "/projects/new"): Sample(400),
    ("GET", "/p/{project}"): Sample(),
    ("GET", "/p/{project}/guidelines"): Sample(),
    ("POST", "/p/{project}/prepare"): Sample(400, before=begun),
    ("GET", "/p/{project}/delete"): Sample(),
    ("POST", "/p/{project}/delete"): Sample(400, before=begun),  # deleted in test_project_deleting
    ("GET", "/p/{project}/runs"): Sample(),
    ("POST", "/p/{project}/runs"): Sample(422),
    ("GET", "/p/{project}/runs/{run}/file"): Sample(path={"run": a_kept_run}),
    ("GET", "/api/v1/projects/{project}/runs/{run}/file"): Sample(path={"run": a_kept_run}),
    ("POST", "/p/{project}/runs/{run}/remove"): Sample(400, before=begun),
    ("GET", "/p/{project}/settings"): Sample(),
    ("POST", "/p/{project}/settings"): Sample(303, form={"title": "Birds"}),
    ("POST", "/p/{project}/settings/scale"): Sample(400),
    ("POST", "/p/{project}/settings/guidelines"): Sample(303, form={"text": "Judge."}),
    ("POST", "/p/{project}/parts/{kind}"): Sample(422, path=DOCUMENTS, foreign=422),  # a word of ours, no object
    ("GET", "/api/v1/collections"): Sample(),
    ("GET", "/api/v1/projects"): Sample(),
    ("POST", "/api/v1/projects"): Sample(400, json={"title": ""}),
    ("GET", "/api/v1/projects/{project}"): Sample(),
    ("POST", "/api/v1/projects/{project}/prepare"): Sample(400, before=begun),
    ("DELETE", "/api/v1/projects/{project}"): Sample(400, before=begun),
    ("GET", "/api/v1/projects/{project}/runs"): Sample(),
    ("POST", "/api/v1/projects/{project}/runs"): Sample(422),
    ("DELETE", "/api/v1/projects/{project}/runs/{run}"): Sample(400, before=begun),
    ("PATCH", "/api/v1/projects/{project}"): Sample(json={"title": "Birds"}),
    ("PUT", "/api/v1/projects/{project}/parts/{kind}"): Sample(422, path=DOCUMENTS, foreign=422),
    ("GET", "/api/v1/projects/{project}/scale"): Sample(),
    ("PUT", "/api/v1/projects/{project}/scale"): Sample(json=Scale.usual().to_json()),
    ("GET", "/api/v1/projects/{project}/guidelines"): Sample(),
    ("PUT", "/api/v1/projects/{project}/guidelines"): Sample(json={"text": "Judge."}),
    ("GET", "/p/{project}/mine"): Sample(),
    ("GET", "/p/{project}/mine/{topic}"): Sample(path=IN_PAGES),
    ("POST", "/p/{project}/mine/{topic}"): Sample(303, form={"pair": 1, "act": "undo", "key": "k"}, path=IN_PAGES),
    ("GET", "/p/{project}/agreement"): Sample(),
    ("GET", "/p/{project}/adjudicate"): Sample(),
    ("GET", "/p/{project}/adjudicate/{pair}"): Sample(path=CASE),
    ("POST", "/p/{project}/adjudicate/{pair}"): Sample(303, form={"act": "grade:1", "key": "k"}, path=CASE),
    ("GET", "/p/{project}/adjudicate/{pair}/document"): Sample(path=CASE),
    ("GET", "/p/{project}/adjudicate/{pair}/document/page"): Sample(path=CASE),
    ("GET", "/p/{project}/releases"): Sample(),
    ("GET", "/p/{project}/releases/new"): Sample(),
    ("POST", "/p/{project}/releases"): Sample(422, form={"policy": "by lot"}),  # made in test_review
    ("GET", "/api/v1/projects/{project}/agreement"): Sample(),
    ("GET", "/api/v1/projects/{project}/adjudications"): Sample(),
    ("GET", "/api/v1/projects/{project}/adjudications/{pair}"): Sample(path=CASE),
    ("POST", "/api/v1/projects/{project}/adjudications"): Sample(422, json={}),
    ("GET", "/api/v1/projects/{project}/topics/{topic}/mine"): Sample(),
    ("GET", "/api/v1/projects/{project}/releases"): Sample(),
    ("POST", "/api/v1/projects/{project}/releases"): Sample(422, json={"policy": "by lot"}),
    ("GET", "/api/v1/projects/{project}/releases/preview"): Sample(),
    **{
        ("GET", f"{surface}/{{project}}/releases/{{version}}{file}"): Sample()
        for surface, files in (("/p", FILES), ("/api/v1/projects", ("", *FILES)))
        for file in files
    },
}
