"""`retrieve`: documents and topics in, a run out, and with it how fast it was made."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from cranfield.efficiency.metadata import run_metadata
from cranfield.efficiency.timing import Efficiency, Indexing, timed_answers
from cranfield.errors import DataError, UsageError, some
from cranfield.evaluation.findings import Finding
from cranfield.evaluation.printed import PrintedInNotebooks
from cranfield.formats import read_run
from cranfield.notation import Value
from cranfield.render.json_form import Json, plain
from cranfield.search.index import Index, build_index, digest_of, load_index, searched_fields
from cranfield.search.models import Model, find_model
from cranfield.search.systems import System, as_rows
from cranfield.search.tokens import WORD, Analysis
from cranfield.search.tuning import Tuned, tuned_systems
from cranfield.tables import Run
from cranfield.texts.streaming import worked_through
from cranfield.texts.texts import Documents, Topics

DEPTH = 1000


@dataclass(frozen=True)
class Timing:
    """How a search is timed: queries asked before, how often each is asked, and whether tirex-tracker watches.

    `step` is called after every answer.
    """

    warm_up: int = 10
    repeats: int = 3
    track: bool = False
    step: Callable[[], None] = lambda: None


@dataclass(frozen=True, eq=False, repr=False)
class Retrieved(PrintedInNotebooks):
    """A run, how fast it was made, its metadata, and what is odd about it."""

    run: Run
    efficiency: Efficiency
    metadata: Mapping[str, Json]
    warnings: tuple[Finding, ...] = ()

    def _rendered(self, format: str) -> str:
        from cranfield.search.search_tables import render

        return render(self, None, format)

    def _headline(self) -> str:
        return f"<Retrieved: {self.run!r}>"


def indexed(
    documents: Documents,
    analysis: Analysis | None = None,
    *,
    fields: Sequence[str] = (),
    path: str | os.PathLike[str] | None = None,
    step: Callable[[], None] | None = None,
    threads: int | None = None,
) -> tuple[Index, Indexing]:
    """The index of documents and what it took to build, by all cores or by so many `threads`. With a `path` it is read
    from there, or saved there if there is none yet.

    >>> index, indexing = indexed(Documents(("1",), {"text": ["ducks swim"]}))
    >>> index, indexing.documents, indexing.saved
    (<Index '': 1 document, 2 terms>, 1, False)
    """
    analysis = analysis or Analysis()
    if path is not None and os.path.exists(path):
        index = load_index(path)
        digest = worked_through(documents, lambda given: digest_of(given, fields or searched_fields(given)))
        if index.analysis != analysis or index.digest != digest:
            raise DataError(
                "is the index of other documents, or was made with another stemmer, other stop words or fields",
                source=str(path),
                remedy="Remove it, or name another file for this index.",
            )
        return index, Indexing(len(index), None, os.path.getsize(path), saved=True)
    analysis.stems([])  # loading a stemmer is not indexing
    start = time.perf_counter()
    index = worked_through(
        documents, lambda given: build_index(given, analysis, fields=fields, step=step, threads=threads)
    )
    seconds = time.perf_counter() - start
    size = index.save(path) if path else index.size
    return index, Indexing(len(index), seconds, size, saved=path is not None)


def retrieve(
    documents: Documents | Index | tuple[Index, Indexing],
    topics: Topics,
    model: str = "bm25",
    *,
    parameters: Mapping[str, Value] | None = None,
    query: Sequence[str] = (),
    depth: int = DEPTH,
    tag: str | None = None,
    timing: Timing | None = None,
) -> Retrieved:
    """Searches documents, or an index of them (alone, or with what it took as `indexed` gives it), for every topic.

    `model` and its `parameters` are those of `cranfield.search.models`; `query` names the fields of a topic that make
    its query, by default the title. For another stemmer or other stop words give an index made with them.

    >>> ducks = Documents(("d1", "d2"), {"text": ["Ducks swim.", "Geese fly, ducks swim and swim."]})
    >>> retrieve(ducks, Topics(("1",), {"title": ["swimming"]}), "lm", parameters={"mu": 10.0}).run.of("1")
    {'d1': 0.027398974, 'd2': -0.022472856}
    """
    chosen = find_model(model)
    chosen.check_values(parameters or {})
    index, indexing = indexed(documents) if isinstance(documents, Documents) else _with_indexing(documents)
    start = time.perf_counter()
    system = chosen.system(index, parameters)
    indexing = _longer(indexing, time.perf_counter() - start)
    queries = dict(zip(topics.ids, topics.queries(*query), strict=True))
    described = method(index, chosen, [{**chosen.settings, **(parameters or {})}], query, depth)
    questions = {topic: (system, text) for topic, text in queries.items()}
    return _retrieved(
        questions, (index, indexing), described, topics.name, depth, tag or chosen.name, timing or Timing()
    )


def retrieve_tuned(
    index: Index | tuple[Index, Indexing],
    topics: Topics,
    tuned: Tuned,
    *,
    query: Sequence[str] = (),
    depth: int = DEPTH,
    tag: str | None = None,
    timing: Timing | None = None,
) -> Retrieved:
    """Answers every topic that was tested with the parameters of its fold, which were tuned on other topics.

    >>> from cranfield.planning.splits import split
    >>> from cranfield.search.tuning import Tuning, tune
    >>> index = build_index(Documents(("d1", "d2"), {"text": ["ducks swim", "geese fly, ducks swim and swim"]}))
    >>> topics = Topics(("1", "2"), {"title": ["swim", "ducks swim"]})
    >>> queries, qrels = {"1": "swim", "2": "ducks swim"}, {"1": {"d1": 1}, "2": {"d1": 1}}
    >>> tuned = tune(index, "bm25", queries, qrels, split(["1", "2"], folds=2), Tuning(grid={"b": (0.0, 1.0)}))
    >>> retrieve_tuned(index, topics, tuned).run.topics
    ['1', '2']
    """
    searched, indexing = _with_indexing(index)
    start = time.perf_counter()
    systems = tuned_systems(searched, tuned)
    indexing = _longer(indexing, time.perf_counter() - start)
    queries = dict(zip(topics.ids, topics.queries(*query), strict=True))
    used = [{**tuned.model.settings, **fold.parameters} for fold in tuned.folds]
    described = method(searched, tuned.model, used, query, depth)
    questions = {topic: (systems[topic], text) for topic, text in queries.items() if topic in systems}
    named = tag or f"{tuned.model.name}-tuned"
    retrieved = _retrieved(questions, (searched, indexing), described, topics.name, depth, named, timing or Timing())
    warnings = [*tuned.warnings, *retrieved.warnings]
    left_out = [topic for topic in topics.ids if topic not in systems]
    if left_out:
        note = f"topics that no fold tests are left out: {some(left_out)}"
        warnings.append(Finding("not-tested", retrieved.run.name, note, doubtful=False))
    return replace(retrieved, warnings=tuple(warnings))


def _with_indexing(index: Index | tuple[Index, Indexing]) -> tuple[Index, Indexing | None]:
    return index if isinstance(index, tuple) else (index, None)


def _longer(indexing: Indexing | None, seconds: float) -> Indexing | None:
    """With the time that a model's weights took; none is known of an index that was read from a file."""
    if indexing is None or indexing.seconds is None:
        return indexing
    return replace(indexing, seconds=indexing.seconds + seconds)


def method(
    index: Index, model: Model, parameters: Iterable[Mapping[str, Value]], query: Sequence[str], depth: int
) -> dict[str, Json]:
    """What was done, as the method part of ir_metadata has it; several sets of parameters are those of folds."""
    analysis, sets = index.analysis, list(parameters)
    names = [f"{model.name} fold {i}" for i in range(1, len(sets) + 1)] if len(sets) > 1 else [model.name]
    return {
        "automatic": True,
        "score ties": "document id descending as bytes",
        "indexing": {
            "tokenizer": f"lower case, {WORD}",
            "stemmer": analysis.stemmer if analysis.stemmer == "none" else f"Snowball {analysis.stemmer}",
            "stopwords": analysis.stop_words,
            "fields": "+".join(index.fields),
        },
        "query": {"fields": "+".join(query) or "title, or description where there is none", "depth": depth},
        "retrieval": [
            {"name": name, "method": f"cranfield {model.name}", **{key.rstrip("_"): plain(used[key]) for key in used}}
            for name, used in zip(names, sets, strict=True)
        ],
    }


def _retrieved(
    questions: Mapping[str, tuple[System, str]],
    searched: tuple[Index, Indexing | None],
    described: Mapping[str, Json],
    topics: str,
    depth: int,
    tag: str,
    timing: Timing,
) -> Retrieved:
    """What comes of asking, for each topic, a system a query; `topics` is what all of them are called."""
    if depth < 1:
        raise UsageError(f"depth must be 1 or more, not {depth}")
    rankings, efficiency = timed_answers(
        lambda question: question[0].rank(question[1], depth),
        questions,
        warm_up=timing.warm_up,
        repeats=timing.repeats,
        track=timing.track,
        step=timing.step,
    )
    index, indexing = searched
    efficiency = replace(efficiency, indexing=indexing)
    rows = as_rows(index, rankings)
    if not rows:
        raise DataError(
            "nothing was found for any topic: no query has a term that a document has",
            source=index.name or None,
            remedy="Are these topics of this collection, and in the same language?",
        )
    run = read_run(rows, name=tag)
    empty = [topic for topic in questions if topic not in rows]
    warnings = (Finding("nothing-found", tag, f"nothing was found for {some(empty)}"),) if empty else ()
    data = {"test collection": {"name": index.name, "topics": topics}}
    return Retrieved(run, efficiency, run_metadata(tag, efficiency, method=described, data=data), warnings)
