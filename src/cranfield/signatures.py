"""Calls of public functions with names and types that they do not have, told as this package tells errors.

What a function takes stands in its signature; nothing here is written down a second time.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, wraps
from typing import Any, ParamSpec, SupportsIndex, TypeAlias, TypeVar, Union, get_args, get_origin

from cranfield.errors import ArgumentError, plural, shorten
from cranfield.numerals import LARGEST

Made = TypeVar("Made")
P = ParamSpec("P")
Kind: TypeAlias = "type | types.GenericAlias"  # a class, or a series or mapping of something


def checked(function: Callable[P, Made], module: str) -> Callable[P, Made]:
    """The same function for callers outside: a wrong name or type is an `ArgumentError` before anything is done.

    `module` is where callers find it, for pickle.
    """
    code = function.__code__
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    open_ended = bool(code.co_flags & 0x08)  # it takes further names, and says itself what is wrong with them
    any_number = bool(code.co_flags & 0x04)  # it is checked already, by the room that it comes from
    by_place, by_name = names[: code.co_argcount], names[code.co_argcount :]
    needed = by_place[: len(by_place) - len(function.__defaults__ or ())]
    needed += tuple(name for name in by_name if name not in (function.__kwdefaults__ or {}))
    most_needed = len(needed) if set(needed) <= set(by_place) else len(names) + 1  # values that leave nothing missing
    kinds = {name: _kinds(function, name) for name in names}
    # Values that are of one of the classes themselves need no closer look: some functions are called for every query.
    at_once = {name: frozenset(each for kind in accepted for each in _surely(kind)) for name, accepted in kinds.items()}
    known = frozenset(names)

    def check(name: str, value: object) -> None:
        accepted = kinds.get(name, ())
        if accepted and not any(_fits(value, kind) for kind in accepted):
            wanted = " or ".join(dict.fromkeys(map(_wording, accepted)))
            shown = _shown(value)
            hint = _hint(accepted, shown, value)
            raise ArgumentError(f"{function.__name__}: {name} must be {wanted}, not {shown}{hint}")
        if _is_experiment(value) and "Experiment" not in str(function.__annotations__.get(name, "Experiment")):
            raise ArgumentError(_parts_wanted(function.__name__, name, value))

    @wraps(function)
    def call(*values: P.args, **named: P.kwargs) -> Made:
        if not open_ended and not known.issuperset(named):
            check_names(function.__name__, named, names)
        for name, value in zip(by_place, values, strict=False):
            if type(value) not in at_once[name]:
                check(name, value)
        for name, value in named.items():
            check(name, value)
        if not any_number:
            _check_number(function.__name__, by_place, len(values))
        if len(values) < most_needed:
            missing = [name for name in needed if name not in named and name not in by_place[: len(values)]]
            if missing:
                raise needs(function.__name__, missing)
        return function(*values, **named)

    call.__module__ = module
    return call


# Arguments that are records of options, and where each record is.
RECORDS = {
    "details": ("comparison.question", "Details"),
    "overlap": ("agreement.rankings.runs", "Overlap"),
    "training": ("fusion.training", "Training"),
    "tuning": ("search.tuning", "Tuning"),
}


def check_names(where: str, names: Iterable[str], known: Iterable[str]) -> None:
    """That a function has arguments of these names.

    >>> check_names("compare", ["test"], ["tests", "alpha"])
    Traceback (most recent call last):
    cranfield.errors.ArgumentError: compare has no argument 'test'; did you mean tests?
    """
    arguments = list(known)
    unknown = next((name for name in names if name not in arguments), None)
    if unknown is None:
        return
    from difflib import get_close_matches

    near = get_close_matches(unknown, arguments, n=1, cutoff=0.5)
    if unknown in _fields_of("policy", "Policy") and {"policy", "experiment"} & {*arguments}:
        of = "the policy" if "policy" in arguments else "the policy of an experiment"
        remedy = f"it is part of {of}: policy=Policy({unknown}=…)"
    elif unknown in _fields_of("formats.reading", "Reading") and {"reading", "experiment"} & {*arguments}:
        of = "inputs" if "reading" in arguments else "an experiment's inputs"
        remedy = f"how {of} are read is told by reading=Reading({unknown}=…)"
    elif record := next(
        (name for name in RECORDS if name in arguments and unknown in _fields_of(*RECORDS[name])), None
    ):
        remedy = f"it is one of the {record}: " if record == "details" else f"it is part of the {record}: "
        remedy += f"{record}={RECORDS[record][1]}({unknown}=…)"
    else:
        remedy = f"did you mean {near[0]}?" if near else f"it has {', '.join(arguments)}"
    raise ArgumentError(f"{where} has no argument '{shorten(unknown, 60)}'; {remedy}")


def needs(where: str, missing: Sequence[str]) -> ArgumentError:
    """What a call lacks.

    >>> print(needs("evaluate", ["runs"]))
    evaluate needs runs
    """
    return ArgumentError(f"{where} needs {' and '.join(missing)}{_suggestion(missing)}")


def _check_number(where: str, by_place: Sequence[str], given: int) -> None:
    """That no more values come without a name than a function takes so."""
    if given > len(by_place):
        taken = f"{', '.join(by_place)}; others are given by name" if by_place else "none: all are given by name"
        raise ArgumentError(f"{where} was given {plural(given, 'value')} without a name, and takes {taken}")


def _suggestion(missing: Sequence[str]) -> str:
    """Which measures to take, where none was named: in Python there is no default for them."""
    examples = {"measures": '"nDCG@10" or ["nDCG@10", "AP"]', "measure": '"nDCG@10"'}.get(missing[-1])
    return f", such as {examples}; `cranfield measures` lists them all" if examples else ""


def _is_experiment(value: object) -> bool:
    return type(value).__name__ == "Experiment" and type(value).__module__.startswith("cranfield.")


def _parts_wanted(where: str, name: str, experiment: object) -> str:
    """What to do with an experiment given where judgements or runs are wanted."""
    use = f"experiment.{where}(measures)" if hasattr(experiment, where) else "experiment.qrels or experiment.runs"
    return f"{where}: {name} is one part of an experiment, and this is all of it: write {use}"


def _shown(value: object) -> str:
    """A value in a line: as Python writes it if that is short, otherwise what it is."""
    shown = repr(value)
    if isinstance(value, str | bytes) or (len(shown) <= 60 and "\n" not in shown):
        return shorten(shown, 60)
    return f"a value of the class {type(value).__name__}"


def _kinds(function: Callable[P, Made], name: str) -> tuple[Kind, ...]:
    """The types that an argument may have; none where its annotation does not tell, or is for type checkers alone."""
    annotation = function.__annotations__.get(name)
    if isinstance(annotation, str):
        try:
            annotation = eval(annotation, function.__globals__)
        except (NameError, TypeError):
            return ()
    parts = get_args(annotation) if get_origin(annotation) in (Union, types.UnionType) else (annotation,)
    return parts if all(_is_plain(part) for part in parts) else ()


def _is_plain(kind: object) -> bool:
    """Whether a value can be held against it: a class, or a series or mapping of something."""
    origin = get_origin(kind) or kind
    return isinstance(origin, type) and origin not in (object, Any) and not hasattr(origin, "__array__")


def _class_of(kind: Kind) -> type:
    """What a value must be an instance of."""
    origin: type | None = get_origin(kind)
    if origin is not None:
        return origin
    assert isinstance(kind, type)
    return kind


def _fits(value: object, kind: Kind) -> bool:
    if kind is int:
        whole = type(value) is int or (isinstance(value, SupportsIndex) and not isinstance(value, bool))
        return whole and abs(int(value)) <= LARGEST  # type: ignore[call-overload]
    if kind is float:
        return hasattr(value, "__float__") and not isinstance(value, bool)
    if kind is bool:
        return isinstance(value, bool) or type(value).__name__ in ("bool", "bool_")  # and NumPy's
    wanted, is_series, has_texts = _series(kind)
    if not is_series:
        return isinstance(value, wanted)
    if isinstance(value, str | bytes) or not isinstance(value, wanted):
        return False
    return not has_texts or not isinstance(value, Sequence) or all(isinstance(item, str) for item in value)


def _surely(kind: Kind) -> tuple[type, ...]:
    """Classes whose own values fit without a closer look; whole numbers may be too large, and texts may be none."""
    if kind is int or getattr(kind, "__name__", "") == "Experiment":
        return ()
    wanted, is_series, has_texts = _series(kind)
    if not is_series:
        return (wanted,)
    return () if has_texts else (dict,) if wanted is Mapping else (list, tuple)


@cache
def _series(kind: Kind) -> tuple[type, bool, bool]:
    """What a value must be an instance of, whether that is a series or a mapping of something, and whether of texts."""
    origin, of = _class_of(kind), get_args(kind)
    if not issubclass(origin, Iterable) or issubclass(origin, str) or not of:
        return origin, False, False
    is_mapping = issubclass(origin, Mapping)
    return (Mapping if is_mapping else Iterable), True, of[0] is str and not is_mapping


def _wording(kind: Kind) -> str:
    origin = _class_of(kind)
    words: dict[Kind, str] = {
        int: "a whole number",
        float: "a number",
        str: "text",
        bool: "True or False",
        types.NoneType: "None",
    }
    if kind in words:
        return words[kind]
    if get_args(kind) and issubclass(origin, Mapping):
        return "a mapping of names to values"
    if get_args(kind) and issubclass(origin, Iterable):
        return "a series of text" if get_args(kind)[0] is str else "a series"
    return "a path" if hasattr(origin, "__fspath__") else f"of the class {origin.__name__}"


def _fields_of(module: str, record: str) -> tuple[str, ...]:
    """The names that a record of options has."""
    from importlib import import_module

    return tuple(getattr(import_module(f"cranfield.{module}"), record).__dataclass_fields__)


def _hint(accepted: Sequence[Kind], shown: str, value: object) -> str:
    """What to do with judgements given where an experiment is wanted, or a path where what is read from it is."""
    if any(getattr(kind, "__name__", "") == "Experiment" for kind in accepted):
        return "; make one of judgements and runs: cranfield.Experiment(qrels, runs)"
    if isinstance(value, types.FunctionType):
        return "; a decorator has its parentheses even where nothing stands in them"
    if not isinstance(value, str):
        return ""
    from cranfield import formats, texts

    for kind in accepted:
        name = f"read_{getattr(kind, '__name__', '').lower()}"
        for room in (formats, texts):
            if hasattr(room, name):
                where = "cranfield" if room is formats else "cranfield.texts"
                return f"; of a file, {where}.{name}({shown})"
    return ""
