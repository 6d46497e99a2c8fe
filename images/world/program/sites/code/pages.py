"""Pages of code hosting, and of the documentation of the repositories."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from images.world.program.sites.accounts import SEE_OTHER
from images.world.program.sites.pages import read_form

if TYPE_CHECKING:
    from starlette.requests import Request

    from images.world.program.sites.accounts import Session
    from images.world.program.sites.code.repositories import Repositories

_AT = "/{owner}/{name}"
_NOT_FOUND = 404


def code_routes(session: Session, store: Repositories, author: str) -> list[Route]:
    """Return the routes of code hosting; changes need a session.

    Args:
        session: the site.
        store: the repositories.
        author: the person's name there.
    """
    return [*session.routes, *_changing(session, store, author), *_reading(session, store)]


def _reading(session: Session, store: Repositories) -> list[Route]:
    """Return the routes of pages."""

    def missing(request: Request) -> Response:
        return session.page(request, "code_home.html", _NOT_FOUND, found=[], query="", language="")

    async def home(request: Request) -> Response:
        query, language = (request.query_params.get(key, "") for key in ("q", "language"))
        found = store.search(query, language)
        return session.page(request, "code_home.html", found=found, query=query, language=language)

    async def repository(request: Request) -> Response:
        row = store.find(request.path_params["owner"], request.path_params["name"])
        return (
            missing(request)
            if row is None
            else session.page(request, "code_repository.html", row=row)
        )

    async def file(request: Request) -> Response:
        row = store.find(request.path_params["owner"], request.path_params["name"])
        path = request.path_params["path"]
        if row is None or path not in row["files"]:
            return missing(request)
        return session.page(request, "code_file.html", row=row, path=path, text=row["files"][path])

    async def issues(request: Request) -> Response:
        row = store.find(request.path_params["owner"], request.path_params["name"])
        if row is None:
            return missing(request)
        state = request.query_params.get("state", "open")
        listed = [issue for issue in row["issues"] if issue["is_open"] is (state == "open")]
        return session.page(request, "code_issues.html", row=row, listed=listed, state=state)

    async def issue(request: Request) -> Response:
        row = store.find(request.path_params["owner"], request.path_params["name"])
        number = request.path_params["number"]
        found = next((i for i in (row or {"issues": []})["issues"] if i["number"] == number), None)
        if row is None or found is None:
            return missing(request)
        return session.page(request, "code_issue.html", row=row, issue=found)

    return [
        Route("/", home),
        Route(f"{_AT}/issues", issues),
        Route(f"{_AT}/issues/{{number:int}}", issue),
        Route(f"{_AT}/file/{{path:path}}", file),
        Route(_AT, repository),
    ]


def _changing(session: Session, store: Repositories, author: str) -> list[Route]:
    """Return the routes of forms."""

    async def star(request: Request) -> Response:
        owner, name = request.path_params["owner"], request.path_params["name"]
        store.star(owner, name)
        return RedirectResponse(f"/{owner}/{name}", SEE_OTHER)

    async def new_issue(request: Request) -> Response:
        owner, name = request.path_params["owner"], request.path_params["name"]
        form = await read_form(request)
        if form.get("title", "").strip():
            store.open_issue(owner, name, author, form["title"].strip(), form.get("text", ""))
        return RedirectResponse(f"/{owner}/{name}/issues", SEE_OTHER)

    async def change_issue(request: Request) -> Response:
        owner, name = request.path_params["owner"], request.path_params["name"]
        number, form = request.path_params["number"], await read_form(request)
        closes = form.get("action") == "close"
        store.change_issue(owner, name, number, author, form.get("comment", ""), closes=closes)
        return RedirectResponse(f"/{owner}/{name}/issues/{number}", SEE_OTHER)

    return [
        Route(f"{_AT}/star", session.required(star), methods=["POST"]),
        Route(f"{_AT}/issues", session.required(new_issue), methods=["POST"]),
        Route(f"{_AT}/issues/{{number:int}}", session.required(change_issue), methods=["POST"]),
    ]


def docs_routes(session: Session, store: Repositories) -> list[Route]:
    """Return the routes of the documentation."""

    async def home(request: Request) -> Response:
        words = request.query_params.get("q", "").casefold().split()
        found = [
            row
            for row in sorted(store.all(), key=lambda row: str(row["name"]))
            if all(w in f"{row['name']} {row['about']} {row['options']}".casefold() for w in words)
        ]
        query = request.query_params.get("q", "")
        return session.page(request, "docs_home.html", found=found, query=query)

    async def manual(request: Request) -> Response:
        row = store.named(request.path_params["name"])
        if row is None:
            return session.page(request, "docs_home.html", _NOT_FOUND, found=[], query="")
        return session.page(request, "docs_manual.html", row=row)

    return [Route("/", home), Route("/{name}", manual)]
