"""Parameters tuned on some topics and tested on others: no topic is answered with parameters it helped to choose."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cranfield.errors import DataError, UsageError, some
from cranfield.evaluation.evaluation import evaluate
from cranfield.evaluation.findings import Finding
from cranfield.evaluation.printed import PrintedInNotebooks
from cranfield.formats import read_qrels
from cranfield.measures import Measure, parse_measure
from cranfield.notation import Value, spelt
from cranfield.planning.splits import Splits
from cranfield.search.grids import points
from cranfield.search.index import Index
from cranfield.search.models import Model, find_model
from cranfield.search.systems import System, as_rows
from cranfield.statistics.splitting import shared_topics
from cranfield.tables import Qrels

if TYPE_CHECKING:
    from cranfield.formats.given import Given
    from cranfield.search.index import Floats


NO_CHOICE = "every combination scores the same on the training topics, the first was taken"


@dataclass(frozen=True)
class TunedFold:
    """The parameters that were best on the topics for training, and the score they reach there and on the others."""

    parameters: Mapping[str, Value]
    train_score: float
    test_score: float
    train: tuple[str, ...]
    test: tuple[str, ...]


class Best(NamedTuple):
    """The combination of parameters that is best on all topics that any fold trains on, and its score there."""

    parameters: Mapping[str, Value]
    score: float
    topics: tuple[str, ...]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Tuned(PrintedInNotebooks):
    """What came of a sweep. `scores[point, topic]` has every combination of parameters on every topic.

    `test_score` is over all topics tested, each answered with the parameters of its fold; `default_score` over the
    same topics with the model's own parameters; `best_score` with the one combination that is best on them, which
    nobody could have known. `qrels` are the judgements it was tuned on.
    """

    model: Model
    measure: Measure
    qrels: Qrels
    points: tuple[Mapping[str, Value], ...]
    topics: tuple[str, ...]
    scores: Floats
    folds: tuple[TunedFold, ...]
    test_score: float
    default_score: float
    best_score: float
    warnings: tuple[Finding, ...] = ()

    @property
    def best(self) -> Best:
        """What to use on other collections: of equally good combinations the first."""
        trained = {topic for fold in self.folds for topic in fold.train}
        places = [place for place, topic in enumerate(self.topics) if topic in trained]
        means = [self.measure.aggregate(row[places], None) for row in self.scores]
        best = int(np.argmax(self.measure.sign * np.array(means)))
        parameters = {**self.model.settings, **self.points[best]}
        return Best(parameters, means[best], tuple(self.topics[place] for place in places))

    def _rendered(self, format: str) -> str:
        from cranfield.render.grid import WRITERS
        from cranfield.search.search_tables import folds_grid

        return WRITERS[format](folds_grid(self))


@dataclass(frozen=True, kw_only=True)
class Tuning:
    """What is tuned, and for what: the values to try of each parameter, parameters that stay `fixed`, the measure that
    is to become best, and how many documents a topic are looked at.
    """

    grid: Mapping[str, Sequence[Value]]
    fixed: Mapping[str, Value] = field(default_factory=dict)
    measure: str | Measure = "AP"
    depth: int = 1000

    @property
    def points(self) -> list[dict[str, Value]]:
        """Every combination of the grid's values, with what is fixed."""
        every = points({name: tuple(values) for name, values in self.grid.items()})
        return [{**self.fixed, **point} for point in every]


def tune(
    index: Index,
    model: str,
    queries: Mapping[str, str],
    qrels: Given,
    splits: Splits,
    tuning: Tuning,
    *,
    step: Callable[[], None] = lambda: None,
) -> Tuned:
    """Tries every combination of a grid's values and takes for each fold the one that is best on its training topics.

    The index is built before, once. Of combinations with the same score the first counts. Every topic may be tested
    once only, and only with parameters tuned on others.

    >>> from cranfield.search.index import build_index
    >>> from cranfield.planning.splits import split
    >>> from cranfield.texts.texts import Documents
    >>> index = build_index(Documents(("d1", "d2"), {"text": ["ducks swim", "geese fly, ducks swim and swim"]}))
    >>> tuned = tune(index, "bm25", {"1": "swim", "2": "ducks swim"}, {"1": {"d1": 1}, "2": {"d1": 1}},
    ...              split(["1", "2"], folds=2), Tuning(grid={"b": (0.0, 1.0)}, measure="RR"))
    >>> [(fold.test, fold.parameters["b"], fold.test_score) for fold in tuned.folds], tuned.test_score
    ([(('1',), 1.0, 1.0), (('2',), 1.0, 1.0)], 1.0)
    """
    chosen, measure = find_model(model), measure_to_tune(tuning.measure)
    judged = read_qrels(qrels)
    check_splits(splits, queries, judged.topics)
    topics = tuple(dict.fromkeys(topic for fold in splits.folds for part in fold for topic in part))
    own = tuning.points
    if len(own) < 2:
        raise UsageError("a grid needs at least two combinations of values: there is nothing to choose from")
    _check_relevant(index, judged, splits)
    judgements = judged.to_dict(list(topics))

    def scores_of(parameters: Mapping[str, Value]) -> Floats:
        system = chosen.system(index, parameters)
        rows = as_rows(index, {topic: system.rank(queries[topic], tuning.depth) for topic in topics})
        results = evaluate(judgements, rows, measure) if rows else None
        step()
        if results is None:
            return np.zeros(len(topics))
        place = {topic: number for number, topic in enumerate(results.topics)}
        return results.scores[0, 0, [place[topic] for topic in topics]]

    sweep = Sweep(measure, judged, topics, own, np.stack([scores_of(point) for point in own]))
    return sweep.tuned(chosen, splits, scores_of(tuning.fixed))


class Sweep(NamedTuple):
    """scores[point, topic] of a measure: every combination of parameters on every topic."""

    measure: Measure
    qrels: Qrels
    topics: tuple[str, ...]
    points: list[dict[str, Value]]
    scores: Floats

    def tuned(self, model: Model, splits: Splits, default: Floats) -> Tuned:
        """The best combination for each fold; `default` are the scores of the model's own parameters."""
        place = {topic: number for number, topic in enumerate(self.topics)}
        folds, flat = [], []
        by_topic = np.full(len(self.topics), np.nan)
        for number, fold in enumerate(splits.folds, start=1):
            train, test = ([place[topic] for topic in topics] for topics in fold)
            on_train = [self.mean(row, train) for row in self.scores]
            if min(on_train) == max(on_train):
                flat.append(f"fold {number}")
            best = int(np.argmax(self.measure.sign * np.array(on_train)))
            by_topic[test] = self.scores[best, test]
            test_score = self.mean(self.scores[best], test)
            folds.append(TunedFold(self.points[best], on_train[best], test_score, fold.train, fold.test))
        tested = [place[topic] for fold in splits.folds for topic in fold.test]
        by_point = [self.mean(row, tested) for row in self.scores]
        made = Tuned(
            model=model,
            measure=self.measure,
            qrels=self.qrels,
            points=tuple(self.points),
            topics=self.topics,
            scores=self.scores,
            folds=tuple(folds),
            test_score=self.mean(by_topic, tested),
            default_score=self.mean(default, tested),
            best_score=max(by_point, key=lambda score: self.measure.sign * score),
            warnings=(Finding("nothing-to-choose", model.name, f"{NO_CHOICE}: {some(flat)}"),) if flat else (),
        )
        return replace(made, warnings=(*made.warnings, *_at_the_end(made)))

    def mean(self, scores: Floats, places: Sequence[int]) -> float:
        """The measure's average over topics that stand in some places."""
        return self.measure.aggregate(scores[list(places)], None)


def _check_relevant(index: Index, judged: Qrels, splits: Splits) -> None:
    """That every fold has something to learn from: a relevant document that can be found."""
    there = set(index.ids)
    grades = judged.to_dict([topic for fold in splits.folds for topic in fold.train])
    relevant = {topic: [id for id, grade in of.items() if grade > 0] for topic, of in grades.items()}
    known = {topic for topic, documents in relevant.items() if there.intersection(documents)}
    source, collection = judged.origin.path or judged.name, index.name or "the collection"
    if not known:
        judged_as = some(list(dict.fromkeys(id for ids in relevant.values() for id in ids)), 3) or "none"
        raise DataError(
            f"not one relevant document of these judgements is in {collection}: nothing can be tuned on them. The "
            f"judgements have {judged_as}, {collection} has {some(index.ids, 3)}",
            source=source,
            remedy="Is this the right pair? Document ids must be the same text in both.",
        )
    for number, fold in enumerate(splits.folds, start=1):
        if known.isdisjoint(fold.train):
            raise DataError(
                f"fold {number} has nothing to be tuned on: not one relevant document of its training topics "
                f"({some(fold.train)}) is in {collection}",
                source=source,
                remedy="Take fewer folds or another seed, or judgements that have relevant documents for more topics.",
            )


def _at_the_end(tuned: Tuned) -> Iterator[Finding]:
    """Numbers that are best at an end of their grid, while the parameter may go further: better ones may lie there."""
    best = tuned.best
    places = [tuned.topics.index(topic) for topic in best.topics]
    means = [tuned.measure.sign * tuned.measure.aggregate(row[places], None) for row in tuned.scores]
    for name in dict.fromkeys(name for point in tuned.points for name in point if name != "seed"):
        by_value: dict[float, float] = {}
        for point, mean in zip(tuned.points, means, strict=True):
            value = point.get(name)
            if isinstance(value, int | float) and not isinstance(value, bool):
                by_value[value] = max(mean, by_value.get(value, mean))
        values, end = sorted(by_value), best.parameters[name]
        if len(values) < 3 or end not in (values[0], values[-1]):  # of two values, each is an end
            continue
        upwards = end == values[-1]
        if by_value[end] > by_value[values[-2 if upwards else 1]] and _goes_further(tuned.model, name, end, upwards):
            side = "above" if upwards else "below"
            message = f"{spelt(name)} is best at the end of its grid, {end:g}: try values {side}"
            yield Finding("grid-end", tuned.model.name, message, doubtful=False)


def _goes_further(model: Model, name: str, end: float, upwards: bool) -> bool:
    """Whether a parameter may have a value beyond one: a share ends at 0 and 1."""
    step = 1 if isinstance(end, int) else 1e-6
    try:
        model.check({name: end + (step if upwards else -step)})
    except UsageError:
        return False
    return True


def measure_to_tune(measure: str | Measure) -> Measure:
    """A measure that gives every topic a score from grades alone, and says which scores are better.

    >>> measure_to_tune("nDCG@10")
    nDCG@10
    """
    measure = parse_measure(measure) if isinstance(measure, str) else measure
    if measure.is_ratio_of_means:
        raise UsageError(f"{measure} has no score by topic to tune on: choose another average than ratio")
    if measure.definition.needs is not None:
        raise UsageError(f"{measure} needs more than grades: choose another measure to tune for, such as nDCG@10")
    measure.check_direction("choose a measure to tune for, such as nDCG@10")
    return measure


def tuned_systems(index: Index, tuned: Tuned) -> dict[str, System]:
    """For each topic that was tested, the system that answers it: with parameters tuned on other topics."""
    made: dict[str, System] = {}
    systems: dict[str, System] = {}
    for fold in tuned.folds:
        key = repr(sorted(fold.parameters.items()))
        made[key] = made.get(key) or tuned.model.system(index, fold.parameters)
        systems |= dict.fromkeys(fold.test, made[key])
    return systems


def check_splits(splits: Splits, queries: Mapping[str, str], judged: Sequence[str]) -> None:
    """That no topic is tested with parameters it was trained on, nor twice, and that all are asked and judged.

    >>> from cranfield.statistics.splitting import Split
    >>> check_splits(Splits((Split(("1", "2"), ("2",)),)), {"1": "ducks", "2": "geese"}, ["1", "2"])
    Traceback (most recent call last):
    cranfield.errors.DataError: the splits: these topics are both in train and in test: 2
        A system tuned on a topic cannot be tested on it. Make the splits anew, as with `cranfield split`.
    """
    seen: set[str] = set()
    for fold in splits.folds:
        shared = shared_topics(fold.train, fold.test)
        if shared:
            raise DataError(
                f"these topics are both in train and in test: {some(shared)}",
                source="the splits",
                remedy="A system tuned on a topic cannot be tested on it. "
                "Make the splits anew, as with `cranfield split`.",
            )
        twice = [topic for topic in fold.test if topic in seen]
        if twice:
            raise UsageError(f"a topic can be tested once only, for one run; these are in two tests: {some(twice)}")
        seen |= set(fold.test)
        for part in fold:
            for topics, use in ((queries, "asked"), (set(judged), "judged")):
                missing = [topic for topic in part if topic not in topics]
                if missing:
                    raise DataError(
                        f"these topics of the splits are not {use}: {some(missing)}",
                        remedy="Are these the splits of this collection? Topic ids must be the same text.",
                    )
