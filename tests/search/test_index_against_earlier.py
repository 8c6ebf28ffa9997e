"""The index and what is searched with it, beside the earlier way: scikit-learn counts, formulas over whole arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from cranfield.search import Analysis, Index, Timing, build_index, find_model, load_index, retrieve
from cranfield.search.okapi import VARIANTS, Settings
from cranfield.texts.texts import Documents, Topics
from worded import worded

ANALYSIS = Analysis("english", "lucene")
Arrays = dict[str, Any]


@pytest.fixture(scope="module")
def documents() -> Documents:
    texts = worded(3)[0]
    return Documents(tuple(texts), {"text": list(texts.values())})


@pytest.fixture(scope="module")
def earlier(documents: Documents) -> Arrays:
    from sklearn.feature_extraction.text import CountVectorizer

    order = sorted(range(len(documents)), key=lambda number: documents.ids[number].encode(), reverse=True)
    vectorizer = CountVectorizer(analyzer=ANALYSIS.terms)
    counts = vectorizer.fit_transform(documents.text()[number] for number in order).tocsc()
    counts.sort_indices()
    return {
        "ids": tuple(documents.ids[number] for number in order),
        "vocabulary": {str(term): int(number) for term, number in vectorizer.vocabulary_.items()},
        "starts": counts.indptr.astype(np.int64),
        "documents": counts.indices.astype(np.int64),
        "counts": counts.data.astype(np.float64),
        "terms": np.repeat(np.arange(counts.shape[1]), np.diff(counts.indptr)),
    }


@pytest.fixture(params=[7, 1 << 20])
def index(documents: Documents, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Index:
    """With few postings at a time, and with all."""
    monkeypatch.setattr("cranfield.search.index.AT_ONCE", request.param * 100)
    return build_index(documents, ANALYSIS)


def test_postings_are_the_same(index: Index, earlier: Arrays) -> None:
    assert index.ids == earlier["ids"]
    assert dict(index.vocabulary) == earlier["vocabulary"]
    for name in ("starts", "documents", "counts", "terms"):
        assert np.array_equal(getattr(index, name), earlier[name]), name
    blocks = [postings for _, postings in index.blocks()]
    assert np.array_equal(np.concatenate([block.terms for block in blocks]), earlier["terms"])
    assert index.documents.itemsize + index.occurrences.itemsize == 5  # of each posting, where there were 16 bytes
    lengths = np.bincount(earlier["documents"], weights=earlier["counts"], minlength=len(index))
    assert np.array_equal(index.lengths, lengths)
    assert np.array_equal(index.distinct, np.bincount(earlier["documents"], minlength=len(index)))
    collection = np.bincount(earlier["terms"], weights=earlier["counts"])
    assert np.array_equal(index.collection_frequencies, collection)


def bm25(index: Index, known: Arrays, variant: str) -> Any:
    settings = Settings(1.2, 0.75, 0.5)
    lengths = 1 - settings.b + settings.b * index.lengths / index.lengths.mean()
    weights = VARIANTS[variant].frequency(known["counts"], lengths[known["documents"]], settings)
    return weights * VARIANTS[variant].rarity(index.document_frequencies, len(index))[known["terms"]]


def tfidf(index: Index, known: Arrays) -> Any:
    idf = 1 + np.log((1 + len(index)) / (1 + index.document_frequencies))
    weights = known["counts"] * idf[known["terms"]]
    return weights / np.sqrt(np.bincount(known["documents"], weights=weights**2))[known["documents"]]


def cosine(index: Index, known: Arrays) -> Any:
    weights = 1 + np.log(known["counts"])
    return weights / np.sqrt(np.bincount(known["documents"], weights=weights**2))[known["documents"]]


def pivoted(index: Index, known: Arrays) -> Any:
    text, counts = known["documents"], known["counts"]
    average = np.bincount(text, weights=counts) / np.maximum(np.bincount(text), 1)
    weights = (1 + np.log(counts)) / (1 + np.log(average[text]))
    return weights / ((1 - 0.2) * index.distinct.mean() + 0.2 * np.bincount(text))[text]


def augmented(index: Index, known: Arrays) -> Any:
    highest = np.zeros(len(index))
    np.maximum.at(highest, known["documents"], known["counts"])
    weights = 0.5 + 0.5 * known["counts"] / highest[known["documents"]]
    return weights * np.log(len(index) / index.document_frequencies)[known["terms"]]


def dirichlet(index: Index, known: Arrays) -> Any:
    share = index.collection_frequencies / known["counts"].sum()
    return np.log1p(known["counts"] / (1000.0 * share[known["terms"]]))


def mercer(index: Index, known: Arrays) -> Any:
    share = index.collection_frequencies / known["counts"].sum()
    in_document = known["counts"] / index.lengths[known["documents"]]
    return np.log1p((1 - 0.7) * in_document / (0.7 * share[known["terms"]]))


Formula = Callable[..., Any]
FORMULAS: list[tuple[str, dict[str, Any], Formula]] = [
    *(("bm25", {"variant": name}, lambda i, k, name=name: bm25(i, k, name)) for name in VARIANTS),
    ("tfidf", {}, tfidf),
    ("vsm", {"weighting": "lnc.ltc"}, cosine),
    ("vsm", {"weighting": "Lnu.ltc"}, pivoted),
    ("vsm", {"weighting": "atn.ntn"}, augmented),
    ("lm", {}, dirichlet),
    ("jm", {}, mercer),
]


@pytest.mark.parametrize(("model", "parameters", "formula"), FORMULAS)
def test_weights_are_the_same_to_the_last_bit(
    model: str, parameters: dict[str, Any], formula: Formula, index: Index, earlier: Arrays
) -> None:
    system: Any = find_model(model).system(index, parameters)
    assert np.array_equal(system.weights, formula(index, earlier))


def test_runs_do_not_depend_on_threads(documents: Documents) -> None:
    topics = Topics(("1", "2"), {"title": [text[:80] for text in documents.text()[:2]]})
    timing = Timing(warm_up=0, repeats=1)
    one, other = (
        retrieve(build_index(documents, ANALYSIS, threads=threads), topics, timing=timing).run.to_dict()
        for threads in (1, 3)
    )
    assert one == other
    assert len(one["1"]) > 10


def test_an_index_of_an_earlier_version_is_read(documents: Documents, tmp_path: Any) -> None:
    """Its numbers took eight bytes each."""
    index = build_index(documents, ANALYSIS)
    index.save(tmp_path / "narrow.index")
    with np.load(tmp_path / "narrow.index") as stored:
        wide = {name: stored[name] for name in stored.files}
    wide["documents"], wide["counts"] = wide["documents"].astype(np.int64), wide["counts"].astype(np.float64)
    with open(tmp_path / "wide.index", "wb") as file:
        np.savez(file, allow_pickle=False, **wide)
    loaded = load_index(tmp_path / "wide.index")
    assert loaded.documents.dtype == np.int32
    assert loaded.occurrences.dtype == index.occurrences.dtype
    assert np.array_equal(loaded.documents, index.documents)
    assert np.array_equal(loaded.counts, index.counts)
