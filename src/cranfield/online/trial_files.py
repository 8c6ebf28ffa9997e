"""Trials in files, `experiment.toml`: what is wrong with one is told with its line, its key and the nearest key."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime, time
from difflib import get_close_matches
from typing import Any, TypeAlias

from cranfield.errors import DataError, UsageError, shorten
from cranfield.formats.sources import open_source, parsed_toml, utf8_text
from cranfield.online.trial import Cap, Exclusions, Guardrail, Looks, OwnMetric, Trial
from cranfield.online.trial_checks import TrialError

PLAN = "experiment.toml"
Taken: TypeAlias = "Callable[[Any], bool]"


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(map(_is_text, value))


def _are_numbers(value: Any) -> bool:
    return isinstance(value, list) and all(map(_is_number, value))


def _is_table(value: Any) -> bool:
    return isinstance(value, dict)


def _is_time(value: Any) -> bool:
    return isinstance(value, datetime)


def _is_flag(value: Any) -> bool:
    return isinstance(value, bool)


# What may stand in each table: the key, what it must be, and that in words.
Keys: TypeAlias = "Mapping[str, tuple[Taken, str]]"
TEXT, NUMBER, WHOLE = (_is_text, "a text"), (_is_number, "a number"), (_is_whole, "a whole number")
TEXTS, TABLE, FLAG = (_are_texts, "a list of texts"), (_is_table, "a table"), (_is_flag, "true or false")
TIME = (_is_time, "a date with a time, as 2026-11-02T00:00:00Z")
TOP: Keys = {
    "name": TEXT,
    "unit": TEXT,
    "primary": TEXT,
    "secondary": TEXTS,
    "segments": TEXTS,
    "covariates": TEXTS,
    "maximum": WHOLE,
    "alpha": NUMBER,
    "salt": TEXT,
    "start": TIME,
    "end": TIME,
    "arms": TABLE,
    "guardrails": TABLE,
    "looks": TABLE,
    "exclusions": TABLE,
    "winsorise": TABLE,
    "metrics": TABLE,
}
LOOKS: Keys = {
    "spending": TEXT,
    "at": (_are_numbers, "a list of numbers"),
    "number": WHOLE,
    "parameter": NUMBER,
}
EXCLUSIONS: Keys = {
    "bots": FLAG,
    "duplicates": FLAG,
    "queries_per_day": NUMBER,
    "late_hours": NUMBER,
    "units": TEXTS,
}
GUARDRAIL: Keys = {"margin": NUMBER, "relative": NUMBER}
CAP: Keys = {"quantile": NUMBER, "at": NUMBER}
METRIC: Keys = {"numerator": TEXT, "denominator": TEXT, "better": TEXT}


def read_trial(path: str) -> Trial:
    """The trial of a file, as `experiment.toml`; mistakes are told with their lines.

    >>> read_trial("examples/experiment.toml").primary
    'ctr'
    """
    text = utf8_text(open_source(path))
    return _TrialFile(path, text).trial(parsed_toml(text.encode("utf-8", "surrogateescape"), path))


def plan_beside(files: Sequence[str]) -> str:
    """The plan in the folder of a log: `experiment.toml`.

    >>> plan_beside(["examples"]), plan_beside(["examples/events.jsonl"])
    ('examples/experiment.toml', 'examples/experiment.toml')
    """
    folder = files[0] if os.path.isdir(files[0]) else os.path.dirname(files[0])
    path = os.path.normpath(os.path.join(folder, PLAN))
    if not os.path.exists(path):
        raise UsageError(f"there is no {PLAN} beside {shorten(files[0], 80)}: name the plan, --trial FILE")
    return path


def _spelt(value: Any) -> str:
    """A value as it is written in TOML, as far as a line has room for it.

    >>> print(_spelt(date(2025, 10, 20)), _spelt(True), _spelt("a"), _spelt([1, 2.5, "b"]))
    2025-10-20 true "a" [1, 2.5, "b"]
    """
    if isinstance(value, list):
        return f"[{', '.join(map(_spelt, value))}]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {_spelt(of)}" for key, of in value.items()) + "}"
    return value.isoformat() if isinstance(value, date | time) else json.dumps(value, ensure_ascii=False)


def _whole_day(key: str, value: Any) -> str | None:
    """The remedy where a day stands in place of a time."""
    if not isinstance(value, date) or isinstance(value, datetime):
        return None
    return f"Write {key} = {value.isoformat()}T00:00:00Z: when that day begins, in UTC."


class _TrialFile:
    """A file that is read, to say where in it something is wrong."""

    def __init__(self, path: str, text: str) -> None:
        self.path, self.lines = path, text.splitlines()

    def trial(self, document: dict[str, Any]) -> Trial:
        self.check(document, TOP, "")
        for key in ("name", "primary", "arms"):
            if key not in document:
                remedy = "[arms]\n    control = 1\n    new = 1" if key == "arms" else f'{key} = "…"'
                raise DataError(f"has no {key}", source=self.path, remedy=f"Write {remedy}")
        simple: dict[str, Any] = {
            key: document[key] for key in ("name", "unit", "primary", "maximum", "salt") if key in document
        }
        listed: dict[str, Any] = {
            key: tuple(document[key]) for key in ("secondary", "segments", "covariates") if key in document
        }
        times: dict[str, Any] = {key: self.utc(document[key], key) for key in ("start", "end") if key in document}
        if "alpha" in document:
            simple["alpha"] = float(document["alpha"])
        try:
            return Trial(
                **simple,
                **listed,
                **times,
                arms=self.weights(document["arms"]),
                guardrails=tuple(self.guardrail(*pair) for pair in document.get("guardrails", {}).items()),
                looks=self.looks(document.get("looks", {})),
                exclusions=self.exclusions(document.get("exclusions", {})),
                winsorise={name: self.cap(name, cap) for name, cap in document.get("winsorise", {}).items()},
                metrics={name: self.own(name, own) for name, own in document.get("metrics", {}).items()},
                source=self.path,
            )
        except TrialError as error:
            raise self.fault(str(error), error.key) from None

    def check(self, table: Mapping[str, Any], known: Keys, inside: str) -> None:
        """That a table has only keys that are known, each with what it must be."""
        for key, value in table.items():
            where = f"{inside}{key}"
            if key not in known:
                near = get_close_matches(key, known, 1)
                remedy = f"Did you mean {near[0]}?" if near else f"There is {', '.join(known)}."
                raise self.fault(f"there is no key {where}", where, remedy)
            takes, wanted = known[key]
            if not takes(value):
                raise self.fault(
                    f"{where} is {wanted}, not {shorten(_spelt(value), 60)}", where, _whole_day(key, value)
                )

    def fault(self, message: str, key: str, remedy: str | None = None) -> DataError:
        """What is wrong, with the line of the key where it can be found."""
        line = self.line_of(key)
        text = None if line is None else self.lines[line - 1]
        return DataError(message, source=self.path, line=line, text=text, remedy=remedy)

    def line_of(self, key: str) -> int | None:
        """The line on which a key stands, as far as looking at lines can tell; of `a.b`, b below [a]."""
        *tables, last = [part.strip() for part in key.split(".")]
        inside, best = "", None
        for number, line in enumerate(self.lines, start=1):
            head = re.match(r"\s*\[\s*([^\[\]]+?)\s*\]", line)
            if head:
                inside = head[1].replace('"', "").replace("'", "")
                if inside == key:
                    return number
                continue
            named = re.match(r"""\s*("[^"]*"|'[^']*'|[\w.-]+)\s*=""", line)
            name = named[1].strip("\"'") if named else ""
            if inside == ".".join(tables) and name == last:
                return number
            if tables and inside == ".".join(tables[:-1]) and name == tables[-1]:
                best = number  # a table on one line
        return best

    def utc(self, value: datetime, key: str) -> datetime:
        if value.tzinfo is None:
            raise self.fault(f"{key} has no time zone", key, f"Write {value.isoformat()}Z if it is in UTC.")
        return value.astimezone(UTC)

    def weights(self, table: Mapping[str, Any]) -> dict[str, float]:
        self.check(table, dict.fromkeys(table, NUMBER), "arms.")
        return {arm: float(weight) for arm, weight in table.items()}

    def guardrail(self, name: str, value: Any) -> Guardrail:
        if _is_number(value):
            return Guardrail(name, float(value))
        key = f"guardrails.{name}"
        if not isinstance(value, dict):
            raise self.fault(f"{key} is a margin, or a table with margin or relative", key)
        self.check(value, GUARDRAIL, f"{key}.")
        if len(value) != 1:
            raise self.fault(f"{key} has a margin, or a relative one: one of both", key)
        relative = "relative" in value
        return Guardrail(name, float(value["relative" if relative else "margin"]), relative)

    def looks(self, table: Mapping[str, Any]) -> Looks:
        self.check(table, LOOKS, "looks.")
        if "at" in table and "number" in table:
            raise self.fault("looks has shares (at) and a number of equal ones: one of both", "looks.number")
        count = table.get("number", 1)
        if not 1 <= count <= 100:
            raise self.fault(f"looks.number is from 1 to 100, not {count}", "looks.number")
        at = tuple(map(float, table["at"])) if "at" in table else tuple((i + 1) / count for i in range(count))
        parameter = None if "parameter" not in table else float(table["parameter"])
        return Looks(table.get("spending", Looks().spending), at, parameter)

    def exclusions(self, table: Mapping[str, Any]) -> Exclusions:
        self.check(table, EXCLUSIONS, "exclusions.")
        given: dict[str, Any] = {key: float(value) if _is_number(value) else value for key, value in table.items()}
        return Exclusions(**{**given, "units": tuple(given.get("units", ()))})

    def cap(self, name: str, value: Any) -> Cap:
        if _is_number(value):
            return Cap(quantile=float(value))
        key = f"winsorise.{name}"
        if not isinstance(value, dict):
            raise self.fault(f"{key} is a quantile, or a table with at = VALUE", key)
        self.check(value, CAP, f"{key}.")
        quantile, at = value.get("quantile"), value.get("at")
        return Cap(None if quantile is None else float(quantile), None if at is None else float(at))

    def own(self, name: str, value: Any) -> OwnMetric:
        key = f"metrics.{name}"
        if not isinstance(value, dict):
            raise self.fault(f"{key} is a table with numerator and denominator", key)
        self.check(value, METRIC, f"{key}.")
        if "numerator" not in value:
            raise self.fault(f"{key} has no numerator", key, 'Write numerator = "count(click)", or a column.')
        return OwnMetric(**value)
