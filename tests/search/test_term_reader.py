"""Terms of many texts at once: those that the analysis gives text by text, whatever is in them and by any threads."""

from __future__ import annotations

import random
import sys
from collections import Counter
from itertools import pairwise
from zlib import crc32

import numpy as np
import pytest

from cranfield import UsageError
from cranfield._core import TermCounter
from cranfield.search import Analysis, Index, build_index, stemmers, stop_word_lists
from cranfield.search.index import digest_of
from cranfield.search.term_reader import TermReader, portions
from cranfield.texts.texts import Documents

PIECES = [
    *("the", "Ducks", "SWIMMING", "a", "don't", "foxes_2", "_", "x1", "٣٤", "İstanbul", "ΣΊΣΥΦΟΣ", "Straße", "ǅungla"),
    *(
        "K",
        "\u212a\u212aelvin",
        "हिन्दी",
        "भाषा",
        "தமிழ்",
        "漢字",
        "e\u0301te\u0301",
        "\u0301lone",
        "naïve",
        "𝔘𝔫𝔦",
        "𐐀𐐁",
        "😀a",
        "1½",
    ),
    *(
        "\udce9half",
        "\ud800",
        "\0",
        "\x80",
        "ﬁne",
        "ŉ",
        "Œuvre",
        "ЁЖИК",
        "שלום",
        "مرحبا",
        "œ",
        "ª",
        "\u200d",
        "\ufeffbom",
    ),
]
BLANKS = (" ", "\n", ", ", "-", "", ".", "\u00a0", "\u3000")


def texts(seed: int, count: int) -> list[str]:
    draw = random.Random(seed)
    made = ["", "a", "the", "x" * 300, "word " * 70_000]
    for _ in range(count):
        pieces = PIECES[:9] if draw.random() < 0.3 else PIECES
        made.append("".join(draw.choice(pieces) + draw.choice(BLANKS) for _ in range(draw.randint(0, 40))))
    return made


def counts_of(index: Index) -> dict[str, dict[str, int]]:
    """The terms of each document, from the postings."""
    found: dict[str, dict[str, int]] = {id: {} for id in index.ids}
    for term, number in index.vocabulary.items():
        part = index.postings(number)
        for document, count in zip(index.documents[part].tolist(), index.occurrences[part].tolist(), strict=True):
            found[index.ids[document]][term] = count
    return found


def indexed(given: list[str], analysis: Analysis, threads: int | None = None) -> Index:
    ids = tuple(f"d{number}" for number in range(len(given)))
    return build_index(Documents(ids, {"text": given}), analysis, threads=threads)


@pytest.mark.parametrize("stemmer", ["none", *stemmers()])
def test_counts_are_those_of_the_terms_of_each_text(stemmer: str) -> None:
    lists = [*stop_word_lists(), "none"]
    given = texts(stemmers().index(stemmer) if stemmer != "none" else 99, 40)
    analysis = Analysis(stemmer, lists[len(stemmer) % len(lists)])
    index = indexed(given, analysis)
    assert counts_of(index) == {f"d{number}": dict(Counter(analysis.terms(text))) for number, text in enumerate(given)}
    assert list(index.vocabulary) == sorted(index.vocabulary)
    assert index.lengths.sum() == sum(len(analysis.terms(text)) for text in given)


@pytest.mark.parametrize("name", stop_word_lists())
def test_stop_words_of_every_list_are_left_out(name: str) -> None:
    given = [*texts(3, 20), "The and de der les och не и the"]
    analysis = Analysis("none", name)
    found = counts_of(indexed(given, analysis))
    assert found == {f"d{number}": dict(Counter(analysis.terms(text))) for number, text in enumerate(given)}


def test_every_character_is_in_words_as_the_pattern_has_it() -> None:
    """Alone, first, in the middle and last, in the lower case that Python gives it."""
    analysis = Analysis("none", "none")
    for first in range(0, sys.maxunicode + 1, 1 << 16):
        characters = map(chr, range(first, first + (1 << 16)))
        given = [f"{c} x{c}y {c}z {c}{c} q{c}" for c in characters]
        reader = TermReader(analysis)
        reader.count(
            [text for start in range(0, len(given), 1000) for text in (" ".join(given[start : start + 1000]),)]
        )
        wanted = Counter(analysis.terms(" ".join(given)))
        starts, _, counts = reader.postings(np.arange(len(reader), dtype=np.uint32))
        sums = np.add.reduceat(counts.astype(np.int64), starts[:-1]).tolist()
        assert dict(zip(reader.terms(), sums, strict=True)) == wanted


def test_threads_and_portions_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    given = texts(5, 1500)
    wanted = indexed(given, Analysis(), threads=1)
    for threads, portion in ((2, 1 << 24), (7, 1 << 24), (3, 5000)):
        monkeypatch.setattr("cranfield.search.term_reader.PORTION", portion)
        made = indexed(given, Analysis(), threads=threads)
        assert list(made.vocabulary) == list(wanted.vocabulary)
        for name in ("starts", "documents", "occurrences"):
            assert np.array_equal(getattr(made, name), getattr(wanted, name))
        assert made.digest == wanted.digest


@pytest.mark.parametrize(
    ("most", "kind"), [(255, np.uint8), (256, np.uint16), (65_535, np.uint16), (65_536, np.uint32)]
)
def test_counts_take_as_few_bytes_as_the_largest_needs(most: int, kind: type) -> None:
    index = indexed(["duck " * most, "duck goose"], Analysis("none", "none"))
    assert index.occurrences.dtype == kind
    assert counts_of(index) == {"d0": {"duck": most}, "d1": {"duck": 1, "goose": 1}}
    assert index.counts.dtype == np.float64
    assert index.collection_frequencies.tolist() == [most + 1, 1]
    assert index.lengths.tolist() == [2, most]  # by id descending


def test_hashes_are_checksums_of_words_and_of_pairs() -> None:
    given = texts(7, 400)
    for analysis in (Analysis(), Analysis("none", "none")):
        starts, hashes, counts = TermReader(analysis, threads=3).hashed(given)
        for number, text in enumerate(given):
            terms = analysis.terms(text)
            words = [crc32(term.encode()) & 0x7FFFFFFF for term in terms]
            pairs = [crc32(f"{one} {other}".encode()) | 0x80000000 for one, other in pairwise(terms)]
            part = slice(starts[number], starts[number + 1])
            assert hashes[part].tolist() == sorted({*words, *pairs})
            assert dict(zip(hashes[part].tolist(), counts[part].tolist(), strict=True)) == Counter(words + pairs)


def test_texts_in_portions_are_all_there() -> None:
    given = ["a" * 3, "", "b" * 9, "c"]
    assert [text for portion in portions(given) for text in portion] == given
    assert list(portions([])) == []


def test_digest_is_of_ids_and_texts() -> None:
    one = Documents(("1", "2"), {"title": ["Ducks", ""], "text": ["swim", "geese"]})
    same = Documents(("1", "2"), {"text": ["Ducks swim", "geese"]})
    assert digest_of(one, ["title", "text"]) == digest_of(same, ["text"]) == build_index(one).digest
    changed = ((("1", "3"), ["Ducks swim", "geese"]), (("1", "2"), ["Ducks", "geese"]), (("2", "1"), ["Ducks", "swim"]))
    for ids, other in changed:
        assert digest_of(Documents(ids, {"text": other}), ["text"]) != digest_of(same, ["text"])


def test_wrong_calls_of_the_counter_are_refused() -> None:
    counter = TermCounter([], [], 2)
    assert sorted(counter.read(["ducks swim", "ducks"])) == ["ducks", "swim"]
    with pytest.raises(UsageError, match="the words that were new have no terms yet"):
        counter.count()
    with pytest.raises(UsageError, match="every new word has one term"):
        counter.name(["duck"])
    counter = TermCounter([], [], 2)
    counter.name(counter.read(["ducks swim", "ducks"]))
    counter.count()
    for order in ([0], [0, 0], [0, 2]):
        with pytest.raises(UsageError, match="order"):
            counter.inverted(np.array(order, dtype=np.uint32))
    with pytest.raises(TypeError, match="texts are strings"):
        counter.read(["ducks", b"swim"])  # type: ignore[list-item]
    with pytest.raises(UsageError, match="marks are characters of the basic plane"):
        TermCounter([0x10000], [], 1)
    starts, documents, counts = counter.inverted(np.array([1, 0], dtype=np.uint32))
    assert (starts.tolist(), documents.tolist(), counts.tolist()) == ([0, 2, 3], [0, 1, 1], [1, 1, 1])
