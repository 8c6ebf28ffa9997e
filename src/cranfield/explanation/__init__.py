"""How a score arises, rank by rank, how scores become a mean, and rank correlation; also of what is typed by hand."""

from __future__ import annotations

from cranfield.exports import TYPE_CHECKING, exported

if TYPE_CHECKING:
    from cranfield.explanation.accounts import explain as explain
    from cranfield.explanation.averages import explain_mean as explain_mean
    from cranfield.explanation.by_hand import typed as typed
    from cranfield.explanation.explanation import Explanation as Explanation
    from cranfield.explanation.rank_correlation import RankCorrelation as RankCorrelation
    from cranfield.explanation.rank_correlation import explain_agreement as explain_agreement
    from cranfield.explanation.rank_correlation import explain_correlation as explain_correlation
    from cranfield.explanation.workings import Workings as Workings

PUBLIC = {
    "accounts": "explain",
    "averages": "explain_mean",
    "by_hand": "typed",
    "explanation": "Explanation",
    "rank_correlation": "RankCorrelation explain_agreement explain_correlation",
    "workings": "Workings",
}
__getattr__, __dir__ = exported(__name__, PUBLIC)
