"""Features: the weights that the formula gives, files that are mapped, and what is said of those that are none."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import pairwise
from math import log, sqrt
from pathlib import Path

import numpy as np
import pytest

from cranfield import DataError
from cranfield.learning import Features, build_features, open_features
from cranfield.search import Analysis
from cranfield.texts.texts import Documents
from worded import worded

POND = {"d1": "ducks ducks swim", "d2": "Geese and ducks", "d3": "", "ü 4": "the boats swim, boats swim"}


def product(features: Features, text: str) -> list[float]:
    return [float(value) for value in (features.matrix @ features.of_text(text).T).toarray().ravel()]


def test_weights_are_those_of_the_formula() -> None:
    """Of words and of pairs; the pair that only the first document has makes it longer, and is not kept."""
    features = build_features({"d1": "Ducks swim, ducks", "d2": "The ducks swim.", "d3": "a goose", "d4": ""})
    duck, swim, both, back = ((log(5 / (1 + df)) + 1) for df in (2, 2, 2, 1))
    first = sqrt(((1 + log(2)) * duck) ** 2 + swim**2 + both**2 + back**2)
    second = sqrt(duck**2 + swim**2 + both**2)
    assert product(features, "duck") == pytest.approx([(1 + log(2)) * duck / first, duck / second, 0, 0], abs=1e-6)
    assert product(features, "ducks swim")[:2] == pytest.approx(
        [((1 + log(2)) * duck**2 + swim**2 + both**2) / first / second, 1], abs=1e-6
    )
    assert product(features, "swim duck")[1] == pytest.approx((duck**2 + swim**2) / second / sqrt(duck**2 + swim**2))
    assert product(features, "unheard of words") == [0.0] * 4
    assert product(features, "goose goose duck") != product(features, "goose duck")  # a word twice counts more
    assert len(features.hashes) == 4
    lengths = np.sqrt(np.asarray(features.matrix.multiply(features.matrix).sum(axis=1)).ravel())
    assert lengths == pytest.approx([sqrt(1 - (back / first) ** 2), 1, 1, 0], abs=1e-6)


@pytest.mark.parametrize("at_once", [7, 10_000])
def test_documents_are_as_like_as_with_all_pairs(at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside scikit-learn, which keeps every pair, as ASReview does."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    texts = list(worded(2)[0].values())
    vectorizer = TfidfVectorizer(analyzer=lambda text: _with_pairs(Analysis().terms(text)), sublinear_tf=True)
    every = vectorizer.fit_transform(texts)
    wanted = (every @ every.T).toarray()
    monkeypatch.setattr("cranfield.learning.features.AT_ONCE", at_once)
    features = build_features({str(number): text for number, text in enumerate(texts)})
    assert features.matrix.nnz < 0.8 * every.nnz
    made = (features.matrix @ features.matrix.T).toarray()
    np.fill_diagonal(wanted, 0)
    np.fill_diagonal(made, 0)
    assert made == pytest.approx(wanted, abs=1e-5)


def _with_pairs(terms: Sequence[str]) -> list[str]:
    return [*terms, *(f"{first} {second}" for first, second in pairwise(terms))]


def test_what_nobody_wrote_does_not_weaken_a_question() -> None:
    features = build_features(POND)
    assert product(features, "swim") == product(features, "swim zzyzx")


def test_a_collection_gives_title_and_text() -> None:
    documents = Documents(("1", "2"), {"title": ["Ducks", ""], "text": ["swim", "fly"], "author": ["Duck, D.", "Duck"]})
    features = build_features(documents)
    assert [value > 0 for value in product(features, "duck")] == [True, False]
    assert features.ids == ("1", "2")


def test_files_are_mapped_and_the_same(tmp_path: Path) -> None:
    features = build_features(POND, Analysis("none", "none"))
    size = features.save(tmp_path / "of pond")
    again = open_features(tmp_path / "of pond")
    assert size == sum(path.stat().st_size for path in (tmp_path / "of pond").glob("*.npy"))
    assert again.ids == features.ids
    assert product(again, "the ducks and geese") == product(features, "the ducks and geese")
    assert again.analysis == features.analysis
    assert again.neighbours.numbers.tolist() == features.neighbours.numbers.tolist()
    assert again.neighbours.cosines.tolist() == features.neighbours.cosines.tolist()
    mapped = again.matrix.data
    while not isinstance(mapped, np.memmap):  # the matrix is on the file itself, not on a copy of it
        assert mapped.base is not None
        mapped = mapped.base
    with pytest.raises(ValueError, match="read-only"):
        again.weights[0] = 1


@pytest.mark.parametrize("held", [0, 1 << 27])
def test_written_while_they_are_made(held: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files, and what is found a part at a time, are those of features that were made in memory at once."""
    texts = worded(4)[0]
    features = build_features(texts)
    features.save(tmp_path / "saved")
    monkeypatch.setattr("cranfield.learning.counted_terms.HELD", held or 1)
    monkeypatch.setattr("cranfield.learning.counted_terms.SORTED_AT_ONCE", 500)
    monkeypatch.setattr("cranfield.learning.counted_terms.READ_AT_ONCE", 77)
    monkeypatch.setattr("cranfield.learning.features.READ_AT_ONCE", 9)
    made = build_features(texts, folder=tmp_path / "made")
    assert isinstance(made.weights, np.memmap)
    names = sorted(path.name for path in (tmp_path / "saved").iterdir())
    assert names == sorted(path.name for path in (tmp_path / "made").iterdir())
    for name in names:
        assert (tmp_path / "made" / name).read_bytes() == (tmp_path / "saved" / name).read_bytes(), name
    again = build_features(POND, folder=tmp_path / "made")  # over what is there
    assert again.ids == tuple(POND)
    assert open_features(tmp_path / "made").ids == again.ids


def test_products_are_those_of_the_matrix() -> None:
    features = build_features(worded(5)[0])
    weights = np.random.default_rng(6).normal(size=len(features.hashes)).astype(np.float32)
    assert np.array_equal(features.products(weights), features.matrix @ weights)
    some = np.array([3, 1, 150])
    assert np.array_equal(features.products(weights, some), (features.matrix @ weights)[some])


def test_what_is_not_whole_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be read: No such file"):
        open_features(tmp_path)
    features = build_features(POND)
    features.save(tmp_path)
    settings = tmp_path / "features.json"
    kept = json.loads(settings.read_text())
    wrongs: tuple[object, ...] = ({**kept, "version": 1}, {**kept, "sizes": {**kept["sizes"], "weights": 1}}, {}, [])
    for wrong in wrongs:
        settings.write_text(json.dumps(wrong))
        with pytest.raises(DataError, match="are not features of documents, or of another version"):
            open_features(tmp_path)
    settings.write_text(json.dumps(kept))
    (tmp_path / "weights.npy").write_bytes((tmp_path / "weights.npy").read_bytes()[:-4])
    with pytest.raises(DataError, match="are not features"):
        open_features(tmp_path)


def test_no_documents_and_one_twice() -> None:
    with pytest.raises(DataError, match="there are no documents to learn from"):
        build_features({})
    with pytest.raises(DataError, match="document 'b' is there twice"):
        build_features([("a", "x"), ("b", "y"), ("b", "z")])


def test_documents_without_any_word() -> None:
    features = build_features({"a": "", "b": "the of"})
    assert features.matrix.nnz == 0
    assert product(features, "anything") == [0, 0]
