"""`read_answers`: the answers of a questionnaire from a table, a line a sheet (wide) or a line an answer (long)."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, cast

import numpy as np

from cranfield.errors import DataError, UsageError, either, plural, some
from cranfield.evaluation.findings import Finding
from cranfield.evaluation.printed import PrintedInNotebooks
from cranfield.formats.headed import headed_table
from cranfield.formats.json_text import json_objects
from cranfield.formats.sources import no_rows, open_source, utf8_text
from cranfield.numerals import decimal
from cranfield.statistics.significance import Floats
from cranfield.studies.scales import Scale, plain_name

if TYPE_CHECKING:
    from cranfield.formats.given import File, Scalar

# What columns may be called, by what they are; compared without case, blanks and signs.
ROLES = {
    "participant": ("participant", "participantid", "subject", "user", "userid", "respondent", "person"),
    "system": ("system", "run", "condition", "interface"),
    "topic": ("topic", "topicid", "task", "taskid", "query", "queryid"),
    "item": ("item", "question", "statement"),
    "answer": ("answer", "response", "rating", "value"),
}
PERCENT, MARKS = (0, 100), 21  # the range of NASA-TLX, and the marks on its paper form
ROUNDING = 1e-10  # below, scores are the same
OPEN = ("", "na", "n/a")  # what stands where nothing was answered
Records: TypeAlias = "Sequence[Mapping[str, Scalar]]"


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Answers(PrintedInNotebooks):
    """Answer sheets: who answered, about which system, on which topic (None without topics), and the score.

    `values[sheet, item]` are the answers as given, NaN where there is none; `scores` are NaN where a sheet has none.
    """

    scale: Scale
    source: str
    participants: tuple[str, ...]
    systems: tuple[str, ...]
    topics: tuple[str, ...] | None
    values: Floats
    scores: Floats
    warnings: tuple[Finding, ...]

    def _rendered(self, format: str) -> str:
        from cranfield.studies.study_tables import render_answers

        return render_answers(self, format)


class TableLine(NamedTuple):
    """A line of a table: its number (None in memory), its text, and what each column has."""

    number: int | None
    text: str | None
    fields: Mapping[str, object]


class Sheet(NamedTuple):
    """Who answered, about what, and the fields of the items by their names; and the line of each."""

    who: tuple[str, str, str]
    fields: dict[str, tuple[TableLine, str]]


def read_answers(source: File | Records, scale: Scale, *, columns: Mapping[str, str] | None = None) -> Answers:
    """Reads answers to a scale: CSV, TSV or JSON lines from a path or an open file, or a list of dicts.

    There are columns for participant and system, perhaps for topic (or task), and either one for each item (wide) or
    one for the item and one for the answer (long). `columns` says what they are called where that does not tell:
    {"participant": "who"}. An empty field, or NA, is an answer that is missing.

    >>> from cranfield.studies import find_scale
    >>> rows = [{"participant": "p1", "system": "A", "satisfaction": 4}, {"participant": "p1", "system": "B"}]
    >>> answers = read_answers(rows, find_scale("satisfaction"))
    >>> answers.systems, answers.scores
    (('A',), array([4.]))
    >>> print(*answers.warnings)
    the answers: 1 of 2 lines has no answer to satisfaction, left out
    """
    lines, label = _lines(source)
    if not lines:
        raise no_rows(label, label)
    names = list(dict.fromkeys(name for line in lines for name in line.fields))
    roles = _roles(names, columns or {}, label, lines[0])
    wanted = (*scale.items, *scale.weights)
    if "item" in roles and "answer" in roles:
        noun, (sheets, unused) = "sheet", _long_sheets(lines, roles, scale, label)
    else:
        roles = {role: name for role, name in roles.items() if role not in ("item", "answer")}
        noun, (sheets, unused) = "line", _wide_sheets(lines, names, roles, scale, label)
    kept = [sheet for sheet in sheets if any(_is_given(sheet.fields.get(name)) for name in wanted)]
    if not kept:
        raise DataError(f"nobody answered anything of {scale.name}", source=label)
    findings = []
    if unused:
        message = f"not of {scale.name}, left alone: {some(unused)}"
        findings.append(Finding("other-columns", label, message, doubtful=False))
    if len(kept) < len(sheets):
        left = len(sheets) - len(kept)
        message = f"{left:,} of {plural(len(sheets), noun)} {'has' if left == 1 else 'have'} no answer to {scale.name}"
        findings.append(Finding("no-answer", label, f"{message}, left out", doubtful=False))
    return _answers(kept, scale, label, findings)


def _answers(sheets: list[Sheet], scale: Scale, label: str, findings: list[Finding]) -> Answers:
    values = np.array([[_number(sheet, item, scale, label) for item in scale.items] for sheet in sheets])
    weights = np.array([_weights(sheet, scale, label) for sheet in sheets])
    topics = tuple(sheet.who[2] for sheet in sheets)
    if any(topics) and not all(topics):
        sheet = next(sheet for sheet in sheets if not sheet.who[2])
        line = next(iter(sheet.fields.values()))[0]
        remedy = "Give every line of this scale a topic, or none."
        raise DataError(
            "no topic, but other lines have one", source=label, line=line.number, text=line.text, remedy=remedy
        )
    scores = _scores(values, weights, scale)
    missing = int(np.isnan(values).any(axis=1).sum())
    if missing:
        findings.append(_told(values, scores, scale, label))
    highest = float(np.nanmax(values))
    if (scale.low, scale.high) == PERCENT and highest <= MARKS:
        message = (
            f"no answer to {scale.name} is above {highest:g}, of {scale.high:g}: were they marked from 0 to 20, or "
            "from 1 to 21? Then say so: --range 0:20 or 1:21 (Scale(low=, high=) in Python)"
        )
        findings.append(Finding("narrow-answers", label, message))
    known = scores[np.isfinite(scores)]
    if len(known) > 1 and np.ptp(known) <= ROUNDING:
        message = f"all {len(known):,} scores of {scale.name} are {known[0]:g}: they tell nothing apart"
        findings.append(Finding("same-scores", label, message))
    if not len(known):
        raise DataError(
            f"no sheet has a score: each of {plural(len(scores), 'sheet')} lacks an answer",
            source=label,
            remedy="missing = 'mean' (--missing mean) takes the mean of what was answered, where that is half or more.",
        )
    return Answers(
        scale=scale,
        source=label,
        participants=tuple(sheet.who[0] for sheet in sheets),
        systems=tuple(sheet.who[1] for sheet in sheets),
        topics=topics if any(topics) else None,
        values=values,
        scores=scores,
        warnings=tuple(findings),
    )


def _scores(values: Floats, weights: Floats, scale: Scale) -> Floats:
    """The score of each sheet; NaN where too much is missing."""
    turned = np.array([scale.turned(item, column) for item, column in zip(scale.items, values.T, strict=True)]).T
    given = ~np.isnan(turned)
    total = (weights * given).sum(axis=1)
    enough = given.all(axis=1) if scale.missing == "leave-out" else given.mean(axis=1) >= 0.5
    enough &= ~np.isnan(weights).any(axis=1)
    means = np.full(len(values), np.nan)
    np.divide(np.where(given, turned * weights, 0).sum(axis=1), total, out=means, where=enough & (total > 0))
    return np.asarray(scale.score(means))  # type: ignore[arg-type]  # the formula is the same for all at once


def _told(values: Floats, scores: Floats, scale: Scale, label: str) -> Finding:
    """Which answers are missing, and what becomes of the sheets."""
    missing = np.isnan(values)
    items = [item for item, column in zip(scale.items, missing.T, strict=True) if column.any()]
    sheets, without = int(missing.any(axis=1).sum()), int(np.isnan(scores).sum())
    message = f"{plural(int(missing.sum()), 'answer')} missing on {plural(sheets, 'sheet')} ({some(items)})"
    done = {
        "leave-out": f"no score for {'it' if sheets == 1 else 'them'}, left out",
        "mean": f"the mean of the others stands for them; {without:,} with less than half have no score",
    }[scale.missing]
    return Finding("missing-answers", label, f"{message}: {done}")


def _is_given(field: tuple[TableLine, str] | None) -> bool:
    return field is not None and _text(field[0].fields.get(field[1])).casefold() not in OPEN


def _number(sheet: Sheet, item: str, scale: Scale, label: str) -> float:
    """An answer; an error where it is none of those that the scale has."""
    if not _is_given(sheet.fields.get(item)):
        return float("nan")
    line, column = sheet.fields[item]
    text = _text(line.fields[column])
    number = decimal(text)
    kind = "a whole number" if scale.whole else "a number"
    if number is None or not scale.low <= number <= scale.high or (scale.whole and number % 1):
        wrong = "Leave it empty if nothing was answered"
        wrong += (
            "; write a decimal comma as a point"
            if number is None and decimal(text.replace(",", ".")) is not None
            else ""
        )
        wrong += f"; if answers to {scale.name} go from another number to another, say so:"
        raise DataError(
            f"column {column}: answer '{text}' to {item} is not {kind} from {scale.low:g} to {scale.high:g}",
            source=label,
            line=line.number,
            text=line.text,
            remedy=f"{wrong} Scale(low=, high=).",
            option=f"{wrong} --range LOW:HIGH.",
        )
    return number


def _weights(sheet: Sheet, scale: Scale, label: str) -> list[float]:
    """How much each item counts: alike, or as often as it was chosen among all pairs of items."""
    if not scale.weights:
        return [1.0] * len(scale.items)
    if not all(_is_given(sheet.fields.get(name)) for name in scale.weights):
        return [float("nan")] * len(scale.items)
    texts = [_text(line.fields[column]) for line, column in (sheet.fields[name] for name in scale.weights)]
    numbers = [decimal(text) for text in texts]
    line = sheet.fields[scale.weights[0]][0]
    items = len(scale.items)
    chosen = items * (items - 1) // 2
    if any(n is None or n % 1 or not 0 <= n < items for n in numbers) or sum(n or 0 for n in numbers) != chosen:
        raise DataError(
            f"the weights {', '.join(texts)} are not how often each of {items} was chosen: whole numbers from 0 to "
            f"{items - 1} that make {chosen} in all",
            source=label,
            line=line.number,
            text=line.text,
        )
    return [float(n or 0) for n in numbers]


def _text(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value == value and value % 1 == 0:
        return str(int(value))
    return "" if value is None or value != value else str(value).strip()


def _spellings(scale: Scale, item: str) -> set[str]:
    """What the column of an item may be called."""
    plain, stem = plain_name(item), plain_name(scale.name.partition("-")[0])
    names = {plain, stem + plain, f"{plain}demand", f"{stem}{plain}demand"}
    return names | {f"q{plain[3:]}", f"item{plain[3:]}"} if stem == "sus" and plain.startswith("sus") else names


def _named(scale: Scale, given: Iterable[str]) -> tuple[dict[str, str], list[str]]:
    """{name given: item or weight of the scale}, and the names that are none."""
    known = {name: item for item in (*scale.items, *scale.weights) for name in _spellings(scale, item)}
    known |= {plain_name(item): item for item in (*scale.items, *scale.weights)}
    found = {name: known[plain_name(name)] for name in given if plain_name(name) in known}
    return found, [name for name in given if name not in found]


def _wide_sheets(
    lines: list[TableLine], names: list[str], roles: Mapping[str, str], scale: Scale, label: str
) -> tuple[list[Sheet], list[str]]:
    found, unused = _named(scale, [name for name in names if name not in roles.values()])
    columns: dict[str, str] = {}
    for name, item in found.items():
        if item in columns:
            raise DataError(f"two columns are {item}: {columns[item]} and {name}", source=label)
        columns[item] = name
    absent = [name for name in (*scale.items, *scale.weights) if name not in columns]
    if absent:
        of_scale = "" if absent == [scale.name] else f" of {scale.name}"
        raise DataError(
            f"no column for {some(absent)}{of_scale}; there are {some(names, 12)}",
            source=label,
            remedy="Name the columns of the items in their order, with Scale(items=).",
            option="Name the columns of the items in their order, with --items.",
        )
    sheets: list[Sheet] = []
    seen: dict[tuple[str, str, str], TableLine] = {}
    for line in lines:
        who = _who(line, roles, label)
        if all(_text(line.fields.get(column)).casefold() in OPEN for column in columns.values()):
            sheets.append(Sheet(who, {}))
            continue
        if who in seen:
            raise _twice(who, seen[who], line, label)
        seen[who] = line
        sheets.append(Sheet(who, {item: (line, column) for item, column in columns.items()}))
    return sheets, unused


def _long_sheets(
    lines: list[TableLine], roles: Mapping[str, str], scale: Scale, label: str
) -> tuple[list[Sheet], list[str]]:
    given = list(dict.fromkeys(_text(line.fields.get(roles["item"])) for line in lines))
    found, unused = _named(scale, given)
    if not found:
        raise DataError(
            f"no item of {scale.name} among those in column {roles['item']}: {some(given)}",
            source=label,
            remedy="Name the items in their order, with Scale(items=).",
            option="Name the items in their order, with --items.",
        )
    sheets: dict[tuple[str, str, str], Sheet] = {}
    for line in lines:
        item = found.get(_text(line.fields.get(roles["item"])))
        if item is None:
            continue
        who = _who(line, roles, label)
        sheet = sheets.setdefault(who, Sheet(who, {}))
        if item in sheet.fields:
            raise _twice(who, sheet.fields[item][0], line, label, f" to {item}")
        sheet.fields[item] = (line, roles["answer"])
    return list(sheets.values()), unused


def _twice(who: tuple[str, str, str], first: TableLine, line: TableLine, label: str, what: str = "") -> DataError:
    participant, system, topic = who
    on = f" on {topic}" if topic else ""
    place = "" if first.number is None else f"; the first is in line {first.number}"
    return DataError(
        f"a second answer of {participant} about {system}{on}{what}{place}",
        source=label,
        line=line.number,
        text=line.text,
        remedy="Is a column of topics (or tasks) missing, or not recognised?"
        if not topic
        else "Somebody answers once about a system on a topic: leave out all but one.",
    )


def _who(line: TableLine, roles: Mapping[str, str], label: str) -> tuple[str, str, str]:
    found = [
        _text(line.fields.get(roles[role])) if role in roles else "" for role in ("participant", "system", "topic")
    ]
    for role, text in zip(("participant", "system"), found, strict=False):
        if not text:
            raise DataError(f"no {role}", source=label, line=line.number, text=line.text)
    return found[0], found[1], found[2]


def _roles(names: list[str], columns: Mapping[str, str], label: str, first: TableLine) -> dict[str, str]:
    """{what it is: name of its column}"""
    for role, name in columns.items():
        if role not in ROLES:
            raise UsageError(f"a column is {either(ROLES)}, not '{role}'")
        if name not in names:
            raise DataError(f"no column '{name}'; there are {some(names, 12)}", source=label)
    roles = dict(columns)
    for role, known in ROLES.items():
        named = [name for name in names if plain_name(name) in known and name not in columns.values()]
        if role in roles or not named:
            continue
        if len(named) > 1 and role in ("participant", "system", "topic"):
            raise DataError(
                f"two columns may be the {role}: {named[0]} and {named[1]}",
                source=label,
                remedy=f"Say which: columns={{'{role}': '{named[0]}'}}.",
                option=f"Say which: --columns {role}={named[0]}",
            )
        roles[role] = named[0]
    for role in ("participant", "system"):
        if role not in roles:
            raise DataError(
                f"no column for the {role}; there are {some(names, 12)}",
                source=label,
                line=first.number and 1,
                remedy=f"Say which it is: columns={{'{role}': '…'}}.",
                option=f"Say which it is: --columns {role}=NAME",
            )
    return roles


def _lines(source: File | Records) -> tuple[list[TableLine], str]:
    if not isinstance(source, str | os.PathLike) and not hasattr(source, "read"):
        rows = list(source) if isinstance(source, Sequence) else []
        if not rows or not all(isinstance(row, Mapping) for row in rows):
            raise UsageError("answers are a path, an open file, or a list of dicts, one a line")
        return [TableLine(None, None, cast("Mapping[str, object]", row)) for row in rows], "the answers"
    opened = open_source(cast("File", source))
    text = utf8_text(opened)
    if text.lstrip()[:1] in ("{", "["):
        lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        return [TableLine(*line) for line in json_objects(lines, opened.label)], opened.label
    return [TableLine(*row) for row in headed_table(text, opened.label).rows], opened.label
