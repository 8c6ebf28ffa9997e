"""How far assessors agree on judgements of the same documents, and whether it matters for the ordering of systems."""

from cranfield.assessing.agreement import Assessment, assess
from cranfield.assessing.graded import judges_of

__all__ = ["Assessment", "assess", "judges_of"]
