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
    from cranfield.errors import CranfieldError, DataError, UsageError
    from cranfield.evaluation import evaluate
    from cranfield.findings import Finding
    from cranfield.formats import read_qrels, read_run
    from cranfield.judged import Judged, judge, relstring
    from cranfield.measures import Measure, all_measures, measure, parse_measure
    from cranfield.policy import Policy
    from cranfield.results import Results
    from cranfield.tables import Qrels, Run

_WHERE = {
    "CranfieldError": "errors",
    "DataError": "errors",
    "Finding": "findings",
    "Judged": "judged",
    "Measure": "measures",
    "Policy": "policy",
    "Qrels": "tables",
    "Results": "results",
    "Run": "tables",
    "UsageError": "errors",
    "all_measures": "measures",
    "check": "checking",
    "evaluate": "evaluation",
    "judge": "judged",
    "measure": "measures",
    "parse_measure": "measures",
    "read_qrels": "formats",
    "read_run": "formats",
    "relstring": "judged",
}

__all__ = [
    "CranfieldError",
    "DataError",
    "Finding",
    "Judged",
    "Measure",
    "Policy",
    "Qrels",
    "Results",
    "Run",
    "UsageError",
    "__version__",
    "all_measures",
    "check",
    "evaluate",
    "judge",
    "measure",
    "parse_measure",
    "read_qrels",
    "read_run",
    "relstring",
]


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module 'cranfield' has no attribute '{name}'")
    from importlib import import_module

    return getattr(import_module(f"cranfield.{_WHERE[name]}"), name)


def __dir__() -> list[str]:
    return __all__
