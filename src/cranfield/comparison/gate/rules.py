"""What a candidate must keep: a rule for each measure, and topics that must not get worse."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import isfinite
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, get_args

from cranfield.errors import UsageError
from cranfield.formats.sources import read_toml
from cranfield.measures import Measure, as_measures, parse_measure

if TYPE_CHECKING:
    from cranfield.render.json_form import Json

DEFAULT_MEASURE = "nDCG@10"
Requirement: TypeAlias = Literal["no-evidence-of-harm", "non-inferior", "better"]
Answer: TypeAlias = Literal["pass", "fail", "cannot tell"]
REQUIREMENTS: tuple[Requirement, ...] = get_args(Requirement)
_MARGIN = re.compile(r"([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?( ?%)?")


class Margin(NamedTuple):
    """The largest loss that does not matter: a difference of means, or percent of the baseline's mean.

    >>> Margin.of("2%"), Margin.of(0.01).size_for(0.5), Margin.of("2%").size_for(0.5)
    (Margin(number=2.0, percent=True), 0.01, 0.01)
    """

    number: float
    percent: bool

    @classmethod
    def of(cls, given: Json) -> Margin:
        """A margin from 0.01 or "2%"."""
        if isinstance(given, str):
            match = _MARGIN.fullmatch(given)
            number = float(given.rstrip(" %")) if match else 0.0
            made = cls(number, given.endswith("%"))
        else:
            made = cls(_number(given, "margin"), percent=False)
        if made.number <= 0 or not isfinite(made.number):
            raise UsageError(
                f"margin must be a number above 0, as 0.01, or percent of the baseline, as 2%, not {given!r}"
            )
        if made.percent and made.number >= 100:
            raise UsageError(f"a margin of {made} lets everything pass: it must be below 100%")
        return made

    def check_for(self, measure: Measure) -> None:
        """Refuses a margin that no candidate could fail."""
        low, high = measure.definition.range
        if not self.percent and self.number >= high - low:
            meant = f"; {self.number:g}% of the baseline is written {self.number:g}%" if self.number < 100 else ""
            raise UsageError(
                f"a margin of {self.number:g} lets everything pass: {measure} goes from {low:g} to {high:g}{meant}"
            )

    def size_for(self, baseline: float) -> float:
        """The margin as a difference of means."""
        return abs(baseline) * self.number / 100 if self.percent else self.number

    def __str__(self) -> str:
        return f"{self.number:g}% of the baseline" if self.percent else f"{self.number:g}"


@dataclass(frozen=True)
class Rule:
    """When a measure fails: where its mean gets worse by more than `tolerance`, is below `minimum` or above `maximum`,
    or where the test of what `require` says does not pass it, unless `significant` is false.

    `require` is "no-evidence-of-harm", "non-inferior" by a `margin` (0.01, or "2%" of the baseline's mean) or "better".

    >>> Rule(require="non-inferior", margin="2%").margin
    '2%'
    """

    tolerance: float | None = None
    significant: bool = True
    minimum: float | None = None
    maximum: float | None = None
    require: Requirement = "no-evidence-of-harm"
    margin: float | str | None = None

    def __post_init__(self) -> None:
        if self.tolerance is not None:
            checked_fall(self.tolerance, "tolerance")
        for name, value in (("minimum", self.minimum), ("maximum", self.maximum)):
            if value is not None:
                _number(value, name)
        if self.minimum is not None and self.maximum is not None and self.minimum > self.maximum:
            raise UsageError(f"minimum {self.minimum:g} is above maximum {self.maximum:g}: nothing passes")
        if not isinstance(self.significant, bool):
            raise UsageError(f"significant must be true or false, not {self.significant!r}")
        if self.require not in REQUIREMENTS:
            raise UsageError(f"require must be one of {', '.join(REQUIREMENTS)}, not {self.require!r}")
        if self.require == "non-inferior" and self.margin is None:
            raise UsageError(
                "non-inferior by how much? Give a margin: the largest loss that does not matter, 0.01 or 2%"
            )
        if self.margin is not None:
            Margin.of(self.margin)
            if self.require != "non-inferior":
                raise UsageError(f"a margin is for non-inferior, and {self.require} is required")
        if not self.significant and self.require != "no-evidence-of-harm":
            raise UsageError(f"{self.require} is a matter of significance, which is not asked for")

    @property
    def has_limit(self) -> bool:
        """Whether there is a figure that any measure can be held against."""
        return self.minimum is not None or self.maximum is not None

    def decides(self, measure: Measure) -> bool:
        """Whether anything is checked; where no value is better than another, only a minimum or a maximum can be."""
        return self.has_limit or (measure.sign != 0 and (self.significant or self.tolerance is not None))


@dataclass(frozen=True)
class Thresholds:
    """What a candidate must keep: a rule for each measure, and topics that may get worse by so much at most.

    Each measure is tested at `alpha` on its own: asking for more never makes a gate weaker. `cannot_tell` says what
    that answer counts as: itself, "pass" or "fail".
    """

    rules: Mapping[str, Rule] | Mapping[Measure, Rule] = field(default_factory=lambda: {DEFAULT_MEASURE: Rule()})
    topics: Mapping[str, float] = field(default_factory=dict)
    alpha: float = 0.05
    cannot_tell: Answer = "cannot tell"

    def __post_init__(self) -> None:
        for topic, fall in self.topics.items():
            checked_fall(fall, f"the fall of topic {topic}")
        if not 0 < _number(self.alpha, "alpha") < 1:
            raise UsageError(f"alpha must be between 0 and 1, not {self.alpha:g}")
        if self.cannot_tell not in ("cannot tell", "pass", "fail"):
            raise UsageError(f"cannot-tell counts as pass or fail, not {self.cannot_tell!r}")
        measures = [(_measure(name), rule) for name, rule in self.rules.items()]
        directed = [measure for measure, _ in measures if measure.sign]
        if any(rule.decides(measure) for measure, rule in measures) or (self.topics and directed):
            return
        if directed:
            raise UsageError("nothing is checked: give a tolerance, a minimum, a topic, or ask for significance")
        raise UsageError(
            f"nothing is checked: no value of {measures[0][0]} is better than another. Give a minimum or a maximum for "
            "it, or another measure"
        )

    @classmethod
    def of_measures(
        cls,
        measures: Iterable[str],
        rule: Rule,
        topics: Iterable[tuple[str, float]] = (),
        alpha: float = 0.05,
        cannot_tell: Answer = "cannot tell",
    ) -> Thresholds:
        """One rule for some measures, by default nDCG@10, and topics with how much worse they may get.

        >>> list(Thresholds.of_measures(["ndcg_cut_10"], Rule(minimum=0.5)).rules)
        ['nDCG@10']
        """
        rules = dict.fromkeys(map(str, as_measures(list(measures) or DEFAULT_MEASURE)), rule)
        return cls(rules, dict(topics), alpha, cannot_tell)

    @classmethod
    def read(cls, path: str) -> Thresholds:
        """Thresholds from a TOML file."""
        return cls.of_document(read_toml(path), path)

    @classmethod
    def of_document(cls, document: Mapping[str, Any], source: str = "thresholds") -> Thresholds:
        """Thresholds from a small TOML file.

        It has alpha, cannot-tell, require and margin (for every measure that has none of its own), [measures.NAME] with
        the fields of a Rule, [topics] ID = how much worse it may get.

        >>> made = Thresholds.of_document({"measures": {"AP": {"tolerance": 0.01}}, "topics": {"301": 0.1}})
        >>> made.rules["AP"].tolerance, made.topics
        (0.01, {'301': 0.1})
        """
        known = ("alpha", "cannot-tell", "require", "margin", "measures", "topics")
        unknown = [key for key in document if key not in known]
        if unknown:
            raise UsageError(f"{source}: unknown key '{unknown[0]}'; there are {', '.join(known)}")
        tables = {key: document.get(key, {}) for key in ("measures", "topics")}
        for key, table in tables.items():
            if not isinstance(table, Mapping):
                raise UsageError(f"{source}: {key} must be a table, [{key}], not {table!r}")
        common = {key: document[key] for key in ("require", "margin") if key in document}
        rules: dict[str, Rule] = {}
        for name, entry in tables["measures"].items():
            measure = parse_measure(name)
            if str(measure) in rules:
                raise UsageError(f"{source}: {measure} has two rules, one of them under the name {name}")
            rules[str(measure)] = _rule(entry, measure, common, f'{source}: [measures."{name}"]')
        if not rules:
            rules[DEFAULT_MEASURE] = _rule({}, parse_measure(DEFAULT_MEASURE), common, source)
        topics = {
            str(topic): checked_fall(fall, f"{source}: topic {topic}") for topic, fall in tables["topics"].items()
        }
        alpha = _number(document.get("alpha", 0.05), f"{source}: alpha")
        try:
            return cls(rules, topics, alpha, document.get("cannot-tell", "cannot tell"))
        except UsageError as error:
            raise UsageError(f"{source}: {error}") from None


def _measure(name: str | Measure) -> Measure:
    return name if isinstance(name, Measure) else parse_measure(name)


def _rule(entry: Any, measure: Measure, common: Mapping[str, Any], where: str) -> Rule:
    known = Rule.__dataclass_fields__
    wrong = [key for key in entry if key not in known] if isinstance(entry, Mapping) else [entry]
    if wrong:
        raise UsageError(f"{where} has {wrong[0]!r}; it may have {', '.join(known)}")
    if not measure.sign:
        directed = [key for key in entry if key not in ("minimum", "maximum") and entry[key] is not False]
        if directed:
            raise UsageError(
                f"{where} has {directed[0]}, and no value of {measure} is better than another: give a minimum or a "
                "maximum"
            )
        common = {}
    elif entry.get("significant") is False:
        common = {}
    elif "require" in entry:  # a margin for others is none for what is required here
        common = {key: value for key, value in common.items() if entry["require"] == "non-inferior" and key == "margin"}
    try:
        return Rule(**{**common, **entry})
    except UsageError as error:
        raise UsageError(f"{where}: {error}") from None


def checked_fall(value: Json, name: str) -> float:
    """How far a score may get worse: a number from 0.

    >>> checked_fall(-1, "tolerance")
    Traceback (most recent call last):
    cranfield.errors.UsageError: tolerance must be 0 or more, not -1: it is how much worse a score may get
    """
    fall = _number(value, name)
    if fall < 0:
        raise UsageError(f"{name} must be 0 or more, not {fall:g}: it is how much worse a score may get")
    return fall


def _number(value: Json, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
        raise UsageError(f"{name} must be a number, not {value!r}")
    return float(value)
