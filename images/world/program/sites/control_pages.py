"""What the appliance asks of sites and changes in them, as JSON; no machine reaches it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from starlette.concurrency import run_in_threadpool
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

if TYPE_CHECKING:
    from starlette.requests import Request

    from images.world.program.sites.accounts import Accounts
    from images.world.program.sites.code.repositories import Repositories
    from images.world.program.sites.public.pictures import Gallery
    from images.world.program.sites.shop_store import ShopStore

_BAD_REQUEST = 400


def control_routes(
    shop: ShopStore, repositories: Repositories, gallery: Gallery, accounts: Accounts
) -> list[Route]:
    """Return the routes, below the name of each site."""

    async def orders(request: Request) -> Response:
        del request
        return JSONResponse(shop.orders())

    async def add_order(request: Request) -> Response:
        asked = json.loads(await request.body())
        items = {str(number): int(count) for number, count in asked["items"].items()}
        if not items or any(shop.product(number) is None for number in items):
            return Response("the catalogue has no such article", _BAD_REQUEST)
        number = await run_in_threadpool(shop.place_order, items)
        if asked.get("status"):
            await run_in_threadpool(shop.set_status, number, str(asked["status"]))
        return JSONResponse({"number": number})

    async def code(request: Request) -> Response:
        del request
        return JSONResponse(repositories.all())

    async def favourites(request: Request) -> Response:
        del request
        return JSONResponse(gallery.favourites())

    async def account(request: Request) -> Response:
        del request
        email, password = accounts.login
        return JSONResponse({"email": email, "password": password})

    return [
        Route("/code/repositories", code),
        Route("/pictures/favourites", favourites),
        Route("/account", account),
        Route("/shop/orders", orders),
        Route("/shop/orders", add_order, methods=["POST"]),
    ]
