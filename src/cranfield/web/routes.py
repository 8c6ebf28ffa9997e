"""Routes that say what they need. One that does not cannot be made, so the server does not start with it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from typing import Annotated, Any, TypeVar

from fastapi import Depends, Request, Response
from fastapi.routing import APIRoute, APIRouter
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.types import Message, Receive, Scope, Send

from cranfield.web.accounts.roles import Permission
from cranfield.web.admission import Visit, admitted

Endpoint = TypeVar("Endpoint", bound=Callable[..., Any])


def needs(permission: Permission, *, scope: str | None = None, streams: bool = False) -> Callable[[Endpoint], Endpoint]:
    """Declares what a visitor must be allowed. `scope` is what a token must be for, where that does not follow from the
    permission and the method; `streams` is for a route that counts the body itself."""

    def declare(endpoint: Endpoint) -> Endpoint:
        endpoint.needs, endpoint.scope, endpoint.streams = permission, scope, streams  # type: ignore[attr-defined]
        return endpoint

    return declare


class GuardedRoute(APIRoute):
    """A route behind its permission: the visitor is looked at before a byte of the body is read."""

    surface = "page"

    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        permission = getattr(endpoint, "needs", None)
        if not isinstance(permission, Permission):
            raise RuntimeError(f"the route {path} ({endpoint.__name__}) declares no permission: add @needs(…)")
        if permission.of_project and "{project}" not in path:
            raise RuntimeError(f"the route {path} needs a role in a project but names none")
        self.permission = permission
        self.scope: str | None = getattr(endpoint, "scope", None)
        self.streams = bool(getattr(endpoint, "streams", False))
        super().__init__(path, endpoint, **options)

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        answer = super().get_route_handler()

        async def guarded(request: Request) -> Response:
            request.state.visit = await run_in_threadpool(admitted, request, self.permission, self.surface, self.scope)
            return await answer(request)

        return guarded

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        limit = scope["app"].state.settings.form_limit
        await super().handle(scope, receive if self.streams else counted(receive, limit), send)


class ApiRoute(GuardedRoute):
    """A route of the API: tokens alone let in, cookies do not count."""

    surface = "api"


def counted(receive: Receive, limit: int) -> Callable[[], Awaitable[Message]]:
    """The body as it comes, refused as soon as it is longer than the limit, whatever its header said."""
    got = 0

    async def receive_counted() -> Message:
        nonlocal got
        message = await receive()
        got += len(message.get("body", b""))
        if got > limit:
            raise HTTPException(413, f"the request is longer than {limit:,} bytes")
        return message

    return receive_counted


def page_router() -> APIRouter:
    """A router for pages; they are not part of the API's description."""
    return APIRouter(route_class=GuardedRoute, include_in_schema=False)


def api_router() -> APIRouter:
    """A router for the API."""
    return APIRouter(route_class=ApiRoute, prefix="/api/v1")


def _visit(request: Request) -> Visit:
    visit: Visit = request.state.visit
    return visit


Visiting = Annotated[Visit, Depends(_visit)]
