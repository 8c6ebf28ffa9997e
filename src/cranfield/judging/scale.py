"""The scale that documents are graded on: values, what they are called, the key of each, and what is relevant."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from itertools import pairwise
from math import isfinite

from cranfield.errors import DataError, UsageError, either, shorten
from cranfield.formats import suffix_of
from cranfield.formats.sources import open_source
from cranfield.numerals import whole
from cranfield.render.json_form import Json

# What keys do besides grading, on the page and in the terminal; arrows and Escape are no characters.
OWN_KEYS = {
    "u": "undo",
    "x": "can't tell",
    "l": "later",
    "n": "note",
    "h": "marks on and off",
    "q": "leave",
    " ": "whole document",
    "?": "help",
}
LONGEST_LABEL = 80


@dataclass(frozen=True, kw_only=True)
class Grade:
    """One grade: the value that judgements have, what it is called, the key that gives it, and its gain.

    >>> Grade(value=2, label="relevant", key="2", gain=2.0).label
    'relevant'
    """

    value: int
    label: str
    key: str
    gain: float

    def __post_init__(self) -> None:
        if isinstance(self.value, bool) or not isinstance(self.value, int):
            raise UsageError(f"the value of a grade is a whole number, not {self.value!r}")
        if not isinstance(self.label, str) or not self.label.strip() or len(self.label) > LONGEST_LABEL:
            shown = shorten(str(self.label))
            raise UsageError(f"grade {self.value}: a label has 1 to {LONGEST_LABEL} characters, not {shown!r}")
        if not isinstance(self.key, str) or len(self.key) != 1 or not self.key.isprintable():
            shown = shorten(str(self.key))
            raise UsageError(f"grade {self.value}: a key is one character that can be typed and seen, not {shown!r}")
        if self.key.casefold() in OWN_KEYS:
            used = OWN_KEYS[self.key.casefold()]
            raise UsageError(f"grade {self.value}: the key {self.key!r} is taken, for {used}")
        if isinstance(self.gain, bool) or not isinstance(self.gain, int | float) or not isfinite(self.gain):
            raise UsageError(f"grade {self.value}: a gain is a number, not {self.gain!r}")


@dataclass(frozen=True, kw_only=True)
class Scale:
    """Grades from the lowest to the highest; from `threshold` on a document is relevant.

    A negative grade (spam, say) is one that can be given; in judgements it means, as everywhere, that the document was
    looked at and counts as unjudged.

    >>> scale = Scale.usual()
    >>> [f"{grade.key} {grade.label}" for grade in scale.grades]
    ['0 not relevant', '1 partially relevant', '2 relevant', '3 highly relevant']
    >>> scale.relevant(1), scale.relevant(0), scale.of_key("3").value
    (True, False, 3)
    """

    grades: tuple[Grade, ...]
    threshold: int

    def __post_init__(self) -> None:
        if len(self.grades) < 2:
            raise UsageError("a scale has two grades or more")
        for lower, higher in pairwise(self.grades):
            if higher.value <= lower.value:
                raise UsageError(f"grades rise: {higher.value} can't stand after {lower.value}")
            if higher.gain < lower.gain:
                raise UsageError(f"grade {higher.value} has less gain, {higher.gain:g}, than {lower.value}")
        for what, seen in (("key", [grade.key for grade in self.grades]), ("label", [g.label for g in self.grades])):
            twice = [text for text, count in Counter(map(str.casefold, seen)).items() if count > 1]
            if twice:
                raise UsageError(f"two grades have the {what} {shorten(twice[0])!r}")
        if isinstance(self.threshold, bool) or self.threshold not in self.values or self.threshold < 1:
            above = [str(value) for value in self.values if value > 0]
            choice = either(above) if above else "and here none is above 0"
            raise UsageError(f"the threshold is the lowest grade that is relevant, {choice}, not {self.threshold!r}")

    @classmethod
    def usual(cls) -> Scale:
        """Four grades, 0 to 3, relevant from 1.

        >>> Scale.usual().threshold
        1
        """
        labels = ("not relevant", "partially relevant", "relevant", "highly relevant")
        grades = tuple(Grade(value=n, label=label, key=str(n), gain=float(n)) for n, label in enumerate(labels))
        return cls(grades=grades, threshold=1)

    @property
    def values(self) -> tuple[int, ...]:
        """The values of the grades.

        >>> Scale.usual().values
        (0, 1, 2, 3)
        """
        return tuple(grade.value for grade in self.grades)

    def relevant(self, grade: int) -> bool:
        """Whether a grade counts as relevant."""
        return grade >= self.threshold

    def of_value(self, value: int) -> Grade:
        """The grade of a value.

        >>> Scale.usual().of_value(7)
        Traceback (most recent call last):
        cranfield.errors.DataError: 7 is no grade of the scale, which has 0, 1, 2 or 3
        """
        for grade in self.grades:
            if grade.value == value and not isinstance(value, bool):
                return grade
        raise DataError(f"{value!r} is no grade of the scale, which has {either(map(str, self.values))}")

    def of_key(self, key: str) -> Grade | None:
        """The grade that a key gives, in whatever case it was typed; None for another key."""
        return next((grade for grade in self.grades if grade.key.casefold() == key.casefold()), None)

    def to_json(self) -> dict[str, Json]:
        """The scale as JSON.

        >>> Scale.usual().to_json()["grades"][1]
        {'value': 1, 'label': 'partially relevant', 'key': '1', 'gain': 1.0}
        """
        return {"grades": [asdict(grade) for grade in self.grades], "threshold": self.threshold}

    @classmethod
    def from_json(cls, data: object, source: str | None = None) -> Scale:
        """The scale that JSON says; `source` is where it stands, for messages.

        >>> Scale.from_json(Scale.usual().to_json()) == Scale.usual()
        True
        """
        if not isinstance(data, Mapping) or set(data) != {"grades", "threshold"}:
            raise _wrong("a scale has grades and threshold, and nothing else", data, source)
        if not isinstance(data["grades"], list | tuple):
            raise _wrong("the grades of a scale are a list", data["grades"], source)
        for grade in data["grades"]:
            if not isinstance(grade, Mapping) or set(grade) != {"value", "label", "key", "gain"}:
                raise _wrong("a grade has value, label, key and gain, and nothing else", grade, source)
        try:
            return cls(grades=tuple(Grade(**grade) for grade in data["grades"]), threshold=data["threshold"])
        except UsageError as error:
            raise DataError(str(error), source=source) from None


def parse_scale(text: str) -> Scale:
    """A scale as it is written in short, VALUE=LABEL with commas between, and VALUE:KEY=LABEL to choose a key.

    Without one the key is the value where that is a digit. The gain is the value, and relevant what is above 0: a file
    says it in full.

    >>> scale = parse_scale("-2:s=spam,0=not,1=relevant")
    >>> [(grade.value, grade.key, grade.label) for grade in scale.grades], scale.threshold
    ([(-2, 's', 'spam'), (0, '0', 'not'), (1, '1', 'relevant')], 1)
    """
    grades = []
    for part in text.split(","):
        left, between, label = part.partition("=")
        number, _, key = left.strip().partition(":")
        value = whole(number.strip().removeprefix("-"))
        if value is None or not between:
            raise UsageError(
                f"{shorten(part.strip())!r} is no grade: write VALUE=LABEL, as 0=not,1=relevant, or the name of a file"
            )
        value = -value if number.strip().startswith("-") else value
        if not key and not 0 <= value <= 9:
            raise UsageError(f"grade {value} needs a key, as {value}:s={shorten(label)}")
        grades.append(Grade(value=value, label=label.strip(), key=key or str(value), gain=float(max(value, 0))))
    return Scale(grades=tuple(grades), threshold=min((g.value for g in grades if g.value > 0), default=0))


def read_scale(given: str) -> Scale:
    """The scale in a file, .json or .toml in the form of `to_json`, or as `parse_scale` takes it.

    >>> read_scale("0=no,1=yes").values
    (0, 1)
    """
    suffix = suffix_of(given)
    if "=" in given or suffix not in (".json", ".toml"):
        return parse_scale(given)
    content = bytes(open_source(given).data)
    try:
        if suffix == ".json":
            return Scale.from_json(json.loads(content), given)
        import tomllib

        return Scale.from_json(tomllib.loads(content.decode()), given)
    except (ValueError, RecursionError) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(f"not {suffix[1:].upper()}: {error}", source=given) from None


def _wrong(message: str, data: object, source: str | None) -> DataError:
    return DataError(f"{message}, not {shorten(repr(data))}", source=source)
