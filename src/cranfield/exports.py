"""What a package shows to its callers: public names load when they are first used, and functions check their arguments.

So `import cranfield` is quick, and the rooms can be looked into without loading what is heavy in them.
"""

from __future__ import annotations

TYPE_CHECKING = False  # as typing has it, which takes a while to load
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import ModuleType
    from typing import Any


def exported(package: str, public: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` of a package. `public` has, for each of its modules, the names to be found there.

    >>> get, names = exported("cranfield", {"policy": "Policy", "evaluation.evaluation": "evaluate"})
    >>> names(), get("Policy")(depth=10).depth
    (['Policy', 'evaluate'], 10)
    """
    places = {name: module for module, names in public.items() for name in names.split()}
    loaded: dict[str, Any] = {}

    def get(name: str) -> Any:
        from importlib import import_module

        if name in places and name not in loaded:
            value = getattr(import_module(f"{package}.{places[name]}"), name)
            if hasattr(value, "__code__"):  # a function, as callers outside meet it
                from cranfield.signatures import checked

                value = checked(value, package)
            loaded.setdefault(name, value)
        if name in loaded:
            return loaded[name]
        module = None if name.startswith("_") else module_of(package, name)
        if module is None:
            raise AttributeError(f"module '{package}' has no attribute '{name}'")
        return module

    def names() -> list[str]:
        return sorted(places)

    return get, names


def module_of(package: str, name: str) -> ModuleType | None:
    """A module of a package, loaded; nothing where there is none of that name.

    >>> module_of("cranfield", "policy"), module_of("cranfield", "police")  # doctest: +ELLIPSIS
    (<module 'cranfield.policy' from ...>, None)
    """
    from importlib import import_module

    try:
        return import_module(f"{package}.{name}")
    except ModuleNotFoundError as error:
        if error.name != f"{package}.{name}":  # one that it needs
            raise
        return None


class Late:
    """Functions of a module that few commands call, by their names: it is loaded when the first of them is called.

    >>> policy = Late("cranfield.policy")
    >>> policy.Policy(depth=10).depth
    10
    """

    def __init__(self, module: str) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def called(*arguments: Any, **named: Any) -> Any:
            from importlib import import_module

            return getattr(import_module(self._module), name)(*arguments, **named)

        called.__name__ = called.__qualname__ = name
        return called
