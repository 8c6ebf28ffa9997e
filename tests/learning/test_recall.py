"""Recall from a sample: the share sampled, that the learner has no part in it, and how often the interval is right."""

from __future__ import annotations

from math import comb
from zlib import crc32

import numpy as np
import pytest

from cranfield import UsageError
from cranfield.learning import Features, TopicLearner, build_features, estimate_recall, is_sample_turn, sample_order
from cranfield.learning.recall import RecallEstimate, _first_draws
from worded import worded


def chance(relevant: int, outside: int, there: int, sampled: int) -> float:
    return comb(there, relevant) * comb(outside - there, sampled - relevant) / comb(outside, sampled)


@pytest.mark.parametrize(
    ("outside", "sampled", "relevant"), [(30, 8, 2), (30, 8, 0), (12, 12, 3), (20, 1, 1), (9, 9, 0)]
)
def test_bounds_are_those_of_the_definition(outside: int, sampled: int, relevant: int) -> None:
    """Every number of relevant documents that a test at 2.5% in each tail would not reject, and no other."""
    fits = []
    for there in range(relevant, outside - (sampled - relevant) + 1):
        chances = [chance(x, outside, there, sampled) for x in range(min(there, sampled) + 1)]
        if sum(chances[relevant:]) > 0.025 and sum(chances[: relevant + 1]) > 0.025:
            fits.append(there)
    made = estimate_recall(
        total=outside + 5, asked=5, asked_relevant=4, sampled=sampled, sampled_relevant=relevant, level=0.95
    )
    assert (made.fewest, made.most) == (4 + min(fits), 4 + max(fits))
    assert made.low == (4 + relevant) / made.most
    assert made.high == (4 + relevant) / made.fewest
    assert made.relevant == pytest.approx(4 + relevant * outside / sampled)
    assert made.inclusion == sampled / outside


def told(made: RecallEstimate) -> tuple[float | None, str]:
    return made.recall, made.says


def test_what_it_says_at_the_edges() -> None:
    nothing = estimate_recall(total=10, asked=2, asked_relevant=1, sampled=0, sampled_relevant=0)
    assert told(nothing) == (None, "no document is sampled yet: nothing can be said of what is missed")
    assert (nothing.low, nothing.high) == (1 / 9, 1)
    whole = estimate_recall(total=10, asked=10, asked_relevant=3, sampled=0, sampled_relevant=0)
    assert told(whole) == (1.0, "every document is judged: nothing is missed")
    none = estimate_recall(total=100, asked=10, asked_relevant=0, sampled=20, sampled_relevant=0)
    assert told(none) == (
        None,
        "nothing relevant is found; by 20 sampled documents there are at most 13 relevant (95%)",
    )
    rest = estimate_recall(total=30, asked=10, asked_relevant=2, sampled=20, sampled_relevant=2)
    assert (rest.recall, rest.low, rest.high) == (1, 1, 1)


@pytest.mark.parametrize(
    "wrong",
    [
        {"asked": 9, "asked_relevant": 10},
        {"asked": 99},
        {"sampled": 3, "sampled_relevant": 4},
        {"level": 1.0},
        {"asked_relevant": -1},
    ],
)
def test_what_cannot_be_is_refused(wrong: dict[str, int | float]) -> None:
    right = {"total": 100, "asked": 20, "asked_relevant": 10, "sampled": 20, "sampled_relevant": 2, "level": 0.95}
    with pytest.raises(UsageError):
        estimate_recall(**(right | wrong))  # type: ignore[arg-type]


def test_the_share_of_turns() -> None:
    for share in (0.0, 0.1, 1 / 3, 0.5, 1.0):
        for count in (10, 99, 1000):
            assert sum(is_sample_turn(turn, share) for turn in range(count)) == int(round(share * count, 9))
    with pytest.raises(UsageError, match="is between 0 and 1"):
        is_sample_turn(0, 1.1)


def test_orders_are_drawn_by_topic_and_seed() -> None:
    names = [f"d{number}" for number in range(50)]
    orders = [sample_order(names, topic, seed) for topic in ("1", "2") for seed in (0, 1)]
    assert len(set(map(tuple, orders))) == 4
    assert all(sorted(order) == sorted(names) for order in orders)


def judged_with_sample(features: Features, relevant: set[str], seed: int, turns: int) -> tuple[RecallEstimate, float]:
    """A sitting as it is meant: every fourth document from the sample, of which the learner learns only what it asks
    for itself. What the sample says of recall, and what it is.
    """
    learner = TopicLearner(features, "asked")
    order = sample_order(features.ids, "topic", seed)
    asked: dict[str, bool] = {}
    sampled: dict[str, bool] = {}
    for turn in range(turns):
        if is_sample_turn(turn, 0.25):
            document = next(name for name in order if name not in asked and name not in sampled)
            sampled[document] = document in relevant
            continue
        if len(asked) % 5 == 0:
            learner.learned(asked)
        while (document := learner.best(1, without=asked)[0]) in sampled:
            asked[document] = sampled.pop(document)
        asked[document] = document in relevant
    made = estimate_recall(
        total=len(features),
        asked=len(asked),
        asked_relevant=sum(asked.values()),
        sampled=len(sampled),
        sampled_relevant=sum(sampled.values()),
    )
    return made, (sum(asked.values()) + sum(sampled.values())) / len(relevant)


def test_the_interval_covers_the_recall_of_sittings_with_a_learner() -> None:
    """Of 120 samples beside the same learner at least 91% of the intervals hold the recall: 95% less four standard
    errors of a share would be 87%, and an exact interval is wider than it need be.
    """
    texts, relevant = worded(5, documents=120, relevant=30)
    features, right = build_features(texts), 0
    for seed in range(120):
        made, recall = judged_with_sample(features, relevant, seed, 32)
        right += made.low - 1e-12 <= recall <= made.high + 1e-12
    assert right / 120 >= 0.91


def test_the_interval_covers_by_simulation() -> None:
    """Samples of what is outside: between 94% (95% less three standard errors) and all of 4,000 intervals hold it."""
    rng = np.random.default_rng(1)
    for outside, there, sampled in ((900, 45, 60), (900, 9, 120), (200, 60, 40)):
        drawn = rng.hypergeometric(there, outside - there, sampled, 4000)
        made = {
            int(x): estimate_recall(
                total=outside + 100, asked=100, asked_relevant=40, sampled=sampled, sampled_relevant=int(x)
            )
            for x in np.unique(drawn)
        }
        right = [made[x].low - 1e-12 <= (40 + x) / (40 + there) <= made[x].high + 1e-12 for x in drawn.tolist()]
        assert 0.94 <= np.mean(right) < 1
        missed = np.mean([made[x].relevant - 40 for x in drawn.tolist()])
        assert missed == pytest.approx(there, abs=4 * np.std([made[x].relevant for x in drawn.tolist()]) / 4000**0.5)


@pytest.mark.parametrize("remembered", [0, 3, 50])
def test_order_is_the_same_however_much_of_it_is_remembered(remembered: int, monkeypatch: pytest.MonkeyPatch) -> None:
    documents = [f"d{number}" for number in range(50)]
    wanted = np.random.default_rng([4, crc32(b"q1"), 50]).permutation(50).tolist()
    monkeypatch.setattr("cranfield.learning.recall.DRAWN", remembered)
    _first_draws.cache_clear()
    for _ in range(2):
        assert sample_order(documents, "q1", seed=4) == [documents[number] for number in wanted]
    _first_draws.cache_clear()
