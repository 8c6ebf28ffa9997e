"""Where systems to compare come from: a file of several collections, or runs under several seeds."""

from __future__ import annotations

import os
from collections.abc import Sequence
from glob import glob
from pathlib import Path
from typing import TypeAlias, TypedDict, TypeGuard

from cranfield.errors import UsageError
from cranfield.formats import distinct_names, stem
from cranfield.formats.sources import read_toml

# The file of each system, or the files of its runs under several seeds.
Systems: TypeAlias = dict[str, str | list[str]]


class _Entry(TypedDict):
    qrels: str
    runs: Systems


def judged_systems(
    qrels: str | None, runs: Sequence[str], seeds: Sequence[str], collections: str | None
) -> dict[str, tuple[str, Systems | list[str]]]:
    """Judgements and systems of each collection: those of a file, or one collection without a name."""
    if collections is not None:
        if qrels is not None or seeds:
            other = "QRELS and RUNS" if qrels is not None else "--seeds"
            raise UsageError(f"give --collections or {other}, not both; a system's runs may be a list in the file")
        return {**listed_collections(collections)}
    if qrels is None or not (runs or seeds):
        raise UsageError("what is to be compared? Give QRELS and two RUNS or more, or --collections FILE")
    return {"": (qrels, seeded_systems(runs, seeds) if seeds else list(runs))}


def listed_collections(path: str) -> dict[str, tuple[str, Systems]]:
    """Judgements and systems of each collection in a TOML file, beside which they are looked for."""
    document, folder = read_toml(path), Path(path).parent
    collections: dict[str, tuple[str, Systems]] = {}
    for name, entry in document.items():
        if not _is_collection(entry):
            raise UsageError(
                f"{path}: [{name}] must have qrels = 'file' and a table [{name}.runs] with system = 'file', or a list "
                "of files, and nothing else"
            )
        systems: Systems = {
            system: [str(folder / file) for file in files] if isinstance(files, list) else str(folder / files)
            for system, files in entry["runs"].items()
        }
        collections[name] = (str(folder / entry["qrels"]), systems)
    if not collections:
        raise UsageError(f"{path}: no collection in it; write [NAME] with qrels = 'file' and [NAME.runs]")
    return collections


def _is_collection(entry: object) -> TypeGuard[_Entry]:
    if not isinstance(entry, dict) or set(entry) != {"qrels", "runs"} or not isinstance(entry["runs"], dict):
        return False
    files = [file for runs in entry["runs"].values() for file in (runs if isinstance(runs, list) else [runs])]
    return all(isinstance(file, str) for file in [entry["qrels"], *files])


def seeded_systems(runs: Sequence[str], patterns: Sequence[str]) -> Systems:
    """Runs by their names, and for each pattern a system of all runs that match it."""
    systems: Systems = dict(zip(_names(runs), runs, strict=True))
    for pattern in patterns:
        name = _system_of(pattern)
        if name in systems:
            raise UsageError(f"--seeds '{pattern}' is a second system called {name}: rename its files")
        files = sorted(glob(pattern))
        if not files:
            raise UsageError(f"no file matches --seeds '{pattern}'")
        systems[name] = files
    return systems


def _system_of(pattern: str) -> str:
    """A system's name from the pattern of its runs.

    >>> _system_of("runs/dense-*.run")
    'dense'
    """
    return "".join(c for c in stem(pattern) if c not in "*?[]").strip("-_.# ") or pattern


def _names(runs: Sequence[str]) -> list[str]:
    """What runs are called, which is their path where two have the same name."""
    return distinct_names([(stem(run), run) for run in runs])


def named_run(wanted: str | None, runs: Sequence[str]) -> str | None:
    """The name of one of the runs, which may be given as its path."""
    for name, run in zip(_names(runs), runs, strict=True):
        if wanted is not None and wanted != name and os.path.abspath(run) == os.path.abspath(wanted):
            return name
    return wanted
