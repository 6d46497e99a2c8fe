"""All sites, by the host name that a request asks for."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.routing import Host, Router

from images.world.program.sites.accounts import Accounts, Session
from images.world.program.sites.clock import WorldClock
from images.world.program.sites.code.pages import code_routes, docs_routes
from images.world.program.sites.code.repositories import Repositories
from images.world.program.sites.control_pages import control_routes
from images.world.program.sites.public.maps import Atlas, maps_routes
from images.world.program.sites.public.news import news_routes
from images.world.program.sites.public.pictures import Gallery, pictures_routes
from images.world.program.sites.shop_pages import shop_routes
from images.world.program.sites.shop_store import ShopStore
from images.world.program.sites.webmail.pages import webmail_routes
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
    folder = state / "sites"
    about = json.loads((folder / "about.json").read_text())
    clock, accounts = WorldClock(about["now"]), Accounts(state)
    store, gallery = ShopStore(state), Gallery(folder)
    repositories = Repositories(folder / "code", clock)
    author = about["email"].partition("@")[0].replace(".", "-")
    maps, docs, news = (Session(accounts, site, site.lower()) for site in ("Map", "Docs", "News"))
    code = Session(accounts, "Code", "code")
    hosts = {
        "shop.example": shop_routes(store),
        "wiki.example": wiki_routes(Encyclopaedia(iso_codes)),
        "mail.example": webmail_routes(accounts, clock, about["name"]),
        "maps.example": [*maps.routes, *maps_routes(maps, Atlas(folder / "maps.json"))],
        "code.example": code_routes(code, repositories, author),
        "docs.example": [*docs.routes, *docs_routes(docs, repositories)],
        "news.example": [
            *news.routes,
            *news_routes(news, folder / "news.json", clock, about["seed"]),
        ],
        "pictures.example": pictures_routes(Session(accounts, "Pictures", "pictures"), gallery),
        "control": control_routes(store, repositories, gallery, accounts),
    }
    return Starlette(routes=[Host(name, Router(routes)) for name, routes in hosts.items()])
