"""cranfield: how good is a search system? Every measure, exactly, fast, and never silently wrong.

    import cranfield
    results = cranfield.evaluate("qrels.txt", ["bm25.run", "dense.run"], ["nDCG@10", "AP"])
    print(results)

Everything public can be reached from here; modules load when first used, so that starting up stays quick.
"""

from __future__ import annotations

from cranfield.exports import TYPE_CHECKING, exported
from cranfield.version import __version__ as __version__

if TYPE_CHECKING:
    from cranfield.agreement.rankings.runs import correlate as correlate
    from cranfield.comparison.comparison import Comparison as Comparison
    from cranfield.comparison.diagnosis import diagnose as diagnose
    from cranfield.comparison.gate.decision import gate as gate
    from cranfield.comparison.systems import compare as compare
    from cranfield.description.description import describe as describe
    from cranfield.errors import CranfieldError as CranfieldError
    from cranfield.errors import DataError as DataError
    from cranfield.errors import UsageError as UsageError
    from cranfield.evaluation.checking import check as check
    from cranfield.evaluation.evaluation import evaluate as evaluate
    from cranfield.evaluation.experiment import Experiment as Experiment
    from cranfield.evaluation.results import Results as Results
    from cranfield.explanation.accounts import explain as explain
    from cranfield.formats import read_qrels as read_qrels
    from cranfield.formats import read_run as read_run
    from cranfield.formats.reading import Reading as Reading
    from cranfield.fusion import fuse as fuse
    from cranfield.measures import Measure as Measure
    from cranfield.measures import measure as measure
    from cranfield.planning.plans import plan as plan
    from cranfield.planning.splits import split as split
    from cranfield.policy import Policy as Policy
    from cranfield.search import retrieve as retrieve
    from cranfield.tables import Qrels as Qrels
    from cranfield.tables import Run as Run
    from cranfield.texts.conversion import convert as convert
    from cranfield.texts.writing import write_qrels as write_qrels
    from cranfield.texts.writing import write_run as write_run

PUBLIC = {
    "comparison.diagnosis": "diagnose",
    "comparison.gate.decision": "gate",
    "comparison.systems": "compare",
    "comparison.comparison": "Comparison",
    "description.description": "describe",
    "errors": "CranfieldError DataError UsageError",
    "evaluation.checking": "check",
    "evaluation.evaluation": "evaluate",
    "evaluation.experiment": "Experiment",
    "formats.reading": "Reading",
    "evaluation.results": "Results",
    "explanation.accounts": "explain",
    "formats": "read_qrels read_run",
    "fusion": "fuse",
    "measures": "Measure measure",
    "planning.plans": "plan",
    "planning.splits": "split",
    "policy": "Policy",
    "search": "retrieve",
    "tables": "Qrels Run",
    "texts.conversion": "convert",
    "texts.writing": "write_qrels write_run",
    "agreement.rankings.runs": "correlate",
}
__getattr__, __dir__ = exported(__name__, PUBLIC)
