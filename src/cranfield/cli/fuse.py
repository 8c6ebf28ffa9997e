"""`cranfield fuse`"""

from __future__ import annotations

from typing import Any

import click

from cranfield.cli import options
from cranfield.errors import UsageError

LIST = "list"


@click.command("fuse")
@click.argument("runs", nargs=-1, metavar="RUN...")
@click.option("--method", default="rrf", show_default=True, help=f"How to fuse; '{LIST}' shows all methods.")
@click.option(
    "--norm", help=f"Makes scores comparable first; '{LIST}' shows all. [default: min-max, none for methods by rank]"
)
@click.option(
    "-p",
    "--parameter",
    "given",
    multiple=True,
    metavar="NAME=VALUE",
    help="A parameter of the method, as k=30 or weights=0.7,0.3; may be repeated. In training it stays as it is.",
)
@click.option("--depth", type=click.IntRange(1), default=1000, show_default=True, help="Documents a topic at most.")
@click.option("--name", help="Name of the fused run, its last column. [default: the method]")
@click.option("-o", "--output", default="-", metavar="FILE", help="The fused run. [default: standard output]")
@click.option("--train", "qrels", metavar="QRELS", help="Judgements to learn the method's parameters from.")
@click.option("-m", "--measure", default="nDCG@10", show_default=True, help="What training makes highest.")
@click.option("--splits", metavar="FILE", help="Topics to learn on and topics to use it on, from `cranfield split`.")
@click.option("--folds", type=click.IntRange(2), help="Instead: learn on all folds but one, for that one. [default: 5]")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="The same seed, the same folds.")
@click.option("--same-topics", is_flag=True, help="Learn on all topics and use it on the same: a fit, not a test.")
@click.option("--learnt", metavar="FILE", help="Write what was learnt, as JSON.")
@options.input_format
@options.threads
def command(
    runs: tuple[str, ...],
    method: str,
    norm: str | None,
    given: tuple[str, ...],
    depth: int,
    name: str | None,
    output: str,
    qrels: str | None,
    measure: str,
    splits: str | None,
    folds: int | None,
    seed: int,
    same_topics: bool,
    learnt: str | None,
    input_format: str | None,
    threads: int | None,
) -> None:
    """Fuse several runs into one.

    Methods that have something to learn do so from --train QRELS: what is learnt on some topics is used on others
    alone, so that the fused run can be evaluated with the same judgements.

    \b
    Examples:
      $ cranfield fuse bm25.run dense.run -o fused.run
      $ cranfield fuse bm25.run dense.run --method weighted-sum -p weights=0.7,0.3 -o fused.run
      $ cranfield fuse bm25.run dense.run --method weighted-sum --train qrels.txt --folds 3 -o fused.run
      $ cranfield fuse --method list
    """
    if method == LIST or norm == LIST:
        click.echo("\n\n".join(described_methods() if method == LIST else described_normalisations()))
        return
    common: dict[str, Any] = {
        "norm": norm,
        "parameters": dict(map(read_parameter, given)),
        "depth": depth,
        "name": name,
        "format": input_format,
        "threads": threads,
    }
    from cranfield.findings import Finding, plural
    from cranfield.fusion import fuse, train_fusion
    from cranfield.writing import write_run

    if qrels is None:
        if splits is not None or folds is not None or same_topics or learnt is not None:
            raise UsageError("--splits, --folds, --same-topics and --learnt go with --train QRELS")
        run = fuse(list(runs), method, **common)
        options.warn(Finding(code, run.name, note, doubtful=False) for code, note in run.origin.notes)
    else:
        if splits is not None and folds is not None:
            raise UsageError("--splits and --folds exclude each other")
        trained = train_fusion(
            list(runs),
            qrels,
            method,
            measure=measure,
            splits=splits,
            folds=folds or 5,
            seed=seed,
            same_topics=same_topics,
            **common,
        )
        run = trained.run
        options.warn(trained.warnings)
        if learnt is not None:
            from cranfield.formats.output import save

            save(learnt, [trained.to_json()])
        click.echo(trained, err=output == "-")
    write_run(run, output, format="trec" if output == "-" else None)
    if output != "-":
        click.echo(
            f"{plural(len(runs), 'run')} fused into {output}: {plural(len(run.topics), 'topic')}, {len(run):,} rows"
        )


def read_parameter(text: str) -> tuple[str, Any]:
    """NAME=VALUE, a number or several with commas between.

    >>> read_parameter("k=30"), read_parameter("weights=0.7,0.3")
    (('k', 30), ('weights', [0.7, 0.3]))
    """
    import ast

    name, _, value = text.partition("=")
    try:
        read = ast.literal_eval(value)
    except (ValueError, SyntaxError):
        raise UsageError(f"expected NAME=VALUE with a number, or numbers with commas between, not '{text}'") from None
    return name, list(read) if isinstance(read, tuple) else read


def described_methods() -> list[str]:
    """Each method with its formula, parameters and reference."""
    from cranfield.fusion import all_methods

    told = []
    for method in all_methods():
        lines = [f"{method.name}: {method.title}", *method.help.splitlines(), f"  formula: {method.formula}"]
        for name, parameter in method.parameters.items():
            lines.append(f"  {name}: {parameter.help}; {method.shown_default(name)}")
        told.append("\n".join([*lines, f"  reference: {method.reference}"]))
    return told


def described_normalisations() -> list[str]:
    """Each normalisation with its formula and reference."""
    from cranfield.fusion import all_normalisations

    return [
        f"{one.name}\n{one.help}\n  formula: {one.formula}\n  reference: {one.reference}"
        for one in all_normalisations()
    ]
