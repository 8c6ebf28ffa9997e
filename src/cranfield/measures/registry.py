"""Measures by name. A measure is one decorated function; everything else about it is read from there.

Notation: `Name(param=value, …)@cutoff`, as in ir_measures; trec_eval's names are accepted too.
"""

from __future__ import annotations

import ast
import inspect
import math
import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import numpy as np

from cranfield.errors import ArgumentError, UsageError
from cranfield.judged import Floats, Judged
from cranfield.numerals import NotPlainError, literal

if TYPE_CHECKING:
    from cranfield.measures.explained import Trace, Working

# The modules of measures beside this one, in the order of the lists. A name is looked for in the same order, and a
# family loaded when none before it has the name.
FAMILIES = (
    "ranked",
    "gain",
    "user_models",
    "interpolated",
    "sets",
    "counts",
    "lecture",
    "cwl",
    "trec",
    "diversity",
    "orders",
    "preferences",
    "known",
    "sampled",
    "timed",
)
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
_SIGNS: Mapping[Better, int] = {"higher": 1, "lower": -1, "neither": 0}
_ARROWS: Mapping[Better, str] = {"higher": "", "lower": " ↓", "neither": ""}

# How topics become one number: the parameter `agg` of every measure.
AGGREGATES: Mapping[str, Callable[[Floats], float]] = {
    "mean": _arithmetic,
    "geometric": _geometric,
    "harmonic": _harmonic,
    "sum": _sum,
}
# And one that looks at more than the scores: the mean of a measure's numerators over the mean of its denominators.
RATIO = "ratio"


class Parameter(NamedTuple):
    """A parameter's meaning, and the check that a value must pass; `accepts` says the check in words."""

    help: str
    accepts: str
    check: Callable[[Any], bool]


def is_number(value: Any) -> bool:
    try:
        return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    except OverflowError:  # an int beyond every double
        return False


def _is_gain(value: Any) -> bool:
    if isinstance(value, dict):
        return bool(value) and all(is_number(x) for pair in value.items() for x in pair)
    return isinstance(value, str) and value in ("linear", "exp")


def is_whole(value: Any) -> bool:
    """A whole number from 1."""
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value < 2**62


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
# Those that every measure has: they are served here, and no measure's function sees them.
EVERYWHERE = ("judged_only", "agg")


# What a measure may need besides grades and ranks: a column of the judgements, and how to give it.
NEEDS: Mapping[str, str] = {
    "known": "the documents the user knew before, as a second judgement file: --known FILE, or known=…",
    "lengths": "the lengths of the documents retrieved: --lengths FILE, or lengths=…",
    "sampled": "judgements of a sample: a file with strata or chances, or {topic: {document: (grade, chance)}}",
    "subtopics": "judgements for each subtopic: a file whose second column is the subtopic, or dicts of dicts of dicts",
}


class Definition(NamedTuple):
    """What the decorator recorded about a measure."""

    name: str
    function: Callable[..., Floats]
    family: str
    parameters: Mapping[str, Parameter]
    defaults: Mapping[str, Any]
    at: str | None  # the parameter written after @
    aliases: tuple[str, ...]
    averages: Mapping[str, tuple[str, str | None]]  # name: (aggregate, trec_eval's name)
    trec: str | None  # trec_eval's name without a cutoff
    trec_at: str | None  # and with one: P for P_10
    trec_cutoffs: tuple[float, ...]  # those of trec_eval's bare name
    range: tuple[float, float]
    better: Better | Callable[..., Better] = "higher"  # for some measures a parameter tells
    exact_ties: bool = False  # the function follows `Judged.expected`
    bounds: Callable[..., tuple[Floats, Floats]] | None = None  # lowest and highest value under unjudged documents
    needs: str | None = None  # the column of the judgements without which it cannot be computed
    denominator: Callable[..., Floats] | None = None  # what its value is divided by, from the judgements alone
    may_hurt: bool = False  # a more relevant document may lower it: its bounds are the widest that a search finds
    linear: bool = False  # a weighted sum of what is relevant, by weights that do not depend on it
    explain: Callable[..., Working] | None = None  # how a value arises

    @property
    def required(self) -> bool:
        return self.at is not None and self.at not in self.defaults

    def part(self, label: str) -> str:
        """The text after `label:` in the docstring."""
        for paragraph in inspect.cleandoc(self.function.__doc__ or "").split("\n\n"):
            for line in paragraph.split("\n"):
                if line.startswith(f"{label}: "):
                    rest = paragraph[paragraph.index(line) + len(label) + 2 :].split("\n")
                    taken = [rest[0]]
                    for more in rest[1:]:
                        if not more.startswith(" "):
                            break
                        taken.append(more.strip())
                    return " ".join(taken)
        return ""

    @property
    def summary(self) -> str:
        return inspect.cleandoc(self.function.__doc__ or "").split("\n")[0]

    @property
    def description(self) -> str:
        """The docstring before its formula."""
        text = inspect.cleandoc(self.function.__doc__ or "")
        return text.split("\n\nFormula: ")[0].split("\n\n>>>")[0]

    @property
    def example(self) -> str:
        lines = inspect.cleandoc(self.function.__doc__ or "").split("\n")
        first = next((i for i, line in enumerate(lines) if line.startswith(">>>")), len(lines))
        return "\n".join(lines[first:])


def _plain(value: Any) -> Any:
    """A value as Python's own type, and whole numbers without a point: equal parameters print alike."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, dict):
        return {_plain(key): _plain(item) for key, item in value.items()}
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _frozen(value: Any) -> Any:
    return tuple(sorted(value.items())) if isinstance(value, dict) else value


@dataclass(frozen=True, repr=False)
class Measure:
    """A measure with its parameters: call it to set some, `@` for the cutoff.

    >>> from cranfield.measures import nDCG
    >>> nDCG(gain="exp") @ 20
    nDCG(gain='exp')@20
    """

    definition: Definition = field(compare=False)
    name: str
    given: tuple[tuple[str, Any], ...] = ()

    def __call__(self, **parameters: Any) -> Measure:
        """The same measure with these parameters set."""
        definition = self.definition
        values = dict(self.given)
        for key, value in parameters.items():
            known = definition.parameters.get(key)
            if known is None:
                names = ", ".join(definition.parameters)
                raise UsageError(f"{definition.name} has no parameter '{key}'; it has {names}")
            # P@5.0 is refused although 5.0 would do: a cutoff is a rank
            if not known.check(value.item() if isinstance(value, np.generic) else value):
                raise UsageError(f"{definition.name}: {key} must be {known.accepts}, not {value!r}")
            if key == "agg" and value == RATIO and definition.denominator is None:
                able = ", ".join(other.name for other in all_measures() if other.definition.denominator)
                raise UsageError(f"{definition.name} is not a ratio to what the judgements hold, as are {able}")
            values[key] = float(value) if key == "recall" else _frozen(_plain(value))
        kept = tuple(
            (key, values[key])
            for key in definition.parameters
            if key in values and (key not in definition.defaults or values[key] != definition.defaults[key])
        )
        return Measure(definition, self.name, kept)

    def __matmul__(self, value: float) -> Measure:
        if self.definition.at is None:
            raise UsageError(f"{self.definition.name} takes no cutoff")
        return self(**{self.definition.at: value})

    @property
    def parameters(self) -> dict[str, Any]:
        """Every parameter with its value."""
        return dict(self.definition.defaults) | dict(self.given)

    @property
    def better(self) -> Better:
        """Which values are better: higher ones, lower ones if it is a loss, or neither if it says nothing of quality.

        >>> from cranfield.measures import AP, E, Judged
        >>> AP.better, (E @ 10).better, Judged.better
        ('higher', 'lower', 'neither')
        """
        better = self.definition.better
        return better(**self._arguments()) if callable(better) else better

    @property
    def sign(self) -> int:
        """What makes more of a value better: 1, or -1 for a loss; 0 where no value is better than another."""
        return _SIGNS[self.better]

    @property
    def label(self) -> str:
        """The measure as the head of a table has it: a loss with an arrow, for less of it is better.

        >>> from cranfield.measures import AP, E
        >>> AP.label, (E @ 10).label
        ('AP', 'E@10 ↓')
        """
        return f"{self}{_ARROWS[self.better]}"

    @property
    def is_complete(self) -> bool:
        return not self.definition.required or self.definition.at in dict(self.given)

    def per_topic(self, judged: Judged) -> Floats:
        """The measure's value for each topic."""
        if not self.is_complete:
            raise UsageError(f"{self.name} needs a {self.definition.at}: {self.name}@10")
        self.check_needs(judged.pool.columns)
        if judged.expected and not self.definition.exact_ties and np.any(judged.tie_size > 1):
            raise UsageError(
                f"{self.name} has no formula for the mean over all orders of ties: "
                "`evaluate` goes through orders or draws them"
            )
        scores = self.definition.function(self._seen(judged), **self._arguments())
        if np.shape(scores) != (len(judged.topics),):
            raise UsageError(f"{self.name} must give an array of {len(judged.topics)} values, one for each topic")
        return scores

    def check_needs(self, columns: Container[str]) -> None:
        """An error where the judgements lack what the measure needs."""
        needs = self.definition.needs
        if needs is not None and needs not in columns:
            raise UsageError(f"{self.name} needs {NEEDS[needs]}")

    def check_direction(self, remedy: str, *, reason: str = "") -> None:
        """An error where a decision needs values that are better than others; `reason` says why it does.

        >>> from cranfield.measures import NumRet
        >>> NumRet.check_direction("take another measure", reason="runs are put in order")
        Traceback (most recent call last):
        cranfield.errors.UsageError: runs are put in order, and no value of NumRet is better than another: take another measure
        """  # noqa: E501  the error is one line
        if self.sign == 0:
            asked = f"{reason}, and " if reason else ""
            raise UsageError(f"{asked}no value of {self} is better than another: {remedy}")

    def bounds(self, judged: Judged) -> tuple[Floats, Floats]:
        """The lowest and the highest value for each topic, whatever the unjudged documents retrieved may be."""
        if "preferences" in judged.pool.columns:
            raise UsageError("preferences have no bounds: what unjudged documents would be preferred to is open")
        judged = self._seen(judged)
        if self.definition.bounds is not None and not self.searches_bounds:
            return self.definition.bounds(judged, **self._arguments())
        if self.definition.needs is not None:
            raise UsageError(f"{self.name} has no bounds: what an unjudged document may be besides its grade is open")
        from cranfield.measures.bounded import by_climbing, by_search

        grades = self._possible_grades(judged)
        if self.searches_bounds:
            return by_climbing(judged, self.per_topic, np.array(grades))
        worth: dict[float, float] = self._table_of_gains()
        return by_search(judged, self.per_topic, max(grades, key=lambda grade: worth.get(grade, grade)))

    @property
    def searches_bounds(self) -> bool:
        """Whether more relevance may lower the value: its bounds are then not proven to be the widest in long lists."""
        return self.definition.may_hurt or any(value < 0 for value in self._table_of_gains().values())

    def _possible_grades(self, judged: Judged) -> list[float]:
        """The grades in use, which an unjudged document may have: of the judgements, and those the measure names."""
        named = [self.parameters.get("rel"), self.parameters.get("max_grade"), *self._table_of_gains()]
        grades = {0.0, judged.pool.max_grade, *judged.pool.grades.tolist(), *(g for g in named if g is not None)}
        return sorted(grade for grade in grades if grade >= 0)

    def _table_of_gains(self) -> dict[float, float]:
        gain: Any = self._arguments().get("gain")
        return gain if isinstance(gain, dict) else {}

    def trace(self, judged: Judged) -> Trace:
        """The ranking of the only topic, as the measure sees it, with its value."""
        from cranfield.measures.explained import Trace

        return Trace(self._seen(judged), float(self.per_topic(judged)[0]), self.definition.function)

    def working(self, trace: Trace) -> Working:
        """How the value of one topic arises: as the measure says, or else which documents count."""
        from cranfield.measures.explained import Working

        if self.definition.explain is not None:
            return self.definition.explain(trace, **self._arguments())
        counts = trace.relevant(self.parameters.get("rel", 0)) & (trace.grade > 0)
        return Working(counts & trace.within(self.parameters.get("cutoff")))

    def _seen(self, judged: Judged) -> Judged:
        """The rankings as the measure looks at them."""
        return judged.condensed() if self.parameters["judged_only"] else judged

    def _arguments(self) -> dict[str, Any]:
        values = {key: value for key, value in self.parameters.items() if key not in EVERYWHERE}
        if isinstance(values.get("gain"), tuple):
            values["gain"] = dict(values["gain"])
        return values

    @property
    def is_ratio_of_means(self) -> bool:
        return bool(self.parameters["agg"] == RATIO)

    def denominators(self, judged: Judged) -> Floats:
        """For the ratio of means, what each topic's value was divided by; 1 for other averages."""
        if not self.is_ratio_of_means or self.definition.denominator is None:
            return np.ones(len(judged.topics))
        return self.definition.denominator(judged, **self._arguments())

    def aggregate(self, scores: Floats, denominators: Floats | None = None) -> float:
        """One number for all topics; those without a value (NaN) are left out.

        The ratio of means needs the denominators too: it is the mean of the scores weighted by them.
        """
        counted = ~np.isnan(scores)
        if not counted.any():
            return float("nan")
        if not self.is_ratio_of_means:
            return AGGREGATES[self.parameters["agg"]](scores[counted])
        if denominators is None:
            raise UsageError(f"{self}: the ratio of means needs the topics' denominators beside their scores")
        total = float(np.sum(denominators[counted]))
        return float(np.sum((scores * denominators)[counted])) / total if total else 0.0

    @property
    def is_count(self) -> bool:
        """Whether the values are whole numbers."""
        return bool(self.definition.defaults["agg"] == "sum")

    @property
    def trec_name(self) -> str | None:
        """trec_eval's name for exactly this measure, if it has one."""
        definition, given = self.definition, dict(self.given)
        at = given.pop(definition.at, None) if definition.at else None
        if self.name in definition.averages:
            trec = definition.averages[self.name][1]
            return trec if at is None and not given else None
        if given:
            return None
        if at is None:
            return definition.trec
        if definition.trec_at is None:
            return None
        if definition.at == "cutoff":
            return f"{definition.trec_at}_{at}"
        return f"{definition.trec_at}_{at:.2f}" if round(at, 2) == at else None  # trec_eval has two decimals

    def __str__(self) -> str:
        given = dict(self.given)
        at = given.pop(self.definition.at, None) if self.definition.at else None
        shown = ", ".join(f"{k}={dict(v) if isinstance(v, tuple) else v!r}" for k, v in given.items())
        return self.name + (f"({shown})" if shown else "") + (f"@{at}" if at is not None else "")

    __repr__ = __str__

    def __reduce__(self) -> tuple[Callable[..., Measure], tuple[str, tuple[tuple[str, Any], ...]]]:
        """Copies and pickles hold the name: the function is found under it again, in another process too."""
        return _restored, (self.name, self.given)


def _restored(name: str, given: tuple[tuple[str, Any], ...]) -> Measure:
    return replace(named(name), given=given)


_DEFINITIONS: dict[str, Definition] = {}
_NAMES: dict[str, Measure] = {}


def measure(
    *,
    at: str | None = "cutoff",
    aliases: tuple[str, ...] = (),
    averages: Mapping[str, tuple[str, str | None]] | None = None,
    trec: str | None = None,
    trec_at: str | None = None,
    trec_cutoffs: tuple[float, ...] = (),
    agg: str = "mean",
    range: tuple[float, float] = (0.0, 1.0),
    better: Better | Callable[..., Better] = "higher",
    exact_ties: bool = False,
    bounds: Callable[..., tuple[Floats, Floats]] | None = None,
    needs: str | None = None,
    denominator: Callable[..., Floats] | None = None,
    may_hurt: bool = False,
    linear: bool = False,
    explain: Callable[..., Working] | None = None,
    **parameters: Parameter,
) -> Callable[[Callable[..., Floats]], Measure]:
    """Registers a function as a measure under its own name.

    The function takes a `Judged` and its parameters as keywords, and returns a value for each topic. Its docstring
    is the help: a summary line, then `Formula:`, `Reference:` and an example. `averages` names its other averages,
    as GMAP is AP averaged geometrically. `better` says which values are: "higher" ones, "lower" ones if it is a loss,
    "neither" if it says nothing of quality; or a function of the parameters that does. `exact_ties` says that it takes
    ranks only through `Judged.within`, `Judged.at_rank` and `Judged.levelled`, or has a formula for the mean over all
    orders of ties. `bounds` is a function like it that gives the lowest and the highest value if unjudged documents
    were relevant; without one they are searched for. `needs` names the column of the judgements, in NEEDS, without
    which the measure cannot be computed. `denominator` is a function like it that gives what its value is divided by,
    if that follows from the judgements alone: such a measure can be averaged as the ratio of means, agg='ratio'.
    `linear` says that under binary grades it is a sum, over the relevant documents, of weights that no document's
    relevance changes: its mean under probabilities is then exact.
    `explain` is a function of a `Trace` and the measure's parameters that says how a value arises: see
    `measures.explained`.
    """

    def register(function: Callable[..., Floats]) -> Measure:
        if not function.__module__.startswith(f"{__package__}."):
            list(_loaded())  # what a user defines comes after all of ours, and may take the place of one
        code = function.__code__
        names = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
        known = {name: found for name in (*names, *EVERYWHERE) if (found := parameters.get(name) or SHARED.get(name))}
        if unknown := [name for name in names if name not in known]:
            remedy = f"@measure({unknown[0]}=Parameter(help, accepts, check))"
            raise UsageError(f"{function.__name__}: nothing says what {unknown[0]} is; describe it: {remedy}")
        defaults = dict(function.__kwdefaults__ or {}) | {"judged_only": False, "agg": agg}
        definition = Definition(
            function.__name__,
            function,
            function.__module__.rpartition(".")[2],
            known,
            defaults,
            at if at in names else None,
            aliases,
            averages or {},
            trec,
            trec_at,
            trec_cutoffs,
            range,
            better,
            exact_ties,
            bounds,
            needs,
            denominator,
            may_hurt,
            linear,
            explain,
        )
        made = Measure(definition, definition.name)
        for name in (definition.name, *aliases):
            _NAMES[name] = made
        for name, (aggregate, _) in definition.averages.items():
            _NAMES[name] = Measure(_with_average(definition, aggregate), name)
        _DEFINITIONS[definition.name] = definition  # last: other threads look up the names of what they find here
        return made

    return register


def _with_average(definition: Definition, aggregate: str) -> Definition:
    return definition._replace(defaults=dict(definition.defaults) | {"agg": aggregate})


def all_measures() -> Iterator[Measure]:
    """Every registered measure, by family, as defined: without the cutoff it may need."""
    families = list(_loaded())
    place = {family: number for number, family in enumerate(families)}
    definitions = sorted(_DEFINITIONS.values(), key=lambda one: place.get(one.family, len(families)))
    return (_NAMES[definition.name] for definition in definitions)


def parse_measures(text: str) -> list[Measure]:
    """The measures a text names, commas between them: in our notation, or by the names that others have for them.

    >>> parse_measures("nDCG@10,AP"), parse_measures("P.5,10"), parse_measures("map@100,mrr")
    ([nDCG@10, AP], [P@5, P@10], [AP@100, RR])
    """
    return [one for part in _listed(text) for one in _parse_part(part)]


def _listed(text: str) -> list[str]:
    """What stands between commas outside brackets. What starts as a number belongs to the name before it: P.5,10.

    >>> _listed("nDCG(gain={1: 3, 2: 9})@10, P.5,10, AP")
    ['nDCG(gain={1: 3, 2: 9})@10', 'P.5,10', 'AP']
    """
    parts, depth = [""], 0
    for character in text:
        depth += (character in "([{") - (character in ")]}")
        if character == "," and depth <= 0:
            parts.append("")
        else:
            parts[-1] += character
    listed: list[str] = []
    for part in map(str.strip, parts):
        if listed and re.fullmatch(r"[-+]?[0-9.]+(=[-+]?[0-9.]+)?", part):
            listed[-1] += f",{part}"
        else:
            listed.append(part)
    if "" in listed and len(listed) > 1:
        raise UsageError(f"'{text}' has a comma with no measure beside it")
    return listed


def _parse_part(text: str) -> list[Measure]:
    text = _in_our_notation(text)
    for _ in _loaded():
        trec = _parse_trec(text)
        if trec:
            return trec
        if _base(_word(text)) is not None:
            break
    return [_parse_notation(text)]


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


def named(name: str) -> Measure:
    """The measure of a name, as defined: without the cutoff it may need.

    >>> named("nDCG")
    nDCG
    """
    for _ in _loaded():
        if name in _NAMES:
            return _NAMES[name]
    raise UsageError(_unknown(name))


def parse_measure(text: str) -> Measure:
    """The measure a text names.

    >>> parse_measure("AP(rel=2)"), parse_measure("ndcg_cut_10"), parse_measure("MAP")
    (AP(rel=2), nDCG@10, AP)
    """
    found = parse_measures(text)
    if len(found) != 1:
        raise UsageError(f"'{text}' names {len(found)} measures: {', '.join(map(str, found))}")
    return found[0]


def as_measures(wanted: Any) -> tuple[Measure, ...]:
    """Measures from what a caller gives: a name, a Measure, or several of either; each once."""
    if isinstance(wanted, str | Measure):
        wanted = [wanted]
    if not isinstance(wanted, Iterable):
        raise ArgumentError(f"measures are names, as 'nDCG@10', or Measure objects, not {wanted!r}")
    found: dict[Measure, None] = {}
    for item in wanted:
        if not isinstance(item, str | Measure):
            item = str(item)  # ir_measures' objects print in the same notation
        for one in [item] if isinstance(item, Measure) else parse_measures(item):
            if not one.is_complete:
                raise UsageError(f"{one.name} needs a {one.definition.at}: {one.name}@10")
            found[one] = None
    if not found:
        raise UsageError("no measure given")
    return tuple(found)


def _parse_trec(text: str) -> list[Measure]:
    for definition in list(_DEFINITIONS.values()):  # another thread may load a family meanwhile
        for name, (_, trec) in definition.averages.items():
            if trec == text:
                return [_NAMES[name]]
        one = _NAMES[definition.name]
        if definition.trec == text:
            return [one]
        stem = definition.trec_at
        if stem is None or not text.startswith(stem):
            continue
        rest = text[len(stem) :]
        if not rest and stem != definition.name:
            return [one @ value for value in definition.trec_cutoffs]
        if rest[:1] in ("_", "."):
            parts = rest[1:].split(",")
            if definition.at == "cutoff" and all(part.isascii() and part.isdigit() for part in parts):
                return [one @ int(part) for part in parts]
            if definition.at != "cutoff" and all(re.fullmatch(r"[0-9]*\.?[0-9]+|nan|inf", part) for part in parts):
                return [one @ float(part) for part in parts]
    return []


def _base(name: str) -> Measure | None:
    """The measure of a name without a cutoff, ours or trec_eval's, if a family that is loaded has it."""
    if name in _NAMES:
        return _NAMES[name]
    for definition in list(_DEFINITIONS.values()):
        if name in (definition.trec, definition.trec_at):
            return _NAMES[definition.name]
        for average, (_, trec) in definition.averages.items():
            if name == trec:
                return _NAMES[average]
    return None


def _parse_notation(text: str) -> Measure:
    try:
        node: ast.expr = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        raise UsageError(_unknown(text)) from None
    at: ast.expr | None = None
    keywords: list[ast.keyword] = []
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
        at, node = node.right, node.left
    if isinstance(node, ast.Call):
        if node.args:
            raise UsageError(f"'{text}': parameters are given by name, as in RBP(p=0.8)")
        keywords = node.keywords
        node = node.func
    if isinstance(node, ast.Tuple):
        again = text.replace(",", f",{_word(text)}@")
        raise UsageError(f"'{text}': after a comma the measure is named again, as in {again}")
    if not isinstance(node, ast.Name) or node.id not in text:  # Python takes letters of any width for a name
        raise UsageError(_unknown(text))
    if _base(node.id) is None:
        raise UsageError(_unknown(node.id))
    given = [(keyword.arg or "**", _literal(keyword.value, text)) for keyword in keywords]
    one, given = _our_measure(node.id, given)
    parameters: dict[str, Any] = {}
    for name, value in given:
        name, value = _our_parameter(name, value, one)
        if name in parameters or (at is not None and name == one.definition.at):
            raise UsageError(f"'{text}' gives {name} twice")
        parameters[name] = value
    one = one(**parameters)
    if at is None:
        return one
    made: Measure = one @ _literal(at, text)
    return made


def _our_measure(name: str, given: list[tuple[str, Any]]) -> tuple[Measure, list[tuple[str, Any]]]:
    """A measure as we call it, where ir_measures has it as another one with a parameter."""
    if name == "NumRet" and any(parameter == "rel" for parameter, _ in given):
        return _NAMES["NumRelRet"], given
    if name == "SetP" and ("relative", True) in given:
        name = "SetRelP"
    one = _base(name)
    assert one is not None, name
    return one, [pair for pair in given if name != "SetRelP" or pair != ("relative", True)]


def _our_parameter(name: str, value: Any, one: Measure) -> tuple[str, Any]:
    """A parameter as we spell it, where ir_measures spells it otherwise."""
    graded = {"min_rel": "min_grade", "max_rel": "max_grade"}.get(name, "")
    if graded in one.definition.parameters:
        return graded, value
    if "gain" in one.definition.parameters:
        if name == "gains":
            return "gain", value
        if name == "dcg":
            known = {"log2": "linear", "exp-log2": "exp"}
            if not isinstance(value, str) or value not in known:
                raise UsageError(f"{one.name}: dcg must be {' or '.join(map(repr, known))}, not {value!r}")
            return "gain", known[value]
    return name, value


def _literal(node: ast.expr, text: str) -> Any:
    try:
        return literal(node, text)
    except NotPlainError as error:
        raise UsageError(f"'{text}': {error}") from None
    except (ValueError, TypeError):
        raise UsageError(f"'{text}': a parameter is a number, a string in quotes, or a {{grade: gain}} table") from None


def _unknown(text: str) -> str:
    import difflib

    list(_loaded())  # the nearest names are those of all families
    word = _word(text)
    first, *others = re.split(r"[\s;|+]+", re.sub(r"\(.*?\)", "", text))
    if others and _base(_word(first)) is not None:
        return f"unknown measure '{text}'; between several measures there are commas, as in nDCG@10,AP"
    ours = {name.lower(): name for name in reversed(_NAMES)}
    trec = {name: name for d in _DEFINITIONS.values() for name in (d.trec, d.trec_at) if name}
    close = difflib.get_close_matches
    exact = ours.get(word.lower()) or trec.get(word)
    near = [exact] if exact else [ours[name] for name in close(word.lower(), ours, n=2, cutoff=0.5)]
    near += [name for name in close(word, trec, n=1, cutoff=0.8) if name not in near and name != word]
    if not near:
        return f"unknown measure '{text}'; `cranfield measures` lists them"
    return f"unknown measure '{text}'; did you mean {' or '.join(filter(None, (', '.join(near[:-1]), near[-1])))}?"


def _word(text: str) -> str:
    return re.split(r"[(@.]", text, maxsplit=1)[0].strip()


def _loaded() -> Iterator[str]:
    """The families, each loaded when it is come to."""
    for family in FAMILIES:
        import_module(f"cranfield.measures.{family}")
        yield family
