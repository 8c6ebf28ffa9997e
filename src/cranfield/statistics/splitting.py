"""Tune here, test there: topics split into folds or into two parts, and the test for results of overlapping splits.

A split depends on the seed and on the topic ids alone, not on their order, nor on the machine or the version of a
library: chance comes from a digest of seed and id.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from math import ceil, isfinite, nan, sqrt
from typing import NamedTuple

from cranfield.errors import UsageError, some

ROUNDING = 1e-12  # equal differences differ by less than this, relative to themselves


class Split(NamedTuple):
    """Topics to tune on and topics to test on."""

    train: tuple[str, ...]
    test: tuple[str, ...]


def k_folds(
    topics: Sequence[str],
    folds: int,
    *,
    seed: int = 0,
    repeats: int = 1,
    difficulty: Mapping[str, float] | None = None,
) -> tuple[Split, ...]:
    """Splits in which every topic is tested once, `repeats` times over; sizes of folds differ by one at most.

    With `difficulty`, a score for each topic, every run of `folds` topics of neighbouring difficulty is dealt out among
    the folds, so that each has easy and hard ones alike.

    >>> [split.test for split in k_folds(["1", "2", "3", "4", "5"], 2, seed=1)]
    [('1', '2', '5'), ('3', '4')]
    """
    _check(topics, seed, repeats, difficulty)
    if not 2 <= folds <= len(topics):
        raise UsageError(f"folds must be from 2 to the number of topics, {len(topics)}, not {folds}")
    made = []
    for repeat in range(repeats):
        order = _by_difficulty(topics, seed, repeat, difficulty)
        strata = [order[start : start + folds] for start in range(0, len(order), folds)]
        dealt = [sorted(stratum, key=lambda topic: _chance(seed, repeat, topic)) for stratum in strata]
        fold_of = {topic: fold for stratum in dealt for fold, topic in enumerate(stratum)}
        made += [_split(topics, {topic for topic in topics if fold_of[topic] == fold}) for fold in range(folds)]
    return tuple(made)


def hold_out(
    topics: Sequence[str],
    test_share: float,
    *,
    seed: int = 0,
    repeats: int = 1,
    difficulty: Mapping[str, float] | None = None,
) -> tuple[Split, ...]:
    """Splits into two parts, the second of which has that share of the topics.

    With `difficulty`, the topics are cut by it into as many strata of equal size as the smaller part has topics, and
    gives one of each.

    >>> hold_out(["1", "2", "3", "4", "5", "6"], 0.5, seed=1)
    (Split(train=('1', '2', '5'), test=('3', '4', '6')),)
    """
    _check(topics, seed, repeats, difficulty)
    tested = round(test_share * len(topics)) if isfinite(test_share) else 0
    if not 0 < tested < len(topics):
        raise UsageError(f"a test share of {test_share:g} of {len(topics)} topics leaves nothing to tune or to test on")
    smaller = min(tested, len(topics) - tested)
    made = []
    for repeat in range(repeats):
        order = _by_difficulty(topics, seed, repeat, difficulty)
        ends = [ceil(len(order) * i / smaller) for i in range(smaller + 1)]
        strata = [order[start:end] for start, end in pairwise(ends)]
        chosen = {min(stratum, key=lambda topic: _chance(seed, repeat, topic)) for stratum in strata}
        made.append(_split(topics, chosen if tested == smaller else set(topics) - chosen))
    return tuple(made)


def shared_topics(train: Iterable[str], test: Iterable[str]) -> tuple[str, ...]:
    """Topics that are in both: a system tuned on a topic cannot be tested on it.

    >>> shared_topics(["1", "2", "3"], ["3", "4", "1"])
    ('1', '3')
    """
    tested = set(test)
    return tuple(topic for topic in dict.fromkeys(train) if topic in tested)


class ResampledTest(NamedTuple):
    """What a test over splits found: mean difference, standard error, t, degrees of freedom, two-sided p, interval.

    Where the difference is the same on all of them there is nothing to judge it by: t, p and interval are NaN.
    """

    difference: float
    error: float
    statistic: float
    freedom: int
    p: float
    low: float
    high: float


def corrected_resampled_t(
    differences: Sequence[float], train: float, test: float, *, confidence: float = 0.95
) -> ResampledTest:
    """Tests the mean of differences found on several splits of the same topics, one difference a split.

    Splits share topics, so their results are not independent and a plain t test over them is far too sure. `train` and
    `test` are the numbers of topics in the two parts of a split (their means, where they differ).

    Formula: t = d̄ / √((1/J + test/train) s²) with J - 1 degrees of freedom, J splits
    Reference: Nadeau and Bengio, "Inference for the generalization error", Machine Learning 52, 2003; Bouckaert and
    Frank, "Evaluating the replicability of significance tests for comparing learning algorithms", PAKDD 2004.

    >>> outcome = corrected_resampled_t([0.02, 0.05, 0.01, 0.04, 0.03], train=40, test=10)
    >>> round(outcome.statistic, 4), outcome.freedom, round(outcome.p, 4)
    (2.8284, 4, 0.0474)
    """
    from scipy.stats import t as student

    splits = len(differences)
    if splits < 2:
        raise UsageError(f"a test over splits needs 2 of them or more, not {splits}")
    if train <= 0 or test <= 0:
        raise UsageError(f"a split needs topics to tune on and to test on, not {train:g} and {test:g}")
    if not 0 < confidence < 1:
        raise UsageError(f"confidence must be between 0 and 1, not {confidence:g}")
    mean = sum(differences) / splits
    variance = sum((difference - mean) ** 2 for difference in differences) / (splits - 1)
    error = sqrt((1 / splits + test / train) * variance)
    if max(differences) - min(differences) <= ROUNDING * max(map(abs, differences)):  # all the same: nothing to test
        return ResampledTest(mean, 0.0, nan, splits - 1, nan, nan, nan)
    margin = float(student.isf((1 - confidence) / 2, splits - 1)) * error
    p = float(2 * student.sf(abs(mean / error), splits - 1))
    return ResampledTest(mean, error, mean / error, splits - 1, p, mean - margin, mean + margin)


def _by_difficulty(topics: Sequence[str], seed: int, repeat: int, difficulty: Mapping[str, float] | None) -> list[str]:
    """Topics from hard to easy, or in random order where difficulty does not tell them apart."""
    known = difficulty or {}
    return sorted(topics, key=lambda topic: (known.get(topic, 0.0), _chance(seed, repeat, topic)))


def _chance(seed: int, repeat: int, topic: str) -> bytes:
    return hashlib.sha256(f"{seed} {repeat} {topic}".encode("utf-8", "surrogateescape")).digest()


def _split(topics: Sequence[str], test: set[str]) -> Split:
    return Split(tuple(t for t in topics if t not in test), tuple(t for t in topics if t in test))


def _check(topics: Sequence[str], seed: int, repeats: int, difficulty: Mapping[str, float] | None) -> None:
    if len(topics) < 2:
        raise UsageError(f"there must be 2 topics or more to split, not {len(topics)}")
    twice = [topic for topic, count in Counter(topics).items() if count > 1]
    if twice:
        raise UsageError(f"topics must be distinct; these come twice: {some(twice)}")
    if repeats < 1:
        raise UsageError(f"repeats must be at least 1, not {repeats}")
    if seed < 0:
        raise UsageError(f"seed must be a whole number from 0, not {seed}")
    if difficulty is not None:
        unknown = [topic for topic in topics if not abs(difficulty.get(topic, nan)) < float("inf")]
        if unknown:
            raise UsageError(f"no difficulty is known of {some(unknown)}")
