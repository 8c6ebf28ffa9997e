"""In which order an assessor meets documents, and which of them a second time without being told."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import TYPE_CHECKING

from cranfield.errors import UsageError
from cranfield.judging.events import Event
from cranfield.judging.state import Pair, standing

if TYPE_CHECKING:
    import numpy as np


def arranged(batch: Iterable[str], groups: Mapping[str, int], rng: np.random.Generator) -> list[str]:
    """A batch of documents in random order, but near-duplicates (the same number in `groups`) one after another.

    In which order the batch is given makes no difference: an order by rank can't shine through.

    >>> import numpy as np
    >>> arranged(["d1", "d2", "d3", "d4"], {"d1": 0, "d4": 0}, np.random.default_rng(1))
    ['d1', 'd4', 'd2', 'd3']
    """
    together: dict[int | str, list[str]] = {}
    for document in sorted(set(batch)):
        together.setdefault(groups.get(document, document), []).append(document)
    units = list(together.values())
    order = [units[place] for place in rng.permutation(len(units)).tolist()]
    return [unit[place] for unit in order for place in rng.permutation(len(unit)).tolist()]


@dataclass(frozen=True, kw_only=True)
class RepeatRule:
    """Which share of what somebody grades comes again, and how far away: so many documents later, or so many minutes.

    Who comes again is drawn by the seed for each pair and assessor, and does not depend on anything else.

    >>> RepeatRule(share=2)
    Traceback (most recent call last):
    cranfield.errors.UsageError: the share of blind repeats is from 0 to 1, not 2
    """

    share: float = 0.04
    documents: int = 50
    minutes: float = 30.0
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.share <= 1:
            raise UsageError(f"the share of blind repeats is from 0 to 1, not {self.share!r}")

    def drawn(self, topic: str, document: str, assessor: str) -> bool:
        """Whether this pair comes again to this assessor, once it is far enough away.

        >>> RepeatRule(share=1).drawn("q1", "d1", "ann"), RepeatRule(share=0).drawn("q1", "d1", "ann")
        (True, False)
        """
        said = "\0".join((str(self.seed), assessor, topic, document)).encode("utf-8", "surrogatepass")
        return int.from_bytes(sha256(said).digest()[:7]) < self.share * 2**56


def repeats(events: Iterable[Event], assessor: str, at: str, rule: RepeatRule | None = None) -> list[Pair]:
    """The pairs that come again to an assessor now, blind, those judged longest ago first.

    A pair was graded by this assessor, was drawn, has not come again yet, and either so many documents were judged
    since or so many minutes have passed until `at`.

    >>> from cranfield.judging.events import moment
    >>> said = {"topic": "q", "assessor": "ann", "kind": "grade", "grade": 1}
    >>> events = [Event(document=f"d{n}", key=str(n), at=moment(60 * n), **said) for n in range(60)]
    >>> repeats(events, "ann", moment(3600), RepeatRule(share=1, documents=50, minutes=90))[:2]
    [('q', 'd0'), ('q', 'd1')]
    >>> len(repeats(events, "ann", moment(3600), RepeatRule(share=1, documents=50, minutes=90)))
    10
    """
    rule = rule or RepeatRule()
    judged = [event for event in standing(events) if event.assessor == assessor and event.kind != "adjudicate"]
    last: dict[Pair, int] = {}
    again: set[Pair] = set()
    for number, event in enumerate(judged):
        pair = event.topic, event.document
        if event.repeat:
            again.add(pair)
        else:
            last.pop(pair, None)
            last[pair] = number
    return [pair for pair, number in last.items() if pair not in again and _due(judged, number, at, rule)]


def _due(judged: Sequence[Event], number: int, at: str, rule: RepeatRule) -> bool:
    event = judged[number]
    if event.kind != "grade" or not rule.drawn(event.topic, event.document, event.assessor):
        return False
    others = {(other.topic, other.document) for other in judged[number + 1 :] if other.kind != "later"}
    passed = datetime.fromisoformat(at) - datetime.fromisoformat(event.at)
    return len(others) >= rule.documents or passed.total_seconds() >= 60 * rule.minutes
