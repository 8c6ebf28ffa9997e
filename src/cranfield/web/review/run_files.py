"""The runs of a project, as files beside the database."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from fastapi.responses import FileResponse
from sqlalchemy import Connection, select
from starlette.exceptions import HTTPException

from cranfield.errors import CranfieldError
from cranfield.formats import read_run
from cranfield.formats.reading import Reading
from cranfield.tables import Run
from cranfield.web.projects.collections import DataFiles
from cranfield.web.store.tables import RunRow
from cranfield.web.uploads.file_names import harmless_name


def run_download(connection: Connection, folder: Path, project: int, run: int) -> FileResponse:
    """The file of a run of a project, as it is kept, under the run's name; 404 where there is none."""
    named = select(RunRow.name, RunRow.digest).where(RunRow.project_id == project, RunRow.id == run)
    row = connection.execute(named).first()
    path = None if row is None else DataFiles(folder).kept("run", row.digest)
    if row is None or path is None or not path.is_file():
        raise HTTPException(404)
    return FileResponse(path, media_type="text/plain; charset=utf-8", filename=harmless_name(f"{row.name}.run"))


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
