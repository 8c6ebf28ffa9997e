"""How a score arises, rank by rank."""

from __future__ import annotations

from cranfield.exports import TYPE_CHECKING, exported

if TYPE_CHECKING:
    from cranfield.explanation.accounts import explain as explain
    from cranfield.explanation.explanation import Explanation as Explanation

PUBLIC = {
    "accounts": "explain",
    "explanation": "Explanation",
}
__getattr__, __dir__ = exported(__name__, PUBLIC)
