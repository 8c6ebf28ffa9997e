"""What an assessor sees: paragraphs that lose nothing, the best one, two kinds of marks, and nothing that does harm."""

from __future__ import annotations

import random
import re
from typing import Any

import pytest

from cranfield import UsageError
from cranfield.judging import showing
from cranfield.judging.showing import PARAGRAPH, PART, ShownDocument, part_of, scan_pattern, shown
from cranfield.quotation.passages import Vocabulary
from cranfield.texts import StoredDocument

FILLER = "Nothing of any interest is told here, and it goes on. "


def seen(
    text: str, question: str = "", *scan_terms: str, title: str = "", html: bool = False, **more: Any
) -> ShownDocument:
    return shown(StoredDocument("d1", title, text, html), question, scan_terms, **more)


def texts(document: ShownDocument) -> list[str]:
    return ["".join(stretch.text for stretch in paragraph) for paragraph in document.paragraphs]


def marks(document: ShownDocument, mark: str) -> list[str]:
    return [stretch.text for paragraph in document.paragraphs for stretch in paragraph if stretch.mark == mark]


def test_blank_lines_part_paragraphs() -> None:
    assert texts(seen("One.\nStill one.\n\nTwo.\r\n \t\r\nThree.\n\n\n")) == ["One.\nStill one.", "Two.", "Three."]
    assert texts(seen("one\u2029two\x0b\x0cthree")) == ["one", "two", "three"]


def test_sentences_are_gathered_where_there_are_no_blank_lines() -> None:
    document = seen(FILLER * 60)
    assert all(PARAGRAPH - len(FILLER) <= len(text) <= PARAGRAPH for text in texts(document)[:-1])
    assert all(text.startswith("Nothing") and text.endswith("on.") for text in texts(document))
    assert " ".join(texts(document)) == (FILLER * 60).strip()


def test_a_long_paragraph_among_others_is_parted_too_and_a_usual_one_is_not() -> None:
    usual, long = (FILLER * 20).strip(), (FILLER * 40).strip()
    assert PARAGRAPH < len(usual) < 2 * PARAGRAPH < len(long)
    assert len(seen(usual).paragraphs) == 2
    document = seen(f"{usual}\n\n{long}")
    assert texts(document)[0] == usual
    assert len(document.paragraphs) == 1 + 4


@pytest.mark.parametrize("seed", range(30))
def test_nothing_of_a_text_is_lost(seed: int) -> None:
    draw = random.Random(seed)
    pieces = [
        "cat ",
        "swimming. ",
        "x" * 700,
        "字字。",
        "e\u0301" * 400,
        "\n",
        "\n\n",
        " " * 5,
        'He said "no!" ',
        "İ",
        "שלום. ",
    ]
    text = "".join(draw.choices(pieces, k=draw.randint(0, 300)))
    document = seen(text, "swimming cat", "x*", "字", "no!")
    assert "".join("".join(texts(document)).split()) == "".join(text.split())
    assert all(len(paragraph) <= 2 * PARAGRAPH for paragraph in texts(document))
    assert not any(re.match("\u0301", paragraph) for paragraph in texts(document))
    assert (document.best is None) == (not text.strip())


def test_the_best_paragraph_has_the_most_different_words_then_the_most_then_is_the_first() -> None:
    text = "Cats, cats, cats.\n\nNo.\n\nA cat sleeps.\n\nThe cat sleeps, the cat sleeping.\n\nSleep, cats: cats sleep."
    assert seen(text, "sleeping cats").best == 3
    assert seen(text, "cats").best == 0
    assert seen(text, "geese").best == 0
    assert seen(text, "").best == 0


def test_weights_of_a_learner_decide_about_the_best_paragraph() -> None:
    text = "Ducks swim.\n\nFeathers stay dry because of oil.\n\nFeathers stay dry. " + FILLER * 8
    weights = {"feather": 2.0, "dri": 1.0, "oil": 0.5, "duck": -1.0}
    assert seen(text, "ducks swim", weights=weights).best == 1
    assert seen(text, "ducks swim").best == 0
    assert (
        seen(text, "ducks swim", weights={"feather": -1.0}).best == 0
    )  # nothing weighs anything: the question decides
    assert seen(text, "oil", weights={"goos": 3.0}).best == 1


def test_a_longer_paragraph_is_not_better_for_its_length() -> None:
    text = "Feathers. " + FILLER * 10 + "\n\nFeathers."
    assert seen(text, "ducks", weights={"feather": 1.0, "interest": 0.01}).best == 1


def test_words_of_the_question_and_of_the_assessor_are_marked_apart() -> None:
    document = seen(
        "Ducks SWIM in the Oily water; swimming, oil.", "the ducks swim", "oil*", "SWIMMING", title="A duck's oil"
    )
    assert marks(document, "question") == ["Ducks", "SWIM"]
    assert marks(document, "scan") == ["Oily", "swimming", "oil"]
    assert [(stretch.text, stretch.mark) for stretch in document.title] == [
        ("A ", ""), ("duck", "question"), ("'s ", ""), ("oil", "scan")
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("term", "text", "hits"),
    [
        ("duck", "duck ducks DUCK, mallard-duck", ["duck", "DUCK", "duck"]),
        ("duck*", "duck ducklings xduck", ["duck", "ducklings"]),
        ("mute  swan", "a mute\nswan, mutely swans", ["mute\nswan"]),
        ("C++", "c++ and C+ and C++17", ["c++", "C++"]),
        ("(a|b)+", "(a|b)+ ab", ["(a|b)+"]),
        ("a*b*", "a*bc abc", ["a*bc"]),
        ("水", "潜水艇", ["水"]),
        ("เป็ด", "มีเป็ดว่ายน้ำ", ["เป็ด"]),
        ("हिन*", "हिन्दी", ["हिन्दी"]),
        ("हिन", "हिन्दी", []),
        ("élan", "ÉLAN élans", ["ÉLAN"]),
    ],
)
def test_scan_terms_are_taken_literally(term: str, text: str, hits: list[str]) -> None:
    assert marks(seen(text, "", term), "scan") == hits


def test_of_scan_terms_the_longest_is_marked() -> None:
    assert marks(seen("mute swans swim", "", "mute", "mute swan*", "swan"), "scan") == ["mute swans"]
    assert marks(seen("mute swans swim", "swans", "te sw"), "question") == ["swans"]


@pytest.mark.parametrize("terms", [["*"], [" "], [""], ["* *"], ["x" * 101], ["x"] * 101])
def test_what_is_no_scan_term_is_refused(terms: list[str]) -> None:
    with pytest.raises(UsageError, match="to look for"):
        seen("text", "", *terms)


def test_no_scan_terms_are_no_pattern() -> None:
    assert scan_pattern(()) is None


@pytest.mark.parametrize(
    ("text", "direction"),
    [
        ("Ducks", "ltr"),
        ("ברווזים שוחים", "rtl"),
        ("البط يسبح", "rtl"),
        ("BBC: البط يسبح في الماء", "rtl"),
        ("«שלום» is Hebrew for peace", "ltr"),
        ("אב ab", "rtl"),
        ("ab אב", "ltr"),
        ("12, 34!", "auto"),
        ("", "auto"),
    ],
)
def test_the_direction_is_that_of_most_of_the_first_letters(text: str, direction: str) -> None:
    assert seen(text).direction == direction


def test_the_title_has_a_direction_where_the_text_has_none() -> None:
    assert seen("123", title="שלום").direction == "rtl"


def test_a_document_without_text_says_so() -> None:
    for document in (seen(""), seen(" \n\n "), seen("<p> </p><script>x</script>", html=True)):
        assert (document.paragraphs, document.best, document.words) == ((), None, 0)
        assert document.note == "This document has no text."
    assert seen("x").note == ""


def test_controls_and_half_characters_do_no_harm() -> None:
    document = seen("a\x00b\x1b[31mc\x7fd\x9be\ud83df\u202eg\ufffe\u200fh", "\ud83d b", title="t\x07\ud800\n2")
    assert texts(document) == ["a␀b␛[31mc␡d�e�f�g�\u200fh"]
    assert "".join(stretch.text for stretch in document.title) == "t␇� 2"
    for paragraph in texts(document):
        paragraph.encode("utf-8")


def test_a_page_is_read_as_what_it_says() -> None:
    head = "<html><head><title>Pond</title><style>p{}</style></head>"
    page = head + "<body><p>Ducks &amp; geese<br>swim<p>&lt;b&gt;<script>x</script>"
    document = seen(page, "geese", html=True)
    assert texts(document) == ["Pond", "Ducks & geese\nswim", "<b>"]
    assert document.best == 1
    assert document.words == 4


def test_words_are_counted() -> None:
    assert seen("Ducks swim.\n\nA duck.", title="Not these").words == 3  # of two letters at least, as in searching


def test_a_long_title_is_cut() -> None:
    title = "".join(stretch.text for stretch in seen("x", title="duck " * 100_000).title)
    assert len(title) == showing.LONGEST_TITLE
    assert title.endswith("…")


def test_a_long_document_is_shown_in_parts_that_lose_nothing() -> None:
    paragraphs = [f"Paragraph {i}. " + FILLER * (i % 9) for i in range(1500)]
    text = "\n\n".join(paragraphs)
    first = seen(text, "interest")
    assert first.parts == -(-len(text) // PART) > 2
    end = len(part_of(text).text)
    assert PART - 2000 < end <= PART
    assert first.note == (
        f"This document is long: here is part 1 of {first.parts}, characters 1 to {end:,} of {len(text):,}."
    )
    told = [paragraph for part in range(1, first.parts + 1) for paragraph in texts(seen(text, part=part))]
    assert [paragraph.strip() for paragraph in told] == [paragraph.strip() for paragraph in paragraphs]
    assert seen(text, part=2).part == 2
    with pytest.raises(UsageError, match=f"the document has {first.parts} parts, and part 0 is none of them"):
        seen(text, part=0)
    with pytest.raises(UsageError, match="the document has 1 part, and part 2 is none of them"):
        seen("x", part=2)


@pytest.mark.parametrize("unit", ["x", "字", "word ", "line\n", "<b>", "e\u0301"])
@pytest.mark.parametrize("html", [False, True])
def test_parts_of_whatever_text_are_all_of_it(unit: str, html: bool) -> None:
    text = unit * (250_000 // len(unit))
    parts = part_of(text, html=html).parts
    assert "".join(part_of(text, number, html=html).text for number in range(1, parts + 1)) == text


def test_only_one_part_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """However long a document is, words are looked for in no more than a part of it."""
    looked_at = []
    words = Vocabulary.words

    def counted(self: Any, text: str) -> Any:
        looked_at.append(len(text))
        return words(self, text)

    monkeypatch.setattr(Vocabulary, "words", counted)
    seen("duck " * 1_000_000, "ducks")
    assert sum(looked_at) <= PART


def test_a_page_is_cut_between_tags_and_what_is_not_shown_is_no_part_of_it() -> None:
    page = "<script>" + "x" * 300_000 + "</script>" + "<p>Ducks swim.</p>" * 10_000
    first = seen(page, "ducks", html=True)
    assert first.parts == 2
    assert texts(first) == ["Ducks swim."] * len(first.paragraphs)
    assert len(first.paragraphs) + len(seen(page, part=2, html=True).paragraphs) == 10_000
