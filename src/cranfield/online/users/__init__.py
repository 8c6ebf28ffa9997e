"""Simulated users of judged collections: logs to rehearse with, how sensitive designs are, offline beside online."""

from __future__ import annotations

from cranfield.exports import TYPE_CHECKING, exported

if TYPE_CHECKING:
    from cranfield.online.users.linking import OfflineOnline as OfflineOnline
    from cranfield.online.users.linking import link_offline as link_offline
    from cranfield.online.users.pages import JudgedRankings as JudgedRankings
    from cranfield.online.users.sensitivity import Rehearsal as Rehearsal
    from cranfield.online.users.sensitivity import rehearse as rehearse
    from cranfield.online.users.simulated_logs import SimulatedLog as SimulatedLog
    from cranfield.online.users.simulated_logs import write_simulated as write_simulated
    from cranfield.online.users.simulating import UserSimulation as UserSimulation
    from cranfield.online.users.user_models import ActionCosts as ActionCosts
    from cranfield.online.users.user_models import Population as Population
    from cranfield.online.users.user_models import UserModel as UserModel

PUBLIC = {
    "linking": "OfflineOnline link_offline",
    "pages": "JudgedRankings",
    "sensitivity": "Rehearsal rehearse",
    "simulated_logs": "SimulatedLog write_simulated",
    "simulating": "UserSimulation",
    "user_models": "ActionCosts Population UserModel",
}
__getattr__, __dir__ = exported(__name__, PUBLIC)
