"""`cranfield pool`"""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from typing import TYPE_CHECKING, Any

import click

from cranfield.cli import options
from cranfield.errors import UsageError, plural
from cranfield.formats.reading import Reading
from cranfield.pooling.pool_tables import FORMATS

if TYPE_CHECKING:
    from cranfield.pooling.making import Known
    from cranfield.pooling.strategy import Strategy
    from cranfield.texts import Ids


@click.command("pool")
@click.argument("runs", nargs=-1)
@click.option("--analyse", metavar="QRELS", help="Analyse the pool behind these judgements, made from RUNS.")
@click.option("--simulate", metavar="QRELS", help="Replay methods on these judgements: what each would have found.")
@click.option(
    "--fill",
    metavar="QRELS",
    help="Write the judgements of a sample: the documents in --strata FILE with these grades.",
)
@click.option(
    "--method",
    "methods",
    multiple=True,
    help="How documents are chosen, such as depth, rrf(k=60) or maxmean(rate=0); `list` shows all.",
)
@click.option("--depth", type=click.IntRange(1), metavar="K", help="How deep every run counts. [default: 100]")
@click.option(
    "--plan", metavar="FILE", help="How deep and how early each run counts: a CSV file with run, depth and priority."
)
@click.option(
    "--budget",
    "budgets",
    type=click.IntRange(1),
    multiple=True,
    metavar="N",
    help="At most this many judgements for each topic; for --simulate, may be repeated.",
)
@click.option(
    "--strata",
    help="For stratified: depth and share of each stratum, such as 10:1,100:10%; for --fill: the file of strata.",
)
@click.option(
    "--collection",
    metavar="FOLDER",
    help="For cal, which reads: a folder (BEIR, SMART, or with a collection.toml), a TOML file that names the parts, "
    "or an id of ir_datasets (irds:…).",
)
@options.topic_ids
@click.option("--judged", metavar="QRELS", help="What is judged already: methods that learn go on from there.")
@click.option(
    "--batch",
    type=click.IntRange(1),
    metavar="N",
    help="For methods that learn: documents to judge next for each topic. [default: 1]",
)
@click.option("--groups", metavar="FILE", help="For --analyse: whose run each is, a CSV file with run and group.")
@click.option("-m", "--measure", help="The measure that orders runs. [default: AP]")
@click.option("--rel", type=float, help="The grade from which a document is relevant. [default: 1]")
@click.option("--seed", type=click.IntRange(0), help="The same seed, the same pool. [default: 0]")
@click.option(
    "-o",
    "--output",
    type=options.OutputFile(),
    metavar="FILE",
    help="Where the pool goes; a name that ends in .csv or .tsv makes it a table.",
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

    The pool lists topic and document in the order of document ids: it tells assessors nothing about ranks and
    systems. A stratified sample also needs its strata, for statAP and xinfAP: they are written beside the pool, as
    FILE.strata. The method cal reads the texts of --collection and needs no runs; where there are some, it asks for
    their documents, and with cal(whole=1) for any of the collection.

    \b
    Examples:
      $ cranfield pool bm25.run dense.run --depth 10
      $ cranfield pool bm25.run dense.run --method move-to-front --judged qrels.txt --batch 5
      $ cranfield pool --method cal --collection pond.toml --judged pond.qrels --batch 2
      $ cranfield pool --analyse qrels.txt bm25.run dense.run
      $ cranfield pool --simulate qrels.txt bm25.run dense.run --method depth --method rrf --budget 5 --budget 10
      $ cranfield pool --method list
    """
    if "list" in given["methods"]:
        click.echo(_methods(), nl=False)
        return
    modes = [name for name in WAYS if given.get(name) is not None]
    if len(modes) > 1:
        raise UsageError(f"{' and '.join(f'--{name}' for name in modes)} exclude each other")
    mode = modes[0] if modes else POOL
    way = WAYS[mode]
    taken = signature(way).parameters
    for parameter in click.get_current_context().command.params:
        if given.get(str(parameter.name)) not in (None, (), "given") and parameter.name not in taken:
            raise UsageError(f"{parameter.opts[-1]} is not for {mode if mode == POOL else f'--{mode}'}")
    if given["ids"] != "given" and given["collection"] is None:
        raise UsageError("--ids is of the topics of --collection")
    if not runs and mode != "fill" and (mode != POOL or given["collection"] is None):
        raise UsageError("no run given")
    way(runs=runs, reading=reading, **{name: value for name, value in given.items() if name in taken})


def _pool(
    runs: tuple[str, ...],
    methods: tuple[str, ...],
    depth: int | None,
    plan: str | None,
    budgets: tuple[int, ...],
    strata: str | None,
    collection: str | None,
    ids: Ids,
    judged: str | None,
    batch: int | None,
    rel: float | None,
    seed: int | None,
    output: str | None,
    reading: Reading,
) -> None:
    """Writes the documents to judge."""
    from cranfield.formats.output import check_place
    from cranfield.formats.runs import read_runs
    from cranfield.pooling.files import read_plan, strata_beside, write_pool
    from cranfield.pooling.making import make_pool
    from cranfield.pooling.strata import parse_strata
    from cranfield.pooling.strategy import find_method

    for option, values in (("--method", methods), ("--budget", budgets)):
        if len(values) > 1:
            raise UsageError(f"several {option} are for --simulate; a pool has one")
    place, planned = output or "-", None if plan is None else read_plan(plan)
    usual = "depth" if plan is None else "plan"
    method = _reading([find_method(methods[0] if methods else usual)], collection, ids)[0]
    if not runs and not method.reads:
        raise UsageError(f"no run given: {method} chooses from runs; cal needs none")
    if method.kind == "sample":
        check_place(strata_beside(place), "the strata")
    drawn, known = None if strata is None else parse_strata(strata), _known(method, judged, batch, rel, reading)
    pool = make_pool(
        read_runs(list(runs), reading) if runs else [],
        method,
        depth=depth,
        plan=planned,
        budget=budgets[0] if budgets else None,
        strata=drawn,
        known=known,
        seed=seed or 0,
    )
    options.warn(pool.warnings)
    beside = write_pool(pool, place)
    if place != "-":
        size = f"{plural(len(pool), 'document')} to judge for {plural(len(pool.documents), 'topic')}"
        click.echo(f"{size} in {place}{f', and its strata in {beside}' if beside else ''}")


def _reading(methods: list[Strategy], collection: str | None, ids: Ids) -> list[Strategy]:
    """The methods, and those that read with the texts of the collection."""
    if collection is None:
        return methods
    if not any(method.reads for method in methods):
        raise UsageError(f"--collection is for methods that read, as cal; not for {', '.join(map(str, methods))}")
    from cranfield.pooling.learned import pool_texts
    from cranfield.texts.collection import read_collection

    texts = pool_texts(read_collection(collection, ids=ids, only=("documents", "topics")))
    return [method.reading(texts) for method in methods]


def _known(
    method: Strategy, judged: str | None, batch: int | None, rel: float | None, reading: Reading
) -> Known | None:
    """What is known already, where a method learns from it or leaves it out."""
    from cranfield.formats import read_qrels
    from cranfield.pooling.making import Known

    learns = method.kind == "adaptive"
    if not learns and (batch is not None or rel is not None):
        raise UsageError(f"--batch and --rel are for methods that learn, not for {method}: --budget limits its pool")
    if judged is None and not learns:
        return None
    qrels = None if judged is None else read_qrels(judged, reading=reading)
    return Known(qrels, (batch or 1) if learns else 0, 1 if rel is None else rel)


def _analyse(
    analyse: str,
    runs: tuple[str, ...],
    groups: str | None,
    depth: int | None,
    measure: str | None,
    rel: float | None,
    output_format: str | None,
    reading: Reading,
) -> None:
    """Prints what the pool behind judgements is worth."""
    from cranfield.evaluation.experiment import Experiment
    from cranfield.pooling.analysis import analyse as analysed
    from cranfield.pooling.files import read_groups
    from cranfield.pooling.pool_tables import render_analysis

    analysis = analysed(
        Experiment(analyse, list(runs), reading=reading),
        groups=None if groups is None else read_groups(groups),
        depth=depth,
        measure=measure or "AP",
        rel=1 if rel is None else rel,
    )
    options.show(render_analysis(analysis, output_format or FORMATS[0]), analysis.warnings)


def _simulate(
    simulate: str,
    runs: tuple[str, ...],
    methods: tuple[str, ...],
    budgets: tuple[int, ...],
    depth: int | None,
    plan: str | None,
    measure: str | None,
    rel: float | None,
    seed: int | None,
    collection: str | None,
    ids: Ids,
    picture: str | None,
    output_format: str | None,
    reading: Reading,
) -> None:
    """Prints what methods would have found, and draws it."""
    from cranfield.evaluation.experiment import Experiment
    from cranfield.pooling.files import read_plan
    from cranfield.pooling.pool_tables import render_simulation
    from cranfield.pooling.simulation import BUDGETS, usual_methods
    from cranfield.pooling.simulation import simulate as simulated
    from cranfield.pooling.strategy import find_method

    wanted = [find_method(method) for method in methods]
    if not wanted and collection is not None:
        wanted = usual_methods(planned=plan is not None, read=True)
    simulation = simulated(
        Experiment(simulate, list(runs), reading=reading),
        _reading(wanted, collection, ids),
        budgets or BUDGETS,
        depth=depth,
        plan=None if plan is None else read_plan(plan),
        measure=measure or "AP",
        rel=1 if rel is None else rel,
        seed=seed or 0,
    )
    options.show(render_simulation(simulation, output_format or FORMATS[0]), simulation.warnings)
    if picture:
        from cranfield.plot.pools import found_by_budget
        from cranfield.plot.saving import save

        save(found_by_budget(simulation), picture)


def _fill(fill: str, runs: tuple[str, ...], strata: str | None, output: str | None, reading: Reading) -> None:
    """Writes the judgements of a sample."""
    from cranfield.formats.output import save
    from cranfield.pooling.files import filled

    if strata is None or runs:
        raise UsageError("write --fill QRELS --strata FILE, and no runs")
    save(output or "-", [filled(strata, fill, reading)])
    if output not in (None, "-"):
        click.echo(output)


POOL = "a pool"
# The ways of using the command, each with what it takes.
WAYS: dict[str, Callable[..., None]] = {"analyse": _analyse, "simulate": _simulate, "fill": _fill, POOL: _pool}


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
