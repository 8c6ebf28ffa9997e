"""`gate`: may a candidate replace the baseline? Pass, fail or cannot tell, with the reasons."""

from cranfield.gating.deciding import as_comparison, gate
from cranfield.gating.rules import DEFAULT_MEASURE, REQUIREMENTS, Margin, Rule, Thresholds
from cranfield.gating.verdict import ANSWERS, Answer, Check, Evidence, Means, Verdict

__all__ = [
    "ANSWERS",
    "DEFAULT_MEASURE",
    "REQUIREMENTS",
    "Answer",
    "Check",
    "Evidence",
    "Margin",
    "Means",
    "Rule",
    "Thresholds",
    "Verdict",
    "as_comparison",
    "gate",
]
