"""`cranfield judge`"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import click

from cranfield.cli import options
from cranfield.cli.given import refuse
from cranfield.errors import UsageError, plural

if TYPE_CHECKING:
    from cranfield.cli.judging_screen import Screen
    from cranfield.cli.keys import Keys
    from cranfield.judging.events import Event
    from cranfield.judging.releasing import ReleasePolicy
    from cranfield.judging.scale import Scale
    from cranfield.quotation.text_sources import TextSource

POLICIES = ("majority", "highest", "lowest", "median", "adjudicated-only")


@click.command("judge")
@click.argument("pool")
@click.option(
    "--events",
    "logs",
    multiple=True,
    metavar="FILE",
    help="The log of what is judged, which is added to and gone on from; for --release, may be repeated, one for each "
    "assessor. [default: POOL.events]",
)
@click.option("--assessor", default="assessor", show_default=True, help="Who judges, under a pseudonym.")
@click.option(
    "--scale",
    metavar="SCALE",
    help="Grades and what they are called, as 0=not,1=relevant or -2:s=spam,0=not,1=relevant (s is the key), or a "
    ".json or .toml file. [default: 0 to 3]",
)
@click.option(
    "--seed", type=click.IntRange(0), default=0, show_default=True, help="The same seed, the same order of documents."
)
@click.option("--release", is_flag=True, help="Judge nothing, and write what has been judged.")
@click.option(
    "--policy",
    type=click.Choice(POLICIES),
    default="majority",
    show_default=True,
    help="Which grade counts where assessors differ.",
)
@click.option(
    "-o",
    "--output",
    type=options.OutputFile(),
    metavar="FILE",
    help="Where the judgements go when all is judged or you leave; for --release, - is standard output.",
)
@click.option(
    "--provenance",
    type=options.OutputFile(),
    metavar="FILE",
    help="Write as JSON how each judgement came about, by whom, and the digest of the judgements.",
)
@options.texts
def command(
    pool: str,
    logs: tuple[str, ...],
    assessor: str,
    scale: str | None,
    seed: int,
    release: bool,
    policy: str,
    output: str | None,
    provenance: str | None,
    texts: TextSource | None,
) -> None:
    """Judge the documents of POOL, which `cranfield pool` wrote, one key each.

    Shows the question and the paragraph of the document with most of its words; space shows all of it. A grade's key
    grades and goes on to the next document, x says that you can't tell, l puts it off, u takes back, ? lists all keys.
    Every answer is in the log at once: leave with q or Ctrl-C, and the next time it goes on where you were. Ranks and
    systems are not shown; the order is random, with near-duplicates one after another.

    Where standard input is no terminal, each of its lines is a key.

    \b
    Examples:
      $ cranfield judge pond.pool --collection pond.toml -o mine.qrels
      $ cranfield judge pond.pool --release --events pond-ann.events --events pond-bob.events --policy highest -o -
    """
    from cranfield.judging.scale import Scale, read_scale
    from cranfield.pooling.files import read_pool

    if pool == "-":
        raise UsageError("a pool is a file: keys come from standard input")
    if output is None and provenance is not None and not release:
        raise UsageError("--provenance is of judgements that are written: give -o FILE")
    places = logs or (f"{pool}.events",)
    grades = Scale.usual() if scale is None else read_scale(scale)
    if not release:
        _check_log(places, output)
    documents = read_pool(pool)
    if release:
        from cranfield.judging.event_log import read_events

        judging = ("assessor", "seed", "collection", "questions", "documents", "ids")
        refuse(*judging, why="is for judging, not for --release")
        events = [event for place in places for event in read_events(place)]
    else:
        events = _judged(documents, places[0], assessor, grades, seed, texts)
    if output is not None and not release and not any(event.grade is not None for event in events):
        click.echo(f"Nothing is judged yet: {output} is not written.")
    elif output is not None or release:
        chosen = cast("ReleasePolicy", policy.replace("-", " "))
        _write(pool, documents, events, grades, chosen, output or "-", provenance)


def _check_log(places: tuple[str, ...], output: str | None) -> None:
    """That there is one log to add to, and that it is nothing that is read."""
    from cranfield.formats.output import check_place

    if output == "-":
        raise UsageError("standard output is what you judge on: give -o a file, or --release")
    if len(places) > 1:
        raise UsageError("several --events are for --release; who judges has one log")
    check_place(places[0], "--events")


def _judged(
    pool: dict[str, tuple[str, ...]], place: str, assessor: str, scale: Scale, seed: int, texts: TextSource | None
) -> list[Event]:
    """Lets somebody judge; the events that are there afterwards."""
    from cranfield.cli.judging_screen import Screen, summary
    from cranfield.cli.keys import opened_keys
    from cranfield.cli.progress import counted
    from cranfield.cli.streams import clear_screen, show_text
    from cranfield.judging.event_log import EventLog
    from cranfield.judging.sheets import read_sheets
    from cranfield.judging.sitting import Sitting, queue_of

    if texts is None:
        raise UsageError("nobody can judge without texts: give --collection, or --questions and --documents")
    sheets = read_sheets(texts, pool, counted)
    with EventLog(place) as log:
        options.warn([*log.findings, *sheets.findings])
        sitting = Sitting(log, assessor, scale, queue_of(pool, sheets.texts, assessor, seed))
        with opened_keys() as keys:
            _sit(Screen(sitting, sheets), keys)
        clear_screen()
        show_text(summary(sitting))
        return list(log.events)


def _sit(screen: Screen, keys: Keys) -> None:
    """Key after key, until all is judged or somebody leaves."""
    import signal

    from cranfield.cli.stopping import Stopped

    sitting = screen.sitting
    while sitting.pair is not None:
        try:
            screen.show()
            key = keys.key()
        except Stopped as stopped:
            if stopped.number != signal.SIGINT:
                raise
            return  # Ctrl-C is a way to leave, and what was asked for is written all the same
        if key is None or key.casefold() == "q":
            return
        sitting.touched()
        grade = sitting.scale.of_key(key)
        if grade is not None:
            sitting.grade(grade.value)
        else:
            _do(key.casefold(), screen, keys)


def _do(key: str, screen: Screen, keys: Keys) -> None:
    """What a key does that gives no grade."""
    from cranfield.cli.judging_screen import reasons
    from cranfield.cli.streams import show_text
    from cranfield.judging.events import REASONS

    sitting = screen.sitting
    if key == "u":
        undone = sitting.undo()
        screen.message = "Nothing to undo." if undone is None else "Undone; judge it again."
    elif key == "l":
        sitting.later()
    elif key == "x":
        show_text(f"{reasons()}\n")
        chosen = keys.key()
        names = {str(number): reason for number, reason in enumerate(REASONS, start=1)}
        if chosen in names:
            sitting.cannot(names[str(chosen)])
        else:
            screen.message = "No reason given: judge it."
    elif key == "n":
        show_text("Note: ")
        sitting.note = keys.line()
    elif key == "h":
        screen.marks = not screen.marks
    elif key == " ":
        screen.turn()
    elif key == "?":
        screen.message = screen.help()
    else:
        keys.wrong(key)
        screen.message = "That key does nothing; ? lists all."


def _write(
    pool: str,
    documents: dict[str, tuple[str, ...]],
    events: list[Event],
    scale: Scale,
    policy: ReleasePolicy,
    output: str,
    provenance: str | None,
) -> None:
    """Writes the judgements, with their strata where the pool is a sample, and tells what is undecided."""
    import json
    import os

    from cranfield.formats.output import save
    from cranfield.formats.writers import format_of
    from cranfield.judging.releasing import released
    from cranfield.judging.state import state_of
    from cranfield.pooling.files import read_strata

    strata = f"{pool}.strata"
    sample = read_strata(strata) if os.path.exists(strata) else None
    format = "trec" if sample is not None else format_of(output)
    made = released(state_of(events), scale, policy, pool=documents, sample=sample, events=events, format=format)
    save(output, [made.content])
    if provenance is not None:
        save(provenance, [json.dumps(made.provenance, indent=1) + "\n"])
    if output != "-":
        click.echo(f"{plural(len(made.decisions), 'judgement')} in {output}")
    options.warn(made.findings)
