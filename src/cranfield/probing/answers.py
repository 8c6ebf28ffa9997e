"""What an engine answers: whether it can be read, and what is wrong with it."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from cranfield.errors import DataError, shorten
from cranfield.formats.format import NOTHING
from cranfield.probing.paths import JsonPath, Step, value_at
from cranfield.registry import is_number

if TYPE_CHECKING:
    from cranfield.render.json_form import Json

# What can be wrong with an answer that can be read, and what is done then.
FAULTS = {
    "partial": "the engine says that it has not searched everything for {topics}",
    "duplicates": "a document stands twice in the answer to {topics}; it counts where it stands first",
    "too-many": "more documents than asked for in the answer to {topics}; the first ones count",
    "not-descending": "scores do not descend in the answer to {topics}: the run ranks by score, "
    "`--scores none` keeps the engine's order",
    "unstable": "another ranking when asked again, for {topics}; the first one counts",
}

ANY_ID = "Ids are never changed. jsonl and json hold any id, csv and tsv hold blanks: -o RUN.jsonl."


class AnswerError(DataError):
    """There is no answer that can be read, for good.

    >>> issubclass(AnswerError, DataError)
    True
    """


class Answer(NamedTuple):
    """Documents in the engine's order with their scores, and which of the FAULTS it has."""

    ids: tuple[str, ...]
    scores: tuple[float, ...]
    faults: tuple[str, ...] = ()


class AnswerForm(NamedTuple):
    """Where an answer has its documents, and where their scores; without those, ranks count."""

    ids: JsonPath
    scores: JsonPath | None
    partial: tuple[tuple[Step, ...], ...] = ()  # where an engine says that it has not searched everything
    format: str = ""  # in which the run will be written
    unfit: re.Pattern[str] = NOTHING  # what no id may have in it there

    def read(self, body: bytes, depth: int) -> Answer:
        """
        >>> form = AnswerForm(JsonPath.parse("found[*].id"), JsonPath.parse("found[*].score"))
        >>> form.read(b'{"found": [{"id": "d1", "score": 2}, {"id": 7, "score": 1.5}]}', 10)
        Answer(ids=('d1', '7'), scores=(2.0, 1.5), faults=())
        """
        document = _parsed(body)
        partial = any(_is_set(document, way) for way in self.partial)
        ids = [_id(value, number) for number, value in enumerate(self._values(self.ids, document), start=1)]
        if self.unfit.search("".join(ids)):
            self._check_ids(ids)
        if self.scores is None:
            return _looked_at(ids, [float(len(ids) - place) for place in range(len(ids))], depth, partial)
        scores = [_score(value, number) for number, value in enumerate(self._values(self.scores, document), start=1)]
        if len(scores) != len(ids):
            raise AnswerError(
                f"{len(ids)} documents at {self.ids.text}, but {len(scores)} scores at {self.scores.text}"
            )
        return _looked_at(ids, scores, depth, partial)

    def _check_ids(self, ids: Sequence[str]) -> None:
        for number, id in enumerate(ids, start=1):
            if self.unfit.search(id):
                raise AnswerError(
                    f"the id of document {number} is {shorten(json.dumps(id), 60)}, which cannot be written as "
                    f"{self.format}",
                    remedy=ANY_ID,
                )

    def _values(self, path: JsonPath, document: Json) -> list[Json]:
        try:
            return path.values(document)
        except LookupError as error:
            raise AnswerError(f"the answer has nothing at {path.text}: {error.args[0]}") from None


def _is_set(document: Json, way: Sequence[Step]) -> bool:
    try:
        return bool(value_at(document, way))
    except LookupError:
        return False


def _parsed(body: bytes) -> Json:
    try:
        document: Json = json.loads(body)
    except (ValueError, RecursionError):
        text = beginning(body, 200)
        told = f"begins '{shorten(text, 60)}'" if body else "is empty"
        raise AnswerError(f"the answer is not JSON: it {told}") from None
    return document


def beginning(body: bytes, most: int) -> str:
    """The first bytes of an answer as text, with a sign where it goes on.

    >>> beginning(b"no such index", 7)
    'no such…'
    """
    text = body[:most].decode("utf-8", "replace")
    return f"{text}…" if len(body) > most else text


def _id(value: Json, number: int) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str) or not value:
        raise AnswerError(
            f"the id of document {number} is {shorten(json.dumps(value), 60)}, not a text or a whole number"
        )
    try:
        value.encode()
    except UnicodeEncodeError:
        raise AnswerError(
            f"the id of document {number} is {shorten(json.dumps(value), 60)}, which no file can hold"
        ) from None
    return value


def _score(value: Json, number: int) -> float:
    if not isinstance(value, int | float) or not is_number(value):
        raise AnswerError(
            f"the score of document {number} is {shorten(json.dumps(value), 60)}, not a finite number",
            remedy="Where the engine has no scores, --scores none (scores='none') lets its order count.",
        )
    return float(value)


def _looked_at(ids: Sequence[str], scores: Sequence[float], depth: int, partial: bool) -> Answer:
    """The answer as it counts: no document twice, no more than asked for."""
    faults = {
        "partial": partial,
        "duplicates": len(set(ids)) < len(ids),
        "too-many": len(ids) > depth,
        "not-descending": any(later > earlier for earlier, later in pairwise(scores)),
    }
    first: dict[str, float] = {}
    for id, score in zip(ids, scores, strict=True):
        first.setdefault(id, score)
    kept = list(first.items())[:depth]
    return Answer(
        tuple(id for id, _ in kept),
        tuple(score for _, score in kept),
        tuple(code for code, is_so in faults.items() if is_so),
    )
