"""What the API can do, for programs: OpenAPI."""

from __future__ import annotations

from typing import Any

from fastapi import Request

from cranfield.web.accounts.roles import Permission
from cranfield.web.routes import api_router, needs

router = api_router()


@router.get("/openapi.json", include_in_schema=False)
@needs(Permission.ANYONE)
def description(request: Request) -> dict[str, Any]:
    """The API as OpenAPI describes one."""
    made: dict[str, Any] = request.app.openapi()
    made.setdefault("components", {})["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
    made["security"] = [{"token": []}]
    return made
