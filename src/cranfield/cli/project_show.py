"""`cranfield project show`"""

from __future__ import annotations

import click

from cranfield.cli import options
from cranfield.cli.projects import FORMATS, desk_of, place


@click.command("project show")
@click.argument("name")
@place
@options.output_format(FORMATS)
def command(name: str, folder: str | None, database: str, server: str | None, output_format: str) -> None:
    """Show how the project NAME is doing, topic by topic.

    \b
    Examples:
      $ cranfield project show pond --data judging
      $ cranfield project show pond --server https://judge.example.org -f json
    """
    from cranfield.web.projects.project_tables import render_project, sentences

    project = desk_of(folder, database, server).project(name)
    for sentence in sentences(project):
        click.echo(sentence, err=True)
    click.echo(render_project(project, output_format), nl=False)
