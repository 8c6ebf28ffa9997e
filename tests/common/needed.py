"""What tests need that a machine may lack. Without it they are skipped. Where CRANFIELD_CI is 1 they fail instead:
there everything is to be tested, and a test that was skipped looks like one that passed.
"""

from __future__ import annotations

import importlib
import os
import shutil
from types import ModuleType
from typing import NoReturn

import pytest


def needs(*programs: str, package: str) -> str:
    """The path of a program, or of the first of several that do the same; `package` is Debian's that has it."""
    path = next((path for path in map(shutil.which, programs) if path), None)
    return path or missing(f"there is no {programs[0]} here: apt-get install {package}")


def needs_module(name: str) -> ModuleType:
    """A module of Python that only tests need."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return missing(f"{name.partition('.')[0]} is not installed: pip install .[test]")


def missing(what: str) -> NoReturn:
    """Ends a test that cannot be run for want of something."""
    if os.environ.get("CRANFIELD_CI") == "1":
        pytest.fail(what, pytrace=False)
    pytest.skip(what)
