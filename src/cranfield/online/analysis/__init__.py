"""Whether the new system is really better for its users: the analysis of a trial, its replay, and its plan."""

from __future__ import annotations

from cranfield.exports import TYPE_CHECKING, exported

if TYPE_CHECKING:
    from cranfield.online.analysis.analysing import analyse as analyse
    from cranfield.online.analysis.analysis import Analysis as Analysis
    from cranfield.online.analysis.overview import TrialOverview as TrialOverview
    from cranfield.online.analysis.overview import overview_of as overview_of
    from cranfield.online.analysis.planning import OnlinePlan as OnlinePlan
    from cranfield.online.analysis.planning import plan_trial as plan_trial
    from cranfield.online.analysis.pre_periods import PrePeriod as PrePeriod
    from cranfield.online.analysis.pre_periods import SeenPeriod as SeenPeriod
    from cranfield.online.analysis.pre_periods import pre_period as pre_period
    from cranfield.online.analysis.replaying import Replay as Replay
    from cranfield.online.analysis.replaying import replay as replay

PUBLIC = {
    "analysing": "analyse",
    "analysis": "Analysis",
    "overview": "TrialOverview overview_of",
    "planning": "OnlinePlan plan_trial",
    "pre_periods": "PrePeriod SeenPeriod pre_period",
    "replaying": "Replay replay",
}
__getattr__, __dir__ = exported(__name__, PUBLIC)
