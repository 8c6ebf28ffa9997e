"""`gate`: may a candidate replace the baseline? A yes or no for continuous integration, with the reasons."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

from cranfield.comparing import compare
from cranfield.comparison import Comparison
from cranfield.errors import UsageError, some
from cranfield.findings import Finding
from cranfield.measures import parse_measure
from cranfield.policy import Policy

DEFAULT_MEASURE = "nDCG@10"
ROUNDING = 1e-12  # a threshold that is met exactly must not fail for its last bit


@dataclass(frozen=True)
class Rule:
    """When a measure fails: its mean falls by more than `tolerance`, falls significantly, or is below `minimum`."""

    tolerance: float | None = None
    significant: bool = True
    minimum: float | None = None

    def __post_init__(self) -> None:
        if self.tolerance is not None:
            _checked_fall(self.tolerance, "tolerance")
        if self.minimum is not None:
            _number(self.minimum, "minimum")
        if not isinstance(self.significant, bool):
            raise UsageError(f"significant must be true or false, not {self.significant!r}")


@dataclass(frozen=True)
class Thresholds:
    """What a candidate must keep: a rule for each measure, and topics that may fall by so much at most."""

    rules: Mapping[str, Rule] = field(default_factory=lambda: {DEFAULT_MEASURE: Rule()})
    topics: Mapping[str, float] = field(default_factory=dict)
    alpha: float = 0.05

    def __post_init__(self) -> None:
        for topic, fall in self.topics.items():
            _checked_fall(fall, f"the fall of topic {topic}")
        if not self.topics and not any(rule.significant or _has_figure(rule) for rule in self.rules.values()):
            raise UsageError("nothing is checked: give a tolerance, a minimum, a topic, or ask for significance")

    @classmethod
    def of_document(cls, document: Mapping[str, Any], source: str = "thresholds") -> Thresholds:
        """Thresholds from a small TOML file: alpha, [measures.NAME] with the fields of a Rule, [topics] ID = fall.

        >>> made = Thresholds.of_document({"measures": {"AP": {"tolerance": 0.01}}, "topics": {"301": 0.1}})
        >>> made.rules["AP"].tolerance, made.topics
        (0.01, {'301': 0.1})
        """
        unknown = [key for key in document if key not in ("alpha", "measures", "topics")]
        if unknown:
            raise UsageError(f"{source}: unknown key '{unknown[0]}'; there are alpha, measures, topics")
        given = {key: document.get(key, {}) for key in ("measures", "topics")}
        for key, table in given.items():
            if not isinstance(table, Mapping):
                raise UsageError(f"{source}: {key} must be a table, [{key}], not {table!r}")
        rules: dict[str, Rule] = {}
        for name, entry in given["measures"].items():
            measure = str(parse_measure(name))
            if measure in rules:
                raise UsageError(f"{source}: {measure} has two rules, one of them under the name {name}")
            rules[measure] = _rule(entry, f'{source}: [measures."{name}"]')
        topics = {
            str(topic): _checked_fall(fall, f"{source}: topic {topic}") for topic, fall in given["topics"].items()
        }
        alpha = _number(document.get("alpha", 0.05), f"{source}: alpha")
        return cls(rules or {DEFAULT_MEASURE: Rule()}, topics, alpha)


@dataclass(frozen=True)
class Check:
    """One thing that was checked, and whether the candidate passed."""

    what: str
    passed: bool
    detail: str


@dataclass(frozen=True, eq=False)
class Verdict:
    """Whether the candidate passes, every check behind it, and the comparison they rest on.

    >>> qrels = {str(t): {"d1": 1} for t in range(6)}
    >>> good = {str(t): {"d1": 2.0, "d2": 1.0} for t in range(6)}
    >>> worse = {str(t): {"d2": 2.0, "d1": 1.0} for t in range(6)}
    >>> gate(qrels, good, worse, Thresholds({"RR": Rule(tolerance=0.02)})).passed
    False
    """

    comparison: Comparison
    checks: tuple[Check, ...]

    @property
    def passed(self) -> bool:
        """Whether every check passed."""
        return all(check.passed for check in self.checks)

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """What is odd about the inputs."""
        return self.comparison.warnings


def gate(
    qrels: Any,
    baseline: Any,
    candidate: Any,
    thresholds: Thresholds | None = None,
    *,
    policy: Policy | None = None,
    read: Mapping[str, Any] | None = None,
    **question: Any,
) -> Verdict:
    """Checks a candidate against a baseline. `question` goes to `compare`: tests, correction, sampling.

    >>> qrels = {str(t): {"d1": 1} for t in range(6)}
    >>> run = {str(t): {"d1": 2.0, "d2": 1.0} for t in range(6)}
    >>> gate(qrels, run, run, Thresholds({"RR": Rule(minimum=0.9)})).passed
    True
    """
    asked = thresholds or Thresholds()
    found = compare(
        qrels,
        {"candidate": candidate, "baseline": baseline},
        list(asked.rules),
        policy=policy,
        read=read,
        baseline="baseline",
        alpha=asked.alpha,
        **question,
    )
    checks = []
    for panel, rule in zip(found.panels, asked.rules.values(), strict=True):
        name, (mean, before) = str(panel.measure), panel.means.tolist()
        change, p = float(panel.effects.mean[0]), float(panel.adjusted[0])
        moved = f"{before:.4f} → {mean:.4f} ({change:+.4f})"
        if rule.tolerance is not None:
            kept = change >= -rule.tolerance - ROUNDING
            checks.append(Check(f"{name} falls by at most {rule.tolerance:g}", kept, moved))
        if rule.significant:
            checks.append(
                Check(f"{name} does not fall significantly", change >= 0 or p >= asked.alpha, f"{moved}, p {p:.4f}")
            )
        if rule.minimum is not None:
            reached = mean >= rule.minimum - ROUNDING
            checks.append(Check(f"{name} is at least {rule.minimum:g}", reached, f"{mean:.4f}"))
    return Verdict(found, (*checks, *_topic_checks(found, asked.topics)))


def _topic_checks(found: Comparison, topics: Mapping[str, float]) -> list[Check]:
    """Topics that must not fall, on any measure."""
    unknown = [topic for topic in topics if topic not in found.panels[0].topics]
    if unknown:
        raise UsageError(f"no topic {some(unknown)} among those compared")
    checks = []
    for panel in found.panels:
        change = panel.scores[0] - panel.scores[1]
        for topic, fall in topics.items():
            moved = float(change[panel.topics.index(topic)])
            passed = moved >= -fall - ROUNDING
            checks.append(Check(f"{panel.measure} of topic {topic} falls by at most {fall:g}", passed, f"{moved:+.4f}"))
    return checks


def _has_figure(rule: Rule) -> bool:
    return rule.tolerance is not None or rule.minimum is not None


def _rule(entry: Any, where: str) -> Rule:
    known = Rule.__dataclass_fields__
    wrong = [key for key in entry if key not in known] if isinstance(entry, Mapping) else [entry]
    if wrong:
        raise UsageError(f"{where} has {wrong[0]!r}; it may have {', '.join(known)}")
    try:
        return Rule(**entry)
    except UsageError as error:
        raise UsageError(f"{where}: {error}") from None


def _checked_fall(value: Any, what: str) -> float:
    fall = _number(value, what)
    if fall < 0:
        raise UsageError(f"{what} must be 0 or more, not {fall:g}: it is how far a score may fall")
    return fall


def _number(value: Any, what: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
        raise UsageError(f"{what} must be a number, not {value!r}")
    return float(value)
