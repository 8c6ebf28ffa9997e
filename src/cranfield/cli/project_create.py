"""`cranfield project create`"""

from __future__ import annotations

import click

from cranfield.cli import options
from cranfield.cli.projects import desk_of, place
from cranfield.errors import UsageError


@click.command("project create")
@click.argument("title")
@click.argument("runs", nargs=-1, type=click.Path())
@place
@click.option("--name", "slug", metavar="NAME", default="", help="Its name in addresses; by default from the title.")
@click.option(
    "--collection",
    metavar="PATH|NAME",
    help="With --data a folder or TOML file; with --server the name of one that the server lists.",
)
@click.option("--documents", type=click.Path(), help="A file of documents, in place of the collection's.")
@click.option("--topics", type=click.Path(), help="A file of topics, in place of the collection's.")
@options.topic_ids
@click.option("--known", "judgements", type=click.Path(), help="Judgements that exist: not asked for again.")
@click.option("--method", metavar="METHOD", help="How documents are chosen: a method of `cranfield pool`, or cal.")
@click.option("--depth", type=click.IntRange(1), help="How far down each run counts.  [default: 100]")
@click.option("--budget", type=click.IntRange(1), help="The most documents a topic.")
@click.option("--opinions", "wanted", type=click.IntRange(1), help="How many assessors judge each.  [default: 1]")
@click.option("--overlap", type=click.FloatRange(0, 1), help="Share that one more assessor judges.  [default: 0]")
@click.option("--seed", type=click.IntRange(0), help="The same seed, the same order.  [default: 0]")
@click.option("--owner", metavar="ACCOUNT", help="With --data: who owns it; by default the first admin to come.")
def command(
    title: str,
    runs: tuple[str, ...],
    folder: str | None,
    database: str,
    server: str | None,
    slug: str,
    collection: str | None,
    documents: str | None,
    topics: str | None,
    ids: str,
    judgements: str | None,
    owner: str | None,
    **decided: object,
) -> None:
    """Make a project in which people judge what RUNS found, and prepare it.

    Documents, topics and runs are in any format that other commands read. Everything else about the project (scale,
    guidelines, members, more options) is decided on its pages. A project that cannot be prepared is not kept: mend what
    is said, and give the command again.

    \b
    Examples:
      $ cranfield project create "Pond" pond-bm25.run --data judging --collection pond.toml --depth 10
      $ cranfield project create "Pond" pond-bm25.run --server https://judge.example.org --collection pond
    """
    from cranfield.web.projects.desk import Wish
    from cranfield.web.projects.project_tables import sentences

    if collection is None and (documents is None or topics is None):
        raise UsageError("a project needs --collection, or --documents and --topics")
    parts = {"documents": documents, "topics": topics, "judgements": judgements}
    wish = Wish(
        title=title,
        slug=slug,
        collection=collection,
        ids=ids,
        options={name: value for name, value in decided.items() if value is not None},
        parts={kind: path for kind, path in parts.items() if path is not None},  # type: ignore[misc]
        runs=runs,
        owner=owner,
    )
    project = desk_of(folder, database, server).create(wish, lambda text: click.echo(text, err=True))
    for sentence in sentences(project):
        click.echo(sentence, err=True)
    click.echo(project["slug"])
