"""`cranfield online interleave`"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import click

from cranfield.cli import options
from cranfield.errors import UsageError, plural
from cranfield.formats.reading import Reading

if TYPE_CHECKING:
    from cranfield.online.interleaving.serving import RankedQuery

LIST = "list"


@click.command("online interleave")
@click.argument("runs", nargs=-1, metavar="[RUN]...")
@click.option("--method", default="team-draft", show_default=True, help=f"How; '{LIST}' shows all methods.")
@click.option(
    "--rankings",
    metavar="FILE",
    help="Instead of runs: JSON lines with query_id, rankings (a list of lists) and perhaps user_id.",
)
@click.option(
    "--users", metavar="FILE", help="Ids of users, one a line: every query is interleaved for each of them by itself."
)
@click.option("--length", type=click.IntRange(1), default=10, show_default=True, help="Documents shown, at most.")
@click.option("--names", metavar="NAMES", help="What rankers are called, with commas between. [default: as runs]")
@click.option(
    "--seed",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="The same seed gives a query of a user the same list, whatever else is served.",
)
@click.option(
    "-o", "--output", type=options.OutputFile(), default="-", metavar="FILE", help="[default: standard output]"
)
@options.reading("labels")
def command(
    runs: tuple[str, ...],
    method: str,
    rankings: str | None,
    users: str | None,
    length: int,
    names: str | None,
    seed: int,
    output: str,
    reading: Reading,
) -> None:
    """Make one list of several rankings, for each query and user.

    A line of JSON for each: the documents to show, their teams, the chance of each to stand where it does, the rankings
    and the method. Log it as it is, and clicks on it can be turned into credit. Of runs, in any format, as many
    documents are taken as are shown.

    \b
    Examples:
      $ cranfield online interleave bm25.run dense.run --length 3
      $ cranfield online interleave bm25.run dense.run --method 'probabilistic(tau=2)' --seed 7 -o lists.jsonl
      $ cranfield online interleave --method list
    """
    from cranfield.formats.output import save
    from cranfield.online.interleaving.method import find_interleaver
    from cranfield.online.interleaving.serving import Serving, asked_of_runs, checked_names, served_lines

    if method == LIST:
        click.echo("\n\n".join(described_interleavers()))
        return
    if bool(runs) == bool(rankings):
        raise UsageError("give the runs of two rankers or more, or --rankings FILE")
    if rankings is not None and users is not None:
        raise UsageError("--users is for runs: --rankings has the user_id of every line")
    entry = find_interleaver(method)
    given = [name.strip() for name in names.split(",")] if names is not None else None
    serving = Serving(entry, length, seed, tuple(given or ()))
    asked: Iterable[RankedQuery]
    if rankings is None:
        from cranfield.formats import distinct_names, read_run, stem

        called = given or distinct_names([(stem(run), run) for run in runs])
        serving = serving._replace(rankers=checked_names(called, len(runs)))
        tables = [read_run(run, reading=reading) for run in runs]
        asked = asked_of_runs(tables, _lines(users) if users is not None else (), depth=length)
    else:
        asked = _checked(rankings, serving.rankers)
    count = 0

    def counted() -> Iterator[str]:
        nonlocal count
        for line in served_lines(serving, asked, rankings):
            count += 1
            yield line

    save(output, counted())
    if output != "-":
        click.echo(f"{plural(count, 'list')} written to {output}")


def _checked(path: str, names: tuple[str, ...]) -> Iterator[RankedQuery]:
    from cranfield.formats.sources import open_source, utf8_text
    from cranfield.online.interleaving.serving import asked_of_lines, checked_names

    lines = utf8_text(open_source(path)).replace("\r\n", "\n").split("\n")
    for one in asked_of_lines(lines, path):
        if names:
            checked_names(names, len(one.rankings))
        yield one


def _lines(path: str) -> list[str]:
    """The ids in a file, each once."""
    from cranfield.errors import DataError
    from cranfield.formats.sources import open_source, utf8_text

    ids = [line.strip() for line in utf8_text(open_source(path)).split("\n")]
    found = list(dict.fromkeys(filter(None, ids)))
    if not found:
        raise DataError("has no user", source=path)
    return found


def described_interleavers() -> list[str]:
    """Each method with how it works, what to log for it, and its parameters."""
    from cranfield.online.interleaving import all_interleavers

    told = []
    for method in all_interleavers():
        count = "any number of rankings" if method.rankers is None else f"{method.rankers} rankings"
        text = method.help.partition(">>>")[0].rstrip()
        lines = [f"{method.name}: {method.title}, of {count}", text, f"  to log: {method.logged}"]
        told.append("\n".join([*lines, *options.parameter_lines(method)]))
    return told
