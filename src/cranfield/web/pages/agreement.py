"""How far the assessors of a project agree."""

from __future__ import annotations

from typing import Annotated

from fastapi import Request
from fastapi.responses import Response
from pydantic import Field

from cranfield.web.accounts.roles import Permission
from cranfield.web.review.agreement import COEFFICIENTS, FEW_OF_TOPIC, FEW_PAIRS, agreement_of, system_orders
from cranfield.web.routes import Visiting, needs, page_router
from cranfield.web.templating import page

router = page_router()
SHOWN = 100  # disagreements on a page


@router.get("/p/{project}/agreement")
@needs(Permission.ADJUDICATE)
def agreement_page(
    request: Request,
    visit: Visiting,
    systems: bool = False,
    start: Annotated[int, Field(ge=0, le=2**31)] = 0,
) -> Response:
    """Coefficients, topics, grades, disagreements; with `systems`, whether the order of systems changes."""
    kept, folder = request.app.state.kept, request.app.state.settings.folder
    agreement = agreement_of(kept, visit.store, visit.here.id)
    orders = system_orders(kept, visit.store, visit.here.id, folder) if systems else None
    return page(
        request,
        "agreement.html",
        agreement=agreement,
        orders=orders,
        shown=agreement.disagreements[start : start + SHOWN],
        start=start,
        step=SHOWN,
        names=COEFFICIENTS,
        few=FEW_PAIRS,
        few_of_topic=FEW_OF_TOPIC,
    )
