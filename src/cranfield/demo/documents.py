"""The documents: docstrings of the standard library of the interpreter that runs.

Modules in Python are read as source, not imported: nothing runs, nothing is printed, no process state changes. What is
written in C has no source here: those modules alone are imported, and do nothing when they are. Only `os`, which is put
together when Python starts, is taken as it is.
"""

from __future__ import annotations

import ast
import inspect
import os.path
import pkgutil
import re
import sys
import sysconfig
import warnings
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from importlib.machinery import ExtensionFileLoader, ModuleSpec, PathFinder
from types import ModuleType
from typing import Any, NamedTuple

from cranfield.errors import DataError, UsageError
from cranfield.texts.texts import Documents

NAME = "python-standard-library"
# Left out, so that the collection is much the same everywhere.
WINDOWS_AND_TOYS = "antigravity curses idlelib lib2to3 readline test this tkinter turtle turtledemo"
TABLES = "encodings pydoc_data"
PACKAGED_APART = "distutils ensurepip venv"
ONE_PLATFORM = "fcntl grp msilib msvcrt nt nturl2path posix pty pwd resource syslog termios tty winreg winsound"
NOT_IN_EVERY_VERSION = (
    "aifc annotationlib asynchat asyncore audioop cgi cgitb chunk compression crypt imghdr imp mailcap nis nntplib"
    " ossaudiodev pipes profiling smtpd sndhdr spwd sre_compile sre_constants sre_parse sunau telnetlib uu xdrlib"
    " asyncio.graph asyncio.tools concurrent.futures.interpreter concurrent.interpreters dbm.sqlite3"
    " importlib.metadata.diagnose pathlib.types string.templatelib"
)
BUILDING_BLOCKS = "genericpath ntpath opcode posixpath pyexpat"  # read through the modules that are made of them
LEFT_OUT = frozenset(
    " ".join((WINDOWS_AND_TOYS, TABLES, PACKAGED_APART, ONE_PLATFORM, NOT_IN_EVERY_VERSION, BUILDING_BLOCKS)).split()
)
FEWEST = 3000  # documents of any usual installation; fewer mean that the sources are missing
_ALWAYS_LOADED = ("os", os.path.__name__)
_LOADS_MORE = ("_asyncio",)  # imports modules in Python; all that it has is there in Python too
_SECOND_CHOICE = ("_pydatetime",)  # where newer versions keep what is in C too
_MOVED = {"_collections_abc": "collections.abc"}  # newer versions have no file of that name
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


class Docstring(NamedTuple):
    """A docstring, and the signature of what it explains."""

    signature: str
    text: str


def standard_library() -> Documents:
    """Every docstring of the standard library that is somebody's to read, by qualified name.

    >>> documents = standard_library()
    >>> documents.only(["str.strip", "textwrap.dedent"]).fields["title"]
    ['str.strip(chars=None, /)', 'textwrap.dedent(text)']
    """
    if sys.flags.optimize >= 2:
        raise UsageError("Python runs without docstrings, which are the documents: leave out -OO and PYTHONOPTIMIZE=2")
    docstrings: dict[str, Docstring] = {}
    for module in sorted(sys.stdlib_module_names - LEFT_OUT):
        if not module.startswith("_"):
            docstrings |= _tree(module)
    for module, known_as in _MOVED.items():
        defined = {f"{known_as}.{name}": docstring for name, docstring in _defined(module).items() if name}
        docstrings = defined | docstrings
    docstrings |= _compiled(os.path.__name__, "os.path")
    if len(docstrings) < FEWEST:
        raise DataError(
            f"has only {len(docstrings):,} docstrings",
            source=f"the standard library of Python {sys.version.split()[0]}",
            remedy="Its sources seem to be missing: use an installation of Python that has them.",
        )
    ids = sorted(docstrings)
    fields = {"title": [id + docstrings[id].signature for id in ids], "text": [docstrings[id].text for id in ids]}
    return Documents(tuple(ids), fields, NAME)


def _tree(module: str) -> dict[str, Docstring]:
    """The docstrings of a module and of the public modules in it."""
    if module in _ALWAYS_LOADED or not _is_python(module):
        return _compiled(module, module)
    prefix = f"{module}."
    docstrings = {prefix + name if name else prefix[:-1]: docstring for name, docstring in _defined(module).items()}
    spec = _spec(module)
    for inner in pkgutil.iter_modules((spec and spec.submodule_search_locations) or ()):
        name = f"{module}.{inner.name}"
        if not inner.name.startswith("_") and inner.name not in ("test", "tests") and name not in LEFT_OUT:
            docstrings |= _tree(name)
    return docstrings


def _compiled(module: str, known_as: str) -> dict[str, Docstring]:
    """The docstrings of a module that is taken as it is loaded; the built-in names are known without their module."""
    loaded = _loaded(module)
    if loaded is None:
        return {}
    prefix = "" if module == "builtins" else f"{known_as}."
    return {prefix + name if name else known_as: docstring for name, docstring in _members(loaded).items()}


def _members(module: ModuleType) -> dict[str, Docstring]:
    """Docstrings of a loaded module by name in it; the module's own is at ''."""
    docstrings = {"": Docstring("", _clean(module.__doc__))}
    exported = getattr(module, "__all__", ())
    for name, value in vars(module).items():
        original = vars(module).get(f"__{name}__")  # sys.__excepthook__, should a program have set another
        value = original if inspect.isroutine(original) else value
        own = getattr(value, "__name__", None) == name or (name in exported and inspect.isroutine(value))
        if _is_public(name) and own and (name in exported or not exported) and not inspect.ismodule(value):
            docstrings[name] = Docstring(_signature(value), _clean(value.__doc__))
            if inspect.isclass(value):
                for inner in vars(value):
                    member = getattr(value, inner, None)
                    if _is_public(inner) and member.__doc__ != type(member).__doc__:  # of its own, not of its class
                        docstrings[f"{name}.{inner}"] = Docstring(_signature(member), _clean(member.__doc__))
    return {name: docstring for name, docstring in docstrings.items() if docstring.text}


@cache
def _defined(module: str, within: tuple[str, ...] = ()) -> Mapping[str, Docstring]:
    """Docstrings of a module in Python by name in it, with those of what it takes from modules made for it alone.

    Where a class is written twice, in C and in Python, the one in C is what the module gives, and what `help` shows.
    """
    tree = _parsed(module)
    if tree is None:
        return {}
    docstrings = {"": Docstring("", _module_docstring(tree))}
    exported = _exported(tree)
    for definition in _definitions(tree):
        if exported is None or definition.name in exported:
            docstrings |= _of_definition(definition)
    for node in _top_level(tree):
        if isinstance(node, ast.ImportFrom):
            imported = _taken(node, exported, (*within, module))
            docstrings = imported | docstrings if node.module in _SECOND_CHOICE else docstrings | imported
    return {name: docstring for name, docstring in docstrings.items() if docstring.text}


def _module_docstring(tree: ast.Module) -> str:
    """The text at the head of a module, or what it gives to `__doc__`."""
    for node in tree.body:
        match node:
            case ast.Assign(targets=[ast.Name(id="__doc__")], value=ast.Constant(value=str(text))):
                return _clean(text)
    return _clean(ast.get_docstring(tree))


def _of_definition(
    node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef, prefix: str = ""
) -> dict[str, Docstring]:
    """The docstring of a function or class, and of the public methods and classes in it."""
    name, text = prefix + node.name, _clean(ast.get_docstring(node))
    if not isinstance(node, ast.ClassDef):
        return {name: Docstring(f"({_arguments(node)})", text)}
    docstrings: dict[str, Docstring] = {}
    signature = ""
    for inner in _definitions(node):
        if inner.name == "__init__" and not isinstance(inner, ast.ClassDef):
            signature = f"({_arguments(inner)})"
            text = f"{text}\n\n{_clean(ast.get_docstring(inner))}".strip()
        elif _is_public(inner.name):
            docstrings |= _of_definition(inner, f"{name}.")
    return {name: Docstring(signature, text)} | docstrings


def _definitions(body: ast.AST) -> Iterator[ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef]:
    """Functions and classes of a module or class, those under `if` and `try` too."""
    for node in ast.iter_child_nodes(body):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            if _is_public(node.name) or node.name == "__init__":
                yield node
        elif isinstance(node, ast.If | ast.Try | ast.ExceptHandler):
            yield from _definitions(node)


def _top_level(tree: ast.Module) -> Iterator[ast.AST]:
    """Everything in a module that is not in one of its functions and classes."""
    for statement in tree.body:
        if not isinstance(statement, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield from ast.walk(statement)


def _taken(node: ast.ImportFrom, exported: frozenset[str] | None, within: tuple[str, ...]) -> dict[str, Docstring]:
    """What the last module of `within` takes from another that is made for it, under its own name."""
    origin = _origin(node, within[-1])
    if not origin.rpartition(".")[2].startswith("_") or origin in ("__future__", *within):
        return {}
    if _is_python(origin):
        there: Mapping[str, Docstring] = _defined(origin, within)
    else:
        loaded = _loaded(origin)
        there = {} if loaded is None else _members_and_private(loaded, node)
    docstrings: dict[str, Docstring] = {}
    for alias in node.names:
        for name, docstring in there.items():
            top, dot, rest = name.partition(".")
            own = (top if alias.name == "*" else alias.asname or alias.name) if alias.name in ("*", top) else ""
            if alias.name == "__doc__" and not name:
                docstrings[""] = docstring
            if _is_public(own) and (exported is None or own in exported):
                docstrings[own + dot + rest] = docstring
    return docstrings


def _members_and_private(module: ModuleType, node: ast.ImportFrom) -> dict[str, Docstring]:
    """A module's public members, and the functions that are private in it but public where they are imported."""
    docstrings = _members(module)
    for alias in node.names:
        value = getattr(module, alias.name, None)
        if alias.asname and inspect.isbuiltin(value):
            docstrings[alias.name] = Docstring(_signature(value), _clean(value.__doc__))
    return docstrings


def _origin(node: ast.ImportFrom, module: str) -> str:
    """The full name of the module in `from … import`."""
    if not node.level:
        return node.module or ""
    spec = _spec(module)
    is_package = spec is not None and spec.submodule_search_locations is not None
    parts = module.split(".")
    base = parts[: len(parts) - node.level + is_package]
    return ".".join([*base, node.module] if node.module else base)


def _exported(tree: ast.Module) -> frozenset[str] | None:
    """The names in `__all__`; None if there is none, or if it is put together when the module runs."""
    mentions = [node for node in _top_level(tree) if isinstance(node, ast.Name) and node.id == "__all__"]
    for node in tree.body:
        if isinstance(node, ast.Assign) and node.targets[0] in mentions and len(mentions) == 1:
            try:
                return frozenset(ast.literal_eval(node.value))
            except ValueError:
                return None
    return None


def _parsed(module: str) -> ast.Module | None:
    spec = _spec(module)
    loader = spec.loader if spec is not None else None
    source: str | None = None
    if loader is not None and hasattr(loader, "get_source"):
        source = loader.get_source(module)
    if source is None:
        return None
    with warnings.catch_warnings():  # what the compiler has to say of the library is not the user's business
        warnings.simplefilter("ignore")
        return ast.parse(source)


@cache
def _spec(module: str) -> ModuleSpec | None:
    """Where a module is, found without importing it nor the package it is in."""
    parent, _, _ = module.rpartition(".")
    if not parent:
        folder = sysconfig.get_path("stdlib")
        return PathFinder.find_spec(module, [folder, os.path.join(folder, "lib-dynload")])
    package = _spec(parent)
    return PathFinder.find_spec(module, package.submodule_search_locations) if package is not None else None


def _is_python(module: str) -> bool:
    spec = _spec(module)
    return spec is not None and hasattr(spec.loader, "get_source") and (spec.origin or "").endswith(".py")


def _is_compiled(module: str) -> bool:
    if module in sys.builtin_module_names:
        return True
    spec = _spec(module) or PathFinder.find_spec(module)  # some platforms keep them in a folder of their own
    return spec is not None and isinstance(spec.loader, ExtensionFileLoader)


@cache
def _loaded(module: str) -> ModuleType | None:
    """A module in C; None on a machine that does not have it."""
    if module in _LOADS_MORE or not (module in _ALWAYS_LOADED or _is_compiled(module)):
        return None
    try:
        return import_module(module)
    except ImportError:
        return None


def _is_public(name: str) -> bool:
    return bool(name) and not name.startswith("_")


def _clean(text: str | None) -> str:
    """A docstring without the indentation of its source."""
    return inspect.cleandoc(text).strip() if isinstance(text, str) else ""


def _signature(value: Any) -> str:
    text = str(inspect.signature(value)) if inspect.isfunction(value) else getattr(value, "__text_signature__", None)
    if not text:
        return ""
    return " ".join(_ADDRESS.sub("", re.sub(r"\(\$?(self|module|type|cls)\b(?!=)(, /)?(, )?", "(", text)).split())


def _arguments(node: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    return re.sub(r"^(self|cls)\b(?!=)(, /)?(, )?", "", ast.unparse(node.args))
