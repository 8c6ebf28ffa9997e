"""`check`: everything odd about judgements and runs, before any number is believed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from cranfield.evaluation import findings
from cranfield.evaluation.evaluation import named_runs
from cranfield.evaluation.findings import Finding
from cranfield.formats import read_qrels, read_run
from cranfield.formats.layout import Layout
from cranfield.judged import judge, pool


def check(
    qrels: Any, runs: Any = (), *, judgements: str = "plain", format: Layout | str | None = None
) -> list[Finding]:
    """What is odd about judgements and, if given, runs; `doubtful` marks what puts a number in doubt.

    `judgements` is the kind of judgements in `qrels`, where they say more than a grade.

    >>> for finding in check({"q1": {"d1": 1}, "q2": {"d2": 1}}, {"q1": {"d1": 1.0, "d3": 1.0}}):
    ...     print(finding.code, finding.doubtful)
    missing-topics True
    ties True
    unjudged False
    """
    judged_by = read_qrels(qrels, kind=judgements, format=format)
    pooled = pool(judged_by)
    found = findings.of_qrels(judged_by, pooled)
    sources: Iterable[tuple[str | None, Any]] = () if isinstance(runs, tuple) and not runs else named_runs(runs)
    for name, source in sources:
        run = read_run(source, name=name, format=format)
        judged = judge(run, judged_by, pooled=pooled)
        found += findings.of_run(run, judged) + findings.of_coverage(run, judged)
    return found
