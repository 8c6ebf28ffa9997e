"""Judging: what people who judge documents do, whatever the door; what it means, and the judgements made of it."""

from __future__ import annotations

from cranfield.exports import TYPE_CHECKING, exported

if TYPE_CHECKING:
    from cranfield.judging.event_log import EventLog as EventLog
    from cranfield.judging.event_log import read_events as read_events
    from cranfield.judging.events import Event as Event
    from cranfield.judging.order import RepeatRule as RepeatRule
    from cranfield.judging.order import arranged as arranged
    from cranfield.judging.order import repeats as repeats
    from cranfield.judging.releasing import ReleasedJudgements as ReleasedJudgements
    from cranfield.judging.releasing import released as released
    from cranfield.judging.releasing import support as support
    from cranfield.judging.scale import Grade as Grade
    from cranfield.judging.scale import Scale as Scale
    from cranfield.judging.showing import ShownDocument as ShownDocument
    from cranfield.judging.showing import shown as shown
    from cranfield.judging.state import Opinion as Opinion
    from cranfield.judging.state import State as State
    from cranfield.judging.state import state_of as state_of

PUBLIC = {
    "event_log": "EventLog read_events",
    "events": "Event",
    "order": "RepeatRule arranged repeats",
    "releasing": "ReleasedJudgements released support",
    "scale": "Grade Scale",
    "showing": "ShownDocument shown",
    "state": "Opinion State state_of",
}
__getattr__, __dir__ = exported(__name__, PUBLIC)
