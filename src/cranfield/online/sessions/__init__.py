"""Sessions: what users gained in all the pages of a session, what it cost them, and which system serves them better."""

from __future__ import annotations

from cranfield.exports import TYPE_CHECKING, exported

if TYPE_CHECKING:
    from cranfield.online.sessions.gain_curves import GainCurve as GainCurve
    from cranfield.online.sessions.gain_curves import gain_curve as gain_curve
    from cranfield.online.sessions.session_gate import gate_sessions as gate_sessions
    from cranfield.online.sessions.session_logs import Sessions as Sessions
    from cranfield.online.sessions.session_logs import UserSession as UserSession
    from cranfield.online.sessions.session_logs import read_sessions as read_sessions
    from cranfield.online.sessions.session_measures import all_session_measures as all_session_measures
    from cranfield.online.sessions.session_measures import parse_session_measure as parse_session_measure
    from cranfield.online.sessions.session_scores import compare_sessions as compare_sessions
    from cranfield.online.sessions.session_scores import score_sessions as score_sessions

PUBLIC = {
    "gain_curves": "GainCurve gain_curve",
    "session_gate": "gate_sessions",
    "session_logs": "UserSession Sessions read_sessions",
    "session_measures": "all_session_measures parse_session_measure",
    "session_scores": "compare_sessions score_sessions",
}
__getattr__, __dir__ = exported(__name__, PUBLIC)
