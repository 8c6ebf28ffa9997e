"""How much of the relevant documents is found, told by a sample that the learner has no part in.

Every so many documents, the next of one order drawn at random is judged: what stands first in it, as far as it goes,
is a simple random sample of all documents. The learner neither chooses from it nor learns from it, until it asks for
one of its documents itself: that one counts among those asked for from then on, and is not judged again. So what was
asked for is the same whatever is sampled, and the sampled documents outside it are a simple random sample of all
outside it: each was drawn with the chance sampled / outside. How many relevant ones are among them is hypergeometric,
which gives an exact interval.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np

from cranfield.errors import UsageError, plural, share

if TYPE_CHECKING:
    from numpy.typing import NDArray

SHARE = 0.1  # of the documents judged
DRAWN = 2_000  # documents of an order that are remembered


@dataclass(frozen=True, kw_only=True)
class RecallEstimate:
    """The share of the relevant documents that is found, between `low` and `high` at the level of confidence.

    `found` are the relevant documents judged so far, `relevant` how many there are in all by the sample, between
    `fewest` and `most`; `inclusion` is the chance that each document outside those asked for had to be sampled. Where
    nothing is sampled or nothing relevant is found, there is no estimate: `recall` is None.
    """

    recall: float | None
    low: float
    high: float
    found: int
    relevant: float
    fewest: int
    most: int
    sampled: int
    inclusion: float
    level: float

    @property
    def says(self) -> str:
        """The estimate in words."""
        if not self.sampled and self.inclusion == 1:
            return "every document is judged: nothing is missed"
        if not self.sampled:
            return "no document is sampled yet: nothing can be said of what is missed"
        sample = f"by {plural(self.sampled, 'sampled document')}"
        if self.recall is None:
            return f"nothing relevant is found; {sample} there are at most {self.most:,} relevant ({share(self.level)})"
        return (
            f"about {share(self.recall)} of the relevant documents are found, between {share(self.low)} and "
            f"{share(self.high)} with confidence {share(self.level)}, {sample}"
        )


def estimate_recall(
    *,
    total: int,
    asked: int,
    asked_relevant: int,
    sampled: int,
    sampled_relevant: int,
    level: float = 0.95,
) -> RecallEstimate:
    """The share of the relevant documents that is found, with an interval that covers it at least so often.

    `total` are the documents there are, `asked` those that the learner or a pool asked for, `sampled` those of the
    sample outside these; all of both are judged, and so many of each are relevant.

    >>> estimate = estimate_recall(total=1000, asked=200, asked_relevant=40, sampled=100, sampled_relevant=1)
    >>> round(estimate.recall, 2), round(estimate.low, 2), round(estimate.high, 2)
    (0.85, 0.51, 1.0)
    >>> estimate.says
    'about 85% of the relevant documents are found, between 51% and 100% with confidence 95%, by 100 sampled documents'
    """
    outside = total - asked
    _check(asked, asked_relevant, "asked for")
    _check(sampled, sampled_relevant, "sampled")
    if outside < sampled:
        raise UsageError(f"{asked:,} documents asked for and {sampled:,} sampled are more than all {total:,}")
    if not 0 < level < 1:
        raise UsageError(f"a level of confidence is between 0 and 1, not {level!r}")
    found = asked_relevant + sampled_relevant
    fewest, most = _bounds(outside, sampled, sampled_relevant, (1 - level) / 2)
    estimated = sampled_relevant * outside / sampled if sampled else 0.0
    known = bool(found) and (sampled > 0 or not outside)
    return RecallEstimate(
        recall=found / (asked_relevant + estimated) if known else None,
        low=found / (asked_relevant + most) if found else 0.0,
        high=found / (asked_relevant + fewest) if found else 1.0,
        found=found,
        relevant=asked_relevant + estimated,
        fewest=asked_relevant + fewest,
        most=asked_relevant + most,
        sampled=sampled,
        inclusion=sampled / outside if outside else 1.0,
        level=level,
    )


def sample_order(documents: Sequence[str], topic: str, seed: int = 0) -> list[str]:
    """All documents of a topic in the order in which they are sampled: the next one is the first not judged yet.

    >>> sample_order(["d1", "d2", "d3", "d4"], "q1") == sample_order(["d1", "d2", "d3", "d4"], "q1")
    True
    >>> sorted(sample_order(["d1", "d2"], "q1", seed=7))
    ['d1', 'd2']
    """
    return list(sample_draws(documents, topic, seed))


def sample_draws(documents: Sequence[str], topic: str, seed: int = 0) -> Iterator[str]:
    """The documents of `sample_order` one after another, for those who need the first few of very many."""
    key = crc32(topic.encode("utf-8", "surrogateescape"))
    first = _first_draws(seed, key, len(documents))
    for number in first:
        yield documents[number]
    for number in _draws(seed, key, len(documents))[len(first) :] if len(first) < len(documents) else ():
        yield documents[number]


@lru_cache(maxsize=1000)
def _first_draws(seed: int, key: int, count: int) -> NDArray[np.int32]:
    """The first of an order: it is asked for after every judgement, and to draw all of a million takes its time."""
    return _draws(seed, key, count)[:DRAWN].astype(np.int32)


def _draws(seed: int, key: int, count: int) -> NDArray[np.int64]:
    return np.random.default_rng([seed, key, count]).permutation(count)


def is_sample_turn(judged: int, share: float = SHARE) -> bool:
    """Whether the next document, after so many were judged, is one of the sample: so that this share of all is.

    >>> [turn for turn in range(40) if is_sample_turn(turn)]
    [9, 19, 29, 39]
    >>> sum(is_sample_turn(turn, 0.25) for turn in range(1000))
    250
    """
    if not 0 <= share <= 1:
        raise UsageError(f"the share of documents that are sampled is between 0 and 1, not {share!r}")
    return int(round((judged + 1) * share, 9)) > int(round(judged * share, 9))


def _check(count: int, relevant: int, what: str) -> None:
    if not 0 <= relevant <= count:
        raise UsageError(f"{relevant:,} relevant documents cannot be among {count:,} {what}")


def _bounds(outside: int, sampled: int, relevant: int, tail: float) -> tuple[int, int]:
    """The fewest and the most relevant documents outside that would give such a sample with a chance above the tail."""
    from scipy.stats import hypergeom

    least, largest = relevant, outside - (sampled - relevant)
    fewest = _first(least, largest, lambda there: hypergeom.sf(relevant - 1, outside, there, sampled) > tail)
    fewer = _first(least, largest + 1, lambda there: hypergeom.cdf(relevant, outside, there, sampled) <= tail)
    return fewest, max(fewer - 1, fewest)


def _first(low: int, high: int, holds: Callable[[int], bool]) -> int:
    """The first number from low on for which something holds, if it holds from there on up; at most high."""
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return low
