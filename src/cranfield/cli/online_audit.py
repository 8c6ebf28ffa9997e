"""`cranfield online audit`"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from cranfield.cli import options
from cranfield.online.interleaving.interleaving_tables import FORMATS, render_audits

if TYPE_CHECKING:
    from cranfield.online.interleaving import Audit


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
@options.output_format(FORMATS)
def command(methods: tuple[str, ...], length: int, overlapping: int | None, seed: int, output_format: str) -> None:
    """Prove that a method of interleaving is fair and sees who is better, or show where it fails.

    METHOD is one of `cranfield online interleave --method list`, or a class or object of your own as package:Name, with
    interleave(rankings, length, draw) and credit(shown, slots); without any, all of ours are audited. A method draws
    chance by draw(weights) alone, and the audit replays every outcome with exact fractions, for all rankings up to
    --length. One that draws elsewhere is watched instead, and told so.

    \b
    Examples:
      $ cranfield online audit team-draft
      $ cranfield online audit balanced --length 3
      $ cranfield online audit 'optimised(credit=linear)' --length 3 -f markdown
    """
    from cranfield.online.interleaving import all_interleavers

    names = methods or tuple(str(method) for method in all_interleavers())
    click.echo(render_audits([_audited(name, length, overlapping, seed) for name in names], output_format), nl=False)


def _audited(name: str, length: int, overlapping: int | None, seed: int) -> Audit:
    from cranfield.measures.importing import named_object
    from cranfield.notation import reference
    from cranfield.online.interleaving.auditing import audit_interleaver

    named = reference(name)
    method = name if named is None else named_object(name, *named)
    return audit_interleaver(method, length=length, overlapping=overlapping, seed=seed, name=name)
