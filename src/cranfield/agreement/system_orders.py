"""Whether the disagreement of assessors changes the ordering of systems."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cranfield.agreement.graded import Graded
from cranfield.agreement.rankings.correlation import Correlation
from cranfield.agreement.rankings.system_correlation import correlate_systems
from cranfield.errors import DataError
from cranfield.evaluation.evaluation import evaluate
from cranfield.evaluation.experiment import Experiment
from cranfield.evaluation.findings import Finding
from cranfield.formats.runs import read_runs
from cranfield.measures import Measure
from cranfield.statistics.coefficients import find_coefficient
from cranfield.statistics.mixing import mixed_agreement
from cranfield.statistics.resampled import Estimate
from cranfield.statistics.significance import Sampling
from cranfield.tables import Qrels, Run

if TYPE_CHECKING:
    from cranfield.formats.given import GivenRuns

SAME_ORDER = 0.9  # tau from which orderings count as equivalent, after Voorhees 2000
COEFFICIENTS = ("kendall", "tau_ap_b")


class Orderings(NamedTuple):
    """How far systems come in the same order under each pair of assessors, on the documents both judged; and `mixed`,
    where every topic has the judgements of an assessor drawn by lot, on the documents all judged (Voorhees 2000).
    """

    pairs: Correlation
    mixed: Estimate
    says: str


def orderings(graded: Graded, runs: GivenRuns, measure: str | Measure, sampling: Sampling) -> Orderings:
    """The orderings of systems under the judgements of each assessor, compared.

    >>> from cranfield.agreement.graded import graded_by
    >>> judges = {"ann": {"q1": {"d1": 1, "d2": 0}}, "bob": {"q1": {"d1": 2, "d2": 0}}}
    >>> runs = {"a": {"q1": {"d1": 2.0, "d2": 1.0}}, "b": {"q1": {"d2": 2.0, "d1": 1.0}}}
    >>> orderings(graded_by(judges), runs, "AP", Sampling(resamples=10)).says
    'the disagreement does not change the ordering of systems much: the smallest tau is 1.000, at least 0.9'
    """
    systems = {run.name: run for run in read_runs(runs)}
    made, warnings = [], []
    for pair in graded.pairs:
        if graded.find_something(pair):
            first, second = graded.alone(pair)
            made.append(
                correlate_systems(
                    Experiment(first, systems), measure, COEFFICIENTS, other_qrels=second, sampling=sampling
                )
            )
        else:
            both = " and ".join(graded.judges[judge] for judge in pair)
            warnings.append(_unordered(both, "among the documents that both judged, one finds nothing relevant"))
    if not made:
        raise DataError("no two assessors both find something relevant among documents that they share: no orderings")
    everybody = range(len(graded.judges))
    mixed = Estimate(float("nan"), float("nan"), float("nan"))
    if graded.find_something(everybody):
        mixed = _mixed(graded.alone(everybody), systems, measure, sampling)
    else:
        warnings.append(_unordered("all", "no documents that all judged have something relevant: none drawn by lot"))
    pairs = replace(
        made[0],
        rows=tuple(row for pair in made for row in pair.rows),
        notes=tuple(_notes(made)),
        warnings=tuple(dict.fromkeys([*(warning for pair in made for warning in pair.warnings), *warnings])),
    )
    return Orderings(pairs, mixed, _says(pairs))


def _notes(pairs: Sequence[Correlation]) -> Iterator[str]:
    """What is said of all pairs, once; an assessor's ordering with the pair, where it differs by what they share."""
    every = dict.fromkeys(note for pair in pairs for note in pair.notes)
    about = Counter(note.partition(":")[0] for note in every)
    yield from (note for note in every if about[note.partition(":")[0]] == 1)
    for pair in pairs:
        beside = " beside ".join(pair.rows[0].names[:2])
        yield from (f"{beside}: {note}" for note in pair.notes if about[note.partition(":")[0]] > 1)


def _unordered(judges: str, why: str) -> Finding:
    return Finding("no-ordering", judges, why, doubtful=False)


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
