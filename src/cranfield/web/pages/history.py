"""What somebody judged, with everything that can be changed about it."""

from __future__ import annotations

from typing import Annotated
from uuid import uuid4

from fastapi import Form, Request
from fastapi.responses import RedirectResponse, Response
from pydantic import Field
from starlette.exceptions import HTTPException

from cranfield.web.accounts.roles import Permission
from cranfield.web.judging.progress import topics_of
from cranfield.web.judging.recording import NewJudgement
from cranfield.web.judging.sitting import judged, scale_of, topic_named
from cranfield.web.judging.topic_addresses import in_address
from cranfield.web.review.history import own_opinions
from cranfield.web.routes import Visiting, needs, page_router
from cranfield.web.templating import page

router = page_router()
FAULTS = {"not-stored": "That was not stored: it was changed meanwhile, perhaps in another window."}


@router.get("/p/{project}/mine")
@needs(Permission.JUDGE)
def my_topics(request: Request, visit: Visiting) -> Response:
    """The topics of which the visitor judged something."""
    with visit.store.reading() as connection:
        scale = scale_of(connection, visit.here.id)
        topics = topics_of(connection, visit.here.id, visit.person.id, scale.threshold)
    return page(request, "mine.html", topics=[topic for topic in topics if topic.mine])


@router.get("/p/{project}/mine/{topic}")
@needs(Permission.JUDGE)
def my_opinions(
    request: Request, visit: Visiting, topic: str, fault: Annotated[str, Field(max_length=50)] = ""
) -> Response:
    """The visitor's judgements of a topic."""
    with visit.store.reading() as connection:
        here = topic_named(connection, visit, topic)
        scale = scale_of(connection, visit.here.id)
        opinions = own_opinions(connection, visit.here.id, visit.person.id, here.id)
    labels = {grade.value: grade.label for grade in scale.grades}
    return page(
        request,
        "mine_topic.html",
        topic=here,
        scale=scale,
        labels=labels,
        opinions=[(opinion, uuid4().hex) for opinion in opinions],
        fault=FAULTS.get(fault, ""),
        base=f"/p/{visit.here.slug}/mine/{in_address(here.name)}",
    )


@router.post("/p/{project}/mine/{topic}")
@needs(Permission.JUDGE)
def change_opinion(
    request: Request,
    visit: Visiting,
    topic: str,
    pair: Annotated[int, Form()],
    act: Annotated[str, Form(max_length=50)],
    key: Annotated[str, Form(max_length=100)],
    undoes: Annotated[str, Form(max_length=100)] = "",
    note: Annotated[str, Form(max_length=5000)] = "",
) -> Response:
    """Grades a document anew, or takes the last judgement of it back."""
    with visit.store.reading() as connection:
        here = topic_named(connection, visit, topic)
        known = own_opinions(connection, visit.here.id, visit.person.id, here.id)
    base = f"/p/{visit.here.slug}/mine/{in_address(here.name)}"
    if act == "undo":
        said = NewJudgement(pair=pair, kind="undo", undoes=undoes, key=key)
    elif act.startswith("grade:") and act.removeprefix("grade:").removeprefix("-").isdecimal():
        said = NewJudgement(
            pair=pair, kind="grade", grade=int(act.removeprefix("grade:")), note=note, key=key, anew=True
        )
    else:
        raise HTTPException(400, "a form says grade:N or undo")
    if pair not in {opinion.pair for opinion in known}:
        return RedirectResponse(f"{base}?fault=not-stored", 303)
    answer = judged(visit, [said])
    request.app.state.feeder.wake(answer.topics)
    return RedirectResponse(f"{base}?fault=not-stored" if answer.refused else base, 303)
