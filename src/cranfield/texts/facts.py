"""What a collection's file says besides where its parts are: what its grades mean, and where its topics are from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite

from cranfield.errors import DataError, shorten


@dataclass(frozen=True, kw_only=True)
class CollectionFacts:
    """Where the topics of a collection were taken from, and what each grade is called.

    >>> CollectionFacts(topic_source="a query log", grades={0.0: "not relevant", 1.0: "relevant"}).grades[1]
    'relevant'
    """

    topic_source: str | None = None
    grades: Mapping[float, str] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return self.topic_source is not None or bool(self.grades)


NO_FACTS = CollectionFacts()


def facts_of(topic_source: object, grades: object, path: str) -> CollectionFacts:
    """CollectionFacts as a TOML file has them, where every key is a text.

    >>> facts_of("a query log", {"0": "not relevant", "2": "relevant"}, "collection.toml").grades
    {0.0: 'not relevant', 2.0: 'relevant'}
    """
    if topic_source is not None and not (isinstance(topic_source, str) and topic_source.strip()):
        remedy = 'Write topic_source = "taken from a query log", or what it is.'
        raise DataError("topic_source is a text, where the topics are from", source=path, remedy=remedy)
    remedy = 'Write [grades] and below it a line for each grade, as 0 = "not relevant".'
    if not isinstance(grades, Mapping):
        raise DataError("grades are a table of what each grade is called", source=path, remedy=remedy)
    called: dict[float, str] = {}
    for grade, label in grades.items():
        number = _number(grade)
        if number is None or not isinstance(label, str) or not label.strip():
            entry = shorten(f"{grade} = {label!r}", 60)
            raise DataError(f"no grade with what it is called: {entry}", source=path, remedy=remedy)
        if number in called:
            raise DataError(f"the grade {number:g} is called two things", source=path, remedy=remedy)
        called[number] = label
    return CollectionFacts(topic_source=topic_source, grades=called)


def as_toml(facts: CollectionFacts) -> str:
    """CollectionFacts as lines of a collection's file; what follows them must not be a single entry.

    >>> print(as_toml(CollectionFacts(topic_source="a query log", grades={0.5: "partly", 1.0: "relevant"})))
    topic_source = "a query log"
    [grades]
    "0.5" = "partly"
    1 = "relevant"
    """
    lines = [] if facts.topic_source is None else [f"topic_source = {_quoted(facts.topic_source)}"]
    if facts.grades:
        lines.append("[grades]")
    for grade, label in facts.grades.items():
        key = str(int(grade)) if grade == int(grade) else f'"{grade!r}"'
        lines.append(f"{key} = {_quoted(label)}")
    return "\n".join(lines)


def _quoted(text: str) -> str:
    """A text as TOML writes it, which is as JSON does but for one character."""
    import json

    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if isfinite(number) else None
