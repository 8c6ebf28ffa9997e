"""`train_fusion`: parameters learnt on some topics and used on others, so that no topic is tuned and tested on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from cranfield import _core
from cranfield.errors import DataError, UsageError, plural, some
from cranfield.evaluation.evaluation import evaluate
from cranfield.evaluation.findings import Finding
from cranfield.formats import read_qrels
from cranfield.formats.reading import DEFAULT, Reading
from cranfield.fusion.fusing import DEPTH, Recipe, Sources, findings, fused_parts, fused_run
from cranfield.fusion.searching import best_parameters
from cranfield.judged import Floats, Judged, joined, judge
from cranfield.measures import Measure, parse_measure
from cranfield.planning.splits import Splits, read_splits, split
from cranfield.statistics.splitting import Split
from cranfield.tables import Origin, Qrels, Run, thread_count

SCHEMA = "cranfield.fusion/1"
TUNED_ON_TEST = ("tuned-on-test", "was tuned on the topics it is given for: its scores there are a fit, and no test")


class Learnt(NamedTuple):
    """What was learnt on the topics of `train` and used on those of `test`; `score` is the measure's on `train`."""

    train: tuple[str, ...]
    test: tuple[str, ...]
    parameters: dict[str, Any]
    score: float


@dataclass(frozen=True)
class TrainedFusion:
    """A fused run, and how its parameters were learnt, fold by fold."""

    run: Run
    runs: tuple[str, ...]
    method: str
    normalisation: str
    measure: str
    depth: int
    folds: tuple[Learnt, ...]
    warnings: tuple[Finding, ...]

    def to_dict(self) -> dict[str, Any]:
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

    def __str__(self) -> str:
        lines = []
        for number, fold in enumerate(self.folds, start=1):
            values = ", ".join(f"{name} {_shown(value)}" for name, value in fold.parameters.items())
            topics = f"learnt on {plural(len(fold.train), 'topic')}, used on {len(fold.test):,}"
            lines.append(f"fold {number}: {values}; {self.measure} {fold.score:.4f}, {topics}")
        return "\n".join(lines)


def train_fusion(
    runs: Any,
    qrels: Any,
    method: str = "weighted-sum",
    *,
    measure: str = "nDCG@10",
    splits: Any = None,
    folds: int = 5,
    seed: int = 0,
    same_topics: bool = False,
    norm: str | None = None,
    parameters: Mapping[str, Any] | None = None,
    depth: int = DEPTH,
    name: str | None = None,
    reading: Reading = DEFAULT,
    tried: Callable[[], None] = lambda: None,
) -> TrainedFusion:
    """Fuses runs by a method whose parameters are learnt from judgements.

    Topics are split into `folds`, or as `splits` says (a file of `cranfield split`, or a Splits): what is learnt on the
    train topics of a fold is used on its test topics alone. Topics that are in no fold, such as those nobody judged,
    are fused with what all train topics teach; those that are only trained on are left out of the run. Parameters are
    chosen to make `measure` best; those given in `parameters` stay as they are. `same_topics` learns on all judged
    topics and uses it on the same ones: a fit, not a test, and a warning says so. `tried` is called after every trial.

    >>> qrels = {"1": {"a": 1}, "2": {"b": 1}, "3": {"c": 1}}
    >>> good = {"1": {"a": 2, "x": 1}, "2": {"b": 2, "x": 1}, "3": {"c": 2, "x": 1}}
    >>> bad = {"1": {"x": 2, "a": 1}, "2": {"x": 2, "b": 1}, "3": {"x": 2, "c": 1}}
    >>> trained = train_fusion([good, bad], qrels, "weighted-sum", measure="RR", folds=3)
    >>> trained.folds[0].parameters, trained.run.of("1")
    ({'weights': [0.6, 0.4]}, {'a': 0.6, 'x': 0.4})
    """
    threads = thread_count(reading.threads)
    recipe, taken = Recipe.of(method, norm, depth), parse_measure(measure)
    if same_topics and splits is not None:
        raise UsageError("training on the same topics has no splits: give one of the two")
    taken.check_direction("train on a measure such as nDCG@10")
    if taken.is_ratio_of_means:
        raise UsageError(f"{taken} is a ratio of means, which says nothing of single topics: train on another measure")
    sources = Sources.read(runs, reading)
    judgements = read_qrels(qrels, reading=reading)
    values = recipe.method.checked(parameters or {}, len(sources.tables), learning=True)
    fixed = {name: values[name] for name in recipe.method.fixed(parameters or {})}
    open_to_learning = {*recipe.method.tuned, recipe.method.learnt} - {None, *fixed}
    if not open_to_learning or recipe.method.learnt in fixed:
        raise UsageError(f"{recipe.method.name} has nothing to learn: fuse without training")
    judged = tuple(judgements.topics)
    if not any(topic in sources.answered for topic in judged):
        raise DataError("judges no topic that a run has", source=judgements.origin.path or judgements.name)
    if not any(len(joined(Run(table, Origin("")), judgements, "docid").rank) for table in sources.tables):
        raise DataError(
            "judges no document that a run has: nothing can be learnt from it",
            source=judgements.origin.path or judgements.name,
            remedy="Document ids must be the same text in runs and judgements.",
        )
    cuts = (Split(judged, judged),) if same_topics else _cuts(judged, splits, folds, seed)
    cuts += _rest(cuts, sources.topics)

    trainer = Trainer(sources, judgements, recipe, fixed, taken, threads)
    learnt = []
    parts: list[_core.Ranked] = []
    for cut in cuts:
        tested = [topic for topic in cut.test if topic in sources.answered]
        values, score = trainer.learn(cut.train, tried)
        parts += fused_parts(sources, tested, recipe, values, threads)
        learnt.append(Learnt(cut.train, tuple(tested), values, score))
    run = fused_run(parts, sources, name or recipe.method.name, threads)
    notes = (*run.origin.notes, *_left_out(run, sources), *(TUNED_ON_TEST,) * same_topics)
    run = replace(run, origin=run.origin._replace(notes=notes))
    return TrainedFusion(
        run, sources.names, recipe.method.name, recipe.norm.name, str(taken), depth, tuple(learnt), findings(run)
    )


def _cuts(topics: tuple[str, ...], splits: Any, folds: int, seed: int) -> tuple[Split, ...]:
    if splits is None:
        return split(topics, folds=folds, seed=seed).folds
    cuts = read_splits(splits.to_dict() if isinstance(splits, Splits) else splits, topics).folds
    tested = Counter(topic for cut in cuts for topic in cut.test)
    twice = sorted(topic for topic, count in tested.items() if count > 1)
    if twice:
        raise UsageError(
            f"these splits test a topic more than once, and a run has one ranking for each: {some(twice)}. "
            "Make splits without --repeats."
        )
    return cuts


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
        self, sources: Sources, qrels: Qrels, recipe: Recipe, fixed: Mapping[str, Any], measure: Measure, threads: int
    ) -> None:
        self.sources, self.qrels, self.recipe, self.fixed = sources, qrels, recipe, fixed
        self.measure, self.threads = measure, threads
        self.place = {topic: number for number, topic in enumerate(qrels.topics)}
        self.trials: dict[str, Floats] = {}
        runs = zip(sources.names, sources.tables, strict=True)
        self.judged = [judge(Run(table, Origin(name)), qrels) for name, table in runs] if recipe.method.learnt else []

    def learn(self, topics: Sequence[str], tried: Callable[[], None]) -> tuple[dict[str, Any], float]:
        """The best parameters on these topics, and the measure's average with them."""
        chosen = np.array([self.place[topic] for topic in topics], dtype=np.int64)
        seen = [judged.select(chosen) for judged in self.judged]
        whole = partial(self._completed, seen)

        def score(point: dict[str, Any]) -> float:
            scores = self._scores(whole(point))[chosen]
            tried()
            return self.measure.sign * self.measure.aggregate(scores)

        point, best = best_parameters(self.recipe.method, len(self.sources.tables), self.fixed, score)
        return whole(point), self.measure.sign * best

    def _completed(self, seen: Sequence[Judged], point: dict[str, Any]) -> dict[str, Any]:
        """The point with what is learnt of each run under it."""
        learning = self.recipe.method.learning
        if learning is None:
            return point
        return point | {learning.parameter: [learning.function(judged, **point).tolist() for judged in seen]}

    def _scores(self, values: dict[str, Any]) -> Floats:
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


def _shown(value: Any) -> str:
    """Numbers as they are; of what is learnt for every rank, how much there is."""
    if not isinstance(value, list):
        return f"{value:g}"
    if any(isinstance(one, list) for one in value):
        return f"of {plural(len(value), 'run')}"
    return ", ".join(f"{one:.3g}" for one in value)
