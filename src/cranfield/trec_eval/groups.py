"""Judgements of several assessors (-R qrels_jg): each measure for each assessor, then the mean over assessors."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from cranfield.errors import DataError
from cranfield.formats import read_qrels
from cranfield.formats.preferences import Judgement
from cranfield.judged import Floats, judge
from cranfield.tables import Run
from cranfield.trec_eval.arguments import Options
from cranfield.trec_eval.inputs import as_bytes
from cranfield.trec_eval.names import TABLE, Wanted
from cranfield.trec_eval.values import Rankings, rankings, values_of

SUFFIX = "_avgjg"


def averages(
    lines: Sequence[Judgement], topics: tuple[str, ...], run: Run, options: Options
) -> Callable[[Wanted], list[Floats]]:
    """How to compute a measure that is averaged over assessors."""
    assessors: dict[str, dict[str, dict[str, float]]] = {}
    for line in lines:
        documents = assessors.setdefault(line.group, {}).setdefault(line.topic, {})
        if line.document in documents:
            raise DataError(
                f"document '{line.document}' is given twice for topic '{line.topic}' and group '{line.group}'"
            )
        documents[line.document] = line.level
    by_assessor = [
        rankings(judge(run, read_qrels(assessors[name]), options.policy), options)
        for name in sorted(assessors, key=as_bytes)  # the order in which they are added up
    ]
    number = {topic: t for t, topic in enumerate(topics)}
    plain = {entry.name: entry for entry in TABLE}

    def values(request: Wanted) -> list[Floats]:
        alone = request._replace(entry=plain[request.entry.name.removesuffix(SUFFIX)])
        totals = [np.zeros(len(topics)) for _ in request.names]
        counts = np.zeros(len(topics))
        for ranked in by_assessor:
            places = _places(ranked, number)
            counts[places] += 1
            for total, scores in zip(totals, values_of(alone, ranked), strict=True):
                total[places] += scores
        return [total / counts for total in totals]

    return values


def _places(ranked: Rankings, number: dict[str, int]) -> list[int]:
    return [number[topic] for topic in ranked.judged.topics]
