"""Models of retrieval against slow definitions: each formula once more, document by document, in plain Python."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from itertools import product
from math import log, sqrt
from typing import Any

import numpy as np
import pytest

from cranfield import UsageError
from cranfield.search import MODELS, Analysis, Index, build_index, find_model
from cranfield.search.okapi import VARIANTS
from cranfield.search.smart_weights import DOCUMENT_FREQUENCY, FREQUENCY, NORMALISATION
from cranfield.search.systems import DECIMALS, best
from cranfield.texts.texts import Documents

PLAIN = Analysis("none", "none")
WORDS = ["ant", "bee", "cat", "dog", "eel", "fox", "gnu", "hen"]
TOLERANCE = 0.51 * 10.0**-DECIMALS


def texts(seed: int, count: int = 14) -> dict[str, list[str]]:
    """Documents of 1 to 20 words, of which some are frequent; `ant` is in every one."""
    draw = random.Random(seed)
    weights = [8, 5, 3, 2, 2, 1, 1, 1]
    drawn = {f"d{i:02}": ["ant", *draw.choices(WORDS, weights, k=draw.randint(0, 19))] for i in range(count)}
    return drawn | {"empty": []}


def index_of(words: dict[str, list[str]]) -> Index:
    return build_index(Documents(tuple(words), {"text": [" ".join(some) for some in words.values()]}), PLAIN)


def scores(index: Index, model: str, query: list[str], **parameters: Any) -> dict[str, float]:
    documents, values = find_model(model).system(index, parameters).rank(" ".join(query), 1000)
    return dict(zip((index.ids[d] for d in documents.tolist()), values.tolist(), strict=True))


Score = Callable[[list[str], list[str]], float]


def by_hand(words: dict[str, list[str]], query: list[str], score: Score) -> dict[str, float]:
    """Every document that shares a term with the query, with its score."""
    return {id: score(query, text) for id, text in words.items() if set(query) & set(text)}


def agree(found: dict[str, float], wanted: dict[str, float]) -> None:
    assert found.keys() == wanted.keys()
    for id, score in wanted.items():
        assert found[id] == pytest.approx(score, abs=TOLERANCE, rel=0), id
    order = sorted(found, key=lambda document: (found[document], document), reverse=True)
    assert list(found) == order


QUERIES = [["cat"], ["ant", "fox"], ["bee", "bee", "gnu", "hen"], ["zebra", "dog"], ["ant"]]


def frequencies(words: dict[str, list[str]]) -> Counter[str]:
    return Counter(word for text in words.values() for word in set(text))


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize(
    ("k1", "b", "delta"),
    [(1.2, 0.75, 0.5), (0.9, 0.4, 1.0), (2.0, 0.0, 0.2), (0.5, 1.0, 0.0), (0.0, 0.75, 0.5), (0.0, 1.0, 0.0)],
)
def test_bm25_variants_are_their_formulas(variant: str, k1: float, b: float, delta: float) -> None:
    words = texts(1)
    index = index_of(words)
    count, df = len(words), frequencies(words)
    average = sum(map(len, words.values())) / count

    def inverse(term: str) -> float:
        n = df[term]
        return {
            "robertson": log(max(1.0, (count - n + 0.5) / (n + 0.5))),
            "lucene": log(1 + (count - n + 0.5) / (n + 0.5)),
            "atire": log(count / n),
            "bm25l": log((count + 1) / (n + 0.5)),
            "bm25+": log((count + 1) / n),
        }[variant]

    def weight(term: str, text: list[str]) -> float:
        tf, length = text.count(term), 1 - b + b * len(text) / average
        if variant == "bm25l":
            c = tf / length
            return inverse(term) * (k1 + 1) * (c + delta) / (k1 + c + delta)
        saturated = tf / (tf + k1 * length)
        if variant in ("robertson", "lucene"):
            return inverse(term) * saturated
        return inverse(term) * ((k1 + 1) * saturated + (delta if variant == "bm25+" else 0))

    for query in QUERIES:
        wanted = by_hand(words, query, lambda q, text: sum(weight(t, text) for t in q if t in text))
        agree(scores(index, "bm25", query, k1=k1, b=b, delta=delta, variant=variant), wanted)


@pytest.mark.parametrize("variant", VARIANTS)
def test_bm25_ranks_as_bm25s_does(variant: str) -> None:
    import bm25s

    words = texts(2, 30)
    index = index_of(words)
    reference = bm25s.BM25(k1=1.2, b=0.75, delta=0.5, method=variant, dtype="float64")
    reference.index([words[id] for id in index.ids], show_progress=False)
    for query in (["cat", "dog"], ["eel"], ["bee", "fox", "hen"]):
        theirs = reference.get_scores(query)
        ours = scores(index, "bm25", query, variant=variant)
        # for bm25l and bm25+ bm25s gives a term that is absent the weight of frequency 0, Lv and Zhai give it nothing
        for id, score in ours.items():
            if variant in ("robertson", "lucene", "atire") or all(term in words[id] for term in query):
                assert score == pytest.approx(float(theirs[index.ids.index(id)]), abs=TOLERANCE), id


def smart_vector(letters: str, text: list[str], words: dict[str, list[str]], slope: float) -> dict[str, float]:
    """A text's vector by the definitions in Manning et al., figure 6.15, and Singhal et al. for u."""
    tf, df, count = Counter(text), frequencies(words), len(words)
    known = {term: n for term, n in tf.items() if df[term]}
    average = sum(known.values()) / len(known)
    local: dict[str, Callable[[int], float]] = {
        "n": lambda n: n,
        "l": lambda n: 1 + log(n),
        "a": lambda n: 0.5 + 0.5 * n / max(known.values()),
        "b": lambda n: 1.0,
        "L": lambda n: (1 + log(n)) / (1 + log(average)),
    }
    whole: dict[str, Callable[[int], float]] = {
        "n": lambda n: 1.0,
        "t": lambda n: log(count / n),
        "p": lambda n: max(0.0, log((count - n) / n)) if n < count else 0.0,
    }
    vector = {term: local[letters[0]](n) * whole[letters[1]](df[term]) for term, n in known.items()}
    pivot = sum(len(set(text)) for text in words.values()) / count
    norm = {
        "n": 1.0,
        "c": sqrt(sum(weight**2 for weight in vector.values())) or 1.0,
        "u": (1 - slope) * pivot + slope * len(known),
    }[letters[2]]
    return {term: weight / norm for term, weight in vector.items()}


SCHEMES = ["".join(letters) for letters in product(FREQUENCY, DOCUMENT_FREQUENCY, NORMALISATION)]


@pytest.mark.parametrize("scheme", SCHEMES)
def test_smart_weightings_are_their_formulas(scheme: str) -> None:
    words = texts(3)
    index = index_of(words)
    for weighting in (f"{scheme}.ltc", f"lnc.{scheme}"):
        of_documents, of_queries = weighting.split(".")
        for query in QUERIES:
            asked = smart_vector(of_queries, query, words, 0.3)

            def dot(_: list[str], text: list[str], asked: dict[str, float] = asked, half: str = of_documents) -> float:
                vector = smart_vector(half, text, words, 0.3)
                return sum(weight * vector.get(term, 0.0) for term, weight in asked.items())

            agree(scores(index, "vsm", query, weighting=weighting, slope=0.3), by_hand(words, query, dot))


def test_tfidf_is_that_of_scikit_learn() -> None:
    from sklearn.feature_extraction.text import TfidfVectorizer

    words = texts(4, 25)
    index = index_of(words)
    for sublinear in (False, True):
        vectorizer = TfidfVectorizer(analyzer=str.split, sublinear_tf=sublinear)
        matrix = vectorizer.fit_transform(" ".join(words[id]) for id in index.ids)
        for query in QUERIES:
            known = " ".join(word for word in query if word in vectorizer.vocabulary_)
            theirs = (matrix @ vectorizer.transform([known]).T).toarray().ravel()
            wanted = {id: float(s) for id, s in zip(index.ids, theirs, strict=True) if set(query) & set(words[id])}
            agree(scores(index, "tfidf", query, sublinear=sublinear), wanted)


@pytest.mark.parametrize("mu", [1.0, 25.0, 1000.0])
def test_dirichlet_is_the_likelihood_of_the_query(mu: float) -> None:
    """Rank by rank the formula of Zhai and Lafferty is log p(q|d) without what no document changes, Σ log p(t)."""
    words = texts(5)
    index = index_of(words)
    together = Counter(word for text in words.values() for word in text)
    total = sum(together.values())

    def likelihood(query: list[str], text: list[str]) -> float:
        known = [term for term in query if term in together]
        smoothed = [(text.count(t) + mu * together[t] / total) / (len(text) + mu) for t in known]
        return sum(log(p) - log(together[t] / total) for t, p in zip(known, smoothed, strict=True))

    for query in QUERIES:
        agree(scores(index, "lm", query, mu=mu), by_hand(words, query, likelihood))


@pytest.mark.parametrize("share", [0.1, 0.7])
def test_jelinek_mercer_is_the_likelihood_of_the_query(share: float) -> None:
    words = texts(6)
    index = index_of(words)
    together = Counter(word for text in words.values() for word in text)
    total = sum(together.values())

    def likelihood(query: list[str], text: list[str]) -> float:
        known = [term for term in query if term in together]
        mixed = [(1 - share) * text.count(t) / len(text) + share * together[t] / total for t in known]
        return sum(log(p) - log(share * together[t] / total) for t, p in zip(known, mixed, strict=True))

    for query in QUERIES:
        agree(scores(index, "jm", query, lambda_=share), by_hand(words, query, likelihood))


def test_random_depends_on_seed_and_query_alone() -> None:
    words = texts(7)
    index = index_of(words)
    once = scores(index, "random", ["cat"], seed=1)
    assert once == scores(index, "random", ["cat"], seed=1)
    assert once != scores(index, "random", ["cat"], seed=2)
    assert list(once) != list(scores(index, "random", ["dog"], seed=1))
    assert once.keys() == words.keys()


@pytest.mark.parametrize("model", MODELS)
def test_order_of_documents_does_not_matter(model: str) -> None:
    words = texts(8, 40)
    shuffled = dict(random.Random(1).sample(sorted(words.items()), len(words)))
    for query in QUERIES:
        one, other = (scores(index_of(given), model, query) for given in (words, shuffled))
        assert list(one.items()) == list(other.items())


@pytest.mark.parametrize("model", MODELS)
def test_depth_cuts_the_same_ranking_through_ties(model: str) -> None:
    words = {f"d{i}": ["cat", "dog"][: 1 + i % 2] for i in range(20)}
    index = index_of(words)
    whole = scores(index, model, ["cat"])
    for depth in (1, 3, 10, 11, 20, 50):
        documents, values = find_model(model).system(index).rank("cat", depth)
        assert [index.ids[d] for d in documents.tolist()] == list(whole)[:depth]
        assert values.tolist() == list(whole.values())[:depth]


def test_best_is_a_full_sort_cut_off() -> None:
    rng = np.random.default_rng(0)
    for _ in range(50):
        values = rng.integers(0, 5, 30).astype(float)
        found = best(np.arange(30), values, 7)
        wanted = sorted(range(30), key=lambda i: (-values[i], i))[:7]
        assert found.documents.tolist() == wanted
    assert len(best(np.arange(0), np.zeros(0), 5).documents) == 0


def test_noise_in_the_last_bits_decides_nothing() -> None:
    found = best(np.array([0, 1]), np.array([0.3, 0.1 + 0.2]), 2)
    assert found.documents.tolist() == [0, 1]
    assert str(best(np.array([0]), np.array([-1e-15]), 1).scores[0]) == "0.0"


@pytest.mark.parametrize(
    ("model", "parameters", "message"),
    [
        ("bm25", {"k1": -0.1}, "k1 must be 0 or more, not -0.1"),
        ("bm25", {"k1": float("nan")}, "k1 must be 0 or more, not nan"),
        ("bm25", {"b": 1.5}, "b must be from 0 to 1, not 1.5"),
        ("bm25", {"delta": -1}, "delta must be 0 or more"),
        ("bm25", {"variant": "okapi"}, "no variant 'okapi' of bm25; there are robertson, lucene, atire, bm25l, bm25+"),
        ("bm25", {"mu": 3}, "bm25 has no parameter 'mu'; it has k1, b, variant, delta"),
        ("bm25", {"lambda_": 0.5}, "bm25 has no parameter 'lambda'"),
        ("bm25", {"k1": float("inf")}, "k1 must be 0 or more, not inf"),
        ("bm25", {"variant": "bm25+", "delta": float("inf")}, "delta must be 0 or more, not inf"),
        ("vsm", {"weighting": "lnc"}, "not a weighting in SMART notation"),
        ("vsm", {"weighting": "lnc.ltx"}, "not a weighting in SMART notation"),
        ("vsm", {"weighting": "lnc.ltc.ltc"}, "not a weighting in SMART notation"),
        ("vsm", {"slope": 2}, "slope must be from 0 to 1"),
        ("lm", {"mu": 0}, "mu must be more than 0"),
        ("lm", {"mu": float("inf")}, "mu must be more than 0, not inf"),
        ("lm", {"mu": 5e-324}, "beyond what numbers can hold"),
        ("jm", {"lambda_": 1e-320}, "beyond what numbers can hold"),
        ("jm", {"lambda_": 1}, "lambda must be between 0 and 1"),
    ],
)
def test_wrong_parameters_are_named(model: str, parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message.replace("+", r"\+").replace(".", r"\.")):
        find_model(model).system(index_of(texts(9)), parameters)
    if "beyond" not in message:  # that depends on the documents too
        with pytest.raises(UsageError):
            find_model(model).check(parameters)


def test_unknown_model_names_those_there_are() -> None:
    with pytest.raises(UsageError, match="no model 'bm52'; there are bm25, vsm"):
        find_model("bm52")
