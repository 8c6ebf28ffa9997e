"""One call of trec_eval: files and options in, everything it may print out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from cranfield.errors import some
from cranfield.judged import Floats, Integers, Mask, judge, pool
from cranfield.measures.definition import GEOMETRIC_FLOOR
from cranfield.tables import Qrels, Run
from cranfield.trec_eval import groups
from cranfield.trec_eval import preference_counts as preferences
from cranfield.trec_eval.arguments import CalculationError, NoTopicsError, Options
from cranfield.trec_eval.inputs import Files, byte_order, single_precision
from cranfield.trec_eval.names import Wanted
from cranfield.trec_eval.printed import PrintedColumn, Table
from cranfield.trec_eval.values import judged_at_all, rankings, relstrings, values_of
from cranfield.trec_eval.zscores import read_zscores, standardised


class TrecEvalInputs(NamedTuple):
    """What was read: the topics of the judgements, which of them the run answers, and how measures are computed.

    `faults` are topics on which trec_eval stops, and why. It also stops if the first one has no grade of 0 or more:
    `judged` says which have.
    """

    topics: tuple[str, ...]
    answered: Mask
    judged: Mask
    faults: Mapping[str, CalculationError]
    run_name: str
    values: Callable[[Wanted], list[Floats]]  # for each printed name, a value for each topic
    texts: Callable[[Wanted], list[str]]
    n_relevant: float  # over all topics, whatever -l says


def evaluate(requests: list[Wanted], files: Files, options: Options) -> Table:
    """What trec_eval would print, as values."""
    return tabulated(requests, prepared(files, options, single=options.version == "9.0"), options)


def prepared(files: Files, options: Options, *, single: bool) -> TrecEvalInputs:
    """The run joined with the judgements; `single` says that scores are kept in single precision."""
    run = single_precision(files.run) if single else files.run
    if files.qrels is not None:
        return _plain(files.qrels, run, options)
    topics = tuple(dict.fromkeys(line.topic for line in files.lines))
    present = set(run.topics)
    answered = np.array([topic in present for topic in topics])
    faults: dict[str, CalculationError] = {}
    if options.format == "qrels_jg":
        values = groups.averages(files.lines, topics, run, options)
    else:
        values = preferences.measures(files.lines, topics, run, options, faults)
    return TrecEvalInputs(topics, answered, np.ones_like(answered), faults, run.origin.tag, values, lambda _: [], 0.0)


def tabulated(requests: list[Wanted], inputs: TrecEvalInputs, options: Options) -> Table:
    """The values of every measure for the topics that are evaluated, in trec_eval's order."""
    order, stopped = _evaluated(requests, inputs, options)
    topics = [inputs.topics[t] for t in order.tolist()]
    n_topics = len(inputs.topics) if options.complete else len(topics)
    reference = None if options.zscores is None else read_zscores(options.zscores)
    columns: list[PrintedColumn] = []
    for request in requests:
        entry = request.entry
        if entry.summary in ("text", "topics"):
            columns.append(PrintedColumn(entry, entry.name))
        elif entry.summary == "per topic":
            texts = inputs.texts(request) if options.per_topic else []
            columns.append(PrintedColumn(entry, request.names[0], texts=[texts[t] for t in order.tolist() if texts]))
        else:
            for name, all_values in zip(request.names, inputs.values(request), strict=True):
                values = all_values[order]
                if reference is not None:
                    values = standardised(values, name, topics, reference)
                recounted = name == "num_rel" and options.complete
                total = None
                if stopped is None:
                    total = inputs.n_relevant if recounted else _total(entry.summary, values, n_topics)
                columns.append(PrintedColumn(entry, name, values, total))
    return Table(topics, columns, inputs.run_name, n_topics, stopped)


def _evaluated(
    requests: list[Wanted], inputs: TrecEvalInputs, options: Options
) -> tuple[Integers, CalculationError | None]:
    """Numbers of the topics that are evaluated, and why there are no more. 9.0 goes by the run, 10.0 by the qrels."""
    order = np.array(byte_order(inputs.topics), dtype=np.int64)
    if options.version == "9.0":
        order = order[inputs.answered[order]]
        if not len(order):
            raise NoTopicsError("no topic is in both files")
    looks_at_grades = any(request.entry.judgements for request in requests)
    if looks_at_grades and not inputs.judged[order[0]]:
        fault = CalculationError(
            f"topic '{inputs.topics[order[0]]}', the first, has only negative grades",
            remedy="trec_eval stops at this too; it does not if another topic comes before.",
        )
        return order[:0], fault
    for place, topic in enumerate(order.tolist()):
        name = inputs.topics[topic]
        if name in inputs.faults and looks_at_grades:
            return order[:place], inputs.faults[name]
        if not inputs.answered[topic] and not options.complete:
            missing = [inputs.topics[t] for t in order.tolist() if not inputs.answered[t]]
            fault = CalculationError(
                f"the run has no answer for {some(missing)}",
                remedy="-c counts such topics as 0; --as 9.0 leaves them out, as trec_eval 9.0 does.",
            )
            return order[:place], fault
    return order, None


def _total(summary: str, values: Floats, n_topics: int) -> float:
    # Added up one after the other, as trec_eval does: pairwise sums differ in the last digits.
    total = float(np.add.accumulate(values)[-1])
    if summary == "sum":
        return total
    if summary == "geometric":
        return float(np.exp((total + (n_topics - len(values)) * np.log(GEOMETRIC_FLOOR)) / n_topics))
    return total / n_topics


def _plain(qrels: Qrels, run: Run, options: Options) -> TrecEvalInputs:
    ranked = rankings(judge(run, qrels, options.policy, pooled=pool(qrels)), options)
    return TrecEvalInputs(
        ranked.judged.topics,
        ranked.judged.answered,
        judged_at_all(ranked.judged.pool),
        {},
        run.origin.tag,
        lambda request: values_of(request, ranked),
        lambda request: relstrings(request, ranked),
        float(np.count_nonzero(ranked.judged.pool.grades > 0)),
    )
