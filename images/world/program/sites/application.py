"""All sites, by the host name that a request asks for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.routing import Host, Router

from images.world.program.sites.control_pages import control_routes
from images.world.program.sites.shop_pages import shop_routes
from images.world.program.sites.shop_store import ShopStore
from images.world.program.sites.wiki_articles import Encyclopaedia
from images.world.program.sites.wiki_pages import wiki_routes
from images.world.program.state import STATE

if TYPE_CHECKING:
    from pathlib import Path

ISO_CODES = "/usr/share/iso-codes/json"


def make_application(state: Path = STATE, iso_codes: str = ISO_CODES) -> Starlette:
    """Return the application.

    Args:
        state: folder with the world's state.
        iso_codes: folder of Debian's iso-codes.
    """
    store = ShopStore(state)
    shop = Router(shop_routes(store))
    wiki = Router(wiki_routes(Encyclopaedia(iso_codes)))
    control = Router(control_routes(store))
    hosts = {"shop.example": shop, "wiki.example": wiki, "control": control}
    return Starlette(routes=[Host(name, site) for name, site in hosts.items()])
