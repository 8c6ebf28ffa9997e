"""cranfield: how good is a search system? Every measure, exactly, fast, and never silently wrong.

    import cranfield
    results = cranfield.evaluate("qrels.txt", ["bm25.run", "dense.run"], ["nDCG@10", "AP"])
    print(results)

Everything public can be reached from here; modules load when first used, so that starting up stays quick.
"""

from __future__ import annotations

from cranfield.version import __version__

TYPE_CHECKING = False  # as typing has it, which takes a while to load
if TYPE_CHECKING:
    from typing import Any

    from cranfield.checking import check
    from cranfield.comparing import compare, compare_collections
    from cranfield.comparison import Comparison
    from cranfield.converting import convert
    from cranfield.correlating import Correlation, correlate, correlate_halves, correlate_systems, reproduction
    from cranfield.describing import Description, describe
    from cranfield.diagnosing import diagnose
    from cranfield.efficiency import Efficiency, Indexing, measure_system
    from cranfield.errors import CranfieldError, DataError, UsageError
    from cranfield.evaluation import evaluate
    from cranfield.explaining import explain
    from cranfield.explanation import Explanation
    from cranfield.findings import Finding
    from cranfield.formats import read_qrels, read_run
    from cranfield.fusion import TrainedFusion, fuse, train_fusion
    from cranfield.gating import Rule, Thresholds, gate
    from cranfield.judged import Judged, judge, relstring
    from cranfield.measures import Measure, all_measures, measure, parse_measure
    from cranfield.metadata import costs_of, read_metadata, run_metadata, write_metadata
    from cranfield.opinions import of_judges
    from cranfield.plans import Aims, Plan, PowerAnalysis, plan, power_analysis
    from cranfield.policy import Policy
    from cranfield.results import Results
    from cranfield.search import retrieve
    from cranfield.splits import Splits, read_splits, split
    from cranfield.statistics.risk import Risk, risk
    from cranfield.statistics.seeds import SeedComparison, compare_seeds
    from cranfield.statistics.splitting import Split, shared_topics
    from cranfield.tables import Qrels, Run
    from cranfield.texts import read_documents, read_topics
    from cranfield.texts.base import Documents, Topics
    from cranfield.texts.collection import Collection, read_collection
    from cranfield.writing import write_collection, write_documents, write_qrels, write_run, write_topics

_WHERE = {
    "Aims": "plans",
    "Collection": "texts.collection",
    "Comparison": "comparison",
    "Correlation": "correlating",
    "CranfieldError": "errors",
    "DataError": "errors",
    "Description": "describing",
    "Documents": "texts.base",
    "Efficiency": "efficiency",
    "Explanation": "explanation",
    "Finding": "findings",
    "Indexing": "efficiency",
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
    "Topics": "texts.base",
    "TrainedFusion": "fusion",
    "UsageError": "errors",
    "all_measures": "measures",
    "check": "checking",
    "compare": "comparing",
    "compare_collections": "comparing",
    "compare_seeds": "statistics.seeds",
    "convert": "converting",
    "correlate": "correlating",
    "correlate_halves": "correlating",
    "correlate_systems": "correlating",
    "costs_of": "metadata",
    "describe": "describing",
    "diagnose": "diagnosing",
    "evaluate": "evaluation",
    "explain": "explaining",
    "fuse": "fusion",
    "gate": "gating",
    "judge": "judged",
    "measure": "measures",
    "measure_system": "efficiency",
    "of_judges": "opinions",
    "parse_measure": "measures",
    "plan": "plans",
    "power_analysis": "plans",
    "read_collection": "texts.collection",
    "read_documents": "texts",
    "read_metadata": "metadata",
    "read_qrels": "formats",
    "read_run": "formats",
    "read_splits": "splits",
    "read_topics": "texts",
    "relstring": "judged",
    "reproduction": "correlating",
    "retrieve": "search",
    "risk": "statistics.risk",
    "run_metadata": "metadata",
    "shared_topics": "statistics.splitting",
    "split": "splits",
    "train_fusion": "fusion",
    "write_collection": "writing",
    "write_documents": "writing",
    "write_metadata": "metadata",
    "write_qrels": "writing",
    "write_run": "writing",
    "write_topics": "writing",
}

__all__ = [
    "Aims",
    "Collection",
    "Comparison",
    "Correlation",
    "CranfieldError",
    "DataError",
    "Description",
    "Documents",
    "Efficiency",
    "Explanation",
    "Finding",
    "Indexing",
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
    "Topics",
    "TrainedFusion",
    "UsageError",
    "__version__",
    "all_measures",
    "check",
    "compare",
    "compare_collections",
    "compare_seeds",
    "convert",
    "correlate",
    "correlate_halves",
    "correlate_systems",
    "costs_of",
    "describe",
    "diagnose",
    "evaluate",
    "explain",
    "fuse",
    "gate",
    "judge",
    "measure",
    "measure_system",
    "of_judges",
    "parse_measure",
    "plan",
    "power_analysis",
    "read_collection",
    "read_documents",
    "read_metadata",
    "read_qrels",
    "read_run",
    "read_splits",
    "read_topics",
    "relstring",
    "reproduction",
    "retrieve",
    "risk",
    "run_metadata",
    "shared_topics",
    "split",
    "train_fusion",
    "write_collection",
    "write_documents",
    "write_metadata",
    "write_qrels",
    "write_run",
    "write_topics",
]


_CHECKED: dict[str, Any] = {}  # functions as callers outside meet them


def __getattr__(name: str) -> Any:
    from importlib import import_module
    from importlib.util import find_spec

    if name in _CHECKED:
        return _CHECKED[name]
    if name in _WHERE:
        found = getattr(import_module(f"cranfield.{_WHERE[name]}"), name)
        if not hasattr(found, "__code__"):  # a class
            return found
        from cranfield.calling import checked

        return _CHECKED.setdefault(name, checked(found, __name__))
    if name.startswith("_") or find_spec(f"cranfield.{name}") is None:
        raise AttributeError(f"module 'cranfield' has no attribute '{name}'")
    return import_module(f"cranfield.{name}")


def __dir__() -> list[str]:
    return __all__
