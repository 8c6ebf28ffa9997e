"""Pools: which documents to judge, what each run adds to them, and how well ways of choosing them do."""

from __future__ import annotations

from cranfield.exports import TYPE_CHECKING, exported

if TYPE_CHECKING:
    from cranfield.pooling.analysis import PoolAnalysis as PoolAnalysis
    from cranfield.pooling.analysis import analyse as analyse
    from cranfield.pooling.files import filled as filled
    from cranfield.pooling.making import make_pool as make_pool
    from cranfield.pooling.simulation import Simulation as Simulation
    from cranfield.pooling.simulation import simulate as simulate

PUBLIC = {
    "analysis": "PoolAnalysis analyse",
    "files": "filled",
    "making": "make_pool",
    "simulation": "Simulation simulate",
}
__getattr__, __dir__ = exported(__name__, PUBLIC)
