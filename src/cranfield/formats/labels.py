"""Grades that are words: which number each of them is.

NTCIR's levels `L0`, `L1`, … are their numbers by themselves. Any other label needs a table, `{"S": 3, "A": 2, …}`:
nobody but who made the judgements knows how much more one is than another.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from math import isfinite
from typing import TypeAlias, TypeVar, cast

from cranfield.errors import DataError, UsageError, shorten, some

V = TypeVar("V")
Labels: TypeAlias = Mapping[str, float]
LEVELS: Labels = {f"L{level}": float(level) for level in range(100)}
NO_LABELS: Labels = {}
MOST_LABELS = 20  # in one file: more are something else
_WORD = r"[^\W\d_][\w+./-]{0,29}"
# Letters as collections are known to use them, best first.
_SCALES: tuple[tuple[str, str], ...] = (
    ("SABC", "S highly relevant, A relevant, B partially, C not, as in NTCIR's older collections"),
    ("ABCD", "if A is the best and D is not relevant"),
)


def is_label(text: str) -> bool:
    """Whether a text may be a label of a grade: a word, and no number.

    >>> is_label("A"), is_label("not-relevant"), is_label("inf"), is_label("1_0"), is_label("2.5")
    (True, True, False, False, False)
    """
    return bool(re.fullmatch(_WORD, text)) and text.lower() not in ("nan", "inf", "infinity")


def checked(given: Labels) -> dict[str, float]:
    """A table of labels, or an error that says what is wrong with it.

    >>> checked({"A": 2, "B": 1})
    {'A': 2.0, 'B': 1.0}
    """
    if not isinstance(given, Mapping):
        raise UsageError(f"labels are a table of label = number, not {shorten(repr(given), 60)}")
    for label, number in given.items():
        if not isinstance(label, str) or not is_label(label):
            raise UsageError(f"a label of a grade is a word without blanks, not {shorten(repr(label), 60)}")
        if isinstance(number, bool) or not isinstance(number, int | float) or not isfinite(number):
            raise UsageError(f"the grade of the label '{label}' is a number, not {shorten(repr(number), 60)}")
    return {label: float(number) for label, number in given.items()}


def read_labels(text: str) -> dict[str, float]:
    """A table of labels as it is typed, `S=3,A=2,B=1,C=0`, or the name of a TOML file with a line for each.

    >>> read_labels("S=3, A=2,C=0")
    {'S': 3.0, 'A': 2.0, 'C': 0.0}
    """
    if text.endswith(".toml"):
        from cranfield.formats.sources import read_toml

        try:
            return checked(_of_file(read_toml(text)))
        except UsageError as error:
            raise DataError(str(error), source=text) from None
    table: dict[str, float] = {}
    for entry in filter(None, (part.strip() for part in text.split(","))):
        label, equals, number = (part.strip() for part in entry.partition("="))
        if not (label and equals and number):
            raise UsageError(f"labels are given as S=3,A=2,B=1,C=0 or as a .toml file, not as '{shorten(text, 60)}'")
        if label in table:
            raise UsageError(f"the label '{label}' is given twice")
        try:
            table[label] = float(number)
        except ValueError:
            raise UsageError(f"the grade of the label '{label}' is a number, not '{shorten(number, 60)}'") from None
    if not table:
        raise UsageError("no labels are given: they are written as S=3,A=2,B=1,C=0")
    return checked(table)


def _of_file(table: Mapping[str, Labels]) -> Labels:
    """The labels of a file that has nothing else, or those of a collection's file under [labels]."""
    return cast("Labels", table.get("labels", table))


def grade_of(value: V, labels: Labels) -> V | float:
    """The number of a label, and any other value as it is.

    >>> grade_of("L2", LEVELS), grade_of(1, LEVELS), grade_of("high", LEVELS)
    (2.0, 1, 'high')
    """
    return labels.get(value, value) if isinstance(value, str) else value


def labels_of(fields: Iterable[str]) -> list[str]:
    """Those of some fields that may be labels, each once, in order; as many as a scale may have.

    >>> labels_of(["A", "1", "B", "A"])
    ['A', 'B']
    """
    seen: dict[str, None] = {}
    for field in fields:
        if field not in seen and is_label(field):
            seen[field] = None
            if len(seen) > MOST_LABELS:
                break
    return list(seen)


def remedies(values: Iterable[object], known: Labels) -> tuple[str | None, str | None]:
    """What to write for the labels among some grades that have no number; nothing where there are none.

    >>> remedies([1, "L2"], LEVELS), remedies(["A", "L2", 3], LEVELS)[1]  # doctest: +ELLIPSIS
    ((None, None), "Grades are labels here: A. Say which number each is: --labels 'A=2' (S highly...")
    """
    found = labels_of(value for value in values if isinstance(value, str) and value not in known)
    return missing(found, known) if found and known else (None, None)


def missing(found: Sequence[str], known: Labels) -> tuple[str, str]:
    """What to write for labels in judgements that have no number: in Python, and on the command line.

    >>> missing(["B", "A", "C"], LEVELS)[1]  # doctest: +ELLIPSIS
    "Grades are labels here: A, B, C. Say which number each is: --labels 'A=2,B=1,C=0' (S highly..."
    >>> missing(["high", "low"], LEVELS)[0]  # doctest: +ELLIPSIS
    "Grades are labels here: high, low. Say which number each is: reading=Reading(labels={..."
    """
    given = {} if known is LEVELS else known
    letters, why = next(
        ((scale, why) for scale, why in _SCALES if not given and set(found) <= set(scale)),
        ("", "0 for not relevant, more for what is more relevant"),
    )
    numbers: dict[str, str] = {label: f"{number:g}" for label, number in given.items()}
    lacking = sorted(label for label in found if label not in given)
    order = sorted(lacking, key=letters.index) if letters else lacking
    for label in order[:MOST_LABELS]:
        numbers.setdefault(label, str(len(letters) - 1 - letters.index(label)) if letters else "NUMBER")
    which = "The table of labels lacks" if given else "Grades are labels here:"
    told = f"{which} {some(order, MOST_LABELS)}. Say which number each is: "
    table = ", ".join(f"'{label}': {number}" for label, number in numbers.items())
    typed = ",".join(f"{label}={number}" for label, number in numbers.items())
    return f"{told}reading=Reading(labels={{{table}}}) ({why}).", f"{told}--labels '{typed}' ({why})."
