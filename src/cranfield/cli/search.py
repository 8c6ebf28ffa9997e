"""`cranfield search`"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import click

from cranfield.cli import options
from cranfield.cli.given import refuse
from cranfield.cli.streams import tell
from cranfield.errors import DataError, UsageError, either
from cranfield.formats.reading import Reading
from cranfield.notation import spelt
from cranfield.search.models import MODELS
from cranfield.search.search_tables import FORMATS

if TYPE_CHECKING:
    from cranfield.planning.tuned import TunedParameters
    from cranfield.search import Asking, IndexSettings, ModelChoice, Retrieved, Tuned, TuningParts
    from cranfield.texts import Ids
    from cranfield.texts.collection import Collection
    from cranfield.texts.texts import Documents

MODEL, LANGUAGE = "bm25", "english"  # what is searched with where nothing is said


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


class SettingOptions(NamedTuple):
    """What a file of parameters may say as well, as it stands on the line; None where it does not."""

    model: str | None
    stemmer: str | None
    stop_words: str | None
    fields: str | None
    query: str | None
    seed: int | None

    @property
    def given(self) -> dict[str, str]:
        """By the names that the options have, and the file."""
        return {name.replace("_", "-"): str(value) for name, value in self._asdict().items() if value is not None}


class AskingOptions(NamedTuple):
    """How topics are asked, and where the index is kept, as it stands on the line."""

    depth: int
    tag: str | None
    warm_up: int
    repeats: int
    track: bool
    index_file: str | None


class SearchFiles(NamedTuple):
    """Files of a search: the run and the parameters to write, the parameters to read."""

    output: str | None
    save_best: str | None
    parameters: str | None

    def check(self, header: bool, grids: Sequence[str]) -> None:
        """That the run, its head and its metadata can be written; options that would have no effect are errors."""
        from cranfield.efficiency.metadata import metadata_path
        from cranfield.formats.output import check_place
        from cranfield.formats.writers import format_of

        if self.save_best and not grids:
            raise UsageError(
                "--save-best is not for a search without tuning: say what to tune, as --grid k1=0.6:1.8:0.2"
            )
        if self.parameters and grids:
            raise UsageError("--parameters are tuned already: give them or --grid, not both")
        if self.save_best and self.save_best == self.output:
            raise UsageError("the run and the best parameters cannot both go to one place: name two files")
        place = self.run
        if place is None:
            no_run = "is for a run, and with --save-best alone none is made: name one with -o"
            refuse("header", "tag", "warm_up", "repeats", "track", why=no_run)
            return
        form = format_of(place)
        if header and form != "trec":
            raise UsageError(f"--header is for TREC text: {form} has no comments, and {place} no head for it")
        if place != "-":
            check_place(str(metadata_path(place)), "the run's metadata")

    @property
    def run(self) -> str | None:
        """Where the run goes, if one is made."""
        return self.output if self.output is not None or self.save_best else "-"


class Search(NamedTuple):
    """A search as the line and a file of parameters describe it together."""

    choice: ModelChoice
    indexing: IndexSettings
    asking: Asking
    saved: TunedParameters | None

    @classmethod
    def of(
        cls,
        settings: SettingOptions,
        named: Mapping[str, str],
        grids: Sequence[str],
        asked: AskingOptions,
        file: str | None,
        threads: int | None,
    ) -> Search:
        from cranfield.search import Analysis, Asking, IndexSettings, ModelChoice, Timing, saved_parameters

        saved, line = None if file is None else saved_parameters(file), {**settings.given, **named}
        said = line if saved is None else saved.beside(line)
        model, language = said.pop("model", MODEL), LANGUAGE
        analysis = Analysis(said.pop("stemmer", language), said.pop("stop-words", language))
        fields, query = (options.fields(said.pop(name, None)) for name in ("fields", "query"))
        choice = ModelChoice.of(model, said, grids, seed=int(said.pop("seed", "0")))
        timing = Timing(asked.warm_up, asked.repeats, asked.track)
        return cls(
            choice,
            IndexSettings(analysis=analysis, fields=fields, path=asked.index_file, threads=threads),
            Asking(query=query, depth=asked.depth, tag=asked.tag, timing=timing),
            saved,
        )


@click.command("search")
@click.argument("collection")
@click.argument("more_grids", nargs=-1, metavar="")
@click.option("--model", help=f"{either(MODELS)}. [default: {MODEL}]")
@click.option(
    "-o",
    "--output",
    type=options.OutputFile(),
    metavar="RUN",
    help="Where the run goes. [default: standard output; with --save-best no run is made]",
)
@click.option("--tag", help="The run's tag. [default: the model]")
@click.option("--query", metavar="FIELD[+FIELD]", help="Fields that make a query: title+description. [default: title]")
@click.option("--fields", metavar="FIELD[+FIELD]", help="Fields of documents to search. [default: title+text]")
@click.option("--stemmer", help=f"Snowball's stemmer of a language, or none. [default: {LANGUAGE}]")
@click.option(
    "--stop-words",
    help="english (NLTK's), lucene, scikit-learn, another language, a file with a word a line, or none. "
    f"[default: {LANGUAGE}]",
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
@click.option("--seed", type=click.IntRange(0), help="Seed of the folds, and of the model random. [default: 0]")
@click.option(
    "--save-best",
    type=options.OutputFile(),
    metavar="FILE",
    help="Keep what is best on all topics tuned on, as TOML, for another collection.",
)
@click.option(
    "--parameters",
    metavar="FILE",
    help="Model, parameters and analysis from a file of --save-best. An option that says otherwise is an error.",
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
@options.gathered("settings", SettingOptions)
@options.gathered("asked", AskingOptions)
@options.gathered("files", SearchFiles)
def command(
    collection: str,
    more_grids: tuple[str, ...],
    grids: tuple[str, ...],
    header: bool,
    ids: Ids,
    output_format: str,
    tuning: TuningOptions,
    settings: SettingOptions,
    asked: AskingOptions,
    files: SearchFiles,
    reading: Reading,
    **given: str | None,
) -> None:
    """Search the documents of COLLECTION for its topics, and say how fast that was.

    COLLECTION is a folder (BEIR, SMART, or with a collection.toml), a TOML file that names the parts, or an id of
    ir_datasets (irds:…). The run is TREC text unless its suffix says otherwise (.jsonl, .csv, .parquet, …), its rows
    the same on every machine. What was done and what it took goes into RUN.metadata.json beside it.

    With --grid the model is tuned: every combination of values is tried, and each fold's topics are answered with the
    values that are best on the other topics. --save-best keeps those that are best on all of them, for another
    collection: tune on one, test on another.

    \b
    Examples:
      $ cranfield search pond.toml -o pond.run
      $ cranfield search pond.toml --model vsm --weighting lnc.ltc --stemmer none -o vsm.run
      $ cranfield search pond.toml --grid k1=0.6:1.8:0.2 b=0.3:0.9:0.2 --folds 2 --seed 1 -o tuned.run
      $ cranfield search pond.toml --grid k1=0.6:1.8:0.2 b=0.3:0.9:0.2 --save-best best.toml
      $ cranfield search lake.toml --parameters best.toml -o lake.run
    """
    if more_grids and not grids:
        raise UsageError(f"only one collection can be searched: what is '{more_grids[0]}'?")
    if not grids:
        of_tuning = ("qrels", "measure", "splits", "folds", "columns", "labels")
        refuse(*of_tuning, why="is for tuning: say what to tune, as --grid k1=0.6:1.8:0.2")
    from cranfield.search.search_tables import render

    files.check(header, grids)
    named = {name.removeprefix("p_"): value for name, value in given.items() if value is not None}
    search = Search.of(settings, named, (*grids, *more_grids), asked, files.parameters, reading.threads)
    parts = tuning.parts(settings.seed or 0, reading) if search.choice.grid else None
    retrieved, tuned = _done(search, _read(collection, ids), parts, files, header)
    text = render(retrieved, tuned, output_format, saved=files.save_best is not None)
    click.echo(text, nl=False, err="-" in (files.run, files.save_best))


def _done(
    search: Search, collection: Collection, parts: TuningParts | None, files: SearchFiles, header: bool
) -> tuple[Retrieved | None, Tuned | None]:
    """What was found, written to where it goes."""
    from cranfield.cli.progress import counted
    from cranfield.search import saved_best, search_collection, tune_collection

    choice, indexing, asking, saved = search
    retrieved: Retrieved | None = None
    tuned: Tuned | None = None
    if files.run is None:
        tuned = tune_collection(collection, choice, parts, indexing, asking, watch=counted)
        _tell(collection.documents)
        options.warn(tuned.warnings)
    else:
        searched = search_collection(
            collection, choice, parts, indexing=indexing, asking=asking, saved=saved, watch=counted
        )
        retrieved, tuned = searched.retrieved, searched.tuned
        _tell(collection.documents)
        options.warn(searched.warnings)
        searched.write(files.run, head=header, command=["cranfield", *sys.argv[1:]])
    if files.save_best and tuned is not None:
        saved_best(tuned, collection, indexing, asking).write(files.save_best)
    return retrieved, tuned


def _read(source: str, ids: Ids) -> Collection:
    """The collection; what is odd about it is told at once, but of documents that are read later see `_tell`."""
    from cranfield.texts.collection import read_collection

    collection = read_collection(source, ids=ids, streamed=True)
    parts = (collection, collection.documents, collection.topics)
    for code, note in (told for part in parts if part is not None for told in part.notes):
        if code != "left-out":
            tell("note", note)
    if collection.documents is None or collection.topics is None:
        raise DataError(f"has no {'documents' if collection.documents is None else 'topics'}", source=source)
    return collection


def _tell(documents: Documents | None) -> None:
    """What was odd about documents that stayed in their file until they were indexed."""
    from cranfield.texts.streaming import Streamed

    for code, note in documents.late if isinstance(documents, Streamed) else ():
        if code != "left-out":
            tell("note", note)
