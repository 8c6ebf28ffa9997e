"""The people of a project: roles, and links that let others in."""

from __future__ import annotations

from typing import Annotated

from fastapi import Form, Request
from fastapi.responses import RedirectResponse, Response

from cranfield.errors import DataError
from cranfield.web.accounts.invitations import GOOD_FOR
from cranfield.web.accounts.roles import ROLES, Permission
from cranfield.web.projects.members import change_role, end_link, members, new_link, open_links, remove
from cranfield.web.routes import Visiting, needs, page_router
from cranfield.web.templating import page

router = page_router()
Text = Annotated[str, Form(max_length=1000)]


@router.get("/p/{project}/members")
@needs(Permission.OWN)
def members_page(request: Request, visit: Visiting) -> Response:
    """Who is in the project, and which links are open."""
    return shown_members(request, visit)


@router.post("/p/{project}/members/links")
@needs(Permission.OWN)
def make_link(request: Request, visit: Visiting, role: Text, uses: Annotated[int, Form()] = 1) -> Response:
    """Makes a link, shown this once."""
    try:
        word = new_link(visit.store, visit.person.id, visit.here.id, role, uses)
    except DataError as error:
        return shown_members(request, visit, fault=str(error))
    return shown_members(request, visit, link=f"{request.app.state.settings.address}/invite/{word}")


@router.post("/p/{project}/members/links/{link}/end")
@needs(Permission.OWN)
def end_open_link(visit: Visiting, link: str) -> Response:
    """Ends a link."""
    end_link(visit.store, visit.person.id, visit.here.id, link)
    return RedirectResponse(f"/p/{visit.here.slug}/members", 303)


@router.post("/p/{project}/members/{member}/role")
@needs(Permission.OWN)
def give_role(request: Request, visit: Visiting, member: str, role: Text) -> Response:
    """Gives a member another role."""
    try:
        told = change_role(visit.store, visit.person.id, visit.here.id, member, role)
    except DataError as error:
        return shown_members(request, visit, fault=str(error))
    return after_change(request, visit, member, told)


@router.post("/p/{project}/members/{member}/remove")
@needs(Permission.OWN)
def remove_member(request: Request, visit: Visiting, member: str) -> Response:
    """Removes a member."""
    try:
        told = remove(visit.store, visit.person.id, visit.here.id, member)
    except DataError as error:
        return shown_members(request, visit, fault=str(error))
    return after_change(request, visit, member, told)


def after_change(request: Request, visit: Visiting, member: str, told: str) -> Response:
    """The page again; whoever changed their own role may not see it any more."""
    return RedirectResponse("/", 303) if member == visit.pseudonym else shown_members(request, visit, told=told)


def shown_members(
    request: Request, visit: Visiting, *, link: str | None = None, told: str | None = None, fault: str | None = None
) -> Response:
    with visit.store.reading() as connection:
        people = members(connection, visit.here.id)
        links = open_links(connection, visit.store.clock(), visit.here.id)
    return page(
        request,
        "members.html",
        status=200 if fault is None else 400,
        people=[person for person in people if person.role is not None],
        removed=[person for person in people if person.role is None],
        links=links,
        roles=ROLES,
        days=GOOD_FOR["project"],
        link=link,
        told=told,
        fault=fault,
    )
