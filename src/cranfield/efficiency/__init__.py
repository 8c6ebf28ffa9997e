"""What searching costs: measured, kept as metadata beside a run, shown in tables."""

from __future__ import annotations

from cranfield.exports import TYPE_CHECKING, exported

if TYPE_CHECKING:
    from cranfield.efficiency.metadata import costs_of as costs_of
    from cranfield.efficiency.metadata import read_metadata as read_metadata
    from cranfield.efficiency.metadata import run_metadata as run_metadata
    from cranfield.efficiency.metadata import write_metadata as write_metadata
    from cranfield.efficiency.timing import Efficiency as Efficiency
    from cranfield.efficiency.timing import Indexing as Indexing
    from cranfield.efficiency.timing import measure_system as measure_system

PUBLIC = {
    "metadata": "costs_of read_metadata run_metadata write_metadata",
    "timing": "Efficiency Indexing measure_system",
}
__getattr__, __dir__ = exported(__name__, PUBLIC)
