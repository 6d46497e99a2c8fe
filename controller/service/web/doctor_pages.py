"""The page Doctor: findings of `mesocosm doctor` on this host."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from controller.service.api.access import Context
from controller.service.web.session import Viewer
from controller.service.web.templating import page

router = APIRouter(include_in_schema=False)


@router.get("/doctor")
def doctor(context: Context, role: Viewer) -> HTMLResponse:
    """Diagnose the host, which takes some seconds."""
    return page("doctor", role=role, context=context, findings=context.doctor())
