"""The page Doctor: findings of `mesocosm doctor` on this host."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from controller.service.api.access import Around
from controller.service.web.session import Viewer
from controller.service.web.templating import page

router = APIRouter(include_in_schema=False)


@router.get("/doctor")
def doctor(around: Around, role: Viewer) -> HTMLResponse:
    """Diagnose the host, which takes some seconds."""
    return page("doctor", role=role, around=around, findings=around.doctor())
