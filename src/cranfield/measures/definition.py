"""What is recorded about a measure, and the words that measures share: averages, directions, parameters, needs."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from cranfield.errors import UsageError
from cranfield.judged import Floats
from cranfield.notation import Value
from cranfield.records import NamedTuple, Record
from cranfield.registry import Entry, Parameter, is_number, is_whole

if TYPE_CHECKING:
    from cranfield.measures.explained import Working
    from cranfield.measures.registry import Measure

GEOMETRIC_FLOOR = 1e-5


def _arithmetic(scores: Floats) -> float:
    return float(np.mean(scores))


def _geometric(scores: Floats) -> float:
    return float(np.exp(np.mean(np.log(np.maximum(scores, GEOMETRIC_FLOOR)))))


def _harmonic(scores: Floats) -> float:
    return 0.0 if np.any(scores <= 0) else float(len(scores) / np.sum(1 / scores))


def _sum(scores: Floats) -> float:
    return float(np.sum(scores))


# Which values of a measure are the better ones. Whatever ranks, marks, colours, gates, tunes or counts wins asks it.
Better: TypeAlias = Literal["higher", "lower", "neither"]
SIGNS: Mapping[Better, int] = {"higher": 1, "lower": -1, "neither": 0}
ARROWS: Mapping[Better, str] = {"higher": "", "lower": " ↓", "neither": ""}

# How topics become one number: the parameter `agg` of every measure.
AGGREGATES: Mapping[str, Callable[[Floats], float]] = {
    "mean": _arithmetic,
    "geometric": _geometric,
    "harmonic": _harmonic,
    "sum": _sum,
}
# And one that looks at more than the scores: the mean of a measure's numerators over the mean of its denominators.
RATIO = "ratio"

# What is said of each way to average, as measures' help has formulas.
FORMULAS = {
    "mean": "arithmetic mean: (1 / n) Σ x over n topics",
    "geometric": "geometric mean: the n-th root of Π x, which is exp((1 / n) Σ ln x)",
    "harmonic": "harmonic mean: n / Σ (1 / x)",
    "sum": "sum: Σ x over topics",
    RATIO: "ratio of means: Σ numerators / Σ denominators, where x = numerator / denominator",
}


def _is_gain(value: Value) -> bool:
    if isinstance(value, dict):
        return bool(value) and all(is_number(x) for pair in value.items() for x in pair)
    return isinstance(value, str) and value in ("linear", "exp")


# Parameters that several measures share. A name means the same everywhere.
SHARED: Mapping[str, Parameter] = {
    "cutoff": Parameter("ranks below this are not looked at", "a whole number from 1", is_whole),
    "rel": Parameter("least grade of a relevant document", "a number", is_number),
    "p": Parameter(
        "persistence: the chance to go on to the next document",
        "a number between 0 and 1",
        lambda v: is_number(v) and 0 < v < 1,
    ),
    "beta": Parameter("weight of recall against precision", "a number from 0", lambda v: is_number(v) and v >= 0),
    "gain": Parameter(
        "what a grade is worth: itself (linear), 2^grade - 1 (exp), or as given: {1: 3, 2: 9}, other grades themselves",
        "'linear', 'exp' or {grade: gain}",
        _is_gain,
    ),
    "base": Parameter(
        "None divides by log2(rank + 1); a number b divides by log_b(rank) from rank b on (Järvelin and Kekäläinen)",
        "None or a number above 1",
        lambda v: v is None or (is_number(v) and v > 1),
    ),
    "agg": Parameter(
        f"how topics become one number; geometric takes values below {GEOMETRIC_FLOOR:g} as {GEOMETRIC_FLOOR:g}, "
        "harmonic is 0 if any is; ratio is the mean of what a measure divides over the mean of what it divides by",
        ", ".join((*AGGREGATES, RATIO)),
        lambda v: isinstance(v, str) and v in (*AGGREGATES, RATIO),
    ),
    "judged_only": Parameter(
        "take the unjudged documents out of the ranking first, so that what is judged moves up (condensed lists)",
        "True or False",
        lambda v: isinstance(v, bool),
    ),
}
# What others call a parameter: E and F are one in lectures, the rest is of ir_measures. Ours is taken where a measure
# has it and not theirs.
OTHER_NAMES: Mapping[str, str] = {
    "b": "beta",
    "beta": "b",
    "min_rel": "min_grade",
    "max_rel": "max_grade",
    "gains": "gain",
    "dcg": "gain",
}
GAINS_OF_DCG: Mapping[str, str] = {"log2": "linear", "exp-log2": "exp"}
# Those that every measure has: they are served here, and no measure's function sees them.
EVERYWHERE = ("judged_only", "agg")


# What a measure may need besides grades and ranks: a column of the judgements, and how to give it.
NEEDS: Mapping[str, str] = {
    "known": "the documents the user knew before, as a second judgement file: --known FILE, or known=…",
    "lengths": "the lengths of the documents retrieved: --lengths FILE, or lengths=…",
    "sampled": "judgements of a sample: a file with strata or chances, or {topic: {document: (grade, chance)}}",
    "sessions": "a log of sessions: `cranfield online sessions`, or cranfield.online.sessions",
    "subtopics": "judgements for each subtopic: a file whose second column is the subtopic, or dicts of dicts of dicts",
}


def needed(column: str) -> str:
    """What a measure needs, in words; a column that is not ours is that of a kind of judgements of the same name.

    >>> needed("votes")
    "judgements of the kind votes: --judgements votes, or Reading(judgements='votes')"
    """
    other = f"judgements of the kind {column}: --judgements {column}, or Reading(judgements='{column}')"
    return NEEDS.get(column, other)


class Trec(NamedTuple):
    """What trec_eval calls a measure: without a cutoff, as map; with one, as P for P_10; and the cutoffs that its bare
    name stands for.
    """

    name: str | None = None
    at: str | None = None
    cutoffs: tuple[float, ...] = ()


class Traits(Record):
    """What is true of a measure's values. Each has a general way for measures that say nothing.

    `agg` is how topics become one number. `exact_ties` says that it takes ranks only through `Judged.within`,
    `Judged.at_rank` and `Judged.levelled`, or has a formula for the mean over all orders of ties. `bounds` is a
    function like the measure's own that gives the lowest and the highest value if unjudged documents were relevant;
    without one they are searched for. `may_hurt` says that a more relevant document may lower it: its bounds are then
    the widest that a search finds. `every_document` says that its bounds hang on more of an unjudged document than its
    rank: on those that share its score, or on whether the user knew it. `needs` names the column of the judgements, in
    NEEDS, without which it cannot be computed. `denominator` is a function like its own that gives what its value is
    divided by, if that follows from the judgements alone: such a measure can be averaged as the ratio of means,
    agg='ratio'. So can the area under a curve: its `points` are a function of the parameters that gives the measures of
    which it is the mean. `linear` says that under binary grades it is a sum, over the relevant documents, of weights
    that no document's relevance changes: its mean under probabilities is then exact. `whole_list` says that a cutoff
    does not keep it from looking below. `cumulative` says that what a document contributes follows from the judgements
    and the documents down to it: the value of a list cut short is what its documents add to that of the whole one.

    A measure of which these depend on its parameters gives a function of them: `varied` of the decorator.
    """

    range: tuple[float, float] = (0.0, 1.0)
    agg: str = "mean"
    exact_ties: bool = False
    bounds: Callable[..., tuple[Floats, Floats]] | None = None
    may_hurt: bool = False
    every_document: bool = False
    needs: str | None = None
    denominator: Callable[..., Floats] | None = None
    points: Callable[..., Sequence[Measure]] | None = None
    linear: bool = False
    whole_list: bool = False
    cumulative: bool = False


PLAIN = Traits()


class Definition(Traits, Entry[Callable[..., Floats]]):
    """What the decorator recorded about a measure."""

    at: str | None = None  # the parameter written after @
    averages: Mapping[str, tuple[str, str | None]]  # name: (aggregate, trec_eval's name)
    trec: str | None = None  # trec_eval's name without a cutoff
    trec_at: str | None = None  # and with one: P for P_10
    trec_cutoffs: tuple[float, ...] = ()  # those of trec_eval's bare name
    better: Better | Callable[..., Better] = "higher"  # for some measures a parameter tells
    varied: Callable[..., Traits] | None = None  # its traits by its parameters, if these tell
    explain: Callable[..., Working] | None = None  # how a value arises
    averaged: dict[str, Definition]  # those of `averages`, once asked for

    @property
    def names(self) -> tuple[str, ...]:
        return (self.name, *self.aliases, *self.averages)

    @property
    def family(self) -> str:
        """The module that it is defined in."""
        return self.module.rpartition(".")[2]

    def average(self, name: str) -> Definition:
        """The measure under a name that it has with another average: GMAP is AP averaged geometrically."""
        if name not in self.averages:
            return self
        if name not in self.averaged:
            aggregate = self.averages[name][0]
            agg = self.parameters["agg"]._replace(default=aggregate)
            self.averaged[name] = self.replaced(agg=aggregate, parameters={**self.parameters, "agg": agg})
        return self.averaged[name]

    def spelt(self, name: str, value: Value) -> tuple[str, Value]:
        """A parameter and its value as we spell them, where ir_measures or another measure spells them otherwise.

        >>> from cranfield.measures import E, nDCG
        >>> E.definition.spelt("beta", 2), nDCG.definition.spelt("dcg", "exp-log2")
        (('b', 2), ('gain', 'exp'))
        """
        ours = OTHER_NAMES.get(name, "")
        if name in self.parameters or ours not in self.parameters:
            return name, value
        if name != "dcg":
            return ours, value
        if not isinstance(value, str) or value not in GAINS_OF_DCG:
            raise UsageError(f"{self.name}: dcg must be {' or '.join(map(repr, GAINS_OF_DCG))}, not {value!r}")
        return ours, GAINS_OF_DCG[value]

    @property
    def required(self) -> bool:
        return self.at is not None and self.at not in self.defaults

    def part(self, label: str) -> str:
        """The text after `label:` in the docstring."""
        for paragraph in self.help.split("\n\n"):
            for line in paragraph.split("\n"):
                if line.startswith(f"{label}: "):
                    rest = paragraph[paragraph.index(line) + len(label) + 2 :].split("\n")
                    lines = [rest[0]]
                    for more in rest[1:]:
                        if not more.startswith(" "):
                            break
                        lines.append(more.strip())
                    return " ".join(lines)
        return ""

    @property
    def formulas(self) -> dict[str, str]:
        """Its formulas as the docstring labels them: the one of the defaults, and those with other parameters.

        >>> from cranfield.measures import AP
        >>> list(AP.definition.formulas)
        ['Formula', "Formula with over='seen'"]
        """
        labels = re.findall(r"^(Formula(?: with \w+=[^:\n]+)?): ", self.help, re.MULTILINE)
        return {label: self.part(label) for label in labels}

    @property
    def known_as(self) -> tuple[str, ...]:
        """What lectures and books call it, in their words; it is not found by them, but suggested."""
        return tuple(part.partition(" (")[0] for part in self.part("Known as").split("; ") if part)

    @property
    def remarks_on_names(self) -> tuple[str, ...]:
        """What stands in brackets after each of them: parameters with which it is meant, or words."""
        remarks = (part.partition(" (")[2] for part in self.part("Known as").split("; ") if part)
        return tuple(remark.removesuffix(")") for remark in remarks)

    @property
    def description(self) -> str:
        """The docstring before its formula."""
        text = self.help
        return text.split("\n\nFormula: ")[0].split("\n\n>>>")[0]
