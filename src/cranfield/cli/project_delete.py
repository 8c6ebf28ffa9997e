"""`cranfield project delete`"""

from __future__ import annotations

import click

from cranfield.cli.projects import desk_of, place


@click.command("project delete")
@click.argument("name")
@place
def command(name: str, folder: str | None, database: str, server: str | None) -> None:
    """Delete the project NAME, in which nobody has judged.

    Its topics, queue, options, guidelines, members and links go, and its name is free; files that were uploaded stay in
    the folder of the server. Judgements are never deleted: a project that has some stays. On a server, only an owner
    of the project may.

    \b
    Examples:
      $ cranfield project delete pond --server https://judge.example.org
    """
    desk_of(folder, database, server).delete(name)
    click.echo(f"deleted {name}", err=True)
