"""Records that cost nothing to define: for what is there before a command starts."""

from __future__ import annotations

from typing import Any, ClassVar, Final, Self, dataclass_transform

_MISSING: Final = type("Missing", (), {})()


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
