"""Measures named by where they are defined, as `package.module:Name@10`.

Importing runs code. So this is for what a user types at the command line, and for nothing else: the parser of names,
which come from files, stored projects and other machines too, never imports anything.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from types import ModuleType

from cranfield.errors import UsageError, shorten
from cranfield.measures.notation import listed
from cranfield.measures.registry import Measure
from cranfield.notation import reference


def imported(text: str) -> str:
    """The text with measures under their names alone: modules that it names are imported, and their measures known.

    >>> imported("cranfield.measures.gain:nDCG@10,AP")
    'nDCG@10,AP'
    """
    return ",".join(_imported(part) for part in listed(text)) if ":" in text else text


def _imported(part: str) -> str:
    named = reference(part)
    if named is None:
        return part
    module, path = named
    target = named_object(part, module, path)
    if not isinstance(target, Measure):
        raise UsageError(
            f"'{shorten(part)}': {module}:{path} is not a measure: a function becomes one by @cranfield.measure()"
        )
    return f"{target}{part.strip().removeprefix(f'{module}:{path}')}"


def named_object(text: str, module: str, path: str) -> object:
    """What a module has under a name; the module is imported for it. `text` is what was typed, for errors.

    >>> named_object("math:pi", "math", "pi")
    3.141592653589793
    """
    target: object = _module(module)
    for name in path.split("."):
        if not hasattr(target, name):
            raise UsageError(f"'{shorten(text)}': {module} has no {path}")
        target = getattr(target, name)
    return target


def _module(name: str) -> ModuleType:
    """A module that is installed, or else lies in the folder where one is."""
    here = os.getcwd()
    if here not in sys.path:
        sys.path.append(here)  # last: nothing that lies about takes the place of what is installed
    try:
        return import_module(name)
    except (Exception, SystemExit) as error:  # whatever the code of others does
        if isinstance(error, ModuleNotFoundError) and name.startswith(str(error.name)):
            raise UsageError(f"no module '{name}', neither installed nor in this folder") from None
        reason = shorten(str(error), 300)
        raise UsageError(f"the module '{name}' cannot be imported: {type(error).__name__}: {reason}") from error
