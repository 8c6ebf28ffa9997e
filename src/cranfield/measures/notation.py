"""Measures as they are written: `Name(param=value, …)@cutoff`, as in ir_measures, and the names that others have."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, TypeAlias

from cranfield.errors import ArgumentError, UsageError, some
from cranfield.measures.registry import MEASURES, Measure, called
from cranfield.notation import NotationError, Value, Written, check_no_reference, parse

LONGEST_RANGE = 1000  # cutoffs, of P@1..1000

# Measures as a caller gives them.
Wanted: TypeAlias = "str | Measure | Iterable[str | Measure]"


def parse_measures(text: str) -> list[Measure]:
    """The measures a text names, commas between them: in our notation, or by the names that others have for them.

    >>> parse_measures("nDCG@10,AP"), parse_measures("P.5,10"), parse_measures("map@100,mrr")
    ([nDCG@10, AP], [P@5, P@10], [AP@100, RR])
    >>> parse_measures("CG@1..3"), parse_measures("F2@15")
    ([CG@1, CG@2, CG@3], [F(beta=2)@15])
    """
    return [measure for part in listed(text) for measure in _parse_part(part)]


def listed(text: str) -> list[str]:
    """What stands between commas outside brackets. What starts as a number belongs to the name before it: P.5,10.

    >>> listed("nDCG(gain={1: 3, 2: 9})@10, P.5,10, AP")
    ['nDCG(gain={1: 3, 2: 9})@10', 'P.5,10', 'AP']
    """
    parts, depth = [""], 0
    for character in text:
        depth += (character in "([{") - (character in ")]}")
        if character == "," and depth <= 0:
            parts.append("")
        else:
            parts[-1] += character
    names: list[str] = []
    for part in map(str.strip, parts):
        if names and re.fullmatch(r"[-+]?[0-9.]+(=[-+]?[0-9.]+)?", part):
            names[-1] += f",{part}"
        else:
            names.append(part)
    if "" in names and len(names) > 1:
        raise UsageError(f"'{text}' has a comma with no measure beside it")
    return names


def _parse_part(text: str) -> list[Measure]:
    ranged = re.fullmatch(r"([^,]+|.*\).*)@\s*([^@,()]*?)\s*\.\.\s*([^@,()]*)", text) if ".." in text else None
    if ranged:
        return [measure for name in _ranged(text, *ranged.groups()) for measure in _parse_part(name)]
    text = _in_our_notation(text)
    check_no_reference(text)
    for _ in _loaded(word_of(text)):
        trec = _parse_trec(text)
        if trec:
            return trec
        if base_of(word_of(text)) is not None:
            break
    return [_parse_notation(text)]


def _ranged(text: str, head: str, first: str, last: str) -> list[str]:
    """The names that a range of cutoffs stands for.

    >>> _ranged("P@4..5", "P", "4", "5")
    ['P@4', 'P@5']
    """
    for _ in _loaded(word_of(head)):
        base = base_of(word_of(head))
        if base is not None:
            break
    if base is not None and base.definition.at == "recall":
        raise UsageError(
            f"'{text}': a range is of cutoffs, as in P@1..15; recall levels are named each, as in "
            f"{base.definition.trec_at}.0.1,0.2,0.3"
        )
    if not all(re.fullmatch("[0-9]+", end) for end in (first, last)):
        raise UsageError(f"'{text}': a range is from one cutoff to another, as in {head}@1..15")
    least, most = int(first), int(last)
    if least > most:
        raise UsageError(f"'{text}': a range goes from the smaller cutoff to the larger: {head}@{most}..{least}")
    if most - least >= LONGEST_RANGE:
        raise UsageError(f"'{text}' would be {most - least + 1:,} measures; a range has at most {LONGEST_RANGE:,}")
    return [f"{head}@{cutoff}" for cutoff in range(least, most + 1)]


def _loaded(name: str) -> Iterator[str]:
    """The families, each loaded when it is come to, and after them the plug-ins that may have a name."""
    yield from MEASURES.loaded()
    MEASURES.look_up(name)
    yield "plug-ins"


# ranx's names that are neither ours nor trec_eval's: the measure at a cutoff, and the one of the whole list.
RANX: Mapping[str, tuple[str, str]] = {
    "hits": ("NumRelRet(agg='mean')", "NumRelRet(agg='mean')"),
    "hit_rate": ("Success", "Success"),
    "precision": ("P", "SetP"),
    "f1": ("F", "SetF"),
    "r-precision": ("Rprec", "Rprec"),
    "mrr": ("RR", "RR"),
    "dcg_burges": ("DCG(gain='exp')", "DCG(gain='exp')"),
    "ndcg_burges": ("nDCG(gain='exp')", "nDCG(gain='exp')"),
}


def _in_our_notation(text: str) -> str:
    """A measure as ranx writes it, NAME@CUTOFF-lLEVEL, or F with its weight as lectures do, as we do; anything else as
    it is.

    >>> _in_our_notation("precision@5"), _in_our_notation("hits@5-l2"), _in_our_notation("P@5")
    ('P@5', "NumRelRet(agg='mean', rel=2)@5", 'P@5')
    >>> _in_our_notation("F0.5@15")
    'F(beta=0.5)@15'
    """
    by_beta = text.startswith("F") and re.fullmatch(r"F([0-9]*\.?[0-9]+)(?:\((.*)\))?(@.*)", text)
    if by_beta:  # of lectures; without a cutoff two measures are called so
        beta, more, at = by_beta.groups()
        return f"F(beta={float(beta)}{f', {more}' if more else ''}){at}"
    if text.startswith("rbp") and re.fullmatch(r"rbp[.@][0-9]+", text):
        p = f"p=0.{text[4:]}"
        raise UsageError(
            f"'{text}' has two meanings; write RBP({p}), where a document is relevant or not, or GradedRBP({p}), where "
            "its grade counts" + (f"; a cutoff is GradedRBP{text[3:]}" if "@" in text else "")
        )
    may_be = text.partition("@")[0] in RANX or "-l" in text
    read = re.fullmatch(r"([a-z][a-z_0-9-]*?)(@[0-9]+)?(?:-l([0-9]+))?", text) if may_be else None
    if read is None or (read[1] not in RANX and read[3] is None):
        return text
    name, at, level = read[1], read[2] or "", read[3]
    name = RANX[name][not at] if name in RANX else name
    if level is not None:
        name = f"{name[:-1]}, rel={int(level)})" if name.endswith(")") else f"{name}(rel={int(level)})"
    return name + at


def parse_measure(text: str) -> Measure:
    """The measure a text names.

    >>> parse_measure("AP(rel=2)"), parse_measure("ndcg_cut_10"), parse_measure("MAP")
    (AP(rel=2), nDCG@10, AP)
    """
    measures = parse_measures(text)
    if len(measures) != 1:
        raise UsageError(
            f"'{text}' names {len(measures)} measures, and one is wanted: {some(list(map(str, measures)))}"
        )
    return measures[0]


def as_measures(wanted: Wanted) -> tuple[Measure, ...]:
    """Measures from what a caller gives: a name, a Measure, or several of either; each once."""
    if isinstance(wanted, str | Measure):
        wanted = [wanted]
    if not isinstance(wanted, Iterable):
        raise ArgumentError(f"measures are names, as 'nDCG@10', or Measure objects, not {wanted!r}")
    measures: dict[Measure, None] = {}
    for item in wanted:
        if not isinstance(item, str | Measure):
            item = str(item)  # ir_measures' objects print in the same notation
        for measure in [item] if isinstance(item, Measure) else parse_measures(item):
            measure.check_complete()
            measures[measure] = None
    if not measures:
        raise UsageError("no measure given")
    return tuple(measures)


def _parse_trec(text: str) -> list[Measure]:
    for definition in MEASURES.registered():
        for name, (_, trec) in definition.averages.items():
            if trec == text:
                return [called(definition, name)]
        if definition.trec == text:
            return [called(definition, definition.name)]
        stem = definition.trec_at
        if stem is None or not text.startswith(stem):
            continue
        measure = called(definition, definition.name)
        rest = text[len(stem) :]
        if not rest and stem != definition.name:
            return [measure @ value for value in definition.trec_cutoffs]
        if rest[:1] in ("_", "."):
            parts = rest[1:].split(",")
            if definition.at == "cutoff" and all(part.isascii() and part.isdigit() for part in parts):
                return [measure @ int(part) for part in parts]
            if definition.at != "cutoff" and all(re.fullmatch(r"[0-9]*\.?[0-9]+|nan|inf", part) for part in parts):
                return [measure @ float(part) for part in parts]
    return []


def base_of(name: str) -> Measure | None:
    """The measure of a name without a cutoff, ours or trec_eval's, if a family that is loaded has it."""
    definition = MEASURES.get_registered(name)
    if definition is not None:
        return called(definition, name)
    for definition in MEASURES.registered():
        if name in (definition.trec, definition.trec_at):
            return called(definition, definition.name)
        for average, (_, trec) in definition.averages.items():
            if name == trec:
                return called(definition, average)
    return None


def _parse_notation(text: str) -> Measure:
    written = _written(text)
    if "-" in written.name:  # no measure has one
        raise _unknown(text)
    if base_of(written.name) is None:
        raise _unknown(written.name, at=f"@{written.at}" if written.has_at else "")
    measure, pairs = _our_measure(written.name, list(written.given))
    parameters: dict[str, Value] = {}
    for name, value in pairs:
        name, value = measure.definition.spelt(name, value)
        if name in parameters or (written.has_at and name == measure.definition.at):
            raise UsageError(f"'{text}' gives {name} twice")
        parameters[name] = value
    made = measure(**parameters)
    at: Any = written.at
    return made @ at if written.has_at else made


def _unknown(text: str, at: str = "") -> UsageError:
    """What is said of a measure that there is not; with what stands after its name where that can be kept."""
    from cranfield.measures.misnamed import known_as, unknown

    return UsageError(unknown(text + at if known_as(text) else text))


def _written(text: str) -> Written:
    """What a text says, or why it says nothing."""
    try:
        return parse(text)
    except NotationError as error:
        messages = {
            "position": f"'{text}': parameters are given by name, as in RBP(p=0.8)",
            "value": f"'{text}': a parameter is a number, a word, or a {{grade: gain}} table",
        }
        from cranfield.measures.misnamed import miswritten

        remedy = miswritten(text) or messages.get(error.reason)
        raise UsageError(remedy) if remedy else _unknown(text) from None


def _our_measure(name: str, pairs: list[tuple[str, Value]]) -> tuple[Measure, list[tuple[str, Value]]]:
    """A measure as we call it, where ir_measures has it as another one with a parameter."""
    if name == "NumRet" and any(parameter == "rel" for parameter, _ in pairs):
        name = "NumRelRet"
    if name == "SetP" and ("relative", True) in pairs:
        name = "SetRelP"
    measure = base_of(name)
    assert measure is not None, name
    return measure, [pair for pair in pairs if name != "SetRelP" or pair != ("relative", True)]


def usage(measure: Measure) -> str:
    """How the measure is written: P@k where it needs a cutoff, AP[@k] where it may have one."""
    definition = measure.definition
    letter = "k" if definition.at == "cutoff" else "r"
    bare = replace(measure, given=tuple(pair for pair in measure.given if pair[0] != definition.at))
    if definition.at is None:
        return str(bare)
    return f"{bare}@{letter}" if definition.required else f"{bare}[@{letter}]"


def word_of(text: str) -> str:
    """The name that a text starts with."""
    return re.split(r"[(@.]", text, maxsplit=1)[0].strip()
