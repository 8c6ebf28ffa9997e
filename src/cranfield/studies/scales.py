"""What a questionnaire asks, and how its answers become one number: SUS, NASA-TLX, satisfaction, and others.

All are the same: answers from `low` to `high`, some items turned round (low + high - answer), their mean (or a mean
weighted by each participant) stretched from low … high to the range of the score.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from math import isfinite
from typing import Any

from cranfield.errors import DataError, UsageError, either
from cranfield.formats.sources import read_toml

BETTER = ("more", "less")
MISSING = ("leave-out", "mean")


def plain_name(name: str) -> str:
    """A name of a column without what people write differently: case, blanks, signs, zeros before a number.

    >>> plain_name("SUS_01"), plain_name("Mental demand")
    ('sus1', 'mentaldemand')
    """
    return re.sub(r"(?<!\d)0+(?=\d)", "", re.sub(r"[\W_]+", "", name.casefold()))


@dataclass(frozen=True, kw_only=True)
class Scale:
    """A scale: the names of its items, what may be answered, which items are turned round, and what the score is.

    `top` and `bottom` are the range of the score, that of the answers by default. `whole` says that answers are whole
    numbers. `better` says whether more or less of it is better. `missing` says what becomes of an answer sheet with
    an item left open: it is left out, or the mean is that of the items answered, if these are at least half. `weights`
    name a column for each item with the times it was chosen among the pairs of items, as NASA-TLX has it.

    >>> trust = Scale(name="trust", items=("reliable", "risky"), low=1, high=7, reversed=("risky",))
    >>> trust.bottom, trust.top, trust.turned("risky", 2.0)
    (1.0, 7.0, 6.0)
    """

    name: str
    items: tuple[str, ...]
    low: float = 1.0
    high: float = 5.0
    reversed: tuple[str, ...] = ()
    better: str = "more"
    whole: bool = False
    missing: str = "leave-out"
    score_low: float | None = None
    score_high: float | None = None
    weights: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.items or len(set(map(plain_name, self.items))) < len(self.items):
            raise UsageError(f"scale {self.name}: needs items, each once, not {', '.join(self.items) or 'none'}")
        ends = {"low": self.low, "high": self.high, "score_low": self.score_low, "score_high": self.score_high}
        for name, end in ends.items():
            if end is not None and not isfinite(end):
                raise UsageError(f"scale {self.name}: {name} is a finite number, not {end:g}")
        if not self.low < self.high:
            raise UsageError(f"scale {self.name}: the lowest answer, {self.low:g}, must be below {self.high:g}")
        if not self.bottom < self.top:
            raise UsageError(f"scale {self.name}: the lowest score, {self.bottom:g}, must be below {self.top:g}")
        unknown = [item for item in self.reversed if item not in self.items]
        if unknown:
            raise UsageError(f"scale {self.name}: {unknown[0]!r} is reversed but is not among its items")
        for value, choices, what in ((self.better, BETTER, "better"), (self.missing, MISSING, "missing")):
            if value not in choices:
                raise UsageError(f"scale {self.name}: {what} is {either(choices)}, not '{value}'")
        if self.weights and len(self.weights) != len(self.items):
            raise UsageError(f"scale {self.name}: {len(self.weights)} weights for {len(self.items)} items")

    @property
    def bottom(self) -> float:
        """The lowest score."""
        return float(self.low if self.score_low is None else self.score_low)

    @property
    def top(self) -> float:
        """The highest score."""
        return float(self.high if self.score_high is None else self.score_high)

    def best_first(self, score: float) -> tuple[bool, float]:
        """What puts scores in order, the best first and those that do not exist last.

        >>> sorted([60.0, float("nan"), 80.0], key=find_scale("sus").best_first)
        [80.0, 60.0, nan]
        """
        missing = score != score
        return missing, 0.0 if missing else -score if self.better == "more" else score

    def turned(self, item: str, answer: float) -> float:
        """An answer, turned round where the item is."""
        return self.low + self.high - answer if item in self.reversed else answer

    def score(self, mean: float) -> float:
        """The score of a mean of answers.

        >>> find_scale("sus").score(4.0)
        75.0
        """
        return self.bottom + (mean - self.low) / (self.high - self.low) * (self.top - self.bottom)


_SUS = tuple(f"sus{number}" for number in range(1, 11))
_LOADS = ("mental", "physical", "temporal", "performance", "effort", "frustration")
SCALES = {
    "sus": Scale(
        name="sus", items=_SUS, reversed=_SUS[1::2], whole=True, score_low=0, score_high=100
    ),  # Σ (odd - 1) + Σ (5 - even), times 2.5
    "tlx": Scale(name="tlx", items=_LOADS, low=0, high=100, better="less", score_low=0, score_high=100),
    "tlx-weighted": Scale(
        name="tlx-weighted",
        items=_LOADS,
        low=0,
        high=100,
        better="less",
        score_low=0,
        score_high=100,
        weights=tuple(f"{load}_weight" for load in _LOADS),
    ),
    "satisfaction": Scale(name="satisfaction", items=("satisfaction",), whole=True),
}


def find_scale(name: str, others: Mapping[str, Scale] | None = None) -> Scale:
    """The scale of a name: `sus`, `tlx`, `tlx-weighted`, `satisfaction`, or one of `others`.

    SUS has ten answers from 1 to 5, of which those with even numbers are turned round, and a score from 0 to 100. TLX
    is the raw task load index, the mean of six scales from 0 to 100 where less is better (performance too: from perfect
    to failure); weighted, each scale counts as often as it was chosen among the 15 pairs.

    References: Brooke, "SUS: a quick and dirty usability scale", 1996; Hart and Staveland, "Development of NASA-TLX",
    1988; Hart, "NASA-Task Load Index (NASA-TLX); 20 years later", 2006.

    >>> find_scale("sus").reversed
    ('sus2', 'sus4', 'sus6', 'sus8', 'sus10')
    """
    known = {**SCALES, **(others or {})}
    if name not in known:
        raise UsageError(f"there is no scale '{name}', but {either(known)}; a file of scales may have more")
    return known[name]


def changed(scale: Scale, **given: Any) -> Scale:
    """The scale with other items, another range and so on; what is None stays. New items are in the order of the old.

    >>> changed(find_scale("tlx"), low=1.0, high=21.0).score(11.0)
    50.0
    """
    items = given.get("items")
    if items is not None and scale.reversed and given.get("reversed") is None:
        if len(items) != len(scale.items):
            raise UsageError(f"scale {scale.name} has {len(scale.items)} items, not {len(items)}")
        renamed = dict(zip(scale.items, items, strict=True))
        given["reversed"] = tuple(renamed[item] for item in scale.reversed)
    return replace(scale, **{name: value for name, value in given.items() if value is not None})


def read_scales(path: str) -> dict[str, Scale]:
    """The scales of a TOML file, a table each: items, low, high, reversed, better, whole, missing, score_low,
    score_high, weights.

    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "scales.toml"
    >>> _ = file.write_text('[trust]\\nitems = ["reliable", "risky"]\\nhigh = 7\\nreversed = ["risky"]\\n')
    >>> read_scales(str(file))["trust"].high
    7.0
    """
    document = read_toml(path)
    if not document:
        raise DataError("no scale in it", source=path, remedy='Write [name], and items = ["…", …] below it.')
    return {name: _of_table(name, table, path) for name, table in document.items()}


def _of_table(name: str, table: object, path: str) -> Scale:
    kinds = {field.name: field.type for field in fields(Scale) if field.name != "name"}
    if not isinstance(table, dict):
        raise DataError(f"'{name}' is no table", source=path, remedy=f'Write [{name}], and items = ["…", …] below it.')
    given: dict[str, Any] = {}
    for key, value in table.items():
        if key not in kinds:
            raise DataError(f"scale {name}: '{key}' is not known", source=path, remedy=f"There is {either(kinds)}.")
        kind = str(kinds[key])
        right, wanted = (
            (isinstance(value, list) and all(isinstance(item, str) for item in value), "a list of texts")
            if kind.startswith("tuple")
            else (isinstance(value, bool), "true or false")
            if kind == "bool"
            else (isinstance(value, int | float) and not isinstance(value, bool), "a number")
            if kind.startswith("float")
            else (isinstance(value, str), "a text")
        )
        if not right:
            raise DataError(f"scale {name}: '{key}' must be {wanted}, not {value!r}", source=path)
        given[key] = tuple(value) if isinstance(value, list) else float(value) if wanted == "a number" else value
    if "items" not in given:
        raise DataError(f"scale {name} has no items", source=path, remedy='Write items = ["…", …] below its name.')
    try:
        return Scale(name=name, **given)
    except UsageError as error:
        raise DataError(str(error), source=path) from None
