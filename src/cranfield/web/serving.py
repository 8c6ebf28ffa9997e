"""A server from a data folder: opened, migrated, served until it is told to stop."""

from __future__ import annotations

import logging
import os
import socket
import sys
from collections.abc import Callable
from pathlib import Path

import uvicorn
from sqlalchemy import func, select
from sqlalchemy.exc import OperationalError

from cranfield.errors import UsageError
from cranfield.formats.touched import own_files
from cranfield.web.accounts.invitations import invite
from cranfield.web.app import application
from cranfield.web.settings import ServerSettings
from cranfield.web.store.engine import Store, milliseconds, open_store
from cranfield.web.store.schema import migrate
from cranfield.web.store.tables import UserRow

KEEP_ALIVE = 75  # seconds: longer than an assessor thinks, or the next judgement meets a closed connection
SWITCH = 0.001  # seconds: a request lets go at every statement, and would else wait five times as long to go on
DRAIN = 10  # seconds that open requests get when the server stops


def open_folder(settings: ServerSettings, clock: Callable[[], int] = milliseconds) -> Store:
    """The store of a data folder, in the newest form; the folder is for its owner alone."""
    make_private(settings.folder)
    store = open_store(settings.folder, settings.database, clock)
    try:
        migrate(store)
    except OperationalError as error:
        store.close()
        reason = str(error.orig).strip().partition("\n")[0]
        raise UsageError(f"the database cannot be reached: {reason}") from None
    except BaseException:
        store.close()
        raise
    return store


def make_private(folder: Path) -> None:
    """Makes the folder, or closes it to others."""
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"'{folder}' is a file: name a folder for the data of the server, which is made if need be")
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    if folder.stat().st_mode & 0o077:
        folder.chmod(0o700)


def setup_link(store: Store, settings: ServerSettings) -> str | None:
    """The link that makes the first account, once; None when there is an account."""
    with store.writing() as connection:
        if connection.execute(select(func.count()).select_from(UserRow)).scalar_one():
            return None
        word = invite(connection, store.clock(), "setup")
    return f"{settings.address}/invite/{word}"


def serve(settings: ServerSettings, told: Callable[[str], None]) -> None:
    """Serves until SIGTERM or SIGINT; requests that are under way are answered first."""
    store = open_folder(settings)
    listening = listening_socket(settings)
    link = setup_link(store, settings)
    told(f"serving {settings.folder} on {settings.address}")
    if link is not None:
        told(f"make the first account here, once: {link}")
    logging.getLogger("cranfield.web").setLevel(logging.INFO)
    sys.setswitchinterval(SWITCH)
    server = uvicorn.Server(configuration(settings, store))
    with own_files():
        server.run(sockets=[listening])


def configuration(settings: ServerSettings, store: Store) -> uvicorn.Config:
    """How uvicorn runs the application: one process, no access log (ours names no words of links)."""
    return uvicorn.Config(
        application(settings, store),
        access_log=False,
        log_level="warning",
        timeout_keep_alive=KEEP_ALIVE,
        timeout_graceful_shutdown=DRAIN,
        proxy_headers=bool(settings.proxies),
        forwarded_allow_ips=list(settings.proxies) or None,
        server_header=False,
        ssl_certfile=settings.certificate,
        ssl_keyfile=settings.certificate_key,
        limit_concurrency=1000,
    )


def listening_socket(settings: ServerSettings) -> socket.socket:
    """The socket, taken before anything is told, so that an address that is in use is an error in words."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    made = socket.socket(family, socket.SOCK_STREAM)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind((settings.host, settings.port))
    except OSError as error:
        made.close()
        where = f"{settings.host}:{settings.port}"
        raise UsageError(f"cannot listen on {where}: {os.strerror(error.errno or 0)}; choose another --port") from None
    made.listen(512)
    return made
