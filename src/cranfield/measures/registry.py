"""Measures by name. A measure is one decorated function; everything else about it is read from there."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from cranfield.errors import UsageError
from cranfield.judged import Floats, Judged
from cranfield.measures.definition import (
    AGGREGATES,
    ARROWS,
    EVERYWHERE,
    PLAIN,
    RATIO,
    SHARED,
    SIGNS,
    Better,
    Definition,
    Traits,
    Trec,
    needed,
)
from cranfield.notation import Given, Value
from cranfield.records import dataclass
from cranfield.registry import REQUIRED, Parameter, Registry, described, is_number

if TYPE_CHECKING:
    from cranfield.measures.explained import Trace, Working

# Families that are not named here come after these. A name is looked for in the same order as lists have, and a family
# is loaded when none before it has the name.
MEASURES: Registry[Definition] = Registry(
    "measure",
    group="cranfield.measures",
    package="cranfield.measures",
    decorator="measure",
    order=(
        "ranked",
        "gain",
        "user_models",
        "interpolated",
        "sets",
        "counts",
        "lecture",
        "curves",
        "cwl",
        "trec",
        "diversity",
        "orders",
        "preferences",
        "known",
        "sampled",
        "timed",
    ),
)


def _plain(value: Value) -> Value:
    """A value as Python's own type, and whole numbers without a point: equal parameters print alike."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, dict):
        return {_plain(key): _plain(item) for key, item in value.items()}
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _frozen(value: Any) -> Value:
    """A value that can be part of a key: a table as its pairs."""
    return tuple(sorted(value.items())) if isinstance(value, dict) else value


def _thawed(value: Any) -> Value:
    """The value that was frozen."""
    return dict(value) if isinstance(value, tuple) else value


def _as_share(measure: Measure, parameter: str, value: Value) -> str:
    """How recall that was given in percent is written; nothing for another value."""
    if parameter != "recall" or not is_number(value) or not 2 <= value <= 100:
        return ""
    return f"; {value:g} % is written {measure(recall=value / 100)}"


@dataclass(frozen=True, repr=False)
class Measure:
    """A measure with its parameters: call it to set some, `@` for the cutoff.

    >>> from cranfield.measures import nDCG
    >>> nDCG(gain="exp") @ 20
    nDCG(gain='exp')@20
    """

    definition: Definition = field(compare=False)
    name: str
    given: Given = ()

    def __call__(self, **parameters: Any) -> Measure:
        """The same measure with these parameters set."""
        definition = self.definition
        values = dict(self.given)
        spelt: list[tuple[str, Any]] = [definition.spelt(key, value) for key, value in parameters.items()]
        twice = [key for i, (key, _) in enumerate(spelt) if key in dict(spelt[:i])]
        if twice:
            raise UsageError(f"{definition.name}: {twice[0]} is given twice, under two names")
        for key, value in spelt:
            known = definition.parameters.get(key)
            if known is None:
                names = ", ".join(definition.parameters)
                raise UsageError(f"{definition.name} has no parameter '{key}'; it has {names}")
            # P@5.0 is refused although 5.0 would do: a cutoff is a rank
            if not known.check(value.item() if isinstance(value, np.generic) else value):
                message = f"{definition.name}: {key} must be {known.accepts}, not {value!r}"
                raise UsageError(message + (_as_share(self, key, value) or known.meant(value)))
            values[key] = float(value) if key == "recall" else _frozen(_plain(value))
        kept = tuple(
            (key, values[key])
            for key in definition.parameters
            if key in values and (key not in definition.defaults or values[key] != definition.defaults[key])
        )
        made = Measure(definition, self.name, kept)
        made._check_ratio()
        return made

    def _check_ratio(self) -> None:
        """An error where the ratio of means is asked for and there is none."""
        if self.parameters["agg"] != RATIO or self.traits.denominator or self.traits.points:
            return
        able = [other.name for other in all_measures() if other.definition.denominator or other.definition.points]
        if self.definition.name in able:
            plain = Measure(self.definition, self.name, tuple(pair for pair in self.given if pair[0] != "agg"))
            reason = "a topic would count by what a run has found"
            raise UsageError(f"{plain} is not a ratio to what the judgements hold: {reason}; choose another average")
        raise UsageError(f"{self.definition.name} is not a ratio to what the judgements hold, as are {', '.join(able)}")

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
    def traits(self) -> Traits:
        """What is true of its values with these parameters.

        >>> from cranfield.measures import AP
        >>> AP.traits.exact_ties, (AP(over="seen") @ 10).traits.exact_ties
        (True, False)
        """
        varied = self.definition.varied
        return self.definition if varied is None else varied(**self._arguments())

    @property
    def formula(self) -> str:
        """As its help has it, for these parameters.

        >>> from cranfield.measures import RecallEffort
        >>> RecallEffort(over="retrieved").formula
        '(number expected) / (number retrieved)'
        """
        formulas = self.definition.formulas
        labels = [f"Formula with {name}={value!r}" for name, value in self.parameters.items()]
        return next((formulas[label] for label in labels if label in formulas), formulas.get("Formula", ""))

    @property
    def on_topic(self) -> Measure:
        """The measure of one topic: without how topics become one number.

        >>> from cranfield.measures import parse_measure
        >>> parse_measure("HMAP@10").on_topic, parse_measure("nDCG(agg='ratio')@5").on_topic
        (AP@10, nDCG@5)
        """
        definition = MEASURES.look_up(self.definition.name)
        if definition is None:  # it is not registered
            return self
        return Measure(definition, definition.name, tuple(pair for pair in self.given if pair[0] != "agg"))

    @property
    def reach(self) -> int | None:
        """The last rank that it looks at; None if that is the end of the list."""
        return None if self.traits.whole_list else self.parameters.get("cutoff")

    @property
    def sign(self) -> int:
        """What makes more of a value better: 1, or -1 for a loss; 0 where no value is better than another."""
        return SIGNS[self.better]

    @property
    def label(self) -> str:
        """The measure as the head of a table has it: a loss with an arrow, for less of it is better.

        >>> from cranfield.measures import AP, E
        >>> AP.label, (E @ 10).label
        ('AP', 'E@10 ↓')
        """
        return f"{self}{ARROWS[self.better]}"

    @property
    def is_complete(self) -> bool:
        return not self.definition.required or self.definition.at in dict(self.given)

    def check_complete(self) -> None:
        """An error where what is written after @ is missing."""
        at = self.definition.at
        if not self.is_complete:
            raise UsageError(f"{self.name} needs a {at}: {self @ (0.1 if at == 'recall' else 10)}")

    def per_topic(self, judged: Judged) -> Floats:
        """The measure's value for each topic."""
        self.check_complete()
        self.check_needs(judged.pool.columns)
        if judged.expected and not self.traits.exact_ties and np.any(judged.tie_size > 1):
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
            raise UsageError(f"{self.name} needs {needed(needs)}")

    def check_direction(self, remedy: str, *, reason: str = "") -> None:
        """An error where a decision needs values that are better than others; `reason` says why it does.

        >>> from cranfield.measures import NumRet
        >>> NumRet.check_direction("take another measure", reason="runs are put in order")
        Traceback (most recent call last):
        cranfield.errors.UsageError: runs are put in order, and no value of NumRet is better than another: take another measure
        """  # noqa: E501  the error is one line
        if self.sign == 0:
            why = f"{reason}, and " if reason else ""
            raise UsageError(f"{why}no value of {self} is better than another: {remedy}")

    def bounds(self, judged: Judged) -> tuple[Floats, Floats]:
        """The lowest and the highest value for each topic, whatever the unjudged documents retrieved may be."""
        if "preferences" in judged.pool.columns:
            raise UsageError("preferences have no bounds: what unjudged documents would be preferred to is open")
        judged = self._seen(judged)
        by_formula = self.traits.bounds
        if by_formula is not None and not self.searches_bounds:
            return by_formula(judged, **self._arguments())
        if self.definition.needs is not None:
            raise UsageError(f"{self.name} has no bounds: what an unjudged document may be besides its grade is open")
        from cranfield.measures.bounded import by_climbing, by_search

        grades = self.possible_grades(judged)
        if self.searches_bounds:
            return by_climbing(judged, self.per_topic, np.array(grades))
        worth: dict[float, float] = self._table_of_gains()
        return by_search(judged, self.per_topic, max(grades, key=lambda grade: worth.get(grade, grade)))

    @property
    def searches_bounds(self) -> bool:
        """Whether more relevance may lower the value: its bounds are then not proven to be the widest in long lists."""
        return self.traits.may_hurt or any(value < 0 for value in self._table_of_gains().values())

    def possible_grades(self, judged: Judged) -> list[float]:
        """The grades in use, which an unjudged document may have: of the judgements, and those the measure names."""
        named = [self.parameters.get("rel"), self.parameters.get("max_grade"), *self._table_of_gains()]
        grades = {0.0, judged.pool.max_grade, *judged.pool.grades.tolist(), *(g for g in named if g is not None)}
        return sorted(grade for grade in grades if grade >= 0)

    def _table_of_gains(self) -> dict[float, float]:
        gain = self._arguments().get("gain")
        pairs = gain.items() if isinstance(gain, dict) else ()
        return {grade: worth for grade, worth in pairs if is_number(grade) and is_number(worth)}

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

    def _arguments(self) -> dict[str, Value]:
        values = {key: value for key, value in self.parameters.items() if key not in EVERYWHERE}
        if "gain" in values:
            values["gain"] = _thawed(values["gain"])
        return values

    @property
    def is_ratio_of_means(self) -> bool:
        return bool(self.parameters["agg"] == RATIO)

    def denominators(self, judged: Judged) -> Floats:
        """For the ratio of means, what each topic's value was divided by; 1 for other averages."""
        denominator = self.traits.denominator
        if not self.is_ratio_of_means or denominator is None:
            return np.ones(len(judged.topics))
        return denominator(judged, **self._arguments())

    @cached_property
    def points(self) -> tuple[Measure, ...]:
        """The measures whose ratios of means make its own, if it is the area under their curve; otherwise none.

        >>> from cranfield.measures import AreaNCG
        >>> (AreaNCG(agg="ratio") @ 2).points, (AreaNCG @ 2).points
        ((NCG(agg='ratio')@1, NCG(agg='ratio')@2), ())
        """
        points = self.traits.points if self.is_ratio_of_means else None
        shared = {name: self.parameters[name] for name in EVERYWHERE}
        return () if points is None else tuple(point(**shared) for point in points(**self._arguments()))

    def aggregate(self, scores: Floats, denominators: Floats | None = None) -> float:
        """One number for all topics; those without a value (NaN) are left out.

        The ratio of means needs the denominators too: it is the mean of the scores weighted by them.
        """
        counted = ~np.isnan(scores)
        if not counted.any():
            return float("nan")
        if not self.is_ratio_of_means:
            return AGGREGATES[self.parameters["agg"]](scores[counted])
        if self.points:
            raise UsageError(
                f"{self}: the area under a curve of ratios of means needs every point: `evaluate` has them"
            )
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
        definition, values = self.definition, dict(self.given)
        at = values.pop(definition.at, None) if definition.at else None
        if self.name in definition.averages:
            trec = definition.averages[self.name][1]
            return trec if at is None and not values else None
        if values:
            return None
        if at is None:
            return definition.trec
        if definition.trec_at is None:
            return None
        if definition.at == "cutoff":
            return f"{definition.trec_at}_{at}"
        return (
            f"{definition.trec_at}_{at:.2f}" if is_number(at) and round(at, 2) == at else None
        )  # trec_eval has two decimals

    def __str__(self) -> str:
        values = dict(self.given)
        at = values.pop(self.definition.at, None) if self.definition.at else None
        shown = ", ".join(f"{k}={_thawed(v)!r}" for k, v in values.items())
        return self.name + (f"({shown})" if shown else "") + (f"@{at}" if at is not None else "")

    __repr__ = __str__

    def __reduce__(self) -> tuple[Callable[..., Measure], tuple[str, Given]]:
        """Copies and pickles hold the name: the function is found under it again, in another process too."""
        return _restored, (self.name, self.given)


def _restored(name: str, given: Given) -> Measure:
    return replace(named(name), given=given)


def measure(
    traits: Traits = PLAIN,
    *,
    varied: Callable[..., Traits] | None = None,
    better: Better | Callable[..., Better] = "higher",
    at: str | None = "cutoff",
    trec: Trec | str | None = None,
    aliases: tuple[str, ...] = (),
    averages: Mapping[str, tuple[str, str | None]] | None = None,
    explain: Callable[..., Working] | None = None,
    **parameters: Parameter,
) -> Callable[[Callable[..., Floats]], Measure]:
    """Registers a function as a measure under its own name.

    The function takes a `Judged` and its parameters as keywords, and returns a value for each topic. Its docstring
    is the help: a summary line, then `Formula:`, `Reference:` and an example. `traits` say what is true of its values;
    where parameters decide, `varied` is a function of them that gives the traits. `better` says which values are:
    "higher" ones, "lower" ones if it is a loss, "neither" if it says nothing of quality; or a function of the
    parameters that does. `at` is the parameter written after @. `trec` is what trec_eval calls it, `averages` names its
    other averages, as GMAP is AP averaged geometrically. `explain` is a function of a `Trace` and the measure's
    parameters that says how a value arises: see `measures.explained`.
    """

    def register(function: Callable[..., Floats]) -> Measure:
        known = described(function, "measure", parameters, SHARED)
        defaults = {name: parameter.default for name, parameter in known.items() if parameter.default is not REQUIRED}
        plain = traits if varied is None else varied(**defaults)
        usual: dict[str, Value] = {"judged_only": False, "agg": plain.agg}
        theirs = trec if isinstance(trec, Trec) else Trec(trec)
        definition = Definition(
            **vars(plain),
            name=function.__name__,
            function=function,
            parameters=known | {name: SHARED[name]._replace(default=usual[name]) for name in EVERYWHERE},
            at=at if at in known else None,
            aliases=aliases,
            averages=averages or {},
            averaged={},
            trec=theirs.name,
            trec_at=theirs.at,
            trec_cutoffs=theirs.cutoffs,
            better=better,
            varied=varied,
            explain=explain,
        )
        MEASURES.add(definition)
        return Measure(definition, definition.name)

    return register


def called(definition: Definition, name: str) -> Measure:
    """A measure under its own name, or that of another average."""
    return Measure(definition.average(name), name if name in definition.averages else definition.name)


def named(name: str) -> Measure:
    """The measure of a name, as defined: without the cutoff it may need.

    >>> named("nDCG")
    nDCG
    """
    definition = MEASURES.look_up(name)
    if definition is None:
        from cranfield.measures.misnamed import unknown

        raise UsageError(unknown(name))
    return called(definition, name)


def all_measures() -> Iterator[Measure]:
    """Every registered measure, by family, as defined: without the cutoff it may need."""
    return (Measure(definition, definition.name) for definition in MEASURES.all())
