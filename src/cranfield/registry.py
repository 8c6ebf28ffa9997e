"""Things by name: measures, tests, models, pictures, formats and whatever else can be added by one decorated function.

Every kind has a `Registry` of `Entry` records. The function of an entry tells what can be told: its docstring is the
help, its keywords are the parameters, its module is where it stands. Written down it is `name(parameter=value, …)`.

The modules of a room load one after another until a name is found, and no list names them: those that use the kind's
decorator are found by looking. After them come plug-ins, packages of others that say what they add by entry points.
"""

from __future__ import annotations

import inspect
import math
import os
import re
import reprlib
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property, partial
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Final, Generic, Self, TypeAlias, TypeGuard, TypeVar

from cranfield.errors import UsageError, shorten
from cranfield.notation import Given, NotationError, Value, Written, notation, parse, plain_value, spelt
from cranfield.records import NamedTuple, Record

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


class Required:
    """Stands where a parameter has no default."""


REQUIRED: Final = Required()


class Parameter(NamedTuple):
    """A parameter's meaning, and the check that a value must pass; `accepts` says the check in words.

    The default is read from the function. `grid` are the values that training tries, in this order: of equally good
    ones it takes the first. A parameter `for_each_run` is a list, each entry of which must pass the check.
    """

    help: str
    accepts: str
    check: Callable[[Value], bool]
    grid: tuple[Value, ...] = ()
    for_each_run: bool = False
    default: Value | Required = REQUIRED

    @property
    def words(self) -> tuple[str, ...]:
        """The words that it can be, as far as `accepts` names them.

        >>> Parameter("whose", "'judged', 'retrieved' or None", lambda v: v in (None, "judged", "retrieved")).words
        ('judged', 'retrieved')
        """
        named = dict.fromkeys(re.findall(r"[^\W\d][\w-]*", self.accepts))
        return tuple(word for word in named if self.takes(word))

    def meant(self, value: Value) -> str:
        """The word that was likely meant, to stand after what is said of one that it cannot be; or nothing.

        >>> Parameter("worth", "'linear' or 'exp'", lambda v: v in ("linear", "exp")).meant("exponential")
        '; did you mean exp?'
        """
        from difflib import get_close_matches

        words = {word.lower(): word for word in self.words}
        if not isinstance(value, str):
            return ""
        meant = value.lower()
        near = get_close_matches(meant, words, n=1) or [
            word for word in words if len(word) > 2 and meant.startswith(word)
        ]
        return f"; did you mean {words[near[0]]}?" if near else ""

    def takes(self, value: Value) -> bool:
        """Whether it can have this value."""
        if not self.for_each_run:
            return self.check(value)
        return isinstance(value, Sequence) and not isinstance(value, str) and all(map(self.check, value))


def is_number(value: Value) -> TypeGuard[float]:
    """Whether it is a number that a double can hold, and not True or False."""
    try:
        return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    except OverflowError:  # an int beyond every double
        return False


def is_whole(value: Value) -> TypeGuard[int]:
    """Whether it is a whole number from 1."""
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value < 2**62


def number(help: str, least: float, most: float, grid: tuple[Value, ...] = ()) -> Parameter:
    """A parameter that is a number of a range, both ends in it.

    >>> number("how far", 0, 1).accepts
    'a number from 0 to 1'
    """
    return Parameter(
        help, f"a number from {least:g} to {most:g}", lambda value: is_number(value) and least <= value <= most, grid
    )


# Of whatever shape: how it is called and what it gives is known to its kind.
Function: TypeAlias = Callable[..., object]
F = TypeVar("F", bound=Function, covariant=True)


def described(
    function: Function,
    decorator: str,
    own: Mapping[str, Parameter],
    shared: Mapping[str, Parameter] | None = None,
) -> dict[str, Parameter]:
    """What a function takes by keyword alone, each described by its own record or by one of those shared."""
    made = function.__init__ if isinstance(function, type) else inspect.unwrap(function)  # type: ignore[misc]
    code, defaults = made.__code__, made.__kwdefaults__ or {}
    parameters = {}
    for name in code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]:
        known = own.get(name) or (shared or {}).get(name)
        if known is None:
            remedy = f"@{decorator}({name}=Parameter(help, accepts, check))"
            raise UsageError(f"{function.__name__}: nothing says what {name} is; describe it: {remedy}")
        parameters[name] = known._replace(default=defaults.get(name, REQUIRED))
    return parameters


NONE: Mapping[str, Parameter] = MappingProxyType({})


class Entry(Record, Generic[F]):
    """Something under a name: the function that does it, its parameters, and the values given to some of them.

    A function that was given values has them bound already.
    """

    HAS: ClassVar[str] = "it has"  # as the parameters are told where there is no such one

    name: str
    function: F
    aliases: tuple[str, ...] = ()
    parameters: Mapping[str, Parameter] = NONE
    given: Given = ()

    def __eq__(self, other: object) -> bool:
        """Whether it is the same with the same values."""
        return type(self) is type(other) and isinstance(other, Entry) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(self.name)

    @property
    def source(self) -> Function:
        """The function as it was defined, with nothing bound."""
        source: Function = self.function
        while isinstance(source, partial):
            source = source.func
        unwrapped: Function = inspect.unwrap(source)
        return unwrapped

    @property
    def module(self) -> str:
        """Where it was defined."""
        return self.source.__module__

    @property
    def names(self) -> tuple[str, ...]:
        """Everything that it is called."""
        return (self.name, *self.aliases)

    @property
    def help(self) -> str:
        """The docstring."""
        return inspect.cleandoc(self.source.__doc__ or "")

    @property
    def summary(self) -> str:
        """The first line of the docstring."""
        return self.help.split("\n")[0]

    @property
    def example(self) -> str:
        """The example in the docstring; without one, how it is written with all its parameters."""
        lines = self.help.split("\n")
        first = next((i for i, line in enumerate(lines) if line.startswith(">>>")), len(lines))
        return "\n".join(lines[first:]) or notation(self.name, tuple(self.defaults.items()))

    @cached_property
    def defaults(self) -> Mapping[str, Value]:
        """The parameters that need not be given, with what they are then."""
        pairs = ((name, parameter.default) for name, parameter in self.parameters.items())
        return {name: default for name, default in pairs if not isinstance(default, Required)}

    @property
    def settings(self) -> dict[str, Value]:
        """Every parameter that has a value."""
        return dict(self.defaults) | dict(self.given)

    def __str__(self) -> str:
        return notation(self.name, self.given)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self}>"

    def check_names(self, names: Sequence[str]) -> None:
        """That there are parameters of these names."""
        for name in names:
            if name not in self.parameters:
                known = ", ".join(map(spelt, self.parameters)) or "none"
                raise UsageError(f"{self.name} has no parameter '{spelt(name)}'; {self.HAS} {known}")

    def check_values(self, values: Mapping[str, Value]) -> None:
        """That these are parameters, and each value one that its parameter can have."""
        self.check_names(list(values))
        for name, value in values.items():
            own = getattr(value, "tolist", None)  # what NumPy has for numbers is taken as the number it is
            if not self.parameters[name].takes(value if own is None else own()):
                raise UsageError(self.refusal(name, value))

    def refusal(self, name: str, value: Value) -> str:
        """What is said of a value that a parameter cannot have."""
        known = self.parameters[name]
        return f"{self.name}: {spelt(name)} must be {known.accepts}, not {reprlib.repr(value)}{known.meant(value)}"

    def with_values(self, values: Mapping[str, Value]) -> Self:
        """The same with these values; those that are the defaults anyway are not kept.

        Functions of one's own are called with them as they are: a value that is accepted is applied.
        """
        self.check_values(values)
        plain = {name: plain_value(values[name]) for name in self.parameters if name in values}
        kept = {name: value for name, value in plain.items() if self.parameters[name].default != value}
        if not kept:
            return self
        bound: Any = partial(self.function, **kept)
        return self.replaced(given=tuple(kept.items()), function=bound)


E = TypeVar("E", bound=Entry[Function])
PIECE = 1 << 16  # bytes


@cache
def _sources(package: str) -> Mapping[str, bytes]:
    """The modules of a package, as they are written."""
    folder = import_module(package).__path__[0]
    names = [name for name in os.listdir(folder) if name.endswith(".py") and name != "__init__.py"]
    return {name.removesuffix(".py"): _content(os.path.join(folder, name)) for name in names}


def _content(path: str) -> bytes:
    """The bytes of a file by as few calls of the system as it takes: every command reads some thirty."""
    opened, content = os.open(path, os.O_RDONLY), b""
    try:
        while len(piece := os.read(opened, PIECE)) == PIECE:
            content += piece
    finally:
        os.close(opened)
    return content + piece


class Registry(Mapping[str, E]):
    """All things of a kind, by name.

    `package` has the modules in which they are defined with `decorator`. `order` are those of them that come first,
    in lists as when a name is looked for; others follow by name. `group` is the group of entry points for plug-ins.
    `unknown` says that there is no such name, `form` how one is written.

    As a mapping it has what is built in, and what was registered since; `all` and `find` reach plug-ins too.
    """

    def __init__(
        self,
        noun: str,
        *,
        group: str,
        package: str,
        decorator: str,
        order: Sequence[str] = (),
        unknown: str = "unknown {noun} '{name}'; there are {names}",
        form: str = "name(parameter=value, …)",
    ) -> None:
        self.noun, self.group, self.package, self.decorator = noun, group, package, decorator
        self.order, self.unknown, self.form = tuple(order), unknown, form
        self._entries: dict[str, E] = {}
        self._called: dict[str, E] = {}
        self._modules: tuple[str, ...] | None = None
        self._has_plugins = False  # that are loaded

    # -- adding --

    def add(self, entry: E) -> None:
        """Registers an entry. A name that is taken is refused; only a script of one's own may take one of ours."""
        if self._is_ours(entry.module):
            self._check_free(entry)
        else:
            list(self.loaded())  # what others define comes after all of ours
            self._check_free(entry)
        for name in entry.names:
            self._called[name] = entry
        self._entries[entry.name] = entry  # last: other threads look up the names of what they find here

    def _check_free(self, entry: E) -> None:
        for name in entry.names:
            other = self._called.get(name)
            again = other is not None and _place(other) == _place(entry)  # as a cell of a notebook that is run again
            if other is not None and not again and entry.module != "__main__":
                raise UsageError(
                    f"{_place(entry)}: there is a {self.noun} called '{name}' already, {_place(other)}: "
                    "give yours another name"
                )

    # -- looking --

    def modules(self) -> tuple[str, ...]:
        """The modules of the package that define something of this kind."""
        if self._modules is None:
            mark, uses = f"{self.decorator}(".encode(), rf"^(@|\w+ = ){self.decorator}\(".encode()
            may = {
                name: text for name, text in _sources(self.package).items() if mark in text and name not in self.order
            }
            others = sorted(name for name, text in may.items() if re.search(uses, text, re.MULTILINE))
            self._modules = (*self.order, *others)
        return self._modules

    def loaded(self) -> Iterator[str]:
        """The modules, each loaded when it is come to."""
        for module in self.order:
            import_module(f"{self.package}.{module}")
            yield module
        for module in self.modules()[len(self.order) :]:
            import_module(f"{self.package}.{module}")
            yield module

    def registered(self) -> list[E]:
        """What is registered by now: other threads may load more meanwhile."""
        return list(self._entries.values())

    def get_registered(self, name: str) -> E | None:
        """What a name or an alias means by now."""
        return self._called.get(name)

    def get_built_in(self, name: str) -> E | None:
        """What a name or an alias means without plug-ins."""
        if name in self._called:
            return self._called[name]
        for _ in self.loaded():
            if name in self._called:
                return self._called[name]
        return None

    def look_up(self, name: str) -> E | None:
        """What a name or an alias means; plug-ins are looked at where nothing of ours is called so."""
        entry = self.get_built_in(name)
        if entry is None and any(point.name == name for point in self._plugins()):
            self._load_plugin(name)
            entry = self._called.get(name)
        if entry is None:  # it may be an alias
            self.load_plugins()
            entry = self._called.get(name)
        return entry

    def find(self, text: str) -> E:
        """What a text in the notation means, with the values given."""
        written = Written(text)
        if "(" in text or "@" in text:
            try:
                written = parse(text.strip())
            except NotationError:
                written = Written("", has_at=True)
            if written.has_at:
                raise UsageError(f"'{shorten(text)}' is not a {self.noun}: write {self.form}")
        entry = self.look_up(written.name)
        if entry is None:
            raise UsageError(self.not_found(written.name))
        twice = [name for i, (name, _) in enumerate(written.given) if name in dict(written.given[:i])]
        if twice:
            raise UsageError(f"'{shorten(text)}' gives {twice[0]} twice")
        return entry.with_values(dict(written.given)) if written.given else entry

    def not_found(self, name: str) -> str:
        """What is said of a name that there is not."""
        message = self.unknown.format(
            noun=self.noun, name=shorten(name, 80), names=", ".join(e.name for e in self.all())
        )
        return message + self.suggestion(name)

    def suggestion(self, name: str, among: Iterable[str] | None = None) -> str:
        """The name that was likely meant, to stand after what is said of one that there is not; or nothing.

        It is spelt nearly so, begins so, or has a title that says so: t, the paired t test, for ttest. With `among` it
        is one of these.
        """
        from difflib import get_close_matches

        self.all()
        names = list(self._called if among is None else among)
        meant, by_spelling = name.lower(), {known.lower(): known for known in reversed(names)}
        begin = [known for known in names if len(meant) > 1 and known.lower().startswith(meant)]
        near = begin or [by_spelling[close] for close in get_close_matches(meant, by_spelling, n=1, cutoff=0.6)]
        if not near and len(squeezed(name)) > 2:
            near = [known for known in names if known in self._called and squeezed(name) in self._titled(known)]
        return f"; did you mean {self._called[near[0]].name if near[0] in self._called else near[0]}?" if near else ""

    def _titled(self, name: str) -> str:
        return squeezed(str(getattr(self._called[name], "title", "")))

    def all(self) -> tuple[E, ...]:
        """Everything of this kind, in the order of the modules, plug-ins last."""
        list(self.loaded())
        self.load_plugins()
        return self.ordered()

    def ordered(self) -> tuple[E, ...]:
        """What is registered by now, in the order of lists."""
        places = {f"{self.package}.{module}": place for place, module in enumerate(self.modules())}
        return tuple(sorted(self._entries.values(), key=lambda entry: places.get(entry.module, len(places))))

    def _is_ours(self, module: str) -> bool:
        return module.startswith(f"{self.package}.")

    def __getitem__(self, name: str) -> E:
        entry = self.get_built_in(name)
        if entry is None:
            raise KeyError(name)
        return entry

    def __iter__(self) -> Iterator[str]:
        list(self.loaded())
        return iter([entry.name for entry in self.ordered()])

    def __len__(self) -> int:
        list(self.loaded())
        return len(self._entries)

    # -- plug-ins --

    def _plugins(self) -> tuple[EntryPoint, ...]:
        from importlib.metadata import entry_points

        return tuple(entry_points(group=self.group))

    def load_plugins(self) -> None:
        """Loads what plug-ins add; of those that fail a note goes to standard error, once."""
        if self._has_plugins:
            return
        self._has_plugins = True
        for name in dict.fromkeys(point.name for point in self._plugins()):
            try:
                self._load_plugin(name)
            except UsageError as error:
                print(f"cranfield: note: {error}", file=sys.stderr)

    def _load_plugin(self, name: str) -> None:
        """Loads the plug-in of a name; an error tells whose it is."""
        points = [point for point in self._plugins() if point.name == name]
        called, entries = dict(self._called), dict(self._entries)
        owner = " and ".join(dict.fromkeys(_package(point) for point in points))
        try:
            if len(points) > 1 and len({point.value for point in points}) > 1:
                raise UsageError(f"both are called '{name}': uninstall one of them")
            points[0].load()
            entry = self._called.get(name)
            if entry is None:
                raise UsageError(
                    f"it defines no {self.noun} of that name: one is made by {self.decorator}(…), with its parentheses "
                    "even where nothing stands in them"
                )
            if self._is_ours(entry.module):
                raise UsageError(
                    f"there is a {self.noun} called '{name}' already, {_place(entry)}: it needs another name"
                )
        except (Exception, SystemExit) as error:  # whatever the code of others does
            self._called, self._entries = called, entries
            reason = str(error) if isinstance(error, UsageError) else f"{type(error).__name__}: {error}"
            whose = f"the plug-in '{name}' of {owner} ({self.group}: {points[0].value})"
            raise UsageError(f"{whose} cannot be used: {shorten(reason, 300)}") from error


def squeezed(text: str) -> str:
    """A text without what people leave out.

    >>> squeezed("paired t test"), squeezed("t-test")
    ('pairedttest', 'ttest')
    """
    return re.sub(r"[^a-z0-9]", "", text.lower())


def _place(entry: Entry[Function]) -> str:
    return f"{entry.module}.{entry.source.__qualname__}"


def _package(point: EntryPoint) -> str:
    return "an unnamed package" if point.dist is None else f"the package {point.dist.name}"
