"""cranfield: how good is a search system? Every measure, exactly, fast, and never silently wrong.

    import cranfield
    results = cranfield.evaluate("qrels.txt", ["bm25.run", "dense.run"], ["nDCG@10", "AP"])
    print(results)

Everything public can be reached from here; modules load when first used, so that starting up stays quick.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cranfield.version import __version__

if TYPE_CHECKING:
    from cranfield.checking import check
    from cranfield.comparing import compare, compare_collections
    from cranfield.comparison import Comparison
    from cranfield.correlating import Correlation, correlate, correlate_halves, correlate_systems, reproduction
    from cranfield.diagnosing import diagnose
    from cranfield.errors import CranfieldError, DataError, UsageError
    from cranfield.evaluation import evaluate
    from cranfield.findings import Finding
    from cranfield.formats import read_qrels, read_run
    from cranfield.gating import Rule, Thresholds, gate
    from cranfield.judged import Judged, judge, relstring
    from cranfield.measures import Measure, all_measures, measure, parse_measure
    from cranfield.opinions import of_judges
    from cranfield.plans import Aims, Plan, PowerAnalysis, plan, power_analysis
    from cranfield.policy import Policy
    from cranfield.results import Results
    from cranfield.splits import Splits, read_splits, split
    from cranfield.statistics.risk import Risk, risk
    from cranfield.statistics.seeds import SeedComparison, compare_seeds
    from cranfield.statistics.splitting import Split, shared_topics
    from cranfield.tables import Qrels, Run

_WHERE = {
    "Aims": "plans",
    "Comparison": "comparison",
    "Correlation": "correlating",
    "CranfieldError": "errors",
    "DataError": "errors",
    "Finding": "findings",
    "Judged": "judged",
    "Measure": "measures",
    "Plan": "plans",
    "Policy": "policy",
    "PowerAnalysis": "plans",
    "Qrels": "tables",
    "Results": "results",
    "Risk": "statistics.risk",
    "Rule": "gating",
    "Run": "tables",
    "SeedComparison": "statistics.seeds",
    "Split": "statistics.splitting",
    "Splits": "splits",
    "Thresholds": "gating",
    "UsageError": "errors",
    "all_measures": "measures",
    "check": "checking",
    "compare": "comparing",
    "compare_collections": "comparing",
    "compare_seeds": "statistics.seeds",
    "correlate": "correlating",
    "correlate_halves": "correlating",
    "correlate_systems": "correlating",
    "diagnose": "diagnosing",
    "evaluate": "evaluation",
    "gate": "gating",
    "judge": "judged",
    "measure": "measures",
    "of_judges": "opinions",
    "parse_measure": "measures",
    "plan": "plans",
    "power_analysis": "plans",
    "read_qrels": "formats",
    "read_run": "formats",
    "read_splits": "splits",
    "relstring": "judged",
    "reproduction": "correlating",
    "risk": "statistics.risk",
    "shared_topics": "statistics.splitting",
    "split": "splits",
}

__all__ = [
    "Aims",
    "Comparison",
    "Correlation",
    "CranfieldError",
    "DataError",
    "Finding",
    "Judged",
    "Measure",
    "Plan",
    "Policy",
    "PowerAnalysis",
    "Qrels",
    "Results",
    "Risk",
    "Rule",
    "Run",
    "SeedComparison",
    "Split",
    "Splits",
    "Thresholds",
    "UsageError",
    "__version__",
    "all_measures",
    "check",
    "compare",
    "compare_collections",
    "compare_seeds",
    "correlate",
    "correlate_halves",
    "correlate_systems",
    "diagnose",
    "evaluate",
    "gate",
    "judge",
    "measure",
    "of_judges",
    "parse_measure",
    "plan",
    "power_analysis",
    "read_qrels",
    "read_run",
    "read_splits",
    "relstring",
    "reproduction",
    "risk",
    "shared_topics",
    "split",
]


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module 'cranfield' has no attribute '{name}'")
    from importlib import import_module

    return getattr(import_module(f"cranfield.{_WHERE[name]}"), name)


def __dir__() -> list[str]:
    return __all__
