"""`explain`: how a score of one topic arises, rank by rank, and the formula with the numbers put in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cranfield.comparison.diagnosis import Move
from cranfield.errors import UsageError, some
from cranfield.evaluation import findings
from cranfield.evaluation.experiment import Experiment, with_retrieved
from cranfield.explanation.explanation import Account, Below, ExplainedRank, Explanation, Missed, Placed, SideBySide
from cranfield.formats import read_qrels
from cranfield.formats.runs import named_runs
from cranfield.judged import Integers, Judged, Mask, arranged, joined
from cranfield.measures import Measure, as_measures
from cranfield.measures.explained import Trace, Working
from cranfield.measures.supposed import if_not_relevant, if_relevant
from cranfield.policy import Policy
from cranfield.tables import Qrels, Run

if TYPE_CHECKING:
    from cranfield.quotation.text_sources import GivenTextSource
    from cranfield.search.collection_search import Watch

SHOWN = 20  # ranks shown one by one, if nothing else is said
SHOWN_BELOW = 20  # and of those further down only so many that count
MOST_RUNS = 2


class _Ranking(NamedTuple):
    """What one run retrieved for the topic, every document of it."""

    judged: Judged  # in the policy's order
    known: tuple[str, ...]  # judged documents, as rows of the pool
    unjudged: tuple[str, ...]  # the others retrieved, in order
    ties: tuple[Integers, Integers]  # by rank: the first of the ranks that share its score, and how many do

    def documents(self, seen: Judged) -> list[str]:
        """Those of a view of the ranking, by rank: judged ones where it has them, the others in between."""
        at = dict(zip(seen.rank.tolist(), seen.row.tolist(), strict=True))
        rest = iter(self.unjudged)
        return [self.known[at[i]] if i in at else next(rest) for i in range(1, int(seen.retrieved[0]) + 1)]


# Of each document of a ranking its rank, and what it contributes.
_Places = Mapping[str, tuple[int, float | None]]


def explain(
    experiment: Experiment,
    topic: str,
    measures: str | Measure | Iterable[str | Measure],
    *,
    shown: int | None = None,
    collection: GivenTextSource | None = None,
    watch: Watch | None = None,
) -> Explanation:
    """Explains the scores of one run, or of two side by side, on one topic.

    `shown` is the rank down to which every document is shown: by default the measure's cutoff or the last document that
    counts, but at most 20, and below that only documents that count. Every value is that of `evaluate`. With
    `collection` (a folder, a TOML file, "irds:…", a Collection) the question is told, and what the documents say.

    >>> experiment = Experiment({"7": {"d1": 2, "d4": 1}}, {"7": {"d1": 9.0, "d2": 8.0}})
    >>> explanation = explain(experiment, "7", "P@2")
    >>> explanation.accounts[0].text
    'P@2 = 1 / 2 = 0.5000'
    >>> [(line.rank, line.document, line.grade, line.if_relevant) for line in explanation.accounts[0].lines]
    [(1, 'd1', 2.0, None), (2, 'd2', None, 1.0)]
    >>> pond = Experiment("examples/pond.qrels", {"1": {"d12": 2.0, "d01": 1.0}})
    >>> explain(pond, "1", "RR", collection="examples/pond.toml").quotations.title("d12")
    'Why feathers stay dry'
    """
    wanted, policy = as_measures(measures), experiment.policy
    _check(experiment)
    experiment = experiment.suited(wanted)
    judgements = experiment.judgements().qrels
    lengths = experiment.lengths_by_document
    for measure in wanted:
        measure.check_needs({*judgements.columns, *(["lengths"] if lengths else [])})
    check_topic(topic, experiment)

    explained: dict[Measure, list[tuple[Account, _Places]]] = {measure: [] for measure in wanted}
    warnings = experiment.restriction()
    tables = experiment.tables()
    for table in tables:
        whole = experiment.joined(table, experiment.judgements())
        plain, odd = _ranking(table, judgements, whole, topic, policy)
        warnings += odd
        for measure in wanted:
            ranking = plain
            timed = measure.definition.needs == "lengths"
            if timed or (measure.traits.every_document and "preferences" not in judgements.columns):
                known = experiment.known_documents
                every = with_retrieved(judgements, table, known=known, lengths=lengths if timed else None)
                ranking, _ = _ranking(table, every, joined(table, every, policy.ties), topic, policy)
            explained[measure].append(_account(table.name, measure, ranking, shown, policy))
    warnings += findings.unreachable_grade(wanted, plain.judged.pool, judgements.name)
    grades = judgements.of(topic)
    explanation = Explanation(
        topic=topic,
        runs=tuple(table.name for table in tables),
        accounts=tuple(account for accounts in explained.values() for account, _ in accounts),
        pairs=tuple(_pair(topic, grades, *accounts) for accounts in explained.values() if len(accounts) == MOST_RUNS),
        policy=policy,
        warnings=tuple(warnings),
    )
    return explanation if collection is None else _quoting(experiment, explanation, collection, watch)


def _quoting(
    experiment: Experiment, explanation: Explanation, collection: GivenTextSource, watch: Watch | None
) -> Explanation:
    """The same with texts; what the collection lacks is told."""
    from cranfield.quotation.quoting import quote

    judged = experiment.judgements().whole.topics
    quotations = quote(collection, {explanation.topic: list(explanation.documents)}, judged=judged, watch=watch)
    warnings = (*explanation.warnings, *quotations.findings)
    return replace(explanation, quotations=quotations, warnings=warnings)


def _check(experiment: Experiment) -> None:
    """That there are one or two runs, and a policy under which each has one ranking."""
    _check_policy(experiment.policy)
    sources = named_runs(experiment.runs)
    if len(sources) > MOST_RUNS:
        raise UsageError(f"explain shows one run, or two side by side, not {len(sources)}")


def _check_policy(policy: Policy) -> None:
    if policy.ties == "expected":
        raise UsageError(
            "ties=expected is the mean over many rankings, and there is none to go through: explain the order of "
            "docid or file, or the extremes, best and worst"
        )
    if policy.grades == "probabilities":
        raise UsageError("under grades=probabilities a score is the mean over what may be relevant, not one sum")
    if policy.judges != "grade":
        raise UsageError(f"judges={policy.judges} looks at several judges' grades: explain judges=grade")


def check_topic(topic: str, experiment: Experiment) -> None:
    if not isinstance(topic, str):
        raise UsageError(f"a topic is named by its id as text, '{topic}', not {topic!r}")
    experiment.check_inside([topic])
    known = experiment.judgements().qrels.topics
    if topic not in known:
        from difflib import get_close_matches

        near = get_close_matches(topic, known, n=5, cutoff=0.5)
        others = f"the nearest are {', '.join(near)}" if near else f"there are {some(known)}"
        raise UsageError(f"no topic '{topic}' in the judgements; {others}")


def _ranking(
    run: Run, qrels: Qrels, all_topics: Judged, topic: str, policy: Policy
) -> tuple[_Ranking, list[findings.Finding]]:
    """A run's answer to a topic, with every document in it, and what is odd about the run as a whole."""
    if not all_topics.answered.any():
        raise findings.no_common_topic(run, qrels.topics)
    odd = findings.nothing_judged(run, len(all_topics.rank))
    judged = arranged(all_topics.select(np.array([qrels.topics.index(topic)])), policy)
    grades, retrieved = qrels.of(topic), run.of(topic)
    if not retrieved:
        none = np.zeros(0, dtype=np.int64)
        return _Ranking(judged, tuple(grades), (), (none, none)), odd
    every = read_qrels({topic: dict.fromkeys(retrieved, 0.0)})
    whole = joined(run, every, policy.ties)  # in which every document is a hit, and so in the order of ties
    names = np.array(list(every.of(topic)), dtype=object)[whole.row]
    unjudged = tuple(name for name in names if name not in grades)
    return _Ranking(judged, tuple(grades), unjudged, (whole.tie_first, whole.tie_size)), odd


def _account(
    run: str, measure: Measure, ranking: _Ranking, shown: int | None, policy: Policy
) -> tuple[Account, _Places]:
    trace = measure.trace(ranking.judged)
    working = measure.working(trace)
    documents = ranking.documents(trace.judged)
    rel = measure.parameters.get("rel", 1)
    places = _shown_places(trace, working.counts, measure.parameters.get("cutoff"), shown)
    hidden = np.setdiff1d(np.arange(trace.length), places)
    added = working.contribution
    grade = _supposed_grade(trace.judged, rel)
    bounds, notes = _bounds(measure, ranking.judged)
    if not ranking.judged.answered[0]:
        notes = (f"there is no answer of {run} for this topic", *notes)
    notes = (*_left_out(run, ranking.judged, policy), *notes)
    account = Account(
        run=run,
        measure=measure,
        value=trace.value,
        steps=working.steps,
        because=working.because,
        columns=tuple(working.columns),
        levels=working.levels,
        lines=_lines(measure, trace, working, documents, places, grade, ranking.ties),
        below=Below(
            ranks=len(hidden),
            counting=int(working.counts[hidden].sum()),
            contribution=None if added is None else float(added[hidden].sum()),
        ),
        retrieved=trace.length,
        relevant=trace.n_relevant(rel),
        found=int(trace.relevant(rel).sum()),
        unjudged=int(np.isnan(trace.grade).sum()),
        missed=_missed(trace.judged, ranking.known, rel),
        supposed_grade=grade,
        bounds=bounds,
        highest_grade=max(measure.possible_grades(ranking.judged)),
        notes=notes,
    )
    contributions = [None] * trace.length if added is None else added.tolist()
    return account, dict(zip(documents, zip(trace.rank.tolist(), contributions, strict=True), strict=True))


def _left_out(run: str, judged: Judged, policy: Policy) -> tuple[str, ...]:
    """Whether the policy leaves the topic out of the mean, whatever it scores."""
    left = []
    if policy.empty_topics == "drop" and not judged.pool.has_relevant[0]:
        left.append("this topic is left out of the mean: it has no relevant document (empty_topics=drop)")
    if policy.topics != "qrels" and not judged.answered[0]:
        left.append(f"this topic is left out of the mean: {run} has no answer to it (topics={policy.topics})")
    return tuple(left)


def _lines(
    measure: Measure,
    trace: Trace,
    working: Working,
    documents: Sequence[str],
    places: Integers,
    grade: float,
    ties: tuple[Integers, Integers],
) -> tuple[ExplainedRank, ...]:
    rel = measure.parameters.get("rel", 1)
    relevant_so_far, relevant = np.cumsum(trace.relevant(rel)), trace.n_relevant(rel)
    added = working.contribution
    totals = None if added is None else np.cumsum(added)
    lines = []
    for i in places.tolist():
        is_judged = not np.isnan(trace.grade[i])
        tie = (int(ties[0][i]), int(ties[1][i]))
        lines.append(
            ExplainedRank(
                i + 1,
                documents[i],
                float(trace.grade[i]) if is_judged else None,
                bool(working.counts[i]),
                float(relevant_so_far[i] / (i + 1)),
                float(relevant_so_far[i] / relevant) if relevant else None,
                tuple(None if np.isnan(column[i]) else float(column[i]) for column in working.columns.values()),
                None if added is None else float(added[i]),
                None if totals is None else float(totals[i]),
                if_not_relevant(measure, trace, i + 1) if added is None else None,
                None if is_judged else if_relevant(measure, trace, i + 1, grade, tie),
            )
        )
    return tuple(lines)


def _shown_places(trace: Trace, counts: Mask, cutoff: int | None, shown: int | None) -> Integers:
    """Which ranks to show, from 0: all down to one, then a few of those that count."""
    if shown is not None:
        return np.arange(min(shown, trace.length))
    counting = np.flatnonzero(counts)
    last = int(counting[-1]) + 1 if len(counting) else 1
    depth = min(last if cutoff is None else cutoff, SHOWN, trace.length)
    return np.concatenate((np.arange(depth), counting[counting >= depth][:SHOWN_BELOW])).astype(np.int64)


def _supposed_grade(judged: Judged, rel: float) -> float:
    """The grade of a document that is supposed to be relevant: the highest of the topic, if any is relevant there."""
    highest = float(judged.pool.grades.max(initial=0.0))
    return max(highest if highest > 0 else judged.pool.max_grade, rel)


def _missed(judged: Judged, known: Sequence[str], rel: float) -> tuple[Missed, ...]:
    """Relevant documents that the ranking does not have, best first."""
    retrieved = set(judged.row.tolist())
    wanted = np.flatnonzero((judged.pool.grades >= max(rel, 0)) & (judged.pool.grades > 0)).tolist()
    return tuple(Missed(known[row], float(judged.pool.grades[row])) for row in wanted if row not in retrieved)


def _bounds(measure: Measure, judged: Judged) -> tuple[tuple[float, float] | None, tuple[str, ...]]:
    """The least and the most that the score may be; or why that can't be told."""
    try:
        lowest, highest = measure.bounds(judged)
    except UsageError as error:
        return None, (f"no bounds: {error}",)
    return (float(lowest[0]), float(highest[0])), ()


def _pair(
    topic: str, grades: Mapping[str, float], ours: tuple[Account, _Places], theirs: tuple[Account, _Places]
) -> SideBySide:
    """The documents that either account shows, wherever they stand in the other."""
    (first, places), (second, other_places) = ours, theirs
    placed = []
    for document in dict.fromkeys(line.document for account in (first, second) for line in account.lines):
        rank, contribution = places.get(document, (None, None))
        other_rank, other_contribution = other_places.get(document, (None, None))
        grade = grades.get(document, -1.0)  # a negative grade is no judgement
        move = Move(topic, document, grade if grade >= 0 else None, rank, other_rank)
        placed.append(Placed(move, contribution, other_contribution))
    return SideBySide(
        measure=first.measure,
        run=first.run,
        other=second.run,
        value=first.value,
        other_value=second.value,
        documents=tuple(placed),
    )
