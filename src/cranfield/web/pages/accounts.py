"""Signing in and out, links that let somebody in, one's own sessions and tokens."""

from __future__ import annotations

import math
from typing import Annotated

from fastapi import Form, Request
from fastapi.responses import RedirectResponse, Response
from starlette.exceptions import HTTPException

from cranfield.errors import DataError
from cranfield.web.accounts.invitations import accept, invited
from cranfield.web.accounts.limits import Attempts
from cranfield.web.accounts.people import UserAccount, checked_name, folded, new_password, set_password, signed_in
from cranfield.web.accounts.roles import Permission
from cranfield.web.accounts.sessions import LONGEST, begin_session, end_named, end_session, open_sessions
from cranfield.web.accounts.tokens import SCOPES, USUAL_DAYS, end_token, new_token, tokens_of
from cranfield.web.admission import cookie_name
from cranfield.web.routes import Visiting, needs, page_router
from cranfield.web.store.audit import note
from cranfield.web.templating import page

router = page_router()
# The same for a link that was never there: nobody learns which were, nor whose.
NO_LINK = "this link is used up, too old or not whole: ask whoever sent it for a new one"
Text = Annotated[str, Form(max_length=1000)]


@router.get("/login")
@needs(Permission.ANYONE)
def login_page(request: Request, next: str = "/") -> Response:
    """The form to sign in."""
    return page(request, "login.html", next=own_address(next), message=None)


@router.post("/login")
@needs(Permission.ANYONE)
def login(request: Request, visit: Visiting, name: Text, password: Text, next: Text = "/") -> Response:
    """Signs in: a new session, whatever there was before."""
    account = tried(request, visit, name, password)
    if account is None:
        message = "there is no account of that name with that password"
        return page(request, "login.html", status=403, next=own_address(next), message=message)
    return with_session(request, visit, account.id, own_address(next))


def tried(request: Request, visit: Visiting, name: str, password: str) -> UserAccount | None:
    """The account of a name and a password, unless they were tried too often."""
    attempts: Attempts = request.app.state.attempts
    key, address = folded(name), request.client.host if request.client else ""
    wait = math.ceil(attempts.wait(key, address))
    if wait:
        raise HTTPException(429, f"too many attempts: try again in {wait} seconds", {"Retry-After": str(wait)})
    account = signed_in(visit.store, name, password)
    if account is not None:
        attempts.succeeded(key, address)
    return account


@router.post("/logout")
@needs(Permission.SIGNED_IN)
def logout(request: Request, visit: Visiting) -> Response:
    """Ends this session."""
    with visit.store.writing() as connection:
        end_session(connection, str(visit.session))
    response = RedirectResponse("/login", 303)
    secure = request.app.state.settings.secure  # a browser forgets a cookie only in the way it was set
    response.delete_cookie(cookie_name(secure), path="/", secure=secure, httponly=True, samesite="lax")
    return response


@router.get("/invite/{word}")
@needs(Permission.ANYONE)
def invitation_page(request: Request, visit: Visiting, word: str) -> Response:
    """What a link is for; looking at it uses nothing up."""
    with visit.store.reading() as connection:
        purpose = invited(connection, visit.store.clock(), word)
    if purpose is None:
        raise HTTPException(404, NO_LINK)
    return page(request, "invite.html", purpose=purpose, message=None, name="")


@router.post("/invite/{word}")
@needs(Permission.ANYONE)
def use_invitation(request: Request, visit: Visiting, word: str, name: Text = "", password: Text = "") -> Response:
    """Uses a link, signs the person in, and leads to the project that it is for."""
    now = visit.store.clock()
    with visit.store.reading() as connection:
        purpose = invited(connection, now, word)
    if purpose is None:
        raise HTTPException(404, NO_LINK)
    try:
        joins = visit.account is not None and purpose.kind != "reset"
        chosen = purpose.user if purpose.kind == "reset" else "" if joins else checked_name(name)
        stored = "" if joins else new_password(password, str(chosen))
        with visit.store.writing() as connection:
            account = accept(
                connection, now, word, account=visit.account if joins else None, name=str(chosen), stored=stored
            )
            note(connection, now, f"invitation {purpose.kind}", user=account.id, project=purpose.project_id)
    except DataError as error:
        return page(request, "invite.html", status=400, purpose=purpose, message=str(error), name=name)
    return with_session(request, visit, account.id, "/" if purpose.slug is None else f"/p/{purpose.slug}")


@router.get("/account")
@needs(Permission.SIGNED_IN)
def account_page(request: Request, visit: Visiting) -> Response:
    """One's own sessions and tokens."""
    return shown_account(request, visit, token=None, message=None)


@router.post("/account/password")
@needs(Permission.SIGNED_IN)
def change_password(request: Request, visit: Visiting, old: Text, new: Text) -> Response:
    """Changes one's own password; every other session ends."""
    if tried(request, visit, visit.person.name, old) is None:
        return shown_account(request, visit, token=None, message="that is not your password of now", status=403)
    try:
        stored = new_password(new, visit.person.name)
    except DataError as error:
        return shown_account(request, visit, token=None, message=str(error), status=400)
    now = visit.store.clock()
    with visit.store.writing() as connection:
        set_password(connection, visit.person.id, stored)
        note(connection, now, "password changed", user=visit.person.id)
    return with_session(request, visit, visit.person.id, "/account")


@router.post("/account/sessions/{name}/end")
@needs(Permission.SIGNED_IN)
def end_one(visit: Visiting, name: str) -> Response:
    """Ends one of one's own sessions."""
    with visit.store.writing() as connection:
        if not end_named(connection, visit.person.id, name):
            raise HTTPException(404)
    return RedirectResponse("/account", 303)


@router.post("/account/tokens")
@needs(Permission.SIGNED_IN)
def make_token(
    request: Request,
    visit: Visiting,
    name: Text = "",
    days: Annotated[int, Form()] = USUAL_DAYS,
    scopes: Annotated[list[str] | None, Form()] = None,
) -> Response:
    """Makes a token, shown this once."""
    now = visit.store.clock()
    try:
        with visit.store.writing() as connection:
            token = new_token(connection, now, visit.person.id, name, scopes or [], days)
            note(connection, now, "token made", user=visit.person.id, scopes=sorted(scopes or []), days=days)
    except DataError as error:
        return shown_account(request, visit, token=None, message=str(error), status=400)
    return shown_account(request, visit, token=token, message=None)


@router.post("/account/tokens/{public}/end")
@needs(Permission.SIGNED_IN)
def end_one_token(visit: Visiting, public: str) -> Response:
    """Ends one of one's own tokens."""
    now = visit.store.clock()
    with visit.store.writing() as connection:
        if not end_token(connection, now, visit.person.id, public):
            raise HTTPException(404)
        note(connection, now, "token ended", user=visit.person.id)
    return RedirectResponse("/account", 303)


def shown_account(
    request: Request, visit: Visiting, *, token: str | None, message: str | None, status: int = 200
) -> Response:
    now = visit.store.clock()
    with visit.store.reading() as connection:
        sessions = open_sessions(connection, now, visit.person.id, str(visit.session))
        tokens = tokens_of(connection, now, visit.person.id)
    return page(
        request,
        "account.html",
        status=status,
        sessions=sessions,
        tokens=tokens,
        token=token,
        message=message,
        scopes=SCOPES,
        usual_days=USUAL_DAYS,
    )


def with_session(request: Request, visit: Visiting, user: int, address: str) -> Response:
    """An answer that signs somebody in and sends them on. The old session, if there was one, ends."""
    now = visit.store.clock()
    with visit.store.writing() as connection:
        if visit.session is not None:
            end_session(connection, visit.session)
        word = begin_session(connection, now, user, request.headers.get("user-agent", "")[:200])
        note(connection, now, "signed in", user=user)
    secure = request.app.state.settings.secure
    response = RedirectResponse(address, 303)
    response.set_cookie(
        cookie_name(secure), word, max_age=LONGEST // 1000, path="/", secure=secure, httponly=True, samesite="lax"
    )
    return response


def own_address(text: str) -> str:
    r"""A place of this server to go on to, or its front page for anything else.

    >>> own_address("/p/ducks?topic=1"), own_address("//elsewhere.example"), own_address("/\\elsewhere.example")
    ('/p/ducks?topic=1', '/', '/')
    """
    inside = text.startswith("/") and not text.startswith("//") and "\\" not in text
    plain = all(character.isprintable() and not character.isspace() for character in text)
    return text if inside and plain else "/"
