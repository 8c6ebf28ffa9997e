"""`search_collection`: a collection in, a run out; with a grid of parameters the model is tuned first."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple, Protocol

from cranfield.efficiency.metadata import with_command, write_described
from cranfield.efficiency.timing import Indexing
from cranfield.errors import DataError, UsageError, some
from cranfield.evaluation.findings import Finding
from cranfield.formats import read_qrels
from cranfield.formats.reading import DEFAULT, Reading
from cranfield.measures import Measure
from cranfield.notation import Value, spelt
from cranfield.planning.splits import Splits, read_splits, split
from cranfield.planning.tuned import (
    TunedOn,
    TunedParameters,
    judgements_digest,
    read_parameters,
    topic_digests,
    tuned_on_test,
)
from cranfield.search.grids import as_value, own_name, parse_grid
from cranfield.search.index import Index
from cranfield.search.models import Model, find_model
from cranfield.search.retrieving import DEPTH, Retrieved, Timing, indexed, retrieve, retrieve_tuned
from cranfield.search.search_tables import tuning_dict
from cranfield.search.tokens import NONE, Analysis, is_stop_word_file
from cranfield.search.tuning import Tuned, Tuning, measure_to_tune, tune
from cranfield.tables import Qrels
from cranfield.texts.collection import Collection, other_ids
from cranfield.texts.streaming import Streamed
from cranfield.texts.texts import Documents, Topics

if TYPE_CHECKING:
    from cranfield.formats.given import Given, Json

FOLDS = 2


@dataclass(frozen=True, kw_only=True)
class ModelChoice:
    """A model, the values of some of its parameters, and values to try of others."""

    model: Model
    fixed: Mapping[str, Value] = field(default_factory=dict)
    grid: Mapping[str, tuple[Value, ...]] = field(default_factory=dict)

    @classmethod
    def of(
        cls, model: str, given: Mapping[str, str] | None = None, grids: Iterable[str] = (), *, seed: int = 0
    ) -> ModelChoice:
        """From texts, as a command has them; what would count for nothing is an error.

        >>> choice = ModelChoice.of("bm25", {"k1": "0.9"}, ["b=0.3:0.9:0.3"])
        >>> choice.fixed, choice.grid
        ({'k1': 0.9}, {'b': (0.3, 0.6, 0.9)})
        """
        chosen = find_model(model)
        fixed = _parameters(chosen, given or {})
        grid = parse_grid(grids, chosen)
        twice = [name for name in grid if name in fixed]
        if twice:
            raise UsageError(f"{', '.join(twice)} has both a value and a grid: give one of the two")
        _check_used(chosen, fixed, grid)
        if "seed" in chosen.parameters and "seed" not in grid:
            fixed["seed"] = seed
        return cls(model=chosen, fixed=fixed, grid=grid)


@dataclass(frozen=True, kw_only=True)
class IndexSettings:
    """How documents are indexed: the analysis of their text, fields (title and text by default), a file to keep it, and
    by how many threads (all cores by default).
    """

    analysis: Analysis = field(default_factory=Analysis)
    fields: Sequence[str] = ()
    path: str | None = None
    threads: int | None = None


@dataclass(frozen=True, kw_only=True)
class Asking:
    """What is asked: fields that make a query, how many documents a topic, the run's tag, and how that is timed."""

    query: Sequence[str] = ()
    depth: int = DEPTH
    tag: str | None = None
    timing: Timing = field(default_factory=Timing)


@dataclass(frozen=True, kw_only=True)
class TuningParts:
    """What to tune on, and for which measure: judgements (those of the collection by default) and splits of the topics,
    a file of `cranfield split` or so many folds drawn by a seed.
    """

    measure: str | Measure = "AP"
    qrels: Given | None = None
    splits: str | None = None
    folds: int | None = None
    seed: int = 0
    reading: Reading = DEFAULT

    def __post_init__(self) -> None:
        measure_to_tune(self.measure)
        if self.splits and self.folds:
            raise UsageError("--splits and --folds exclude each other")

    def of(self, collection: Collection, topics: Topics) -> tuple[Qrels, Splits]:
        """Judgements to tune on, and which topics are for tuning and which for testing."""
        judgements = collection.qrels if self.qrels is None else read_qrels(self.qrels, reading=self.reading)
        if judgements is None:
            raise UsageError("there are no judgements to tune on: give them with --tune QRELS")
        trap = other_ids(topics, judgements.topics)
        if trap:
            raise DataError(trap, source=judgements.origin.path or collection.name)
        there = set(topics.ids)
        both = [topic for topic in judgements.topics if topic in there]
        if not both:
            raise DataError(
                f"no topic in common with {collection.name}: the judgements have {some(judgements.topics, 3)}, the "
                f"collection has {some(topics.ids, 3)}",
                source=judgements.origin.path or judgements.name,
                remedy="Are they judgements of this collection? Topic ids must be the same text: 0001 is not 1.",
            )
        return judgements, read_splits(self.splits) if self.splits else split(
            both, folds=self.folds or FOLDS, seed=self.seed
        )


class Searched(NamedTuple):
    """The run with what is known of it, and what tuning found, if there was any. `tuning` is what the run's metadata
    say of it, and `warnings` what is odd.
    """

    retrieved: Retrieved
    tuned: Tuned | None = None
    tuning: Mapping[str, Json] | None = None
    warnings: tuple[Finding, ...] = ()

    def write(self, place: str, *, head: bool = False, command: Iterable[str] = ()) -> None:
        """Writes the run, and beside it all that is known of it, with the command that made it."""
        latencies = self.retrieved.efficiency.latencies.items()
        more: dict[str, Json] = {"latency ms by topic": {topic: 1000 * seconds for topic, seconds in latencies}}
        if self.tuning:
            more["tuning"] = self.tuning
        metadata = with_command(self.retrieved.metadata, command)
        write_described(self.retrieved.run, place, metadata, head=head, more=more)


class Steps(Protocol):
    """What counts steps."""

    def step(self) -> None: ...


class _Unwatched:
    def step(self) -> None:
        pass


# Called with what is done and how many steps it has.
Watch = Callable[[str, int], AbstractContextManager[Steps]]


def unwatched(label: str, total: int) -> AbstractContextManager[Steps]:
    """Nobody looks."""
    return nullcontext(_Unwatched())


def search_collection(
    collection: Collection,
    choice: ModelChoice,
    parts: TuningParts | None = None,
    *,
    indexing: IndexSettings | None = None,
    asking: Asking | None = None,
    saved: TunedParameters | None = None,
    watch: Watch = unwatched,
) -> Searched:
    """Searches the documents of a collection for its topics.

    Where the choice of the model has a grid, every combination of its values is tried, and each fold's topics are
    answered with the values that are best on the other topics; `parts` says which. `saved` is where the choice's
    parameters are from, if they were tuned before: the run's metadata tell on what.

    >>> from cranfield.texts import read_collection
    >>> pond = read_collection(documents={"d1": "Ducks swim.", "d2": "Geese fly."}, topics={"1": "swimming"})
    >>> search_collection(pond, ModelChoice.of("bm25")).retrieved.run.of("1")
    {'d1': 0.3150669}
    """
    asking = asking or Asking()
    searched, tuned = _indexed_and_tuned(collection, choice, parts, indexing or IndexSettings(), asking, watch)
    _, topics = _texts_of(collection)
    with watch("searching", asking.timing.repeats * len(topics)) as counter:
        timing = replace(asking.timing, step=counter.step)
        if tuned is not None:
            retrieved = retrieve_tuned(
                searched, topics, tuned, query=asking.query, depth=asking.depth, tag=asking.tag, timing=timing
            )
        else:
            retrieved = retrieve(
                searched,
                topics,
                choice.model.name,
                parameters=choice.fixed,
                query=asking.query,
                depth=asking.depth,
                tag=asking.tag,
                timing=timing,
            )
    if tuned is not None:
        return Searched(retrieved, tuned, tuning_dict(tuned, points=False), retrieved.warnings)
    if saved is None:
        return Searched(retrieved, warnings=retrieved.warnings)
    known, shared = _asked_again(saved.tuned, collection, asking)
    warnings = (tuned_on_test(retrieved.run.name, shared),) if shared else ()
    return Searched(retrieved, None, saved.to_dict() | known, (*warnings, *retrieved.warnings))


def tune_collection(
    collection: Collection,
    choice: ModelChoice,
    parts: TuningParts | None = None,
    indexing: IndexSettings | None = None,
    asking: Asking | None = None,
    *,
    watch: Watch = unwatched,
) -> Tuned:
    """Tries every combination of the choice's grid on a collection, without making a run.

    >>> from cranfield.texts import read_collection
    >>> documents, judged = {"d1": "Ducks swim.", "d2": "Geese fly, ducks swim."}, {"1": {"d1": 1}, "2": {"d1": 1}}
    >>> pond = read_collection(documents=documents, topics={"1": "ducks", "2": "swimming"}, qrels=judged)
    >>> tuned = tune_collection(pond, ModelChoice.of("bm25", grids=["b=0,1"]))
    >>> tuned.best.parameters["b"], tuned.best.score, tuned.best.topics
    (1.0, 1.0, ('2', '1'))
    """
    if not choice.grid:
        raise UsageError("there is nothing to tune: say what, as --grid k1=0.6:1.8:0.2")
    _, tuned = _indexed_and_tuned(
        collection, choice, parts, indexing or IndexSettings(), asking or Asking(), watch
    )  # fmt: skip
    assert tuned is not None
    return tuned


def saved_best(tuned: Tuned, collection: Collection, indexing: IndexSettings, asking: Asking) -> TunedParameters:
    """The best parameters of a sweep with all that is needed to use them on another collection.

    >>> from cranfield.texts import read_collection
    >>> documents, judged = {"d1": "Ducks swim.", "d2": "Geese fly, ducks swim."}, {"1": {"d1": 1}, "2": {"d1": 1}}
    >>> pond = read_collection(documents=documents, topics={"1": "ducks", "2": "swimming"}, qrels=judged, name="pond")
    >>> tuned = tune_collection(pond, ModelChoice.of("bm25", grids=["b=0,1"]))
    >>> saved = saved_best(tuned, pond, IndexSettings(), Asking())
    >>> saved.parameters, saved.tuned.collection, saved.tuned.topics
    ({'k1': 1.2, 'b': 1.0, 'variant': 'lucene'}, 'pond', {'1': 'ducks', '2': 'swimming'})
    """
    best, (_, topics) = tuned.best, _texts_of(collection)
    queries = dict(zip(topics.ids, topics.queries(*asking.query), strict=True))
    idle = _idle({name: (value,) for name, value in best.parameters.items()})
    words = indexing.analysis.stop_words
    settings = {"model": tuned.model.name, "stemmer": indexing.analysis.stemmer}
    settings["stop-words"] = os.path.abspath(words) if is_stop_word_file(words) else words
    given = {"fields": "+".join(indexing.fields), "query": "+".join(asking.query)}
    return TunedParameters(
        settings=settings | {name: fields for name, fields in given.items() if fields},
        parameters={name: value for name, value in best.parameters.items() if name not in idle},
        tuned=TunedOn(
            measure=str(tuned.measure),
            score=best.score,
            collection=collection.name,
            judgements=judgements_digest(tuned.qrels),
            topics={topic: query for topic, query in queries.items() if topic in best.topics},
            digests={topic: made for topic, made in topic_digests(tuned.qrels).items() if topic in best.topics},
        ),
    )


def saved_parameters(path: str | os.PathLike[str]) -> TunedParameters:
    """What `saved_best` wrote, or somebody by hand, if the model takes it; what is wrong is told with its line.

    >>> saved_parameters("examples/best.toml").parameters
    {'k1': 0.6, 'b': 0.3, 'variant': 'lucene'}
    """
    saved = read_parameters(path, "search")
    with saved.told("model"):
        model = find_model(saved.settings["model"])
    for name, text in saved.texts.items():
        with saved.told(name):
            _parameters(model, {name: text})
    with saved.told("stemmer"):
        Analysis(saved.settings.get("stemmer", NONE), NONE)
    with saved.told("stop-words"):
        Analysis(NONE, saved.settings.get("stop-words", NONE))
    return saved


def _asked_again(tuned: TunedOn | None, collection: Collection, asking: Asking) -> tuple[dict[str, Json], list[str]]:
    """Which topics of a collection were tuned on, for the metadata and by themselves; for the metadata nothing where
    that cannot be known.
    """
    if tuned is None:
        return {}, []
    _, topics = _texts_of(collection)
    queries = dict(zip(topics.ids, topics.queries(*asking.query), strict=True))
    shared = tuned.asked_again(queries, collection.qrels)
    return ({"also searched": shared} if any(tuned.topics.values()) else {}), shared


def _texts_of(collection: Collection) -> tuple[Documents, Topics]:
    """What is searched, and for what."""
    if collection.documents is None or collection.topics is None:
        raise DataError(f"has no {'documents' if collection.documents is None else 'topics'}", source=collection.name)
    return collection.documents, collection.topics


def _indexed_and_tuned(
    collection: Collection,
    choice: ModelChoice,
    parts: TuningParts | None,
    indexing: IndexSettings,
    asking: Asking,
    watch: Watch,
) -> tuple[tuple[Index, Indexing], Tuned | None]:
    """The index, and what tuning on it finds where there is a grid."""
    documents, topics = _texts_of(collection)
    parts = parts or TuningParts()
    training = parts.of(collection, topics) if choice.grid else None
    documents = replace(documents, name=collection.name)  # the collection's name is the one to record
    with watch("indexing", 0 if isinstance(documents, Streamed) else len(documents)) as counter:
        searched = indexed(
            documents,
            indexing.analysis,
            fields=indexing.fields,
            path=indexing.path,
            step=counter.step,
            threads=indexing.threads,
        )
    if training is None:
        return searched, None
    return searched, _tuned(searched[0], topics, choice, training, parts.measure, asking, watch)


def _tuned(
    index: Index,
    topics: Topics,
    choice: ModelChoice,
    training: tuple[Qrels, Splits],
    measure: str | Measure,
    asking: Asking,
    watch: Watch,
) -> Tuned:
    tuning = Tuning(grid=choice.grid, fixed=choice.fixed, measure=measure, depth=asking.depth)
    queries = dict(zip(topics.ids, topics.queries(*asking.query), strict=True))
    with watch("tuning", len(tuning.points) + 1) as counter:
        return tune(index, choice.model.name, queries, *training, tuning, step=counter.step)


def _parameters(model: Model, options: Mapping[str, str]) -> dict[str, Value]:
    """Those parameters of the model that were given."""
    named = {own_name(name): value for name, value in options.items()}
    model.check_names(list(named))
    twice = [spelt(name) for name, _ in model.given if name in named]
    if twice:
        raise UsageError(f"{model} has a value for {twice[0]}: it cannot be given another by --{twice[0]}")
    parameters: dict[str, Value] = dict(model.given) | {
        name: as_value(value, name, model) for name, value in named.items()
    }
    model.check(parameters)
    return parameters


def _check_used(model: Model, fixed: Mapping[str, Value], grid: Mapping[str, tuple[Value, ...]]) -> None:
    """That what was given counts for something."""
    idle = _idle({name: grid.get(name, (fixed.get(name, default),)) for name, default in model.defaults.items()})
    for name in fixed.keys() | grid.keys():
        if name in idle:
            raise UsageError(f"{name} counts for {idle[name]}")


def _idle(tried: Mapping[str, Sequence[Value]]) -> dict[str, str]:
    """Parameters that count for nothing with any of the values that others have, and what they would count for."""
    idle = {}
    if "delta" in tried and not {"bm25l", "bm25+"}.intersection(map(str, tried["variant"])):
        idle["delta"] = "bm25l and bm25+ alone: choose one of them with --variant"
    if "slope" in tried and not any("u" in str(weighting) for weighting in tried["weighting"]):
        idle["slope"] = "weightings with u alone: choose one with --weighting, as Lnu.ltc"
    return idle
