"""`cranfield pool`"""

from __future__ import annotations

from typing import Any

import click

from cranfield.cli import options
from cranfield.errors import UsageError
from cranfield.formats.reading import Reading
from cranfield.pooling.pool_tables import FORMATS

# What each way of using the command takes, besides runs and how they are read.
_BOTH = {"depth", "plan", "seed", "rel"}
_TAKES = {
    "--analyse": {"depth", "groups", "measure", "output_format", "rel"},
    "--simulate": {*_BOTH, "methods", "budgets", "measure", "picture", "output_format"},
    "--fill": {"strata", "output"},
    "a pool": {"methods", "depth", "plan", "budgets", "strata", "judged", "batch", "rel", "seed", "output"},
}


@click.command("pool")
@click.argument("runs", nargs=-1)
@click.option("--analyse", metavar="QRELS", help="Analyse the pool behind these judgements, made from RUNS.")
@click.option("--simulate", metavar="QRELS", help="Replay methods on these judgements: what each would have found.")
@click.option("--fill", metavar="QRELS", help="Write the judgements of a sample: --strata FILE with the grades found.")
@click.option(
    "--method",
    "methods",
    multiple=True,
    help="What is judged first, as depth, rrf(k=60) or maxmean(rate=0); `list` shows all.",
)
@click.option("--depth", type=click.IntRange(1), metavar="K", help="How far every run counts. [default: 100]")
@click.option("--plan", metavar="FILE", help="How far and when each run counts: CSV with run, depth, priority.")
@click.option(
    "--budget",
    "budgets",
    type=click.IntRange(1),
    multiple=True,
    metavar="N",
    help="At most so many judgements for each topic; for --simulate several.",
)
@click.option("--strata", help="For stratified: depth and share of each, as 10:1,100:10%; for --fill: their file.")
@click.option("--judged", metavar="QRELS", help="What is judged already: methods that learn go on from there.")
@click.option(
    "--batch",
    type=click.IntRange(1),
    metavar="N",
    help="For methods that learn: documents to judge next for each topic. [default: 1]",
)
@click.option("--groups", metavar="FILE", help="For --analyse: whose run each is, CSV with run and group.")
@click.option("-m", "--measure", help="The measure that orders runs. [default: AP]")
@click.option("--rel", type=float, help="The grade from which a document is relevant. [default: 1]")
@click.option("--seed", type=click.IntRange(0), help="The same seed, the same pool. [default: 0]")
@click.option(
    "-o",
    "--output",
    type=options.OutputFile(),
    metavar="FILE",
    help="Where the pool goes; a name in .csv or .tsv makes a table of it.",
)
@click.option(
    "--picture",
    type=options.OutputFile(),
    metavar="FILE",
    help="For --simulate: draw it, as .svg, .png, .pdf or .html.",
)
@click.option("-f", "--output-format", type=click.Choice(FORMATS), help="How to print. [default: table]")
@options.reading()
def command(runs: tuple[str, ...], reading: Reading, **given: Any) -> None:
    """Which documents of RUNS should be judged? And what came of it?

    The pool lists topic and document in the order of document ids: it tells assessors nothing of ranks and systems. A
    stratified sample also needs its strata, for statAP and xinfAP: they are written beside the pool, as FILE.strata.

    \b
    Examples:
      $ cranfield pool bm25.run dense.run --depth 10
      $ cranfield pool bm25.run dense.run --method move-to-front --judged qrels.txt --batch 5
      $ cranfield pool --analyse qrels.txt bm25.run dense.run
      $ cranfield pool --simulate qrels.txt bm25.run dense.run --method depth --method rrf --budget 5 --budget 10
      $ cranfield pool --method list
    """
    if "list" in given["methods"]:
        click.echo(_methods(), nl=False)
        return
    modes = [f"--{name}" for name in ("analyse", "simulate", "fill") if given[name] is not None]
    if len(modes) > 1:
        raise UsageError(f"{' and '.join(modes)} exclude each other")
    mode = modes[0] if modes else "a pool"
    qrels = given[mode.removeprefix("--")] if modes else None
    wanted = {name: value for name, value in given.items() if value not in (None, ()) and f"--{name}" not in modes}
    for name in wanted.keys() - _TAKES[mode]:
        option = {"methods": "method", "budgets": "budget"}.get(name, name).replace("_", "-")
        raise UsageError(f"--{option} is not for {mode}")
    if not runs and mode != "--fill":
        raise UsageError("no run given")
    if "plan" in wanted:
        from cranfield.pooling.files import read_plan

        wanted["plan"] = read_plan(wanted["plan"])
    ways = {"--analyse": _analyse, "--simulate": _simulate, "--fill": _fill, "a pool": _pool}
    ways[mode](qrels or "", runs, wanted, reading)


def _pool(qrels: str, runs: tuple[str, ...], wanted: dict[str, Any], reading: Reading) -> None:
    from cranfield.errors import plural
    from cranfield.formats import suffix_of
    from cranfield.formats.output import check_place, save
    from cranfield.pooling.files import DELIMITERS, pool_text, sample_text
    from cranfield.pooling.making import Known, make_pool
    from cranfield.pooling.strata import parse_strata
    from cranfield.pooling.strategy import find_method

    (method,) = _at_most_one(wanted.pop("methods", ("plan" if "plan" in wanted else "depth",)), "--method")
    (budget,) = _at_most_one(wanted.pop("budgets", (None,)), "--budget")
    output, kind = wanted.pop("output", "-"), find_method(method).kind
    if kind == "sample" and output == "-":
        raise UsageError("a sample is of no use without its strata: -o FILE writes the pool, and FILE.strata beside it")
    if kind == "sample":
        check_place(f"{output}.strata", "the strata")
    learns = kind == "adaptive"
    batch, judged = wanted.pop("batch", 1 if learns else None), wanted.pop("judged", None)
    if not learns and (batch or "rel" in wanted):
        raise UsageError(f"--batch and --rel are for methods that learn, not for {method}: --budget limits its pool")
    known = Known(judged, batch or 0, wanted.pop("rel", 1)) if learns or judged else None
    if "strata" in wanted:
        wanted["strata"] = parse_strata(wanted["strata"])
    made = make_pool(list(runs), method, budget=budget, known=known, **wanted, reading=reading)
    options.warn(made.warnings)
    beside = ""
    if made.sample is not None:
        save(f"{output}.strata", [sample_text(made)])
        beside = f", and its strata in {output}.strata"
    save(output, [pool_text(made, DELIMITERS.get(suffix_of(output)))])
    if output != "-":
        size = f"{plural(len(made), 'document')} to judge for {plural(len(made.documents), 'topic')}"
        click.echo(f"{size} in {output}{beside}")


def _analyse(qrels: str, runs: tuple[str, ...], wanted: dict[str, Any], reading: Reading) -> None:
    from cranfield.pooling.analysis import analyse
    from cranfield.pooling.files import read_groups
    from cranfield.pooling.pool_tables import render_analysis

    form = wanted.pop("output_format", FORMATS[0])
    if "groups" in wanted:
        wanted["groups"] = read_groups(wanted["groups"])
    found = analyse(qrels, list(runs), **wanted, reading=reading)
    options.warn(found.warnings)
    click.echo(render_analysis(found, form), nl=False)


def _simulate(qrels: str, runs: tuple[str, ...], wanted: dict[str, Any], reading: Reading) -> None:
    from cranfield.pooling.pool_tables import render_simulation
    from cranfield.pooling.simulation import simulate

    form, picture = wanted.pop("output_format", FORMATS[0]), wanted.pop("picture", None)
    made = simulate(qrels, list(runs), **wanted, reading=reading)
    options.warn(made.warnings)
    click.echo(render_simulation(made, form), nl=False)
    if picture:
        from cranfield.plot.pools import found_by_budget
        from cranfield.plot.saving import save

        save(found_by_budget(made), picture)


def _fill(qrels: str, runs: tuple[str, ...], wanted: dict[str, Any], reading: Reading) -> None:
    from cranfield.formats.output import save
    from cranfield.pooling.files import filled

    if "strata" not in wanted or runs:
        raise UsageError("write --fill QRELS --strata FILE, and no runs")
    output = wanted.get("output", "-")
    save(output, [filled(wanted["strata"], qrels, reading)])
    if output != "-":
        click.echo(output)


def _at_most_one(values: tuple[Any, ...], option: str) -> tuple[Any, ...]:
    if len(values) > 1:
        raise UsageError(f"several {option} are for --simulate; a pool has one")
    return values


def _methods() -> str:
    """Every method, how it works and its parameters."""
    from cranfield.pooling.strategy import all_methods

    lines = []
    for method in all_methods():
        lines += [f"{method}: {method.title}", f"    {method.says}"]
        lines += [
            f"    {name}={method.defaults[name]:g}: {parameter.help}" for name, parameter in method.parameters.items()
        ]
    return "\n".join(lines) + "\n"
