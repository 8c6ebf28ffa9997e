"""From text to terms: words in lower case, stop words taken out, the rest stemmed."""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from types import ModuleType

from cranfield import libraries
from cranfield.errors import UsageError
from cranfield.formats.sources import open_source, utf8_text

WORD = r"\w[\w\p{M}]+"  # of two letters at least; Python's re has no name for marks, see word_pattern
NONE = "none"


def library(module: str) -> ModuleType:
    """A library of the `search` extra; if it is not installed, the error says how to install it.

    >>> library("bm25s").__name__
    'bm25s'
    """
    return libraries.library(module, "searching")


def stemmers() -> list[str]:
    """The stemmers there are: those of Snowball, by language.

    >>> "english" in stemmers() and "german" in stemmers()
    True
    """
    return sorted(library("Stemmer").algorithms())


def stop_word_lists() -> list[str]:
    """The names of the lists of stop words that the libraries have.

    `english` is NLTK's list and so are those of other languages, `lucene` is Lucene's short one (all as in bm25s);
    `scikit-learn` is the long English one of that library.

    >>> [name for name in stop_word_lists() if name in ("english", "german", "lucene", "scikit-learn")]
    ['english', 'german', 'lucene', 'scikit-learn']
    """
    return sorted(_LISTS | _languages().keys())


def stop_words(name: str | os.PathLike[str]) -> frozenset[str]:
    """A list of stop words by its name, or from a file with a word a line; `none` is the empty one.

    >>> "the" in stop_words("english"), len(stop_words("none"))
    (True, 0)
    """
    if name == NONE:
        return frozenset()
    if name in _LISTS:
        return frozenset(_LISTS[str(name)]())
    languages = _languages()
    if name in languages:
        return frozenset(languages[str(name)])
    if not os.path.exists(name):
        raise UsageError(
            f"no list of stop words '{name}', nor a file of that name; there are {NONE}, {', '.join(stop_word_lists())}"
        )
    return frozenset(word_pattern().findall(utf8_text(open_source(name)).lower()))


def is_stop_word_file(name: str) -> bool:
    """Whether stop words are from a file, not from a list that has a name."""
    return name != NONE and name not in stop_word_lists()


@dataclass(frozen=True)
class Analysis:
    """How text becomes terms: a stemmer of Snowball, and stop words, by name or from a file; `none` for neither.

    `stopped` are the words themselves, read when this is made: a file may change later, or be gone.

    >>> Analysis("english", "english").terms("The ducks are swimming, the Duck swims.")
    ['duck', 'swim', 'duck', 'swim']
    >>> Analysis("none", "none").terms("The ducks")
    ['the', 'ducks']
    """

    stemmer: str = "english"
    stop_words: str = field(default="english", compare=False)
    stopped: frozenset[str] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if self.stemmer != NONE and self.stemmer not in stemmers():
            raise UsageError(f"no stemmer '{self.stemmer}'; there are {NONE}, {', '.join(stemmers())}")
        if self.stopped is None:
            object.__setattr__(self, "stopped", stop_words(self.stop_words))

    def terms(self, text: str) -> list[str]:
        """The terms of a text, in order."""
        stopped = self.stopped or ()
        return self._stem([word for word in word_pattern().findall(text.lower()) if word not in stopped])

    def stems(self, words: list[str]) -> list[str]:
        """What each word becomes; for many different words, of which none is remembered.

        >>> Analysis().stems(["ducks", "swimming"])
        ['duck', 'swim']
        """
        return words if self.stemmer == NONE else list(library("Stemmer").Stemmer(self.stemmer, 0).stemWords(words))

    @cached_property
    def _stem(self) -> Callable[[list[str]], list[str]]:
        if self.stemmer == NONE:
            return list
        stem: Callable[[list[str]], list[str]] = library("Stemmer").Stemmer(self.stemmer).stemWords
        return stem


@cache
def word_pattern() -> re.Pattern[str]:
    """Words as in bm25s and scikit-learn, but not cut at the marks with which Hindi, Tamil and others write vowels."""
    return re.compile(WORD.replace(r"\p{M}", marks()))


@cache
def marks() -> str:
    """The characters that go on with a word but begin none: marks of the basic plane."""
    return "".join(filter(lambda character: unicodedata.category(character)[0] == "M", map(chr, range(0x10000))))


def _stop_words_of_bm25s() -> ModuleType:
    """The lists alone: with the package around them come compilers and 80 MB."""
    package = find_spec("bm25s")
    places = None if package is None else package.submodule_search_locations
    path = os.path.join(places[0], "stopwords.py") if places else ""
    spec = spec_from_file_location("bm25s_stop_words", path) if os.path.exists(path) else None
    if spec is None or spec.loader is None:
        return library("bm25s.stopwords")  # or it says how to install it
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _languages() -> dict[str, tuple[str, ...]]:
    """bm25s's lists, which it names STOPWORDS_GERMAN and so on."""
    lists = vars(_stop_words_of_bm25s())
    named = {name.removeprefix("STOPWORDS_").lower(): words for name, words in lists.items() if name.isupper()}
    return {name: words for name, words in named.items() if not name.startswith("en")}


_LISTS: dict[str, Callable[[], tuple[str, ...] | frozenset[str]]] = {
    "english": lambda: _stop_words_of_bm25s().STOPWORDS_EN_PLUS,
    "lucene": lambda: _stop_words_of_bm25s().STOPWORDS_EN,
    "scikit-learn": lambda: library("sklearn.feature_extraction.text").ENGLISH_STOP_WORDS,
}
