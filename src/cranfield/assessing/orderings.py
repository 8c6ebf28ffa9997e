"""Whether the disagreement of assessors changes the ordering of systems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from cranfield.assessing.graded import Graded
from cranfield.correlating import Correlation, correlate_systems
from cranfield.evaluation import evaluate, named_runs
from cranfield.formats import distinct_names, read_run
from cranfield.measures import Measure
from cranfield.statistics.agreement import find_coefficient
from cranfield.statistics.base import Sampling
from cranfield.statistics.mixing import mixed_agreement
from cranfield.statistics.resampled import Estimate
from cranfield.tables import Qrels, Run

SAME_ORDER = 0.9  # tau from which orderings count as equivalent, after Voorhees 2000
COEFFICIENTS = ("kendall", "tau_ap_b")


class Orderings(NamedTuple):
    """How far systems come in the same order under each pair of assessors, on the documents both judged; and `mixed`,
    where every topic has the judgements of an assessor drawn by lot, on the documents all judged (Voorhees 2000).
    """

    pairs: Correlation
    mixed: Estimate
    says: str


def orderings(graded: Graded, runs: Any, measure: str | Measure, sampling: Sampling) -> Orderings:
    """The orderings of systems under the judgements of each assessor, compared.

    >>> from cranfield.assessing.graded import graded_by
    >>> judges = {"ann": {"q1": {"d1": 1, "d2": 0}}, "bob": {"q1": {"d1": 2, "d2": 0}}}
    >>> runs = {"a": {"q1": {"d1": 2.0, "d2": 1.0}}, "b": {"q1": {"d2": 2.0, "d1": 1.0}}}
    >>> orderings(graded_by(judges), runs, "AP", Sampling(resamples=10)).says
    'the disagreement does not change the ordering of systems much: the smallest tau is 1.000, at least 0.9'
    """
    tables = [read_run(run, name=name) for name, run in named_runs(runs)]
    names = distinct_names([(table.name, table.origin.path) for table in tables])
    systems = {name: table.renamed(name) for name, table in zip(names, tables, strict=True)}
    everybody = range(len(graded.judges))
    made = []
    for pair in combinations(everybody, 2):
        one, other = graded.alone(pair)
        made.append(correlate_systems(one, systems, measure, COEFFICIENTS, other_qrels=other, sampling=sampling))
    pairs = replace(
        made[0],
        rows=tuple(row for pair in made for row in pair.rows),
        notes=tuple(dict.fromkeys(note for pair in made for note in pair.notes)),
        warnings=tuple(dict.fromkeys(warning for pair in made for warning in pair.warnings)),
    )
    return Orderings(pairs, _mixed(graded.alone(everybody), systems, measure, sampling), _says(pairs))


def _mixed(judges: Sequence[Qrels], systems: Mapping[str, Run], measure: str | Measure, sampling: Sampling) -> Estimate:
    scores = np.array([evaluate(judge, systems, measure).scores[:, 0] for judge in judges])
    return mixed_agreement(find_coefficient(COEFFICIENTS[0]), scores, sampling)


def _says(pairs: Correlation) -> str:
    taus = [row.values[0] for row in pairs.rows if row.names[-1] == COEFFICIENTS[0]]
    if any(np.isnan(tau) for tau in taus):
        return "whether the disagreement changes the ordering of systems can't be told: systems are tied"
    least = min(taus)
    word = "does not change the ordering of systems much" if least >= SAME_ORDER else "changes the ordering of systems"
    than = "at least" if least >= SAME_ORDER else "below"
    return f"the disagreement {word}: the smallest tau is {least:.3f}, {than} {SAME_ORDER}"
