"""Is it alive, and can it work?"""

from __future__ import annotations

from fastapi import Request
from fastapi.responses import PlainTextResponse
from sqlalchemy import text

from cranfield.web.accounts.roles import Permission
from cranfield.web.routes import Visiting, needs, page_router
from cranfield.web.store.schema import form_of, newest

router = page_router()


@router.get("/healthz")
@needs(Permission.ANYONE)
def alive() -> PlainTextResponse:
    """The process answers."""
    return PlainTextResponse("alive\n")


@router.get("/readyz")
@needs(Permission.ANYONE)
def ready(request: Request, visit: Visiting) -> PlainTextResponse:
    """The database answers and has the right form."""
    with visit.store.reading() as connection:
        connection.execute(text("SELECT 1"))
        fits = form_of(connection) == newest()
    return PlainTextResponse("ready\n" if fits else "the database has another form\n", 200 if fits else 503)
