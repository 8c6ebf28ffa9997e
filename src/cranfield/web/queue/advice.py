"""Whether a topic could stop: several rules side by side, none of which decides."""

from __future__ import annotations

from sqlalchemy import Connection

from cranfield.learning import RecallEstimate, StopRule, estimate_recall, stop_rules
from cranfield.web.projects.options import ProjectOptions
from cranfield.web.queue.asked import AskedTopic, asked_topic
from cranfield.web.queue.feeding import SAMPLE


def advice(
    connection: Connection, topic: int, *, threshold: int, options: ProjectOptions, documents: int
) -> tuple[StopRule, ...]:
    """What each rule says of a topic now. `documents` are all that could be asked for."""
    known = asked_topic(connection, topic, threshold)
    asked = [bool(pair.relevant) for pair in known.pairs if pair.source != SAMPLE and pair.relevant is not None]
    estimate = _estimate(known, asked, documents) if options.sample else None
    return stop_rules(asked, documents, estimate=estimate, budget=options.budget)


def _estimate(known: AskedTopic, asked: list[bool], documents: int) -> RecallEstimate:
    sampled = [bool(pair.relevant) for pair in known.pairs if pair.source == SAMPLE and pair.relevant is not None]
    return estimate_recall(
        total=documents,
        asked=len(asked),
        asked_relevant=sum(asked),
        sampled=len(sampled),
        sampled_relevant=sum(sampled),
    )
