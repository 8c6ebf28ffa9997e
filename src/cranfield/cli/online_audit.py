"""`cranfield online audit`"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from cranfield.cli import options
from cranfield.online.interleaving.interleaving_tables import FORMATS, render_audits

if TYPE_CHECKING:
    from cranfield.online.interleaving import Audit

CRITERIA = ("unbiased", "random-clicks", "better-wins", "agreed-order", "nothing-early")  # as on a command line


@click.command("online audit")
@click.argument("methods", nargs=-1, metavar="[METHOD]...")
@click.option(
    "--length",
    type=click.IntRange(1, 8),
    default=4,
    show_default=True,
    help="Go through all permutations of so many documents, and of fewer.",
)
@click.option(
    "--overlapping",
    type=click.IntRange(0, 6),
    help="Go through all rankings of up to so many documents that share some of them or none. [default: one less than "
    "--length, 3 at most]",
)
@click.option(
    "--seed",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="For methods that can only be watched: the same seed, the same lists, as far as these depend on it.",
)
@click.option(
    "--require",
    type=click.Choice(CRITERIA),
    multiple=True,
    default=("unbiased",),
    show_default=True,
    help="Exit with code 1 if this criterion fails, or is not shown to hold; may be repeated.",
)
@options.output_format(FORMATS)
@click.pass_context
def command(
    context: click.Context,
    methods: tuple[str, ...],
    length: int,
    overlapping: int | None,
    seed: int,
    require: tuple[str, ...],
    output_format: str,
) -> None:
    """Prove that a method of interleaving is fair and sees who is better, or show where it fails.

    METHOD is one of `cranfield online interleave --method list`, or a class or object of your own as package:Name, with
    interleave(rankings, length, draw) and credit(shown, slots); without any, all of ours are audited. A method draws
    chance by draw(weights) alone, and the audit replays every outcome with exact fractions, for all rankings up to
    --length. One that draws elsewhere is watched instead, and told so. docs/interleaving.md has a method of one's own
    as an example.

    Exit code 1 if a method is biased. No method has all criteria, so that the others are for you to choose: with
    --require, the exit code is 1 if one of those that are named fails, or cannot be shown to hold.

    \b
    Examples:
      $ cranfield online audit team-draft
      $ cranfield online audit probabilistic --require better-wins --length 3 --overlapping 0
      $ cranfield online audit 'optimised(credit=linear)' --length 3 --overlapping 0 -f markdown
    """
    from cranfield.cli.streams import tell
    from cranfield.online.interleaving import all_interleavers

    names = methods or tuple(str(method) for method in all_interleavers())
    audits = [_audited(name, length, overlapping, seed) for name in names]
    click.echo(render_audits(audits, output_format), nl=False)
    wanted = [(audit, criterion) for audit in audits for criterion in require]
    missed = [(audit, criterion) for audit, criterion in wanted if not audit.shown(criterion.replace("-", " "))]
    for audit, criterion in missed:
        tell("note", f"{audit.method}: {criterion} is required, and is not shown to hold")
    if missed:
        context.exit(1)


def _audited(name: str, length: int, overlapping: int | None, seed: int) -> Audit:
    from cranfield.measures.importing import named_object
    from cranfield.notation import reference
    from cranfield.online.interleaving.auditing import audit_interleaver

    named = reference(name)
    method = name if named is None else named_object(name, *named)
    return audit_interleaver(method, length=length, overlapping=overlapping, seed=seed, name=name)
