"""Measures as they are written: `Name(param=value, …)@cutoff`, as in ir_measures, and the names that others have."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeAlias

from cranfield.errors import ArgumentError, UsageError
from cranfield.measures.registry import MEASURES, Measure, called
from cranfield.notation import NotationError, Value, Written, check_no_reference, parse
from cranfield.registry import squeezed

# Measures as a caller gives them.
Wanted: TypeAlias = "str | Measure | Iterable[str | Measure]"


def parse_measures(text: str) -> list[Measure]:
    """The measures a text names, commas between them: in our notation, or by the names that others have for them.

    >>> parse_measures("nDCG@10,AP"), parse_measures("P.5,10"), parse_measures("map@100,mrr")
    ([nDCG@10, AP], [P@5, P@10], [AP@100, RR])
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
    text = _in_our_notation(text)
    check_no_reference(text)
    for _ in _loaded(_word(text)):
        trec = _parse_trec(text)
        if trec:
            return trec
        if _base(_word(text)) is not None:
            break
    return [_parse_notation(text)]


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
    """A measure as ranx writes it, NAME@CUTOFF-lLEVEL, as we do; anything else as it is.

    >>> _in_our_notation("precision@5"), _in_our_notation("hits@5-l2"), _in_our_notation("P@5")
    ('P@5', "NumRelRet(agg='mean', rel=2)@5", 'P@5')
    """
    if re.fullmatch(r"rbp[.@][0-9]+", text):
        p = f"p=0.{text[4:]}"
        raise UsageError(
            f"'{text}' has two meanings; write RBP({p}), where a document is relevant or not, or GradedRBP({p}), where "
            "its grade counts" + (f"; a cutoff is GradedRBP{text[3:]}" if "@" in text else "")
        )
    read = re.fullmatch(r"([a-z][a-z_0-9-]*?)(@[0-9]+)?(?:-l([0-9]+))?", text)
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
        raise UsageError(f"'{text}' names {len(measures)} measures: {', '.join(map(str, measures))}")
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
            if not measure.is_complete:
                raise UsageError(f"{measure.name} needs a {measure.definition.at}: {measure.name}@10")
            measures[measure] = None
    if not measures:
        raise UsageError("no measure given")
    return tuple(measures)


def _parse_trec(text: str) -> list[Measure]:
    for definition in MEASURES.registered():
        for name, (_, trec) in definition.averages.items():
            if trec == text:
                return [called(definition, name)]
        measure = called(definition, definition.name)
        if definition.trec == text:
            return [measure]
        stem = definition.trec_at
        if stem is None or not text.startswith(stem):
            continue
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


def _base(name: str) -> Measure | None:
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
        raise UsageError(unknown(text))
    if _base(written.name) is None:
        raise UsageError(unknown(written.name))
    measure, pairs = _our_measure(written.name, list(written.given))
    parameters: dict[str, Value] = {}
    for name, value in pairs:
        name, value = _our_parameter(name, value, measure)
        if name in parameters or (written.has_at and name == measure.definition.at):
            raise UsageError(f"'{text}' gives {name} twice")
        parameters[name] = value
    made = measure(**parameters)
    at: Any = written.at
    return made @ at if written.has_at else made


def _written(text: str) -> Written:
    """What a text says, or why it says nothing."""
    try:
        return parse(text)
    except NotationError as error:
        again = text.replace(",", f",{_word(text)}@")
        messages = {
            "position": f"'{text}': parameters are given by name, as in RBP(p=0.8)",
            "several": f"'{text}': after a comma the measure is named again, as in {again}",
            "value": f"'{text}': a parameter is a number, a word, or a {{grade: gain}} table",
        }
        raise UsageError(messages.get(error.reason) or unknown(text)) from None


def _our_measure(name: str, pairs: list[tuple[str, Value]]) -> tuple[Measure, list[tuple[str, Value]]]:
    """A measure as we call it, where ir_measures has it as another one with a parameter."""
    if name == "NumRet" and any(parameter == "rel" for parameter, _ in pairs):
        name = "NumRelRet"
    if name == "SetP" and ("relative", True) in pairs:
        name = "SetRelP"
    measure = _base(name)
    assert measure is not None, name
    return measure, [pair for pair in pairs if name != "SetRelP" or pair != ("relative", True)]


def _our_parameter(name: str, value: Value, measure: Measure) -> tuple[str, Value]:
    """A parameter as we spell it, where ir_measures spells it otherwise."""
    graded = {"min_rel": "min_grade", "max_rel": "max_grade"}.get(name, "")
    if graded in measure.definition.parameters:
        return graded, value
    if "gain" in measure.definition.parameters:
        if name == "gains":
            return "gain", value
        if name == "dcg":
            known = {"log2": "linear", "exp-log2": "exp"}
            if not isinstance(value, str) or value not in known:
                raise UsageError(f"{measure.name}: dcg must be {' or '.join(map(repr, known))}, not {value!r}")
            return "gain", known[value]
    return name, value


def unknown(text: str) -> str:
    """What is said of a measure that there is not."""
    import difflib

    MEASURES.all()  # the nearest names are those of all families
    word = _word(text)
    called_so = known_as(text)
    if called_so:
        shown = _either([usage(measure) for measure in called_so])
        return f"unknown measure '{text}'; that is {shown}: `cranfield measures {called_so[0].name}` tells more"
    first, *others = re.split(r"[\s;|+]+", re.sub(r"\(.*?\)", "", text))
    if others and _base(_word(first)) is not None:
        return f"unknown measure '{text}'; between several measures there are commas, as in nDCG@10,AP"
    definitions = MEASURES.registered()
    names = [name for definition in definitions for name in definition.names]
    ours = {name.lower(): name for name in reversed(names)}
    at = re.fullmatch(r"(\w*?[A-Za-z])[_-]?(\d+)", text.strip())
    base = at and _base(ours.get(at[1].lower(), at[1]))
    if at and base and base.definition.at == "cutoff":
        return f"unknown measure '{text}'; did you mean {base.name}@{at[2]}?"
    trec = {name: name for definition in definitions for name in (definition.trec, definition.trec_at) if name}
    close = difflib.get_close_matches
    exact = ours.get(word.lower()) or trec.get(word)
    near = [exact] if exact else [ours[name] for name in close(word.lower(), ours, n=2, cutoff=0.5)]
    near += [name for name in close(word, trec, n=1, cutoff=0.8) if name not in near and name != word]
    if not near:
        return f"unknown measure '{text}'; `cranfield measures` lists them"
    return f"unknown measure '{text}'; did you mean {_either(near)}?"


def known_as(text: str) -> list[Measure]:
    """The measures that lectures and books call so, however it is spelt and whatever cutoff stands after it.

    >>> known_as("R-Precision"), known_as("f-measure@10"), known_as("novelty ratio")
    ([Rprec, PLast], [F, SetF], [Novelty])
    """
    meant = squeezed(text.partition("@")[0])
    called_so = [d for d in MEASURES.all() if meant in map(squeezed, d.known_as)]
    return [called(definition, definition.name) for definition in called_so]


def usage(measure: Measure) -> str:
    """How the measure is written: P@k where it needs a cutoff, AP[@k] where it may have one."""
    definition = measure.definition
    letter = "k" if definition.at == "cutoff" else "r"
    if definition.at is None:
        return measure.name
    return f"{measure.name}@{letter}" if definition.required else f"{measure.name}[@{letter}]"


def _either(names: list[str]) -> str:
    """
    >>> _either(["AP"]), _either(["AP", "P", "RR"])
    ('AP', 'AP, P or RR')
    """
    return " or ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def _word(text: str) -> str:
    return re.split(r"[(@.]", text, maxsplit=1)[0].strip()
