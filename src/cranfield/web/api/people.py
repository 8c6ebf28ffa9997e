"""All accounts, for programs of admins."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from fastapi import Path, Request
from pydantic import BaseModel, ConfigDict

from cranfield.errors import DataError
from cranfield.web.accounts.administration import disable, enable, known_people, make_admin, reset_word, unmake_admin
from cranfield.web.accounts.roles import Permission
from cranfield.web.routes import Visiting, api_router, needs

router = api_router()
Number = Annotated[int, Path(ge=1, lt=2**63)]


class Person(BaseModel):
    """An account."""

    model_config = ConfigDict(from_attributes=True)
    id: int
    name: str
    admin: bool
    created_at: datetime
    disabled_at: datetime | None
    projects: int


class PersonWanted(BaseModel):
    """What an account is to be: one change at a time."""

    model_config = ConfigDict(extra="forbid")
    admin: bool | None = None
    disabled: bool | None = None


class Done(BaseModel):
    """What was done, in words."""

    told: str


class ResetLink(BaseModel):
    """A link for a new password, whole for the only time."""

    link: str


@router.get("/people")
@needs(Permission.ADMIN, scope="people")
def list_people(visit: Visiting) -> list[Person]:
    """All accounts."""
    with visit.store.reading() as connection:
        return [Person.model_validate(person) for person in known_people(connection)]


@router.patch("/people/{user}")
@needs(Permission.ADMIN, scope="people")
def change_person(visit: Visiting, user: Number, wanted: PersonWanted) -> Done:
    """Disables or enables an account, or makes or unmakes an admin."""
    acts = {
        ("admin", True): make_admin,
        ("admin", False): unmake_admin,
        ("disabled", True): disable,
        ("disabled", False): enable,
    }
    changes = [(name, value) for name, value in wanted if value is not None]
    if len(changes) != 1:
        raise DataError("give one of 'admin' and 'disabled', true or false")
    return Done(told=acts[changes[0]](visit.store, visit.person.id, user))


@router.post("/people/{user}/reset", status_code=201)
@needs(Permission.ADMIN, scope="people")
def make_reset_link(request: Request, visit: Visiting, user: Number) -> ResetLink:
    """Makes a link for a new password, shown this once."""
    word = reset_word(visit.store, visit.person.id, user)
    return ResetLink(link=f"{request.app.state.settings.address}/invite/{word}")
