"""The pages of images: their builds, with logs, and how to look into a step that failed."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from controller.service.api.access import Context
from controller.service.web.session import Viewer
from controller.service.web.templating import page
from images.build_logs import list_builds, read_build

router = APIRouter(include_in_schema=False)


@router.get("/images")
def images(context: Context, role: Viewer) -> HTMLResponse:
    """List the builds of images, newest first."""
    builds = list_builds(context.settings.images_dir)
    return page("images/images", role=role, context=context, builds=builds)


@router.get("/images/{name}")
def build(name: str, context: Context, role: Viewer) -> HTMLResponse:
    """Show the log of a build; of one that failed, first why, and the command that opens its tree."""
    record = read_build(context.settings.images_dir, name)
    return page("images/build", role=role, context=context, build=record)
