"""How far assessors and rankings agree."""

from __future__ import annotations

from cranfield.exports import TYPE_CHECKING, exported

if TYPE_CHECKING:
    from cranfield.agreement.assessment import Assessment as Assessment
    from cranfield.agreement.assessment import assess as assess
    from cranfield.agreement.graded import judges_of as judges_of
    from cranfield.agreement.rankings.correlation import Correlation as Correlation
    from cranfield.agreement.rankings.reproduced import reproduction as reproduction
    from cranfield.agreement.rankings.runs import Overlap as Overlap
    from cranfield.agreement.rankings.runs import correlate as correlate
    from cranfield.agreement.rankings.system_correlation import correlate_halves as correlate_halves
    from cranfield.agreement.rankings.system_correlation import correlate_systems as correlate_systems

PUBLIC = {
    "assessment": "Assessment assess",
    "graded": "judges_of",
    "rankings.correlation": "Correlation",
    "rankings.reproduced": "reproduction",
    "rankings.runs": "Overlap correlate",
    "rankings.system_correlation": "correlate_halves correlate_systems",
}
__getattr__, __dir__ = exported(__name__, PUBLIC)
