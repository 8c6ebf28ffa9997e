"""The runs of a project, as files beside the database."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from cranfield.errors import CranfieldError
from cranfield.formats import read_run
from cranfield.formats.reading import Reading
from cranfield.tables import Run
from cranfield.web.projects.collections import DataFiles


def runs_of(folder: Path, known: Iterable[tuple[str, str]]) -> tuple[dict[str, Run], list[str]]:
    """Runs by name, from names and digests; and what is to be said of those that can't be had."""
    runs, told = {}, []
    for name, digest in known:
        path = DataFiles(folder).kept("run", digest)
        if not path.is_file():
            told.append(f"The file of run {name} is gone: it is left out.")
            continue
        try:
            runs[name] = read_run(str(path), name=name, reading=Reading(threads=1))
        except CranfieldError as error:
            told.append(f"Run {name} is left out: {str(error).replace(str(path), name)}")
    return runs, told
