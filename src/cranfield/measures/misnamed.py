"""What is said of a measure that there is not: what lectures and others call so, what is spelt nearly so, or how it is
written."""

from __future__ import annotations

import re

from cranfield.errors import either
from cranfield.measures.definition import Definition
from cranfield.measures.notation import base_of, usage, word_of
from cranfield.measures.registry import MEASURES, Measure, called
from cranfield.notation import NotationError, parse
from cranfield.registry import squeezed

NEAR = 0.65  # of what difflib gives names that are spelt the same: 1


def unknown(text: str) -> str:
    """What is said of a measure that there is not."""
    import difflib

    MEASURES.all()  # the nearest names are those of all families
    word = word_of(text)
    called_so = known_as(text)
    if called_so:
        at = re.search(r"@\s*([0-9]+)\s*$", text)
        shown = either([_usage_at(measure, at and at[1]) for measure in called_so])
        return f"unknown measure '{text}'; that is {shown}: `cranfield measures {called_so[0].name}` tells more"
    first, *others = re.split(r"[\s;|+]+", re.sub(r"\(.*?\)", "", text))
    if others and base_of(word_of(first)) is not None:
        return f"unknown measure '{text}'; between several measures there are commas, as in nDCG@10,AP"
    definitions = MEASURES.registered()
    names = [name for definition in definitions for name in definition.names]
    ours = {name.lower(): name for name in reversed(names)}
    at = re.fullmatch(r"(\w*?[A-Za-z])[_-]?(\d+)", text.strip())
    base = at and base_of(ours.get(at[1].lower(), at[1]))
    if at and base and base.definition.at == "cutoff":
        return f"unknown measure '{text}'; did you mean {base.name}@{at[2]}?"
    trec = {name: name for definition in definitions for name in (definition.trec, definition.trec_at) if name}
    close = difflib.get_close_matches
    exact = ours.get(word.lower()) or trec.get(word)
    near = [exact] if exact else [ours[name] for name in close(word.lower(), ours, n=2, cutoff=NEAR)]
    near += [name for name in close(word, trec, n=1, cutoff=0.8) if name not in near and name != word]
    if not near:
        return f"unknown measure '{text}'; `cranfield measures` lists them"
    return f"unknown measure '{text}'; did you mean {either(near)}?"


def known_as(text: str) -> list[Measure]:
    """The measures that lectures and books call so, however it is spelt and whatever cutoff stands after it.

    >>> known_as("R-Precision"), known_as("f-measure@10"), known_as("novelty ratio")
    ([Rprec, PLast], [F, SetF], [Novelty])
    >>> known_as("F2")
    [F(beta=2)]
    """
    meant = squeezed(text.partition("@")[0])
    return [_meant(definition, meant) for definition in MEASURES.all() if meant in map(squeezed, definition.known_as)]


def _meant(definition: Definition, name: str) -> Measure:
    """The measure with the parameters that go with what it is called, as F2 (beta=2) says."""
    measure = called(definition, definition.name)
    for known, remark in zip(definition.known_as, definition.remarks_on_names, strict=True):
        if squeezed(known) == name and "=" in remark:
            try:
                return measure(**dict(parse(f"{definition.name}({remark})").given))
            except NotationError:  # words, not parameters
                return measure
    return measure


def _usage_at(measure: Measure, cutoff: str | None) -> str:
    """How the measure is written, with the cutoff that was given if it takes one."""
    if cutoff is None or measure.definition.at != "cutoff":
        return usage(measure)
    return str(measure @ int(cutoff)) if int(cutoff) else usage(measure)


def miswritten(text: str) -> str:
    """How something is written that is meant well: the cutoff last, several cutoffs, no percent; or nothing.

    >>> miswritten("nDCG@5(gain=exp)")
    "'nDCG@5(gain=exp)': the cutoff comes last: nDCG(gain=exp)@5"
    """
    return _order(text) or _several(text) or _percent(text)


def _order(text: str) -> str:
    """What is said of parameters that stand after the cutoff."""
    swapped = re.fullmatch(r"(\w+)\s*@\s*([0-9.]+)\s*(\(.*\))", text)
    return f"'{text}': the cutoff comes last: {swapped[1]}{swapped[3]}@{swapped[2]}" if swapped else ""


def _several(text: str) -> str:
    """What is said of several cutoffs with commas between them."""
    read = re.fullmatch(r"(.+)@\s*([0-9.]+(?:\s*,\s*[0-9.]+)+)", text)
    if read is None:
        return ""
    head, cutoffs = read[1], [part.strip() for part in read[2].split(",")]
    forms = [",".join(f"{head}@{cutoff}" for cutoff in cutoffs)]
    if all(part.isdigit() for part in cutoffs):
        whole = list(map(int, cutoffs))
        forms += [f"{head}@{whole[0]}..{whole[-1]}"] if whole == [*range(whole[0], whole[-1] + 1)] else []
        base = base_of(head)
        forms += [f"{base.definition.trec_at}.{','.join(cutoffs)}"] if base and base.definition.trec_at else []
    return f"'{text}': after a comma the measure is named again: write {either(forms)}"


def _percent(text: str) -> str:
    """What is said of a number after @ with a percent sign."""
    read = re.fullmatch(r"(.+)@\s*([0-9]+(?:\.[0-9]+)?)\s*%", text)
    base = base_of(word_of(text)) if read else None
    if read is None or base is None or base.definition.at is None:
        return ""
    if base.definition.at == "recall":
        return f"'{text}': recall is written as a share: {read[1]}@{float(read[2]) / 100:g}"
    return f"'{text}': a cutoff is a number of documents: {read[1]}@{read[2]}"
