"""Folders that logs are written into: nothing of another log may be there, and what is made for nothing is removed."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress

from cranfield.errors import DataError
from cranfield.online.engine import form_of


@contextmanager
def log_folder(folder: str, files: Iterable[str]) -> Iterator[dict[str, str]]:
    """The places of tables in a folder, by table; the folder is made, and removed again if nothing is written into it.

    >>> import tempfile
    >>> with log_folder(os.path.join(tempfile.mkdtemp(), "log"), ["events.jsonl"]) as places:
    ...     print(list(places), os.path.isdir(os.path.dirname(places["events"])))
    ['events'] True
    """
    places = {name.partition(".")[0]: os.path.join(folder, name) for name in files}
    made = _missing(folder)
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        raise DataError(f"cannot be written: {error.strerror or error}", source=folder) from None
    try:
        _check_alone(folder, places)
        yield places
    except BaseException:
        for each in made:
            with suppress(OSError):  # somebody has put something there
                os.rmdir(each)
        raise


def _missing(folder: str) -> list[str]:
    """The folder and those around it that are not there, the innermost first."""
    missing, path = [], os.path.abspath(folder)
    while not os.path.exists(path):
        missing.append(path)
        path = os.path.dirname(path)
    return missing


def _check_alone(folder: str, places: dict[str, str]) -> None:
    """Refuses a folder in which a table would stand in two forms or parts: nobody could tell which is meant."""
    for table, place in places.items():
        for name in sorted(os.listdir(folder)):
            path = os.path.join(folder, name)
            mine = name.partition(".")[0] == table or name.startswith(f"{table}-")
            parts = name == table and os.path.isdir(path)
            if path != place and (parts or (mine and form_of(name))):
                raise DataError(
                    f"has {name} already: with {os.path.basename(place)} beside it nobody could tell which {table} are "
                    "meant",
                    source=folder,
                    remedy=f"Write to another folder, or remove {path} first.",
                )
