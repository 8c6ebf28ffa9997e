"""The learner: what it says at the edges, that it learns, and that it is the same whatever way it came there."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random

import numpy as np
import pytest

from cranfield import UsageError
from cranfield.learning import Features, TopicLearner, batch_after, build_features, learner, open_features
from worded import worded

TEXTS, RELEVANT = worded(1)
FEATURES = build_features(TEXTS)


def judged_until(made: TopicLearner, relevant: set[str], share: float) -> int:
    """How many documents are judged until so much is found, batch by batch."""
    grades: dict[str, bool] = {}
    while sum(grades.values()) < share * len(relevant):
        made.learned(grades)
        for document in made.best(made.batch, without=grades):
            grades[document] = document in relevant
            if sum(grades.values()) >= share * len(relevant):
                break
    return len(grades)


@pytest.mark.parametrize("seed", range(3))
def test_it_finds_what_the_question_does_not_name(seed: int) -> None:
    """A third of the relevant documents have the question's word: by chance the others would come after 150 others."""
    texts, relevant = worded(seed)
    assert judged_until(TopicLearner(build_features(texts), "asked"), relevant, 0.95) <= 45


def test_batches_grow_as_in_autotar() -> None:
    size, judged = 1, 0
    for _ in range(40):
        assert [batch_after(judged + step) for step in range(size)] == [size] * size
        judged += size
        size += (size + 9) // 10
    made = TopicLearner(FEATURES, "asked")
    assert made.batch == 1
    made.learned(dict.fromkeys(list(TEXTS)[:5], False))
    assert made.batch == batch_after(5) == 3


def state(count: int) -> dict[str, bool]:
    names = Random(3).sample(list(TEXTS), count)
    return {name: name in RELEVANT for name in names}


def test_only_the_state_counts_not_how_it_came() -> None:
    """Judgements that come together are learned at once, in any order, with anything learned before."""
    grades = state(40)
    direct = TopicLearner(FEATURES, "asked", seed=5)
    direct.learned(grades)
    stepwise = TopicLearner(FEATURES, "asked", seed=5)
    stepwise.best(3)
    for count in (1, 7, 30):
        stepwise.learned(dict(list(grades.items())[:count]))
    stepwise.learned(dict(reversed(grades.items())))
    assert direct.best(200) == stepwise.best(200)


def test_seeds_decide_whom_it_presumes_not_relevant() -> None:
    orders = set()
    for seed in (0, 1, 2):
        made = TopicLearner(FEATURES, "asked", seed=seed)
        made.learned(state(20))
        orders.add(tuple(made.best(200)))
    assert len(orders) == 3


def test_threads_do_not_disturb_each_other() -> None:
    def order(seed: int) -> list[str]:
        made = TopicLearner(FEATURES, "asked", seed=seed % 3)
        made.learned(state(30 + seed % 3))
        return made.best(50)

    alone = [order(seed) for seed in range(12)]
    with ThreadPoolExecutor(6) as threads:
        assert list(threads.map(order, range(12))) == alone


def test_best_names_each_once_and_none_left_out() -> None:
    made = TopicLearner(FEATURES, "asked")
    grades = state(30)
    made.learned(grades)
    every = made.best(1000, without=grades)
    assert sorted([*every, *grades]) == sorted(TEXTS)
    for count in (0, 1, 5, 170):
        assert made.best(count, without=grades) == every[:count]
    assert made.best(3, without=TEXTS) == []
    for wrong in (-1, True, 1.5):
        with pytest.raises(UsageError, match="how many documents must be a whole number from 0"):
            made.best(wrong)  # type: ignore[arg-type]


def test_a_pool_comes_first_in_its_order() -> None:
    start = ["d0150", "d0003", "d0099"]
    made = TopicLearner(FEATURES, "asked", start=start)
    assert made.best(2) == start[:2]
    assert made.best(5, without=["d0003"])[:2] == ["d0150", "d0099"]
    whole = made.best(1000)
    assert whole[:3] == start
    assert sorted(whole) == sorted(TEXTS)


def test_only_those_that_may_be_asked_for() -> None:
    some = list(TEXTS)[50:120]
    made = TopicLearner(FEATURES, "asked", among=[*some, "not there"])
    made.learned(state(30))
    assert sorted(made.best(1000)) == some


def order_of(features: Features, question: str, grades: dict[str, bool]) -> list[str]:
    made = TopicLearner(features, question)
    made.learned(grades)
    return made.best(len(features), without=grades)


@pytest.mark.parametrize("question", ["asked", "", "the of", "zzyzx"])
@pytest.mark.parametrize("kind", ["none", "only relevant", "only others", "both", "all relevant"])
def test_every_state_has_an_order(question: str, kind: str) -> None:
    relevant = sorted(RELEVANT)[:6]
    others = sorted(set(TEXTS) - RELEVANT)[:6]
    grades = {
        "none": {},
        "only relevant": dict.fromkeys(relevant, True),
        "only others": dict.fromkeys(others, False),
        "both": dict.fromkeys(relevant, True) | dict.fromkeys(others, False),
        "all relevant": dict.fromkeys(TEXTS, True),
    }[kind]
    order = order_of(FEATURES, question, grades)
    assert sorted([*order, *grades]) == sorted(TEXTS)
    if kind in ("only relevant", "both"):
        assert sum(document in RELEVANT for document in order[:10]) >= 8
    made = TopicLearner(FEATURES, question)
    made.learned(grades)
    assert made.knows_nothing == (question != "asked" and kind in ("none", "only others"))


def test_with_nothing_known_it_draws_lots() -> None:
    first, second = (TopicLearner(FEATURES, "", seed=seed).best(200) for seed in (0, 1))
    assert sorted(first) == sorted(second) == sorted(TEXTS)
    assert first not in (second, sorted(TEXTS))


def test_one_document_and_documents_without_text() -> None:
    assert order_of(build_features({"a": "ducks swim"}), "duck", {}) == ["a"]
    assert order_of(build_features({"a": "ducks swim"}), "duck", {"a": True}) == []
    assert order_of(build_features({"a": ""}), "duck", {}) == ["a"]
    mixed = build_features({"a": "", "b": "ducks swim", "c": "", "d": "a red car"})
    assert order_of(mixed, "duck", {})[0] == "b"
    assert sorted(order_of(mixed, "duck", {"a": True})) == ["b", "c", "d"]
    assert sorted(order_of(build_features({"a": "", "b": ""}), "duck", {"a": True})) == ["b"]


def test_judgements_of_documents_not_there_teach_nothing() -> None:
    grades = state(20)
    assert order_of(FEATURES, "asked", grades | {"elsewhere": True}) == order_of(FEATURES, "asked", grades)


def test_what_is_mapped_learns_the_same(tmp_path: Path) -> None:
    FEATURES.save(tmp_path)
    grades = state(30)
    assert order_of(open_features(tmp_path), "asked", grades) == order_of(FEATURES, "asked", grades)


def test_weights_balance_as_asreviews_do() -> None:
    """Of 2 relevant and 3 others: relevant ones weigh 9.8 times the others together, and all sum to 5. What a document
    has alone is a column of its own, which is computed and not kept.
    """
    from scipy.sparse import diags, hstack
    from sklearn.svm import LinearSVC

    relevant = np.array([True, True, False, False, False])
    documents = FEATURES.matrix[:5]
    others = 2 / (9.8 * 3)
    weights = np.where(relevant, 1, others) * 5 / (2 + 3 * others)
    assert weights[:2].sum() / weights[2:].sum() == pytest.approx(9.8)
    lacking = 1 - np.asarray(documents.multiply(documents).sum(axis=1)).ravel()
    assert lacking.min() > 0.1
    whole = hstack([documents, diags(np.sqrt(lacking))], format="csr")
    machine = LinearSVC(C=0.055, dual=False, tol=1e-8).fit(whole, relevant, sample_weight=weights)
    assert learner._fitted(documents, relevant) == pytest.approx(machine.coef_[0, :-5], abs=2e-4)
    without = LinearSVC(C=0.055, dual=False, tol=1e-8).fit(documents, relevant, sample_weight=weights)
    assert machine.coef_[0, :-5] != pytest.approx(without.coef_[0], abs=1e-3)


def test_large_collections_score_those_near(monkeypatch: pytest.MonkeyPatch) -> None:
    """Above a size only the best so far are scored at each judgement, and all of them once a batch."""
    monkeypatch.setattr(learner, "EVERY", 100)
    monkeypatch.setattr(learner, "NEAR", 60)
    made = TopicLearner(FEATURES, "asked")
    made.learned({})
    near = set(made.best(1000))
    assert len(near) == 60
    grades = state(1)
    made.learned(grades)  # a batch of one is over: all are scored
    grades = state(2)
    before = set(made.best(1000))
    made.learned(grades)
    assert set(made.best(1000)) == before  # within the batch of two the same are scored
    assert judged_until(TopicLearner(FEATURES, "asked"), RELEVANT, 0.95) <= 45
