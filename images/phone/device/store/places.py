"""Cities and sights that are available offline.

Source: see ``data/README.md``.
"""

from __future__ import annotations

import json
import math
import unicodedata
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

_DATA = Path(__file__).parents[1] / "data"
_EARTH_KM = 6371.0
_WAY_RATIO = 1.25
"""Approximate ratio of road length to straight-line distance."""
_CORRIDOR_RATIO = 1.06
_MAX_STOPS = 5
SPEEDS_KMH = {"Driving": 80.0, "Walking": 5.0, "Transit": 60.0}


class Place(NamedTuple):
    """A city or a sight.

    Attributes:
        name: name of the place.
        region: country, or town and country.
        latitude: degrees north.
        longitude: degrees east.
        zone: time zone.
    """

    name: str
    region: str
    latitude: float
    longitude: float
    zone: str

    @property
    def title(self) -> str:
        """Name and region."""
        return f"{self.name}, {self.region}"


class Route(NamedTuple):
    """A route from one place to another.

    Attributes:
        stops: both ends, and the places between them.
        length_km: length of the route.
    """

    stops: tuple[Place, ...]
    length_km: float

    def minutes(self, means: str) -> int:
        """Return the travel time with one of the means in `SPEEDS_KMH`."""
        return max(1, round(self.length_km / SPEEDS_KMH[means] * 60))


@lru_cache(maxsize=1)
def all_places() -> tuple[Place, ...]:
    """Return all places, large cities first."""
    rows = json.loads((_DATA / "places.json").read_text(encoding="utf-8"))
    return tuple(Place(*row) for row in rows)


@lru_cache(maxsize=1)
def land() -> tuple[tuple[float, ...], ...]:
    """Return the outlines of the continents: alternating longitude and latitude, degrees."""
    return tuple(tuple(ring) for ring in json.loads((_DATA / "land.json").read_text()))


@lru_cache(maxsize=1)
def _index() -> tuple[tuple[str, Place], ...]:
    return tuple((_folded(place.title), place) for place in all_places())


def _folded(text: str) -> str:
    """Return a text in lowercase without accents."""
    parts = unicodedata.normalize("NFKD", text.casefold())
    return "".join(char for char in parts if not unicodedata.combining(char))


@lru_cache(maxsize=64)
def find_places(text: str, limit: int = 12) -> tuple[Place, ...]:
    """Return the places whose name or region contains all words of a text, best first."""
    terms = _folded(text).replace(",", " ").split()
    if not terms:
        return ()
    wanted = " ".join(terms)
    hits = []
    for rank, (title, place) in enumerate(_index()):
        if all(term in title for term in terms):
            name = _folded(place.name)
            worth = 0 if name == wanted else 1 if name.startswith(wanted) else 2
            if worth == 2 and title.startswith(terms[0]):  # noqa: PLR2004 - the last of the grades
                worth = 1
            hits.append((worth, rank, place))
    return tuple(place for _, _, place in sorted(hits)[:limit])


def find_place(title: str) -> Place | None:
    """Return the place with a title or name, or None."""
    places = find_places(title, 1)
    return places[0] if places else None


def distance_km(start: Place, end: Place) -> float:
    """Return the straight-line distance over the ground."""
    lat1, lat2 = math.radians(start.latitude), math.radians(end.latitude)
    dlat = lat2 - lat1
    dlon = math.radians(end.longitude - start.longitude)
    part = math.sin(dlat / 2) ** 2 + math.cos(lat1) * math.cos(lat2) * math.sin(dlon / 2) ** 2
    return 2 * _EARTH_KM * math.asin(math.sqrt(min(1.0, part)))


@lru_cache(maxsize=64)
def find_route(start: Place, end: Place) -> Route:
    """Estimate a route: a straight line through nearby large cities, scaled to road length."""
    straight = distance_km(start, end)
    near = []
    for place in all_places():
        if place in {start, end}:
            continue
        before = distance_km(start, place)
        if before < straight and before + distance_km(place, end) < straight * _CORRIDOR_RATIO:
            near.append((before, place))
    least_km = straight / (_MAX_STOPS + 1)
    stops, last_km = [start], 0.0
    for before, place in sorted(near):
        if before - last_km > least_km and straight - before > least_km / 2:
            stops.append(place)
            last_km = before
    stops.append(end)
    legs = sum(distance_km(stop, following) for stop, following in pairwise(stops))
    return Route(tuple(stops), legs * _WAY_RATIO)


def heading(start: Place, end: Place) -> str:
    """Return the direction as text, such as ``northeast``."""
    names = ("north", "northeast", "east", "southeast", "south", "southwest", "west", "northwest")
    across = (end.longitude - start.longitude + 180) % 360 - 180
    across *= math.cos(math.radians((start.latitude + end.latitude) / 2))
    angle = math.degrees(math.atan2(across, end.latitude - start.latitude)) % 360
    return names[round(angle / 45) % 8]
