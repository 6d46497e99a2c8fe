"""The news: articles by section, a search, and rates that change with the time."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

from starlette.routing import Route

if TYPE_CHECKING:
    from pathlib import Path

    from starlette.requests import Request
    from starlette.responses import Response

    from images.world.program.sites.accounts import Session
    from images.world.program.sites.clock import WorldClock

_PAGE = 20
_NOT_FOUND = 404
_RATES = {"EUR": 1.0, "GBP": 0.86, "USD": 1.09, "CHF": 0.96, "SEK": 11.2, "INR": 90.4}
RATE_SECONDS = 60
"""How long a rate stays the same."""


def rates(seed: int, minute: int) -> dict[str, str]:
    """Return the price of a euro in some currencies, which changes every minute."""
    shown = {}
    for currency, usual in _RATES.items():
        digest = hashlib.sha256(f"{seed}/{currency}/{minute}".encode()).digest()
        shown[currency] = (
            f"{usual * (1 + (digest[0] - 128) / 6400):.4f}" if usual != 1 else "1.0000"
        )
    return shown


def news_routes(session: Session, path: Path, clock: WorldClock, seed: int) -> list[Route]:
    """Return the routes of the news.

    Args:
        session: the site.
        path: the file with all articles.
        clock: the world's time.
        seed: seed of the rates.
    """
    articles = json.loads(path.read_text())
    by_slug = {article["slug"]: article for article in articles}
    sections = sorted({article["section"] for article in articles})

    def show(request: Request, template: str, status: int = 200, **values: object) -> Response:
        now = clock.now
        minute = int(now.timestamp()) // RATE_SECONDS
        about = {"sections": sections, "rates": rates(seed, minute), "now": now}
        return session.page(request, template, status, **about, **values)

    async def home(request: Request) -> Response:
        section = request.query_params.get("section", "")
        words = request.query_params.get("q", "").casefold().split()
        found = [
            article
            for article in articles
            if section in {"", article["section"]}
            and all(word in f"{article['title']} {article['text']}".casefold() for word in words)
        ]
        query = request.query_params.get("q", "")
        listed = found if words or section else found[:_PAGE]
        return show(request, "news_home.html", found=listed, section=section, query=query)

    async def article(request: Request) -> Response:
        found = by_slug.get(request.path_params["slug"])
        if found is None:
            return show(request, "news_home.html", _NOT_FOUND, found=[], section="", query="")
        return show(request, "news_article.html", article=found)

    return [Route("/", home), Route("/{slug}", article)]
