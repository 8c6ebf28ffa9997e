"""What a package shows to its callers: public names load when they are first used, and functions check their arguments.

So `import cranfield` is quick, and the rooms can be looked into without loading what is heavy in them.
"""

from __future__ import annotations

TYPE_CHECKING = False  # as typing has it, which takes a while to load
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
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
        from importlib.util import find_spec

        if name in places and name not in loaded:
            value = getattr(import_module(f"{package}.{places[name]}"), name)
            if hasattr(value, "__code__"):  # a function, as callers outside meet it
                from cranfield.signatures import checked

                value = checked(value, package)
            loaded.setdefault(name, value)
        if name in loaded:
            return loaded[name]
        if name.startswith("_") or find_spec(f"{package}.{name}") is None:
            raise AttributeError(f"module '{package}' has no attribute '{name}'")
        return import_module(f"{package}.{name}")

    def names() -> list[str]:
        return sorted(places)

    return get, names
