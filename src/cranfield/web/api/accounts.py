"""Who a token stands for."""

from __future__ import annotations

from pydantic import BaseModel

from cranfield.web.accounts.roles import Permission
from cranfield.web.routes import Visiting, api_router, needs

router = api_router()


class Me(BaseModel):
    """The owner of the token."""

    name: str
    admin: bool


@router.get("/me")
@needs(Permission.SIGNED_IN)
def me(visit: Visiting) -> Me:
    """Who the token stands for."""
    return Me(name=visit.person.name, admin=visit.person.admin)
