"""What a method of fusion and a normalisation are.

To add a method, write a function of `Lists` that gives a score for each document, and decorate it with `@method`: the
command line, the help, the page docs/fusion.md and the tests that hold for every method read the registry.
"""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar, Literal, NamedTuple

from cranfield.errors import UsageError
from cranfield.fusion.lists import Floats, Lists
from cranfield.notation import Value
from cranfield.registry import E, Entry, Parameter, Registry, Required, described, is_number

# What a method sees of the lists.
Looks = Literal["scores", "ranks", "both"]
# Gives each document of the lists a score, by the parameters of its method.
Fuses = Callable[..., Floats]
# Learns something of one run from its judged rankings: numbers, to be one entry of the parameter learnt.
Learns = Callable[..., Floats]


# Makes the scores of different runs comparable.
Normalises = Callable[[Lists], Lists]


class Learning(NamedTuple):
    """What a method learns of each run: the parameter it is kept in, and the function of judged rankings that learns.

    The function may use the other parameters.
    """

    parameter: str
    function: Learns


class Method(Entry[Fuses]):
    """A method of fusion with its formula in words, over the lists that have a document.

    In formulas, i is the rank of the document in a list and s its normalised score there, n the number of lists that
    have it, w the weight of the list's run; sums are over those n lists. Of methods that look at ranks alone
    (`by_rank`), no normalisation changes anything; those that look at both (`with_ranks`) need one that keeps ranks.
    """

    HAS: ClassVar[str] = "it has:"

    title: str
    formula: str
    reference: str
    by_rank: bool = False
    with_ranks: bool = False
    learning: Learning | None = None

    @property
    def learnt(self) -> str | None:
        """The parameter that is learnt."""
        return None if self.learning is None else self.learning.parameter

    def shown_default(self, parameter: str) -> str:
        """The value of a parameter where none is given, in words."""
        if parameter == self.learnt:
            return "learnt"
        default = self.parameters[parameter].default
        return f"{default:g}" if isinstance(default, int | float) else "equal"

    @property
    def tuned(self) -> tuple[str, ...]:
        """The parameters that training chooses values for."""
        return tuple(name for name, parameter in self.parameters.items() if parameter.grid or name == "weights")

    def fixed(self, parameters: Mapping[str, Value]) -> dict[str, Value]:
        """What was given, in the notation or beside it."""
        twice = [name for name, _ in self.given if name in parameters]
        if twice:
            raise UsageError(f"{self} has a value for {twice[0]}: it cannot be given another")
        return dict(self.given) | dict(parameters)

    def checked(self, parameters: Mapping[str, Value], runs: int, *, learning: bool = False) -> dict[str, Value]:
        """The values given with the defaults of the others; `learning` allows that what is learnt is missing."""
        fixed = self.fixed(parameters)
        self.check_names(list(fixed))
        values: dict[str, Value] = {}
        for name, parameter in self.parameters.items():
            if name in fixed:
                values[name] = self._accepted(name, fixed[name], runs)
            elif not isinstance(parameter.default, Required):
                values[name] = parameter.default
            elif name == "weights":
                values[name] = [1.0 / runs] * runs
            elif not learning or name != self.learnt:
                raise UsageError(
                    f"{self.name} needs {name}: learn them from judgements (--train QRELS, or train_fusion), "
                    "or give them"
                )
        return values

    def _accepted(self, name: str, value: Value, runs: int) -> Value:
        own = getattr(value, "tolist", None)  # an array, or a number of NumPy's
        plain: Value = value if own is None else own()
        entries = plain if isinstance(plain, Sequence) and not isinstance(plain, str) else ()
        if self.parameters[name].for_each_run and len(entries) != runs:
            problem = f"must be a list with an entry for each of the {runs} runs, not {reprlib.repr(plain)}"
            raise UsageError(f"{self.name}: {name} {problem}")
        self.check_values({name: plain})
        if name == "weights" and not any(entries):
            raise UsageError(f"{self.name}: one of the weights at least must be above 0")
        return plain


class Normalisation(Entry[Normalises]):
    """A way to make the scores of different runs comparable, list by list.

    It keeps ranks unless it turns the order around or gives documents a score that the list lacks.
    """

    formula: str
    reference: str
    keeps_ranks: bool = True


class ByName(Registry[E]):
    """A registry in the order of names, which may be written in capitals."""

    def look_up(self, name: str) -> E | None:
        return self.get_built_in(name) or self.get_built_in(name.lower()) or super().look_up(name)

    def ordered(self) -> tuple[E, ...]:
        return tuple(sorted(super().ordered(), key=lambda entry: entry.name))


METHODS: Registry[Method] = ByName(
    "method of fusion", group="cranfield.fusion", package="cranfield.fusion", decorator="method"
)
NORMALISATIONS: Registry[Normalisation] = ByName(
    "normalisation", group="cranfield.normalisations", package="cranfield.fusion", decorator="normalisation"
)


def are_numbers(value: Value) -> bool:
    """Whether it is a list of finite numbers."""
    return isinstance(value, Sequence) and not isinstance(value, str) and all(is_number(number) for number in value)


WEIGHTS = Parameter(
    "what each run counts, in the order of the runs",
    "a list of numbers from 0",
    lambda value: is_number(value) and value >= 0,
    for_each_run=True,
)


def method(
    name: str,
    *,
    title: str,
    formula: str,
    reference: str,
    aliases: tuple[str, ...] = (),
    looks_at: Looks = "scores",
    learning: Learning | None = None,
    **parameters: Parameter,
) -> Callable[[Fuses], Fuses]:
    """Registers a function as a method of fusion; what follows the named arguments are its parameters.

    `looks_at` says what of a list it sees: "scores", "ranks" alone, or "both".
    """

    def register(function: Fuses) -> Fuses:
        METHODS.add(
            Method(
                name=name,
                title=title,
                formula=formula,
                reference=reference,
                aliases=aliases,
                by_rank=looks_at == "ranks",
                with_ranks=looks_at == "both",
                learning=learning,
                function=function,
                parameters=described(function, "method", parameters),
            )
        )
        return function

    return register


def normalisation(
    name: str,
    *,
    formula: str,
    reference: str,
    aliases: tuple[str, ...] = (),
    keeps_ranks: bool = True,
    **parameters: Parameter,
) -> Callable[[Normalises], Normalises]:
    """Registers a function as a normalisation."""

    def register(function: Normalises) -> Normalises:
        NORMALISATIONS.add(
            Normalisation(
                name=name,
                formula=formula,
                reference=reference,
                aliases=aliases,
                keeps_ranks=keeps_ranks,
                function=function,
                parameters=described(function, "normalisation", parameters),
            )
        )
        return function

    return register


def all_methods() -> tuple[Method, ...]:
    """Every method of fusion, by name.

    >>> [method.name for method in all_methods() if method.learnt]
    ['bayesfuse', 'mapfuse', 'posfuse', 'probfuse', 'segfuse', 'slidefuse']
    """
    return METHODS.all()


def all_normalisations() -> tuple[Normalisation, ...]:
    """Every normalisation, by name.

    >>> [normalisation.name for normalisation in all_normalisations() if not normalisation.keeps_ranks]
    ['borda', 'min-max-inverted']
    """
    return NORMALISATIONS.all()


def find_method(text: str) -> Method:
    """The method of a name or an alias, with the parameters that are given to it.

    >>> find_method("mnz").title, str(find_method("RRF(k=10)"))
    ('CombMNZ', 'rrf(k=10)')
    """
    return METHODS.find(text)


def find_normalisation(text: str) -> Normalisation:
    """The normalisation of a name or an alias.

    >>> find_normalisation("zmuv").name
    'z'
    """
    return NORMALISATIONS.find(text)
