"""`cranfield fuse`"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from typing import Any

import click

from cranfield.cli import options
from cranfield.cli.progress import counted
from cranfield.errors import UsageError
from cranfield.formats.reading import Reading

LIST = "list"


@click.command("fuse")
@click.argument("runs", nargs=-1, metavar="RUN...")
@click.option("--method", default="rrf", show_default=True, help=f"How to fuse; '{LIST}' shows all methods.")
@click.option(
    "--norm", help=f"How scores are made comparable; '{LIST}' shows all. [default: min-max, none for methods by rank]"
)
@click.option(
    "-p",
    "--parameter",
    "given",
    multiple=True,
    metavar="NAME=VALUE",
    help="A parameter of the method, as k=30 or weights=0.7,0.3; may be repeated. In training it stays as it is.",
)
@click.option(
    "--depth", type=click.IntRange(1), default=1000, show_default=True, help="At most so many documents for each topic."
)
@click.option("--name", help="Name of the fused run, one word. [default: the method]")
@click.option(
    "-o",
    "--output",
    type=options.OutputFile(),
    default="-",
    metavar="FILE",
    help="The fused run, as TREC text unless the suffix says otherwise (.jsonl, .csv …). [default: standard output]",
)
@click.option("--train", "qrels", metavar="QRELS", help="Judgements to learn the method's parameters from.")
@click.option("-m", "--measure", help="The measure to train for. [default: nDCG@10]")
@click.option("--splits", metavar="FILE", help="Topics to learn on and topics to use it on, from `cranfield split`.")
@click.option(
    "--folds",
    type=click.IntRange(2),
    help="Instead of --splits: learn on all folds but one, for that one. [default: 5]",
)
@click.option("--seed", type=click.IntRange(0), help="The same seed, the same folds. [default: 0]")
@click.option("--same-topics", is_flag=True, help="Learn on all topics and use it on the same: a fit, not a test.")
@click.option("--learnt", type=options.OutputFile(), metavar="FILE", help="Write what was learnt, as JSON.")
@options.reading()
def command(
    runs: tuple[str, ...],
    method: str,
    norm: str | None,
    given: tuple[str, ...],
    depth: int,
    name: str | None,
    output: str,
    qrels: str | None,
    measure: str | None,
    splits: str | None,
    folds: int | None,
    seed: int | None,
    same_topics: bool,
    learnt: str | None,
    reading: Reading,
) -> None:
    """Fuse several runs into one.

    Methods that have something to learn do so from --train QRELS: what is learnt on some topics is used on others
    alone, so that the fused run can be evaluated with the same judgements. What was done goes into FILE.metadata.json,
    beside the run.

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
    if name is not None and name.split() != [name]:
        raise UsageError(f"--name must be one word, because blanks end the columns of a run, not '{name}'")
    if output == learnt == "-":
        raise UsageError("the run and what was learnt cannot both go to standard output: name a file for one")
    ways = {"--splits": splits, "--folds": folds, "--same-topics": same_topics or None}
    check_training(qrels is not None, ways, {"--seed": seed, "--measure": measure, "--learnt": learnt})
    common: dict[str, Any] = {
        "norm": norm,
        "parameters": read_parameters(given),
        "depth": depth,
        "name": name,
        "reading": reading,
    }
    from cranfield.errors import plural
    from cranfield.formats.writers import format_of
    from cranfield.fusion import fuse, train_fusion
    from cranfield.fusion.fusing import findings
    from cranfield.texts.writing import write_run

    if qrels is None:
        run = fuse(list(runs), method, **common)
        options.warn(findings(run))
    else:
        with counted("learning, trial", 0) as trials:
            trained = train_fusion(
                list(runs),
                qrels,
                method,
                measure=measure or "nDCG@10",
                splits=splits,
                folds=folds or 5,
                seed=seed or 0,
                same_topics=same_topics,
                tried=trials.step,
                **common,
            )
        run = trained.run
        options.warn(trained.warnings)
        if learnt is not None:
            from cranfield.formats.output import save

            save(learnt, [trained.to_json()])
        click.echo(trained, err="-" in (output, learnt))
    write_run(run, output, format=format_of(output))
    if output != "-":
        if os.path.isfile(output):
            _write_metadata(output, run.name, method, runs, {**common, "qrels": qrels})
        told = f"{plural(len(runs), 'run')} fused into {output}: {plural(len(run.topics), 'topic')}, {len(run):,} rows"
        click.echo(told, err=learnt == "-")


def _write_metadata(output: str, tag: str, method: str, runs: tuple[str, ...], how: Mapping[str, Any]) -> None:
    """What was done, beside the run, in place of what may be there of an earlier one."""
    from cranfield.efficiency import metadata

    named = {"normalisation": how["norm"], **how["parameters"], "depth": how["depth"], "learnt from": how["qrels"]}
    fusion = {"name": method, **{name: value for name, value in named.items() if value is not None}}
    command = ["cranfield", *sys.argv[1:]]
    described = {"automatic": True, "fusion": [fusion]}
    metadata.write_metadata(
        output, metadata.run_metadata(tag, method=described, data={"runs": list(runs)}, command=command)
    )


def check_training(wanted: bool, ways: Mapping[str, Any], more: Mapping[str, Any]) -> None:
    """Options that would have no effect are errors."""
    chosen = [option for option, value in ways.items() if value is not None]
    alone = chosen + [option for option, value in more.items() if value is not None]
    if alone and not wanted:
        raise UsageError(f"{' and '.join(alone)} can only be given with --train QRELS")
    if len(chosen) > 1:
        raise UsageError(f"{' and '.join(chosen)} exclude each other")
    if "--seed" in alone and chosen not in ([], ["--folds"]):
        raise UsageError(f"--seed draws folds, and {chosen[0]} has none to draw")


def read_parameters(given: Iterable[str]) -> dict[str, Any]:
    """Each NAME=VALUE, no name twice."""
    values: dict[str, Any] = {}
    for name, value in map(read_parameter, given):
        if name in values:
            raise UsageError(f"{name} is given twice; several numbers have commas between, as in weights=0.7,0.3")
        values[name] = value
    return values


def read_parameter(text: str) -> tuple[str, Any]:
    """NAME=VALUE, a number or several with commas between.

    >>> read_parameter("k=30"), read_parameter("weights=0.7,0.3")
    (('k', 30), ('weights', [0.7, 0.3]))
    """
    from cranfield.numerals import decimal, whole

    name, _, value = text.partition("=")
    texts = [part.strip() for part in value.split(",")]
    numbers = [decimal(part) if whole(part) is None else whole(part) for part in texts]
    if any(number is None for number in numbers):
        raise UsageError(f"expected NAME=VALUE with a number, or numbers with commas between, not '{text}'")
    return name, numbers if len(numbers) > 1 else numbers[0]


def described_methods() -> list[str]:
    """Each method with its formula, parameters and reference."""
    from cranfield.fusion import all_methods

    told = []
    for method in all_methods():
        names = " or ".join((method.name, *method.aliases))
        lines = [f"{names}: {method.title}", *method.help.splitlines(), f"  formula: {method.formula}"]
        for name, parameter in method.parameters.items():
            default = "learnt" if name == method.learnt else f"default: {method.shown_default(name)}"
            lines.append(f"  {name}: {parameter.help} [{default}]")
        told.append("\n".join([*lines, f"  reference: {method.reference}"]))
    return told


def described_normalisations() -> list[str]:
    """Each normalisation with its formula and reference."""
    from cranfield.fusion import all_normalisations

    return [
        f"{' or '.join((one.name, *one.aliases))}\n{one.help}\n  formula: {one.formula}\n  reference: {one.reference}"
        for one in all_normalisations()
    ]
