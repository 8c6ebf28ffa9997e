"""`check`: everything odd about judgements and runs, before any number is believed."""

from __future__ import annotations

from cranfield.evaluation import findings
from cranfield.evaluation.experiment import Experiment
from cranfield.evaluation.findings import Finding
from cranfield.formats import distinct_names
from cranfield.judged import Judged
from cranfield.tables import Run


def check(experiment: Experiment) -> list[Finding]:
    """What is odd about judgements and, if there are any, runs; `doubtful` marks what puts a number in doubt.

    >>> experiment = Experiment({"q1": {"d1": 1}, "q2": {"d2": 1}}, {"q1": {"d1": 1.0, "d3": 1.0}})
    >>> for finding in check(experiment):
    ...     print(finding.code, finding.doubtful)
    missing-topics True
    ties True
    unjudged False
    """
    judgements = experiment.judgements()

    def of_run(run: Run, judged: Judged) -> tuple[str, str | None, list[Finding]]:
        return run.name, run.origin.path, findings.of_run(run, judged) + findings.of_coverage(run, judged)

    of_each = experiment.each_run(of_run, judgements)
    names, paths = distinct_names([(name, path) for name, path, _ in of_each]), [path for _, path, _ in of_each]
    of_qrels = findings.of_qrels(judgements.qrels, judgements.pool)
    return [*of_qrels, *findings.of_runs(names, paths, [of_one for _, _, of_one in of_each])]
