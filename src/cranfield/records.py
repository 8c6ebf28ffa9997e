"""Records that cost nothing to define: for what is there before a command starts."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, ClassVar, Final, NoReturn, Self, TypeVar, dataclass_transform

if TYPE_CHECKING:
    from inspect import Signature

Made = TypeVar("Made")

_MISSING: Final = type("Missing", (), {})()
FEW = 16  # named tuples of a class, for which compiling a function does not pay


@dataclass_transform(kw_only_default=True, frozen_default=True, eq_default=False)
class Record:
    """Fields by keyword that stay as they are: a frozen dataclass, but one that compiles nothing.

    What is registered is there before a command starts, and making dataclasses of it took longer than reading a run.

    >>> class Point(Record):
    ...     x: int
    ...     y: int = 0
    >>> point = Point(x=1)
    >>> point.y, point.replaced(y=2).y
    (0, 2)
    >>> Point(z=1)
    Traceback (most recent call last):
    TypeError: Point takes x, y, and was given z
    """

    _fields: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        hints = [vars(owner).get("__annotations__", {}) for owner in reversed(cls.__mro__)]
        names = [name for own in hints for name, hint in own.items() if not str(hint).startswith("ClassVar")]
        cls._fields = tuple(dict.fromkeys(names))

    def __init__(self, **given: Any) -> None:
        values = {name: given[name] if name in given else getattr(type(self), name, _MISSING) for name in self._fields}
        if len(given.keys() | values.keys()) > len(values) or any(value is _MISSING for value in values.values()):
            message = f"{type(self).__name__} takes {', '.join(self._fields)}, and was given {', '.join(given)}"
            raise TypeError(message)
        vars(self).update(values)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"{name} of {self!r} is fixed")

    def replaced(self, **changes: Any) -> Self:
        """The same with other values in some fields."""
        return type(self)(**{name: getattr(self, name) for name in self._fields} | changes)


class _LateSignature:
    """What `inspect` is told of a class, made when it asks."""

    def __init__(self, of: Callable[[type], Signature]) -> None:
        self.of = of

    def __get__(self, instance: object, owner: type) -> Signature:
        return self.of(owner)


if TYPE_CHECKING:
    from typing import NamedTuple as NamedTuple
else:
    from collections import _tuplegetter

    class _MakesNamedTuples(type):
        def __new__(cls, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> type:
            if not bases:
                return super().__new__(cls, name, bases, body)
            fields = body.get("__annotations__", {})
            places = {field: _tuplegetter(place, "") for place, field in enumerate(fields)}
            names = tuple(fields)
            known = {
                "__doc__": f"{name}({', '.join(names)})",
                "__slots__": (),
                "__match_args__": names,
                "_fields": names,
                "_field_defaults": {field: body[field] for field in names if field in body},
            }
            return type(name, (_NamedTuple,), known | body | places)

    def _signature_of_tuple(owner: type) -> Signature:
        from inspect import signature

        made = signature(_maker(owner))
        return made.replace(parameters=list(made.parameters.values())[1:])

    _made: dict[type, int] = {}

    class _NamedTuple(tuple):
        """What all named tuples have. The function that makes those of a class is compiled when a few were made: most
        classes of a command never have more, and compiling took longer than reading a run.
        """

        __slots__ = ()
        __signature__ = _LateSignature(_signature_of_tuple)

        def __new__(cls, /, *values: Any, **named: Any) -> Self:
            _made[cls] = number = _made.get(cls, 0) + 1
            left, given = cls._fields[len(values) :], cls._field_defaults | named
            fit = len(values) <= len(cls._fields) and named.keys() <= set(left) and given.keys() >= set(left)
            if number > FEW or not fit:  # what does not fit is refused as a function of these fields would
                return _maker(cls)(cls, *values, **named)
            return tuple.__new__(cls, (*values, *(given[field] for field in left)))

        @classmethod
        def _make(cls, values: Iterable[Any]) -> Self:
            made = tuple.__new__(cls, values)
            if len(made) != len(cls._fields):
                raise TypeError(f"Expected {len(cls._fields)} arguments, got {len(made)}")
            return made

        def _replace(self, /, **changes: Any) -> Self:
            return type(self)(**{**self._asdict(), **changes})

        def _asdict(self) -> dict[str, Any]:
            return dict(zip(self._fields, self, strict=True))

        def __repr__(self) -> str:
            fields = ", ".join(f"{field}={value!r}" for field, value in self._asdict().items())
            return f"{type(self).__name__}({fields})"

        def __getnewargs__(self) -> tuple[Any, ...]:
            return tuple(self)

    def _maker(cls: type) -> Any:
        """`__new__` of a class of named tuples, compiled if it is not yet."""
        owner = next(kind for kind in cls.__mro__ if "_fields" in vars(kind))
        if "__new__" not in vars(owner):
            fields = "".join(f"{field}, " for field in owner._fields)
            made = eval(f"lambda _cls, {fields}: _make(_cls, ({fields}))", {"_make": tuple.__new__, "__builtins__": {}})
            made.__name__, made.__qualname__ = "__new__", f"{owner.__name__}.__new__"
            made.__defaults__, made.__annotations__ = tuple(owner._field_defaults.values()), owner.__annotations__
            owner.__new__ = staticmethod(made)
        return owner.__new__

    class NamedTuple(metaclass=_MakesNamedTuples):
        """That of `typing`, but one that does not compile the types of its fields.

        >>> class Point(NamedTuple):
        ...     x: int
        ...     y: int = 0
        >>> Point(1), Point(1)._replace(y=2), Point(1) == (1, 0)
        (Point(x=1, y=0), Point(x=1, y=2), True)
        """


class _Fields(NamedTuple):
    """What `__init__` of a dataclass needs to know of its fields."""

    positional: tuple[str, ...]
    given: frozenset[str]
    required: tuple[str, ...]
    defaults: dict[str, Any]
    factories: dict[str, Callable[[], Any]]

    @classmethod
    def of(cls, owner: type) -> _Fields:
        fields = dataclasses.fields(owner)
        taken = [field for field in fields if field.init]
        missing = dataclasses.MISSING
        return cls(
            positional=tuple(field.name for field in taken if not field.kw_only),
            given=frozenset(field.name for field in taken),
            required=tuple(f.name for f in taken if f.default is missing and f.default_factory is missing),
            defaults={field.name: field.default for field in fields if field.default is not missing},
            factories={f.name: f.default_factory for f in fields if f.default_factory is not missing},
        )


def _initialise(self: Any, *positional: Any, **given: Any) -> None:
    fields: _Fields = self._fields_of_record
    values = dict(zip(fields.positional, positional, strict=False))
    fits = len(positional) <= len(fields.positional) and fields.given >= given.keys() and not (values.keys() & given)
    values |= given
    if not fits or not all(name in values for name in fields.required):
        _refuse(type(self), positional, given)
    state = vars(self)
    state.update(fields.defaults)
    for name, make in fields.factories.items():
        if name not in values:
            state[name] = make()
    state.update(values)
    if hasattr(self, "__post_init__"):
        self.__post_init__()


def _refuse(owner: type, positional: tuple[Any, ...], given: dict[str, Any]) -> NoReturn:
    """Says what is wrong with arguments as a function of these would."""
    try:
        _signature(owner).bind(*positional, **given)
    except TypeError as error:
        raise TypeError(f"{owner.__qualname__}.__init__() {error}") from None
    raise AssertionError(f"{owner.__qualname__} takes these")


def _signature(owner: type) -> Signature:
    from inspect import Parameter, Signature

    def parameter(field: dataclasses.Field[Any]) -> Parameter:
        kind = Parameter.KEYWORD_ONLY if field.kw_only else Parameter.POSITIONAL_OR_KEYWORD
        made = field.default_factory is not dataclasses.MISSING
        default = _FACTORY if made else Parameter.empty if field.default is dataclasses.MISSING else field.default
        return Parameter(field.name, kind, default=default, annotation=field.type)

    taken = [field for field in dataclasses.fields(owner) if field.init]
    parameters = [parameter(field) for field in sorted(taken, key=lambda field: bool(field.kw_only))]
    return Signature(parameters, return_annotation=None)


class _Factory:
    """Stands in a signature for what is made anew."""

    def __repr__(self) -> str:
        return "<factory>"


_FACTORY: Final = _Factory()


def _refuse_change(self: Any, name: str, *value: Any) -> NoReturn:
    raise dataclasses.FrozenInstanceError(f"cannot {'assign to' if value else 'delete'} field {name!r}")


def _shown(self: Any) -> str:
    shown = (f"{field.name}={getattr(self, field.name)!r}" for field in dataclasses.fields(self) if field.repr)
    return f"{type(self).__qualname__}({', '.join(shown)})"


def _compared(self: Any) -> tuple[Any, ...]:
    return tuple(getattr(self, field.name) for field in dataclasses.fields(self) if field.compare)


def _equal(self: Any, other: object) -> Any:
    return _compared(self) == _compared(other) if type(self) is type(other) else NotImplemented


def _hash(self: Any) -> int:
    return hash(_compared(self))


if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(
        *, frozen: bool = False, eq: bool = True, repr: bool = True, kw_only: bool = False
    ) -> Callable[[type[Made]], type[Made]]:
        """The decorator of the standard library, whose tools take what it makes for their own, but it compiles nothing:
        in all, that took longer than reading a run.

        >>> @dataclass(frozen=True)
        ... class Point:
        ...     x: int
        ...     y: int = 0
        >>> dataclasses.replace(Point(1), y=2), Point(1, 0) == Point(1)
        (Point(x=1, y=2), True)
        >>> Point()
        Traceback (most recent call last):
        TypeError: Point.__init__() missing a required argument: 'x'
        """

        def made(owner: type[Made]) -> type[Made]:
            own = set(vars(owner))
            dataclasses.dataclass(init=False, repr=False, eq=False, kw_only=kw_only)(owner)
            owner._fields_of_record = _Fields.of(owner)
            methods = {"__init__": _initialise, "__signature__": _LateSignature(_signature)}
            methods |= {"__repr__": _shown} if repr else {}
            methods |= {"__eq__": _equal, "__hash__": _hash if frozen else None} if eq else {}
            methods |= {"__setattr__": _refuse_change, "__delattr__": _refuse_change} if frozen else {}
            for name, method in methods.items():
                if name not in own:
                    setattr(owner, name, method)
            return owner

        return made
