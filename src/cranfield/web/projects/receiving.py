"""What people send for a project: received, read in a child process, kept under its digest, and noted."""

from __future__ import annotations

from pathlib import PurePath

from fastapi import Request
from starlette.concurrency import run_in_threadpool

from cranfield.errors import DataError, shorten
from cranfield.web.admission import Visit
from cranfield.web.projects.collections import DataFiles, KeptPart
from cranfield.web.projects.making import LONGEST_RUN, NewRun, add_part, add_run
from cranfield.web.settings import ServerSettings
from cranfield.web.uploads.reading import CheckedUpload, UploadKind, UploadOptions, checked_upload
from cranfield.web.uploads.receiving import BodyLimits, ReceivedFile, received


async def taken(request: Request, visit: Visit, kind: UploadKind, name: str = "upload") -> CheckedUpload:
    """Takes a file for a project: documents, topics, judgements, or a run. Only what could be read is kept.

    A form may say `name` (of a run), `format` and `ids`; the API says the same in the query.
    """
    settings: ServerSettings = request.app.state.settings
    files = DataFiles(settings.folder)
    limits = BodyLimits(file_bytes=settings.upload_limit)
    file = await received(request.scope, request.receive, files.incoming(), name=name, limits=limits)
    try:
        said = {**request.query_params, **file.fields}
        return await run_in_threadpool(_kept, visit, files, kind, file, said)
    finally:
        file.remove()


def _kept(visit: Visit, files: DataFiles, kind: UploadKind, file: ReceivedFile, said: dict[str, str]) -> CheckedUpload:
    options = UploadOptions(format=said.get("format") or None, ids=said.get("ids") or "given")
    checked = checked_upload(file.path, kind=kind, name=file.name, folder=files.incoming(), options=options)
    try:
        if not checked.rows:
            raise DataError(f"{checked.name}: there is nothing in it")
        files.keep(kind, checked.path, checked.sha256)
    finally:
        checked.remove()
    now, project, user = visit.store.clock(), visit.here.id, visit.person.id
    with visit.store.writing() as connection:
        if kind == "run":
            name = said.get("name", "").strip() or checked.tag or PurePath(checked.name).stem
            run = NewRun(
                name=shorten(name, LONGEST_RUN), digest=checked.sha256, topics=checked.topics, rows=checked.rows
            )
            add_run(connection, now, project, run, user=user)
        else:
            part = KeptPart(digest=checked.sha256, name=checked.name, rows=checked.rows)
            add_part(connection, now, project, kind, part, user=user)
    return checked
