"""Whether a topic could stop: several rules side by side, none of which decides."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from sqlalchemy import Connection, select

from cranfield.learning import RecallEstimate, StopRule, estimate_recall, stop_rules
from cranfield.pooling.candidates import Pooled
from cranfield.web.admission import Visit
from cranfield.web.judging.sitting import scale_of
from cranfield.web.projects.collections import DataFiles
from cranfield.web.projects.options import ProjectOptions
from cranfield.web.queue.asked import AskedTopic, asked_topic
from cranfield.web.queue.methods import pooled_files
from cranfield.web.queue.proposing import SAMPLE
from cranfield.web.shelf import Shelf
from cranfield.web.store.tables import RunRow

STRATA = "the documents of this topic were drawn from strata: that sample is not used for this rule"


@dataclass(frozen=True, kw_only=True)
class TopicAdvice:
    """What each rule says of a topic now, by all that anybody judged of it. `documents` are all that could be asked
    for, and `among` says which these are: of others no rule knows anything."""

    judged: int
    relevant: int
    documents: int
    among: str
    rules: tuple[StopRule, ...]


def topic_advice(visit: Visit, shelf: Shelf, folder: Path, topic: int) -> TopicAdvice:
    """The rules for a topic of the visitor's project."""
    options = ProjectOptions.from_json(visit.here.settings)
    with visit.store.reading() as connection:
        threshold = scale_of(connection, visit.here.id).threshold
        known = asked_topic(connection, topic, threshold)
        runs = _digests(connection, visit.here.id)
    queued = {pair.document for pair in known.pairs}
    if options.learns:
        documents, among = len(shelf.of(visit.here.collection)), "of the collection"
    elif options.adaptive:
        pooled = _pooled(folder, runs, options.depth)
        there: Collection[str] = pooled.of(known.name).documents if known.name in pooled.topics else ()
        documents, among = len(queued.union(there)), f"that the runs have down to rank {options.depth:,}"
    else:
        documents, among = len(queued), "that were chosen for this topic"
    said = [pair.relevant for pair in known.pairs if pair.relevant is not None]
    rules = rules_for(known, options, documents)
    return TopicAdvice(judged=len(said), relevant=sum(said), documents=documents, among=among, rules=rules)


def rules_for(known: AskedTopic, options: ProjectOptions, documents: int) -> tuple[StopRule, ...]:
    """What each rule says of a topic. `documents` are all that could be asked for. A sample that was drawn counts, even
    if none is drawn any more; that of a stratified pool is another, of which the rule says so."""
    asked = [bool(pair.relevant) for pair in known.pairs if pair.source != SAMPLE and pair.relevant is not None]
    drawn = bool(options.sample) or any(pair.source == SAMPLE for pair in known.pairs)
    estimate = _estimate(known, asked, documents) if drawn else None
    rules = stop_rules(asked, documents, estimate=estimate, budget=options.budget)
    if options.kind != "sample":
        return rules
    return tuple(replace(rule, says=STRATA) if rule.rule == "sample" else rule for rule in rules)


def _estimate(known: AskedTopic, asked: list[bool], documents: int) -> RecallEstimate:
    sampled = [bool(pair.relevant) for pair in known.pairs if pair.source == SAMPLE and pair.relevant is not None]
    return estimate_recall(
        total=documents,
        asked=len(asked),
        asked_relevant=sum(asked),
        sampled=len(sampled),
        sampled_relevant=sum(sampled),
    )


def _digests(connection: Connection, project: int) -> tuple[str, ...]:
    asked = select(RunRow.digest).where(RunRow.project_id == project).order_by(RunRow.name)
    return tuple(connection.execute(asked).scalars())


@lru_cache(maxsize=4)
def _pooled(folder: Path, runs: tuple[str, ...], depth: int) -> Pooled:
    """What runs have, by the digests of their files: the same digests, the same pool."""
    return pooled_files(DataFiles(folder), runs, depth)
