"""`cranfield serve`"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cranfield.cli.given import given, refuse
from cranfield.cli.stopping import Stopped
from cranfield.errors import DataError, UsageError
from cranfield.libraries import library

if TYPE_CHECKING:
    from cranfield.web.settings import ServerSettings

DEMO = "demo"
ACTS = ("check", "backup", "restore", "reset_link")
NAMES = ("database", "host", "port", "names", "proxies", "certificate", "certificate_key", "collections")


LISTENING = (
    click.option("--db", "database", metavar="ADDRESS", default="", help="PostgreSQL: postgresql://user@host/name."),
    click.option("--host", default="127.0.0.1", show_default=True, metavar="ADDRESS", help="Where to listen."),
    click.option("--port", type=click.IntRange(1, 65535), default=8000, show_default=True, help="On which port."),
    click.option("--name", "names", multiple=True, metavar="HOST", help="A name by which browsers reach the server."),
    click.option("--proxy", "proxies", multiple=True, metavar="ADDRESS", help="A proxy that speaks https before it."),
    click.option("--certificate", type=click.Path(exists=True, dir_okay=False), help="The certificate for https."),
    click.option("--certificate-key", type=click.Path(exists=True, dir_okay=False), help="The key of the certificate."),
    click.option(
        "--collections",
        multiple=True,
        type=click.Path(exists=True),
        metavar="PATH",
        help="A collection that projects may be made from over the network.",
    ),
)


def listening(command: Callable[..., None]) -> Callable[..., None]:
    """Options that say where the data are and who may reach them; the command gets them as `how`, by name."""

    @wraps(command)
    def gathered(**given: Any) -> None:
        how = {name: given.pop(name) for name in NAMES}
        command(**given, how=how)

    function: Callable[..., None] = gathered
    for option in reversed(LISTENING):
        function = option(function)
    return function


@click.command("serve")
@click.argument("folder", metavar="FOLDER|demo")
@listening
@click.option("--check", is_flag=True, help="Look at the database and at every stored file (see above), and stop.")
@click.option("--backup", metavar="NEW-FOLDER", help="Copy the database and all files into a new folder, and stop.")
@click.option("--restore", metavar="BACKUP", help="Bring a backup into this folder, which is new or empty, and stop.")
@click.option(
    "--reset-link",
    metavar="NAME",
    help="Print a link that sets a password of an account anew, and stop; --host, --port, --name as it is served.",
)
def command(
    folder: str, how: dict[str, Any], check: bool, backup: str | None, restore: str | None, reset_link: str | None
) -> None:
    """Serve projects in which people judge documents, in a browser.

    FOLDER has all data of the server: the database (SQLite, unless --db names one of PostgreSQL), documents, uploads,
    runs and releases. It is made when it is not there. `demo` makes a folder with a project to try. The first start
    prints a link that makes the account of the admin, once. Others come by invitation.

    The server listens on this machine alone unless --host says otherwise, and then only with https. It runs until it
    is stopped (Ctrl-C, SIGTERM); what is under way is finished. One process serves a folder with SQLite.

    A backup is a folder that can be served as it is; restored with --db it moves to PostgreSQL. A folder with SQLite is
    backed up while its server is stopped; with PostgreSQL it may run. --check looks at the form and integrity of the
    database, at the log of who did what, at every judgement against its events, and at every file that the database
    refers to: each is there, with its digest. The exit code is 3 when something is wrong.

    \b
    Examples:
      $ cranfield serve demo
      $ cranfield serve judging --db postgresql://judge@localhost/judging
      $ cranfield serve judging --backup judging-monday
      $ cranfield serve moved --restore judging-monday
      $ cranfield serve judging --check
    """
    acts = [option for name, option in given().items() if name in ACTS]
    if len(acts) > 1:
        raise UsageError(f"one thing at a time: {acts[0]} or {acts[1]}")
    if acts:
        refuse("collections", why=f"is for serving, not for {acts[0]}")
    settings = _settings("cranfield-demo-server" if folder == DEMO else folder, **how)
    if check:
        _check(settings)
    elif backup is not None:
        _backup(settings, Path(backup))
    elif restore is not None:
        _restore(settings, Path(restore))
    elif reset_link is not None:
        _reset_link(settings, reset_link)
    else:
        _serve(settings, demo=folder == DEMO)


def _settings(
    folder: str,
    *,
    database: str,
    host: str,
    port: int,
    names: tuple[str, ...],
    proxies: tuple[str, ...],
    certificate: str | None,
    certificate_key: str | None,
    collections: tuple[str, ...],
) -> ServerSettings:
    library("fastapi", "cranfield serve")
    library("sqlalchemy", "cranfield serve")
    if database:
        library("psycopg", "--db")
    from cranfield.web.settings import ServerSettings

    return ServerSettings(
        folder=Path(folder),
        database=database,
        host=host,
        port=port,
        hosts=names,
        proxies=proxies,
        certificate=None if certificate is None else Path(certificate),
        certificate_key=None if certificate_key is None else Path(certificate_key),
        collections=tuple(map(Path, collections)),
    ).checked()


def _serve(settings: ServerSettings, *, demo: bool) -> None:
    from cranfield.web.serving import serve

    if demo and not settings.folder.exists():
        from cranfield.web.demonstration import make_demonstration

        make_demonstration(settings, lambda text: click.echo(text, err=True))
    with suppress(Stopped):  # uvicorn raises the signal again once all requests are answered: that is how it ends
        serve(settings, click.echo)


def _there(settings: ServerSettings) -> None:
    if not settings.database and not (settings.folder / "cranfield.db").exists():
        raise UsageError(f"'{settings.folder}' has no database: cranfield serve {settings.folder} makes one")


def _check(settings: ServerSettings) -> None:
    from cranfield.web.examining import examined

    _there(settings)
    wrong = 0
    for finding in examined(settings):
        wrong += finding.wrong is not None
        click.echo(
            f"{'WRONG' if finding.wrong else 'ok   '} {finding.what}" + (f": {finding.wrong}" if finding.wrong else "")
        )
    if wrong:
        raise DataError(f"{wrong} of the above {_not_right(wrong)}: restore a backup, or ask for help")


def _not_right(count: int) -> str:
    return "is not as it should be" if count == 1 else "are not as they should be"


def _check_files(settings: ServerSettings, done: str) -> None:
    """Looks at the files of a folder that was just written, so that nothing is taken for whole that is not."""
    from cranfield.web.examining import examined_files

    wrong = [finding for finding in examined_files(settings) if finding.wrong]
    for finding in wrong:
        click.echo(f"WRONG {finding.what}: {finding.wrong}")
    if wrong:
        raise DataError(f"{done}, but {len(wrong)} of its files {_not_right(len(wrong))}")


def _backup(settings: ServerSettings, target: Path) -> None:
    from cranfield.web.serving import open_folder
    from cranfield.web.upkeep import backup

    _there(settings)
    store = open_folder(settings)
    try:
        backup(store, settings.folder, target)
    finally:
        store.close()
    done = f"backup of {settings.folder} in {target}"
    click.echo(done)
    _check_files(replace(settings, folder=target, database=""), done)


def _restore(settings: ServerSettings, source: Path) -> None:
    from cranfield.web.upkeep import restore

    restore(settings, source)
    done = f"restored {source} into {settings.folder}"
    click.echo(done)
    _check_files(settings, done)


def _reset_link(settings: ServerSettings, name: str) -> None:
    from cranfield.web.accounts.invitations import invite, person
    from cranfield.web.serving import open_folder

    _there(settings)
    store = open_folder(settings)
    try:
        with store.writing() as connection:
            account = person(connection, name)
            if account is None:
                raise UsageError(f"there is no account '{name}'")
            word = invite(connection, store.clock(), "reset", user=account.id)
    finally:
        store.close()
    if not {"port", "host", "names"} & set(given()):
        click.echo(f"the link is for a server on {settings.address}: else say --host, --port or --name", err=True)
    click.echo(f"{settings.address}/invite/{word}")
