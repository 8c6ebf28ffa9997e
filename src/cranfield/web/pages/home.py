"""The first page: the projects of a person."""

from __future__ import annotations

from fastapi import Request
from fastapi.responses import Response
from sqlalchemy import select

from cranfield.web.accounts.roles import Permission
from cranfield.web.routes import Visiting, needs, page_router
from cranfield.web.store.tables import MemberRow, ProjectRow
from cranfield.web.templating import page

router = page_router()


@router.get("/")
@needs(Permission.SIGNED_IN)
def home(request: Request, visit: Visiting) -> Response:
    """The projects that the visitor is a member of."""
    asked = (
        select(ProjectRow.slug, ProjectRow.title, ProjectRow.state, MemberRow.role)
        .join(MemberRow, MemberRow.project_id == ProjectRow.id)
        .where(MemberRow.user_id == visit.person.id, MemberRow.role.is_not(None))
        .order_by(ProjectRow.title)
    )
    with visit.store.reading() as connection:
        projects = connection.execute(asked).all()
    return page(request, "home.html", projects=projects)
