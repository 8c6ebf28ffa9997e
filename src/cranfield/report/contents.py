"""Everything a report says, gathered once, whatever form it is written in: one evaluation, one comparison."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cranfield.comparison.comparison import Comparison, Panel
from cranfield.comparison.panels import Evaluated, judging
from cranfield.comparison.question import Question
from cranfield.comparison.standing import Standing, reference, standings, verdict
from cranfield.comparison.systems import check_baseline, check_comparable, compare_results
from cranfield.errors import UsageError, plural
from cranfield.evaluation import findings
from cranfield.evaluation.experiment import Experiment
from cranfield.evaluation.findings import Finding
from cranfield.evaluation.results import Results
from cranfield.measures import Measure, as_measures
from cranfield.plot.curves import Curves, by_cutoff, interpolated
from cranfield.texts.facts import NO_FACTS, CollectionFacts

if TYPE_CHECKING:
    from cranfield.quotation.quoting import Quotations
    from cranfield.quotation.text_sources import GivenTextSource
    from cranfield.report.carried_texts import CarriedTexts

CUTOFFS = (*range(1, 11), 12, 15, 20, 25, 30, 40, 50, 60, 80, 100)  # of the curve by cutoff
TOP = 10  # documents of each ranking that are listed
MOST_LISTED = 60_000  # documents of all rankings together that a page can carry, and ranks further down of such
MOST_LOOKED_THROUGH = 2_000_000  # documents of all rankings together that are looked through for them


class TopDocuments(NamedTuple):
    """The first documents of every ranking: documents[topic] with grades[topic], and places[system][topic] in them.

    `below[system][topic]` has the ranks of those that this system has further down, by their place in documents[topic];
    None where these would be too many.
    """

    depth: int
    documents: list[list[str]]
    grades: list[list[float | None]]
    places: list[list[list[int]]]
    below: list[list[dict[int, int]]] | None = None


@dataclass(frozen=True, eq=False, kw_only=True)
class Report:
    """What a report says. `comparison` is None where there is one system alone.

    `quotations` are the texts of what it shows, `texts` those of them that a page carries; None without a collection.
    """

    title: str
    command: str
    experiment: Experiment
    results: Results
    comparison: Comparison | None
    precision_recall: Curves
    by_cutoff: Curves
    rankings: TopDocuments
    findings: tuple[Finding, ...]
    facts: CollectionFacts = NO_FACTS
    quotations: Quotations | None = None
    texts: CarriedTexts | None = None

    @property
    def systems(self) -> tuple[str, ...]:
        """The names of the systems, in the order in which they were given."""
        return self.results.runs

    def panel(self, measure: Measure) -> Panel | None:
        """The comparison on one measure."""
        return None if self.comparison is None else self.comparison.panel(measure)

    def reference(self, measure: Measure) -> int | None:
        """The system that others are set against: the baseline, or the best by this measure, or else the first."""
        return None if self.comparison is None else reference(self.comparison, self.comparison.panel(measure))

    def standings(self, measure: Measure) -> list[Standing]:
        """Every system on a measure, best first."""
        comparison, panel, reference = self.comparison, self.panel(measure), self.reference(measure)
        if comparison is None or panel is None or reference is None:
            mean = self.results.means[0, self.results.measures.index(measure)]
            return [Standing(self.systems[0], "a", "1", float(mean))]
        return standings(comparison, panel, reference)

    def verdict(self, measure: Measure) -> str:
        """The outcome on a measure in a sentence or two."""
        if self.comparison is None:
            only = self.standings(measure)[0]
            return f"{only.system} reaches {only.mean:.4f} by {measure} on {plural(len(self.results.topics), 'topic')}."
        return verdict(self.comparison, self.comparison.panel(measure))


def gather(
    experiment: Experiment | Results,
    measures: str | Measure | Iterable[str | Measure],
    question: Question | None = None,
    *,
    title: str = "",
    command: str = "",
    facts: CollectionFacts = NO_FACTS,
    collection: GivenTextSource | None = None,
) -> Report:
    """Evaluates and compares, and keeps all that a report says of it.

    `question` is what is asked of the comparison; `command` is how to make the report again; `facts` are those of the
    collection. With `collection` (a folder, a TOML file, "irds:…", a Collection) the report shows what was asked and
    what was found; `carried_texts.with_texts` does the same within a budget. Results, such as those of a frame, are
    reported as they are, with the documents of the runs that their experiment has.

    >>> qrels = {str(t): {"d1": 1} for t in range(8)}
    >>> a = {str(t): {"d1": 2.0, "d2": 1.0} for t in range(8)}
    >>> b = {str(t): {"d2": 2.0, "d1": 1.0 if t else 3.0} for t in range(8)}
    >>> report = gather(Experiment(qrels, {"a": a, "b": b}), ["RR", "nDCG@10"])
    >>> report.verdict(report.results.measures[0])
    'a has the highest RR, 1.0000 on 8 topics, and is significantly better than the other.'
    """
    question, wanted = question or Question(), as_measures(measures)
    check_comparable(wanted)
    experiment, evaluated = _evaluated(experiment, wanted, question)
    check_baseline(question.baseline, evaluated.runs)
    comparison = None
    if len(evaluated.runs) > 1:
        judgements = experiment.judgements(evaluated.measures)
        of_runs = Evaluated(evaluated, {run: [run] for run in evaluated.runs}, judgements)
        compared = compare_results({"": of_runs}, wanted, question)
        comparison = replace(compared, order=_best_first(compared))
    findings = [*(evaluated if comparison is None else comparison).warnings, *_coverage(experiment, facts)]
    tables, among = experiment.tables(), experiment.policy.topic_set
    subject = f"{plural(len(tables), 'system')} on {experiment.judgements().qrels.name}"
    longest = max(int(run.table.counts().max()) for run in tables)
    report = Report(
        title=title or (subject if among is None else f"{subject}, {among}"),
        command=command,
        experiment=experiment,
        results=evaluated.only(wanted),
        comparison=comparison,
        precision_recall=interpolated(experiment),
        by_cutoff=by_cutoff(experiment, "nDCG", [cutoff for cutoff in CUTOFFS if cutoff <= longest]),
        rankings=rankings(experiment, evaluated.topics),
        findings=doubtful_first(findings),
        facts=facts,
    )
    if collection is None:
        return report
    from cranfield.report.carried_texts import with_texts

    return with_texts(report, collection)


def _evaluated(
    given: Experiment | Results, measures: tuple[Measure, ...], question: Question
) -> tuple[Experiment, Results]:
    """What is reported, and its scores with what tells how well documents are judged."""
    beside = judging(measures)
    if not isinstance(given, Results):
        experiment = given.suited(measures)
        every = list(dict.fromkeys([*measures, *beside]))
        return experiment, experiment.evaluate(every, figures=question.details.figures)
    experiment = given.experiment.suited(measures)
    if not given.is_judged or tuple(experiment.names) != given.runs:
        raise UsageError(
            "a report shows documents, and these results are scores alone: give their judgements and runs, under the "
            f"same names in the same order, as Results.from_frame(frame, qrels, runs={{{given.runs[0]!r}: …}})"
        )
    return experiment, given.of_measures(measures, beside)


def doubtful_first(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """What puts a number in doubt before what is good to know."""
    return tuple(sorted(findings, key=lambda finding: not finding.doubtful))


def _best_first(comparison: Comparison) -> tuple[int, ...]:
    """The systems in the order of the first measure: letters follow it."""
    panel = comparison.panels[0]
    gains = panel.means * (panel.measure.sign or 1)
    return tuple(np.argsort(-np.nan_to_num(gains, nan=-np.inf), kind="stable").tolist())


def rankings(experiment: Experiment, topics: Sequence[str], depth: int = TOP) -> TopDocuments:
    """The first documents of every ranking in the policy's order, fewer where there are too many to carry.

    >>> experiment = Experiment({"1": {"d1": 1, "d2": 0}}, {"a": {"1": {"d9": 2.0, "d1": 1.0}}})
    >>> rankings(experiment, ["1"])
    TopDocuments(depth=10, documents=[['d9', 'd1']], grades=[[None, 1.0]], places=[[[0, 1]]], below=[[{}]])
    """
    tables = experiment.tables()
    depth = min(depth, MOST_LISTED // (len(tables) * len(topics)))
    if depth == 0:
        return TopDocuments(0, [[] for _ in topics], [[] for _ in topics], [[[] for _ in topics] for _ in tables])
    known: list[dict[str, int]] = [{} for _ in topics]
    whole = sum(map(len, tables)) <= MOST_LOOKED_THROUGH
    lists = [experiment.documents(run, topics, sys.maxsize if whole else depth) for run in tables]
    places = [
        [[seen.setdefault(d, len(seen)) for d in ids[:depth]] for seen, ids in zip(known, of_run, strict=True)]
        for of_run in lists
    ]
    judged = experiment.judgements().qrels.to_dict()
    grades = [[judged[topic].get(document) for document in seen] for topic, seen in zip(topics, known, strict=True)]
    below = [
        [
            {seen[d]: rank for rank, d in enumerate(ids[depth:], start=depth + 1) if d in seen}
            for seen, ids in zip(known, of_run, strict=True)
        ]
        for of_run in lists
    ]
    room = MOST_LISTED - len(tables) * len(topics) * depth
    few = whole and sum(len(ranks) for of_run in below for ranks in of_run) <= room
    return TopDocuments(depth, [list(seen) for seen in known], grades, places, below if few else None)


def _coverage(experiment: Experiment, facts: CollectionFacts) -> list[Finding]:
    """What `check` finds beyond what an evaluation says: how far down each run is judged, lists that are short, grades
    that the collection does not explain."""
    judgements = experiment.judgements()
    of_runs = (findings.of_coverage(run, experiment.joined(run, judgements)) for run in experiment.tables())
    of_grades = findings.of_facts(facts, judgements.pool, judgements.qrels.name)
    return [*of_grades, *(finding for of_run in of_runs for finding in of_run)]
