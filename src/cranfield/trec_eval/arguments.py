"""What a user of trec_eval can ask for, and the ways in which it can fail."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from cranfield.errors import CranfieldError, DuplicateError, UsageError
from cranfield.formats.reading import DEFAULT, Reading
from cranfield.policy import Policy

Version = Literal["9.0", "10.0"]
VERSIONS: tuple[Version, ...] = get_args(Version)
FORMATS = ("qrels", "qrels_jg", "qrels_prefs", "prefs")
# Exit codes of trec_eval: the usage, a file, a calculation, nothing to average.
USAGE, FILE, CALCULATION, NO_TOPICS = 1, 2, 4, 7


@dataclass(frozen=True)
class Options:
    """The options of one call, under the names of what they do."""

    version: Version = "10.0"
    measures: tuple[str, ...] = ("official",)
    per_topic: bool = False  # -q
    complete: bool = False  # -c
    summary: bool = True  # not -n
    level: int = 1  # -l
    depth: int | None = None  # -M
    judged_only: bool = False  # -J
    documents: int = 0  # -N
    format: str = "qrels"  # -R
    zscores: str | None = None  # -Z
    reading: Reading = DEFAULT  # what columns are called, where files have names for them

    @property
    def policy(self) -> Policy:
        return Policy(depth=self.depth, judged_only=self.judged_only)


class TrecEvalError(CranfieldError):
    """Something went wrong as it would in trec_eval; `code` is the exit code it would leave.

    >>> CalculationError("no").code
    4
    """

    code = USAGE

    def __init__(self, message: str, *, remedy: str | None = None) -> None:
        super().__init__(message, *([] if remedy is None else [remedy]))


class UnknownMeasureError(TrecEvalError):
    """-m names nothing."""


class BadParametersError(TrecEvalError):
    """A measure cannot be set up with the parameters given."""

    code = FILE


class CalculationError(TrecEvalError):
    """The files do not go together, or do not give what a measure needs."""

    code = CALCULATION


class NoTopicsError(TrecEvalError):
    """No topic is in both files."""

    code = NO_TOPICS


def exit_code(error: CranfieldError) -> int:
    """The exit code that trec_eval would leave.

    >>> exit_code(DuplicateError("twice")), exit_code(UsageError("what?"))
    (4, 1)
    """
    if isinstance(error, TrecEvalError):
        return error.code
    return CALCULATION if isinstance(error, DuplicateError) else USAGE if isinstance(error, UsageError) else FILE
