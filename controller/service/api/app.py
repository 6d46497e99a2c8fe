"""Composition of the application."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastapi import APIRouter, FastAPI
from fastapi.responses import JSONResponse

from controller.service.api import (
    appliance_routes,
    episode_routes,
    errors,
    events,
    queue_routes,
    record_routes,
    run_routes,
    schedule_routes,
)
from controller.service.api.access import Reader
from controller.service.api.forwarding import Forwarding
from controller.service.api.gate import Gate
from controller.service.api.rates import Rates

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from controller.service.api.context import ApiContext

_DESCRIPTION = """
Queue, schedules, runs and machines of one Mesocosm appliance. Every request except `/healthz` and `/metrics`
needs a token: `Authorization: Bearer TOKEN`. Create one with `mesocosm service token add NAME --role read`.
"""


def make_app(
    context: ApiContext, hosts: Collection[str], routers: Sequence[APIRouter] = ()
) -> FastAPI:
    """Return the application.

    Args:
        context: context of the API.
        hosts: allowed values of ``Host``, in lower case.
        routers: additional routes, such as those of the pages.
    """
    app = FastAPI(
        title="Mesocosm",
        version=context.version,
        description=_DESCRIPTION,
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        responses=errors.REFUSALS,
        redirect_slashes=False,
    )
    app.state.context = context
    app.state.rates = rates = Rates(context.settings.service_rate, context.clock)
    errors.install(app)
    for module in (
        queue_routes,
        schedule_routes,
        run_routes,
        appliance_routes,
        events,
        episode_routes,
        record_routes,
    ):
        app.include_router(module.router)
    for more in routers:
        app.include_router(more)
    app.include_router(appliance_routes.open_router)
    app.add_api_route(
        "/api/v1/openapi.json",
        lambda: JSONResponse(app.openapi()),
        dependencies=[Reader],
        include_in_schema=False,
    )
    if context.worker is not None:
        is_known = lambda token: bool(token) and context.tokens.role_of(token) is not None  # noqa: E731
        app.add_middleware(Forwarding, socket=context.worker, is_known=is_known)
    app.add_middleware(Gate, hosts=frozenset(hosts), peers=rates.peers)
    return app
