"""`compare`: judgements and runs in, a comparison of the systems out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from cranfield import guards
from cranfield.calling import built
from cranfield.comparison import Comparison, FigureColumn, Folds, Macro, Panel
from cranfield.errors import DataError, UsageError, plural, some
from cranfield.evaluation import evaluate
from cranfield.findings import Finding
from cranfield.measures import Measure, as_measures, parse_measure
from cranfield.policy import Policy
from cranfield.results import Results
from cranfield.splits import Splits
from cranfield.statistics import corrections
from cranfield.statistics.base import (
    Floats,
    Integers,
    Outcome,
    Sampling,
    SignificanceTest,
    against,
    all_pairs,
    find_test,
)
from cranfield.statistics.differences import moments
from cranfield.statistics.effects import Effects, effects, within
from cranfield.statistics.paired import t as paired_t
from cranfield.statistics.risk import risk
from cranfield.statistics.seeds import SeedComparison, compare_seeds, seed_spread
from cranfield.statistics.splitting import ResampledTest, corrected_resampled_t

DEFAULT_TESTS = ("t", "randomisation")


@dataclass(frozen=True)
class Question:
    """What is asked of a comparison, apart from what is compared.

    tests: names of tests of significance; the first decides, the others are shown beside it. correction: how its
    p-values are corrected for all comparisons made. margin: the largest difference that does not matter, to ask for
    equivalence. splits: topics to tune and to test on, to show each fold. tuned_on: topics that systems were tuned on,
    to warn of those tested on as well. risk: how much more a loss against the baseline weighs than a gain.
    """

    baseline: str | None = None
    tests: Sequence[str] = DEFAULT_TESTS
    correction: str = corrections.DEFAULT
    alpha: float = 0.05
    power: float = 0.8
    margin: float | None = None
    splits: Splits | None = None
    tuned_on: Sequence[str] = ()
    risk: float | None = None
    sampling: Sampling = field(default_factory=Sampling)

    def __post_init__(self) -> None:
        if not self.tests:
            raise UsageError("no test given")
        if self.risk is not None and self.baseline is None:
            raise UsageError("risk is against a baseline: name one")
        corrections.find_correction(self.correction)
        for name, value in (("alpha", self.alpha), ("power", self.power)):
            if not 0 < value < 1:
                raise UsageError(f"{name} must be between 0 and 1, not {value:g}")


def compare(
    qrels: Any,
    runs: Any,
    measures: str | Measure | Iterable[str | Measure],
    *,
    policy: Policy | None = None,
    read: Mapping[str, Any] | None = None,
    **question: Any,
) -> Comparison:
    """Compares systems on the same topics: differences with intervals, effect sizes, p-values corrected for all pairs.

    `qrels` and `runs` are what `evaluate` takes; a list of runs under one name, {"dense": [run1, run2, …]}, are runs of
    one system under several seeds. By default every pair is compared, with `baseline` every system against that one.
    `tests` names the tests of significance: the first decides, the others are shown beside it. See `Question` for the
    rest: correction, alpha, power, margin, splits, tuned_on, sampling. `read` is passed on to `evaluate`.

    >>> qrels = {str(t): {"d1": 1} for t in range(8)}
    >>> a = {str(t): {"d1": 2.0, "d2": 1.0} for t in range(8)}
    >>> b = {str(t): {"d2": 2.0, "d1": 1.0 if t else 3.0} for t in range(8)}
    >>> found = compare(qrels, {"a": a, "b": b}, "RR", baseline="b")
    >>> pair = next(found.rows())
    >>> pair.difference, round(pair.low, 4), round(pair.high, 4), pair.wins, pair.ties, pair.losses
    (0.4375, 0.2897, 0.5853, 7, 1, 0)
    """
    return compare_collections({"": (qrels, runs)}, measures, policy=policy, read=read, **question)


def compare_collections(
    collections: Mapping[str, tuple[Any, Any]],
    measures: str | Measure | Iterable[str | Measure],
    *,
    policy: Policy | None = None,
    read: Mapping[str, Any] | None = None,
    **question: Any,
) -> Comparison:
    """Compares the same systems on several collections, {name: (qrels, runs)}, as one family, with a macro summary.

    >>> qrels = {str(t): {"d1": 1} for t in range(8)}
    >>> a = {str(t): {"d1": 2.0, "d2": 1.0} for t in range(8)}
    >>> b = {str(t): {"d2": 2.0, "d1": 1.0 if t else 3.0} for t in range(8)}
    >>> news = {t: qrels[t] for t in "0123"}
    >>> found = compare_collections({"web": (qrels, {"a": a, "b": b}), "news": (news, {"a": a, "b": b})}, "RR")
    >>> [panel.label for panel in found.panels], found.macro[0].difference.round(4)
    (['RR on web', 'RR on news'], array([0.4062]))
    """
    asked = built(Question, question, "compare")
    wanted = as_measures(measures)
    check_comparable(wanted)
    if asked.risk is not None:
        check_direction(wanted, "risk weighs losses")
    if not collections:
        raise UsageError("no collection given")
    evaluated: dict[str, Evaluated] = {}
    expected: list[str] = []
    for name, (qrels, runs) in collections.items():
        systems, sources = _seeded(runs)
        found = evaluate(qrels, sources, [*wanted, *judged_shares(wanted)], policy=policy, **dict(read or {}))
        evaluated[name] = Evaluated(found, _runs_of(found, systems))
        runs_of = evaluated[name].runs_of
        expected = expected or list(runs_of)
        if sorted(runs_of) != sorted(expected):
            raise UsageError(
                f"every collection needs runs of the same systems: {next(iter(collections))} has "
                f"{some(expected)}, {name} has {some(list(runs_of))}"
            )
        evaluated[name] = Evaluated(found, {system: runs_of[system] for system in expected})
    made = compare_results(evaluated, wanted, asked)
    return replace(made, warnings=(*made.warnings, *_one_seed_each(made, collections)))


def _one_seed_each(made: Comparison, collections: Mapping[str, tuple[Any, Any]]) -> list[Finding]:
    """Asked for seeds where no system has two: the guard of systems with several runs does not see that."""
    asked = any(_seeded(runs)[0] is not None for _, runs in collections.values())
    if not asked or made.tests == (SEED_TEST,):
        return []
    message = f"one run of each system ({some(made.systems)}): the result is about these runs, not the methods"
    return [Finding("one-seed", "seeds", message)]


class Evaluated(NamedTuple):
    """Systems evaluated on a collection, and for each system the names of its runs in the results."""

    results: Results
    runs_of: dict[str, list[str]]


def compare_results(evaluated: Mapping[str, Evaluated], measures: Sequence[Measure], asked: Question) -> Comparison:
    """Compares what has been evaluated, collection by collection."""
    systems = tuple(next(iter(evaluated.values())).runs_of)
    if len(systems) < 2:
        raise UsageError("a comparison needs two systems or more; `cranfield evaluate` looks at one")
    if asked.baseline is None:
        pairs = all_pairs(len(systems))
    elif asked.baseline in systems:
        pairs = against(systems.index(asked.baseline), len(systems))
    else:
        raise UsageError(f"no run '{asked.baseline}' to be the baseline; there are {some(systems, 20)}")
    family = len(pairs) * len(measures) * len(evaluated)
    tests = tuple(find_test(name) for name in dict.fromkeys(asked.tests))
    if any(len(names) > 1 for each in evaluated.values() for names in each.runs_of.values()):
        if tuple(asked.tests) != DEFAULT_TESTS:
            raise UsageError(f"several runs of a system have a test of their own ({SEED_TEST.title}): name no other")
        tests = (SEED_TEST,)
    if tests[0].kind == "family" and asked.correction != corrections.DEFAULT:
        raise UsageError(f"{tests[0].name} corrects for all pairs itself: name no correction")
    panels = [
        _panel(name, each, measure, pairs, tests, asked, family)
        for name, each in evaluated.items()
        for measure in measures
    ]
    made = Comparison(
        systems,
        tuple(_corrected(panels, tests[0], asked)),
        pairs,
        asked.baseline,
        tests,
        corrections.find_correction(asked.correction),
        asked.alpha,
        asked.power,
        asked.margin,
        asked.sampling,
        next(iter(evaluated.values())).results.policy,
        tuple(source for each in evaluated.values() for source in each.results.inputs),
        tuple(warning for each in evaluated.values() for warning in each.results.warnings),
        _macro(panels, measures, pairs, asked) if len(evaluated) > 1 else (),
        tuple(found for name, each in evaluated.items() for found in _figures(name, each)),
    )
    found = (*_tuning(made, asked), *_split_topics(made, asked), *guards.of_comparison(made))
    return replace(made, warnings=(*made.warnings, *found))


# Shown in place of a test where systems have several runs.
SEED_TEST = SignificanceTest(
    "seeds",
    "t over topics and seeds",
    "over all topics and all seeds that could have been drawn, the two methods score the same",
    "paired",
    paired_t,
)


class _Tested(NamedTuple):
    """What was found of each pair; `error` is the standard error of its difference, with degrees of freedom."""

    effects: Effects
    together: Effects
    outcomes: dict[str, Outcome]
    error: Floats
    freedom: Floats


def _panel(
    collection: str,
    evaluated: Evaluated,
    measure: Measure,
    pairs: Integers,
    tests: tuple[SignificanceTest, ...],
    asked: Question,
    family: int,
) -> Panel:
    results, groups = evaluated.results, list(evaluated.runs_of.values())
    of_run = results.scores[:, results.measures.index(measure)]
    several = tests == (SEED_TEST,)
    by_seed = [of_run[[results.runs.index(name) for name in group]] for group in groups]
    independent = [test.name for test in tests if test.kind == "independent"]
    kept = np.ones(len(results.topics), dtype=bool) if independent else ~np.isnan(of_run).any(axis=0)
    if np.count_nonzero(kept) < 2:
        raise DataError(
            f"{measure}: a comparison needs 2 topics with a score from every system or more, not "
            f"{np.count_nonzero(kept)}",
            remedy="With --topics run, only topics that every run answers are compared one by one. Systems that each "
            "have topics of their own are compared by --test welch, student or mann-whitney."
            if results.policy.topics == "run"
            else None,
        )
    by_seed = [scores[:, kept] for scores in by_seed]
    scores = np.stack([each.mean(axis=0) for each in by_seed])
    if several:
        tested = _over_seeds(by_seed, scores, pairs, asked, family)
    elif independent:
        if results.policy.topics != "run":
            raise UsageError(
                f"{independent[0]} is for systems that each have topics of their own, and under --topics "
                f"{results.policy.topics} every topic counts for all: say --topics run (policy=Policy(topics='run')), "
                "or take a test for shared topics, as t"
            )
        tested = _on_different_topics(scores, pairs, tests, asked)
    else:
        tested = _Tested(
            effects(scores, pairs, alpha=asked.alpha, power=asked.power),
            effects(scores, pairs, alpha=asked.alpha, power=asked.power, comparisons=family),
            {test.name: test.function(scores, pairs, asked.sampling) for test in tests},
            np.sqrt(moments(scores, pairs).variance / scores.shape[1]),
            np.full(len(pairs), scores.shape[1] - 1.0),
        )
    if measure.sign < 0:
        tested = tested._replace(effects=_turned(tested.effects), together=_turned(tested.together))
    topics = tuple(results.topics[t] for t in np.flatnonzero(kept))
    notes = tuple(dict.fromkeys(note for outcome in tested.outcomes.values() for note in outcome.notes))
    return Panel(
        collection,
        measure,
        topics,
        scores,
        _unjudged(results, measure, groups),
        tested.effects,
        tested.together,
        tested.error,
        {name: outcome.p for name, outcome in tested.outcomes.items()},
        {name: outcome.error for name, outcome in tested.outcomes.items()},
        tested.outcomes[tests[0].name].p,
        notes,
        None if asked.margin is None else within(asked.margin, tested.effects.mean, tested.error, tested.freedom).p,
        tuple(seed_spread(each) for each in by_seed) if several else None,
        _folds(scores, topics, pairs, asked),
        None if asked.risk is None else risk(scores * measure.sign, int(pairs[0, 1]), alpha=asked.risk),
    )


def _turned(effects: Effects) -> Effects:
    """The same for a loss, where the lower value wins a topic."""
    return effects._replace(wins=effects.losses, losses=effects.wins)


def _over_seeds(by_seed: list[Floats], scores: Floats, pairs: Integers, asked: Question, family: int) -> _Tested:
    """Differences between methods, allowing for other topics and for other seeds."""
    from scipy.special import stdtrit

    def found(confidence: float) -> list[SeedComparison]:
        return [compare_seeds(by_seed[i], by_seed[j], confidence=confidence) for i, j in pairs.tolist()]

    def with_intervals(one: Effects, compared: list[SeedComparison], alpha: float) -> Effects:
        error, freedom = np.array([(each.error, each.freedom) for each in compared]).T
        detectable = (stdtrit(freedom, asked.power) - stdtrit(freedom, alpha / 2)) * error
        low, high = np.array([(each.low, each.high) for each in compared]).T
        return one._replace(low=low, high=high, detectable=detectable)

    plain = effects(scores, pairs, alpha=asked.alpha, power=asked.power)
    compared, wider = found(1 - asked.alpha), found(1 - asked.alpha / family)
    outcome = Outcome(
        np.array([each.statistic for each in compared]), np.array([each.p for each in compared]), np.zeros(len(pairs))
    )
    return _Tested(
        with_intervals(plain, compared, asked.alpha),
        with_intervals(plain, wider, asked.alpha / family),
        {SEED_TEST.name: outcome},
        np.array([each.error for each in compared]),
        np.array([scores.shape[1] - 1 if np.isnan(each.freedom) else each.freedom for each in compared]),
    )


def _on_different_topics(
    scores: Floats, pairs: Integers, tests: tuple[SignificanceTest, ...], asked: Question
) -> _Tested:
    """Systems that were run on topics of their own: there are no differences on a topic."""
    paired = [test.name for test in tests if test.kind != "independent"]
    if paired:
        unpaired = next(test.name for test in tests if test.kind == "independent")
        raise UsageError(
            f"{paired[0]} is for systems that share topics, {unpaired} for systems that do not: ask for tests of one "
            "kind"
        )
    for what, wanted in (("equivalence", asked.margin), ("risk", asked.risk), ("a comparison by folds", asked.splits)):
        if wanted is not None:
            raise UsageError(f"{what} needs systems that answer the same topics; {tests[0].name} is for others")
    outcomes = {test.name: test.function(scores, pairs, asked.sampling) for test in tests}
    unknown, none = np.full(len(pairs), np.nan), np.zeros(len(pairs), dtype=np.int64)
    means = np.nanmean(scores, axis=1)
    found = Effects(means[pairs[:, 0]] - means[pairs[:, 1]], unknown, unknown, unknown, none, none, none, unknown)
    variance = np.nanvar(scores, axis=1, ddof=1) / (~np.isnan(scores)).sum(axis=1)
    return _Tested(found, found, outcomes, np.sqrt(variance[pairs].sum(axis=1)), unknown)


def _corrected(panels: list[Panel], test: SignificanceTest, asked: Question) -> list[Panel]:
    """The panels with p-values corrected for everything compared. A family test has seen to its own pairs."""
    p = np.array([panel.p[test.name] for panel in panels])
    if test.kind == "family":
        adjusted = np.minimum(p * len(panels), 1.0)
    else:
        adjusted = corrections.find_correction(asked.correction)(p)
    return [replace(panel, adjusted=row) for panel, row in zip(panels, adjusted, strict=True)]


def _folds(scores: Floats, topics: tuple[str, ...], pairs: Integers, asked: Question) -> tuple[Folds, ...] | None:
    if asked.splits is None:
        return None
    place = {topic: number for number, topic in enumerate(topics)}
    parts = asked.splits.folds
    tested = [[place[topic] for topic in part.test if topic in place] for part in parts]
    tuned = [sum(topic in place for topic in part.train) for part in parts]
    if not all(tested) or not all(tuned):
        raise DataError(
            "a fold has no topic to test on, or none to tune on, among those compared",
            remedy="Are they of this collection?",
        )
    if len(parts) == 1:
        return _held_out(scores[:, tested[0]], pairs, asked)
    means = np.array([scores[:, part].mean(axis=1) for part in tested])
    train, test = float(np.mean(tuned)), float(np.mean([len(part) for part in tested]))
    out = []
    for i, j in pairs.tolist():
        differences = tuple((means[:, i] - means[:, j]).tolist())
        out.append(Folds(differences, corrected_resampled_t(differences, train, test, confidence=1 - asked.alpha)))
    return tuple(out)


def _held_out(scores: Floats, pairs: Integers, asked: Question) -> tuple[Folds, ...]:
    """One split has nothing that overlaps: the paired t test on the topics that were held out."""
    if scores.shape[1] < 2:
        raise DataError("one topic to test on is among those compared, and a comparison needs 2")
    effect, outcome = effects(scores, pairs, alpha=asked.alpha), paired_t(scores, pairs, asked.sampling)
    error = np.sqrt(moments(scores, pairs).variance / scores.shape[1])
    columns = (effect.mean, error, outcome.statistic, outcome.p, effect.low, effect.high)
    return tuple(
        Folds((mean,), ResampledTest(mean, spread, statistic, scores.shape[1] - 1, p, low, high))
        for mean, spread, statistic, p, low, high in zip(*(column.tolist() for column in columns), strict=True)
    )


def _macro(panels: list[Panel], measures: Sequence[Measure], pairs: Integers, asked: Question) -> tuple[Macro, ...]:
    """Each measure over all collections, which count the same however many topics they have.

    The collections are those at hand, not a sample of all there could be: only topics are taken to vary.
    """
    from scipy.special import ndtr, ndtri

    out = []
    for measure in measures:
        of_measure = [panel for panel in panels if panel.measure == measure]
        difference = np.mean([panel.effects.mean for panel in of_measure], axis=0)
        error = np.sqrt(np.sum([np.square(panel.standard_error) for panel in of_measure], axis=0)) / len(of_measure)
        margin = float(ndtri(1 - asked.alpha / 2)) * error
        with np.errstate(divide="ignore", invalid="ignore"):  # as in `t`, nothing is sure where nothing varies
            p = np.where(error == 0, 1.0, 2 * ndtr(-np.abs(difference) / error))
        means = np.mean([panel.means for panel in of_measure], axis=0)
        out.append(Macro(measure, means, difference, difference - margin, difference + margin, p))
    return tuple(out)


def _tuning(made: Comparison, asked: Question) -> list[Finding]:
    """Topics that systems were tuned on prove nothing when they are tested on."""
    tuned = set(asked.tuned_on)
    shared = list(dict.fromkeys(topic for panel in made.panels for topic in panel.topics if topic in tuned))
    if not shared:
        return []
    message = f"{len(shared)} of the topics tested on were tuned on: {some(shared)}. Test on others: `cranfield split`"
    return [Finding("tuned-on-test", "topics", message)]


def _split_topics(made: Comparison, asked: Question) -> list[Finding]:
    """Topics of the splits that are not compared, and the reverse: are these the splits of this collection?"""
    if asked.splits is None:
        return []
    given = list(dict.fromkeys(topic for fold in asked.splits.folds for part in fold for topic in part))
    there = made.panels[0].topics
    known, dealt = set(there), set(given)
    foreign = [topic for topic in given if topic not in known]
    alone = [topic for topic in there if topic not in dealt]
    found = []
    if foreign:
        message = f"{plural(len(foreign), 'topic')} not among those compared, left out of the folds: {some(foreign)}"
        found.append(Finding("foreign-splits", "splits", message))
    if alone:
        message = f"{plural(len(alone), 'topic')} compared and in no fold: {some(alone)}"
        found.append(Finding("foreign-splits", "splits", message))
    return found


def check_comparable(measures: Sequence[Measure]) -> None:
    """Means over topics are compared, and nothing else."""
    for measure in measures:
        if measure.parameters["agg"] not in ("mean", "sum"):
            plain = measure(agg="mean")
            raise UsageError(f"{measure}: means over topics are compared; take {plain.definition.name} instead")


def check_direction(measures: Sequence[Measure], what: str) -> None:
    """That the measures say which of two systems is better, where a decision needs it; `what` says the decision."""
    for measure in measures:
        if measure.sign == 0:
            raise UsageError(f"{what}, and no value of {measure} is better than another: take another measure")


def judged_shares(measures: Sequence[Measure]) -> list[Measure]:
    """For each measure, the share of judged documents among those it looks at."""
    return list(dict.fromkeys(_judged_share(measure) for measure in measures))


def _judged_share(measure: Measure) -> Measure:
    cutoff = measure.parameters.get("cutoff")
    judged = parse_measure("Judged")
    return judged if cutoff is None else judged @ cutoff


def _unjudged(results: Results, measure: Measure, groups: list[list[str]]) -> Floats | None:
    share = _judged_share(measure)
    if share not in results.measures:
        return None
    means = 1 - np.nanmean(results.scores[:, results.measures.index(share)], axis=1)
    return np.array([means[[results.runs.index(name) for name in group]].mean() for group in groups])


def _figures(collection: str, evaluated: Evaluated) -> list[FigureColumn]:
    """Figures of systems: of one with several runs their mean, where all of them have it."""
    results = evaluated.results
    found = []
    for figure, values in results.figures.items():
        known = dict(zip(results.runs, values, strict=True))
        of_systems = ([known[run] for run in runs] for runs in evaluated.runs_of.values())
        means = (_mean([value for value in each if value is not None], len(each)) for each in of_systems)
        found.append(FigureColumn(collection, figure, tuple(means)))
    return found


def _mean(values: list[float], count: int) -> float | None:
    return sum(values) / count if len(values) == count else None


def _seeded(runs: Any) -> tuple[dict[str, int] | None, Any]:
    """Systems with how many runs each has, and all runs under names of their own; None where each has one."""
    if not isinstance(runs, Mapping) or not any(isinstance(run, list) for run in runs.values()):
        return None, runs
    systems = {str(name): len(run) if isinstance(run, list) else 1 for name, run in runs.items()}
    empty = [name for name, count in systems.items() if not count]
    if empty:
        raise UsageError(f"no run of {some(empty)}")
    flat: dict[str, Any] = {}
    for name, given in runs.items():
        for number, run in enumerate(given if isinstance(given, list) else [given], start=1):
            flat[f"{name}#{number}"] = run
    return systems, flat


def _runs_of(results: Results, systems: dict[str, int] | None) -> dict[str, list[str]]:
    """For each system the names of its runs in the results."""
    if systems is None:
        return {name: [name] for name in results.runs}
    return {name: [f"{name}#{number}" for number in range(1, count + 1)] for name, count in systems.items()}
