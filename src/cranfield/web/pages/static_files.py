"""Our own scripts and styles, under addresses that change with their content."""

from __future__ import annotations

from fastapi import Response
from starlette.exceptions import HTTPException

from cranfield.web.accounts.roles import Permission
from cranfield.web.routes import needs, page_router
from cranfield.web.templating import FOLDER, asset

router = page_router()
TYPES = {".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}
FILES = {path.name: path for path in (FOLDER / "static").iterdir() if path.suffix in TYPES}


@router.get("/static/{digest}/{name}")
@needs(Permission.ANYONE)
def static_file(digest: str, name: str) -> Response:
    """A file, by digest and name."""
    path = FILES.get(name)
    if path is None or asset(name) != f"/static/{digest}/{name}":
        raise HTTPException(404)
    kept = {"cache-control": "public, max-age=31536000, immutable"}
    return Response(path.read_bytes(), media_type=TYPES[path.suffix], headers=kept)
