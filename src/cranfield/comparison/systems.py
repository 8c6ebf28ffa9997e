"""`compare`: judgements and runs in, a comparison of the systems out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from cranfield.comparison import advice, guards
from cranfield.comparison.comparison import Comparison, FigureColumn
from cranfield.comparison.panels import SEED_TEST, Evaluated, corrected, in_family, judging, macro_summary, tested_panel
from cranfield.comparison.question import Details, Question
from cranfield.comparison.tuning import of_tuning
from cranfield.errors import UsageError, plural, some
from cranfield.evaluation.experiment import Experiment
from cranfield.evaluation.findings import Finding
from cranfield.evaluation.results import Results
from cranfield.measures import Measure, as_measures
from cranfield.statistics import corrections
from cranfield.statistics.deciding import BY_RULE
from cranfield.statistics.significance import Sampling, against, all_pairs, find_test

if TYPE_CHECKING:
    from cranfield.formats.given import Given, GivenRuns


def compare(
    experiment: Experiment | Results,
    measures: str | Measure | Iterable[str | Measure],
    *,
    baseline: str | None = None,
    tests: Sequence[str] | None = None,
    correction: str = corrections.DEFAULT,
    alpha: float = 0.05,
    sampling: Sampling | None = None,
    details: Details | None = None,
) -> Comparison:
    """Compares systems on the same topics: differences with intervals, effect sizes, p-values corrected for all pairs.

    A list of runs under one name, {"dense": [run1, run2, …]}, are runs of one system under several seeds. By default
    every pair is compared, with `baseline` every system against that one. `tests` names the tests of significance: the
    first decides, the others are shown beside it; without any, the paired t test decides, or the exact randomisation
    test where few topics change (`Pair.decided_by`). `correction` is for all comparisons made, `sampling` for tests
    that draw. `details` has the rest: power, margin, splits, tuned_on, risk. Results, such as those of a frame, are
    compared as they are.

    >>> qrels = {str(t): {"d1": 1} for t in range(8)}
    >>> a = {str(t): {"d1": 2.0, "d2": 1.0} for t in range(8)}
    >>> b = {str(t): {"d2": 2.0, "d1": 1.0 if t else 3.0} for t in range(8)}
    >>> comparison = compare(Experiment(qrels, {"a": a, "b": b}), "RR", baseline="b")
    >>> pair = next(comparison.rows())
    >>> pair.difference, round(pair.low, 4), round(pair.high, 4), pair.wins, pair.ties, pair.losses
    (0.4375, 0.25, 0.5, 7, 1, 0)
    """
    return compare_collections(
        {"": experiment},
        measures,
        baseline=baseline,
        tests=tests,
        correction=correction,
        alpha=alpha,
        sampling=sampling,
        details=details,
    )


def compare_collections(
    collections: Mapping[str, Experiment | Results],
    measures: str | Measure | Iterable[str | Measure],
    *,
    baseline: str | None = None,
    tests: Sequence[str] | None = None,
    correction: str = corrections.DEFAULT,
    alpha: float = 0.05,
    sampling: Sampling | None = None,
    details: Details | None = None,
) -> Comparison:
    """Compares the same systems on several collections, {name: experiment}, as one family, with a macro summary.

    >>> qrels = {str(t): {"d1": 1} for t in range(8)}
    >>> a = {str(t): {"d1": 2.0, "d2": 1.0} for t in range(8)}
    >>> b = {str(t): {"d2": 2.0, "d1": 1.0 if t else 3.0} for t in range(8)}
    >>> web, news = (Experiment(judged, {"a": a, "b": b}) for judged in (qrels, {t: qrels[t] for t in "0123"}))
    >>> comparison = compare_collections({"web": web, "news": news}, "RR")
    >>> [panel.label for panel in comparison.panels], comparison.macro[0].difference.round(4)
    (['RR on web', 'RR on news'], array([0.4062]))
    """
    question = Question(
        baseline=baseline,
        tests=tests,
        correction=correction,
        alpha=alpha,
        sampling=sampling or Sampling(),
        details=details or Details(),
    )
    return compared(collections, measures, question)


def compared(
    collections: Mapping[str, Experiment | Results],
    measures: str | Measure | Iterable[str | Measure],
    question: Question,
) -> Comparison:
    """What is asked of experiments on several collections, or of one."""
    wanted = as_measures(measures)
    check_comparable(wanted)
    for measure in wanted if question.details.risk is not None else ():
        measure.check_direction("take another measure", reason="risk weighs losses")
    if not collections:
        raise UsageError("no collection given")
    if question.details.splits is not None and len(collections) > 1:
        raise UsageError("splits belong to one collection")
    if len(collections) > 1 and any(experiment.policy.topic_set for experiment in collections.values()):
        raise UsageError("a topic set belongs to one collection")
    evaluated: dict[str, Evaluated] = {}
    expected: list[str] = []
    for name, given in collections.items():
        results, runs_of, judgements = _evaluated(given, wanted, question)
        expected = expected or list(runs_of)
        if sorted(runs_of) != sorted(expected):
            raise UsageError(
                f"every collection needs runs of the same systems: {next(iter(collections))} has "
                f"{some(expected)}, {name} has {some(list(runs_of))}"
            )
        evaluated[name] = Evaluated(results, {system: runs_of[system] for system in expected}, judgements)
    made = compare_results(evaluated, wanted, question)
    return replace(made, warnings=(*made.warnings, *_one_seed_each(made, collections)))


def _evaluated(given: Experiment | Results, measures: tuple[Measure, ...], question: Question) -> Evaluated:
    """What is compared, for each measure and with what tells how well documents are judged."""
    beside = judging(measures)
    if isinstance(given, Results):
        if question.details.figures:
            raise UsageError("figures of efficiency are those of files of runs, and these are scores alone")
        results = given.of_measures(measures, beside)
        judged = given.experiment.judgements(results.measures) if given.is_judged else None
        return Evaluated(results, {name: [name] for name in results.runs}, judged)
    systems, sources = _seeded(given.runs)
    seeded = given if systems is None else replace(given, runs=sources)
    results = seeded.evaluate(list(dict.fromkeys([*measures, *beside])), figures=question.details.figures)
    return Evaluated(results, _runs_of(results, systems), seeded.judgements(results.measures))


def _one_seed_each(made: Comparison, collections: Mapping[str, Experiment | Results]) -> list[Finding]:
    """Asked for seeds where no system has two: the guard of systems with several runs does not see that."""
    seeded = any(isinstance(of, Experiment) and _seeded(of.runs)[0] is not None for of in collections.values())
    if not seeded or made.tests == (SEED_TEST,):
        return []
    message = f"one run of each system ({some(made.systems)}): the result is about these runs, not the methods"
    return [Finding("one-seed", "seeds", message)]


def check_baseline(baseline: str | None, systems: Sequence[str]) -> None:
    """Refuses a baseline that is none of the systems.

    >>> check_baseline("bm26", ["bm25"])
    Traceback (most recent call last):
    cranfield.errors.UsageError: no run 'bm26' to be the baseline; there is bm25
    """
    if baseline is not None and baseline not in systems:
        are = "is" if len(systems) == 1 else "are"
        raise UsageError(f"no run '{baseline}' to be the baseline; there {are} {some(systems, 20)}")


def compare_results(evaluated: Mapping[str, Evaluated], measures: Sequence[Measure], question: Question) -> Comparison:
    """Compares what has been evaluated, collection by collection."""
    systems = tuple(next(iter(evaluated.values())).runs_of)
    if len(systems) < 2:
        raise UsageError("a comparison needs two systems or more; `cranfield evaluate` looks at one")
    check_baseline(question.baseline, systems)
    if question.baseline is None:
        pairs = all_pairs(len(systems))
    else:
        pairs = against(systems.index(question.baseline), len(systems))
    tests = tuple(find_test(name) for name in dict.fromkeys(question.tests or BY_RULE))
    if any(len(names) > 1 for evaluation in evaluated.values() for names in evaluation.runs_of.values()):
        if not question.by_rule:
            raise UsageError(f"several runs of a system have a test of their own ({SEED_TEST.title}): name no other")
        tests = (SEED_TEST,)
    if tests[0].kind == "family" and question.correction != corrections.DEFAULT:
        raise UsageError(f"{tests[0]} corrects for all pairs itself: name no correction")
    tested = [
        tested_panel(name, evaluation, measure, pairs, tests, question)
        for name, evaluation in evaluated.items()
        for measure in measures
    ]
    panels, level = corrected(tested, pairs, tests[0], question)
    results = [evaluation.results for evaluation in evaluated.values()]
    made = Comparison(
        systems=systems,
        panels=tuple(panels),
        pairs=pairs,
        baseline=question.baseline,
        tests=tests,
        by_rule=question.by_rule and tests[0] != SEED_TEST,
        correction=corrections.find_correction(question.correction),
        comparisons=len(pairs) * int(in_family(panels).sum()),
        level=level,
        alpha=question.alpha,
        power=question.details.power,
        margin=question.details.margin,
        sampling=question.sampling,
        policy=results[0].policy,
        inputs=tuple(source for of_collection in results for source in of_collection.inputs),
        judgements=tuple(of_collection.inputs[0] for of_collection in results),
        warnings=tuple(warning for of_collection in results for warning in of_collection.warnings),
        macro=macro_summary(panels, pairs, tests[0], question) if len(evaluated) > 1 else (),
        figures=tuple(column for name, evaluation in evaluated.items() for column in _figures(name, evaluation)),
    )
    tuning = of_tuning(evaluated, made, question.details.tuned_on)
    odd = (*tuning, *_split_topics(made, question), *_twice(made))
    doubts = (*odd, *advice.of_collections(made, evaluated), *guards.of_comparison(made))
    return replace(made, warnings=(*made.warnings, *doubts))


def _twice(made: Comparison) -> list[Finding]:
    """One collection under two names counts twice in every summary, as if its topics were new ones."""
    names = list(dict.fromkeys(panel.collection for panel in made.panels))
    digests = dict(zip(names, [source.digest for source in made.judgements], strict=True))
    scores = {name: [panel for panel in made.panels if panel.collection == name] for name in names}
    warnings = []
    for name, other in combinations(names, 2):
        same_scores = all(
            a.topics == b.topics and np.array_equal(a.scores, b.scores, equal_nan=True)
            for a, b in zip(scores[name], scores[other], strict=True)
        )
        if same_scores or (digests[name] is not None and digests[name] == digests[other]):
            same = "the same topics and scores" if same_scores else "the same judgements"
            message = f"{name} and {other} have {same}: one collection entered twice counts twice. Leave one out"
            warnings.append(Finding("twice", "collections", message))
    return warnings


def _split_topics(made: Comparison, question: Question) -> list[Finding]:
    """Topics of the splits that are not compared, and the reverse: are these the splits of this collection?"""
    if question.details.splits is None:
        return []
    dealt_topics = list(
        dict.fromkeys(topic for fold in question.details.splits.folds for part in fold for topic in part)
    )
    there = made.panels[0].topics
    known, dealt = set(there), set(dealt_topics)
    foreign = [topic for topic in dealt_topics if topic not in known]
    alone = [topic for topic in there if topic not in dealt]
    warnings = []
    if foreign:
        message = f"{plural(len(foreign), 'topic')} not among those compared, left out of the folds: {some(foreign)}"
        warnings.append(Finding("foreign-splits", "splits", message))
    if alone:
        message = f"{plural(len(alone), 'topic')} compared and in no fold: {some(alone)}"
        warnings.append(Finding("foreign-splits", "splits", message))
    return warnings


def check_comparable(measures: Sequence[Measure]) -> None:
    """Means over topics are compared, and nothing else."""
    for measure in measures:
        if measure.parameters["agg"] not in ("mean", "sum"):
            raise UsageError(f"{measure}: means over topics are compared; take {measure.on_topic} instead")


def _figures(collection: str, evaluated: Evaluated) -> list[FigureColumn]:
    """Figures of systems: of one with several runs their mean, where all of them have it."""
    results = evaluated.results
    columns = []
    for figure, values in results.figures.items():
        known = dict(zip(results.runs, values, strict=True))
        of_systems = ([known[run] for run in runs] for runs in evaluated.runs_of.values())
        means = (_mean([value for value in of_runs if value is not None], len(of_runs)) for of_runs in of_systems)
        columns.append(FigureColumn(collection, figure, tuple(means)))
    return columns


def _mean(values: list[float], count: int) -> float | None:
    return sum(values) / count if len(values) == count else None


def _seeded(runs: GivenRuns) -> tuple[dict[str, int] | None, GivenRuns]:
    """Systems with how many runs each has, and all runs under names of their own; None where each has one."""
    if not isinstance(runs, Mapping) or not any(isinstance(run, list) for run in runs.values()):
        return None, runs
    systems = {str(name): len(run) if isinstance(run, list) else 1 for name, run in runs.items()}
    empty = [name for name, count in systems.items() if not count]
    if empty:
        raise UsageError(f"no run of {some(empty)}")
    flat: dict[str, Given] = {}
    for name, seeds in runs.items():
        for number, run in enumerate(seeds if isinstance(seeds, list) else [seeds], start=1):
            flat[f"{name}#{number}"] = run
    return systems, flat


def _runs_of(results: Results, systems: dict[str, int] | None) -> dict[str, list[str]]:
    """For each system the names of its runs in the results."""
    if systems is None:
        return {name: [name] for name in results.runs}
    return {name: [f"{name}#{number}" for number in range(1, count + 1)] for name, count in systems.items()}
