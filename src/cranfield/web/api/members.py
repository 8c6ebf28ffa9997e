"""The people of a project, for programs."""

from __future__ import annotations

from datetime import datetime

from fastapi import Request
from pydantic import BaseModel, ConfigDict, Field

from cranfield.web.accounts.invitations import GOOD_FOR
from cranfield.web.accounts.roles import Permission
from cranfield.web.accounts.sessions import DAY
from cranfield.web.api.people import Done
from cranfield.web.projects.members import change_role, end_link, members, new_link, open_links, remove
from cranfield.web.routes import Visiting, api_router, needs

router = api_router()


class MemberShown(BaseModel):
    """A member; `role` is null of somebody who was removed."""

    model_config = ConfigDict(from_attributes=True)
    pseudonym: str
    name: str
    role: str | None
    joined_at: datetime
    removed_at: datetime | None
    disabled: bool


class RoleWanted(BaseModel):
    """The role that a member gets."""

    model_config = ConfigDict(extra="forbid")
    role: str


class InvitationShown(BaseModel):
    """A link that is open; `name` ends it."""

    model_config = ConfigDict(from_attributes=True)
    name: str
    role: str
    uses_left: int
    made_by: str | None
    created_at: datetime
    until: datetime


class InvitationWanted(BaseModel):
    """Who a link is for."""

    model_config = ConfigDict(extra="forbid")
    role: str
    uses: int = Field(default=1, ge=1, le=1000)


class InvitationMade(BaseModel):
    """A link, whole for the only time."""

    link: str
    role: str
    uses: int
    until: datetime


@router.get("/projects/{project}/members")
@needs(Permission.OWN)
def list_members(visit: Visiting) -> list[MemberShown]:
    """The members of the project, also those who were removed."""
    with visit.store.reading() as connection:
        return [MemberShown.model_validate(member) for member in members(connection, visit.here.id)]


@router.patch("/projects/{project}/members/{member}")
@needs(Permission.OWN)
def give_role(visit: Visiting, member: str, wanted: RoleWanted) -> Done:
    """Gives a member, named by pseudonym, another role."""
    return Done(told=change_role(visit.store, visit.person.id, visit.here.id, member, wanted.role))


@router.delete("/projects/{project}/members/{member}")
@needs(Permission.OWN)
def remove_member(visit: Visiting, member: str) -> Done:
    """Removes a member, named by pseudonym; their judgements stay."""
    return Done(told=remove(visit.store, visit.person.id, visit.here.id, member))


@router.get("/projects/{project}/invitations")
@needs(Permission.OWN)
def list_invitations(visit: Visiting) -> list[InvitationShown]:
    """The links that are open."""
    with visit.store.reading() as connection:
        links = open_links(connection, visit.store.clock(), visit.here.id)
    return [InvitationShown.model_validate(link) for link in links]


@router.post("/projects/{project}/invitations", status_code=201)
@needs(Permission.OWN)
def make_invitation(request: Request, visit: Visiting, wanted: InvitationWanted) -> InvitationMade:
    """Makes a link, shown this once."""
    until = visit.store.clock() + GOOD_FOR["project"] * DAY
    word = new_link(visit.store, visit.person.id, visit.here.id, wanted.role, wanted.uses)
    link = f"{request.app.state.settings.address}/invite/{word}"
    return InvitationMade.model_validate({"link": link, "role": wanted.role, "uses": wanted.uses, "until": until})


@router.delete("/projects/{project}/invitations/{link}")
@needs(Permission.OWN)
def end_invitation(visit: Visiting, link: str) -> Done:
    """Ends a link, by its name; those whom it let in stay."""
    end_link(visit.store, visit.person.id, visit.here.id, link)
    return Done(told="the link has ended")
