"""The policy of an evaluation. It has a module of its own so that the command line can name the choices at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from cranfield.errors import UsageError, plural, some
from cranfield.records import dataclass

if TYPE_CHECKING:
    from cranfield.render.json_form import Json

TIES = ("docid", "file", "best", "worst", "expected")
TOPICS = ("qrels", "common", "run")
EMPTY_TOPICS = ("zero", "drop")
GRADES = ("grades", "probabilities")
JUDGES = ("grade", "mean", "agreement", "majority")


@dataclass(frozen=True)
class TopicSet:
    """Topics that alone are evaluated on, such as the half of a class's topics that was kept back, and their name.

    >>> TopicSet(["1", "2"], "the public half")
    TopicSet(topics=('1', '2'), name='the public half')
    >>> TopicSet(["1", "2", "1"])
    Traceback (most recent call last):
    cranfield.errors.UsageError: a topic set: these topics are there twice: 1
    """

    topics: Sequence[str]
    name: str = "a topic set"

    def __post_init__(self) -> None:
        topics = tuple(self.topics) if isinstance(self.topics, Iterable) else None  # once: it may be a generator
        if isinstance(self.topics, str) or topics is None or not all(isinstance(topic, str) for topic in topics):
            shown = self.topics if topics is None or isinstance(self.topics, str) else topics
            raise UsageError(f"{self.name}: topics are a list of ids, each of them text, not {shown!r}")
        object.__setattr__(self, "topics", topics)
        if not self.topics:
            raise UsageError(f"{self.name}: no topic in it")
        twice = [topic for topic, times in Counter(self.topics).items() if times > 1]
        if twice:
            raise UsageError(f"{self.name}: these topics are there twice: {some(twice)}")

    def __str__(self) -> str:
        """How many they are, and whose: as tables and titles say on what something was evaluated.

        >>> print(TopicSet(["1", "2"], "the public half"))
        2 topics of the public half
        """
        return f"{plural(len(self.topics), 'topic')} of {self.name}"


@dataclass(frozen=True)
class Policy:
    """Every decision that changes a number, written into every result.

    ties: documents of equal score stand by id descending ("docid", as in trec_eval), as in the input ("file"), with the
    better grades first ("best") or last ("worst"); "expected" is the mean over all their orders, exact where a formula
    exists or a topic has no more than `samples` orders that differ, otherwise over as many random ones from `seed`.
    topics: those of the qrels, a missing answer scoring 0 ("qrels"); those every run answers ("common"); or for each
    run those it answers ("run", as in trec_eval without -c).
    depth: rankings are cut here; judged_only: unjudged documents are then taken out (condensed lists).
    empty_topics: topics with no relevant document count ("zero", as in trec_eval: most measures give them 0, losses
    what a list gets that finds nothing) or are left out ("drop").
    grades: what they are; "probabilities" are chances from 0 to 1 that a document is relevant, and every score is the
    mean over what may be relevant, exact where that can be had, otherwise over `samples` draws from `seed`.
    judges: where several judged a document, each document has the mean of their grades ("grade") or the highest grade
    that more than half of them reach ("majority"); or each judge's scores are computed and averaged ("mean", as in
    trec_eval's qrels_jg), perhaps weighted by how well the judge agrees with the others ("agreement").
    topic_set: the topics that alone are evaluated on, all of them judged; every topic of the qrels if there is none.

    >>> Policy(depth=0)
    Traceback (most recent call last):
    cranfield.errors.UsageError: depth must be a whole number from 1, not 0
    """

    ties: str = "docid"
    topics: str = "qrels"
    depth: int | None = None
    judged_only: bool = False
    empty_topics: str = "zero"
    samples: int = 200
    seed: int = 0
    grades: str = "grades"
    judges: str = "grade"
    topic_set: TopicSet | None = None

    def __post_init__(self) -> None:
        choices = (
            ("ties", self.ties, TIES),
            ("topics", self.topics, TOPICS),
            ("empty_topics", self.empty_topics, EMPTY_TOPICS),
            ("grades", self.grades, GRADES),
            ("judges", self.judges, JUDGES),
        )
        for name, value, accepted in choices:
            if value not in accepted:
                raise UsageError(f"{name} must be one of {', '.join(accepted)}, not {value!r}")
        numbers = [("samples", self.samples, 2), ("seed", self.seed, 0)]
        numbers += [] if self.depth is None else [("depth", self.depth, 1)]
        for name, number, least in numbers:
            if isinstance(number, bool) or not isinstance(number, int) or not least <= number < 2**62:
                raise UsageError(f"{name} must be a whole number from {least}, not {number!r}")
        if self.topic_set is not None and not isinstance(self.topic_set, TopicSet):
            raise UsageError(f"topic_set must be a TopicSet, as TopicSet(['1', '2']), not {self.topic_set!r}")

    def to_dict(self) -> dict[str, Json]:
        """The documented JSON form; a topic set is in it where there is one.

        >>> Policy(topic_set=TopicSet(["1", "2"], "public")).to_dict()["topic_set"]
        {'name': 'public', 'count': 2, 'topics': ['1', '2']}
        """
        settings: dict[str, Json] = asdict(self)
        del settings["topic_set"]
        if self.topic_set is None:
            return settings
        topics = list(self.topic_set.topics)
        return settings | {"topic_set": {"name": self.topic_set.name, "count": len(topics), "topics": topics}}
