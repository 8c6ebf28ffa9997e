"""Everything a report says, gathered once, whatever form it is written in: one evaluation, one comparison."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isclose
from typing import Any, NamedTuple

from cranfield.comparison.comparison import Comparison, Panel
from cranfield.comparison.panels import Evaluated, judging
from cranfield.comparison.question import Question
from cranfield.comparison.standing import ABOVE, BELOW, Standing, standings
from cranfield.comparison.systems import check_comparable, compare_results
from cranfield.errors import plural
from cranfield.evaluation import findings
from cranfield.evaluation.evaluation import evaluate, needed_kind
from cranfield.evaluation.findings import Finding
from cranfield.evaluation.results import Results
from cranfield.formats import read_qrels
from cranfield.judged import judge, pool
from cranfield.measures import Measure, as_measures
from cranfield.plot.curves import Collected, Curves, by_cutoff, collect, first_documents, interpolated
from cranfield.policy import Policy
from cranfield.signatures import built

ROUNDING = 1e-12  # of means that are the same
CUTOFFS = (*range(1, 11), 12, 15, 20, 25, 30, 40, 50, 60, 80, 100)  # of the curve by cutoff
TOP = 10  # documents of each ranking that are listed
MOST_LISTED = 60_000  # documents of all rankings together that a page can carry


class Rankings(NamedTuple):
    """The first documents of every ranking: documents[topic] with grades[topic], and places[system][topic] in them."""

    depth: int
    documents: list[list[str]]
    grades: list[list[float | None]]
    places: list[list[list[int]]]


@dataclass(frozen=True, eq=False)
class Report:
    """What a report says. `comparison` is None where there is one system alone."""

    title: str
    command: str
    collected: Collected
    results: Results
    comparison: Comparison | None
    precision_recall: Curves
    by_cutoff: Curves
    rankings: Rankings
    findings: tuple[Finding, ...]

    @property
    def systems(self) -> tuple[str, ...]:
        """The names of the systems, in the order in which they were given."""
        return self.results.runs

    def panel(self, measure: Measure) -> Panel | None:
        """The comparison on one measure."""
        return None if self.comparison is None else self.comparison.panel(measure)

    def reference(self, measure: Measure) -> int | None:
        """The system that others are set against: the baseline, or the best by this measure, or else the first."""
        if self.comparison is None:
            return None
        if self.comparison.baseline is not None:
            return self.systems.index(self.comparison.baseline)
        return self.comparison.panel(measure).best or 0

    def standings(self, measure: Measure) -> list[Standing]:
        """Every system on a measure, best first."""
        comparison, panel, reference = self.comparison, self.panel(measure), self.reference(measure)
        if comparison is None or panel is None or reference is None:
            mean = self.results.means[0, self.results.measures.index(measure)]
            return [Standing(self.systems[0], "a", "1", float(mean))]
        return standings(comparison, panel, reference)

    def verdict(self, measure: Measure) -> str:
        """The outcome on a measure in a sentence or two."""
        ordered = self.standings(measure)
        best = ordered[0]
        if self.comparison is None:
            return f"{best.system} reaches {best.mean:.4f} by {measure} on {plural(len(self.results.topics), 'topic')}."
        others, topics = len(ordered) - 1, plural(len(self.comparison.panel(measure).topics), "topic")
        level = [s.system for s in ordered if isclose(s.mean, best.mean, rel_tol=ROUNDING)]
        if measure.sign == 0:
            low, high = min(s.mean for s in ordered), max(s.mean for s in ordered)
            return f"{measure} says nothing of which system is better: from {low:.4f} to {high:.4f} on {topics}."
        have, most = "has" if len(level) == 1 else "share", "highest" if measure.sign > 0 else "lowest"
        ranked = f"{most} {measure}" if measure.sign > 0 else f"{most} {measure} (less is better)"
        text = f"{_listed(level)} {have} the {ranked}, {best.mean:.4f} on {topics}"
        if self.comparison.baseline is not None:
            better = [s.system for s in ordered if s.tier == ABOVE]
            worse = [s.system for s in ordered if s.tier == BELOW]
            return (
                f"{text}. Against the baseline {self.comparison.baseline}, {len(better)} of {others} are significantly "
                f"better and {len(worse)} significantly worse."
            )
        alpha = self.comparison.alpha
        equal = [s.system for s in ordered[1:] if s.adjusted_p is not None and not s.adjusted_p < alpha]
        if not equal:
            return f"{text}, and is significantly better than " + (
                "the other." if others == 1 else f"all {others} others."
            )
        if len(level) > 1:
            behind = [system for system in equal if system not in level]
            return text + (f"; {_listed(behind)} cannot be told from {best.system} with confidence." if behind else ".")
        sure = f" It is significantly better than {len(best.beats)} of {others}." if best.beats else ""
        return f"{text}; {_listed(equal)} cannot be told from it with confidence.{sure}"


def gather(
    qrels: Any,
    runs: Any,
    measures: str | Measure | Iterable[str | Measure],
    *,
    policy: Policy | None = None,
    title: str = "",
    command: str = "",
    read: Mapping[str, Any] | None = None,
    figures: Iterable[str] = (),
    **question: Any,
) -> Report:
    """Reads, evaluates and compares, and keeps all that a report says of it.

    `qrels`, `runs` and `measures` are what `evaluate` takes, `question` what `compare` takes; `read` is passed on to
    the readers. `command` is how to make the report again. `figures` of efficiency stand beside the measures.

    >>> qrels = {str(t): {"d1": 1} for t in range(8)}
    >>> a = {str(t): {"d1": 2.0, "d2": 1.0} for t in range(8)}
    >>> b = {str(t): {"d2": 2.0, "d1": 1.0 if t else 3.0} for t in range(8)}
    >>> report = gather(qrels, {"a": a, "b": b}, ["RR", "nDCG@10"])
    >>> report.verdict(report.results.measures[0])
    'a has the highest RR, 1.0000 on 8 topics, and is significantly better than the other.'
    """
    wanted = as_measures(measures)
    check_comparable(wanted)
    reading = {"digest": "xxh3_128", **dict(read or {})}
    judgements = read_qrels(qrels, kind=needed_kind(wanted), **reading)
    collected = collect(judgements, runs, policy=policy, **reading)
    evaluated = evaluate(
        collected.qrels,
        list(collected.runs),
        list(dict.fromkeys([*wanted, *judging(wanted)])),
        policy=collected.policy,
        figures=figures,
    )
    comparison = None
    if len(evaluated.runs) > 1:
        each = {"": Evaluated(evaluated, {run: [run] for run in evaluated.runs})}
        comparison = compare_results(each, wanted, built(Question, question, "gather"))
    told = [*(evaluated if comparison is None else comparison).warnings, *_coverage(collected)]
    longest = max(int(run.table.counts().max()) for run in collected.runs)
    return Report(
        title or f"{plural(len(collected.runs), 'system')} on {judgements.name}",
        command,
        collected,
        evaluated.only(wanted),
        comparison,
        interpolated(collected),
        by_cutoff(collected, "nDCG", [cutoff for cutoff in CUTOFFS if cutoff <= longest]),
        rankings(collected, evaluated.topics),
        tuple(sorted(told, key=lambda finding: not finding.doubtful)),
    )


def rankings(collected: Collected, topics: Sequence[str], depth: int = TOP) -> Rankings:
    """The first documents of every ranking in the policy's order, fewer where there are too many to carry.

    >>> collected = collect({"1": {"d1": 1, "d2": 0}}, {"a": {"1": {"d9": 2.0, "d1": 1.0}}})
    >>> rankings(collected, ["1"])
    Rankings(depth=10, documents=[['d9', 'd1']], grades=[[None, 1.0]], places=[[[0, 1]]])
    """
    depth = min(depth, MOST_LISTED // (len(collected.runs) * len(topics)))
    if depth == 0:
        none: list[list[Any]] = [[] for _ in topics]
        return Rankings(0, none, none, [none for _ in collected.runs])
    known: list[dict[str, int]] = [{} for _ in topics]
    places = []
    for run in collected.runs:
        lists = first_documents(collected, run, topics, depth)
        places.append([[seen.setdefault(d, len(seen)) for d in ids] for seen, ids in zip(known, lists, strict=True)])
    judged = collected.qrels.to_dict()
    grades = [[judged[topic].get(document) for document in seen] for topic, seen in zip(topics, known, strict=True)]
    return Rankings(depth, [list(seen) for seen in known], grades, places)


def _coverage(collected: Collected) -> list[Finding]:
    """What `check` finds beyond what an evaluation says: how far down each run is judged, lists that are short."""
    pooled = pool(collected.qrels)
    found: list[Finding] = []
    for run in collected.runs:
        found += findings.of_coverage(run, judge(run, collected.qrels, pooled=pooled))
    return found


def _listed(names: Sequence[str]) -> str:
    """
    >>> _listed(["a"]), _listed(["a", "b", "c"]), _listed(list("abcdefg"))
    ('a', 'a, b and c', 'a, b, c and 4 others')
    """
    if len(names) > 5:
        return f"{', '.join(names[:3])} and {len(names) - 3} others"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
