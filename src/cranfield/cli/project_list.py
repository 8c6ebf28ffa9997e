"""`cranfield project list`"""

from __future__ import annotations

import click

from cranfield.cli import options
from cranfield.cli.projects import FORMATS, desk_of, place


@click.command("project list")
@place
@options.output_format(FORMATS)
def command(folder: str | None, database: str, server: str | None, output_format: str) -> None:
    """List the projects of a data folder, or those of a server that the token's owner is in.

    \b
    Examples:
      $ cranfield project list --data judging
      $ cranfield project list --server https://judge.example.org -f json
    """
    from cranfield.web.projects.project_tables import render_projects

    click.echo(render_projects(desk_of(folder, database, server).projects(), output_format), nl=False)
