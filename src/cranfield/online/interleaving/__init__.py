"""Interleaving: one list of several rankings, credit for clicks on it, whom users prefer, and audits of methods."""

from __future__ import annotations

from cranfield.exports import TYPE_CHECKING, exported

if TYPE_CHECKING:
    from cranfield.online.interleaving.auditing import Audit as Audit
    from cranfield.online.interleaving.auditing import audit_interleaver as audit_interleaver
    from cranfield.online.interleaving.impressions import InterleavingLog as InterleavingLog
    from cranfield.online.interleaving.impressions import read_interleaving as read_interleaving
    from cranfield.online.interleaving.method import Interleaved as Interleaved
    from cranfield.online.interleaving.method import Interleaver as Interleaver
    from cranfield.online.interleaving.method import all_interleavers as all_interleavers
    from cranfield.online.interleaving.method import credit as credit
    from cranfield.online.interleaving.method import find_interleaver as find_interleaver
    from cranfield.online.interleaving.method import interleaved as interleaved
    from cranfield.online.interleaving.preferring import UserPreferences as UserPreferences
    from cranfield.online.interleaving.preferring import preferences as preferences
    from cranfield.online.interleaving.serving import RankedQuery as RankedQuery
    from cranfield.online.interleaving.serving import Serving as Serving

PUBLIC = {
    "auditing": "Audit audit_interleaver",
    "impressions": "InterleavingLog read_interleaving",
    "method": "Interleaved Interleaver all_interleavers credit find_interleaver interleaved",
    "preferring": "UserPreferences preferences",
    "serving": "RankedQuery Serving",
}
__getattr__, __dir__ = exported(__name__, PUBLIC)
