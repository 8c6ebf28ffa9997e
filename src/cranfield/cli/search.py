"""`cranfield search`"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

import click

from cranfield.cli import options
from cranfield.errors import DataError, UsageError, either
from cranfield.formats.reading import Reading
from cranfield.notation import spelt
from cranfield.search.models import MODELS
from cranfield.search.search_tables import FORMATS

if TYPE_CHECKING:
    from cranfield.planning.splits import Splits
    from cranfield.search import Model, Retrieved, Tuned
    from cranfield.tables import Qrels
    from cranfield.texts.collection import Collection


def model_parameters(command: options.Command) -> options.Command:
    """An option for each parameter of each model, as text: which type it has is the model's to say."""
    helps: dict[str, list[str]] = {}
    for model in MODELS.values():
        for name, parameter in model.parameters.items():
            helps.setdefault(spelt(name), []).append(f"{model.name}: {parameter.help}.")
    del helps["seed"]  # an option of its own, for folds too
    for name, help in reversed(helps.items()):
        command = click.option(f"--{name}", f"p_{name}", metavar="VALUE", help=" ".join(help))(command)
    return command


@click.command("search")
@click.argument("collection")
@click.argument("more_grids", nargs=-1, metavar="")
@click.option("--model", default="bm25", show_default=True, help=f"{either(MODELS)}.")
@click.option(
    "-o",
    "--output",
    type=options.OutputFile(),
    metavar="RUN",
    default="-",
    help="Where the run goes. [default: standard output]",
)
@click.option("--tag", help="The run's tag. [default: the model]")
@click.option("--query", metavar="FIELD[+FIELD]", help="Fields that make a query: title+description. [default: title]")
@click.option("--fields", metavar="FIELD[+FIELD]", help="Fields of documents to search. [default: title+text]")
@click.option("--stemmer", default="english", show_default=True, help="Snowball's stemmer of a language, or none.")
@click.option(
    "--stop-words",
    default="english",
    show_default=True,
    help="english (NLTK's), lucene, scikit-learn, another language, a file with a word a line, or none.",
)
@click.option("--depth", type=click.IntRange(1), default=1000, show_default=True, help="Documents for each topic.")
@model_parameters
@click.option(
    "--grid",
    "grids",
    multiple=True,
    metavar="NAME=VALUES...",
    help="Values to try, of one parameter or of several: k1=0.6:1.8:0.2 b=0.4,0.75.",
)
@click.option("--tune", "qrels", metavar="QRELS", help="Judgements to tune on. [default: the collection's]")
@click.option("-m", "--measure", default="AP", show_default=True, help="Measure to tune for; more must be better.")
@click.option("--splits", metavar="FILE", help="Topics to tune on and to test on, as `cranfield split` writes them.")
@click.option("--folds", type=click.IntRange(2), help="Instead of --splits: tune by this many folds. [default: 2]")
@click.option(
    "--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of the folds, and of the model random."
)
@click.option(
    "--index",
    "index_file",
    type=options.OutputFile(kept=True),
    metavar="FILE",
    help="Keep the index here, and take it from here the next time.",
)
@click.option("--warm-up", type=click.IntRange(0), default=10, show_default=True, help="Queries asked before timing.")
@click.option("--repeats", type=click.IntRange(1), default=3, show_default=True, help="How often each query is timed.")
@click.option("--track", is_flag=True, help="Let tirex-tracker watch energy, CPU and memory (the extra `resources`).")
@click.option(
    "--header",
    is_flag=True,
    help="Metadata in comments at the head of the run too. ir_measures, pytrec_eval and ranx cannot read such runs.",
)
@options.reading("format", "threads")
@options.topic_ids
@options.output_format(FORMATS)
def command(
    collection: str,
    more_grids: tuple[str, ...],
    model: str,
    output: str,
    tag: str | None,
    query: str | None,
    fields: str | None,
    stemmer: str,
    stop_words: str,
    depth: int,
    grids: tuple[str, ...],
    qrels: str | None,
    measure: str,
    splits: str | None,
    folds: int | None,
    seed: int,
    index_file: str | None,
    warm_up: int,
    repeats: int,
    track: bool,
    header: bool,
    ids: Any,
    output_format: str,
    reading: Reading,
    **given: str | None,
) -> None:
    """Search the documents of COLLECTION for its topics, and say how fast that was.

    COLLECTION is a folder (BEIR, SMART, or with a collection.toml), a TOML file that names the parts, or an id of
    ir_datasets (irds:…). The run is TREC text unless its suffix says otherwise (.jsonl, .csv, .parquet, …), its rows
    the same on every machine. What was done and what it took goes into RUN.metadata.json beside it.

    With --grid the model is tuned: every combination of values is tried, and each fold's topics are answered with the
    values that are best on the other topics.

    \b
    Examples:
      $ cranfield search pond.toml -o pond.run
      $ cranfield search pond.toml --model vsm --weighting lnc.ltc --stemmer none -o vsm.run
      $ cranfield search pond.toml --grid k1=0.6:1.8:0.2 b=0.3:0.9:0.2 --folds 2 --seed 1 -o tuned.run
    """
    if more_grids and not grids:
        raise UsageError(f"only one collection can be searched: what is '{more_grids[0]}'?")
    if not grids and (qrels or splits or folds):
        raise UsageError("--tune, --splits and --folds are for tuning: say what to tune, as --grid k1=0.6:1.8:0.2")
    from dataclasses import replace

    from cranfield.cli.progress import counted
    from cranfield.efficiency.metadata import metadata_path
    from cranfield.formats import read_qrels
    from cranfield.formats.output import check_place
    from cranfield.formats.writers import format_of
    from cranfield.search import Analysis, Timing, find_model, indexed, retrieve, retrieve_tuned, tune
    from cranfield.search.grids import points
    from cranfield.search.search_tables import render
    from cranfield.search.tuning import measure_to_tune
    from cranfield.texts.collection import read_collection

    if header and format_of(output) != "trec":
        raise UsageError(f"--header is for TREC text: {format_of(output)} has no comments, and {output} no head for it")
    if output != "-":
        check_place(str(metadata_path(output)), "the run's metadata")
    chosen = find_model(model)
    model, fixed = chosen.name, _parameters(chosen, given)
    grid = _grid(chosen, (*grids, *more_grids), fixed)
    _check_used(chosen, fixed, grid)
    if grid:
        measure_to_tune(measure)
    if "seed" in chosen.parameters and "seed" not in grid:
        fixed["seed"] = seed
    analysis, timing = Analysis(stemmer, stop_words), Timing(warm_up, repeats, track)
    whole = read_collection(collection, ids=ids)
    parts_read = (whole, whole.documents, whole.topics)
    for code, note in (told for part in parts_read if part is not None for told in part.notes):
        if code != "left-out":
            click.echo(f"cranfield: note: {note}", err=True)
    if whole.documents is None or whole.topics is None:
        raise DataError(f"has no {'documents' if whole.documents is None else 'topics'}", source=collection)
    asked = _fields(query)
    queries = dict(zip(whole.topics.ids, whole.topics.queries(*asked), strict=True))
    given_qrels = read_qrels(qrels, reading=reading) if qrels and grid else None
    judged, parts = _judged_parts(whole, queries, given_qrels, splits, folds, seed) if grid else (None, None)
    documents = replace(whole.documents, name=whole.name)  # the collection's name is the one to record
    with counted("indexing", len(documents)) as counter:
        index, indexing = indexed(documents, analysis, fields=_fields(fields), path=index_file, step=counter.step)
    tuned = None
    if parts is not None:
        with counted("tuning", len(points(grid)) + 1) as counter:
            how: Any = {"grid": grid, "fixed": fixed, "measure": measure, "depth": depth}
            tuned = tune(index, model, queries, judged, parts, step=counter.step, **how)
    more: Any = {"query": asked, "depth": depth, "tag": tag, "timing": timing, "indexing": indexing}
    with counted("searching", repeats * len(queries)) as counter:
        if tuned:
            found = retrieve_tuned(index, whole.topics, tuned, step=counter.step, **more)
        else:
            found = retrieve(index, whole.topics, model, parameters=fixed, step=counter.step, **more)
    options.warn(found.warnings)
    _write(found, tuned, output, header)
    click.echo(render(found, tuned, output_format), nl=False, err=output == "-")


def _parameters(model: Model, given: dict[str, str | None]) -> dict[str, Any]:
    """Those parameters of the model that were given."""
    from cranfield.search.grids import as_value, own_name

    named = {own_name(name.removeprefix("p_")): value for name, value in given.items() if value is not None}
    model.check_names(list(named))
    twice = [spelt(name) for name, _ in model.given if name in named]
    if twice:
        raise UsageError(f"{model} has a value for {twice[0]}: it cannot be given another by --{twice[0]}")
    parameters = dict(model.given) | {name: as_value(value, name, model) for name, value in named.items()}
    model.check(parameters)
    return parameters


def _fields(text: str | None) -> tuple[str, ...]:
    return tuple(field.strip() for field in text.split("+")) if text else ()


def _grid(model: Model, texts: tuple[str, ...], fixed: dict[str, Any]) -> dict[str, tuple[Any, ...]]:
    from cranfield.search import parse_grid

    grid = parse_grid(texts, model)
    twice = [name for name in grid if name in fixed]
    if twice:
        raise UsageError(f"{', '.join(twice)} has both a value and a grid: give one of the two")
    return grid


def _check_used(model: Model, fixed: dict[str, Any], grid: dict[str, tuple[Any, ...]]) -> None:
    """That what was given counts for something."""
    tried = {name: grid.get(name, (fixed.get(name, default),)) for name, default in model.defaults.items()}
    given = fixed.keys() | grid.keys()
    if "delta" in given and not {"bm25l", "bm25+"}.intersection(tried["variant"]):
        raise UsageError("delta counts for bm25l and bm25+ alone: choose one of them with --variant")
    if "slope" in given and not any("u" in weighting for weighting in tried["weighting"]):
        raise UsageError("slope counts for weightings with u alone: choose one with --weighting, as Lnu.ltc")


def _judged_parts(
    whole: Collection, queries: dict[str, str], qrels: Qrels | None, splits: str | None, folds: int | None, seed: int
) -> tuple[Qrels, Splits]:
    """Judgements to tune on, and which topics are for tuning and which for testing."""
    from cranfield.planning.splits import read_splits, split
    from cranfield.texts.collection import other_ids

    if splits and folds:
        raise UsageError("--splits and --folds exclude each other")
    judgements = qrels or whole.qrels
    if judgements is None:
        raise UsageError("there are no judgements to tune on: give them with --tune QRELS")
    trap = other_ids(whole.topics, judgements.topics) if whole.topics is not None else None
    if trap:
        raise DataError(trap, source=judgements.origin.path or whole.name)
    both = [topic for topic in judgements.topics if topic in queries]
    if not both:
        raise DataError(
            "the judgements and the collection have no topic in common",
            remedy="Topic ids must be the same text.",
        )
    return judgements, read_splits(splits) if splits else split(both, folds=folds or 2, seed=seed)


def _write(found: Retrieved, tuned: Tuned | None, output: str, header: bool) -> None:
    """The run, and its metadata beside it if it is a file; at its head only if asked for, as few tools read that."""
    import io

    from cranfield.efficiency import metadata
    from cranfield.formats.output import save
    from cranfield.formats.writers import format_of
    from cranfield.search.search_tables import tuning_dict
    from cranfield.texts.writing import write_run

    known = found.metadata
    command = ["cranfield", *sys.argv[1:]]
    told = metadata.run_metadata(
        known["tag"], found.efficiency, method=known["method"], data=known["data"], command=command
    )
    form = format_of(output)
    rows = io.BytesIO()
    write_run(found.run, rows, format=form)
    save(output, [metadata.header(told) if header else "", rows.getvalue()])
    if output != "-" and os.path.isfile(output):
        latencies = {topic: 1000 * seconds for topic, seconds in found.efficiency.latencies.items()}
        tuning = {"tuning": tuning_dict(tuned, points=False)} if tuned else {}
        metadata.write_metadata(output, told | {"latency ms by topic": latencies} | tuning)
