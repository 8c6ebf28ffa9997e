"""What the commands of projects share: where to ask."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from cranfield.libraries import library

if TYPE_CHECKING:
    from cranfield.web.projects.desk import Desk

Command = Callable[..., Any]
FORMATS = ("table", "json", "markdown", "latex", "html", "csv", "tsv")


def place(command: Command) -> Command:
    """--data, --db and --server."""
    for option in (
        click.option("--server", metavar="URL", help="A server that runs; the token is in CRANFIELD_TOKEN."),
        click.option(
            "--db", "database", metavar="ADDRESS", default="", help="With --data: its PostgreSQL, if it has one."
        ),
        click.option("--data", "folder", metavar="FOLDER", help="The data of a server that does not run now."),
    ):
        command = option(command)
    return command


def desk_of(folder: str | None, database: str, server: str | None) -> Desk:
    """Where to ask; what it needs must be installed."""
    library("fastapi", "cranfield project")
    library("sqlalchemy", "cranfield project")
    from cranfield.web.projects.desk import desk

    return desk(folder, database, server)
