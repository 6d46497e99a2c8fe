"""The person's photos: albums, a search, favourites. Pictures are drawn from what is known of a photo."""

from __future__ import annotations

import hashlib
import json
import os
import threading
from typing import TYPE_CHECKING, Any

from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from images.world.program.sites.accounts import SEE_OTHER
from images.world.program.sites.pages import render

if TYPE_CHECKING:
    from pathlib import Path

    from starlette.requests import Request

    from images.world.program.sites.accounts import Page, Session

_LONG_PX = 480


class Gallery:
    """The photos and which of them are favourites; one process writes them.

    Args:
        folder: folder of the sites in the state.
    """

    def __init__(self, folder: Path) -> None:
        self.photos: list[dict[str, Any]] = json.loads((folder / "pictures.json").read_text())
        self.by_id = {photo["id"]: photo for photo in self.photos}
        self._path = folder / "favourites.json"
        self._lock = threading.Lock()

    def favourites(self) -> list[str]:
        """Return the ids of the favourites."""
        return list(json.loads(self._path.read_text()))

    def toggle(self, photo: str) -> None:
        """Make a photo a favourite, or no more."""
        with self._lock:
            kept = self.favourites()
            kept = [other for other in kept if other != photo] if photo in kept else [*kept, photo]
            part = self._path.with_suffix(".part")
            part.write_text(json.dumps(kept, indent=1))
            os.chmod(part, 0o600)  # noqa: PTH101 - as the files that it was filled with
            part.replace(self._path)

    def search(self, query: str, album: str) -> list[dict[str, Any]]:
        """Return the photos of an album that have all words in caption, town or people."""
        words = query.casefold().split()
        return [
            photo
            for photo in self.photos
            if album in {"", photo["album"]}
            and all(
                w in f"{photo['caption']} {photo['town']} {' '.join(photo['people'])}".casefold()
                for w in words
            )
        ]


def pictures_routes(session: Session, gallery: Gallery) -> list[Route]:
    """Return the routes of the pictures; all need a session."""

    async def home(request: Request) -> Response:
        albums: dict[str, list[dict[str, Any]]] = {}
        for photo in gallery.photos:
            albums.setdefault(photo["album"], []).append(photo)
        return session.page(request, "pictures_home.html", albums=albums)

    async def search(request: Request) -> Response:
        query, album = (request.query_params.get(key, "") for key in ("q", "album"))
        kept = set(gallery.favourites())
        found = gallery.search(query, album)
        if request.query_params.get("favourites"):
            found = [photo for photo in found if photo["id"] in kept]
        about = {"query": query, "album": album, "kept": kept}
        return session.page(request, "pictures_list.html", found=found, **about)

    async def photo(request: Request) -> Response:
        found = gallery.by_id.get(request.path_params["photo"])
        if found is None:
            return RedirectResponse("/", SEE_OTHER)
        is_kept = found["id"] in gallery.favourites()
        return session.page(request, "pictures_photo.html", photo=found, is_kept=is_kept)

    async def toggle(request: Request) -> Response:
        photo = request.path_params["photo"]
        if photo in gallery.by_id:
            gallery.toggle(photo)
        return RedirectResponse(f"/photo/{photo}", SEE_OTHER)

    return [
        *session.routes,
        Route("/", session.required(home)),
        Route("/search", session.required(search)),
        Route("/photo/{photo}", session.required(photo)),
        Route("/photo/{photo}", session.required(toggle), methods=["POST"]),
        Route("/image/{photo}", session.required(_image(gallery))),
    ]


def _image(gallery: Gallery) -> Page:
    """Return the page with a picture."""

    async def image(request: Request) -> Response:
        found = gallery.by_id.get(request.path_params["photo"])
        if found is None:
            return Response("", 404)
        reply = render("picture.svg", **_scene(found))
        reply.headers["Content-Type"] = "image/svg+xml"
        return reply

    return image


def _scene(photo: dict[str, Any]) -> dict[str, Any]:
    """Return what a picture shows: sky by the hour, hills, and the people."""
    digest = hashlib.sha256(photo["id"].encode()).digest()
    scale = _LONG_PX / max(photo["width_px"], photo["height_px"])
    width, height = round(photo["width_px"] * scale), round(photo["height_px"] * scale)
    hour = int(photo["taken"][11:13])
    sky = "#8ec6ee" if 7 < hour < 18 else "#e8a06a" if 5 < hour < 21 else "#26355c"  # noqa: PLR2004
    hills = [
        (round(width * (digest[n] / 255)), round(height * (0.45 + digest[n + 3] / 900)))
        for n in range(3)
    ]
    colours = ("#b5472f", "#2f6db5", "#d9a520", "#4b8a3f", "#7c4bb0")
    people = [
        (round(width * (number + 1) / (len(photo["people"]) + 1)), colours[number % 5])
        for number in range(len(photo["people"]))
    ]
    sun = (round(width * digest[7] / 255), round(height * 0.18))
    return {
        "width": width,
        "height": height,
        "sky": sky,
        "hills": hills,
        "people": people,
        "sun": sun,
        "ground": f"hsl({80 + digest[8] % 60},35%,{35 + digest[9] % 20}%)",
        "caption": photo["caption"],
    }
