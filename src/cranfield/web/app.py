"""The application: all routes, what is told when something fails, and the state that handlers share."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from http import HTTPStatus
from importlib import import_module
from typing import Protocol
from urllib.parse import quote

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, RedirectResponse, Response
from sqlalchemy.exc import DataError as UntellableError
from sqlalchemy.exc import DBAPIError, IntegrityError
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.routing import BaseRoute

from cranfield.errors import CranfieldError
from cranfield.version import __version__
from cranfield.web.accounts.limits import Attempts
from cranfield.web.projects.collections import DataFiles
from cranfield.web.queue.feeding import Feeder
from cranfield.web.queue.proposing_process import ProposerProcess
from cranfield.web.review.snapshot import KeptSnapshots
from cranfield.web.routes import ApiRoute, GuardedRoute
from cranfield.web.settings import ServerSettings
from cranfield.web.shelf import Shelf
from cranfield.web.shield import Shield
from cranfield.web.store.engine import Store
from cranfield.web.templating import page
from cranfield.web.uploads.leftovers import remove_leftovers
from cranfield.web.uploads.refusal import UploadError, refused
from cranfield.web.working import worker

log = logging.getLogger("cranfield.web")
# Modules with a router each; the pages and the API that they serve are theirs alone to say.
PARTS = (
    "pages.health",
    "pages.static_files",
    "pages.accounts",
    "pages.home",
    "pages.projects",
    "pages.project_settings",
    "pages.judging",
    "pages.people",
    "pages.members",
    "pages.history",
    "pages.agreement",
    "pages.adjudication",
    "pages.releases",
    "api.accounts",
    "api.projects",
    "api.project_settings",
    "api.judging",
    "api.people",
    "api.members",
    "api.review",
    "api.releases",
    "api.description",
)


class Service(Protocol):
    """What runs beside the requests, from the start of the server to its end."""

    def start(self) -> None: ...

    def stop(self) -> None: ...


def application(settings: ServerSettings, store: Store) -> FastAPI:
    """The application of a server."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        remove_leftovers(DataFiles(settings.folder).incoming())
        services: list[Service] = app.state.services
        for service in services:
            service.start()
        yield
        for service in reversed(services):
            await run_in_threadpool(service.stop)
        app.state.shelf.close()
        store.close()

    app = FastAPI(
        title="cranfield",
        version=__version__,
        description="Judging for test collections. Every page has its twin here; tokens are made on the page /account.",
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        lifespan=lifespan,
    )
    app.state.settings, app.state.store, app.state.shelf = settings, store, Shelf(settings.folder)
    app.state.kept = KeptSnapshots()
    app.state.feeder = Feeder(store, ProposerProcess(settings.folder))
    app.state.worker = worker(settings, store, app.state.feeder.make_ready)
    app.state.services = [app.state.worker, app.state.feeder]
    app.state.attempts = Attempts()
    for part in PARTS:
        app.router.routes.extend(import_module(f"cranfield.web.{part}").router.routes)
    check_guarded(list(app.routes))
    app.add_exception_handler(HTTPException, _refused)
    app.add_exception_handler(RequestValidationError, _misunderstood)
    app.add_exception_handler(CranfieldError, _faulty)
    app.add_exception_handler(DBAPIError, _unavailable)
    app.add_exception_handler(UntellableError, _untellable)
    app.add_exception_handler(UnicodeEncodeError, _untellable)
    app.add_exception_handler(OverflowError, _untellable)
    app.add_exception_handler(IntegrityError, _at_once)
    app.add_middleware(Shield, settings=settings, failed=_failed)
    return app


def check_guarded(routes: list[BaseRoute]) -> None:
    """Every route says what it needs, or the server does not start. Cookies count nowhere below /api, since forms of
    other sites are not refused there, and tokens nowhere else."""
    for route in routes:
        if not isinstance(route, GuardedRoute):
            raise RuntimeError(f"the route {getattr(route, 'path', route)} declares no permission")
        if route.path.startswith("/api/") != isinstance(route, ApiRoute):
            raise RuntimeError(f"the route {route.path} is of the wrong kind: api_router() is for /api, and it alone")


def told(request: Request, status: int, message: str) -> Response:
    """What went wrong, as a page or as JSON."""
    if request.url.path.startswith("/api/") or "application/json" in request.headers.get("accept", ""):
        return JSONResponse({"error": message}, status)
    heading = HEADINGS.get(status, "That did not work" if status < 500 else "The server could not do that")
    return page(request, "error.html", status=status, code=status, heading=heading, message=message)


HEADINGS = {404: "Nothing here", 429: "Too often"}
WORDS = {404: "there is nothing here, or nothing that you may see", 405: "this address does not take that"}


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    wants_page = request.method == "GET" and "text/html" in request.headers.get("accept", "")
    if error.status_code == 401 and wants_page and not request.url.path.startswith("/api/"):
        asked = request.url.path + (f"?{request.url.query}" if request.url.query else "")
        return RedirectResponse(f"/login?next={quote(asked)}", 303)
    said_more = str(error.detail) != HTTPStatus(error.status_code).phrase
    usual = None if said_more else WORDS.get(error.status_code)
    response = told(request, error.status_code, usual or str(error.detail))
    for name, value in (error.headers or {}).items():
        response.headers[name] = value
    return response


async def _misunderstood(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    faults = "; ".join(f"{'.'.join(map(str, fault['loc'][1:]))}: {fault['msg']}" for fault in error.errors()[:10])
    return told(request, 422, faults or "the request was not understood")


async def _faulty(request: Request, error: Exception) -> Response:
    assert isinstance(error, CranfieldError)
    return refused(error, told(request, error.status if isinstance(error, UploadError) else 400, str(error)))


DISK_FULL = "53100"  # as PostgreSQL calls it
FULL = "the disk of the server is full: this was not stored, and what was stored before is safe; try again later"


async def _unavailable(request: Request, error: Exception) -> Response:
    log.error("the database failed: %s", type(error).__name__, exc_info=error)
    assert isinstance(error, DBAPIError)
    full = "disk is full" in str(error.orig) or getattr(error.orig, "sqlstate", None) == DISK_FULL
    words = FULL if full else "the database does not answer; nothing was lost: try again in a moment"
    response = told(request, 503, words)
    response.headers["retry-after"] = "2"
    return response


async def _untellable(request: Request, _: Exception) -> Response:
    """A NUL in a text, half of a character or a number of thirty digits, which no database keeps."""
    return told(request, 400, "the request has characters or numbers that cannot be stored")


async def _at_once(request: Request, error: Exception) -> Response:
    log.warning("two did the same at once: %s", type(error).__name__, exc_info=error)
    return told(request, 409, "somebody else did that at the same moment: look again, and try again")


def _failed(request: Request, error: Exception) -> Response:
    log.error("a request failed", exc_info=error)
    return told(request, 500, "something went wrong on the server; it is in its log")
