"""All accounts, for admins of the server."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

from fastapi import Path, Request
from fastapi.responses import Response

from cranfield.errors import DataError
from cranfield.web.accounts.administration import disable, enable, known_people, make_admin, reset_word, unmake_admin
from cranfield.web.accounts.invitations import GOOD_FOR
from cranfield.web.accounts.roles import Permission
from cranfield.web.routes import Visiting, needs, page_router
from cranfield.web.store.engine import Store
from cranfield.web.templating import page

router = page_router()
Number = Annotated[int, Path(ge=1, lt=2**63)]


@router.get("/people")
@needs(Permission.ADMIN)
def people_page(request: Request, visit: Visiting) -> Response:
    """All accounts."""
    return shown_people(request, visit)


@router.post("/people/{user}/disable")
@needs(Permission.ADMIN)
def disable_account(request: Request, visit: Visiting, user: Number) -> Response:
    """Lets a person in no more."""
    return changed(request, visit, user, disable)


@router.post("/people/{user}/enable")
@needs(Permission.ADMIN)
def enable_account(request: Request, visit: Visiting, user: Number) -> Response:
    """Lets a person in again."""
    return changed(request, visit, user, enable)


@router.post("/people/{user}/admin")
@needs(Permission.ADMIN)
def make_one_admin(request: Request, visit: Visiting, user: Number) -> Response:
    """Makes somebody an admin."""
    return changed(request, visit, user, make_admin)


@router.post("/people/{user}/no-admin")
@needs(Permission.ADMIN)
def unmake_one_admin(request: Request, visit: Visiting, user: Number) -> Response:
    """Takes that away again."""
    return changed(request, visit, user, unmake_admin)


@router.post("/people/{user}/reset")
@needs(Permission.ADMIN)
def reset_link(request: Request, visit: Visiting, user: Number) -> Response:
    """Makes a link for a new password, shown this once."""
    try:
        word = reset_word(visit.store, visit.person.id, user)
    except DataError as error:
        return shown_people(request, visit, fault=str(error))
    return shown_people(request, visit, link=f"{request.app.state.settings.address}/invite/{word}", of=user)


def changed(request: Request, visit: Visiting, user: int, act: Callable[[Store, int, int], str]) -> Response:
    """Does it, and says so on the page."""
    try:
        told = act(visit.store, visit.person.id, user)
    except DataError as error:
        return shown_people(request, visit, fault=str(error))
    return shown_people(request, visit, told=told)


def shown_people(
    request: Request,
    visit: Visiting,
    *,
    link: str | None = None,
    of: int | None = None,
    told: str | None = None,
    fault: str | None = None,
) -> Response:
    with visit.store.reading() as connection:
        people = known_people(connection)
    return page(
        request,
        "people.html",
        status=200 if fault is None else 400,
        people=people,
        days=GOOD_FOR["reset"],
        link=link,
        whose=next((person.name for person in people if person.id == of), None),
        told=told,
        fault=fault,
    )
