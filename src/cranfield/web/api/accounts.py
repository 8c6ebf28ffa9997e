"""Who a token stands for, and what else lets in under their name. A token cannot make another: that takes a person."""

from __future__ import annotations

from pydantic import BaseModel
from starlette.exceptions import HTTPException

from cranfield.web.accounts.roles import Permission
from cranfield.web.accounts.sessions import end_named, open_sessions
from cranfield.web.accounts.tokens import end_token, tokens_of
from cranfield.web.routes import Visiting, api_router, needs
from cranfield.web.store.audit import note

router = api_router()


class Me(BaseModel):
    """The owner of the token."""

    name: str
    admin: bool


class SessionAnswer(BaseModel):
    """A browser in which the owner of the token is signed in. Times are milliseconds of UTC."""

    name: str
    browser: str
    created_at: int
    used_at: int


class TokenAnswer(BaseModel):
    """A token that works, without its secret. Times are milliseconds of UTC."""

    public: str
    name: str
    scopes: list[str]
    created_at: int
    until: int
    used_at: int | None


@router.get("/me")
@needs(Permission.SIGNED_IN)
def me(visit: Visiting) -> Me:
    """Who the token stands for."""
    return Me(name=visit.person.name, admin=visit.person.admin)


@router.get("/me/sessions")
@needs(Permission.SIGNED_IN)
def my_sessions(visit: Visiting) -> list[SessionAnswer]:
    """Where the owner of the token is signed in, the last used first."""
    with visit.store.reading() as connection:
        found = open_sessions(connection, visit.store.clock(), visit.person.id, "")
    return [SessionAnswer.model_validate(vars(each)) for each in found]


@router.delete("/me/sessions/{name}", status_code=204)
@needs(Permission.SIGNED_IN)
def end_my_session(visit: Visiting, name: str) -> None:
    """Ends a session of the token's owner."""
    with visit.store.writing() as connection:
        if not end_named(connection, visit.person.id, name):
            raise HTTPException(404)


@router.get("/me/tokens")
@needs(Permission.SIGNED_IN)
def my_tokens(visit: Visiting) -> list[TokenAnswer]:
    """The tokens that work for the owner of this one, the newest first."""
    with visit.store.reading() as connection:
        found = tokens_of(connection, visit.store.clock(), visit.person.id)
    return [TokenAnswer.model_validate(vars(each)) for each in found]


@router.delete("/me/tokens/{public}", status_code=204)
@needs(Permission.SIGNED_IN)
def end_my_token(visit: Visiting, public: str) -> None:
    """Ends a token of this one's owner, itself among them."""
    now = visit.store.clock()
    with visit.store.writing() as connection:
        if not end_token(connection, now, visit.person.id, public):
            raise HTTPException(404)
        note(connection, now, "token ended", user=visit.person.id)
