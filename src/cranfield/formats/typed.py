"""What people type by hand: rankings as grades, lists of numbers, lists of names.

A ranking is grades in rank order, `3,2,3,0,1,2`, or `323012` where every grade is one digit; `-` is a document that
nobody judged; after `/` follow the grades of judged documents that were not retrieved. `;` goes between topics.
"""

from __future__ import annotations

from typing import NamedTuple

from cranfield.errors import UsageError, shorten
from cranfield.numerals import decimal

UNJUDGED = "-"
GRADES = "Grades are numbers with commas between them, as 3,2,0.5, or single digits without, as 320; - is not judged."
SHOWN_AROUND = 30  # characters on either side of what is wrong


class TypedRanking(NamedTuple):
    """Grades in rank order, None where nobody judged, and those of judged documents that were not retrieved."""

    retrieved: tuple[float | None, ...]
    missed: tuple[float, ...]

    @property
    def judged(self) -> tuple[float, ...]:
        """All grades, retrieved or not."""
        return (*(grade for grade in self.retrieved if grade is not None), *self.missed)


def typed_ranking(text: str) -> TypedRanking:
    """One ranking.

    >>> typed_ranking("3,0.5,-/2"), typed_ranking("30-/2").judged
    (TypedRanking(retrieved=(3.0, 0.5, None), missed=(2.0,)), (3.0, 0.0, 2.0))
    """
    return _ranking(_Typed(text, 0, text))


def typed_topics(text: str) -> tuple[TypedRanking, ...]:
    """The rankings of several topics; none of them is empty.

    >>> [ranking.retrieved for ranking in typed_topics("1,0;0,1")]
    [(1.0, 0.0), (0.0, 1.0)]
    """
    topics = _Typed(text, 0, text).split(";")
    for number, topic in enumerate(topics, start=1):
        if not topic.text.strip():
            where = "nothing is typed" if len(topics) == 1 else f"topic {number} is empty"
            raise topic.wrong(where, GRADES if len(topics) == 1 else "; goes between topics, not after the last one.")
    rankings = tuple(_ranking(topic) for topic in topics)
    for number, (topic, ranking) in enumerate(zip(topics, rankings, strict=True), start=1):
        if not ranking.judged:
            raise topic.wrong(f"topic {number} has no judged document", "Without grades there is nothing to score.")
    return rankings


def typed_numbers(text: str) -> tuple[float, ...]:
    """Numbers with commas between them.

    >>> typed_numbers("0.05, 0.1, 0.5")
    (0.05, 0.1, 0.5)
    """
    return tuple(_number(item, "a number", "Numbers go with commas between them, as 0.3,0.5.") for item in _items(text))


def typed_names(text: str) -> tuple[str, ...]:
    """Names with commas between them, each once.

    >>> typed_names("d3, d1, d2")
    ('d3', 'd1', 'd2')
    """
    names: list[str] = []
    for item in _items(text):
        if item.text in names:
            raise item.wrong(f"'{shorten(item.text, 40)}' stands there twice", "A ranking has a document once.")
        names.append(item.text)
    return tuple(names)


class _Typed(NamedTuple):
    """A part of what was typed, and where it starts."""

    whole: str
    start: int
    text: str

    def split(self, separator: str) -> list[_Typed]:
        parts, start = [], self.start
        for text in self.text.split(separator):
            parts.append(_Typed(self.whole, start, text))
            start += len(text) + len(separator)
        return parts

    def stripped(self) -> _Typed:
        blanks = len(self.text) - len(self.text.lstrip())
        return _Typed(self.whole, self.start + blanks, self.text.strip())

    def characters(self) -> list[_Typed]:
        return [_Typed(self.whole, self.start + i, character) for i, character in enumerate(self.text)]

    def wrong(self, what: str, remedy: str) -> UsageError:
        """An error that shows the place in what was typed."""
        size = min(max(len(self.text), 1), SHOWN_AROUND)
        first, end = max(self.start - SHOWN_AROUND, 0), self.start + size
        before, after = "…" if first else "", "…" if end + SHOWN_AROUND < len(self.whole) else ""
        text = before + self.whole[first : end + SHOWN_AROUND].replace("\t", " ") + after
        mark = " " * (len(before) + self.start - first) + "^" * size
        return UsageError(
            f"{what} (character {self.start + 1} of what is typed)", text.replace("\t", " "), mark, remedy
        )


def _items(text: str) -> list[_Typed]:
    items = [item.stripped() for item in _Typed(text, 0, text).split(",")]
    empty = next((item for item in items if not item.text), None)
    if empty is not None:
        raise empty.wrong(
            "nothing stands between the commas" if len(items) > 1 else "nothing is typed", "Leave it out."
        )
    return items


def _ranking(topic: _Typed) -> TypedRanking:
    retrieved, *missed = topic.split("/")
    if len(missed) > 1:
        raise (
            missed[1]
            ._replace(start=missed[1].start - 1, text="/")
            .wrong("a second /", "What stands after one / was judged and not retrieved; ; goes between topics.")
        )
    commas = "," in topic.whole
    grades = tuple(_unjudged_or_grade(item) for item in _grades(retrieved, commas))
    return TypedRanking(grades, tuple(_grade(item) for part in missed for item in _grades(part, commas)))


def _grades(given: _Typed, commas: bool) -> list[_Typed]:
    """The grades of one side of the stroke; `commas` says that what was typed has some, here or elsewhere."""
    part = given.stripped()
    if "," in part.text:
        items = [item.stripped() for item in part.split(",")]
        return items if items[-1].text else items[:-1]  # 12, is one grade, where 12 could be two
    if not all(character in "0123456789-" for character in part.text):
        # 32x1 has a slip at the x; 0.5 is one number, and in 3 2 1 commas are forgotten
        return part.characters() if part.text.replace(UNJUDGED, "").isalnum() else [part]
    if commas and len(part.text) > 1:
        both = f"'{part.text},' if it is one, '{','.join(part.text)}' if they are {len(part.text)}"
        raise part.wrong(f"'{shorten(part.text, 40)}' may be one grade or {len(part.text)}", f"Write {both}.")
    return part.characters()


def _unjudged_or_grade(item: _Typed) -> float | None:
    return None if item.text == UNJUDGED else _grade(item)


def _grade(item: _Typed) -> float:
    if not item.text:
        raise item.wrong("nothing stands between the commas", "Write - for an unjudged document, 0 for a poor one.")
    if item.text == UNJUDGED:
        raise item.wrong(
            "an unjudged document that was not retrieved", "It counts nowhere: after / stand grades alone."
        )
    return _number(item, "a grade", GRADES)


def _number(item: _Typed, what: str, remedy: str) -> float:
    number = decimal(item.text)
    if number is None:
        raise item.wrong(f"'{shorten(item.text, 40)}' is not {what}", remedy)
    return number
