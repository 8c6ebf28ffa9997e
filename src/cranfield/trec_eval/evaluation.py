"""One call of trec_eval: files and options in, everything it may print out."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from cranfield.errors import some
from cranfield.judged import Floats, Integers, Mask, judge, pool
from cranfield.measures.registry import GEOMETRIC_FLOOR
from cranfield.tables import Qrels, Run
from cranfield.trec_eval import groups, preferences
from cranfield.trec_eval.inputs import Files, byte_order, single_precision
from cranfield.trec_eval.names import Wanted
from cranfield.trec_eval.options import CalculationError, NoTopicsError, Options
from cranfield.trec_eval.output import Column, Table
from cranfield.trec_eval.values import rankings, relstrings, values_of
from cranfield.trec_eval.zscores import read_zscores, standardised


class Inputs(NamedTuple):
    """What was read: the topics of the judgements, which of them the run answers, and how measures are computed."""

    topics: tuple[str, ...]
    answered: Mask
    run_name: str
    values: Callable[[Wanted], list[Floats]]  # for each printed name, a value for each topic
    texts: Callable[[Wanted], list[str]]
    n_relevant: float  # over all topics, whatever -l says


def evaluate(asked: list[Wanted], files: Files, options: Options) -> Table:
    """What trec_eval would print, as values."""
    return tabulated(asked, prepared(files, options, single=options.version == "9.0"), options)


def prepared(files: Files, options: Options, *, single: bool) -> Inputs:
    """The run joined with the judgements; `single` says that scores are kept in single precision."""
    run = single_precision(files.run) if single else files.run
    if files.qrels is not None:
        return _plain(files.qrels, run, options)
    topics = tuple(dict.fromkeys(line.topic for line in files.lines))
    present = set(run.topics)
    compute = groups.averages if options.format == "qrels_jg" else preferences.measures
    values = compute(files.lines, topics, run, options)
    return Inputs(topics, np.array([topic in present for topic in topics]), run.origin.tag, values, lambda _: [], 0.0)


def tabulated(asked: list[Wanted], inputs: Inputs, options: Options) -> Table:
    """The values of every measure for the topics that are evaluated, in trec_eval's order."""
    order = _evaluated(inputs, options)
    topics = [inputs.topics[t] for t in order.tolist()]
    n_topics = len(inputs.topics) if options.complete else len(topics)
    reference = None if options.zscores is None else read_zscores(options.zscores)
    columns: list[Column] = []
    for one in asked:
        entry = one.entry
        if entry.summary in ("text", "topics"):
            columns.append(Column(entry, entry.name))
        elif entry.summary == "per topic":
            texts = inputs.texts(one) if options.per_topic else []
            columns.append(Column(entry, one.names[0], texts=[texts[t] for t in order.tolist() if texts]))
        else:
            for name, all_values in zip(one.names, inputs.values(one), strict=True):
                values = all_values[order]
                if reference is not None:
                    values = standardised(values, name, topics, reference)
                recounted = name == "num_rel" and options.complete
                total = inputs.n_relevant if recounted else _total(entry.summary, values, n_topics)
                columns.append(Column(entry, name, values, total))
    return Table(topics, columns, inputs.run_name, n_topics)


def _evaluated(inputs: Inputs, options: Options) -> Integers:
    """Numbers of the topics that are evaluated. 9.0 goes through those of the run, 10.0 through those of the qrels."""
    order = np.array(byte_order(inputs.topics), dtype=np.int64)
    answered = order[inputs.answered[order]]
    if options.version == "9.0":
        if not len(answered):
            raise NoTopicsError("no topic is in both files")
        return answered
    if len(answered) < len(order) and not options.complete:
        missing = [inputs.topics[t] for t in order.tolist() if not inputs.answered[t]]
        raise CalculationError(
            f"the run has no answer for {some(missing)}",
            remedy="-c counts such topics as 0; --as 9.0 leaves them out, as trec_eval 9.0 does.",
        )
    return order


def _total(summary: str, values: Floats, n_topics: int) -> float:
    # Added up one after the other, as trec_eval does: pairwise sums differ in the last digits.
    total = float(np.add.accumulate(values)[-1])
    if summary == "sum":
        return total
    if summary == "geometric":
        return float(np.exp((total + (n_topics - len(values)) * np.log(GEOMETRIC_FLOOR)) / n_topics))
    return total / n_topics


def _plain(qrels: Qrels, run: Run, options: Options) -> Inputs:
    ranked = rankings(judge(run, qrels, options.policy, pooled=pool(qrels)), options)
    return Inputs(
        ranked.judged.topics,
        ranked.judged.answered,
        run.origin.tag,
        lambda one: values_of(one, ranked),
        lambda one: relstrings(one, ranked),
        float(np.count_nonzero(ranked.judged.pool.grades > 0)),
    )
