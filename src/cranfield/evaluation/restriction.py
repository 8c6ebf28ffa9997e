"""Judgements of some topics alone, for an evaluation on a topic set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from cranfield.errors import DataError, UsageError, plural, some
from cranfield.evaluation.findings import Finding
from cranfield.formats import read_qrels
from cranfield.judged import Pool
from cranfield.policy import TopicSet
from cranfield.tables import Qrels


def restricted(qrels: Qrels, whole: Pool, topic_set: TopicSet) -> tuple[Qrels, Pool]:
    """The judgements of a topic set with their pool. The highest grade stays that of the whole collection, so that a
    topic has the same score in its set as among all topics.

    >>> from cranfield.judged import pool
    >>> qrels = read_qrels({"1": {"d1": 3}, "2": {"d2": 1}})
    >>> part, pooled = restricted(qrels, pool(qrels), TopicSet(["2"]))
    >>> part.topics, pooled.max_grade
    (['2'], 3.0)
    >>> restricted(qrels, pool(qrels), TopicSet(["2", "7"], "public.txt"))
    Traceback (most recent call last):
    cranfield.errors.DataError: qrels: has no judgement of 1 topic of public.txt: 7
        Nobody can be scored on a topic that is not judged: take it out of the set, or name the judgements that have it.
    """
    place = {topic: number for number, topic in enumerate(whole.topics)}
    unjudged = [topic for topic in topic_set.topics if topic not in place]
    if unjudged:
        raise DataError(
            f"has no judgement of {plural(len(unjudged), 'topic')} of {topic_set.name}: {some(unjudged)}",
            source=qrels.origin.path or qrels.name,
            remedy="Nobody can be scored on a topic that is not judged: take it out of the set, or name the judgements "
            "that have it.",
        )
    table = read_qrels(qrels.to_dict(list(topic_set.topics))).table
    pooled = whole.select(np.array([place[topic] for topic in table.topics()], dtype=np.int64))
    groups = {topic: names for topic, names in qrels.groups.items() if topic in set(topic_set.topics)}
    return replace(qrels, table=table, columns=pooled.columns, groups=groups), pooled


def check_inside(wanted: Sequence[str], judged: Sequence[str], topic_set: TopicSet | None) -> None:
    """That topics which somebody asks for are not judged outside the set, where they would seem not to be judged.

    >>> check_inside(["1"], ["1", "2"], TopicSet(["2"], "splits.json:test"))
    Traceback (most recent call last):
    cranfield.errors.UsageError: topic 1 is judged, but is not in splits.json:test, whose topics alone count
    """
    inside = judged if topic_set is None else topic_set.topics
    outside = [topic for topic in wanted if topic in judged and topic not in inside]
    if topic_set is not None and outside:
        are = "is judged, but is" if len(outside) == 1 else "are judged, but are"
        named = f"{'topic' if len(outside) == 1 else 'topics'} {some(outside)}"
        raise UsageError(f"{named} {are} not in {topic_set.name}, whose topics alone count")


def told(topic_set: TopicSet, name: str, judged: int) -> Finding:
    """That judgements count in part, so that nobody takes the numbers for those of all topics.

    >>> [told(TopicSet(topics, "dev.txt"), "qrels", 12).message for topics in (["1"], ["1", "2"])]
    ['1 of 12 judged topics counts: that of dev.txt', '2 of 12 judged topics count: those of dev.txt']
    """
    count = len(topic_set.topics)
    which = "counts: that" if count == 1 else "count: those"
    message = f"{count:,} of {plural(judged, 'judged topic')} {which} of {topic_set.name}"
    return Finding("topic-set", name, message, doubtful=False)
