"""Pages of the encyclopaedia."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from images.world.program.sites.pages import render
from images.world.program.sites.wiki_articles import COUNTRIES, CURRENCIES, LANGUAGES

if TYPE_CHECKING:
    from starlette.requests import Request

    from images.world.program.sites.wiki_articles import Encyclopaedia


def wiki_routes(articles: Encyclopaedia) -> list[Route]:
    """Return the routes of the encyclopaedia."""

    async def home(request: Request) -> Response:
        del request
        lists = (COUNTRIES, CURRENCIES, LANGUAGES)
        return render("wiki_home.html", lists=lists, count=len(articles.articles), path=path_of)

    async def search(request: Request) -> Response:
        words = request.query_params.get("q", "").strip()
        if words in articles.articles:
            return RedirectResponse(path_of(words), 303)
        return render("wiki_search.html", words=words, found=articles.search(words), path=path_of)

    async def article(request: Request) -> Response:
        title = request.path_params["title"].replace("_", " ")
        found = articles.articles.get(title)
        if found is None:
            return render(
                "wiki_search.html", 404, words=title, found=articles.search(title), path=path_of
            )
        return render("wiki_article.html", article=found, path=path_of)

    return [Route("/", home), Route("/search", search), Route("/{title:path}", article)]


def path_of(title: str) -> str:
    """Return the path of an article."""
    return f"/{quote(title.replace(' ', '_'), safe='()')}"
