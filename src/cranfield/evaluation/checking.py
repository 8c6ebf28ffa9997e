"""`check`: everything odd about judgements and runs, before any number is believed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, TypeGuard

from cranfield.errors import DataError
from cranfield.evaluation import findings
from cranfield.evaluation.experiment import Experiment
from cranfield.evaluation.findings import Finding
from cranfield.formats import distinct_names, read_qrels, read_run
from cranfield.formats.datasets import is_dataset
from cranfield.formats.faults import ALSO, OTHERS, Faults, all_faults
from cranfield.formats.runs import named_runs
from cranfield.judged import Judged
from cranfield.tables import Run
from cranfield.texts.facts import NO_FACTS, CollectionFacts

if TYPE_CHECKING:
    from cranfield.formats.given import Given, Path


def check(experiment: Experiment, facts: CollectionFacts = NO_FACTS) -> list[Finding]:
    """What is odd about judgements and, if there are any, runs; `doubtful` marks what puts a number in doubt.

    `facts` are those of the collection: grades that it does not explain are told. Where files cannot be read as they
    stand, the error tells all their faulty lines.

    >>> experiment = Experiment({"q1": {"d1": 1}, "q2": {"d2": 1}}, {"q1": {"d1": 1.0, "d3": 1.0}})
    >>> for finding in check(experiment):
    ...     print(finding.code, finding.doubtful)
    missing-topics True
    ties True
    unjudged False
    """
    try:
        judgements = experiment.judgements()

        def of_run(run: Run, judged: Judged) -> tuple[str, str | None, list[Finding]]:
            return (
                run.name,
                run.origin.path,
                findings.of_run(run, judged, experiment.policy) + findings.of_coverage(run, judged),
            )

        of_each = experiment.each_run(of_run, judgements)
    except DataError as fault:
        raise with_others(fault, list(_faults(experiment))) from None
    names, paths = distinct_names([(name, path) for name, path, _ in of_each]), [path for _, path, _ in of_each]
    of_qrels = experiment.restriction()
    of_qrels += findings.of_qrels(judgements.qrels, judgements.pool, experiment.policy)
    of_qrels += findings.of_facts(facts, judgements.pool, judgements.qrels.name)
    return [*of_qrels, *findings.of_runs(names, paths, [of_one for _, _, of_one in of_each])]


def _faults(experiment: Experiment) -> Iterator[Faults]:
    """The faults of each file of an experiment; what can be read only once has been read."""
    reading = experiment.reading
    if _is_path(experiment.qrels):
        yield all_faults(experiment.qrels, lambda source: read_qrels(source, reading=reading))
    runs = experiment.runs
    for _, run in [] if isinstance(runs, tuple) and not runs else named_runs(runs):
        if _is_path(run):
            yield all_faults(run, lambda source: read_run(source, reading=reading))


def _is_path(source: Given) -> TypeGuard[Path]:
    """Whether this is a file that can be read again, or should be one."""
    if not isinstance(source, str | os.PathLike) or os.fspath(source) == "-" or is_dataset(source):
        return False
    return os.path.isfile(source) or not os.path.exists(source)


def with_others(first: DataError, of_files: list[Faults]) -> DataError:
    """The first fault, and the others of all files below it."""
    told = list({str(fault): fault for faults in of_files for fault in faults.told}.values())
    others = [str(fault).split("\n")[0] for fault in told if str(fault) != str(first)]
    more = any(faults.others for faults in of_files)
    if not others and not more:
        return first
    if not others:
        return first.with_more(["This is the first fault; others may follow."])
    return first.with_more([ALSO, *others, *([OTHERS] if more else [])])
