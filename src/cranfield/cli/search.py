"""`cranfield search`"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, NamedTuple

import click

from cranfield.cli import options
from cranfield.errors import DataError, UsageError, either
from cranfield.formats.reading import Reading
from cranfield.notation import spelt
from cranfield.search.models import MODELS
from cranfield.search.search_tables import FORMATS

if TYPE_CHECKING:
    from cranfield.search import Asking, IndexSettings, TuningParts
    from cranfield.texts import Ids
    from cranfield.texts.collection import Collection


def model_parameters(command: options.Command) -> options.Command:
    """An option for each parameter of each model, as text: which type it has is the model's to say."""
    helps: dict[str, list[str]] = {}
    for model in MODELS.values():
        for name, parameter in model.parameters.items():
            helps.setdefault(spelt(name), []).append(f"{model.name}: {parameter.help}.")
    del helps["seed"]  # an option of its own, for folds too
    for name, help in reversed(helps.items()):
        option = click.option(f"--{name.replace('_', '-')}", f"p_{name}", metavar="VALUE", help=" ".join(help))
        command = option(command)
    return command


class TuningOptions(NamedTuple):
    """What to tune on, as it stands on the line."""

    qrels: str | None
    measure: str
    splits: str | None
    folds: int | None

    def parts(self, seed: int, reading: Reading) -> TuningParts:
        """The same for the library."""
        from cranfield.search import TuningParts

        return TuningParts(
            measure=self.measure,
            qrels=self.qrels,
            splits=self.splits,
            folds=self.folds,
            seed=seed,
            reading=reading,
        )


def _index_settings(stemmer: str, stop_words: str, fields: str | None, index_file: str | None) -> IndexSettings:
    from cranfield.search import Analysis, IndexSettings

    return IndexSettings(analysis=Analysis(stemmer, stop_words), fields=_fields(fields), path=index_file)


def _asking(query: str | None, depth: int, tag: str | None, warm_up: int, repeats: int, track: bool) -> Asking:
    from cranfield.search import Asking, Timing

    return Asking(query=_fields(query), depth=depth, tag=tag, timing=Timing(warm_up, repeats, track))


def _fields(text: str | None) -> tuple[str, ...]:
    return tuple(field.strip() for field in text.split("+")) if text else ()


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
@options.gathered("tuning", TuningOptions)
@options.gathered("indexing", _index_settings)
@options.gathered("asking", _asking)
def command(
    collection: str,
    more_grids: tuple[str, ...],
    model: str,
    output: str,
    grids: tuple[str, ...],
    seed: int,
    header: bool,
    ids: Ids,
    output_format: str,
    tuning: TuningOptions,
    indexing: IndexSettings,
    asking: Asking,
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
    if not grids and (tuning.qrels or tuning.splits or tuning.folds):
        raise UsageError("--tune, --splits and --folds are for tuning: say what to tune, as --grid k1=0.6:1.8:0.2")
    from cranfield.cli.progress import counted
    from cranfield.search import ModelChoice, search_collection
    from cranfield.search.search_tables import render

    _check_output(output, header)
    named = {name.removeprefix("p_"): value for name, value in given.items() if value is not None}
    choice = ModelChoice.of(model, named, (*grids, *more_grids), seed=seed)
    parts = tuning.parts(seed, reading) if choice.grid else None
    searched = search_collection(_read(collection, ids), choice, parts, indexing=indexing, asking=asking, watch=counted)
    options.warn(searched.warnings)
    searched.write(output, head=header, command=["cranfield", *sys.argv[1:]])
    click.echo(render(searched.retrieved, searched.tuned, output_format), nl=False, err=output == "-")


def _check_output(output: str, header: bool) -> None:
    """That the run, its head and its metadata can be written."""
    from cranfield.efficiency.metadata import metadata_path
    from cranfield.formats.output import check_place
    from cranfield.formats.writers import format_of

    if header and format_of(output) != "trec":
        raise UsageError(f"--header is for TREC text: {format_of(output)} has no comments, and {output} no head for it")
    if output != "-":
        check_place(str(metadata_path(output)), "the run's metadata")


def _read(source: str, ids: Ids) -> Collection:
    """The collection; what is odd about it is told at once."""
    from cranfield.texts.collection import read_collection

    collection = read_collection(source, ids=ids)
    parts = (collection, collection.documents, collection.topics)
    for code, note in (told for part in parts if part is not None for told in part.notes):
        if code != "left-out":
            click.echo(f"cranfield: note: {note}", err=True)
    if collection.documents is None or collection.topics is None:
        raise DataError(f"has no {'documents' if collection.documents is None else 'topics'}", source=source)
    return collection
