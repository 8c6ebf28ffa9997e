"""Rankings that somebody types: an experiment of each, their scores side by side, and how these arise."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from cranfield.errors import UsageError, plural
from cranfield.evaluation.experiment import Experiment
from cranfield.evaluation.findings import TYPED, Finding
from cranfield.evaluation.results import Results
from cranfield.explanation.accounts import explain
from cranfield.explanation.averages import averages_of
from cranfield.explanation.rank_correlation import RankCorrelation, explain_correlation
from cranfield.explanation.workings import Workings
from cranfield.formats import read_qrels
from cranfield.formats.typed import TypedRanking, typed_names, typed_numbers, typed_topics
from cranfield.judged import Floats
from cranfield.measures import Measure, as_measures
from cranfield.numerals import decimal
from cranfield.policy import Policy

DEFAULT_POLICY = Policy()
SOURCE = "what is typed"  # as messages call it


def typed(ranking: str, *, name: str = "run", policy: Policy = DEFAULT_POLICY) -> Experiment:
    """The experiment that a ranking typed by hand stands for: documents d1, d2, … with the grades that are typed.

    Grades stand in rank order, with commas between them or, where each is a single digit, without; `-` is a document
    that nobody judged; after `/` follow the grades of judged documents that were not retrieved. `;` goes between
    topics, which are called 1, 2, ….

    >>> experiment = typed("3,2,3,0,1,2/2")
    >>> round(experiment.evaluate("nDCG@5").mean()["run"]["nDCG@5"], 4)
    0.8168
    >>> explain(experiment, "1", "RR").accounts[0].text
    'RR = 1 / 1 = 1.0000'
    >>> typed("101;01").evaluate("RR").per_topic()
    {'run': {'1': {'RR': 1.0}, '2': {'RR': 0.5}}}
    """
    return _experiment(name, typed_topics(ranking), policy)


def evaluate_typed(
    rankings: Mapping[str, str] | Sequence[str],
    measures: str | Measure | Iterable[str | Measure],
    policy: Policy = DEFAULT_POLICY,
) -> Results:
    """The scores of systems whose rankings are typed, each against the grades that are typed in it.

    >>> print(evaluate_typed({"a": "101", "b": "011"}, "AP"))
    run      AP
    a    0.8333
    b    0.5833
    """
    topics = {name: typed_topics(ranking) for name, ranking in _named(rankings).items()}
    wanted = as_measures(measures)
    results = [_experiment(name, typed, policy).evaluate(wanted) for name, typed in topics.items()]
    together = results[0] if len(results) == 1 else _side_by_side(results, _uneven(topics))
    return replace(together, warnings=tuple(map(_with_remedy, together.warnings)))


def explain_typed(
    rankings: Mapping[str, str] | Sequence[str],
    measures: str | Measure | Iterable[str | Measure],
    policy: Policy = DEFAULT_POLICY,
) -> Workings:
    """How the scores of systems whose rankings are typed arise: of every topic, and the means where there are several.

    >>> print(explain_typed(["1;01"], "RR").averages[0].text)
    RR = (1 + 0.5) / 2 = 1.5 / 2 = 0.7500
    """
    results = evaluate_typed(rankings, measures, policy)
    explanations = []
    for name, ranking in _named(rankings).items():
        experiment = typed(ranking, name=name, policy=policy)
        explanations += [explain(experiment, topic, results.measures) for topic in experiment.judgements().qrels.topics]
    several = len({explanation.topic for explanation in explanations}) > 1  # though all but one may be left out
    averages = averages_of(results) if several else ()
    return Workings(
        explanations=tuple(explanations), averages=averages, policy=results.policy, warnings=results.warnings
    )


def correlate_typed(rankings: Mapping[str, str]) -> RankCorrelation:
    """How far two rankings that are typed agree: the ranks of documents d1, d2, …, or documents, the best first.

    >>> correlate_typed({"R1": "1,2,3", "R2": "2,1,3"}).items[0]
    RankedItem(name='d1', first=1.0, second=2.0, concordant=1, discordant=1)
    >>> correlate_typed({"R1": "a,b,c", "R2": "a,c,b"}).coefficients[1].text
    'kendall = (2 − 1) / 3 = 1 / 3 = 0.3333'
    """
    if len(rankings) != 2:
        raise UsageError(f"rank correlation is between two rankings, not {len(rankings)}; or give one file of ranks")
    texts = tuple(rankings.values())
    of_ranks = [[decimal(item.strip()) is not None for item in text.split(",")] for text in texts]
    if not any(map(all, of_ranks)):
        return explain_correlation(*map(typed_names, texts), names=rankings)
    if not all(any(items) for items in of_ranks):
        raise UsageError("one list has numbers and the other names: give two lists of ranks, or two of documents")
    first, second = map(typed_numbers, texts)  # or the error of what is no number
    if len(first) != len(second):
        raise UsageError(f"{plural(len(first), 'rank')} and {len(second)}: both lists have one for each of d1, d2, …")
    documents = [f"d{i}" for i in range(1, len(first) + 1)]
    ranks = [dict(zip(documents, side, strict=True)) for side in (first, second)]
    return explain_correlation(ranks[0], ranks[1], names=rankings)


def _named(rankings: Mapping[str, str] | Sequence[str]) -> Mapping[str, str]:
    """Rankings under names, run or run1, run2, … where they have none."""
    if isinstance(rankings, Mapping):
        return rankings
    if isinstance(rankings, str) or not rankings:
        raise UsageError("give a list of rankings, as ['3,2,0'], or {name: ranking}")
    return {"run" if len(rankings) == 1 else f"run{i}": ranking for i, ranking in enumerate(rankings, start=1)}


def _experiment(name: str, rankings: Sequence[TypedRanking], policy: Policy) -> Experiment:
    grades: dict[str, dict[str, float]] = {}
    run: dict[str, list[str]] = {}
    for topic, ranking in enumerate(rankings, start=1):
        every = (*ranking.retrieved, *ranking.missed)
        documents = [f"d{i}" for i in range(1, len(every) + 1)]
        judged = zip(documents, every, strict=True)
        grades[str(topic)] = {document: grade for document, grade in judged if grade is not None}
        run[str(topic)] = documents[: len(ranking.retrieved)]
    if not any(run.values()):
        raise UsageError(f"{name}: nothing is retrieved: what stands before / is the ranking, what stands after it not")
    qrels = read_qrels(grades, name=SOURCE)
    return Experiment(replace(qrels, origin=qrels.origin._replace(format=TYPED)), {name: run}, policy)


def _with_remedy(warning: Finding) -> Finding:
    """What is said of topics without a relevant document, with how one is typed."""
    if warning.code != "no-relevant":
        return warning
    return warning._replace(message=f"{warning.message}; what a ranking missed goes after /, as in 0,0/1")


def _side_by_side(results: Sequence[Results], warnings: Sequence[Finding]) -> Results:
    """Results of one run each as one; topics that a run does not have do not count for it."""
    topics = tuple(sorted({topic for result in results for topic in result.topics}, key=int))

    def stacked(cubes: list[Floats]) -> Floats:
        out = np.full((len(cubes), len(results[0].measures), len(topics)), np.nan)
        for of_run, result, cube in zip(out, results, cubes, strict=True):
            of_run[:, [topics.index(topic) for topic in result.topics]] = cube[0]
        return out

    below = [result.denominators for result in results if result.denominators is not None]
    return replace(
        results[0],
        runs=tuple(result.runs[0] for result in results),
        topics=topics,
        scores=stacked([result.scores for result in results]),
        denominators=stacked(below) if below else None,
        inputs=tuple(result.inputs[i] for i in (0, 1) for result in results),
        warnings=(*(warning for result in results for warning in result.warnings), *warnings),
        experiment=Experiment({}),  # there is none: each run has judgements of its own
    )


def _uneven(topics: Mapping[str, Sequence[TypedRanking]]) -> list[Finding]:
    """What makes systems hard to compare: grades that one has and another has not, or topics."""
    numbers = {name: len(rankings) for name, rankings in topics.items()}
    if len(set(numbers.values())) > 1:
        counted = ", ".join(f"{name} {plural(number, 'topic')}" for name, number in numbers.items())
        return [Finding("uneven-topics", SOURCE, f"systems differ in their topics: {counted}")]
    uneven = [
        str(number)
        for number, rankings in enumerate(zip(*topics.values(), strict=True), start=1)
        if len({tuple(sorted(ranking.judged)) for ranking in rankings}) > 1
    ]
    if not uneven:
        return []
    message = (
        f"systems were typed with different judged grades on {plural(len(uneven), 'topic')} ({', '.join(uneven)}): of "
        "one topic all would have the same; what a system missed goes after /"
    )
    return [Finding("uneven-judgements", SOURCE, message)]
