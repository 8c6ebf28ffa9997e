"""What a method of fusion and a normalisation are.

To add a method, write a function of `Lists` that gives a score for each document, and decorate it with `@method`: the
command line, the help, the page docs/fusion.md and the tests that hold for every method read the registry.
"""

from __future__ import annotations

import inspect
import reprlib
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from cranfield.errors import UsageError
from cranfield.fusion.lists import Floats, Lists


class Parameter(NamedTuple):
    """A parameter's meaning, and the check that a value must pass; `accepts` says the check in words.

    `default` is its value where none is given: without one, it must be given or learnt. `grid` are the values that
    training tries, in this order: of equally good ones it takes the first. A parameter `for_each_run` is a list.
    """

    help: str
    accepts: str
    check: Callable[[Any], bool]
    default: Any = None
    grid: tuple[Any, ...] = ()
    for_each_run: bool = False


# Gives each document of the lists a score, by the parameters of its method.
Fuses = Callable[..., Floats]
# Learns something of one run from its judged rankings: numbers, to be one entry of the parameter learnt.
Learns = Callable[..., Floats]


class Method(NamedTuple):
    """A method of fusion with its formula in words, over the lists that have a document.

    In formulas, i is the rank of the document in a list and s its normalised score there, n the number of lists that
    have it, w the weight of the list's run; sums are over those n lists. `learnt` names the parameter that `learn`
    makes; it can use the others. Of methods that look at ranks alone (`by_rank`), no normalisation changes anything;
    those that look at both (`with_ranks`) need one that keeps ranks.
    """

    name: str
    title: str
    formula: str
    reference: str
    function: Fuses
    parameters: Mapping[str, Parameter]
    aliases: tuple[str, ...]
    by_rank: bool
    with_ranks: bool
    learnt: str | None
    learn: Learns | None

    @property
    def help(self) -> str:
        return inspect.cleandoc(self.function.__doc__ or "")

    def shown_default(self, parameter: str) -> str:
        """The value of a parameter where none is given, in words."""
        if parameter == self.learnt:
            return "learnt"
        return "equal" if parameter == "weights" else f"{self.parameters[parameter].default:g}"

    @property
    def tuned(self) -> tuple[str, ...]:
        """The parameters that training chooses values for."""
        return tuple(name for name, one in self.parameters.items() if one.grid or name == "weights")

    def checked(self, given: Mapping[str, Any], runs: int, *, learning: bool = False) -> dict[str, Any]:
        """The values given with the defaults of the others; `learning` allows that what is learnt is missing."""
        for name in given:
            if name not in self.parameters:
                known = ", ".join(self.parameters) or "none"
                raise UsageError(f"{self.name} has no parameter '{name}'; it has: {known}")
        values = {}
        for name, parameter in self.parameters.items():
            if name in given:
                values[name] = self._accepted(name, parameter, given[name], runs)
            elif name == self.learnt:
                if not learning:
                    raise UsageError(
                        f"{self.name} needs {name}: learn them from judgements (--train QRELS, or train_fusion), "
                        "or give them"
                    )
            else:
                values[name] = [1.0 / runs] * runs if name == "weights" else parameter.default
        return values

    def _accepted(self, name: str, parameter: Parameter, value: Any, runs: int) -> Any:
        value = value.tolist() if hasattr(value, "tolist") else value  # an array, or a number of NumPy's
        if parameter.for_each_run:
            if not isinstance(value, Sequence) or isinstance(value, str) or len(value) != runs:
                told = f"must be a list with an entry for each of the {runs} runs, not {reprlib.repr(value)}"
                raise UsageError(f"{self.name}: {name} {told}")
            accepted = all(parameter.check(one) for one in value)
        else:
            accepted = parameter.check(value)
        if not accepted:
            raise UsageError(f"{self.name}: {name} must be {parameter.accepts}, not {reprlib.repr(value)}")
        if name == "weights" and not any(value):
            raise UsageError(f"{self.name}: one of the weights at least must be above 0")
        return value


class Normalisation(NamedTuple):
    """A way to make the scores of different runs comparable, list by list.

    It keeps ranks unless it turns the order around or gives documents a score that the list lacks.
    """

    name: str
    formula: str
    reference: str
    function: Callable[[Lists], Lists]
    aliases: tuple[str, ...]
    keeps_ranks: bool

    @property
    def help(self) -> str:
        return inspect.cleandoc(self.function.__doc__ or "")


METHODS: dict[str, Method] = {}
NORMALISATIONS: dict[str, Normalisation] = {}


def is_number(value: Any) -> bool:
    """Whether it is a number that a double can hold, and not True or False."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= sys.float_info.max


def is_whole(value: Any) -> bool:
    """Whether it is a whole number from 1."""
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value < 2**31


def are_numbers(value: Any) -> bool:
    """Whether it is a list of finite numbers."""
    return isinstance(value, Sequence) and not isinstance(value, str) and all(is_number(one) for one in value)


WEIGHTS = Parameter(
    "what each run counts, in the order of the runs",
    "a list of numbers from 0",
    lambda one: is_number(one) and one >= 0,
    for_each_run=True,
)


def method(
    name: str,
    *,
    title: str,
    formula: str,
    reference: str,
    aliases: tuple[str, ...] = (),
    by_rank: bool = False,
    with_ranks: bool = False,
    learnt: str | None = None,
    learn: Learns | None = None,
    **parameters: Parameter,
) -> Callable[[Fuses], Fuses]:
    """Registers a function as a method of fusion; what follows the named arguments are its parameters."""

    def register(function: Fuses) -> Fuses:
        METHODS[name] = Method(
            name, title, formula, reference, function, parameters, aliases, by_rank, with_ranks, learnt, learn
        )
        return function

    return register


def normalisation(
    name: str, *, formula: str, reference: str, aliases: tuple[str, ...] = (), keeps_ranks: bool = True
) -> Callable[[Callable[[Lists], Lists]], Callable[[Lists], Lists]]:
    """Registers a function as a normalisation."""

    def register(function: Callable[[Lists], Lists]) -> Callable[[Lists], Lists]:
        NORMALISATIONS[name] = Normalisation(name, formula, reference, function, aliases, keeps_ranks)
        return function

    return register
