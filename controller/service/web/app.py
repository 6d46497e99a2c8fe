"""The application with its pages."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from controller.service.api.app import make_app
from controller.service.api.errors import HANDLERS
from controller.service.live_screens import LiveScreens
from controller.service.web import (
    compare_pages,
    confirm_pages,
    doctor_pages,
    experiment_pages,
    fleet_pages,
    image_pages,
    live_pages,
    pages,
    schedule_pages,
    session,
    suite_pages,
)
from controller.service.web.human import routes as human
from controller.service.web.human.session import HumanSessions
from controller.service.web.metrics import routes as metrics
from controller.service.web.templating import page
from controller.service.web.trials import routes as trials

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from fastapi import APIRouter, FastAPI, Request
    from starlette.responses import Response

    from controller.service.api.context import ApiContext

_FOR_PROGRAMS = ("/api/", "/healthz", "/metrics")
_PAGES = (
    *(session, live_pages, confirm_pages, pages, schedule_pages, trials, fleet_pages, suite_pages),
    *(compare_pages, experiment_pages, image_pages, doctor_pages, metrics, human),
)


def make_app_with_pages(
    context: ApiContext, hosts: Collection[str], routers: Sequence[APIRouter] = ()
) -> FastAPI:
    """Return the application with API and pages.

    Args:
        context: context of the API.
        hosts: allowed values of ``Host``, in lower case.
        routers: additional routes.
    """
    app = make_app(context, hosts, [*(module.router for module in _PAGES), *routers])
    app.state.human_sessions = HumanSessions(context.settings, context.stop)
    app.state.live_screens = LiveScreens(context.clock)
    for kind, handler in HANDLERS.items():
        app.add_exception_handler(kind, _for_people(handler))
    app.add_exception_handler(session.SignInNeededError, session.redirect_to_sign_in)
    return app


def _for_people(
    handler: Callable[[Request, Exception], Response],
) -> Callable[[Request, Exception], Response]:
    """Wrap a handler to render its error as a page, except for API clients."""

    def reply(request: Request, exc: Exception) -> Response:
        answer = handler(request, exc)
        is_programs = request.headers.get("content-type", "").startswith("application/json")
        if is_programs or request.url.path.startswith(_FOR_PROGRAMS):
            return answer
        error = json.loads(bytes(answer.body))["error"]
        return page("error", status=answer.status_code, error=error)

    return reply
