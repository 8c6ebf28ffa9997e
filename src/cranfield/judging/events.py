"""What an assessor did, one thing at a time: the only record of judging, which is added to and never changed."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from datetime import UTC, datetime
from typing import Final, Literal, TypeAlias, get_args

from cranfield.errors import DataError, either, shorten, some
from cranfield.render.json_form import Json

Kind: TypeAlias = Literal["grade", "cannot", "later", "undo", "adjudicate"]
Reason: TypeAlias = Literal["question unclear", "document unreadable", "language", "other"]
View: TypeAlias = Literal["passage", "whole"]
Origin: TypeAlias = Literal["page", "api", "terminal", "import"]

REASONS: Final[tuple[Reason, ...]] = get_args(Reason)
_CHOICES: Final = {"kind": get_args(Kind), "reason": REASONS, "view": get_args(View), "origin": get_args(Origin)}
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", re.ASCII)
LARGEST = 2**53 - 1  # whole numbers that JSON carries everywhere


@dataclass(frozen=True, kw_only=True, slots=True)
class Event:
    """One thing that an assessor did to one document of one topic.

    | kind | what it says | has |
    |---|---|---|
    | `grade` | this is how relevant it is | `grade` |
    | `cannot` | I can't tell | `reason` |
    | `later` | show it to me again later | |
    | `undo` | an earlier event of mine does not hold | `undoes`, its key |
    | `adjudicate` | this holds, whatever the opinions | `grade`, or a `reason` why there is none |

    `assessor` is a pseudonym. `key` is chosen by whoever makes the event, and is never used twice by an assessor: what
    is sent again is the same event. `repeat` says that the assessor has judged this pair before and was not told.
    `scale` and `guideline` are the versions that were shown. `at` is UTC.

    >>> event = Event(topic="q1", document="d7", assessor="ann", kind="grade", grade=2, key="1", at=moment(0))
    >>> event.at, Event.from_json(event.to_json()) == event
    ('1970-01-01T00:00:00.000Z', True)
    """

    topic: str
    document: str
    assessor: str
    kind: Kind
    key: str
    at: str
    grade: int | None = None
    reason: Reason | None = None
    note: str = ""
    repeat: bool = False
    undoes: str | None = None
    active_ms: int = 0
    away_ms: int = 0
    view: View = "passage"
    scale: int = 1
    guideline: int = 1
    origin: Origin = "api"

    def __post_init__(self) -> None:
        for name in ("topic", "document", "assessor", "key"):
            if not isinstance(getattr(self, name), str) or not getattr(self, name):
                raise _fault(name, "is a text that is not empty", getattr(self, name))
        for name in ("active_ms", "away_ms", "scale", "guideline"):
            if not _whole(getattr(self, name)) or not 0 <= getattr(self, name) <= LARGEST:
                raise _fault(name, "is a whole number from 0", getattr(self, name))
        if not isinstance(self.note, str):
            raise _fault("note", "is a text", self.note)
        if not isinstance(self.repeat, bool):
            raise _fault("repeat", "is true or false", self.repeat)
        for name, choices in _CHOICES.items():
            if getattr(self, name) not in choices and not (name == "reason" and self.reason is None):
                raise _fault(name, f"is {either(choices)}", getattr(self, name))
        if not isinstance(self.at, str) or not _is_moment(self.at):
            raise _fault("at", "is a time as 2026-01-31T09:30:00.000Z", self.at)
        self._check_kind()

    def _check_kind(self) -> None:
        """An event has what its kind says, and nothing of another kind."""
        if self.grade is not None and (not _whole(self.grade) or abs(self.grade) > LARGEST):
            raise _fault("grade", "is a whole number", self.grade)
        if self.undoes is not None and (not isinstance(self.undoes, str) or not self.undoes):
            raise _fault("undoes", "is the key of an event", self.undoes)
        has = {name for name in ("grade", "reason", "undoes") if getattr(self, name) is not None}
        wanted: dict[str, list[set[str]]] = {
            "grade": [{"grade"}],
            "cannot": [{"reason"}],
            "later": [set()],
            "undo": [{"undoes"}],
            "adjudicate": [{"grade"}, {"reason"}],
        }
        if has not in wanted[self.kind]:
            choice = " or ".join(" and ".join(names) or "neither grade nor reason" for names in wanted[self.kind])
            given = " and ".join(sorted(has)) or "nothing of the kind"
            raise DataError(f"an event of kind {self.kind} has {choice}, not {given}")

    def resends(self, other: Event) -> bool:
        """Whether this is an earlier event sent once more: the same in everything but the time it arrived.

        >>> first = Event(topic="q", document="d", assessor="a", kind="later", key="1", at=moment(0))
        >>> Event(topic="q", document="d", assessor="a", kind="later", key="1", at=moment(60)).resends(first)
        True
        """
        return replace(self, at=other.at) == other

    def to_json(self) -> dict[str, Json]:
        """All fields by name."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: object) -> Event:
        """The event that JSON says: all fields, and no other.

        >>> Event.from_json({"topic": "q1"})
        Traceback (most recent call last):
        cranfield.errors.DataError: an event needs document, assessor, kind, key, at and 11 more
        """
        if not isinstance(data, Mapping):
            raise DataError(f"an event is an object, not {shorten(repr(data))}")
        names = [field.name for field in fields(cls)]
        unknown = [name for name in data if name not in names]
        if unknown:
            raise DataError(f"an event has no {shorten(str(unknown[0]))!r}")
        missing = [name for name in names if name not in data]
        if missing:
            raise DataError(f"an event needs {some(missing)}")
        return cls(**data)

    @property
    def line(self) -> str:
        """The event as one line of JSON, in ASCII, without the end of the line.

        >>> Event(topic="q", document="d", assessor="a", kind="later", key="1", at=moment(0)).line[:42]
        '{"topic":"q","document":"d","assessor":"a"'
        """
        return json.dumps(self.to_json(), allow_nan=False, separators=(",", ":"))


def moment(seconds: float) -> str:
    """A time in seconds since 1970 as events have it.

    >>> moment(1.5)
    '1970-01-01T00:00:01.500Z'
    """
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def now() -> str:
    """The time of this moment."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _is_moment(text: str) -> bool:
    if not _MOMENT.fullmatch(text):
        return False
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


def _whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _fault(name: str, wanted: str, value: object) -> DataError:
    return DataError(f"{name} of an event {wanted}, not {shorten(repr(value))}")
