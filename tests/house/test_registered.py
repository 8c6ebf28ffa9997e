"""Everything that is registered, and which values its parameters take, as kept in `registered.txt`.

A measure that loses its bounds, a method its other name or a test its null hypothesis still works: nothing but a list
of what there is notices. `make record` writes it anew; then read the diff.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterable, Mapping
from math import inf, nan
from pathlib import Path
from typing import Any

import pytest

from cranfield import CranfieldError
from cranfield.efficiency.resources import FIGURES
from cranfield.fusion import all_methods as all_fusions
from cranfield.fusion import all_normalisations
from cranfield.measures import all_measures
from cranfield.online.clicks.click_models import CLICK_MODELS
from cranfield.online.sessions.session_measures import SESSION_MEASURES
from cranfield.plot.subject import all_pictures
from cranfield.pooling.strategy import all_methods as all_poolings
from cranfield.probing.engines import ENGINES
from cranfield.registry import REQUIRED
from cranfield.report.report_tables import ADVICE, DECIDES
from cranfield.search.models import MODELS
from cranfield.statistics.coefficients import all_coefficients
from cranfield.statistics.corrections import all_corrections
from cranfield.statistics.significance import all_tests

KEPT = Path(__file__).with_name("registered.txt")
NUMBERS = (-1, -0.5, 0, 0.0, 0.05, 0.5, 0.95, 1, 1.0, 1.5, 2, 2.5, 3, 9, 10, 11, 12, 100, 1001, 2**62, nan, inf, -inf)
OTHERS: tuple[Any, ...] = (
    None,
    False,
    True,
    (),
    (1,),
    [0.5, 0.5],
    [1, -1],
    {},
    {1: 3},
    {1: -3},
    {1: "x"},
    {"x": 1},
    {1: inf},
)
WORDS = {
    "", "nope", "mean", "geometric", "harmonic", "sum", "ratio", "linear", "exp", "none", "known", "atire",
    *(default for one in all_measures() for default in one.definition.defaults.values() if isinstance(default, str)),
}  # fmt: skip
PROBES: tuple[Any, ...] = (*NUMBERS, *OTHERS, *sorted(WORDS))


def accepted(check: Callable[[Any], Any]) -> str:
    """Those of the probes that are taken."""
    found = []
    for probe in PROBES:
        try:
            if check(probe) is not False:
                found.append(repr(probe))
        except CranfieldError:
            pass
    return ", ".join(found) or "nothing"


def told(value: Any) -> str:
    """A field in words; of a function whether there is one, as what it does is tested elsewhere."""
    if isinstance(value, Mapping):
        return ", ".join(f"{key}: {told(one)}" for key, one in value.items())
    if callable(value):
        return "there is one"
    return re.sub(r" at 0x\w+", "", repr(value))


def fields(entry: Any, left_out: Iterable[str] = ("function", "parameters", "make", "draw", "averaged")) -> list[str]:
    names = entry._fields if hasattr(entry, "_fields") else [field.name for field in dataclasses.fields(entry)]
    values = {name: getattr(entry, name) for name in names}
    kept = {name: value for name, value in values.items() if name not in left_out}
    return [f"    {name}: {told(value)}" for name, value in kept.items() if value not in (None, False, (), {})]


def registered() -> str:
    lines: list[str] = []
    first: dict[str, str] = {}
    entries: list[tuple[str, Any]] = [("measure", measure.definition) for measure in all_measures()]
    entries += [("fusion", method) for method in all_fusions()]
    entries += [("normalisation", normalisation) for normalisation in all_normalisations()]
    entries += [("pooling", method) for method in all_poolings()]
    entries += [("model", model) for model in MODELS.values()]
    entries += [("click model", model) for model in CLICK_MODELS.values()]
    entries += [("session measure", definition) for definition in SESSION_MEASURES.values()]
    for kind, entry in entries:
        lines += [f"{kind} {entry.name}", *fields(entry)]
        for name, parameter in entry.parameters.items():
            default = "none" if parameter.default is REQUIRED else repr(parameter.default)
            text = f"    {name}, {default}, {parameter.help}; {parameter.accepts}: {accepted(parameter.takes)}"
            text += f"; tried: {', '.join(map(repr, parameter.grid))}" if parameter.grid else ""
            known = first.setdefault(text, entry.name)
            lines.append(text if known == entry.name else f"    {name}: as of {known}")
    others: tuple[tuple[str, Iterable[Any]], ...] = (
        ("test", all_tests()),
        ("correction", all_corrections()),
        ("coefficient", all_coefficients()),
        ("picture", all_pictures()),
        ("engine", ENGINES.values()),
        ("figure", FIGURES.values()),
    )
    for kind, several in others:
        for entry in several:
            named = getattr(entry, "name", None) or entry.label
            lines += [f"{kind} {named}", *fields(entry)]
    for kind, texts in (("advice", ADVICE), ("setting", DECIDES)):
        lines += [f"{kind} {name}: {text}" for name, text in texts.items()]
    return "\n".join(lines) + "\n"


def test_what_is_registered_is_as_written_down() -> None:
    kept = KEPT.read_text(encoding="utf-8").splitlines()
    assert registered().splitlines() == kept, "if this is meant: make record, and read the diff"


@pytest.mark.parametrize("measure", list(all_measures()), ids=lambda measure: measure.definition.name)
def test_a_default_that_is_given_changes_nothing(measure: Any) -> None:
    for name, default in measure.definition.defaults.items():
        if name == measure.definition.at:  # to have none, it is left out
            continue
        given = measure(**{name: default})
        assert given == measure
        assert str(given) == str(measure)


if __name__ == "__main__":
    KEPT.write_text(registered(), encoding="utf-8")
