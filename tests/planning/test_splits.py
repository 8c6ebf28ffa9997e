"""Splits of topics: what every split must be, strata, reading and writing, and the test over splits."""

from __future__ import annotations

import io
import json
from collections import Counter
from math import sqrt
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from cranfield import DataError, UsageError, split
from cranfield.planning import read_splits
from cranfield.render.json_form import Json
from cranfield.statistics import shared_topics
from cranfield.statistics.splitting import corrected_resampled_t, hold_out, k_folds

topic_sets = st.sets(st.text(min_size=1, max_size=4), min_size=2, max_size=40).map(sorted)


@settings(max_examples=60)
@given(topics=topic_sets, seed=st.integers(0, 99), data=st.data())
def test_every_topic_is_tested_once_in_every_repeat(topics: list[str], seed: int, data: st.DataObject) -> None:
    folds = data.draw(st.integers(2, len(topics)))
    repeats = data.draw(st.integers(1, 3))
    made = k_folds(topics, folds, seed=seed, repeats=repeats)
    assert len(made) == folds * repeats
    for one in made:
        assert sorted(one.train + one.test) == topics
        assert shared_topics(one.train, one.test) == ()
        assert one.train == tuple(topic for topic in topics if topic in one.train)  # in the order given
    for start in range(0, len(made), folds):
        tested = [topic for one in made[start : start + folds] for topic in one.test]
        assert sorted(tested) == topics
        sizes = [len(one.test) for one in made[start : start + folds]]
        assert max(sizes) - min(sizes) <= 1


@settings(max_examples=60)
@given(topics=topic_sets, seed=st.integers(0, 99), share=st.floats(0.05, 0.95))
def test_a_held_out_part_has_its_share(topics: list[str], seed: int, share: float) -> None:
    if not 0 < round(share * len(topics)) < len(topics):
        with pytest.raises(UsageError, match="leaves nothing"):
            hold_out(topics, share, seed=seed)
        return
    (one,) = hold_out(topics, share, seed=seed)
    assert sorted(one.train + one.test) == topics
    assert len(one.test) == round(share * len(topics))


@settings(max_examples=40)
@given(topics=topic_sets, seed=st.integers(0, 99), data=st.data())
def test_order_of_topics_does_not_matter_and_the_seed_does(topics: list[str], seed: int, data: st.DataObject) -> None:
    difficulty = data.draw(st.none() | st.just({topic: len(topic) / 4 for topic in topics}))
    turned = data.draw(st.permutations(topics))
    for one, other in zip(
        [*k_folds(topics, 2, seed=seed, difficulty=difficulty), *hold_out(topics, 0.5, seed=seed)],
        [*k_folds(turned, 2, seed=seed, difficulty=difficulty), *hold_out(turned, 0.5, seed=seed)],
        strict=True,
    ):
        assert sorted(one.test) == sorted(other.test)
    many = [str(topic) for topic in range(40)]
    assert k_folds(many, 5, seed=seed) != k_folds(many, 5, seed=seed + 1)
    assert k_folds(many, 5, seed=seed) == k_folds(many, 5, seed=seed)
    first, second = (k_folds(many, 5, seed=seed, repeats=2)[start : start + 5] for start in (0, 5))
    assert first == k_folds(many, 5, seed=seed)
    assert first != second


def test_splits_stay_what_they_are() -> None:
    """Published splits must be had again by anyone: a change here is a change for users."""
    topics = [str(number) for number in range(1, 11)]
    tested = [one.test for one in k_folds(topics, 3, seed=42)]
    assert tested == [("1", "4", "7", "10"), ("6", "8", "9"), ("2", "3", "5")]
    assert hold_out(topics, 0.3, seed=42)[0].test == ("4", "8", "9")


def test_every_topic_is_as_likely_in_every_fold() -> None:
    topics = [str(topic) for topic in range(12)]
    difficulty = {topic: float(topic) for topic in topics}
    for known in (None, difficulty):
        counts = Counter(
            (topic, fold)
            for seed in range(600)
            for fold, one in enumerate(k_folds(topics, 3, seed=seed, difficulty=known))
            for topic in one.test
        )
        band = 5 * sqrt(600 * (1 / 3) * (2 / 3))
        assert all(abs(counts[topic, fold] - 200) <= band for topic in topics for fold in range(3))


@pytest.mark.parametrize("seed", range(5))
def test_every_fold_has_a_topic_of_every_difficulty(seed: int) -> None:
    random = np.random.default_rng(seed)
    topics = [f"t{number}" for number in range(50)]
    difficulty = dict(zip(topics, random.beta(0.7, 1.9, 50).tolist(), strict=True))
    by_difficulty = sorted(topics, key=difficulty.__getitem__)
    strata = [set(by_difficulty[start : start + 5]) for start in range(0, 50, 5)]
    for one in k_folds(topics, 5, seed=seed, difficulty=difficulty):
        assert [len(stratum & set(one.test)) for stratum in strata] == [1] * 10
    for share in (0.2, 0.8):
        (part,) = hold_out(topics, share, seed=seed, difficulty=difficulty)
        smaller = set(part.test if share < 0.5 else part.train)
        assert [len(stratum & smaller) for stratum in strata] == [1] * 10
    plain = [np.mean([difficulty[t] for t in one.test]) for s in range(40) for one in k_folds(topics, 5, seed=s)]
    even = [
        np.mean([difficulty[t] for t in one.test])
        for s in range(40)
        for one in k_folds(topics, 5, seed=s, difficulty=difficulty)
    ]
    assert np.std(even) < np.std(plain) / 3


@pytest.mark.parametrize("seed", range(3))
def test_every_repeat_is_stratified_and_another_one(seed: int) -> None:
    topics = [f"t{number}" for number in range(24)]
    difficulty = {topic: number / 24 for number, topic in enumerate(topics)}
    strata = [set(topics[start : start + 4]) for start in range(0, 24, 4)]
    made = k_folds(topics, 4, seed=seed, repeats=3, difficulty=difficulty)
    for one in made:
        assert [len(stratum & set(one.test)) for stratum in strata] == [1] * 6
    assert len({frozenset(made[start : start + 4]) for start in (0, 4, 8)}) == 3
    held = hold_out(topics, 0.25, seed=seed, repeats=5, difficulty=difficulty)
    for one in held:
        assert [len(stratum & set(one.test)) for stratum in strata] == [1] * 6
    assert len(set(held)) == 5
    assert held[0] == hold_out(topics, 0.25, seed=seed, difficulty=difficulty)[0]
    again = split(topics, folds=4, seed=seed, repeats=3, difficulty=difficulty)
    assert (again.folds, again.seed, again.repeats, again.stratified) == (made, seed, 3, "difficulty")


def test_judgements_and_lists_give_the_same_splits() -> None:
    ids = ["7", "8", "10", "11"]
    qrels = {topic: {"d": 1} for topic in ids}
    assert split(qrels, folds=2, seed=3) == split(ids, folds=2, seed=3)
    assert split(io.StringIO("".join(f"{t} 0 d 1\n" for t in ids)), folds=2, seed=3) == split(ids, folds=2, seed=3)


def test_written_splits_are_read_back(tmp_path: Path) -> None:
    made = split([f"q {n}" for n in range(5)] + ["ü", "\udcff"], folds=3, seed=5, repeats=2)
    (file,) = made.write(tmp_path / "new" / "splits.json")
    assert read_splits(file) == made
    assert read_splits(io.StringIO(made.to_json())) == made
    assert read_splits(made.to_dict()) == made
    written = made.write(tmp_path / "folder")
    assert read_splits(written[0]) == made
    assert len(written) == 1 + 2 * 6
    for number, fold in enumerate(made.folds, start=1):
        for part, topics in fold._asdict().items():
            lines = (tmp_path / "folder" / f"fold{number}.{part}.txt").read_bytes().decode("utf-8", "surrogateescape")
            assert lines.split("\n")[:-1] == list(topics)


def test_lists_of_other_splits_are_not_left_among_new_ones(tmp_path: Path) -> None:
    split(["1", "2", "3"], folds=3).write(tmp_path)
    split(["1", "2", "3"], folds=3, seed=1).write(tmp_path)
    with pytest.raises(DataError, match=r"files of other splits: fold3\.test\.txt, fold3\.train\.txt"):
        split(["1", "2", "3"], folds=2).write(tmp_path)


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match="file"):
        split(["1", "2"], folds=2).write(tmp_path / "file" / "splits.json")


GOOD = {"train": ["1", "2"], "test": ["3"]}


@pytest.mark.parametrize(
    ("document", "message"),
    [
        (
            {"folds": [GOOD, {"train": ["1", "2", "4"], "test": ["2", "4"]}]},
            "fold 2: .* both in train and in test: 2, 4",
        ),
        ({"folds": [{"train": ["1", "1"], "test": ["2"]}]}, "twice in 'train': 1"),
        ({"folds": [{"train": ["1"], "test": []}]}, "'test' must be a list of topic ids, and not empty"),
        ({"folds": [{"train": [1], "test": ["2"]}]}, 'Topic ids are text: "1", not 1'),
        ({"folds": [{"train": ["1"]}]}, "'test' must be"),
        ({"folds": [["1"]]}, "'train' must be"),
        ({"folds": [{"train": ["1", "9"], "test": ["2"]}]}, "fold 1: 'train' has topics .* not in the judgements: 9"),
        ({"folds": []}, "no list of folds"),
        ({"folds": {}}, "no list of folds"),
        ({}, "no list of folds"),
        ({"folds": [GOOD], "seed": "x"}, "'seed' must be a whole number"),
        ({"folds": [GOOD], "stratified": 1}, "'stratified' must be text"),
    ],
)
def test_splits_that_are_wrong_are_refused(document: dict[str, Json], message: str) -> None:
    with pytest.raises(DataError, match=message):
        read_splits(document, topics=["1", "2", "3", "4"])
    with pytest.raises(DataError, match=message):
        read_splits(io.StringIO(json.dumps(document)), topics=["1", "2", "3", "4"])


@pytest.mark.parametrize(("text", "line"), [('{"folds": [\n  oops]}', 2), ("", 1), ("[1]", None), ('"x"', None)])
def test_what_is_not_splits_at_all_is_refused(text: str, line: int | None) -> None:
    with pytest.raises(DataError) as caught:
        read_splits(io.StringIO(text))
    assert caught.value.line == line


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: split(["1", "2"]), "one of the two"),
        (lambda: split(["1", "2"], folds=2, test_share=0.5), "one of the two"),
        (lambda: split(["1", "2"], folds=3), "from 2 to the number of topics, 2"),
        (lambda: split(["1"], folds=2), "2 topics or more"),
        (lambda: split(["1", "2", "1"], folds=2), "come twice: 1"),
        (lambda: split(["1", "2"], test_share=1.0), "leaves nothing"),
        (lambda: split(["1", "2"], test_share=float("nan")), "leaves nothing"),
        (lambda: split(["1", "2"], folds=2, difficulty={"1": 0.5}), "no difficulty is known of 2"),
        (lambda: split(["1", "2"], folds=2, seed=-1), "seed must be"),
        (lambda: split(["1", "2"], folds=2, repeats=0), "repeats must be"),
    ],
)
def test_what_makes_no_sense_is_refused(call: object, message: str) -> None:
    assert callable(call)
    with pytest.raises(UsageError, match=message):
        call()


def test_corrected_t_is_that_of_the_literature() -> None:
    """For k folds T times the correction is a factor 1 + T k / (k - 1) of the variance (Bouckaert and Frank 2004)."""
    random = np.random.default_rng(2)
    for folds, repeats in ((5, 1), (10, 1), (10, 10), (2, 5)):
        differences = random.normal(0.1, 1, folds * repeats)
        found = corrected_resampled_t(differences.tolist(), train=100 * (folds - 1) / folds, test=100 / folds)
        plain = stats.ttest_1samp(differences, 0)
        t = plain.statistic / sqrt(1 + repeats * folds / (folds - 1))
        assert (found.statistic, found.freedom) == pytest.approx((t, folds * repeats - 1))
        assert found.p == pytest.approx(2 * stats.t.sf(abs(t), folds * repeats - 1))
        margin = stats.t.isf(0.025, found.freedom) * found.error
        assert (found.low, found.high) == pytest.approx((differences.mean() - margin, differences.mean() + margin))


def test_corrected_t_holds_the_level_where_the_plain_one_does_not() -> None:
    """Thirty random halves of the same forty topics, two systems that do not differ."""
    random = np.random.default_rng(4)
    trials, topics, splits = 800, 40, 30
    corrected, plain = [], []
    for _ in range(trials):
        differences = random.standard_normal(topics)
        tested = np.argsort(random.random((splits, topics)), axis=1)[:, : topics // 2]
        means = differences[tested].mean(axis=1)
        corrected.append(corrected_resampled_t(means.tolist(), train=topics / 2, test=topics / 2).p < 0.05)
        plain.append(abs(means.mean()) > 2.045 * means.std(ddof=1) / sqrt(splits))
    assert np.mean(corrected) <= 0.05 + 4 * sqrt(0.05 * 0.95 / trials)
    assert np.mean(plain) > 0.4


def test_corrected_t_needs_something_to_test() -> None:
    constant = corrected_resampled_t([0.3 - 0.2, 0.2 - 0.1, 0.1], train=4, test=1)
    assert np.isnan([constant.p, constant.low, constant.high]).all()
    with pytest.raises(UsageError, match="2 of them or more"):
        corrected_resampled_t([0.1], train=4, test=1)
    with pytest.raises(UsageError, match="topics to tune on"):
        corrected_resampled_t([0.1, 0.2], train=0, test=1)


def test_two_parts_are_drawn_as_often_as_asked() -> None:
    topics = [str(topic) for topic in range(20)]
    splits = split(topics, test_share=0.25, repeats=3, seed=2)
    assert [len(part.test) for part in splits.folds] == [5, 5, 5]
    assert len({part.test for part in splits.folds}) == 3
