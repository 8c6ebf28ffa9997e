"""Which system is better, by how much, and how sure that is."""

from __future__ import annotations

from cranfield.exports import TYPE_CHECKING, exported

if TYPE_CHECKING:
    from cranfield.comparison.comparison import Comparison as Comparison
    from cranfield.comparison.comparison import Pair as Pair
    from cranfield.comparison.comparison import Panel as Panel
    from cranfield.comparison.diagnosis import Diagnosis as Diagnosis
    from cranfield.comparison.diagnosis import diagnose as diagnose
    from cranfield.comparison.gate.rules import Rule as Rule
    from cranfield.comparison.gate.rules import Thresholds as Thresholds
    from cranfield.comparison.gate.verdict import Verdict as Verdict
    from cranfield.comparison.leaderboards import Leaderboard as Leaderboard
    from cranfield.comparison.leaderboards import leaderboard as leaderboard
    from cranfield.comparison.question import Details as Details
    from cranfield.comparison.question import Question as Question
    from cranfield.comparison.systems import compare as compare
    from cranfield.comparison.systems import compare_collections as compare_collections

PUBLIC = {
    "comparison": "Comparison Pair Panel",
    "diagnosis": "Diagnosis diagnose",
    "gate.rules": "Rule Thresholds",
    "gate.verdict": "Verdict",
    "leaderboards": "Leaderboard leaderboard",
    "question": "Details Question",
    "systems": "compare compare_collections",
}
__getattr__, __dir__ = exported(__name__, PUBLIC)
