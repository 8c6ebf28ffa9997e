"""The next documents for somebody, and whether it is worth waiting for more: the same for page, script and API."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cranfield.web.admission import Visit
from cranfield.web.judging.leasing import Leased
from cranfield.web.judging.recording import NewJudgement
from cranfield.web.judging.sitting import JudgedAnswer, TopicHere, judged, judged_and_next
from cranfield.web.projects.options import ProjectOptions
from cranfield.web.queue.feeding import Feeder


@dataclass(frozen=True, kw_only=True)
class HandedOut:
    """What came of judgements, and what is before somebody now. `waiting`: nothing yet, but the method of the project
    has not learned of all that was judged, so more may come. No leases and no waiting: nothing is left for now."""

    answer: JudgedAnswer
    leases: Sequence[Leased]
    waiting: bool


def handed_out(
    feeder: Feeder, visit: Visit, topic: TopicHere, count: int, judgements: Sequence[NewJudgement] = ()
) -> HandedOut:
    """Stores judgements, leases the next pairs, and has the method learn where something was judged or few are left."""
    settled = feeder.has_learned(topic.id)  # before: what it adds while documents are looked for was not looked at
    answer, leases = judged_and_next(visit, topic, judgements, count) if count else (judged(visit, judgements), [])
    feeder.wake(answer.topics)
    if len(leases) < count:
        feeder.wake([topic.id], ran_out=True)
    learns = ProjectOptions.from_json(visit.here.settings).adaptive
    settled = settled and feeder.has_learned(topic.id)
    return HandedOut(answer=answer, leases=leases, waiting=not leases and learns and not settled)
