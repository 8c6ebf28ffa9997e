"""What a gate found: an answer, every check behind it, and the numbers each rests on."""

from __future__ import annotations

from dataclasses import dataclass
from math import isinf
from typing import NamedTuple

from cranfield.comparison.gate.rules import Answer, Thresholds
from cranfield.errors import plural
from cranfield.evaluation.findings import Finding
from cranfield.evaluation.printed import Printed
from cranfield.evaluation.results import Results
from cranfield.measures import Measure
from cranfield.statistics.significance import Sampling

ANSWERS: tuple[Answer, ...] = ("pass", "cannot tell", "fail")  # from best to worst


class Evidence(NamedTuple):
    """What a one-sided test of a measure gave.

    `low` and `high` are the interval of the mean difference, candidate minus baseline, at 1 - alpha: it is one-sided,
    so one of its ends is infinite, and it is None where the test is not about the mean. `changed` are the topics on
    which the runs differ, `needed` how many must for the test to be able to reach alpha. `test` is the one that
    decided, `method` how it came to p: exact or drawn for randomisation, formula otherwise; `error` is the standard
    error of p.
    """

    p: float
    test: str
    method: str
    error: float
    low: float | None
    high: float | None
    topics: int
    changed: int
    needed: int
    margin: float | None = None

    @property
    def has_interval(self) -> bool:
        """Whether the interval says anything."""
        return self.low is not None and self.high is not None and not (isinf(self.low) and isinf(self.high))


@dataclass(frozen=True, kw_only=True)
class Check:
    """One thing that was checked, and the answer.

    `rule` says which: tolerance, minimum, maximum, topic, or the requirement that was tested, with its evidence.
    """

    measure: str
    rule: str
    what: str
    answer: Answer
    detail: str
    evidence: Evidence | None = None

    @property
    def passed(self) -> bool:
        return self.answer == "pass"


class Means(NamedTuple):
    """A measure of both runs over the topics that both have a score on, and on how many the candidate is better.

    `better` and `worse` are None where no value of the measure is better than another.
    """

    measure: Measure
    topics: int
    baseline: float
    candidate: float
    better: int | None
    same: int
    worse: int | None


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Verdict(Printed):
    """Whether the candidate passes, every check behind it, and the results they rest on.

    >>> from cranfield import gate
    >>> from cranfield.comparison import Rule, Thresholds
    >>> qrels = {str(t): {"d1": 1} for t in range(6)}
    >>> good = {str(t): {"d1": 2.0, "d2": 1.0} for t in range(6)}
    >>> worse = {str(t): {"d2": 2.0, "d1": 1.0} for t in range(6)}
    >>> from cranfield import Experiment
    >>> gate(Experiment(qrels, [good, worse]), Thresholds({"RR": Rule(tolerance=0.02)})).answer
    'fail'
    """

    checks: tuple[Check, ...]
    means: tuple[Means, ...]
    thresholds: Thresholds
    test: str
    sampling: Sampling
    results: Results
    warnings: tuple[Finding, ...]

    @property
    def answer(self) -> Answer:
        """The worst answer of a check; "cannot tell" as the thresholds count it."""
        return self.counted(max((check.answer for check in self.checks), key=ANSWERS.index))

    @property
    def passed(self) -> bool:
        """Whether the answer is pass."""
        return self.answer == "pass"

    def counted(self, answer: Answer) -> Answer:
        """An answer as it counts for the verdict."""
        return self.thresholds.cannot_tell if answer == "cannot tell" else answer

    def number_of(self, answer: Answer) -> int:
        """How many checks have an answer."""
        return sum(check.answer == answer for check in self.checks)

    @property
    def headline(self) -> str:
        """The verdict in a line."""
        count, failed, open_ = len(self.checks), self.number_of("fail"), self.number_of("cannot tell")
        if failed:
            return f"The candidate fails {'the check' if count == 1 else f'{failed} of {count} checks'}{_also(open_)}."
        if not open_:
            return f"The candidate passes {'the check' if count == 1 else f'{count} of {count} checks'}."
        answer = (
            f"{open_} of {plural(count, 'check')} cannot tell, the others pass"
            if open_ < count
            else ("The check cannot tell" if count == 1 else f"None of the {count} checks can tell")
        )
        counts = {"pass": "; that counts as passed", "fail": "; that counts as failed"}.get(
            self.thresholds.cannot_tell, ""
        )
        return f"{answer[0].upper()}{answer[1:]}{counts}."

    @property
    def promise(self) -> str:
        """How often chance alone makes this gate err, in words; empty if nothing was tested."""
        tested = [check for check in self.checks if check.evidence is not None]
        about_harm = [check.evidence for check in tested if check.rule == "no-evidence-of-harm" and check.evidence]
        harm = sum(evidence.topics >= evidence.needed for evidence in about_harm)
        others = list(dict.fromkeys(check.rule for check in tested if check.rule != "no-evidence-of-harm"))
        alpha = self.thresholds.alpha
        sentences = ["With so few topics nothing can fail for harm by chance."] if about_harm and not harm else []
        most = "about" if any(check.evidence.method == "formula" for check in tested if check.evidence) else "at most"
        if harm:
            together, apart = min(1.0, harm * alpha), 1 - (1 - alpha) ** harm
            preamble = f"{harm} measures are tested at {alpha:g} each, and none weakens another: " if harm > 1 else ""
            likely = f" ({_percent(apart)} if the measures were independent)" if harm > 1 else ""
            chance = f"in {most} {_percent(together)} of all cases{likely}"
            sentence = f"{preamble}a candidate that does no harm fails by chance {chance}"
            sentences.append(sentence[0].upper() + sentence[1:] + ".")
        if "better" in others:
            sentences.append(
                f"A candidate that is no better on one of the measures passes by chance in {most} {_percent(alpha)} of "
                "all cases."
            )
        if "non-inferior" in others:
            sentences.append(
                "A candidate that is worse by the margin or more on one of the measures passes by chance in about "
                f"{_percent(alpha)} of all cases, if differences lie evenly around their mean; more often, if a few "
                "topics carry the loss."
            )
        return " ".join(sentences)

    def _rendered(self, format: str) -> str:
        from cranfield.comparison.gate.gate_tables import render

        return render(self, format)


def _also(open_: int) -> str:
    return f", and {open_} cannot tell" if open_ else ""


def _percent(share: float) -> str:
    return f"{100 * share:.3g}%"
