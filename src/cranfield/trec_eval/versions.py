"""Where trec_eval 9.0, trec_eval 10.0 and cranfield's own policy give different values for two files, and why."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from cranfield.errors import plural
from cranfield.judged import Judged, judge
from cranfield.measures.definition import GEOMETRIC_FLOOR
from cranfield.trec_eval.arguments import NoTopicsError, Options
from cranfield.trec_eval.inputs import Files, read
from cranfield.trec_eval.names import Wanted, wanted
from cranfield.trec_eval.printed import FRACTION, Table
from cranfield.trec_eval.totals import evaluate, prepared, tabulated
from cranfield.trec_eval.values import ours

HEADER = ("measure", "9.0", "10.0", "cranfield", "topics", "why")
LINE = "{:<22}\t{:>9}\t{:>9}\t{:>9}\t{:>6}\t{}\n"
ABSENT = "-"


class Series(NamedTuple):
    """A measure's value for all topics and for each, as printed."""

    total: str
    per_topic: dict[str, str]


Values = dict[str, Series]


@dataclass(frozen=True)
class Facts:
    """What about the files and the request makes values differ."""

    options: Options
    missing: int
    fractional_grades: bool
    single_precision: frozenset[str]  # measures that change when scores are kept in single precision


def explained(options: Options, qrels: str, run: str) -> str:
    """A line for every measure on which not all agree: the three values, in how many topics, and the reason."""
    options = replace(options, per_topic=True, zscores=None)
    nine, ten = replace(options, version="9.0"), replace(options, version="10.0")
    requests = wanted(options.measures, "10.0")
    known_to_nine = [request for request in requests if request.entry.since == "9.0"]
    files = read(requests, nine, qrels, run)  # with all rows: 10.0 can do with them too
    stops: list[str] = []
    first, in_double, second = (
        _values("9.0", lambda: evaluate(known_to_nine, files, nine), stops),
        _values("9.0", lambda: tabulated(known_to_nine, prepared(files, nine, single=False), nine), []),
        _values("10.0", lambda: evaluate(requests, files, ten), stops),
    )
    native, facts = _native(requests, files, options)
    facts = replace(facts, single_precision=frozenset(n for n in first if first[n] != in_double.get(n)))
    lines = list(_lines(requests, (first, second, native), facts))
    remarks = [*stops, *_remarks(requests, facts)]
    if not lines and not remarks:
        return "All agree: trec_eval 9.0, trec_eval 10.0 and cranfield evaluate.\n"
    return "".join([LINE.format(*HEADER), *lines] if lines else []) + "".join(f"{remark}\n" for remark in remarks)


def _values(version: str, table: Callable[[], Table], stops: list[str]) -> Values:
    """Everything printed, by name; nothing where trec_eval would stop, which is told in `stops`."""
    try:
        made = table()
    except NoTopicsError:
        return {}
    if made.stopped is not None:
        why = ". ".join(part.strip() for part in str(made.stopped).splitlines())
        stops.append(f"{version} stops with exit code 4: {why}")
        return {}
    values: Values = {}
    for column in made.columns:
        if column.entry.summary in ("text", "topics"):
            continue
        form = "%d" if column.entry.is_count else FRACTION
        shown = list(column.texts) or [form % value for value in column.values.tolist()]
        total = ABSENT if column.total is None else form % column.total
        values[column.name] = Series(total, dict(zip(made.topics, shown, strict=True)))
    return values


def _native(requests: list[Wanted], files: Files, options: Options) -> tuple[Values, Facts]:
    """What cranfield evaluate gives: every judged topic counts, grades are what they are."""
    values: Values = {}
    if files.qrels is None:
        return values, Facts(options, 0, False, frozenset())
    judged = judge(files.run, files.qrels, options.policy)
    for request in requests:
        if request.entry.summary in ("mean", "sum", "geometric"):
            form = "%d" if request.entry.is_count else FRACTION
            for name, measure in zip(request.names, ours(request, options), strict=True):
                scores = measure.per_topic(judged)
                shown = np.log(np.maximum(scores, GEOMETRIC_FLOOR)) if request.entry.summary == "geometric" else scores
                per_topic = dict(zip(judged.topics, (form % value for value in shown.tolist()), strict=True))
                values[name] = Series(form % measure.aggregate(scores), per_topic)
    return values, Facts(options, int(np.count_nonzero(~judged.answered)), _has_fractions(judged), frozenset())


def _has_fractions(judged: Judged) -> bool:
    return bool(np.any(judged.pool.grades != np.trunc(judged.pool.grades)))


def _lines(requests: list[Wanted], versions: tuple[Values, Values, Values], facts: Facts) -> Iterator[str]:
    for request in requests:
        for name in request.names:
            present = [values[name] for values in versions if name in values]
            totals = [values[name].total if name in values else ABSENT for values in versions]
            common = set.intersection(*(set(series.per_topic) for series in present)) if present else set()
            differing = sum(len({series.per_topic[topic] for series in present}) > 1 for topic in common)
            if differing or len({series.total for series in present}) > 1:
                yield LINE.format(name, *totals, differing, _reason(request, name, facts, differing))


def _reason(request: Wanted, name: str, facts: Facts, differing: int) -> str:
    reasons = [REASONS[request.entry.name]] if differing and request.entry.name in REASONS else []
    if name in facts.single_precision:
        reasons.append("9.0 keeps scores in single precision, so that documents tie which differ")
    if facts.fractional_grades and differing:
        reasons.append("trec_eval cuts grades to whole numbers")
    if request.entry.name == "num_rel" and facts.options.complete and facts.options.level != 1:
        reasons.append("with -c trec_eval counts every grade above 0, whatever -l says")
    if facts.missing and (not facts.options.complete or not reasons):
        reasons.append(f"9.0 takes no account of the {plural(facts.missing, 'topic')} without an answer")
    return "; ".join(reasons) or "the order of additions"


def _remarks(requests: list[Wanted], facts: Facts) -> Iterator[str]:
    """What no figure shows: where the output of a version is undefined and the formula's is given."""
    if facts.missing and facts.options.complete:
        yield f"9.0 does not print the {plural(facts.missing, 'topic')} without an answer, though it counts."
    for request in requests:
        name, entry = request.names[0], request.entry
        if any(value != int(value) for key, value in request.pairs if key != "p"):
            yield f"{name}: trec_eval takes gains less than 1 apart for equal when it sorts them; given is the formula."
        leaks = (entry.name in LEAKING and name != entry.name) or any(key == "-1" for key, _ in request.pairs)
        if leaks and facts.missing and facts.options.complete:
            yield f"{name}: 10.0 makes up a document for a topic without an answer and counts it; given is the formula."
        if entry.name == "rbp":
            yield f"{name}: 10.0 scales gains by variables that it never sets; given is the formula."


# Measures that 10.0 sets to 0 for a topic without an answer only if they are asked for without parameters.
LEAKING = ("utility", "relstring", "rbp_resid")
RECALL = (
    "for recall c, 9.0 wants c R + 0.9 documents cut to a whole number, 10.0 c R rounded to the nearest, cranfield the "
    "fewest that reach it"
)
REASONS = {
    "iprec_at_recall": RECALL,
    "11pt_avg": RECALL,
    "ideal_dcg": "trec_eval shows the value of the topic before where a topic has only negative grades",
    "ndcg_rel": "trec_eval gives 0 where the sum is negative",
    "Rndcg": "trec_eval gives 0 where no document has the level of -l",
    "rbp": "10.0 scales gains by the highest grade of the topic, cranfield by that of all topics",
    "rbp_resid": "10.0 gives 0 where nothing unjudged is retrieved, cranfield counts what lies below the list",
}
