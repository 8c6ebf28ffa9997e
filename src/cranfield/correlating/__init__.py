"""How far rankings agree: the documents of two runs, the order of systems, a reproduction and its original."""

from cranfield.correlating.reproduced import reproduction
from cranfield.correlating.result import Correlation
from cranfield.correlating.runs import correlate
from cranfield.correlating.systems import correlate_halves, correlate_systems

__all__ = ["Correlation", "correlate", "correlate_halves", "correlate_systems", "reproduction"]
