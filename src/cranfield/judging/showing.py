"""What an assessor sees of a document: its paragraphs, the best of them, words marked, and nothing that does harm.

However long a document is, one part of it is looked at, so that nobody waits; the others can be had one by one.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice, takewhile
from math import ceil, sqrt
from typing import Literal, NamedTuple, TypeAlias

from cranfield.errors import UsageError, plural, shorten
from cranfield.quotation.passages import CUT, Vocabulary, Word
from cranfield.render.escaping import readable
from cranfield.search.tokens import word_pattern
from cranfield.texts.document_store import StoredDocument
from cranfield.texts.markup import text_of_html, without_unseen

PART = 100_000  # characters that are shown at once
PARAGRAPH = 600  # characters of sentences that are gathered where a text has no paragraphs of its own
LONGEST_TITLE = 1_000
MOST_SCAN_TERMS, LONGEST_SCAN_TERM = 100, 100
_EDGE = 2_000  # characters before the end of a part in which a better place to cut is looked for
_STRONG = 200  # letters that decide about the direction

Mark: TypeAlias = Literal["", "question", "scan"]
Direction: TypeAlias = Literal["ltr", "rtl", "auto"]


class ShownStretch(NamedTuple):
    """A part of a paragraph; `mark` says if it is a word of the question, or one that the assessor looks for."""

    text: str
    mark: Mark = ""


Paragraph: TypeAlias = tuple[ShownStretch, ...]


@dataclass(frozen=True, kw_only=True)
class ShownDocument:
    """A document, or a part of a long one, in paragraphs of stretches; `best` is the number of the best paragraph.

    `best` is None where there is no text. `words` counts the words of what is shown, `part` and `parts` say which part
    that is (from 1), and `note` is a sentence for the reader where there is something to know, else empty.
    """

    title: Paragraph
    paragraphs: tuple[Paragraph, ...]
    best: int | None
    direction: Direction
    words: int
    part: int = 1
    parts: int = 1
    note: str = ""


def shown(
    document: StoredDocument,
    question: str,
    scan_terms: Sequence[str] = (),
    *,
    weights: Mapping[str, float] | None = None,
    part: int = 1,
) -> ShownDocument:
    """What to show of a document to someone who judges it.

    The best paragraph is the one with the most different words of the question, then with the most; with `weights` of
    terms, from a learner, the one whose terms weigh most. `scan_terms` are words or phrases that the assessor looks
    for, taken as they are written but for the case; one with * at its end stands for every word that begins so. Of a
    long document one part is looked at, by its number from 1.

    >>> ducks = StoredDocument("d1", "Ducks", "Some birds fly.\\n\\nDucks swim, and dive.")
    >>> seen = shown(ducks, "swimming ducks", ["div*"])
    >>> seen.best, [stretch.text for stretch in seen.paragraphs[1] if stretch.mark == "question"]
    (1, ['Ducks', 'swim'])
    >>> [stretch for stretch in seen.paragraphs[1] if stretch.mark == "scan"]
    [ShownStretch(text='dive', mark='scan')]
    """
    piece = part_of(document.text, part, html=document.html)
    text = readable(text_of_html(piece.text) if document.html else piece.text)
    title = readable(document.title[: LONGEST_TITLE + 1])
    title = " ".join((title if len(title) <= LONGEST_TITLE else title[: LONGEST_TITLE - 1] + CUT).split())
    vocabulary, scan = Vocabulary(), scan_pattern(tuple(scan_terms))
    terms = vocabulary.terms(readable(question))
    paragraphs = _paragraphs(text)
    words = [vocabulary.words(paragraph) for paragraph in paragraphs]
    return ShownDocument(
        title=_stretches(title, vocabulary.words(title), terms, scan),
        paragraphs=tuple(
            _stretches(paragraph, own, terms, scan) for paragraph, own in zip(paragraphs, words, strict=True)
        ),
        best=_best(words, terms, weights or {}) if paragraphs else None,
        direction=_direction(f"{text[:PART]} {title}"),
        words=sum(map(len, words)),
        part=part,
        parts=piece.parts,
        note=piece.note or ("" if paragraphs else "This document has no text."),
    )


def scan_pattern(terms: tuple[str, ...]) -> re.Pattern[str] | None:
    """What an assessor looks for, as one pattern; None where that is nothing. It is an error if a term is none.

    >>> scan_pattern(("duck*", "mute swan", "c++")).findall("Ducklings and a mute\\n swan. A C++ duct.")
    ['Ducklings', 'mute\\n swan', 'C++']
    >>> scan_pattern(("*",))
    Traceback (most recent call last):
    cranfield.errors.UsageError: '*' is nothing to look for: write a word, or the beginning of one with * behind it
    """
    if len(terms) > MOST_SCAN_TERMS:
        raise UsageError(f"{len(terms):,} terms to look for; there may be {MOST_SCAN_TERMS}")
    for term in terms:
        if not "".join(term.split()).strip("*"):
            told = f"'{shorten(term, 40)}' is nothing to look for"
            raise UsageError(f"{told}: write a word, or the beginning of one with * behind it")
        if len(term) > LONGEST_SCAN_TERM:
            raise UsageError(f"'{shorten(term, 40)}' has more than {LONGEST_SCAN_TERM} characters to look for")
    return _compiled(terms) if terms else None


@lru_cache(maxsize=256)  # the same assessor sees one document after another
def _compiled(terms: tuple[str, ...]) -> re.Pattern[str]:
    letter = word_pattern().pattern.removeprefix(r"\w").removesuffix("+")  # with the marks that Hindi and others need
    groups: dict[tuple[str, str], list[str]] = {}
    for term in sorted({" ".join(term.split()) for term in terms}, key=lambda term: (-len(term), term)):
        word = term.rstrip("* ")
        before = f"(?<!{letter})" if _is_apart(word[0]) else ""
        after = f"{letter}*" if word != term else f"(?!{letter})" if _is_apart(word[-1]) else ""
        groups.setdefault((before, after), []).append(r"\s+".join(map(re.escape, word.split())))
    alternatives = [f"{before}(?:{'|'.join(words)}){after}" for (before, after), words in groups.items()]
    return re.compile("|".join(alternatives), re.IGNORECASE)


def _is_apart(character: str) -> bool:
    """Whether it is a letter of a script that has blanks between words; in others a word stands amidst letters."""
    if not character.isalnum():
        return False
    name = unicodedata.name(character, "")
    return unicodedata.east_asian_width(character) not in "WF" and not name.startswith(_UNSPACED)


_UNSPACED = ("THAI", "LAO", "KHMER", "MYANMAR", "TIBETAN", "KATAKANA", "HIRAGANA", "HALFWIDTH")


class TextPart(NamedTuple):
    """A part of a text, how many there are, and where there are several a sentence that says which this is."""

    text: str
    parts: int
    note: str


def part_of(text: str, part: int = 1, *, html: bool = False) -> TextPart:
    """A part of a text that is too long to be shown at once; HTML is cut between tags, once what is not shown is out.

    >>> part_of("word " * 50_000, 3).note
    'This document is long: here is part 3 of 3, characters 200,001 to 250,000 of 250,000.'
    """
    whole = without_unseen(text) if html else text
    parts = max(1, ceil(len(whole) / PART))
    if not 1 <= part <= parts:
        raise UsageError(f"the document has {plural(parts, 'part')}, and part {part:,} is none of them")
    start, end = _edge(whole, part - 1, html), _edge(whole, part, html)
    where = f"characters {start + 1:,} to {end:,} of {len(whole):,}"
    note = f"This document is long: here is part {part:,} of {parts:,}, {where}." if parts > 1 else ""
    return TextPart(whole[start:end], parts, note)


def _edge(text: str, number: int, html: bool) -> int:
    """Where a part ends: after a paragraph, a line or a word, if there is one near; of HTML before a tag."""
    at = number * PART
    if not 0 < at < len(text):
        return min(at, len(text))
    near = text[at - _EDGE : at]
    for end in ("<",) if html else ("\n\n", "\n", " "):
        place = near.rfind(end)
        if place >= 0:
            return at - _EDGE + place + (0 if html else len(end))
    return at


_BLANK_LINES = re.compile(r"\n\s*\n")
_SENTENCE = re.compile(r"""[.!?…]["'”’»)\]]{0,5}\s+|[。！？।۔]\s*""")


def _paragraphs(text: str) -> list[str]:
    """What blank lines part; where there are none, or far apart, sentences up to a length."""
    pieces = [piece.strip("\n") for piece in _BLANK_LINES.split(text) if piece.strip()]
    longest = PARAGRAPH if len(pieces) == 1 else 2 * PARAGRAPH
    return [part for piece in pieces for part in ([piece] if len(piece) <= longest else _gathered(piece))]


def _gathered(text: str) -> list[str]:
    ends = [match.end() for match in _SENTENCE.finditer(text)]
    runs: list[str] = []
    start = good = 0  # where the run begins, and the last end of a sentence that is not too far from there
    for end in (*ends, len(text)):
        if end - start > PARAGRAPH and good > start:
            runs.append(text[start:good])
            start = good
        while end - start > PARAGRAPH:  # a sentence that is too long itself
            cut = max(text.rfind(blank, start, start + PARAGRAPH) for blank in " \n")
            cut = cut + 1 if cut > start else _between_characters(text, start + PARAGRAPH)
            runs.append(text[start:cut])
            start = cut
        good = end
    return [run.strip() for run in (*runs, text[start:]) if run.strip()]


def _between_characters(text: str, at: int) -> int:
    """Not between a letter and its marks."""
    marks = takewhile(lambda place: unicodedata.category(text[place])[0] == "M", range(at, at - 20, -1))
    return at - sum(1 for _ in marks)


def _best(words: Sequence[Sequence[Word]], terms: frozenset[str], weights: Mapping[str, float]) -> int:
    """The number of the paragraph to show first; the first of several that are as good."""
    if weights:
        values = [_value({word.term for word in own if word.term}, weights) for own in words]
        if max(values) > 0:
            return values.index(max(values))
    hits = [[word.term for word in own if word.term in terms] for own in words]
    scores = [(len(set(own)), len(own)) for own in hits]
    return scores.index(max(scores))


def _value(terms: Iterable[str], weights: Mapping[str, float]) -> float:
    """What a linear learner makes of the terms, each counted once, for a vector of length 1: long is not better."""
    present = list(terms)
    return sum(weights.get(term, 0.0) for term in sorted(present)) / sqrt(len(present) or 1)


def _stretches(text: str, words: Sequence[Word], terms: frozenset[str], scan: re.Pattern[str] | None) -> Paragraph:
    """A text in parts; where a word is of both kinds, it is what the assessor looks for."""
    spans: list[tuple[int, int, Mark]] = []
    if scan is not None:
        spans = [(match.start(), match.end(), "scan") for match in scan.finditer(text)]
    own = iter([*spans, (len(text), len(text), "")])
    start, end, _ = next(own)
    for word in words:
        while end <= word.start and end < len(text):
            start, end, _ = next(own)
        if word.term in terms and word.end <= start:
            spans.append((word.start, word.end, "question"))
    stretches: list[ShownStretch] = []
    done = 0
    for first, last, mark in sorted(spans):
        stretches += [ShownStretch(text[done:first]), ShownStretch(text[first:last], mark)]
        done = last
    return tuple(stretch for stretch in (*stretches, ShownStretch(text[done:])) if stretch.text)


def _direction(text: str) -> Direction:
    """That of most of the first letters: a single name in another script at the beginning decides nothing."""
    kinds = (unicodedata.bidirectional(character) for character in text)
    strong = list(islice((kind for kind in kinds if kind in ("L", "R", "AL")), _STRONG))
    if not strong:
        return "auto"
    left = strong.count("L")
    if 2 * left == len(strong):
        return "ltr" if strong[0] == "L" else "rtl"
    return "ltr" if 2 * left > len(strong) else "rtl"
