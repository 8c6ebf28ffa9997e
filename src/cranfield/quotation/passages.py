"""Which words of a document stand for words of a question, and the passage that has most of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from typing import NamedTuple, Protocol

from cranfield.errors import LibraryError
from cranfield.search.tokens import Analysis, word_pattern

LENGTH = 240  # characters of a passage
NEAR = 60  # a passage that would begin this close to the start of the text begins there
SHORTEST = 4  # letters of a word that is looked for where no list of stop words is at hand
CUT = "…"


class Word(NamedTuple):
    """A word where it stands in a text, in lower case, and the term that it stands for; None for a stop word."""

    start: int
    end: int
    form: str
    term: str | None


class _Terms(Protocol):
    def terms(self, text: str) -> list[str]:
        """The terms of a text, in order."""


class _AsWritten:
    """Words as they are written, for where the libraries of `search` are not installed."""

    def terms(self, text: str) -> list[str]:
        return [word for word in word_pattern().findall(text.lower()) if len(word) >= SHORTEST]


class Vocabulary:
    """Terms of words, as `search` has them by default; each word is stemmed once.

    >>> vocabulary = Vocabulary()
    >>> [word.term for word in vocabulary.words("The Cats of a town")], vocabulary.terms("a cat")
    ([None, 'cat', None, 'town'], frozenset({'cat'}))
    """

    def __init__(self) -> None:
        self.stems = True
        self._terms: _Terms
        try:
            self._terms = Analysis()
        except LibraryError:
            self.stems, self._terms = False, _AsWritten()
        self._known: dict[str, str | None] = {}

    def words(self, text: str) -> list[Word]:
        """Every word of a text, in order."""
        places = ((match.start(), match.end(), match.group().lower()) for match in word_pattern().finditer(text))
        return [Word(start, end, form, self._term(form)) for start, end, form in places]

    def terms(self, text: str) -> frozenset[str]:
        """The terms of a question."""
        return frozenset(self._terms.terms(text))

    def _term(self, form: str) -> str | None:
        if form not in self._known:
            self._known[form] = next(iter(self._terms.terms(form)), None)
        return self._known[form]


def passage(text: str, hits: Sequence[Word], length: int = LENGTH) -> str:
    """The part of a text with the most different words that are looked for, then with the most words, then the first.

    >>> text = "Some ducks live here. " + "Nothing of interest is told. " * 3 + "Ducks swim, and swimming is easy."
    >>> hits = [word for word in Vocabulary().words(text) if word.term in ("duck", "swim")]
    >>> passage(text, hits, 60)
    '… of interest is told. Ducks swim, and swimming is easy.'
    >>> passage(text, [], 30)
    'Some ducks live here. Nothing …'
    """
    if len(text) <= length:
        return text
    first, last = _densest(hits, length)
    spare = length - (last - first)
    start = first - spare // 2
    if start < NEAR and last <= length:
        start = 0
    start = max(0, min(start, len(text) - length))
    if start:  # from the beginning of a word
        blank = text.find(" ", start, first)
        start = start if blank < 0 else blank + 1
    end = min(len(text), start + length)
    if end < len(text):
        blank = text.rfind(" ", max(last, start + 1), end + 1)
        end = end if blank < 0 else blank
    before, after = CUT + " " if start else "", " " + CUT if end < len(text) else ""
    return before + text[start:end] + after


def _densest(hits: Sequence[Word], length: int) -> tuple[int, int]:
    """Where the words stand that are best shown together, from the start of the first to the end of the last."""
    best, place = (0, 0), (0, 0)
    inside: Counter[str | None] = Counter()
    end = 0
    for start, hit in enumerate(hits):
        while end < len(hits) and (hits[end].end - hit.start <= length or end == start):
            inside[hits[end].term] += 1
            end += 1
        score = (len(inside), end - start)
        if score > best:
            best, place = score, (hit.start, min(hits[end - 1].end, hit.start + length))
        inside[hit.term] -= 1
        if not inside[hit.term]:
            del inside[hit.term]
    return place


class Stretch(NamedTuple):
    """A part of a text, and whether it is marked."""

    text: str
    marked: bool = False


def marked(text: str, forms: Collection[str]) -> list[Stretch]:
    """A text in parts: words that are among the forms, in whatever case, and what stands between them.

    >>> marked("Cats, dogs", {"cats"})
    [Stretch(text='Cats', marked=True), Stretch(text=', dogs', marked=False)]
    """
    stretches: list[Stretch] = []
    done = 0
    for match in word_pattern().finditer(text):
        if match.group().lower() in forms:
            stretches += [Stretch(text[done : match.start()]), Stretch(match.group(), marked=True)]
            done = match.end()
    return [stretch for stretch in (*stretches, Stretch(text[done:])) if stretch.text]
