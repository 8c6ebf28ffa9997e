"""`cranfield online prove`"""

from __future__ import annotations

import click

from cranfield.cli import options
from cranfield.online.proofs.proof_tables import FORMATS, render_proofs


@click.command("online prove")
@click.argument("parts", nargs=-1, metavar="[PART]...")
@click.option("--short", is_flag=True, help="Try little, in half a minute; limits are wide then.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="The same seed, the same numbers.")
@options.output_format(FORMATS)
@click.pass_context
def command(context: click.Context, parts: tuple[str, ...], short: bool, seed: int, output_format: str) -> None:
    """Prove by simulation what is claimed of the statistics of online experiments. It takes minutes.

    Each claim stands with what is expected, what was seen, and limits that a true claim leaves once in a thousand
    times. PART is a: peeking; b: group sequential limits; c: confidence sequences, and from how many units they hold;
    d: evidence of signs; e: tests by query; f: tests by impression; g: adjustment by covariates; h: sample ratios; i:
    which interleaving is fair and sees who is better; k: sensitivity of interleaving and A/B tests; l: click models; n:
    estimates after stopping early. Without any, all.

    Exit code 1 if a claim is outside its limits.

    \b
    Examples:
      $ cranfield online prove i --short
      $ cranfield online prove e f --short -f markdown
    """
    from cranfield.cli.progress import counted
    from cranfield.online.proofs.proving import PROOFS, prove

    steps = sum(len(proofs) for part, proofs in PROOFS.items() if not parts or part in parts)
    with counted("proving", steps) as counter:
        found = prove(parts, short=short, seed=seed, step=counter.step)
    options.show(render_proofs(found, output_format))
    if found.failed:
        context.exit(1)
