"""The map: towns and roads of a country, places and postcodes, directions."""

from __future__ import annotations

import heapq
import json
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from starlette.routing import Route

if TYPE_CHECKING:
    from pathlib import Path

    from starlette.requests import Request
    from starlette.responses import Response

    from images.world.program.sites.accounts import Session

_KM_AN_HOUR = 60
_WIDTH, _HEIGHT, _MARGIN = 760, 460, 84


@dataclass(frozen=True, order=True)
class Leg:
    """A part of a route."""

    road: str
    to: str
    km: float


class Atlas:
    """The towns, roads and places of a country.

    Args:
        path: the file with them.
    """

    def __init__(self, path: Path) -> None:
        data = json.loads(path.read_text())
        self.country: str = data["country"]
        self.towns: dict[str, dict[str, float]] = {row["name"]: row for row in data["towns"]}
        self.places: list[dict[str, str]] = data["places"]
        self._roads: dict[str, list[tuple[float, str, str]]] = defaultdict(list)
        self.roads: list[tuple[str, str]] = []
        for row in data["roads"]:
            self.roads.append((row["from"], row["to"]))
            self._roads[row["from"]].append((row["km"], row["to"], row["name"]))
            self._roads[row["to"]].append((row["km"], row["from"], row["name"]))

    def search(self, query: str) -> list[dict[str, str]]:
        """Return the places that have all words in name, kind, street, postcode or town."""
        words = query.casefold().split()
        keys = ("name", "kind", "street", "postcode", "town")
        return [
            place
            for place in self.places
            if words and all(w in " ".join(place[key] for key in keys).casefold() for w in words)
        ]

    def town_of(self, text: str) -> str:
        """Return the town that a text names, itself, by a postcode or a place; empty if none."""
        wanted = text.casefold().strip()
        for town in self.towns:
            if town.casefold() == wanted:
                return town
        keys = ("postcode", "name", "street")
        found = (p for p in self.places if wanted and wanted in {p[key].casefold() for key in keys})
        return next((place["town"] for place in found), "")

    def route(self, start: str, end: str) -> list[Leg]:
        """Return the shortest route between two towns."""
        queue: list[tuple[float, str, tuple[Leg, ...]]] = [(0.0, start, ())]
        known: set[str] = set()
        while queue:
            km, town, legs = heapq.heappop(queue)
            if town == end:
                return list(legs)
            if town in known:
                continue
            known.add(town)
            for length, other, road in self._roads[town]:
                leg = Leg(road, other, length)
                heapq.heappush(queue, (km + length, other, (*legs, leg)))
        return []

    def point(self, town: str) -> tuple[int, int]:
        """Return where a town is on the picture of the map, px."""
        rows = self.towns.values()
        west, east = (f(row["longitude"] for row in rows) for f in (min, max))
        south, north = (f(row["latitude"] for row in rows) for f in (min, max))
        row = self.towns[town]
        across = (row["longitude"] - west) / ((east - west) or 1)
        up = (row["latitude"] - south) / ((north - south) or 1)
        x = _MARGIN + across * (_WIDTH - 2 * _MARGIN)
        return round(x), round(_HEIGHT - _MARGIN - up * (_HEIGHT - 2 * _MARGIN))


def maps_routes(session: Session, atlas: Atlas) -> list[Route]:
    """Return the routes of the map."""

    def show(request: Request, **values: object) -> Response:
        kept: dict[str, object] = {"query": "", "found": None, "route": None, "marked": ""}
        size = {"width": _WIDTH, "height": _HEIGHT}
        return session.page(request, "maps.html", atlas=atlas, **{**kept, **size, **values})

    async def home(request: Request) -> Response:
        return show(request)

    async def search(request: Request) -> Response:
        query = request.query_params.get("q", "").strip()
        found = atlas.search(query)
        marked = atlas.town_of(query) or (found[0]["town"] if found else "")
        return show(request, query=query, found=found, marked=marked)

    async def directions(request: Request) -> Response:
        asked = {key: request.query_params.get(key, "").strip() for key in ("from", "to")}
        start, end = (atlas.town_of(text) for text in asked.values())
        legs = atlas.route(start, end) if start and end else []
        km = round(sum(leg.km for leg in legs), 1)
        route = {
            "asked": asked,
            "start": start,
            "end": end,
            "legs": legs,
            "km": km,
            "minutes": round(km / _KM_AN_HOUR * 60),
            "towns": [start, *(leg.to for leg in legs)] if start and end else [],
        }
        return show(request, route=route)

    return [Route("/", home), Route("/search", search), Route("/directions", directions)]
