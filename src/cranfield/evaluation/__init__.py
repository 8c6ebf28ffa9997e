"""Judgements and runs in, scores out."""

from __future__ import annotations

from cranfield.exports import TYPE_CHECKING, exported

if TYPE_CHECKING:
    from cranfield.evaluation.checking import check as check
    from cranfield.evaluation.evaluation import evaluate as evaluate
    from cranfield.evaluation.experiment import Experiment as Experiment
    from cranfield.evaluation.findings import Finding as Finding
    from cranfield.evaluation.opinions import of_judges as of_judges
    from cranfield.evaluation.results import Results as Results

PUBLIC = {
    "checking": "check",
    "evaluation": "evaluate",
    "experiment": "Experiment",
    "findings": "Finding",
    "opinions": "of_judges",
    "results": "Results",
}
__getattr__, __dir__ = exported(__name__, PUBLIC)
