"""`train_fusion`: parameters learnt on some topics and used on others, so that no topic is tuned and tested on."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cranfield import _core
from cranfield.errors import DataError, UsageError, plural, some
from cranfield.evaluation.evaluation import evaluate
from cranfield.evaluation.experiment import Experiment
from cranfield.evaluation.findings import Finding
from cranfield.evaluation.printed import Printed
from cranfield.formats.reading import Reading
from cranfield.fusion.fusing import DEPTH, Recipe, Sources, findings, fused_parts, fused_run
from cranfield.fusion.method import find_method
from cranfield.fusion.searching import Point, Scored, best_parameters
from cranfield.judged import Floats, Judged, joined, judge
from cranfield.measures import Measure, parse_measure
from cranfield.notation import Value
from cranfield.planning.splits import Splits, read_splits, split
from cranfield.planning.tuned import (
    TunedOn,
    TunedParameters,
    best_label,
    judgements_digest,
    read_parameters,
    topic_digests,
)
from cranfield.policy import Policy
from cranfield.statistics.splitting import Split
from cranfield.tables import Origin, Qrels, Run, thread_count

if TYPE_CHECKING:
    from cranfield.render.json_form import Json

SCHEMA = "cranfield.fusion/1"
TUNED_ON_TEST = ("tuned-on-test", "was tuned on the topics it is given for: its scores there are a fit, and no test")


class Learnt(NamedTuple):
    """What was learnt on the topics of `train` and used on those of `test`; `score` is the measure's on `train`."""

    train: tuple[str, ...]
    test: tuple[str, ...]
    parameters: dict[str, Any]  # numbers, lists of them or lists of lists: the method decides
    score: float


@dataclass(frozen=True, repr=False, kw_only=True)
class TrainedFusion(Printed):
    """A fused run, and how its parameters were learnt, fold by fold."""

    run: Run
    runs: tuple[str, ...]
    method: str
    normalisation: str
    measure: str
    depth: int
    folds: tuple[Learnt, ...]
    warnings: tuple[Finding, ...]
    judgements: Qrels
    best: Learnt | None = None

    def to_dict(self) -> dict[str, Json]:
        """The documented JSON form."""
        folds = [fold._asdict() | {"train": list(fold.train), "test": list(fold.test)} for fold in self.folds]
        return {
            "schema": SCHEMA,
            "runs": list(self.runs),
            "method": self.method,
            "normalisation": self.normalisation,
            "measure": self.measure,
            "depth": self.depth,
            "folds": folds,
            "warnings": [str(warning) for warning in self.warnings],
        }

    def to_json(self) -> str:
        """The documented JSON form as text."""
        import json

        return json.dumps(self.to_dict(), indent=1) + "\n"

    def learnt(self) -> str:
        """What was learnt on each fold, a line each."""
        folds = {f"fold {number}": fold for number, fold in enumerate(self.folds, start=1)}
        lines = []
        if self.best is not None:
            used_on = {topic for fold in self.folds for topic in fold.test}
            folds[best_label(set(self.best.train) >= used_on)] = self.best
        for label, fold in folds.items():
            values = ", ".join(f"{name} {_shown(value)}" for name, value in fold.parameters.items())
            used = f", used on {len(fold.test):,}" if fold is not self.best else ""
            topics = f"learnt on {plural(len(fold.train), 'topic')}{used}"
            lines.append(f"{label}: {values}; {self.measure} {fold.score:.4f}, {topics}")
        return "\n".join(lines)

    def tuning(self) -> dict[str, Json]:
        """What the fused run's metadata say of it, without what is learnt of every rank, which may be long."""
        folds: list[Json] = [
            {
                "parameters": {name: value for name, value in fold.parameters.items() if not _is_nested(value)},
                "train_score": fold.score,
                "train": list(fold.train),
                "test": list(fold.test),
            }
            for fold in self.folds
        ]
        return {"method": self.method, "measure": self.measure, "folds": folds}

    def saved(self) -> TunedParameters:
        """What is best on all topics learnt on, with all that is needed to use it on another collection."""
        if self.best is None:
            raise UsageError("the best parameters were not asked for: Training(best=True)")
        digests = topic_digests(self.judgements)
        normalised = {} if find_method(self.method).by_rank else {"norm": self.normalisation}
        return TunedParameters(
            command="fuse",
            settings={"method": self.method, **normalised},
            parameters=self.best.parameters,
            tuned=TunedOn(
                measure=self.measure,
                score=self.best.score,
                collection=self.judgements.name,
                judgements=judgements_digest(self.judgements),
                runs=self.runs,
                topics=dict.fromkeys(self.best.train, ""),
                digests={topic: made for topic, made in digests.items() if topic in self.best.train},
            ),
        )

    def _rendered(self, format: str) -> str:
        return self.learnt()


@dataclass(frozen=True, kw_only=True)
class Training:
    """How parameters are learnt.

    measure: what they are to make best. folds: parts that topics are split into, drawn by a seed; what is learnt on
    all but one is used on that one. splits: the parts themselves, a file of `cranfield split` or a Splits.
    same_topics: learn on all judged topics and use it on the same ones: a fit, not a test, and a warning says so.
    best: learn on all topics that any fold trains on as well, to use it on another collection.
    """

    measure: str | Measure = "nDCG@10"
    splits: Splits | Mapping[str, Json] | str | os.PathLike[str] | None = None
    folds: int = 5
    seed: int = 0
    same_topics: bool = False
    best: bool = False

    def __post_init__(self) -> None:
        if self.same_topics and self.splits is not None:
            raise UsageError("training on the same topics has no splits: give one of the two")

    def checked_measure(self) -> Measure:
        """The measure, if training can make it better."""
        measure = parse_measure(self.measure) if isinstance(self.measure, str) else self.measure
        measure.check_direction("train on a measure such as nDCG@10")
        if measure.is_ratio_of_means:
            raise UsageError(
                f"{measure} is a ratio of means, which says nothing of single topics: train on another measure"
            )
        return measure

    def cuts(self, topics: tuple[str, ...]) -> tuple[Split, ...]:
        """Topics to learn on, each time with those to use it on."""
        if self.same_topics:
            return (Split(topics, topics),)
        if self.splits is None:
            return split(topics, folds=self.folds, seed=self.seed).folds
        cuts = read_splits(self.splits.to_dict() if isinstance(self.splits, Splits) else self.splits, topics).folds
        tested = Counter(topic for cut in cuts for topic in cut.test)
        twice = sorted(topic for topic, count in tested.items() if count > 1)
        if twice:
            raise UsageError(
                f"these splits test a topic more than once, and a run has one ranking for each: {some(twice)}. "
                "Make splits without --repeats."
            )
        return cuts


def train_fusion(
    experiment: Experiment,
    method: str = "weighted-sum",
    training: Training | None = None,
    *,
    norm: str | None = None,
    parameters: Mapping[str, Value] | None = None,
    depth: int = DEPTH,
    name: str | None = None,
    tried: Callable[[], None] = lambda: None,
) -> TrainedFusion:
    """Fuses the runs of an experiment by a method whose parameters are learnt from its judgements.

    What is learnt on the train topics of a fold is used on its test topics alone. Topics that are in no fold, such as
    those nobody judged, are fused with what all train topics teach; those that are only trained on are left out of the
    run. Parameters given in `parameters` stay as they are. `tried` is called after every trial.

    >>> qrels = {"1": {"a": 1}, "2": {"b": 1}, "3": {"c": 1}}
    >>> good = {"1": {"a": 2, "x": 1}, "2": {"b": 2, "x": 1}, "3": {"c": 2, "x": 1}}
    >>> bad = {"1": {"x": 2, "a": 1}, "2": {"x": 2, "b": 1}, "3": {"x": 2, "c": 1}}
    >>> trained = train_fusion(Experiment(qrels, [good, bad]), "weighted-sum", Training(measure="RR", folds=3))
    >>> trained.folds[0].parameters, trained.run.of("1")
    ({'weights': [0.6, 0.4]}, {'a': 0.6, 'x': 0.4})
    """
    if experiment.policy != Policy():
        raise UsageError("fusion is trained on whole rankings, with ties by document id: leave the policy out")
    training, recipe = training or Training(), Recipe.of(method, norm, depth)
    measure, threads = training.checked_measure(), thread_count(experiment.reading.threads)
    sources = Sources.read(experiment.runs, experiment.reading)
    judgements = experiment.judgements().qrels
    fixed = _fixed(recipe, parameters or {}, sources)
    with_relevant = _check_judged(sources, judgements)
    cuts = training.cuts(tuple(judgements.topics))
    _check_folds(cuts, with_relevant, judgements, sources)
    trainer = Trainer(sources, judgements, recipe, fixed, measure, threads)
    learnt = []
    parts: list[_core.Ranked] = []
    for cut in (*cuts, *_rest(cuts, sources.topics)):
        tested = [topic for topic in cut.test if topic in sources.answered]
        values, score = trainer.learn(cut.train, tried)
        parts += fused_parts(sources, tested, recipe, values, threads)
        learnt.append(Learnt(cut.train, tuple(tested), values, score))
    best = _on_all(trainer, cuts, tried) if training.best else None
    run = fused_run(parts, sources, name or recipe.method.name, threads)
    notes = (*run.origin.notes, *_left_out(run, sources), *(TUNED_ON_TEST,) * training.same_topics)
    run = replace(run, origin=run.origin._replace(notes=notes))
    return TrainedFusion(
        run=run,
        runs=sources.names,
        method=recipe.method.name,
        normalisation=recipe.norm.name,
        measure=str(measure),
        depth=depth,
        folds=tuple(learnt),
        warnings=findings(run),
        judgements=judgements,
        best=best,
    )


def _on_all(trainer: Trainer, cuts: Sequence[Split], tried: Callable[[], None]) -> Learnt:
    """What is best on all topics that any fold trains on, in the order of the judgements."""
    known = {topic for cut in cuts for topic in cut.train}
    trained = tuple(topic for topic in trainer.place if topic in known)
    return Learnt(trained, (), *trainer.learn(trained, tried))


def saved_parameters(path: str | os.PathLike[str], runs: int) -> TunedParameters:
    """What `TrainedFusion.saved` wrote, or somebody by hand, if the method takes it for so many runs; what is wrong is
    told with its line.
    """
    saved = read_parameters(path, "fuse")
    with saved.told("method"):
        method = find_method(saved.settings["method"])
    with saved.told("norm"):
        Recipe.of(method.name, saved.settings.get("norm"), DEPTH)
    with saved.told("parameters"):
        method.checked(saved.parameters, runs)
    return saved


def checked_order(saved: TunedParameters, names: Sequence[str]) -> list[Finding]:
    """What is odd about fusing these runs with parameters learnt for others; for another order they are refused.

    >>> from cranfield.planning import TunedOn
    >>> learnt = TunedOn(topics={}, runs=("bm25", "dense"))
    >>> saved = TunedParameters(settings={"method": "wsum"}, parameters={"weights": [0.3, 0.7]}, tuned=learnt)
    >>> print(*checked_order(saved, ["bm25", "other"]))
    the parameters: were learnt for bm25, dense; fused are bm25, other
    """
    learnt = () if saved.tuned is None else saved.tuned.runs
    if not learnt or list(learnt) == list(names):
        return []
    by_run = any(isinstance(value, list | tuple) for value in saved.parameters.values())
    if sorted(learnt) == sorted(names):
        if not by_run:
            return []
        raise DataError(
            f"has parameters for {', '.join(learnt)} in this order, not for {', '.join(names)}",
            source=saved.source,
            remedy="Give the runs in that order: each run has a number of its own among the parameters.",
        )
    message = f"were learnt for {', '.join(learnt)}; fused are {', '.join(names)}"
    return [Finding("other-runs", saved.source, message)]


def _fixed(recipe: Recipe, parameters: Mapping[str, Value], sources: Sources) -> Point:
    """The parameters that are not learnt, where others are."""
    method = recipe.method
    values = method.checked(parameters, len(sources.tables), learning=True)
    fixed = {name: values[name] for name in method.fixed(parameters)}
    open_to_learning = {*method.tuned, method.learnt} - {None, *fixed}
    if not open_to_learning or method.learnt in fixed:
        raise UsageError(f"{method.name} has nothing to learn: fuse without training")
    return fixed


def _check_judged(sources: Sources, judgements: Qrels) -> set[str]:
    """That there is something to learn from; gives the topics for which a run has a relevant document."""
    source, runs = judgements.origin.path or judgements.name, some(sources.names)
    shared = [topic for topic in judgements.topics if topic in sources.answered]
    if not shared:
        raise DataError(
            f"judges no topic that a run has: the judgements have {some(judgements.topics, 3)}, the runs have "
            f"{some(sources.topics, 3)}",
            source=source,
            remedy="Is this the right pair? Topic ids must be the same text: 0001 is not 1.",
        )
    known = _with_relevant(sources, judgements)
    if not known:
        judged = judgements.to_dict(shared).values()
        relevant = list(dict.fromkeys(id for of in judged for id, grade in of.items() if grade > 0))
        first = shared[0].encode("utf-8", "surrogateescape")
        retrieved = next(documents for table in sources.tables if (documents := table.documents(first)))
        raise DataError(
            f"not one document that it calls relevant is in {runs}: nothing can be learnt from it. The judgements have "
            f"{some(relevant, 3) or 'none'}, the runs have {some(retrieved, 3)}",
            source=source,
            remedy="Is this the right pair? Document ids must be the same text in runs and judgements.",
        )
    return known


def _check_folds(cuts: Sequence[Split], known: set[str], judgements: Qrels, sources: Sources) -> None:
    """That every fold has something to learn from: topics for which a run has a relevant document."""
    for number, cut in enumerate(cuts, start=1):
        if known.isdisjoint(cut.train):
            raise DataError(
                f"fold {number} has nothing to learn from: not one relevant document of its training topics "
                f"({some(cut.train)}) is in {some(sources.names)}",
                source=judgements.origin.path or judgements.name,
                remedy="Take fewer folds or another seed, or judgements that have relevant documents for more topics.",
            )


def _with_relevant(sources: Sources, judgements: Qrels) -> set[str]:
    """The topics for which a run has a relevant document."""
    topics: set[str] = set()
    for table in sources.tables:
        judged = joined(Run(table, Origin("")), judgements, "docid")
        topics.update(judged.topics[topic] for topic in judged.topic[judged.grade > 0].tolist())
    return topics


def _rest(cuts: Sequence[Split], topics: Sequence[str]) -> tuple[Split, ...]:
    """For topics that no fold knows, a last one that learns on everything any fold trains on."""
    trained = dict.fromkeys(topic for cut in cuts for topic in cut.train)
    known = set(trained).union(*(cut.test for cut in cuts))
    others = tuple(topic for topic in topics if topic not in known)
    return (Split(tuple(trained), others),) if others else ()


def _left_out(run: Run, sources: Sources) -> list[tuple[str, str]]:
    there = set(run.topics)
    missing = [topic for topic in sources.topics if topic not in there]
    if not missing:
        return []
    return [("train-topics", f"{plural(len(missing), 'topic')} only trained on, and left out: {some(missing)}")]


class Trainer:
    """Learns parameters on one set of topics after another. What a trial scores on each topic is computed once."""

    def __init__(
        self, sources: Sources, qrels: Qrels, recipe: Recipe, fixed: Mapping[str, Value], measure: Measure, threads: int
    ) -> None:
        self.sources, self.qrels, self.recipe, self.fixed = sources, qrels, recipe, fixed
        self.measure, self.threads = measure, threads
        self.place = {topic: number for number, topic in enumerate(qrels.topics)}
        self.trials: dict[str, Floats] = {}
        runs = zip(sources.names, sources.tables, strict=True)
        self.judged = [judge(Run(table, Origin(name)), qrels) for name, table in runs] if recipe.method.learnt else []

    def learn(self, topics: Sequence[str], tried: Callable[[], None]) -> Scored:
        """The best parameters on these topics, and the measure's average with them."""
        chosen = np.array([self.place[topic] for topic in topics], dtype=np.int64)
        seen = [judged.select(chosen) for judged in self.judged]
        whole = partial(self._completed, seen)

        def score(point: Point) -> float:
            scores = self._scores(whole(point))[chosen]
            tried()
            return self.measure.sign * self.measure.aggregate(scores)

        point, best = best_parameters(self.recipe.method, len(self.sources.tables), self.fixed, score)
        return whole(point), self.measure.sign * best

    def _completed(self, seen: Sequence[Judged], point: Point) -> Point:
        """The point with what is learnt of each run under it."""
        learning = self.recipe.method.learning
        if learning is None:
            return point
        return point | {learning.parameter: [learning.function(judged, **point).tolist() for judged in seen]}

    def _scores(self, values: Point) -> Floats:
        """The measure on every judged topic. What is learnt anew for each fold is not tried twice, nor kept."""
        key = repr(sorted(values.items())) if self.recipe.method.learnt is None else ""
        if key in self.trials:
            return self.trials[key]
        topics = [topic for topic in self.place if topic in self.sources.answered]
        parts = fused_parts(self.sources, topics, self.recipe, values, self.threads)
        run = Run(_core.ranked_table(parts, self.threads), Origin("trial"))
        scores: Floats = evaluate(self.qrels, run, self.measure, reading=Reading(threads=self.threads)).scores[0, 0]
        if key:
            self.trials[key] = scores
        return scores


def _is_nested(value: Value) -> bool:
    return isinstance(value, list) and any(isinstance(entry, list) for entry in value)


def _shown(value: Value) -> str:
    """Numbers as they are; of what is learnt for every rank, how much there is."""
    if not isinstance(value, list):
        return f"{value:g}"
    if _is_nested(value):
        return f"of {plural(len(value), 'run')}"
    return ", ".join(f"{number:.3g}" for number in value)
