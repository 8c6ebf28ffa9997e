"""What stands before every route: which hosts are answered, requests that another site sent, headers of every answer,
and the log, which names routes and never what stands in an address."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from cranfield.web.settings import ServerSettings

Failed = Callable[[Request, Exception], Response]
log = logging.getLogger("cranfield.web")
SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "connect-src 'self'",
        "frame-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "cache-control": "no-store",
}


class Shield:
    """Pure ASGI: each request pays microseconds for it."""

    def __init__(self, app: ASGIApp, settings: ServerSettings, failed: Failed) -> None:
        self.app, self.settings, self.failed = app, settings, failed
        self._hosts = {host.casefold() for host in settings.allowed_hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        began = time.perf_counter()
        status: int | None = None

        async def send_shielded(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
                if self.settings.secure:
                    headers.setdefault("strict-transport-security", "max-age=31536000")
            await send(message)

        refusal = self._refusal(scope)
        try:
            await (refusal or self.app)(scope, receive, send_shielded)
        except Exception as error:
            # Answered here and not further out, where the headers would be missing.
            response = self.failed(Request(scope), error)
            if status is not None:  # half of an answer is sent already: the connection breaks off
                raise
            await response(scope, receive, send_shielded)
        finally:
            route = getattr(scope.get("route"), "path", "no route")
            took = 1000 * (time.perf_counter() - began)
            log.info("%s %s %s %.1f ms", scope["method"], route, status or "broke off", took)

    def _refusal(self, scope: Scope) -> PlainTextResponse | None:
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if _name(host) not in self._hosts:
            return PlainTextResponse("this server is not known by that name\n", 400)
        if scope["method"] in SAFE or scope["path"].startswith("/api/"):  # the API takes no cookies
            return None
        if not _same_site(headers, host):
            return PlainTextResponse("this form was not sent from a page of this server\n", 403)
        return None


def _name(host: str) -> str:
    """A host without its port.

    >>> _name("localhost:8000"), _name("[::1]:80"), _name("[::1]")
    ('localhost', '[::1]', '[::1]')
    """
    name, _, port = host.rpartition(":")
    return (name if name and port.isdigit() else host).casefold()


def _same_site(headers: Headers, host: str) -> bool:
    """Whether a browser says that our own page sent the request. One that says nothing is not believed."""
    site = headers.get("sec-fetch-site")
    if site is not None:
        return site in ("same-origin", "none")
    origin = headers.get("origin")
    return origin is not None and urlsplit(origin).netloc.casefold() == host.casefold()
