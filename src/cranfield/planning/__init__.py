"""How many topics, which splits, what a collection supports."""

from __future__ import annotations

from cranfield.exports import TYPE_CHECKING, exported

if TYPE_CHECKING:
    from cranfield.planning.plans import Aims as Aims
    from cranfield.planning.plans import Plan as Plan
    from cranfield.planning.plans import PowerAnalysis as PowerAnalysis
    from cranfield.planning.plans import plan as plan
    from cranfield.planning.plans import power_analysis as power_analysis
    from cranfield.planning.splits import Splits as Splits
    from cranfield.planning.splits import read_splits as read_splits
    from cranfield.planning.splits import split as split
    from cranfield.planning.topic_sets import read_topic_set as read_topic_set
    from cranfield.planning.tuned import TunedOn as TunedOn
    from cranfield.planning.tuned import TunedParameters as TunedParameters
    from cranfield.planning.tuned import read_parameters as read_parameters

PUBLIC = {
    "plans": "Aims Plan PowerAnalysis plan power_analysis",
    "splits": "Splits read_splits split",
    "tuned": "TunedOn TunedParameters read_parameters",
    "topic_sets": "read_topic_set",
}
__getattr__, __dir__ = exported(__name__, PUBLIC)
