"""The browser's history and bookmarks, besides visits to the shop before an order."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING
from urllib.parse import quote

from provisioning.world.persona.making.life import some_moment, to_ascii
from provisioning.world.persona.model.documents import Bookmark, Visit
from provisioning.world.persona.words import sites
from provisioning.world.persona.words.sentences import ARTICLES, HEADLINES

if TYPE_CHECKING:
    from provisioning.world.persona.draws import Draws
    from provisioning.world.persona.making.life import Life

_DAYS = 120
_BOOKMARKS = 18


def add_visits(life: Life) -> None:
    """Add the pages of the last months."""
    draws = life.draws.stream("browsing")
    for offset in range(1, _DAYS + 1):
        day = life.today - timedelta(days=offset)
        for _ in range(draws.integer(3, 11)):
            url, title = _some_page(life, draws)
            when = some_moment(draws, day, 6, 22)
            life.visits.append(Visit(id=life.new_id("visit"), url=url, title=title, visited=when))


def add_bookmarks(life: Life) -> None:
    """Add bookmarks of pages."""
    draws = life.draws.stream("bookmarks")
    pages = [(f"https://{sites.WEBMAIL}/", "Mail"), (f"https://{sites.SHOP}/", "Shop")]
    while len(pages) < _BOOKMARKS:
        if (page := _some_page(life, draws)) not in pages:
            pages.append(page)
    for url, title in pages:
        added = some_moment(draws, life.today - timedelta(days=draws.integer(1, 500)))
        life.bookmarks.append(
            Bookmark(id=life.new_id("bookmark"), url=url, title=title, added=added)
        )


def _some_page(life: Life, draws: Draws) -> tuple[str, str]:
    """Return address and title of a page of some site."""
    site = draws.choice(("wiki", "wiki", "news", "news", "maps", "shop", "mail"))
    if site == "wiki":
        article = draws.choice(ARTICLES)
        return f"https://{sites.WIKI}/{quote(article.replace(' ', '_'))}", article
    if site == "news":
        headline = draws.choice(HEADLINES)
        return f"https://{sites.NEWS}/{to_ascii(headline)}", headline
    if site == "maps":
        town = draws.choice(life.locale.towns)
        return f"https://{sites.MAPS}/search?q={quote(town)}", f"{town} - Maps"
    if site == "shop":
        product = draws.choice(life.products)
        return f"https://{sites.SHOP}/product/{product.number}", product.name
    return f"https://{sites.WEBMAIL}/", "Mail"
